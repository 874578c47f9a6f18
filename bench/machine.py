"""What the figures were measured on, and with which versions."""

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = (
    "jax",
    "jaxlib",
    "numpy",
    "scipy",
    "iree-base-compiler",
    "iree-base-runtime",
    "onnxruntime",
    "openvino",
    "libggml-python",
    "torch",
)


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def revision() -> str:
    command = ["git", "describe", "--always", "--dirty"]
    ended = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True)
    return ended.stdout.strip()


def describe() -> dict:
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = "none"
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "processor": processor(),
        "cpus": len(os.sched_getaffinity(0)),
        "load": round(os.getloadavg()[0], 2),
        "kernel": platform.release(),
        "alula": revision(),
        "versions": versions,
    }
