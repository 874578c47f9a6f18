"""Products with sparse matrices beside XLA:CPU, SciPy and dense ones, call by call in one process.

./dev bench sparse [--size N] [--columns N] [--threads N] [--rounds N]

A square matrix of f32 with 5 %, 1 % and 0.1 % of its elements times a dense one, as BCOO and BCSR of
JAX. Peers take turns; with one thread, processor time is counted, else real time. SciPy has one
thread. The last column is what a call holds at its peak besides its arguments and results, to the
bytes of the list's indices: XLA:CPU's way has an array of nonzeros times columns."""

import argparse
import os
import sys
import time

from bench.turns import measure, summarize

DENSITIES = (0.05, 0.01, 0.001)


def parse(argv=None):
    parser = argparse.ArgumentParser(prog="./dev bench sparse", description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=4096, help="default: %(default)s")
    parser.add_argument("--columns", type=int, default=64, help="default: %(default)s")
    parser.add_argument("--threads", type=int, default=1, help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=7, help="default: %(default)s")
    return parser.parse_args(argv)


def make_matrix(size, density):
    """In CSR, in order of rows and columns."""
    import numpy as np
    import scipy.sparse

    matrix = scipy.sparse.random(
        size, size, density, format="csr", dtype=np.float32, random_state=1
    )
    matrix.sort_indices()
    return matrix


def make_peers(matrix, x):
    """Name -> (call, result), and the function that Alula runs with its arguments."""
    import jax
    import numpy as np
    from jax.experimental import sparse

    kinds = {
        "bcoo": sparse.BCOO.from_scipy_sparse(matrix),
        "bcsr": sparse.BCSR.from_scipy_sparse(matrix),
        "dense": matrix.toarray(),
    }
    multiply = jax.jit(lambda s, x: s @ x)
    peers, results, given = {}, {}, {}
    for platform in ("alula", "cpu"):
        device = jax.devices(platform)[0]
        for kind, s in kinds.items():
            name = f"{platform} {kind}".replace("alula bcoo", "alula").replace("cpu", "xla")
            there = given[name] = jax.device_put((s, x), device)
            results[name] = np.asarray(multiply(*there))
            peers[name] = lambda there=there: multiply(*there).block_until_ready()
    peers["scipy"] = lambda: matrix @ x
    return peers, results, (multiply, given["alula"])


def main() -> int:
    options = parse()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-options.threads :])
    os.environ["JAX_PLATFORMS"] = "alula,cpu"
    import numpy as np

    clock = time.process_time if options.threads == 1 else time.perf_counter
    others = ("alula bcsr", "alula dense", "xla bcoo", "xla bcsr", "xla dense", "scipy")
    print(f"{'':8} {'us':>10}", *(f"{name:>12}" for name in others), f"{'memory':>8}", flush=True)
    x = np.random.default_rng(0).standard_normal((options.size, options.columns))
    x, is_wrong = x.astype(np.float32), False
    for density in DENSITIES:
        matrix = make_matrix(options.size, density)
        peers, results, (function, arguments) = make_peers(matrix, x)
        row = summarize(measure(peers, options.rounds, clock))
        wanted = matrix.astype(np.float64) @ x
        errors = {n: np.abs(r - wanted).max() / np.abs(wanted).max() for n, r in results.items()}
        wrong = [name for name, error in errors.items() if not error < 1e-5]
        is_wrong = is_wrong or bool(wrong)
        memory = function.lower(*arguments).compile().memory_analysis().temp_size_in_bytes
        figures = [f"{row[name]:12.2f}" for name in others]
        share = memory / arguments[0].indices.nbytes
        shown = f"{row['microseconds']:10.1f}", *figures, f"{share:8.2f}"
        print(f"{density:8.1%}", *shown, *(f"WRONG: {name}" for name in wrong), flush=True)
    return is_wrong


if __name__ == "__main__":
    sys.exit(main())
