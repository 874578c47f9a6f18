"""What more cores would make of each row: its grids on machines that are not at hand.

./dev bench grids [--rows NAME,...] [--size usual|odd] [--cores 2,4,16,64] [--kernels]

Each row is compiled for a machine with so many cores (`--target=cpu:host:cores=N`) and runs here on
one thread; a trace says how many workgroups each kernel has and how long they take. On N cores a
kernel takes the time of the workgroups that one core gets, and no less than memory allows where its
operands are larger than the last cache; a launch that wakes others costs what it costs here. The
column "measured" is two threads here, beside what is computed for two. With --kernels, the kernels
that lose most are named.

Efficiency is the time on one core to N times that on N cores."""

import argparse
import collections
import dataclasses
import heapq
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.measuring import prepare
from bench.peers.alula import BUILD, Alula, read_seconds
from bench.peers.tool import ToolFailed

ROUNDS = 9
# A launch of an empty kernel of two workgroups: what one thread more costs, in seconds. Measured
# by `measure_wake`; threads are woken as a tree.
WAKE_PROGRAM = """
func.func @main(%x: tensor<65536xf32>) -> tensor<65536xf32> {
  %0 = stablehlo.add %x, %x : tensor<65536xf32>
  return %0 : tensor<65536xf32>
}
"""


@dataclasses.dataclass
class Dispatch:
    """What a kernel's dispatch takes on one thread."""

    kernel: str
    seconds: float
    groups: int
    bytes: int


class Machine:
    """Facts of this one that decide what more cores are worth."""

    def __init__(self, wake: float, cache: int, memory_cores: int):
        self.wake, self.cache, self.memory_cores = wake, cache, memory_cores

    def seconds(self, together: list[Dispatch], cores) -> float:
        """Of dispatches that may run at the same time."""
        used = min(cores, sum(each.groups for each in together))
        if used == 1:
            return sum(each.seconds for each in together)
        # Each workgroup goes to the core that is free first.
        busy = [0.0] * used
        for each in together:
            share = 1 / each.groups
            if each.bytes > self.cache:
                # One core has its part of what `memory_cores` can read.
                share = max(share, used / each.groups / self.memory_cores)
            for _ in range(each.groups):
                heapq.heappush(busy, heapq.heappop(busy) + each.seconds * share)
        return max(busy) + self.wake * math.ceil(math.log2(used))


def parse(argv=None):
    parser = argparse.ArgumentParser(prog="./dev bench grids", description=__doc__.splitlines()[0])
    parser.add_argument("--rows", help="names, with commas; all without it")
    parser.add_argument("--size", default="usual", choices=("usual", "odd"))
    parser.add_argument("--cores", default="2,4,16,64", help="default: %(default)s")
    parser.add_argument("--kernels", action="store_true", help="name those that lose most")
    return parser.parse_args(argv)


def compile_for(program: Path, cores: int) -> Path:
    artifact = program.with_suffix(f".{cores}.alula")
    target = f"--target=cpu:host:cores={cores}"
    command = [BUILD / "bin/alula-compile", program, "-o", artifact, target]
    subprocess.run(command, check=True, capture_output=True)
    return artifact


def read_trace(events) -> tuple[float, list[list[Dispatch]]]:
    """The best call's seconds, and its dispatches, those that may run at the same time together:
    each takes what it takes at best, since others use this machine too."""
    calls = [event for event in events if event.get("cat") == "call"]
    kernels = [event for event in events if event.get("cat") == "kernel"]
    runs = [
        [e for e in kernels if call["ts"] <= e["ts"] < call["ts"] + call["dur"]] for call in calls
    ]
    # Calls may take different branches: then only the best one's times are known.
    best = min(range(len(calls)), key=lambda number: calls[number]["dur"])
    names = [e["name"] for e in runs[best]]
    alike = [run for run in runs if [e["name"] for e in run] == names]
    launches = []
    outside = calls[best]["dur"] - sum(event["dur"] for event in runs[best])
    total = max(0.0, outside)
    for same in zip(*alike, strict=True):
        arguments, duration = same[0]["args"], min(event["dur"] for event in same)
        groups = math.prod(map(int, arguments["grid"].split("x")))
        moved = int(arguments.get("bytes", 0))
        if not arguments.get("beside"):
            launches.append([])
        launches[-1].append(Dispatch(same[0]["name"], duration * 1e-6, groups, moved))
        total += duration
    return total * 1e-6, launches


def trace(artifact: Path, inputs, threads: int) -> tuple[float, list[list[Dispatch]]]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "trace.json"
        command = [BUILD / "bin/alula-run", artifact, f"--threads={threads}"]
        command += [f"--trace={file}", f"--repeat={ROUNDS}", f"--output={folder}/0.bin"]
        subprocess.run([*command, *inputs], check=True, capture_output=True)
        read = json.loads(file.read_text())
    return read_trace(read["traceEvents"] if isinstance(read, dict) else read)


