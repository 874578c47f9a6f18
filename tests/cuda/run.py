"""Programs as kernels of a GPU, on the driver that interprets them (runtime/device/cuda).

  run.py [--corpus DIR] [--sample all] [--random N] [--target cuda:sm_80] [--match RE] ...

A tenth of JAX's harnesses (run_native.py, whose other options may follow), random
programs, the demo's model.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys

import fake_gpu

HERE = pathlib.Path(__file__).resolve().parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", default="cuda:sm_80")
    parser.add_argument("--sample", choices=["all", "tenth"], default="tenth")
    parser.add_argument("--random", type=int, default=100, help="how many random programs")
    options, others = parser.parse_known_args()
    chip = re.fullmatch(r"cuda:sm_(\d+)[af]?", options.target)[1]
    environment = os.environ | fake_gpu.environment(chip)
    harness = [
        sys.executable,
        HERE.parent / "jax/run_native.py",
        f"--target={options.target}",
        f"--sample={options.sample}",
        "--no-reference",
        "--timeout=600",
        *others,
    ]
    failed = subprocess.run(harness, env=environment, check=False).returncode
    if options.random:
        programs = [sys.executable, "-m", "pytest", "-q", HERE, "-k", "test_random_program or demo"]
        count = {"ALULA_RANDOM_COUNT": str(options.random)}
        failed |= subprocess.run(programs, env=os.environ | count, check=False).returncode
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
