"""Processor time of compiling the rows of the bench, beside XLA:CPU in the same process.

./dev bench compiling [--rows NAME,...] [--size usual|odd] [--rounds N] [--one-cpu]

Each round lowers the row anew for both, under a name that no program had before, and compiles it by each, in
turns; what comes with the first compilation of a process is not counted. The ratio is the median of those of each
round. Rows that are ways of calling have nothing of their own to compile."""

import argparse
import math
import os
import statistics
import sys
import time


def parse(argv=None):
    parser = argparse.ArgumentParser(
        prog="./dev bench compiling", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--rows", help="names, with commas; all without it")
    parser.add_argument("--size", default="usual", choices=("usual", "odd"))
    parser.add_argument("--rounds", type=int, default=5, help="default: %(default)s")
    parser.add_argument("--one-cpu", action="store_true", help="all threads of one CPU")
    return parser.parse_args(argv)


def compile_once(case, inputs, name) -> float:
    """Milliseconds of the processor, in all threads."""
    import jax

    def function(*given):
        return case.function(case.params, *given)

    function.__name__ = name
    lowered = jax.jit(function).lower(*inputs)
    start = time.process_time()
    lowered.compile()
    return (time.process_time() - start) * 1e3


def measure_row(case, devices, rounds):
    """Milliseconds by device, one for each round."""
    import jax

    inputs = {
        name: [jax.device_put(v, device) for v in case.inputs] for name, device in devices.items()
    }
    times = {name: [] for name in devices}
    for turn in range(rounds):
        for name in devices if turn % 2 == 0 else reversed(devices):
            times[name].append(compile_once(case, inputs[name], f"round_{turn}"))
    return times


def main() -> int:
    options = parse()
    if options.one_cpu:
        os.sched_setaffinity(0, [max(os.sched_getaffinity(0))])
    os.environ["JAX_PLATFORMS"] = "alula,cpu"
    import jax
    import numpy as np

    from bench.workloads import ROWS

    rows = [ROWS[n] for n in options.rows.split(",")] if options.rows else list(ROWS.values())
    devices = {"alula": jax.devices("alula")[0], "xla": jax.devices("cpu")[0]}
    for device in devices.values():
        jax.jit(lambda x: x * 2)(jax.device_put(np.ones(3), device)).block_until_ready()
    print(f"{'ms of the processor':24} {'alula':>9} {'xla':>9} {'ratio':>7}", flush=True)
    ratios = []
    for row in rows:
        if row.from_python:
            continue
        times = measure_row(row.case(options.size), devices, options.rounds)
        ratio = statistics.median(a / b for a, b in zip(times["alula"], times["xla"], strict=True))
        ratios.append(ratio)
        ours, xla = (statistics.median(times[name]) for name in devices)
        print(f"{row.name:24} {ours:9.1f} {xla:9.1f} {ratio:7.2f}", flush=True)
    over = sum(ratio > 1 for ratio in ratios)
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    print(f"geometric mean {mean:.2f}; {over} of {len(ratios)} take longer")
    return 0


if __name__ == "__main__":
    sys.exit(main())
