"""erf and erfc keep their name from the program, spelled out or not, to native
code: exported programs of JAX, shapes that are not known, bodies of loops."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import subprocess

import jax
import numpy as np
import pytest
from jax import export
from jax import numpy as jnp

import jax_functions

pytestmark = jax_functions.needs_build
tools = jax_functions.tools

X = np.array([0.25, -1, 3, -0.0, 0.999, 5], np.float32)
ERF = np.array([0.27632639, -0.84270079, 0.99997791, -0.0, 0.84228531, 1], np.float32)


def exported(function, *arguments):
    return export.export(jax.jit(function))(*arguments).mlir_module_serialized


def after_input(program, *flags):
    """The program as text."""
    tool = jax_functions.BUILD / "bin/alula-compile"
    command = [tool, "-", "--compile-to=input", *flags]
    return subprocess.run(command, input=program, capture_output=True, check=True).stdout.decode()


def once(x):
    return 1 - jax.lax.erfc(x)


def of_itself(x):
    return 1 - jax.lax.erfc(jax.lax.erfc(x))


@pytest.mark.parametrize(
    "function, counts",
    [(once, {"erfc": 1}), (of_itself, {"erfc": 2}), (jax.lax.erf, {"erf": 1})],
)
def test_exported(tools, function, counts):
    program = exported(function, X)
    text = after_input(program)
    for name, count in counts.items():
        assert text.count(f"chlo.{name} ") == count
    assert "exponential" not in text and "composite" not in text
    (got,) = jax_functions.run_program(tools, program, [X], "cpu:host")
    expected = 1 - np.asarray(jax.lax.erfc(1 - ERF)) if function is of_itself else ERF
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=2e-7)


def test_exported_with_unknown_sizes(tools):
    (size,) = export.symbolic_shape("n")
    program = exported(once, jax.ShapeDtypeStruct((size,), np.float32))
    text = after_input(program)
    assert text.count("chlo.erfc ") == 1 and "exponential" not in text
    (got,) = jax_functions.run_program(tools, program, [X], "cpu:host")
    np.testing.assert_allclose(got, ERF, atol=2e-7)


def loops(x):
    def scanned(carry, row):
        return jax.scipy.special.erf(carry) + row, jax.scipy.special.erfc(row)

    return jax.lax.scan(scanned, x[0], x)


def reduced(x):
    return jax.lax.reduce(x, np.float32(0), lambda a, b: a + jax.lax.erf(b), (1,))


def shared(x):
    y = jax.nn.gelu(x, approximate=False)
    return jax.nn.softmax(y), jax.grad(lambda x: jax.nn.gelu(x, approximate=False).sum())(x)


@pytest.mark.parametrize("function", [loops, reduced, shared])
def test_programs(tools, function):
    x = np.random.RandomState(3).standard_normal((17, 6)).astype(np.float32)
    got = jax_functions.run(tools, function, [x], "cpu:host")
    for ours, theirs in zip(got, jax.tree.leaves(jax.jit(function)(x)), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=1e-6)


def test_constants_are_computed_by_the_compiler(tools):
    (got,) = jax_functions.run(tools, lambda x: x + jnp.asarray(jax.lax.erf(X)), [X], "cpu:host")
    np.testing.assert_allclose(got, X + ERF, rtol=1e-6)
