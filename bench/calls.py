"""What a call from Python costs, beside jax.jit, in turns in one process.

./dev bench calls [--rounds N]

x + 1 on 16 floats, and a sum of a dynamic size whose array has another size at each call. Processor
time: the median of ratios of neighbours in time, and the least time of each."""

import argparse
import os
import statistics
import sys
import tempfile
from pathlib import Path

from bench.turns import measure


def parse(argv=None):
    parser = argparse.ArgumentParser(prog="./dev bench calls", description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=31, help="default: %(default)s")
    return parser.parse_args(argv)


def make_peers(folder: Path) -> dict:
    """Groups of calls; the first of each is what the others are compared with."""
    import alula
    import jax
    import jax.numpy as jnp
    import numpy as np

    def add_one(x):
        return x + 1

    def total(x):
        return jnp.sum(x * 2)

    x = np.zeros(16, np.float32)
    there = jnp.asarray(x)
    jitted, compiled = jax.jit(add_one), alula.compile(add_one, x)
    file, dynamic = folder / "add_one.alula", folder / "total.alula"
    alula.export(add_one, x).save(file)
    size = jax.export.symbolic_shape("n")
    alula.export(total, jax.ShapeDtypeStruct(size, np.float32)).save(dynamic)
    loaded, loaded_total = alula.load(file).add_one, alula.load(dynamic).total
    sizes = iter(range(1, 1 << 30))
    return {
        "a NumPy array": {
            "jax.jit": lambda: jitted(x),
            "alula.compile": lambda: compiled(x),
            "alula.load": lambda: loaded(x),
        },
        "an array of JAX": {
            "jax.jit": lambda: jitted(there),
            "alula.compile": lambda: compiled(there),
        },
        "a size that is new": {
            "alula.load": lambda: loaded_total(np.zeros(next(sizes), np.float32)),
        },
    }


def main() -> int:
    options = parse()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-1:])
    os.environ["JAX_PLATFORMS"] = "cpu"
    print(f"{'':36} {'us':>8} {'ratio':>7}   to jax.jit, median of {options.rounds}")
    with tempfile.TemporaryDirectory() as folder:
        for what, peers in make_peers(Path(folder)).items():
            times = measure(peers, options.rounds, warm=3)
            base = next(iter(times.values()))
            for name, own in times.items():
                ratio = statistics.median(a / b for a, b in zip(own, base, strict=True))
                shown = f"{ratio:7.2f}" if own is not base else ""
                print(f"{what + ', ' + name:36} {min(own) * 1e6:8.2f} {shown}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
