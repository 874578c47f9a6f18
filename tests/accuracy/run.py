"""Writes docs/accuracy.md: `./dev test accuracy`, some minutes long.

Arguments go to op-accuracy: names of ops, --log2-count=N.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("ALULA_BUILD", "build")


def main():
    command = [str(BUILD / "tests" / "op-accuracy"), "--log2-count=24"]
    if not any(not a.startswith("-") for a in sys.argv[1:]):
        command.append(f"--markdown={ROOT / 'docs' / 'accuracy.md'}")
    return subprocess.run([*command, *sys.argv[1:]], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
