"""Lowers one JAX function for no platform and stores all that a check needs.

JAX knows no platform `plain`, so every lowering rule that is not specific to
a platform applies: what we get is plain StableHLO and CHLO.
"""

import pathlib
import re

import jax
import numpy as np
import tensor_file
import xla_cpu
from jaxlib import _jax
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

PLATFORM = "plain"


def _one_line(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0][:300]}"


def _plain(value):
    """A typed PRNG key crosses main as the integers that it is made of."""
    if isinstance(value, jax.Array) and jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key):
        return jax.random.key_data(value)
    return value


def _main_types(module) -> tuple[list[str], list[str]]:
    """The types of main's arguments and results, as `2x3xf32`."""
    for op in module.body.operations:
        if ir.StringAttr(op.attributes["sym_name"]).value == "main":
            break
    kind = ir.FunctionType(ir.TypeAttr(op.attributes["function_type"]).value)
    strip = re.compile(r"tensor<(.*)>$")
    return tuple([strip.sub(r"\1", str(t)) for t in types] for types in (kind.inputs, kind.results))


def _store(values, types, folder, stem) -> list[dict]:
    if len(values) != len(types):
        raise ValueError(f"{len(values)} values for {len(types)} types")
    stored = []
    for number, (value, text) in enumerate(zip(values, types)):
        name = f"{stem}{number}.bin"
        tensor_file.write(tensor_file.to_array(_plain(value), text), folder / name)
        stored.append({"type": text, "file": name})
    return stored


def _stored(folder: pathlib.Path, item: dict) -> np.ndarray:
    return tensor_file.read(folder / item["file"], item["type"])


def record(function, args, folder: pathlib.Path, stem: str, debug=False):
    """Stores `function` and its data as `folder/stem.*`; describes them.

    The status is `ok` or `no-lowering`: JAX can't say it for a platform without
    rules of its own.
    """
    entry = {"version": stablehlo.get_current_version()}
    try:
        traced = jax.jit(function, keep_unused=True).trace(*args)
        lowered = traced.lower(lowering_platforms=(PLATFORM,))
    except Exception as error:  # noqa: BLE001, JAX raises anything
        return entry | {"status": "no-lowering", "reason": _one_line(error)}
    module = lowered.compiler_ir("stablehlo")
    text = lowered.as_text()
    (folder / f"{stem}.mlir").write_text(text)
    entry["mlir"] = f"{stem}.mlir"
    entry["ops"] = sorted(set(re.findall(r"\b(?:stablehlo|chlo|sdy)\.[a-z_0-9]+\b", text)))
    if debug:
        (folder / f"{stem}.debug.mlir").write_text(lowered.as_text(debug_info=True))
        entry["debug"] = f"{stem}.debug.mlir"
    try:
        # Like the PJRT client, this expands CHLO before it writes.
        (folder / f"{stem}.portable").write_bytes(
            _jax.mlir.serialize_portable_artifact(module, stablehlo.get_current_version(), True)
        )
        entry["portable"] = f"{stem}.portable"
    except Exception as error:  # noqa: BLE001, JAX raises anything
        entry["no_portable"] = _one_line(error)
    inputs, outputs = _main_types(module)
    leaves = jax.tree_util.tree_leaves(args)
    entry["inputs"] = _store(leaves, inputs, folder, f"{stem}.in")
    try:
        results = jax.tree_util.tree_leaves(traced.lower().compile()(*args))
        results = [np.asarray(_plain(result)) for result in results]
    except NotImplementedError:
        # JAX's rules for CPU call LAPACK, which knows fewer types than XLA.
        arrays = [_stored(folder, item) for item in entry["inputs"]]
        results = xla_cpu.run(text, arrays)
        entry["expected"] = "the same module on XLA:CPU"
    entry["outputs"] = _store(results, outputs, folder, f"{stem}.out")
    return entry | {"status": "ok"}
