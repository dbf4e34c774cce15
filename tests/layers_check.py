#!/usr/bin/env python3
"""Compares every #include with webhook/layers.txt. Prints each violation as file:line: what and why; exits 1 if any.

Usage: layers_check.py [ROOT]    (default: the tree this script is in)
"""

import fnmatch
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
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


# C++20, without the <c...> headers, which are C's own with a letter in front.
CPP_HEADERS = set("""
    algorithm any array atomic barrier bit bitset charconv chrono codecvt compare complex concepts condition_variable
    coroutine deque exception execution filesystem format forward_list fstream functional future initializer_list iomanip
    ios iosfwd iostream istream iterator latch limits list locale map memory memory_resource mutex new numbers numeric
    optional ostream queue random ranges ratio regex scoped_allocator semaphore set shared_mutex source_location span
    sstream stack stdexcept stop_token streambuf string string_view strstream syncstream system_error thread tuple
    type_traits typeindex typeinfo unordered_map unordered_set utility valarray variant vector version
""".split())
C_HEADERS = set("""
    assert ctype errno fenv float inttypes limits locale math setjmp signal stdarg stddef stdint stdio stdlib string time
    uchar wchar wctype
""".split())
# POSIX and Linux: what the kernel's own sockets and files need.
SYSTEM_HEADERS = set("""
    arpa/inet.h dirent.h fcntl.h net/if.h netdb.h netinet/in.h netinet/tcp.h poll.h pthread.h sched.h strings.h
    sys/epoll.h sys/eventfd.h sys/file.h sys/inotify.h sys/ioctl.h sys/mman.h sys/prctl.h sys/random.h sys/resource.h
    sys/socket.h sys/stat.h sys/statvfs.h sys/syscall.h sys/time.h sys/types.h sys/uio.h sys/un.h sys/wait.h unistd.h
""".split())


def is_standard(header):
    if header in CPP_HEADERS or header in SYSTEM_HEADERS:
        return True
    return (header[:1] == "c" and header[1:] in C_HEADERS) or (header.endswith(".h") and header[:-2] in C_HEADERS)


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
