"""What `--accuracy` gives away: how far from f32 results are, on which machine, and that
the artifact says so."""

import subprocess

import jax_functions
import ml_dtypes
import numpy as np
import pytest
from test_few_bit_products import block_scaled, uniform, weights
from test_packed_types import type_of

pytestmark = jax_functions.needs_build
tools = jax_functions.tools
BIN = jax_functions.BUILD / "bin"


def normal(shape, seed):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def compile_text(tmp_path, text, *options):
    program, artifact = tmp_path / "p.mlir", tmp_path / "p.alula"
    program.write_text(text)
    command = [BIN / "alula-compile", program, "-o", artifact, *options]
    subprocess.run(command, check=True, capture_output=True)
    said = subprocess.run([BIN / "alula-inspect", artifact], check=True, capture_output=True)
    return artifact.read_bytes(), said.stdout.decode()


def call(tools, artifact, arrays, kinds):
    _, runtime = tools
    executable = runtime.load(artifact)
    arguments = [runtime.new_buffer(a, k) for a, k in zip(arrays, kinds)]
    (result,) = executable.call(executable.find("main"), arguments)
    array = result.array().copy()
    for buffer in (*arguments, result):
        buffer.release()
    executable.destroy()
    return array


def product(m, k, n, more=""):
    a, b, c = (type_of(shape, "f32") for shape in [(m, k), (k, n), (m, n)])
    return f"""func.func @main(%x: {a}, %y: {b}) -> {c} {{
      %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]{more} : ({a}, {b}) -> {c}
      return %0 : {c}
    }}"""


ALGORITHM = (
    ", precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = bf16, "
    "rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, "
    "rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>"
)


def round_to_bf16(x):
    return x.astype(ml_dtypes.bfloat16).astype(np.float64)


@pytest.mark.parametrize("target", ["cpu:host", "cpu:x86-64-v3"])
@pytest.mark.parametrize("m", [1, 40])
def test_bf16_products(tools, tmp_path, target, m):
    x, y = normal((m, 96), 1), normal((96, 50), 2)
    flags = [f"--target={target}", "--accuracy=bf16-products"]
    artifact, said = compile_text(tmp_path, product(m, 96, 50), *flags)
    assert "bf16-products: 1 of 1" in said
    rounded = round_to_bf16(x) @ round_to_bf16(y)
    got = call(tools, artifact, [x, y], ["f32", "f32"])
    np.testing.assert_allclose(got, rounded, rtol=1e-5, atol=1e-5)
    exact = x.astype(np.float64) @ y
    assert np.abs(rounded - exact).max() > 1e-3
    # Off by default, and not for who asks for more.
    for more, options, expected in [
        ("", flags[:1], exact),
        (", precision = [HIGHEST, HIGHEST]", flags, exact),
        (ALGORITHM, flags[:1], rounded),
    ]:
        artifact, said = compile_text(tmp_path, product(m, 96, 50, more), *options)
        assert "bf16-products: 1" not in said
        got = call(tools, artifact, [x, y], ["f32", "f32"])
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("target", ["cpu:host", "cpu:x86-64-v3", "cpu:x86-64-v2"])
@pytest.mark.parametrize("kind", ["i4", "ui8"])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("m,k,n", [(1, 640, 300), (3, 96, 78), (40, 640, 130)])
def test_byte_activations(tools, tmp_path, target, kind, transposed, m, k, n):
    """At most half a step of each block's own scale."""
    text, stored, scales = block_scaled(kind, m, k, n, 32, transposed)
    x, w, s = normal((m, k), 1), weights(kind, stored, 2), uniform(scales, 3)
    flags = [f"--target={target}", "--accuracy=i8-activations"]
    artifact, said = compile_text(tmp_path, text, *flags)
    assert "i8-activations: 1 of 1" in said
    got = call(tools, artifact, [x, w, s], ["f32", kind, "f32"])
    right = w.astype(np.float64).reshape(*stored)
    if transposed:
        right = (right.reshape(n, k // 32, 32) * s).reshape(n, k).T
    else:
        right = (right.reshape(k // 32, 32, n) * s).reshape(k, n)
    step = np.abs(x).reshape(m, -1, 32).max(2) / 127
    limit = np.repeat(step, 32, 1) / 2 @ np.abs(right)
    error = np.abs(got - x @ right)
    assert (error <= limit + 1e-4 * (np.abs(x) @ np.abs(right))).all()
    # Few rows are rounded indeed, the same way on each machine.
    assert m > 3 or error.max() > 1e-4 * np.abs(x @ right).max()


def test_unknown_word(tmp_path):
    program = tmp_path / "p.mlir"
    program.write_text(product(1, 2, 3))
    ended = subprocess.run(
        [BIN / "alula-compile", program, "--accuracy=f16"], capture_output=True, text=True
    )
    assert ended.returncode != 0
    assert (
        "[stage-usage] --accuracy: must be 'bf16-products', 'tf32-products' or 'i8-activations': is 'f16'"
        in ended.stderr
    )
