"""Factorizations and solvers beside XLA:CPU, which calls LAPACK, call by call in one process.

./dev bench linalg [--only TEXT] [--threads N] [--rounds N] [--types f32,f64,c64] [--first]

Peers take turns, as in `./dev bench fft`. The table has how many times as long as ours a call of
XLA:CPU takes, and the residuals of both in units of rounding: of the factorization, and of the
orthogonality of its vectors. With one thread, processor time is counted, else real time. --first compares the
first call of a fresh process instead."""

import argparse
import math
import os
import statistics
import sys
import time

from bench.first_calls import print_first
from bench.turns import measure, summarize

SIZES = (64, 500, 1500)
# How many matrices, of which size.
BATCHES = ((1000, 6), (1000, 12))
TYPES = {"f32": "float32", "f64": "float64", "c64": "complex64", "c128": "complex128"}
KINDS = (
    "cholesky",
    "lu",
    "qr",
    "solve_left",
    "solve_right",
    "inverse",
    "eigh",
    "eigvalsh",
    "svd",
    "svdvals",
    "eig",
    "eigvals",
    "lstsq",
    "schur",
)
# More than this many units of rounding, or more than XLA's times this, is wrong.
MOST_UNITS, MOST_RATIO = 100, 20


def parse(argv=None):
    parser = argparse.ArgumentParser(prog="./dev bench linalg", description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="cases whose name contains TEXT")
    parser.add_argument("--threads", type=int, default=1, help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=7, help="default: %(default)s")
    parser.add_argument("--types", default="f32,f64", help="default: %(default)s")
    parser.add_argument("--first", action="store_true", help="the first call of a process")
    return parser.parse_args(argv)


def list_cases(only: str, types=("f32", "f64")):
    """(name, kind, batch, size, type)"""
    for kind in KINDS:
        for batch, size in [(1, size) for size in SIZES] + list(BATCHES):
            if kind == "schur" and batch > 1:
                continue
            for dtype in types:
                name = f"{kind} {batch} x {size} {dtype}"
                if only in name:
                    yield name, kind, batch, size, dtype


def make_inputs(kind, batch, size, dtype):
    import numpy as np

    random = np.random.default_rng(0)

    def make(*shape):
        a = random.standard_normal(shape)
        if TYPES[dtype].startswith("complex"):
            a = a + 1j * random.standard_normal(shape)
        return a.astype(TYPES[dtype])

    shape = (size, size) if batch == 1 else (batch, size, size)
    a = make(*shape)
    if kind in ("eigh", "eigvalsh"):
        return [(a + adjoint(a)) / 2]
    if kind == "cholesky":
        return [(a @ adjoint(a) / size + np.eye(size)).astype(a.dtype)]
    if kind.startswith("solve"):
        return [(np.tril(a) / size + 2 * np.eye(size)).astype(a.dtype), make(*shape)]
    if kind == "lstsq":
        tall = make(*shape[:-2], 2 * size, size)
        return [tall, make(*shape[:-2], 2 * size, 1)]
    return [a]


def adjoint(a):
    return a.conj().swapaxes(-1, -2)


def make_function(kind, batch):
    import jax
    import jax.numpy as jnp
    from jax.scipy.linalg import lu, schur, solve_triangular

    def lstsq(a, b):
        return jnp.linalg.lstsq(a, b)[0]

    functions = {
        "cholesky": jnp.linalg.cholesky,
        "lu": jax.vmap(lu) if batch > 1 else lu,
        "qr": jnp.linalg.qr,
        "solve_left": lambda l, b: solve_triangular(l, b, lower=True),
        "solve_right": lambda l, b: jax.lax.linalg.triangular_solve(l, b, lower=True),
        "inverse": jnp.linalg.inv,
        "eigh": jnp.linalg.eigh,
        "eigvalsh": jnp.linalg.eigvalsh,
        "svd": jnp.linalg.svd,
        "svdvals": jnp.linalg.svdvals,
        "eig": jnp.linalg.eig,
        "eigvals": jnp.linalg.eigvals,
        "lstsq": jax.vmap(lstsq) if batch > 1 else lstsq,
        "schur": schur,
    }
    return functions[kind]


