"""The benchmark's rows that are small products: what they compute, on several
machines and by several threads, beside the same functions in f64."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import numpy as np
import pytest

import jax_functions  # isort: skip, it finds the next
import alula_library

from bench.agreement import largest_error
from bench.prepare import compute_reference, widen
from bench.workloads import ROWS
from bench.workloads.molecules import PATHS, SIZES, coupling, harmonics

pytestmark = jax_functions.needs_build
tools = jax_functions.tools


@pytest.fixture(scope="module")
def runtimes():
    return [alula_library.Runtime(jax_functions.BUILD, thread_count=n) for n in (1, 2)]


def check(tools, runtimes, function, inputs, target, want, tolerance):
    text = jax.jit(function).lower(*inputs).as_text()
    program = tools[0].compile(text.encode(), [target])
    for runtime in runtimes:
        executable = runtime.load(program)
        arguments = [runtime.new_buffer(a, jax_functions.kind_of(a)) for a in inputs]
        results = executable.call(executable.find("main"), arguments)
        assert largest_error([r.array() for r in results], want) <= tolerance
        for buffer in (*arguments, *results):
            buffer.release()
        executable.destroy()


@pytest.mark.parametrize("size, target", [("usual", "cpu:host"), ("odd", "cpu:x86-64-v2")])
@pytest.mark.parametrize("name", ["equivariant", "lasso", "lasso-path"])
def test_row(tools, runtimes, name, size, target):
    case = ROWS[name].case(size)
    want = compute_reference(case)
    check(tools, runtimes, case.closed(), case.inputs, target, want, case.tolerance)
    if size == "usual":
        with jax.enable_x64(True):
            params = jax.tree.map(widen, case.params)
            inputs = [widen(value) for value in case.inputs]
            wide = lambda *i: case.function(params, *i)
            check(tools, runtimes, wide, inputs, target, want, 1e-9)


def test_couplings_turn_with_their_factors():
    draw = np.random.default_rng(0)
    points = draw.normal(size=(20, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    turn, _ = np.linalg.qr(draw.normal(size=(3, 3)))
    turn *= np.sign(np.linalg.det(turn))
    with jax.enable_x64(True):
        before, after = map(harmonics, (points, points @ turn.T))
    turns = [
        np.linalg.lstsq(np.asarray(a), np.asarray(b), rcond=None)[0]
        for a, b in zip(before, after, strict=True)
    ]
    for a, b, c in PATHS:
        table = coupling(a, b, c).astype(np.float64)
        turned = np.einsum("ijk,im,jn->mnk", table, turns[a], turns[b])
        np.testing.assert_allclose(turned, np.einsum("mnl,kl->mnk", table, turns[c]), atol=1e-6)
        squares = np.einsum("ijk,ijl->kl", table, table)
        np.testing.assert_allclose(squares, np.eye(SIZES[c]), atol=1e-6)
