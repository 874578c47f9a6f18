"""Holds one peer of one case and measures when it is told to.

    python -m bench.worker PEER ROW SIZE THREADS FOLDER

Each line of stdin is how many seconds to measure; each line of stdout is JSON.
Its CPUs are its parent's choice."""

import json
import os
import sys
from pathlib import Path

PEER, ROW, SIZE, THREADS = sys.argv[1:5]
FOLDER = Path(sys.argv[5])
if PEER in ("alula-jax", "xla"):
    os.environ["JAX_PLATFORMS"] = "alula,cpu" if PEER == "alula-jax" else "cpu"
for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = THREADS

import numpy as np

from bench.agreement import largest_error
from bench.peers import Unable
from bench.sampling import sample
from bench.workloads import ROWS


def memory_kib(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1])
    return 0


def make(case):
    threads = int(THREADS)
    if PEER == "onnxruntime":
        from bench.peers.in_onnxruntime import InOnnxruntime

        return InOnnxruntime(case, threads)
    if PEER in ("openvino", "openvino-bf16"):
        from bench.peers.in_openvino import InOpenvino

        return InOpenvino(case, threads, "bf16" if PEER == "openvino-bf16" else "f32")
    if PEER == "ggml":
        from bench.peers.in_ggml import InGgml

        return InGgml(case, threads)
    if PEER == "torch":
        from bench.peers.in_torch import InTorch

        return InTorch(case, threads)
    if PEER == "numpy":
        from bench.peers.in_numpy import InNumpy

        return InNumpy(case, threads)
    from bench.peers.in_jax import InJax

    return InJax(case, threads, "alula" if PEER == "alula-jax" else "cpu")


def serve(say):
    case = ROWS[ROW].case(SIZE)
    peer = make(case)
    with np.load(FOLDER / "reference.npz") as references:
        error = largest_error(peer.results(), list(references.values()))
    say(peer.facts | {"error": error})
    for line in sys.stdin:
        say({"samples": sample(peer.call, float(line)), "peak_kib": memory_kib("VmHWM")})


def main():
    # What libraries print must not come between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(answer):
        print(json.dumps(answer), file=answers, flush=True)

    try:
        serve(say)
    except Unable as reason:
        say({"unable": str(reason)})
    # The row goes on without this peer, whatever its library raises.
    except Exception as problem:  # noqa: BLE001
        say({"failed": f"{type(problem).__name__}: {problem}"[:400]})


if __name__ == "__main__":
    main()
