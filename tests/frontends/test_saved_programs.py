"""Programs as other frameworks save them: torch_xla's folders, torch-mlir's text, what can't be read.

The files are made here, in the form that each framework writes."""

import json
import os
import pathlib
import subprocess

import alula
import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("ALULA_BUILD", "build")

# Weights come first and not in the order of torch's names; a leading constant is what tracing leaves.
TEXT = """
module @IrToHlo.7 attributes {mhlo.cross_program_prefetches = [], mhlo.is_dynamic = false} {
  func.func @main(%arg0: tensor<3xf32>, %arg1: tensor<f32>, %arg2: tensor<3x4xf32>, %arg3: tensor<2x4xf32>) -> (tensor<2x3xf32>, tensor<2x4xf32>) {
    %0 = stablehlo.transpose %arg2, dims = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
    %1 = stablehlo.dot_general %arg3, %0, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
    %2 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
    %3 = stablehlo.add %1, %2 : tensor<2x3xf32>
    %4 = stablehlo.custom_call @mhlo.erf(%3) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %5 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %6 = stablehlo.multiply %arg3, %5 : tensor<2x4xf32>
    return %4, %6 : tensor<2x3xf32>, tensor<2x4xf32>
  }
}
"""
LEAF = {"type": None, "context": None, "children_spec": []}


def tree(kind, *children, context="null"):
    return {"type": f"builtins.{kind}", "context": context, "children_spec": list(children)}


def make_meta():
    inputs = tree("tuple", tree("tuple", LEAF, LEAF), tree("dict", context="[]"))
    outputs = tree("dict", LEAF, tree("list", LEAF), context='["y", "scaled"]')
    return {
        "name": "forward",
        "stablehlo_version": "0.0.0",
        "input_signature": [
            {"shape": shape, "dtype": "float32", "dynamic_dims": []}
            for shape in ([3], [], [3, 4], [2, 4])
        ],
        "output_signature": [],
        "input_locations": [
            {"type_": "parameter", "position": -1, "name": "fc.bias"},
            {"type_": "constant", "position": 0, "name": ""},
            {"type_": "parameter", "position": -1, "name": "fc.weight"},
            {"type_": "input_arg", "position": 1, "name": ""},
        ],
        "unused_inputs": [
            [
                {"type_": "input_arg", "position": 0, "name": ""},
                {"shape": [5], "dtype": "int64", "dynamic_dims": []},
            ]
        ],
        "input_pytree_spec": json.dumps([1, inputs]),
        "output_pytree_spec": json.dumps([1, outputs]),
    }


def make_portable(text):
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    with ir.Context() as context:
        stablehlo.register_dialect(context)
        return stablehlo.serialize_portable_artifact_str(text, "1.9.0")


