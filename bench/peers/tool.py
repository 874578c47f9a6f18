"""A peer that is a compiler and a benchmark tool with Google Benchmark's flags."""

import json
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.agreement import DTYPES, largest_error
from bench.peers import Unable
from bench.sampling import BATCH


class ToolFailed(Exception):
    """With the end of what the tool said."""


@dataclass
class Ended:
    text: str
    seconds: float


def reason(text: str) -> str:
    """The line that says what is wrong, or the last words."""
    lines = [line for line in text.splitlines() if "error:" in line]
    return lines[0].strip()[-300:] if lines else text.strip()[-300:]


def pinned(command, cpus) -> list[str]:
    """The command on these CPUs alone."""
    numbers = ",".join(map(str, sorted(cpus)))
    return ["taskset", "-c", numbers, *map(str, command)]


def execute(command, cpus, limit: float) -> Ended:
    start = time.perf_counter()
    process = subprocess.Popen(
        pinned(command, cpus),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        # With whatever it started: they would hold the pipes.
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise ToolFailed(f"over {limit:.0f} s") from None
    if process.returncode:
        raise ToolFailed(reason(err or out) or f"status {process.returncode}")
    return Ended(out, time.perf_counter() - start)


def peak_of(command, cpus, limit: float) -> int:
    """KiB. Asked of the running process: what the system counts for an ended
    one has its parent's memory from before it became itself."""
    null = subprocess.DEVNULL
    process = subprocess.Popen(pinned(command, cpus), stdout=null, stderr=null)
    status, peak = Path(f"/proc/{process.pid}/status"), 0
    deadline = time.monotonic() + limit
    tool = Path(command[0]).name[:15]
    while process.poll() is None:
        if time.monotonic() > deadline:
            process.kill()
            process.wait()
            raise ToolFailed(f"over {limit:.0f} s")
        lines = status.read_text().splitlines()
        fields = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
        if fields.get("Name") == tool and "VmHWM" in fields:
            peak = max(peak, int(fields["VmHWM"].split()[0]))
        time.sleep(0.002)
    return peak


class Tool:
    """Fields and commands that each tool fills in."""

    name = ""

    def __init__(self, folder: Path, threads: int, cpus, limit: float):
        self.folder, self.threads, self.cpus, self.limit = folder, threads, cpus, limit
        self.about = json.loads((folder / "about.json").read_text())
        self.artifact = folder / f"{self.name}-{threads}.artifact"
        self.facts = {}

    def compile_commands(self):
        """The first that succeeds counts."""
        raise NotImplementedError

    def run_command(self, outputs):
        raise NotImplementedError

    def bench_command(self, seconds: float, repetitions: int):
        raise NotImplementedError

    def input_texts(self):
        return [
            f"{self.spell(text)}=@{self.folder}/input{i}.bin"
            for i, text in enumerate(self.about["inputs"])
        ]

    def spell(self, text: str) -> str:
        return text

    def start(self):
        if self.about["from_python"]:
            raise Unable("from Python alone")
        cpus = os.sched_getaffinity(0)
        commands = self.compile_commands()
        for i, command in enumerate(commands):
            try:
                ended = execute(command, cpus, self.limit)
                break
            except ToolFailed:
                if i + 1 == len(commands):
                    raise
        self.facts["compile_ms"] = ended.seconds * 1e3
        self.facts["artifact_bytes"] = self.artifact.stat().st_size
        outputs = [
            self.folder / f"{self.name}-{self.threads}-{i}.bin"
            for i in range(len(self.about["outputs"]))
        ]
        command = self.run_command(outputs)
        execute(command, self.cpus, self.limit)
        results = []
        for path, text in zip(outputs, self.about["outputs"], strict=True):
            results.append(np.fromfile(path, DTYPES[text.split("x")[-1]]))
            path.unlink()
        with np.load(self.folder / "reference.npz") as references:
            self.facts["error"] = largest_error(results, list(references.values()))
        self.facts["peak_kib"] = peak_of(self.bench_command(5 * BATCH, 1), self.cpus, self.limit)

    def sample(self, seconds: float) -> list[float]:
        """Microseconds, the mean of each repetition."""
        repetitions = max(1, round(seconds / BATCH / 2))
        command = self.bench_command(BATCH, repetitions)
        report = json.loads(execute(command, self.cpus, self.limit).text)
        samples = []
        for run in report["benchmarks"]:
            if run.get("error_occurred"):
                raise ToolFailed(run.get("error_message", "failed"))
            if run.get("run_type") != "aggregate":
                unit = {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}[run["time_unit"]]
                samples.append(run["real_time"] * unit)
        return samples

    def stop(self) -> dict:
        self.artifact.unlink(missing_ok=True)
        return self.facts
