"""The module of a program: its text, what is shared, what the tools make of it."""

import io
import re
import subprocess
from collections import namedtuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from program_tools import tool

from alula import Program, like

Params = namedtuple("Params", "x,b")


class TrivialGlobals(Program):
    _params = Params(jnp.zeros((3, 4)), jnp.zeros((3, 4)) + 0)

    def get_params(self):
        return self._params

    def set_params(self, new_params=like(Params(jnp.zeros((3, 4)), jnp.zeros((3, 4))))):
        self._params = new_params


def test_trivial_globals():
    lines = str(Program.get_mlir_module(TrivialGlobals)).splitlines()
    text = iter(line.strip() for line in lines)
    zero = "(dense<0.000000e+00> : tensor<3x4xf32>) : tensor<3x4xf32>"
    for wanted in [
        "module @trivial_globals {",
        f'ml_program.global private mutable @"_params$0"{zero}',
        f'ml_program.global private mutable @"_params$1"{zero}',
        "func.func @get_params() -> (tensor<3x4xf32>, tensor<3x4xf32>) {",
        '%0 = ml_program.global_load @"_params$0" : tensor<3x4xf32>',
        '%1 = ml_program.global_load @"_params$1" : tensor<3x4xf32>',
        "return %0, %1 : tensor<3x4xf32>, tensor<3x4xf32>",
        "}",
        "func.func @set_params(%arg0: tensor<3x4xf32>, %arg1: tensor<3x4xf32>) {",
        'ml_program.global_store @"_params$0" = %arg0 : tensor<3x4xf32>',
        'ml_program.global_store @"_params$1" = %arg1 : tensor<3x4xf32>',
        "return",
        "}",
        "}",
    ]:
        assert next(text) == wanted


def test_fft():
    class FFT(Program):
        def rfft(self, x=like(jnp.ones((1, 512)))):
            return self.kernel_(x)

        @Program.kernel
        def kernel_(x):
            return jnp.fft.rfft(x, 512, axis=1)

    assert str(Program.get_mlir_module(FFT)).startswith("module @f_f_t {")
    x = np.random.RandomState(0).rand(1, 512).astype(np.float32)
    np.testing.assert_allclose(FFT().rfft(x), np.fft.rfft(x), atol=1e-4)


def test_duplicate_helper():
    class DuplicateHelper(Program):
        _x = Program.export_global(np.eye(3, dtype=np.float64) * 2)

        def set(self, x=like(np.eye(3))):
            self._x = x

        def matrix(self, x=like(np.ones((3, 3), np.int32))):
            return self.mul_matrix(x, self._x)

        def vector(self, x=like(np.ones(3, np.int32))):
            return self.mul_vector(x, self._x)

        @Program.kernel
        def mul_matrix(a, b):
            @jax.jit
            def L_0(a, b):
                return a @ b

            return L_0(a, b)

        @Program.kernel
        def mul_vector(a, b):
            @jax.jit
            def L_0(a, b):
                return a @ b + 1

            return L_0(a, b)

    text = str(Program.get_mlir_module(DuplicateHelper))
    assert {"@L_0", "@L_0_0"} <= set(re.findall(r"@L_0\w*", text))
    p = DuplicateHelper()
    p.set(np.eye(3) * 2)
    assert p.matrix(np.eye(3, dtype=np.int32))[0, 0] == 2
    assert p.vector(np.ones(3, np.int32)).tolist() == [3, 3, 3]


def test_kernels_are_shared():
    class C(Program):
        _x = jnp.ones((4, 4))

        def one(self):
            return self.k(self.k(self._x))

        def two(self):
            return self.k(self._x)

        @Program.kernel
        def k(x):
            return jnp.tanh(x) @ x

    text = str(Program.get_mlir_module(C))
    assert len(re.findall(r"func\.func private", text)) == 1 and text.count("call @k(") == 3