def judge(kind, inputs, results, epsilon):
    """The largest residual and the largest error of orthogonality, in units of epsilon times the
    norm; those of values alone, and of least squares, are distances from NumPy's in f64."""
    import numpy as np

    def wide(a):
        a = np.asarray(a)
        return a.astype(np.result_type(a.dtype, np.float64))

    a, *rest = map(wide, inputs)
    x = [wide(r) for r in results] if isinstance(results, (tuple, list)) else wide(results)
    size = a.shape[-1]
    unit = epsilon * size**0.5

    def norm(m):
        return np.linalg.norm(m, axis=(-2, -1)) if m.ndim >= 2 else np.linalg.norm(m)

    def near(m, expected, scale=None):
        return float(np.max(norm(m - expected) / norm(expected if scale is None else scale)) / unit)

    def unitary(*qs):
        return max(
            near(
                adjoint(q) @ q,
                np.broadcast_to(np.eye(q.shape[-1]), q.shape[:-2] + (q.shape[-1],) * 2),
            )
            for q in qs
        )

    if kind == "cholesky":
        return near(x @ adjoint(x), a), 0.0
    if kind == "lu":
        return near(x[0] @ x[1] @ x[2], a), 0.0
    if kind == "qr":
        return near(x[0] @ x[1], a), unitary(x[0])
    if kind == "solve_left":
        return near(a @ x, rest[0]), 0.0
    if kind == "solve_right":
        return near(x @ a, rest[0]), 0.0
    if kind == "inverse":
        return near(x, np.linalg.inv(a)) / float(np.max(np.linalg.cond(a))), 0.0
    if kind == "eigh":
        return near(a @ x[1], x[1] * x[0][..., None, :], a), unitary(x[1])
    if kind == "svd":
        return near((x[0] * x[1][..., None, :]) @ x[2], a), unitary(x[0], adjoint(x[2]))
    if kind == "eig":
        return near(a @ x[1], x[1] * x[0][..., None, :], a), 0.0
    if kind == "schur":
        return near(x[1] @ x[0] @ adjoint(x[1]), a), unitary(x[1])
    if kind == "lstsq":
        expected = np.linalg.pinv(a) @ rest[0]
        return near(x, expected) / float(np.max(np.linalg.cond(a))), 0.0
    if kind == "eigvals":
        # Order differs; the sum and the sum of squares do not.
        trace = np.trace(a, axis1=-2, axis2=-1)
        return float(np.max(np.abs(x.sum(-1) - trace) / norm(a)) / unit), 0.0
    values = {
        "eigvalsh": np.linalg.eigvalsh,
        "svdvals": lambda m: np.linalg.svd(m, compute_uv=False),
    }
    expected = values[kind](a)
    return float(np.max(np.abs(x - expected)) / np.max(np.abs(expected)) / unit), 0.0


def make_first(name):
    _, kind, batch, size, dtype = next(list_cases(name, TYPES))
    return make_function(kind, batch), make_inputs(kind, batch, size, dtype)


def run(options):
    types = options.types.split(",")
    if options.first:
        names = [name for name, *_ in list_cases(options.only, types)]
        print_first("factorizations", names, options.rounds)
        return False
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-options.threads :])
    os.environ["JAX_PLATFORMS"] = "alula,cpu"
    os.environ["OPENBLAS_NUM_THREADS"] = str(options.threads)
    import jax
    import numpy as np

    jax.config.update("jax_enable_x64", True)
    devices = {"alula": jax.devices("alula")[0], "xla": jax.devices("cpu")[0]}
    clock = time.process_time if options.threads == 1 else time.perf_counter
    print(f"{'':28} {'us':>10} {'xla':>6}   residual (xla's), orthogonality", flush=True)
    table = []
    for name, kind, batch, size, dtype in list_cases(options.only, types):
        inputs = make_inputs(kind, batch, size, dtype)
        function = jax.jit(make_function(kind, batch))
        peers, units = {}, {}
        epsilon = float(np.finfo(TYPES[dtype]).eps)
        for peer, device in devices.items():
            there = jax.device_put(inputs, device)
            units[peer] = judge(kind, inputs, function(*there), epsilon)
            peers[peer] = lambda there=there, f=function: jax.block_until_ready(f(*there))
        row = summarize(measure(peers, options.rounds, clock))
        pairs = list(zip(units["alula"], units["xla"], strict=True))
        wrong = any(
            not ours < MOST_UNITS or ours > MOST_RATIO * max(theirs, 0.5) for ours, theirs in pairs
        )
        figures = ", ".join(f"{ours:.2g} ({theirs:.2g})" for ours, theirs in pairs)
        note = " WRONG" if wrong else ""
        print(
            f"{name:28} {row['microseconds']:10.1f} {row['xla']:6.2f}   {figures}{note}", flush=True
        )
        table.append((row["xla"], wrong))
    ratios = [ratio for ratio, _ in table]
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    below = sum(ratio < 0.97 for ratio in ratios)
    print(f"xla: {mean:.2f} in the mean, {below} of {len(ratios)} below 0.97")
    return any(wrong for _, wrong in table)


if __name__ == "__main__":
    sys.exit(run(parse()))
