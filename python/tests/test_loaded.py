"""Artifacts in Python without JAX."""

import collections
import json
import pathlib
import subprocess
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from program_tools import ROOT

import alula
from alula import Program, like, trees
from alula.bindings import dtypes

Params = collections.namedtuple("Params", "x,b")
X = jnp.full((3, 4), 4.0)


class Linear(Program):
    _params = Params(X, jnp.ones((3, 4)))
    _x = _params.x
    _k = jax.random.key(0)
    _later = Program.export_global(jax.ShapeDtypeStruct((2,), jnp.float32))
    _fixed = Program.export_global(jnp.arange(3), initialize=True, mutable=False)

    def run(self, multiplier=like(X), extra=like({"deep": [X, None], "n": np.int32(0)})):
        """Multiplies and adds."""
        self._x = multiplier * self._params.x + self._params.b
        Program.print("sum {}", self._x.sum())
        return {"x": self._x, "extra": (extra["deep"], extra["n"])}

    def get(self):
        return self._params


@pytest.fixture
def path(tmp_path):
    return Program.get_compiled_artifact(Linear()).save(tmp_path / "linear.alula")


EXTRA = {"deep": [np.zeros((3, 4), np.float32), None], "n": 5}


def test_run(path, capsys):
    loaded = alula.load(path)
    result = loaded.run(np.ones((3, 4)), EXTRA)
    assert capsys.readouterr().out == "sum 60.0\n"
    assert isinstance(result["x"], np.ndarray) and (result["x"] == 5).all()
    assert result["extra"][0][1] is None and result["extra"][1] == 5
    params = loaded.get()
    assert isinstance(params, Params) and (params.x == 5).all()
    assert (loaded._params.x == 5).all() and (loaded._x == 5).all()
    assert loaded.run.__doc__ == "Multiplies and adds." and "run" in dir(loaded)
    assert repr(loaded).startswith(
        "<alula program linear: 5 globals\n  run(multiplier: float32[3,4], "
    )
    assert loaded.run(extra=EXTRA, multiplier=X)["x"][0, 0] == 21


@pytest.mark.parametrize(
    "args, kwargs, text",
    [
        (
            (np.ones((3, 5), np.float32), EXTRA),
            {},
            r"run\(\) argument 'multiplier': expected float32\[3,4\]",
        ),
        (
            (X, {"deep": [X], "n": 0}),
            {},
            r"run\(\) argument extra.deep: expected a sequence of 2, got list of 1",
        ),
        ((X, {"deep": [X, 3], "n": 0}), {}, "extra.deep.1: expected None, got int"),
        ((X, {"deep": [X, None]}), {}, "extra: expected a dictionary of"),
        ((X,), {}, "missing arguments: 'extra'"),
        ((X, EXTRA, 1), {}, "takes 2 arguments, 3 given"),
        ((X,), {"other": 1}, "an unexpected argument 'other'"),
        ((X,), {"multiplier": X}, "multiple values for argument 'multiplier'"),
    ],
)
def test_wrong_arguments(path, args, kwargs, text):
    with pytest.raises(TypeError, match=text):
        alula.load(path).run(*args, **kwargs)


def test_state(path, tmp_path):
    loaded = alula.load(path.read_bytes())
    assert list(loaded.globals) == ["_params.x", "_params.b", "_k", "_later", "_fixed"]
    assert set(loaded.state_dict()) == {"_params.x", "_params.b", "_k", "_fixed"}
    loaded.set_global("_x", np.zeros((3, 4)))
    copy = loaded.clone()
    loaded.save_state(tmp_path / "s")
    loaded.reset()
    assert (loaded.get_global("_params$0") == 4).all() and (copy._x == 0).all()
    loaded.load_state(tmp_path / "s")
    assert (loaded._x == 0).all()
    with pytest.raises(KeyError, match="there is no global 'nowhere'"):
        loaded.get_global("nowhere")
    with pytest.raises(TypeError, match="global '_fixed' is immutable"):
        loaded.set_global("_fixed", np.zeros(3))
    with pytest.raises(
        TypeError, match=r"global '_later': expected float32\[2\], got float64\[5\]|got float32"
    ):
        loaded.set_global("_later", np.zeros(5))
    with pytest.raises(TypeError):
        loaded.load_state_dict({"_params.b": np.ones((3, 4)), "_later": np.zeros(5)})
    assert (loaded._params.b == 1).all() and (
        loaded.load_state_dict({"_x": X}) or loaded._x[0, 0]
    ) == 4
    with pytest.raises(AttributeError, match="no function or global 'walk'"):
        loaded.walk
    with pytest.raises(alula.AlulaError, match="read before it is initialised"):
        loaded.get_global("_later")


