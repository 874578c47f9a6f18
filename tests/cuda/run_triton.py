"""Softmax of a transformer by Triton (test_kernel_offers.py), in an environment of its own.

  run_triton.py [--from DIR]

Installs Triton (1 GB) into DIR, build/triton unless told otherwise; nothing else needs it.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import venv

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / os.environ.get("ALULA_BUILD", "build")
# What it was tested with.
TRITON = "triton==3.9.0"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--from", dest="folder", type=pathlib.Path, default=BUILD / "triton")
    folder = parser.parse_args().folder.resolve()
    python = folder / "bin/python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    if subprocess.run([python, "-c", "import triton"], check=False, capture_output=True).returncode:
        subprocess.run([python, "-m", "pip", "install", "-q", TRITON], check=True)
    tests = [sys.executable, "-m", "pytest", "-q", HERE / "test_kernel_offers.py", "-k", "triton"]
    environment = os.environ | {"ALULA_TRITON_PYTHON": str(python)}
    sys.exit(subprocess.run(tests, env=environment, check=False).returncode)


if __name__ == "__main__":
    main()
