"""Products with weights of bytes and of few bits beside onnxruntime's, call by call in one process.

./dev bench few-bits [--rows N,...] [--only TEXT] [--size N] [--threads N] [--rounds N]
                     [--past-cache MATRICES]

Rows of unsigned bytes times signed weights, and rows of f32 times weights of four and eight bits with
a scale for each 32 along the sums: in f32 on both sides (`accuracy_level=1`), and with activations
rounded to bytes (`--accuracy=i8-activations` and `accuracy_level=4`), weights of four bits with a
zero point for each scale too. Peers take turns; with one
thread, processor time is counted, else real time, each after the other's threads have stopped. Figures are onnxruntime's time as a multiple of
ours, the median of ratios of neighbours in time.

With `--past-cache`, one row goes through so many constant matrices, one after the other, from C,
beside threads that only read the same memory."""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.turns import measure, summarize

# Name -> (bits, level of onnxruntime, whether there are zero points); no bits: bytes times bytes.
KINDS = {
    "u8 x i8": (0, 0, False),
    "i4 f32": (4, 1, False),
    "i8 f32": (8, 1, False),
    "i4 bytes": (4, 4, False),
    "i8 bytes": (8, 4, False),
    "ui4 zeros f32": (4, 1, True),
    "ui4 zeros bytes": (4, 4, True),
}


def parse(argv=None):
    parser = argparse.ArgumentParser(
        prog="./dev bench few-bits", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--rows", default="1,128", help="default: %(default)s")
    parser.add_argument("--only", default="", help="kinds whose names have this text")
    parser.add_argument("--size", type=int, default=4096, help="default: %(default)s")
    parser.add_argument("--threads", type=int, default=1, help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=15, help="default: %(default)s")
    parser.add_argument("--past-cache", type=int, help="how many matrices")
    return parser.parse_args(argv)


def make_case(kind, rows, size):
    from bench.workloads.products import constant_bytes, few_bit_weights

    bits, level, has_zeros = KINDS[kind]
    if not bits:
        return constant_bytes(rows, size, size)
    return few_bit_weights(rows, size, size, bits, 32, level, has_zeros)


def compile_function(function, inputs, kind, folder):
    """Its artifact."""
    import jax
    from jax import export

    from bench.peers.alula import BUILD

    exported = export.export(jax.jit(function), platforms=["cpu"])(*inputs)
    program, artifact = folder / "program.mlirbc", folder / "program.alula"
    program.write_bytes(exported.mlir_module_serialized)
    flags = ["--target=cpu:host"]
    flags += ["--accuracy=i8-activations"] if KINDS[kind][1] == 4 else []
    subprocess.run([BUILD / "bin/alula-compile", program, "-o", artifact, *flags], check=True)
    return artifact


def compute_error(result, wanted):
    import numpy as np

    return np.abs(np.asarray(result) - wanted).max() / np.abs(wanted).max()


def run_case(kind, rows, options):
    """The row of figures and, of each peer, its error."""
    import alula
    import jax
    import numpy as np

    from bench.peers.in_onnxruntime import InOnnxruntime

    case = make_case(kind, rows, options.size)
    with tempfile.TemporaryDirectory() as folder:
        ours = alula.load(compile_function(case.closed(), case.inputs, kind, Path(folder)))
        theirs = InOnnxruntime(case, options.threads)
        wanted = np.asarray(jax.jit(case.function)(case.params, *case.inputs), np.float64)
        errors = {
            "alula": compute_error(ours.main(*case.inputs), wanted),
            "onnxruntime": compute_error(theirs.results()[0], wanted),
        }
        clock = time.process_time if options.threads == 1 else time.perf_counter
        peers = {"alula": lambda: ours.main(*case.inputs), "onnxruntime": theirs.call}
        times = measure(peers, options.rounds, clock, warm=2, rests=options.threads > 1)
        return summarize(times), errors


def run_past_cache(kind, options):
    """How a row of constants fares, as text."""
    import jax
    import numpy as np

    from bench.read_turns import take_turns

    case = make_case(kind, 1, options.size)
    draws = np.random.default_rng(1)
    layers = [
        {name: draws.permutation(array) for name, array in case.params.items()}
        for _ in range(options.past_cache)
    ]

    def function(x):
        for params in layers:
            x = jax.numpy.tanh(case.function(params, x))
        return x

    with tempfile.TemporaryDirectory() as folder:
        artifact = compile_function(function, case.inputs, kind, Path(folder))
        return take_turns(artifact, options.threads, 3).describe()


def main() -> int:
    options = parse()
    if options.past_cache:
        for kind, (bits, *_) in KINDS.items():
            if bits and options.only in kind:
                print(f"{kind:15} {run_past_cache(kind, options)}", flush=True)
        return 0
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-options.threads :])
    os.environ["JAX_PLATFORMS"] = "cpu"
    print(f"{'':15} {'rows':>5} {'us':>10} {'ratio':>8} {'error':>9} {'its error':>9}", flush=True)
    is_wrong = False
    for kind in KINDS:
        if options.only not in kind:
            continue
        # Activations that are rounded: half of a step of a byte, at random, of each.
        limit = 1e-2 if KINDS[kind][1] == 4 else 2e-5
        for rows in map(int, options.rows.split(",")):
            row, errors = run_case(kind, rows, options)
            wrong = [name for name, error in errors.items() if not error < limit]
            is_wrong = is_wrong or bool(wrong)
            figures = f"{row['microseconds']:10.1f} {row['onnxruntime']:8.2f}"
            shown = f"{errors['alula']:9.1e} {errors['onnxruntime']:9.1e}"
            print(f"{kind:15} {rows:5} {figures} {shown}", *wrong, flush=True)
    return is_wrong


if __name__ == "__main__":
    sys.exit(main())
