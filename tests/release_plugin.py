"""Checks the plugin of the preset "release": what it takes, what it needs of a
machine, what it shows to others, and that the plugin's tests pass with it.

    ./dev test release"""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build-release"
PLUGIN = BUILD / "lib" / "pjrt_plugin_alula.so"
MOST_BYTES = 60_000_000
# Every Debian has these; the last one is the loader.
NEEDED = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}
EXPORTED = {"GetPjrtApi"}
TESTS = ["plugin", "every_slot", "threads", "cycles"]


def say(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def check_file():
    size = PLUGIN.stat().st_size
    yield f"{size:,} bytes, at most {MOST_BYTES:,}", size <= MOST_BYTES
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", say("readelf", "-dW", str(PLUGIN))))
    yield f"needs {', '.join(sorted(needed))}", needed <= NEEDED
    exported = {
        line.split()[-1].split("@")[0]
        for line in say("nm", "-D", "--defined-only", str(PLUGIN)).splitlines()
    }
    yield f"exports {', '.join(sorted(exported))}", exported == EXPORTED


def run_tests():
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("JAX_")}
    environment = dict(inherited, ALULA_PJRT_PLUGIN=str(PLUGIN))
    commands = [[str(BUILD / "tests" / f"pjrt_{name}_test"), "--gtest_brief=1"] for name in TESTS]
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
    for checks in (check_file(), run_tests()):
        for text, is_right in checks:
            print("  " if is_right else "FAILED ", text, flush=True)
            passed += is_right
            failed += not is_right
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
