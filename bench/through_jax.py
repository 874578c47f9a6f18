"""Rows of the bench in JAX: beside the same program from C, and beside XLA:CPU.

./dev bench jax [--rows NAME,...] [--size usual|odd] [--f64] [--rounds N]

One thread, processor time. JAX's peers take turns in one process, `alula-bench` is a process in
each of their rounds; ratios are of neighbours in time, the table has their median.
The last column says what a call takes beyond 1.1 times its time from C, in microseconds: 3 are
allowed. With --f64 floats are of 64 bits, and only XLA:CPU is beside."""

import argparse
import dataclasses
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.peers.alula import Alula, read_seconds

SECONDS = 0.05


def parse(argv=None):
    parser = argparse.ArgumentParser(prog="./dev bench jax", description=__doc__.splitlines()[0])
    parser.add_argument("--rows", help="names, with commas; all without it")
    parser.add_argument("--size", default="usual", choices=("usual", "odd"))
    parser.add_argument("--f64", action="store_true", help="floats of 64 bits")
    parser.add_argument("--rounds", type=int, default=7, help="default: %(default)s")
    return parser.parse_args(argv)


def excess(in_jax: float, from_c: float) -> float:
    """Of seconds: what is too much, in microseconds."""
    return (in_jax - 1.1 * from_c) * 1e6


def widen(values):
    import jax
    import numpy as np

    def one(value):
        value = np.asarray(value)
        return value.astype(np.float64) if value.dtype == np.float32 else value

    return jax.tree.map(one, values)


def widen_case(case):
    fresh = (lambda number: widen(case.fresh(number))) if case.fresh else None
    return dataclasses.replace(
        case, params=widen(case.params), inputs=widen(case.inputs), fresh=fresh
    )


class FromC:
    """The row's program in `alula-bench`."""

    def __init__(self, row, size, cpu):
        from bench.measuring import prepare

        self._folder = tempfile.TemporaryDirectory()
        folder = Path(self._folder.name)
        prepare(row, size, folder)
        self._tool = Alula(folder, 1, {cpu}, 600)
        for command in self._tool.compile_commands():
            # The plugin compiles for this machine too.
            command = [part for part in map(str, command) if not part.startswith("--target=")]
            subprocess.run([*command, "--target=cpu:host"], check=True, capture_output=True)

    def __call__(self) -> float:
        command = [*map(str, self._tool.bench_command(SECONDS, 1))]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return read_seconds(done.stdout, "cpu_time")


def sample(call) -> float:
    """Seconds of a call, of as many as `alula-bench` does: caches are another peer's at first."""
    for _ in range(2):
        call()
    count, took, start = 0, 0.0, time.process_time()
    while took < SECONDS:
        # The system takes a tenth of a small call to say what time it is.
        more = max(count, 1)
        for _ in range(more):
            call()
        count += more
        took = time.process_time() - start
    return took / count


def measure_row(row, options, cpu, devices):
    """Seconds by peer, one for each round."""
    import jax

    from bench.peers.in_jax import make_call

    case = row.case(options.size)
    if options.f64:
        case = widen_case(case)
    peers = {}
    for name, device in devices.items():
        call = make_call(case, device)
        peers[name] = lambda f=call: jax.block_until_ready(f())
    with_c = not (row.from_python or options.f64)
    from_c = FromC(row.name, options.size, cpu) if with_c else None
    times = {name: [] for name in (*peers, "c")}
    for turn in range(options.rounds):
        for name in peers if turn % 2 == 0 else reversed(peers):
            times[name].append(sample(peers[name]))
        if from_c:
            times["c"].append(from_c())
    return times


def main() -> int:
    options = parse()
    cpu = sorted(os.sched_getaffinity(0))[-1]
    os.sched_setaffinity(0, [cpu])
    os.environ["JAX_PLATFORMS"] = "alula,cpu"
    import jax

    from bench.workloads import ROWS

    jax.config.update("jax_enable_x64", options.f64)
    names = options.rows.split(",") if options.rows else list(ROWS)
    devices = {"alula": jax.devices("alula")[0], "xla": jax.devices("cpu")[0]}
    print(f"{'':20} {'us in JAX':>12} {'to XLA':>8} {'to C':>8} {'us beyond 1.1':>14}", flush=True)
    ratios = []
    for name in names:
        times = measure_row(ROWS[name], options, cpu, devices)
        ours = times["alula"]
        to_xla = statistics.median(a / b for a, b in zip(ours, times["xla"], strict=True))
        ratios.append(to_xla)
        line = f"{name:20} {min(ours) * 1e6:12.1f} {to_xla:8.2f}"
        if times["c"]:
            to_c = statistics.median(a / b for a, b in zip(ours, times["c"], strict=True))
            line += f" {to_c:8.2f} {excess(min(ours), min(times['c'])):14.1f}"
        print(line, flush=True)
    print(f"geometric mean to XLA:CPU {math.exp(statistics.fmean(map(math.log, ratios))):.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
