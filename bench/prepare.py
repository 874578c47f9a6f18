"""Lowers one case and keeps it in a folder with its data and its results in
f64, for all peers.

    python -m bench.prepare ROW SIZE FOLDER"""

import json
import sys
from pathlib import Path

import jax
import ml_dtypes
import numpy as np
from jax import export

from bench.agreement import type_text
from bench.case import Case
from bench.workloads import ROWS


def widen(value):
    floats = (np.float32, ml_dtypes.bfloat16)
    value = np.asarray(value)
    return value.astype(np.float64) if value.dtype in floats else value


def compute_reference(case: Case):
    """In f64, but for what the function itself says to be f32."""
    with jax.enable_x64(True):
        params = jax.tree.map(widen, case.params)
        run = jax.jit(lambda *inputs: case.function(params, *inputs))
        return [np.asarray(r) for r in jax.tree.leaves(run(*map(widen, case.inputs)))]


def main(row: str, size: str, folder: Path):
    case = ROWS[row].case(size)
    folder.mkdir(parents=True, exist_ok=True)
    exported = export.export(jax.jit(case.closed()), platforms=["cpu"])(*case.inputs)
    (folder / "program.mlirbc").write_bytes(exported.mlir_module_serialized)
    inputs = []
    for i, value in enumerate(map(np.asarray, case.inputs)):
        value.tofile(folder / f"input{i}.bin")
        inputs.append(type_text(value))
    references = compute_reference(case)
    np.savez(folder / "reference.npz", *references)
    outputs = [type_text(np.empty(a.shape, a.dtype)) for a in exported.out_avals]
    about = {
        "row": row,
        "size": size,
        "inputs": inputs,
        "outputs": outputs,
        "tolerance": case.tolerance,
        "work": vars(case.work),
        "from_python": ROWS[row].from_python,
        "few_bits": case.few_bits is not None,
    }
    (folder / "about.json").write_text(json.dumps(about))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
