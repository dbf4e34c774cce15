#!/usr/bin/env python3
"""layers_check.py on small trees: one that is in order, and one fault at a time in it."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECKER = pathlib.Path(__file__).resolve().parent / "layers_check.py"

TREE = {
    "webhook/layers.txt": """\
module core:                        # needs nobody
module wire: core                   # formats
header boost/*: webhook/wire/a*     # confined
""",
    "include/podium/value.h": '#include <string_view>\n#include "podium/other.h"\n',
    "webhook/core/text.h": '#include <cstdint>\n#include <sys/stat.h>\n#include "podium/value.h"\n',
    "webhook/wire/a.cc": '#include <boost/asio.hpp>\n#include "core/text.h"\n#include "wire/b.h"\n',
    "tests/wire/a_test.cc": '#include "wire/a.h"\n#include "core/text.h"\n',
}


def check(changes):
    """The exit code and the lines of the checker on TREE with `changes` (path: text) made to it."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in {**TREE, **changes}.items():
            file = pathlib.Path(root) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        run = subprocess.run([sys.executable, CHECKER, root], capture_output=True, text=True, check=False)
        return run.returncode, run.stdout.replace(str(pathlib.Path(root).resolve()) + "/", "").splitlines()


class LayersCheckTest(unittest.TestCase):
    def test_a_tree_in_order(self):
        self.assertEqual(check({}), (0, ["layers: 4 files agree with webhook/layers.txt"]))

    def test_a_module_that_looks_up(self):
        self.assertEqual(
            check({"webhook/core/text.h": '#include <string>\n\n#include "wire/b.h"\n'}),
            (1, ['webhook/core/text.h:3: "wire/b.h": module core may include: nobody']),
        )

    def test_the_contract_sees_no_module(self):
        self.assertEqual(
            check({"include/podium/value.h": '#  include "core/text.h"\n'}),
            (1, ['include/podium/value.h:1: "core/text.h": include/podium sees only the standard library and itself']),
        )

    def test_a_library_outside_its_files(self):
        self.assertEqual(
            check({"webhook/wire/b.cc": "#include <boost/asio.hpp>\n"}),
            (1, ["webhook/wire/b.cc:1: <boost/asio.hpp> is confined to: webhook/wire/a*"]),
        )

    def test_what_only_looks_like_a_standard_header(self):
        for header in ("httplib.h", "zlib.h", "spdlog", "cjson", "sys/sdt.h", "c", ".h", "string.hpp"):
            with self.subTest(header):
                self.assertEqual(
                    check({"webhook/core/text.h": f"#include <{header}>\n"}),
                    (1, [f"webhook/core/text.h:1: <{header}> is not named in webhook/layers.txt"]),
                )

    def test_a_row_without_a_reason(self):
        code, lines = check({"webhook/layers.txt": TREE["webhook/layers.txt"] + "module rules: core\n"})
        self.assertEqual(code, 1)
        self.assertEqual(lines, ["webhook/layers.txt:4: expected 'module|header NAME: targets  # reason'"])


if __name__ == "__main__":
    unittest.main()