def bench(artifact: Path, inputs, threads: int) -> float:
    command = [BUILD / "bin/alula-bench", artifact, f"--threads={threads}", *inputs]
    command += ["--benchmark_format=json", "--benchmark_min_time=0.1"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return read_seconds(done.stdout, "real_time")


def measure_wake(folder: Path) -> float:
    """What a second thread costs a launch, beyond half of its time on one."""
    program = folder / "wake.mlir"
    program.write_text(WAKE_PROGRAM)
    artifact = compile_for(program, 2)
    pairs = [(bench(artifact, (), 1), bench(artifact, (), 2)) for _ in range(5)]
    return max(0.0, statistics.median(two - one / 2 for one, two in pairs))


def cache_bytes() -> int:
    """Of the last cache, all of it."""
    folders = Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size")
    scale = {"K": 1 << 10, "M": 1 << 20}
    sizes = [text.read_text().strip() for text in folders]
    return max((int(s[:-1]) * scale[s[-1]] for s in sizes if s[-1] in scale), default=32 << 20)


def worst(launches: list[list[Dispatch]], machine: Machine, cores: int, most: int = 3):
    """(kernel, seconds beyond an N-th, workgroups, times), the worst first; dispatches that run
    at the same time have their parts of what is lost."""
    lost, groups = collections.defaultdict(float), collections.defaultdict(list)
    for together in launches:
        alone = sum(each.seconds for each in together)
        beyond = machine.seconds(together, cores) - alone / cores
        for each in together:
            lost[each.kernel] += beyond * each.seconds / alone if alone else 0
            groups[each.kernel].append(each.groups)
    found = [(k, lost[k], int(statistics.median(groups[k])), len(groups[k])) for k in lost]
    return sorted(found, key=lambda each: -each[1])[:most]


def predict(total: float, launches: list[list[Dispatch]], machine: Machine, cores: int) -> float:
    """Of a call: what is not in kernels stays as it is."""
    alone = sum(each.seconds for together in launches for each in together)
    return max(0.0, total - alone) + sum(machine.seconds(each, cores) for each in launches)


def measure_row(name: str, size: str, machine: Machine, cores, show_kernels: bool):
    """Prints a line; efficiencies by cores."""
    efficiencies, remarks = {}, []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        prepare(name, size, folder)
        inputs = [f"--input={text}" for text in Alula(folder, 1, (), 0).input_texts()]
        base, _ = trace(compile_for(folder / "program.mlirbc", 1), inputs, 1)
        cells = [f"{base * 1e6:11.1f}"]
        for count in cores:
            artifact = compile_for(folder / "program.mlirbc", count)
            total, launches = trace(artifact, inputs, 1)
            time = predict(total, launches, machine, count)
            efficiencies[count] = base / time / count
            cells.append(f"{efficiencies[count]:8.2f}")
            if count == 2 and (os.cpu_count() or 1) >= 2:
                measured, _ = trace(artifact, inputs, 2)
                cells.append(f"{base / measured / 2:8.2f}")
            for kernel, lost, groups, times in worst(launches, machine, count):
                if show_kernels and lost > 0.05 * time:
                    remarks.append(
                        f"    {count} cores: {kernel}, {groups} workgroups, {times} times: "
                        f"{lost / time:.0%} of the call lost"
                    )
    print(f"{name:20} " + " ".join(cells), *remarks, sep="\n", flush=True)
    return efficiencies


def main() -> int:
    options = parse()
    cores = [int(text) for text in options.cores.split(",")]
    from bench.workloads import ROWS

    names = options.rows.split(",") if options.rows else list(ROWS)
    with tempfile.TemporaryDirectory() as folder:
        wake = measure_wake(Path(folder))
    machine = Machine(wake, cache_bytes(), memory_cores=4)
    print(
        f"a launch wakes a thread in {wake * 1e6:.1f} us; the last cache has {machine.cache >> 20} MB"
    )
    heads = [f"{n:>8}" + (f" {'measured':>8}" if n == 2 else "") for n in cores]
    print(f"{'efficiency on cores':20} {'us on one':>11} " + " ".join(heads), flush=True)
    found = collections.defaultdict(list)
    for name in names:
        if ROWS[name].from_python:
            continue
        try:
            for count, value in measure_row(
                name, options.size, machine, cores, options.kernels
            ).items():
                found[count].append(value)
        except (ToolFailed, subprocess.CalledProcessError) as problem:
            print(f"{name:20} failed: {str(problem)[-200:]}")
    means = {n: math.exp(statistics.fmean(map(math.log, v))) for n, v in found.items()}
    print("geometric means " + ", ".join(f"{n}: {value:.2f}" for n, value in means.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
