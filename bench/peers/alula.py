"""Alula: alula-compile, then alula-bench."""

import os
from pathlib import Path

from bench.peers.tool import Tool

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("ALULA_BUILD", "build")


class Alula(Tool):
    name = "alula"

    def compile_commands(self):
        tool = BUILD / "bin" / "alula-compile"
        targets = [f"--target={target}" for target in self.about["targets"]]
        return [[tool, self.folder / "program.mlirbc", "-o", self.artifact, *targets]]

    def common(self):
        inputs = [f"--input={text}" for text in self.input_texts()]
        return [self.artifact, f"--threads={self.threads}", *inputs]

    def run_command(self, outputs):
        stores = [f"--output={path}" for path in outputs]
        return [BUILD / "bin" / "alula-run", *self.common(), *stores]

    def bench_command(self, seconds, repetitions):
        return [
            BUILD / "bin" / "alula-bench",
            *self.common(),
            "--benchmark_format=json",
            f"--benchmark_min_time={seconds}",
            f"--benchmark_repetitions={repetitions}",
        ]
