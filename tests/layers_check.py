#!/usr/bin/env python3
"""Compares every #include with webhook/layers.txt. Prints each violation as file:line: what and why; exits 1 if any."""

import fnmatch
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def read_layers(path):
    modules, headers, problems = {}, {}, []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        rule, _, reason = line.partition("#")
        if not rule.strip():
            continue
        kind, _, rest = rule.strip().partition(" ")
        name, _, targets = rest.partition(":")
        if kind not in ("module", "header") or not reason.strip():
            problems.append(f"{path}:{number}: expected 'module|header NAME: targets  # reason'")
            continue
        (modules if kind == "module" else headers)[name.strip()] = targets.split()
    return modules, headers, problems


def is_standard(header):
    """C++ and POSIX headers: no folder but sys/, linux/, netinet/, arpa/, and no dot unless it is a C header."""
    return re.fullmatch(r"[a-z_0-9]+", header) or re.fullmatch(r"((sys|linux|netinet|arpa)/)?[a-z_0-9]+\.h", header)


def module_of(file):
    parts = file.relative_to(ROOT).parts
    return parts[1] if parts[0] == "webhook" and len(parts) > 2 else parts[0]


def check_include(file, modules, headers, bracket, header):
    relative = str(file.relative_to(ROOT))
    for pattern, allowed in headers.items():
        if fnmatch.fnmatch(header, pattern):
            ok = any(fnmatch.fnmatch(relative, target) for target in allowed)
            return None if ok else f"<{header}> is confined to: {' '.join(allowed)}"
    if bracket == "<":
        return None if is_standard(header) else f"<{header}> is not named in webhook/layers.txt"
    target = header.split("/")[0]
    own = module_of(file)
    if target == "podium":
        return None
    if own == "include":
        return f'"{header}": include/podium sees only the standard library and itself'
    if own == "tests" or target == own:
        return None
    if target not in modules.get(own, []):
        return f'"{header}": module {own} may include: {" ".join(modules.get(own, [])) or "nobody"}'
    return None


def main():
    modules, headers, problems = read_layers(ROOT / "webhook/layers.txt")
    files = [f for top in ("include", "webhook", "tests") for f in sorted((ROOT / top).rglob("*")) if f.suffix in (".h", ".cc")]
    for file in files:
        for number, line in enumerate(file.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            problem = match and check_include(file, modules, headers, *match.groups())
            if problem:
                problems.append(f"{file.relative_to(ROOT)}:{number}: {problem}")
    print("\n".join(problems) if problems else f"layers: {len(files)} files agree with webhook/layers.txt")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
