"""The runner's side of a worker: the same methods as a tool.

A worker is stopped while it isn't its turn: threads that wait awake for more,
as those of OpenBLAS and onnxruntime do, would take the next peer's CPU."""

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.peers import Unable
from bench.peers.tool import ToolFailed, pinned

ROOT = Path(__file__).resolve().parents[2]
PATHS = f"{ROOT}{os.pathsep}{ROOT / 'python'}"


class PythonWorker:
    def __init__(self, name, folder, threads, cpus, limit):
        self.name, self.limit = name, limit
        about = json.loads((folder / "about.json").read_text())
        where = [about["row"], about["size"], str(threads), str(folder)]
        self.command = [sys.executable, "-m", "bench.worker", name, *where]
        self.cpus, self.process, self.facts = cpus, None, {}
        # Lives as long as the worker.
        self.errors = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115

    def start(self):
        self.process = subprocess.Popen(
            pinned(self.command, self.cpus),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env=os.environ | {"PYTHONPATH": PATHS},
        )
        self.facts = self.answer()
        self.process.send_signal(signal.SIGSTOP)

    def answer(self) -> dict:
        ready, _, _ = select.select([self.process.stdout], [], [], self.limit)
        if not ready:
            self.process.kill()
            raise ToolFailed(f"over {self.limit:.0f} s")
        line = self.process.stdout.readline()
        if not line:
            self.errors.seek(0)
            raise ToolFailed("ended: " + self.errors.read()[-300:].strip())
        said = json.loads(line)
        if "unable" in said:
            raise Unable(said["unable"])
        if "failed" in said:
            raise ToolFailed(said["failed"])
        return said

    def sample(self, seconds):
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.write(f"{seconds}\n".encode())
        self.process.stdin.flush()
        said = self.answer()
        self.process.send_signal(signal.SIGSTOP)
        self.facts["peak_kib"] = said["peak_kib"]
        return said["samples"]

    def stop(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.errors.close()
        return self.facts
