"""Alula: alula-compile, then alula-bench; also with what `--accuracy` allows."""

import json
import os
from pathlib import Path

from bench.peers import Unable
from bench.peers.tool import Tool

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("ALULA_BUILD", "build")


def read_seconds(text: str, which: str) -> float:
    """Of a call, by what `alula-bench` prints as JSON: its "real_time" or "cpu_time"."""
    found = json.loads(text)["benchmarks"][0]
    return found[which] * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[found["time_unit"]]


class Alula(Tool):
    name = "alula"
    accuracy = ""

    def compile_commands(self):
        tool = BUILD / "bin" / "alula-compile"
        # As its peers are compiled, for the machine that it runs on.
        flags = ["--target=cpu:host"]
        flags += [f"--accuracy={self.accuracy}"] if self.accuracy else []
        return [[tool, self.folder / "program.mlirbc", "-o", self.artifact, *flags]]

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


class AlulaBf16(Alula):
    name, accuracy = "alula-bf16", "bf16-products"

    def start(self):
        if self.about["work"]["kind"] != "f32" or not self.about["work"]["flops"]:
            raise Unable("no products of f32")
        super().start()


class AlulaI8(Alula):
    name, accuracy = "alula-i8", "i8-activations"

    def start(self):
        if not self.about["few_bits"]:
            raise Unable("no weights of few bits")
        super().start()
