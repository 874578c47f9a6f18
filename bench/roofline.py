"""The least time that this machine allows for a row."""

import itertools
import json
import math
import shutil
import subprocess
from pathlib import Path

from bench.peers.tool import pinned

SOURCE = Path(__file__).with_name("peaks.c")


def measure_peaks(folder: Path, threads: int, cpus) -> dict:
    """Compiles and runs peaks.c, once with each number of threads."""
    folder.mkdir(parents=True, exist_ok=True)
    compiler = next(name for name in ("clang-19", "clang", "cc") if shutil.which(name))
    binary = folder / "peaks"
    flags = ["-O3", "-march=native", "-ffp-contract=fast", "-w", "-pthread"]
    subprocess.run([compiler, *flags, str(SOURCE), "-o", str(binary)], check=True)
    run = subprocess.run(
        pinned([binary, threads], cpus), check=True, capture_output=True, text=True
    )
    return json.loads(run.stdout)


def best_of(first: dict, second: dict) -> dict:
    """The higher of two measurements of everything."""
    return {
        key: best_of(value, second[key]) if isinstance(value, dict) else max(value, second[key])
        for key, value in first.items()
    }


def bandwidth(by_bytes: dict, footprint: float) -> float:
    """GB/s for so many bytes, between the measured sizes on a log scale."""
    points = sorted((int(size), speed) for size, speed in by_bytes.items())
    if footprint <= points[0][0]:
        return points[0][1]
    for (low, slow), (high, fast) in itertools.pairwise(points):
        if footprint <= high:
            part = math.log(footprint / low) / math.log(high / low)
            return slow + part * (fast - slow)
    return points[-1][1]


def limit(work: dict, peaks: dict) -> float | None:
    """Microseconds; None where neither arithmetic nor memory is the limit."""
    flops = peaks["flops"].get(work["kind"], peaks["flops"]["f32"])
    traffic = work["read"] + work["written"]
    # What mostly reads goes by the speed of reading.
    speeds = peaks["copy" if 4 * work["written"] > work["read"] else "read"]
    least = work["flops"] / flops * 1e-3
    if traffic:
        least = max(least, traffic / bandwidth(speeds, traffic) * 1e-3)
    # Below this a call is overhead.
    return least if least >= 0.1 else None
