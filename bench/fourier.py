"""Fourier transforms beside XLA:CPU and SciPy, call by call in one process.

./dev bench fft [--only TEXT] [--threads N] [--rounds N]
./dev bench fft --first

Peers take turns, so a busy machine slows all of them: the ratio of a round is that of
neighbours in time, and the table has the median of ratios. With one thread, processor time is
counted, else real time. --first compares the first call of a fresh process instead."""

import argparse
import math
import os
import statistics
import sys
import time

from bench.first_calls import print_first
from bench.turns import measure, summarize

KINDS = ("fft", "ifft", "rfft", "irfft")
# How many arrays, and their lengths.
SHAPES = [
    (64, (1024,)),
    (1, (1 << 18,)),
    (1, (512, 512)),
    (1, (64, 64, 64)),
    (1, (1000, 999)),
    (1, (100_003,)),
    (1, (1009,)),
    (64, (1009,)),
    (1, (10_007,)),
    (16, (10_007,)),
    (1, (101 * 103,)),
    (64, (101 * 103,)),
    (64, (37 * 41,)),
    (1, (1009 * 1013,)),
    (64, (4096,)),
    (1, (1024,)),
    (1, (1 << 20,)),
]


def parse(argv=None):
    parser = argparse.ArgumentParser(prog="./dev bench fft", description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="cases whose name contains TEXT")
    parser.add_argument("--threads", type=int, default=1, help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=7, help="default: %(default)s")
    parser.add_argument("--first", action="store_true", help="the first call of a process")
    return parser.parse_args(argv)


def list_cases(only: str):
    """(name, kind, arrays, lengths, double?)"""
    for arrays, lengths in SHAPES:
        for bits in (32, 64):
            for kind in KINDS:
                size = "x".join(map(str, lengths))
                name = f"{kind} {arrays} x {size} f{bits}"
                if only in name:
                    yield name, kind, arrays, lengths, bits == 64


def make_input(kind, arrays, lengths, is_double):
    import numpy as np

    random = np.random.default_rng(0)
    real = np.float64 if is_double else np.float32
    x = random.standard_normal((arrays, *lengths)).astype(real)
    if kind == "rfft":
        return x
    if kind == "irfft":
        axes = tuple(range(1, x.ndim))
        return np.fft.rfftn(x, axes=axes).astype(np.result_type(real, np.complex64))
    return x + np.array(1j, np.result_type(real, np.complex64)) * random.standard_normal(
        x.shape
    ).astype(real)


def make_functions(kind, lengths):
    """The transform in JAX, and in SciPy."""
    import jax.numpy as jnp
    import scipy.fft

    axes = tuple(range(1, 1 + len(lengths)))
    sizes = {"s": lengths} if kind == "irfft" else {}
    ours = getattr(jnp.fft, kind + "n")
    theirs = getattr(scipy.fft, kind + "n")

    def in_jax(x):
        return ours(x, axes=axes, **sizes)

    def in_scipy(x, workers):
        return theirs(x, axes=axes, workers=workers, **sizes)

    return in_jax, in_scipy


def run(options):
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-options.threads :])
    os.environ["JAX_PLATFORMS"] = "alula,cpu"
    import jax
    import numpy as np

    jax.config.update("jax_enable_x64", True)
    devices = {"alula": jax.devices("alula")[0], "xla": jax.devices("cpu")[0]}
    clock = time.process_time if options.threads == 1 else time.perf_counter
    print(f"{'':32} {'us':>10} {'xla':>7} {'scipy':>7}   times as long as Alula", flush=True)
    table = []
    for name, kind, arrays, lengths, is_double in list_cases(options.only):
        x = make_input(kind, arrays, lengths, is_double)
        in_jax, in_scipy = make_functions(kind, lengths)
        function = jax.jit(in_jax)
        peers, results = {}, {}
        for peer, device in devices.items():
            there = jax.device_put(x, device)
            results[peer] = np.asarray(function(there))
            peers[peer] = lambda there=there, f=function: f(there).block_until_ready()
        peers["scipy"] = lambda x=x, f=in_scipy: f(x, options.threads)
        row = summarize(measure(peers, options.rounds, clock))
        wanted = results["xla"]
        error = np.linalg.norm(results["alula"] - wanted) / np.linalg.norm(wanted)
        wrong = " WRONG" if not error < (1e-13 if is_double else 1e-5) else ""
        figures = f"{row['microseconds']:10.1f} {row['xla']:7.2f} {row['scipy']:7.2f}"
        print(f"{name:32} {figures}{wrong}", flush=True)
        table.append((name, row, wrong))
    for peer in ("xla", "scipy"):
        ratios = [row[peer] for _, row, _ in table]
        mean = math.exp(statistics.fmean(map(math.log, ratios)))
        below = sum(ratio < 0.97 for ratio in ratios)
        print(f"{peer}: {mean:.2f} in the mean, {below} of {len(ratios)} below 0.97")
    return any(wrong for _, _, wrong in table)


def make_first(name):
    _, kind, arrays, lengths, is_double = next(list_cases(name))
    return make_functions(kind, lengths)[0], [make_input(kind, arrays, lengths, is_double)]


def main() -> int:
    options = parse()
    if options.first:
        names = [name for name, *_ in list_cases(options.only)]
        print_first("fourier", names, options.rounds)
        return 0
    return int(run(options))


if __name__ == "__main__":
    sys.exit(main())
