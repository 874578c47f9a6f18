"""Writes docs/accuracy.md: `./dev test accuracy`, some minutes long; and its bounds
for reports, which --bounds does alone.

Other arguments go to op-accuracy: names of ops, --log2-count=N.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("ALULA_BUILD", "build")


BOUNDS = ROOT / "python" / "alula" / "report" / "bounds.py"


def make_bounds():
    """The text of BOUNDS: the table's ops by name and type, the larger bound of two."""
    bounds = {}
    for line in (ROOT / "docs" / "accuracy.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if line.startswith(("| stablehlo.", "| chlo.")):
            key = f"{cells[1].split('.', 1)[1]}:{cells[2]}"
            bounds[key] = max(float(cells[4]), bounds.get(key, 0.0))
    rows = "".join(f'    "{key}": {bound:g},\n' for key, bound in sorted(bounds.items()))
    return (
        '"""Largest errors of functions in units in the last place, as docs/accuracy.md has them.\n'
        'Written by tests/accuracy/run.py."""\n\n'
        f"BOUNDS = {{\n{rows}}}\n"
    )


def main():
    if sys.argv[1:] == ["--bounds"]:
        BOUNDS.write_text(make_bounds())
        return 0
    command = [str(BUILD / "tests" / "op-accuracy"), "--log2-count=24"]
    if not any(not a.startswith("-") for a in sys.argv[1:]):
        command.append(f"--markdown={ROOT / 'docs' / 'accuracy.md'}")
    code = subprocess.run([*command, *sys.argv[1:]], check=False).returncode
    BOUNDS.write_text(make_bounds())
    return code


if __name__ == "__main__":
    sys.exit(main())