def test_program_without_description(tmp_path):
    from alula.bindings import compiler

    data, _ = compiler.compile_program(
        """
        ml_program.global private mutable @n(dense<0> : tensor<i32>) : tensor<i32>
        func.func @two(%a: tensor<2xf32>) -> (tensor<2xf32>, tensor<i32>) {
          %n = ml_program.global_load @n : tensor<i32>
          return %a, %n : tensor<2xf32>, tensor<i32>
        }
        func.func @none() { return }
        """
    )
    loaded = alula.load(data)
    a, n = loaded.two([1, 2] @ np.eye(2, dtype=np.float32))
    assert a.tolist() == [1, 2] and n == 0 and loaded.none() is None and loaded.name == ""
    assert [v.name for v in loaded.functions["two"].arguments] == [""] and list(loaded.globals) == [
        "n"
    ]


def test_damaged(path, tmp_path):
    with pytest.raises(alula.AlulaError, match="no.such"):
        alula.load(tmp_path / "no.such")
    with pytest.raises(alula.AlulaError):
        alula.load(path.read_bytes()[:-1])


def python(source, *args):
    return subprocess.run(
        [sys.executable, "-c", source, *map(str, args)],
        env={"PYTHONPATH": str(ROOT / "python"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=600,
    )


WITHOUT_JAX = """
import sys
class Refuse:
    def find_spec(self, name, *_):
        if name.split(".")[0] in ("jax", "jaxlib", "ml_dtypes"):
            raise ImportError("not here: " + name)
sys.meta_path.insert(0, Refuse())
import alula, numpy
p = alula.load(sys.argv[1])
x = p.run(numpy.ones((3, 4)), {"deep": [numpy.zeros((3, 4)), None], "n": 5})["x"]
assert (x == 5).all() and type(p.get()).__name__ == "Params" and p.get().x is not None
assert "jax" not in sys.modules
"""


def test_without_jax(path):
    result = python(WITHOUT_JAX, path)
    assert result.returncode == 0, result.stderr


def test_import_is_quick():
    def measure(name):
        code = f"import sys, time; t = time.process_time(); import {name}; "
        code += "print(time.process_time() - t, *{'jax', 'numpy', 'ctypes'} & set(sys.modules))"
        said = [python(code).stdout.split() for _ in range(5)]
        assert all(len(words) == 1 for words in said), said
        return min(float(words[0]) for words in said)

    # It takes a fifth of that.
    assert measure("alula") < measure("json")


def test_lazy_module():
    names = {}
    exec("from alula import *", names)
    assert names["Program"] is Program and names["like"] is like and "store_global" in names
    assert "Program" in dir(alula)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        alula.nothing


def test_element_types_are_those_of_the_header():
    text = (ROOT / "include" / "alula" / "dtype.h").read_text().replace("\\\n", "\n")
    import re

    found = re.findall(r'X\((\w+), (\d+), (\w+), (\d+), (\d+), "([^"]*)", "([^"]*)", (\d+)\)', text)
    assert {int(r[1]): (r[6], int(r[4]), r[5]) for r in found} == dtypes.TABLE


def test_structures_match_the_headers():
    """What ctypes declares, against the C compiler."""
    from program_tools import BUILD  # noqa: F401

    from alula.bindings import compiler, custom_calls, runtime

    names = {
        "alula_value_info": runtime.ValueInfo,
        "alula_dim_info": runtime.DimInfo,
        "alula_load_options": runtime.LoadOptions,
        "alula_compile_options": compiler.options_type(),
        "alula_compile_diagnostic": compiler.Diagnostic,
        "alula_compile_value": compiler.InitialValue,
        "alula_custom_call_buffer": custom_calls.Buffer,
        "alula_custom_call_args": custom_calls.Arguments,
    }
    import ctypes

    lines = ['#include "alula/compiler.h"', '#include "alula/runtime.h"']
    for name, kind in names.items():
        lines.append(f'_Static_assert(sizeof({name}) == {ctypes.sizeof(kind)}, "{name}");')
        for field, _ in kind._fields_:
            offset = getattr(kind, field).offset
            lines.append(
                f'_Static_assert(offsetof({name}, {field}) == {offset}, "{name}.{field}");'
            )
    result = subprocess.run(
        ["cc", "-std=c11", "-fsyntax-only", "-x", "c", f"-I{ROOT / 'include'}", "-"],
        input="\n".join(lines) + "\n",
        text=True,
        capture_output=True,
    )
    assert result.returncode == 0, result.stderr


def test_schemas():
    tree = {"a": [1, (2, None)], "o": collections.OrderedDict(z=3), "p": Params(4, 5)}
    count = iter(range(9))
    schema = json.loads(json.dumps(trees.describe(tree, lambda _: {"leaf": next(count)})))
    leaves = jax.tree.leaves(tree)
    again = trees.rebuild(schema, leaves)
    assert again == tree and type(again["o"]) is collections.OrderedDict
    assert isinstance(again["p"], Params) and trees.count_leaves(schema) == 5
    other = trees.rebuild({"namedtuple": "no.Such", "fields": ["x"], "items": [{"leaf": 0}]}, [1])
    assert other.x == 1 and type(other).__name__ == "Such"
    assert pathlib.Path(__file__).exists() and time
