"""Checks the plugin of the preset "release" and the compiler's library, which it
calls: what they take, what they need of a machine, what they show to others, and
that the plugin's tests pass with them.

    ./dev test release"""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build-release"
PLUGIN = BUILD / "lib" / "pjrt_plugin_alula.so"
COMPILER = BUILD / "lib" / "libalula_compiler.so"
# Every Debian has these; the last one is the loader.
C_LIBRARY = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}
# LLVM is in one of them. Bytes, needs, names that are shown.
CHECKS = {
    COMPILER: (68_000_000, C_LIBRARY, r"alula_(compile|program_info|private)_?\w*"),
    PLUGIN: (1_000_000, C_LIBRARY | {COMPILER.name}, r"GetPjrtApi"),
}
TESTS = ["plugin", "every_slot", "threads", "cycles"]


def say(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def check_files():
    for path, (most, allowed, names) in CHECKS.items():
        size = path.stat().st_size
        yield f"{path.name}: {size:,} bytes, at most {most:,}", size <= most
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", say("readelf", "-dW", str(path))))
        yield f"needs {', '.join(sorted(needed))}", needed <= allowed
        exported = {
            line.split()[-1].split("@")[0]
            for line in say("nm", "-D", "--defined-only", str(path)).splitlines()
        }
        strange = [name for name in exported if not re.fullmatch(names, name)]
        yield f"exports {', '.join(sorted(exported))}", exported and not strange


def run_tests():
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("JAX_")}
    environment = dict(inherited, ALULA_PJRT_PLUGIN=str(PLUGIN))
    commands = [
        [str(ROOT / "build" / "tests" / f"pjrt_{name}_test"), "--gtest_brief=1"] for name in TESTS
    ]
    scripts = ["python/tests/test_jax_plugin.py", "python/tests/test_snippets.py"]
    commands.append([sys.executable, "-m", "pytest", "-q", *scripts])
    for command in commands:
        ended = subprocess.run(
            command, check=False, cwd=ROOT, env=environment, capture_output=True, text=True
        )
        lines = (ended.stdout + ended.stderr).strip().splitlines()
        if ended.returncode:
            print("\n".join(lines[-40:]))
        yield f"{' '.join(Path(part).name for part in command)}: {lines[-1]}", not ended.returncode


def main() -> int:
    passed = failed = 0
    for checks in (check_files(), run_tests()):
        for text, is_right in checks:
            print("  " if is_right else "FAILED ", text, flush=True)
            passed += is_right
            failed += not is_right
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
