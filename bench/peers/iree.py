"""IREE: iree-compile for this CPU, then iree-benchmark-module."""

import sys
from pathlib import Path

from bench.peers.tool import Tool


def find(name: str) -> Path:
    """The tool itself, not the script beside Python that starts it."""
    for folder in map(Path, sys.path):
        for place in ("compiler/_mlir_libs", "_runtime_libs"):
            tool = folder / "iree" / place / name
            if tool.exists():
                return tool
    raise FileNotFoundError(f"{name} is not installed")


class Iree(Tool):
    name = "iree"

    def spell(self, text):
        """Its signedness is the operation's."""
        return text.replace("xui", "xi")

    def compile_commands(self):
        """Its best level refuses some programs: they want too much stack."""
        command = [
            find("iree-compile"),
            self.folder / "program.mlirbc",
            "--iree-input-type=stablehlo",
            "--iree-hal-target-device=local",
            "--iree-hal-local-target-device-backends=llvm-cpu",
            "--iree-llvmcpu-target-cpu=host",
            "-o",
            self.artifact,
        ]
        return [[*command, "--iree-opt-level=O3"], command]

    def common(self):
        device = "local-sync" if self.threads == 1 else "local-task"
        groups = [] if self.threads == 1 else [f"--task_topology_group_count={self.threads}"]
        inputs = [f"--input={text}" for text in self.input_texts()]
        return [
            f"--module={self.artifact}",
            f"--device={device}",
            *groups,
            "--function=main",
            *inputs,
        ]

    def run_command(self, outputs):
        stores = [f"--output=@{path}" for path in outputs]
        return [find("iree-run-module"), *self.common(), *stores]

    def bench_command(self, seconds, repetitions):
        return [
            find("iree-benchmark-module"),
            *self.common(),
            "--benchmark_format=json",
            f"--benchmark_min_time={seconds}s",
            f"--benchmark_repetitions={repetitions}",
        ]
