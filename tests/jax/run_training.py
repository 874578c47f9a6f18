"""Trains models on Alula and on XLA:CPU and compares the losses of all steps.

    ./dev test training [--steps N] [MODEL...]

No two of them may differ by more than 1e-4 of the loss."""

import argparse
import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PLUGIN = ROOT / os.environ.get("ALULA_BUILD", "build") / "lib" / "pjrt_plugin_alula.so"
MODELS = ("flax", "equinox")
TOLERANCE = 1e-4


@dataclasses.dataclass
class Curves:
    """The losses of one training on both backends."""

    alula: list[float]
    cpu: list[float]

    def worst(self) -> tuple[float, int]:
        """The greatest relative difference, and its step."""
        pairs = enumerate(zip(self.alula, self.cpu, strict=True))
        # A loss that is no number is as different as can be.
        return max((abs(a - b) / abs(b) if a - b == a - b else 1.0, i) for i, (a, b) in pairs)


def train(model: str, steps: int) -> Curves:
    """Runs train.py with a copy of the plugin, which may be linked meanwhile."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("JAX_")}
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(
            inherited,
            JAX_PLATFORMS="alula,cpu",
            ALULA_PJRT_PLUGIN=str(shutil.copy(PLUGIN, folder)),
            PYTHONPATH=str(ROOT / "python"),
        )
        command = [sys.executable, str(HERE / "train.py"), model, str(steps), "alula", "cpu"]
        ended = subprocess.run(
            command, check=False, env=environment, capture_output=True, text=True
        )
    if ended.returncode:
        raise RuntimeError(f"{' '.join(command)}:\n{ended.stderr[-4000:]}")
    return Curves(**json.loads(ended.stdout))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", default=MODELS, metavar="MODEL")
    parser.add_argument("--steps", type=int, default=1000)
    options = parser.parse_args()
    failed = 0
    for model in options.models:
        curves = train(model, options.steps)
        difference, step = curves.worst()
        failed += difference > TOLERANCE
        print(
            f"{model}: {options.steps} steps, loss {curves.cpu[0]:.4f} to {curves.cpu[-1]:.4f}, "
            f"differs from XLA:CPU's by {difference:.1e} at most, at step {step}",
            flush=True,
        )
    print(f"{len(options.models) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