def test_captured_weights_are_stored_once():
    weights = np.random.RandomState(0).rand(64, 64).astype(np.float32)

    class C(Program):
        _w = Program.export_global(jnp.asarray(weights), initialize=True, mutable=False)

        def one(self, x=like(jnp.ones(64))):
            return x @ weights

        def two(self, x=like(jnp.ones(64))):
            return self.k(x)

        @Program.kernel
        def k(x):
            return x @ jnp.asarray(weights) + 1

        def three(self, x=like(jnp.ones(64))):
            return x @ self._w

    c = C()
    module = Program.get_mlir_module(c)
    assert list(module.values) == ["_w$0"] and "_constant$" not in str(module)
    data = bytes(Program.get_compiled_artifact(c))
    assert data.count(weights.tobytes()[:256]) == 1
    x = np.random.RandomState(1).rand(64).astype(np.float32)
    for result in (c.one(x), c.two(x) - 1, c.three(x)):
        np.testing.assert_allclose(result, x @ weights, rtol=1e-5)


def test_compiler_accepts_the_text(tmp_path):
    class C(Program):
        _x = {
            "w": np.random.RandomState(0).rand(40, 40).astype(np.float32),
            "b": np.zeros(3, bool),
            "c": np.ones(2, np.complex64),
            "later": np.zeros((0, 2)),
        }
        _u = Program.export_global(jnp.ones(2))

        def get(self):
            return self._x["w"] @ self._x["w"], self._x["b"], self._x["c"], self._u

    module = Program.get_mlir_module(C)
    (tmp_path / "m.mlir").write_text(str(module))
    subprocess.run(
        [tool("alula-compile"), tmp_path / "m.mlir", "-o", tmp_path / "m.alula"], check=True
    )
    import alula

    loaded = alula.load(tmp_path / "m.alula")
    loaded.set_global("_u$0", np.asarray([1, 2], np.float32))
    c = C()
    c._u = np.asarray([1, 2], np.float32)
    for ours, theirs in zip(loaded.get(), c.get()):
        assert ours.tobytes() == np.asarray(theirs).tobytes()


def test_operation_facade(tmp_path):
    module = Program.get_mlir_module(TrivialGlobals)
    operation = module.operation
    assert operation.verify() and str(operation) == str(module) == operation.get_asm()
    assert operation.get_asm(binary=True) == str(module).encode()
    out = io.BytesIO()
    operation.print(out, binary=True)
    assert out.getvalue().startswith(b"module @trivial_globals")
    text = io.StringIO()
    operation.print(file=text)
    assert text.getvalue() == str(module)
    out = io.BytesIO()
    operation.write_bytecode(file=out)
    with open(tmp_path / "m.mlirbc", "wb") as file:
        Program.save(TrivialGlobals, file)
    assert (tmp_path / "m.mlirbc").read_bytes() == out.getvalue()
    assert out.getvalue()[:4] == b"ML\xefR"
    assert "<pre>module @trivial_globals" in module._repr_html_()


def test_same_program_same_bytes():
    assert bytes(Program.get_compiled_artifact(TrivialGlobals)) == bytes(
        Program.get_compiled_artifact(TrivialGlobals)
    )


def test_weights_outside(tmp_path):
    weights = np.random.RandomState(0).rand(128, 128).astype(np.float32)

    class C(Program):
        _w = Program.export_global(weights, initialize=True, mutable=False)

        def run(self, x=like(jnp.ones(128))):
            return x @ self._w

    artifact = Program.get_compiled_artifact(
        C(), weights="model.safetensors", targets=["cpu:x86-64-v2"]
    )
    artifact.save(tmp_path / "model.alula")
    import alula

    x = np.ones(128, np.float32)
    np.testing.assert_allclose(alula.load(tmp_path / "model.alula").run(x), x @ weights, rtol=1e-5)
    with pytest.raises(Exception, match="model.safetensors"):
        alula.load(bytes(artifact))
    assert len(artifact) < weights.nbytes < len(artifact.external)
    assert repr(artifact).startswith("<alula artifact c: ")
