"""torch_xla, as PyPI has it, trains an MLP and a CNN on Alula; the losses of
all steps are those of torch on the CPU.

    ./dev test torch [--steps N] [--venv DIR]

The first run fills a virtual environment with 7 GB of packages."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = HERE.parents[1] / os.environ.get("ALULA_BUILD", "build")
PACKAGES = ["torch==2.9.0", "torch_xla==2.9.0", "numpy"]
TOLERANCE = 1e-4


def prepare(venv: Path):
    """The environment's Python; the stamp says that it is whole."""
    stamp = venv / "installed.txt"
    wanted = "\n".join(PACKAGES)
    if not stamp.exists() or stamp.read_text() != wanted:
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
        install = [str(venv / "bin" / "pip"), "install", "-q", "--no-cache-dir"]
        subprocess.run([*install, *PACKAGES], check=True)
        stamp.write_text(wanted)
    return str(venv / "bin" / "python")


def train(python: str, steps: int):
    with tempfile.TemporaryDirectory() as folder:
        # A copy: the plugin may be linked meanwhile.
        plugin = shutil.copy(BUILD / "lib" / "pjrt_plugin_alula.so", folder)
        command = [python, str(HERE / "train.py"), str(plugin), str(steps)]
        ended = subprocess.run(command, check=False, capture_output=True, text=True)
    if ended.returncode:
        raise RuntimeError(f"{' '.join(command)}:\n{ended.stderr[-4000:]}")
    return json.loads(ended.stdout)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--venv", type=Path, default=BUILD / "torch_venv")
    options = parser.parse_args()
    models = train(prepare(options.venv), options.steps)
    failed = 0
    for name, losses in models.items():
        ours, theirs = losses["alula"], losses["cpu"]
        difference = max(abs(a - b) / abs(b) for a, b in zip(ours, theirs, strict=True))
        right = difference <= TOLERANCE and ours[-1] < 0.8 * ours[0]
        failed += not right
        print(
            f"{name}: {options.steps} steps, loss {ours[0]:.4f} to {ours[-1]:.4f}, differs "
            f"from torch's by {difference:.1e} at most",
            flush=True,
        )
    print(f"{len(models) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
