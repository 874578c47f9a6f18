"""Checks the arrows between rooms, the forbidden file names, and that no text
names a folder of a machine.

Each `#include "room/…"` of ours must follow an arrow of docs/map.md. Rooms that
work for any machine read its facts (dialect/dispatch/machine.h): they name no
target, no feature, and have no constant of a cache, a core or a vector.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Room (longest prefix wins) -> the rooms that it may include besides itself.
ARROWS = {
    "include/alula": [],
    "artifact": ["include/alula"],
    "runtime/base": ["include/alula"],
    "runtime/min": ["include/alula"],
    "runtime/threads": ["include/alula", "runtime/base"],
    "runtime/device": [
        "include/alula",
        "runtime/base",
        "runtime/collectives",
        "runtime/threads",
        "artifact",
    ],
    "runtime/executable": [
        "include/alula",
        "runtime/base",
        "artifact",
        "runtime/device",
        "runtime/imports",
    ],
    "runtime/imports": [
        "include/alula",
        "runtime/base",
        "artifact",
        "runtime/device",
    ],
    "runtime/invoke": [
        "include/alula",
        "artifact",
        "runtime/base",
        "runtime/device",
        "runtime/executable",
        "runtime/threads",
        "runtime/collectives",
    ],
    "runtime/collectives": ["include/alula", "runtime/base"],
    "runtime/capi": ["include/alula", "artifact", "runtime"],
    "runtime/conformance": ["include/alula", "artifact", "runtime"],
    "dialect/newer": [],
    "dialect/stablehlo": ["dialect/newer"],
    "dialect/chlo": ["dialect/stablehlo", "dialect/newer"],
    "dialect/sdy": ["dialect/newer"],
    "dialect/vhlo": [
        "dialect/stablehlo",
        "dialect/chlo",
        "dialect/sdy",
        "dialect/newer",
    ],
    "dialect/plan": [],
    "dialect/dispatch": ["dialect/stablehlo", "dialect/newer", "include/alula"],
    "reference": ["dialect", "include/alula"],
    "compiler/input": ["dialect", "include/alula"],
    "compiler/optimize": ["dialect", "include/alula", "reference"],
    "compiler/partition": ["dialect", "include/alula"],
    "compiler/dispatch": ["dialect", "include/alula"],
    "compiler/preprocess": ["dialect", "include/alula"],
    "compiler/plugin": ["dialect", "include/alula"],
    "compiler/objects": ["dialect", "include/alula"],
    "compiler/kernel": [
        "dialect",
        "include/alula",
        "compiler/kernel/library",
        "compiler/kernel/element",
        "compiler/kernel/plan",
    ],
    "compiler/kernel/element": ["dialect", "include/alula"],
    "compiler/kernel/plan": [
        "dialect",
        "include/alula",
        "compiler/kernel/element",
        "compiler/kernel/library",
    ],
    "compiler/kernel/library": ["include/alula"],
    "compiler/schedule": ["dialect", "include/alula"],
    "compiler/target": [
        "dialect",
        "include/alula",
        "compiler/kernel",
        "compiler/objects",
    ],
    # It writes the image that says how kernels are launched.
    "compiler/target/cuda": [
        "dialect",
        "include/alula",
        "compiler/kernel",
        "compiler/objects",
        "artifact",
    ],
    "compiler/target/cpu/kernel": ["dialect", "include/alula", "compiler/kernel"],
    "compiler/target/cuda": [
        "artifact",
        "dialect",
        "include/alula",
        "compiler/target",
        "compiler/kernel",
        "compiler/objects",
    ],
    "compiler/target/cuda/kernel": [
        "dialect",
        "include/alula",
        "compiler/kernel",
        "compiler/target/cpu/kernel",
    ],
    "compiler/emit": ["dialect", "include/alula", "artifact"],
    "compiler/standalone": ["dialect", "include/alula"],
    "compiler/driver": [
        "compiler",
        "dialect",
        "reference",
        "include/alula",
        "artifact",
    ],
    "tools/values": ["include/alula"],
    "tools/options": ["include/alula"],
    "tools/progress": [],
    "tools/run": [
        "include/alula",
        "tools/options",
        "tools/progress",
        "tools/values",
    ],
    "tools/bench": ["include/alula", "tools/options", "tools/values", "artifact"],
    "tools/inspect": ["include/alula", "artifact", "tools/options"],
    "tools/flags": ["compiler/driver", "tools/options"],
    "tools/plugin": [
        "compiler/driver",
        "compiler/plugin",
        "compiler/preprocess",
        "tools/flags",
        "tools/options",
    ],
    "tools/compile": [
        "compiler/driver",
        "compiler/plugin",
        "compiler/objects",
        "compiler/preprocess",
        "include/alula",
        "tools/flags",
        "tools/model",
        "tools/options",
        "tools/plugin",
        "tools/progress",
        "tools/values",
    ],
    "tools/reduce": ["compiler/driver", "dialect", "tools/flags", "tools/options"],
    "tools/opt": [
        "compiler/driver",
        "dialect",
        "reference",
        "tools/flags",
        "tools/options",
        "tools/plugin",
    ],
    "tools/interpret": [
        "compiler/driver",
        "dialect",
        "reference",
        "include/alula",
        "tools/options",
        "tools/values",
    ],
    "pjrt": ["include/alula"],
    "python": ["include/alula"],
}
FORBIDDEN_NAME = re.compile(r"(^|_)(utils?|helpers?|common|misc|manager|impl2)(_|\.|$)")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
MACHINE = re.compile(r"(?<![\w.])/(work|root|home)/")

# Rooms that know machines by their facts alone; library: C code for targets.
ANY_MACHINE = (
    "dialect/dispatch/",
    "compiler/dispatch/",
    "compiler/kernel/",
    "compiler/schedule/",
    "compiler/target/cpu/kernel/",
)
FACTS = ("dialect/dispatch/machine.", "compiler/kernel/library/")
TARGET_NAME = re.compile(
    r'"[^"\n]*(?<![a-z])(avx|sse\d|f16c|neon|sve|x86|aarch64|riscv|sm_\d|nvptx|amdgcn)'
)
TARGET_INCLUDE = re.compile(
    r'#include "(llvm/(TargetParser|MC|Target)/|compiler/target/(?!cpu/kernel/))'
)
MACHINE_WORD = re.compile(
    r"\b(caches?|cores?|panels?|sockets?|simd|lanes?|vectors?|registers?"
    r"|workgroups?|warps?|alignment)\b"
)
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
CONSTANT = re.compile(r"^\s*(?:static\s+|inline\s+)*constexpr\s+[\w:]+\s+([^;({]*[=])")


def check_any_machine(path, text):
    """What a room says of machines though it works for any."""
    comment = ""
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip()
        if stripped.startswith("//"):
            comment += stripped + " "
            continue
        where = f"{path}:{number}"
        if TARGET_NAME.search(line) or TARGET_INCLUDE.search(line):
            yield f"{where}: names a target: ask dispatch::getMachine"
        if CONSTANT.match(line) and MACHINE_WORD.search(CAMEL.sub(" ", comment + line).lower()):
            yield f"{where}: a constant of a machine: ask dispatch::getMachine"
        # A comment is of all constants that follow it.
        if not line.lstrip().startswith("constexpr"):
            comment = ""


def room_of(path):
    parts = path.split("/")
    for size in range(len(parts), 0, -1):
        room = "/".join(parts[:size])
        if room in ARROWS:
            return room
    return None


def check_includes(path, text):
    room = room_of(path)
    for included in INCLUDE.findall(text):
        if included.startswith("alula/"):
            included = "include/" + included
        target = room_of(included)
        if room is None or target is None or target == room:
            continue
        allowed = ARROWS[room]
        if not any(target == a or target.startswith(a + "/") for a in allowed):
            yield f"{path}: {room} may not include {target} ({included})"


def find_circles(includes):
    """Units (a header and its source are one) that include each other, directly
    or not: lists of their names. `includes` has, by unit, those it includes."""
    order, low, stack, circles = {}, {}, [], []

    def visit(unit):
        order[unit] = low[unit] = len(order)
        stack.append(unit)
        for other in sorted(includes.get(unit, ())):
            if other not in order:
                visit(other)
            if other in stack:
                low[unit] = min(low[unit], low[other])
        if low[unit] == order[unit]:
            at = stack.index(unit)
            circle = sorted(stack[at:])
            del stack[at:]
            if len(circle) > 1:
                circles.append(circle)

    for unit in sorted(includes):
        if unit not in order:
            visit(unit)
    return circles


def check_circles(texts):
    """`texts` are contents of files of the compiler, by path."""
    units = {path.rsplit(".", 1)[0] for path in texts}
    includes = {unit: set() for unit in units}
    for path, text in texts.items():
        unit = path.rsplit(".", 1)[0]
        for included in INCLUDE.findall(text):
            other = included.rsplit(".", 1)[0]
            if other in units and other != unit:
                includes[unit].add(other)
    for circle in find_circles(includes):
        yield f"{circle[0]}: includes go in a circle: {', '.join(circle)}"


def check_test_names(names):
    """pytest imports a test file by its base name: the second of two files with
    one name would be the first one's module, and none of the tests would run."""
    first = {}
    for name in names:
        base = name.rsplit("/", 1)[-1]
        if base.startswith("test_") and base.endswith(".py"):
            if base in first:
                yield f"{name}: a test file with the base name of {first[base]}"
            first.setdefault(base, name)


def main():
    files = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\n")
    problems, compiler = [], {}
    files = [name for name in files if name and (ROOT / name).is_file()]
    for name in files:
        path = ROOT / name
        if FORBIDDEN_NAME.search(path.name):
            problems.append(f"{name}: a file is named after its subject")
        if path.suffix in {
            ".h",
            ".cpp",
            ".c",
            ".td",
            ".py",
            ".md",
            ".txt",
            ".sh",
            ".mlir",
        }:
            text = path.read_text(errors="replace")
            if name != "tests/layers.py" and MACHINE.search(text):
                problems.append(f"{name}: names a folder of a machine")
            if path.suffix in {".h", ".cpp", ".c"}:
                problems += check_includes(name, text)
                if name.startswith(ANY_MACHINE) and not name.startswith(FACTS):
                    problems += check_any_machine(name, text)
                if name.startswith("compiler/"):
                    compiler[name] = text
    problems += check_circles(compiler)
    problems += check_test_names(files)
    print("\n".join(problems) if problems else "layers: fine")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
