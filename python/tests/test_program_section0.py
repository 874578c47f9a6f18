"""The sample that everything began with, word for word, and x64."""

import ast
import subprocess
from collections import namedtuple

import jax
import jax.numpy as jnp
import numpy as np
from program_tools import ROOT, tool

import alula
from alula import Program

x = jnp.ones((3, 4), jnp.float32) * 4
b = jnp.ones((3, 4), jnp.float32)
Params = namedtuple("Params", "x,b")
params = Params(x, b)


class TrivialKernel(Program):
    _params = params
    _x = params.x

    def get_params(self):
        return self._params

    def run(self, multiplier=Program.like(x)):
        result = self._linear(multiplier, self._params.x, self._params.b)
        self._x = result
        return result

    def set_params(self, new_params=Program.like(params)):
        self._params = new_params

    @Program.kernel
    def _linear(m, x, b):
        return m * x + b


def test_section_0(tmp_path):
    m = TrivialKernel()
    text = str(Program.get_mlir_module(m))
    assert text.startswith("module @trivial_kernel {")
    globals_ = [line for line in text.splitlines() if "ml_program.global " in line]
    assert len(globals_) == 2
    assert '@"_params$0"(dense<4.0' in globals_[0] and '@"_params$1"(dense<1.0' in globals_[1]

    first = m.get_params()
    assert isinstance(first, Params) and (first.x == 4).all() and (first.b == 1).all()
    assert first.x.shape == (3, 4) and first.x.dtype == jnp.float32
    assert (m.run(jnp.ones((3, 4))) == 5).all()
    assert (m.run(jnp.ones((3, 4)) * 3) == 16).all()
    last = m.get_params()
    assert (last.x == 16).all() and (last.b == 1).all() and (first.x == 4).all()

    path = tmp_path / "kernel.alula"
    Program.get_compiled_artifact(m).save(path)
    ones = "--input=3x4xf32=" + ",".join("1" * 12)
    result = subprocess.run(
        [tool("alula-run"), path, "--function=run", ones, "--repeat=2"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout == "3x4xf32=[[6,6,6,6],[6,6,6,6],[6,6,6,6]]\n"
    m.set_params(params)
    assert (m.run(jnp.ones((3, 4))) == 5).all()


def test_class_prints_its_module():
    assert str(Program.get_mlir_module(TrivialKernel)) == str(
        Program.get_mlir_module(TrivialKernel())
    )


def test_x64(tmp_path):
    with jax.enable_x64(True):

        class Wide(Program):
            _x = np.ones(2)

            def f(self, n=Program.like(np.int64(0))):
                self._x = self._x * 2
                return self._x, n + 2**40

        wide = Wide()
        ours, n = wide.f(1)
        assert ours.dtype == jnp.float64 and n == 2**40 + 1
        assert wide._x.dtype == jnp.float64
        Program.get_compiled_artifact(wide).save(tmp_path / "w.alula")
    loaded = alula.load(tmp_path / "w.alula")
    ours, n = loaded.f(np.int64(1))
    assert ours.dtype == np.float64 and n == 2**40 + 1


def names_of_stub():
    tree = ast.parse((ROOT / "python" / "alula" / "__init__.pyi").read_text())
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name, node
        elif isinstance(node, ast.ImportFrom):
            yield from ((a.asname, node) for a in node.names if a.asname)
        elif isinstance(node, ast.AnnAssign):
            yield node.target.id, node


def test_stub_has_all_names():
    from alula.program import api

    known = dict(names_of_stub())
    assert set(alula._HOMES) == set(known) - {"_ProgramMeta"}
    members = {n.name for n in known["_ProgramMeta"].body if isinstance(n, ast.FunctionDef)}
    assert members - {"__new__"} == set(api.MEMBERS)
