"""Times on this machine: a program through the runtime's trace, copies and products
for the roofline."""

import concurrent.futures
import dataclasses
import itertools
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

import numpy as np

_PACKAGE = pathlib.Path(__file__).resolve().parents[1]
# Seconds for all calls of a program; what takes longer has no times.
LONGEST = 300


class Problem(Exception):
    """Why something can't be told."""


def find_tool(name):
    """In this package, in the build of this source tree, or on PATH."""
    for path in (_PACKAGE / "bin" / name, _PACKAGE.parents[1] / "build" / "bin" / name):
        if path.exists():
            return str(path)
    found = shutil.which(name)
    if not found:
        raise Problem(f"{name} is missing: it is in the package alula")
    return found


def run_tool(name, *arguments, timeout=LONGEST):
    """What a tool prints; Problem with what it said if it fails."""
    try:
        result = subprocess.run(
            [find_tool(name), *map(str, arguments)],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Problem(f"{name} took more than {timeout} s") from None
    if result.returncode:
        said = result.stderr.strip().splitlines()
        raise Problem(said[-1] if said else f"{name} ended with status {result.returncode}")
    return result.stdout


@dataclasses.dataclass
class Times:
    calls: int
    variant: str
    # Seconds of a call, from its first command to the end of its last.
    call: float | None
    # Name of a kernel, a custom call or "copy" -> (runs in a call, seconds of one
    # run); medians.
    commands: dict


def measure(artifact, function, result_count, calls, inputs=(), custom_calls=()):
    """Calls a function with random inputs, once before it is timed."""
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder, "trace.json")
        chosen = [f"--function={function}", *(f"--custom-call={c}" for c in custom_calls)]
        outputs = [f"--output={folder}/{n}.bin" for n in range(result_count)]
        listed = run_tool("alula-run", artifact, "--list", *chosen[1:])
        words = [line.split(" ", 1) for line in listed.splitlines()]
        variant = next((w[1] for w in words if w[0] == "variant" and len(w) == 2), "")
        run_tool(
            "alula-run", artifact, *chosen, *(f"--input={i}" for i in inputs), "--random",
            *outputs, f"--repeat={calls + 1}", f"--trace={trace}",
        )  # fmt: skip
        events = json.loads(trace.read_text(errors="replace"), strict=False)["traceEvents"]
    return read_trace(events, calls, variant)


def read_trace(events, calls, variant):
    events = [e for e in events if e.get("cat") in ("kernel", "command")]
    each, rest = divmod(len(events), calls + 1)
    call, counted = None, calls + 1
    if each and not rest:
        # Every call does the same: the first one only warms up.
        spans = [events[i : i + each] for i in range(each, len(events), each)]
        call = statistics.median(s[-1]["ts"] + s[-1]["dur"] - s[0]["ts"] for s in spans) / 1e6
        events, counted = events[each:], calls
    by_name = {}
    for event in events:
        by_name.setdefault(event["name"], []).append(event["dur"] / 1e6)
    commands = {n: (len(d) / counted, statistics.median(d)) for n, d in by_name.items()}
    return Times(calls, variant, call, commands)


@dataclasses.dataclass
class Machine:
    cpus: int
    # Bytes in a second, read and written; operations on f32 in a second.
    bandwidth: float
    flops: float
    # Of the last minute, as the system tells it: others who want the CPUs.
    load: float


def _best(function, seconds=0.5):
    """The shortest of all runs within some time, after one."""
    function()
    best, end = float("inf"), time.perf_counter() + seconds
    while best == float("inf") or time.perf_counter() < end:
        begin = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - begin)
    return best


def measure_machine():
    """What copies and products of NumPy reach, with all CPUs."""
    cpus = len(os.sched_getaffinity(0))
    source = np.ones(1 << 27, np.uint8)
    target = np.zeros_like(source)
    edges = [source.size * n // cpus for n in range(cpus + 1)]
    with concurrent.futures.ThreadPoolExecutor(cpus) as pool:

        def copy():
            parts = itertools.pairwise(edges)
            list(pool.map(lambda p: np.copyto(target[slice(*p)], source[slice(*p)]), parts))

        seconds = _best(copy)
    size = 1024
    a = np.random.default_rng(0).random((size, size), np.float32)
    product = np.empty_like(a)
    load = os.getloadavg()[0]
    return Machine(
        cpus,
        2 * source.size / seconds,
        2 * size**3 / _best(lambda: np.matmul(a, a, out=product)),
        load,
    )