def save(array, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as file:
        np.save(file, array)


@pytest.fixture
def folder(tmp_path):
    """W, b and a factor, saved as torch_xla does: without endings, W by columns."""
    random = np.random.RandomState(0)
    weights = {
        "fc.weight": np.asfortranarray(random.randn(3, 4).astype(np.float32)),
        "fc.bias": random.randn(3).astype(np.float32),
        "unused": np.zeros(7, np.float32),
    }
    made = tmp_path / "saved"
    for name, array in weights.items():
        save(array, made / "data" / name)
    save(np.float32(2.5), made / "constants" / "0")
    functions = made / "functions"
    functions.mkdir()
    (functions / "forward.meta").write_text(json.dumps(make_meta()))
    (functions / "forward.bytecode").write_bytes(make_portable(TEXT))
    (functions / "forward.mlir").write_text(TEXT)
    return made, weights


def compute(weights, x):
    from math import erf

    y = x @ weights["fc.weight"].T + weights["fc.bias"]
    return np.vectorize(erf)(y.astype(np.float64)), x * 2.5


X = np.random.RandomState(1).randn(2, 4).astype(np.float32)
UNUSED = np.arange(5)


def compile_file(source, *flags):
    return subprocess.run(
        [BUILD / "bin/alula-compile", source, *flags], capture_output=True, text=True
    )


def test_torch_xla_in_python(folder):
    path, weights = folder
    program = alula.load_torch_xla(path)
    result = program(UNUSED, X)
    y, scaled = compute(weights, X)
    assert list(result) == ["y", "scaled"] and isinstance(result["scaled"], list)
    np.testing.assert_allclose(result["y"], y, atol=1e-6)
    np.testing.assert_array_equal(result["scaled"][0], scaled)
    assert set(program.state_dict) == {"fc.weight", "fc.bias"}
    with pytest.raises(TypeError, match="2 arguments in a tuple are needed"):
        program(X)


@pytest.mark.parametrize("form", ["bytecode", "mlir"])
def test_torch_xla_as_a_file(folder, form, tmp_path):
    path, weights = folder
    (path / "functions" / ("forward.mlir" if form == "bytecode" else "forward.bytecode")).unlink()
    compiled = compile_file(path, "--target=cpu:host", "-o", tmp_path / "x.alula")
    assert not compiled.returncode, compiled.stderr
    # Weights are inside; what the program does not use keeps its place.
    got, scaled = alula.load(tmp_path / "x.alula").main(UNUSED, X)
    want = compute(weights, X)
    np.testing.assert_allclose(got, want[0], atol=1e-6)
    np.testing.assert_array_equal(scaled, want[1])


def test_torch_xla_without_a_runtime(folder, tmp_path):
    path, _ = folder
    compiled = compile_file(path, "--emit=c", "-o", tmp_path / "saved")
    assert not compiled.returncode, compiled.stderr
    assert "#define SAVED_IN1_BYTES 32u /* 2x4xf32 */" in (tmp_path / "saved.h").read_text()


def change(path, edit):
    meta = json.loads((path / "functions/forward.meta").read_text())
    edit(meta)
    (path / "functions/forward.meta").write_text(json.dumps(meta))


def set_location(number, key, value):
    def edit(meta):
        meta["input_locations"][number][key] = value

    return edit


WRONG = {
    "a position twice": (set_location(2, "type_", "input_arg"), "argument 2 has no position of its own"),
    "a hole": (set_location(3, "position", 2), "no argument has position 1"),
    "outside": (set_location(0, "name", "../constants/0"), "argument 0 has no name of a file: '../constants/0'"),
    "another weight": (set_location(0, "name", "unused"), "'unused' is 7xf4, the program takes tensor<3xf32>"),
    "a kind": (set_location(1, "type_", "buffer"), "argument 1 has an unknown type: 'buffer'"),
    "too few": (lambda meta: meta["input_locations"].pop(), "'input_locations' has 3 entries, the program 4 arguments"),
    "no list": (lambda meta: meta.pop("input_locations"), "has no 'input_locations'"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_folders(case, folder, tmp_path):
    path, _ = folder
    edit, message = WRONG[case]
    change(path, edit)
    result = compile_file(path, "-o", tmp_path / "x.alula")
    assert result.returncode == 1 and message in result.stderr, result.stderr
    assert not (tmp_path / "x.alula").exists()


@pytest.mark.parametrize(
    "data, message",
    [
        (b"PK\3\4 and more", "is no file of an array as NumPy writes it"),
        (b"\x93NUMPY\1\0\xff\xff{", "ends too early"),
        (b"\x93NUMPY\1\0\x44\0{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }          \n123", "has 3 bytes of elements, not 12"),
        (b"\x93NUMPY\1\0\x44\0{'descr': '|O', 'fortran_order': False, 'shape': (3,), }           \n123", "has elements of a kind that is not known here"),
    ],
)  # fmt: skip
def test_wrong_arrays(data, message, folder, tmp_path):
    path, _ = folder
    (path / "data" / "fc.bias").write_bytes(data)
    result = compile_file(path, "-o", tmp_path / "x.alula")
    assert result.returncode == 1 and f"fc.bias: {message}" in result.stderr, result.stderr


def test_a_folder_of_something_else(tmp_path):
    result = compile_file(tmp_path, "-o", tmp_path / "x.alula")
    assert result.returncode == 1
    assert "is no folder of a program as torch_xla saves it" in result.stderr
    with pytest.raises(alula.AlulaError, match="no functions/NAME.meta"):
        alula.load_torch_xla(tmp_path)


# As torch-mlir writes a model: weights at the end of the text, an entry of another name, integers of 64 bits,
# constants of `arith`.
TORCH_MLIR = """
module {
  func.func @main_graph(%arg0: tensor<2x4xf32>) -> tensor<2x3xf32> {
    %c1_i64 = arith.constant 1 : i64
    %0 = stablehlo.constant dense_resource<torch_tensor_3_4_torch.float32> : tensor<3x4xf32>
    %1 = stablehlo.constant dense_resource<torch_tensor_3_torch.float32> : tensor<3xf32>
    %2 = stablehlo.transpose %0, dims = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
    %3 = stablehlo.dot_general %arg0, %2, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
    %4 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
    %5 = stablehlo.add %3, %4 : tensor<2x3xf32>
    return %5 : tensor<2x3xf32>
  }
}
{-#
  dialect_resources: {
    builtin: {
      torch_tensor_3_4_torch.float32: "0x04000000WEIGHT",
      torch_tensor_3_torch.float32: "0x04000000BIAS"
    }
  }
#-}
"""


def test_torch_mlir(tmp_path):
    random = np.random.RandomState(2)
    w, b = (random.randn(*shape).astype(np.float32) for shape in ((3, 4), (3,)))
    text = TORCH_MLIR.replace("WEIGHT", w.tobytes().hex()).replace("BIAS", b.tobytes().hex())
    (tmp_path / "model.mlir").write_text(text)
    result = compile_file(tmp_path / "model.mlir", "--target=cpu:host", "-o", tmp_path / "x.alula")
    assert not result.returncode, result.stderr
    got = alula.load(tmp_path / "x.alula").main_graph(X)
    np.testing.assert_allclose(got, X @ w.T + b, atol=1e-6)


def test_bytecode_of_a_later_mlir_is_refused(tmp_path):
    # As 19 writes it, but for who wrote it and a type that it does not know.
    file = tmp_path / "later.mlirbc"
    file.write_bytes(b"ML\xefR\x06MLIR23.0.0git\0\x0d\x01\x00\xff\xff\xff")
    result = compile_file(file, "-o", tmp_path / "x.alula")
    assert result.returncode == 1
    assert "is bytecode of MLIR 23, of which MLIR 19 can't read all (" in result.stderr
    assert "write the program as text, or as a portable artifact" in result.stderr


def test_tflite_is_refused(tmp_path):
    file = tmp_path / "model.tflite"
    file.write_bytes(b"\x1c\0\0\0TFL3" + bytes(24))
    result = compile_file(file, "-o", tmp_path / "x.alula")
    assert result.returncode == 1
    assert "is a TFLite model: its operations are not StableHLO's" in result.stderr
