"""A function of an artifact from C, and reading alone what it reads, in turns."""

import json
import os
import shutil
import statistics
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / os.environ.get("ALULA_BUILD", "build")


@dataclass
class Turns:
    """Seconds of each, and how many bytes arguments and constants have."""

    calls: list
    readings: list
    bytes: int

    def describe(self) -> str:
        call, reading = min(self.calls), min(self.readings)
        shares = [b / a for a, b in zip(self.calls, self.readings, strict=True)]
        return (
            f"{self.bytes / call / 1e9:.1f} GB/s; reading alone {self.bytes / reading / 1e9:.1f}: "
            f"{100 * reading / call:.0f} %; median of {len(shares)} turns "
            f"{100 * statistics.median(shares):.0f} %"
        )


def build_client() -> Path:
    folder = BUILD / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    compiler = next(name for name in ("clang-19", "clang", "cc") if shutil.which(name))
    client = folder / "read_turns"
    flags = ["-O3", "-march=native", "-w", "-pthread", f"-I{ROOT / 'include'}"]
    library = [f"-L{BUILD / 'lib'}", f"-Wl,-rpath,{BUILD / 'lib'}", "-lalula_runtime"]
    source = Path(__file__).with_suffix(".c")
    subprocess.run([compiler, *flags, source, "-o", client, *library], check=True)
    return client


def take_turns(artifact: Path, threads: int, seconds: float) -> Turns:
    cpus = sorted(os.sched_getaffinity(0))[-threads:]
    command = ["taskset", "-c", ",".join(map(str, cpus)), build_client(), artifact]
    command = [*map(str, command), str(threads), str(seconds)]
    ended = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    times = json.loads(ended.stdout)
    return Turns(times["call"], times["read"], times["bytes"])
