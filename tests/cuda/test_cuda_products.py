"""Products by workgroups (compiler/target/cuda/kernel/lower_dot.cpp), interpreted:
all layouts, edges, batches and epilogues, to what the same is in f64."""

import fake_gpu
import interpreted
import pytest
from interpreted import TYPES, draw

import jax
from jax import lax
from jax import numpy as jnp

pytestmark = fake_gpu.needs_build
tools = interpreted.tools


@pytest.fixture(params=["cuda:sm_80", "cuda:sm_90a"])
def target(request):
    return request.param


def check(tools, target, function, *arrays):
    interpreted.check(tools, function, *arrays, target=target)


def read_text(tools, target, folder, function, *arrays):
    return interpreted.read_text(tools, folder, function, *arrays, target=target)


def multiply(left, right):
    def function(a, b):
        return lax.dot_general(a, b, (((left,), (right,)), ((), ())))

    return function


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("left,right", [(1, 0), (1, 1), (0, 0), (0, 1)])
def test_layouts(tools, target, kind, left, right):
    """Either operand lies along its depth or across; nothing is a multiple of a tile."""
    a, b = draw(kind, 136, 72), draw(kind, 72, 88)
    check(
        tools, target, multiply(left, right), a if left else a.T.copy(), b.T.copy() if right else b
    )


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("rows,depth,columns", [(129, 65, 67), (17, 300, 16), (300, 16, 31)])
def test_edges(tools, target, kind, rows, depth, columns):
    """Lines that begin at any element."""
    check(tools, target, multiply(1, 0), draw(kind, rows, depth), draw(kind, depth, columns))


@pytest.mark.parametrize("kind", TYPES)
def test_batches(tools, target, kind):
    """Those of attention."""
    q, k = draw(kind, 2, 40, 3, 32), draw(kind, 2, 56, 3, 32)
    check(tools, target, lambda q, k: jnp.einsum("bqhd,bkhd->bhqk", q, k), q, k)
    v = draw(kind, 2, 3, 56, 32)
    p = draw(kind, 2, 3, 40, 56)
    check(tools, target, lambda p, v: jnp.einsum("bhqk,bhkd->bhqd", p, v), p, v)


@pytest.mark.parametrize("kind", ["bf16", "f32"])
def test_epilogue(tools, target, kind, tmp_path):
    """What follows is done where the sums are: one kernel."""

    def function(x, w, bias):
        return jax.nn.relu(x @ w + bias) * x[:, :1]

    arrays = [draw(kind, 130, 48), draw(kind, 48, 96), draw(kind, 96)]
    check(tools, target, function, *arrays)
    assert read_text(tools, target, tmp_path, function, *arrays).count(".entry") == 1


def test_inside_of_a_loop(tools, target):
    """One workgroup does all tiles, as all of its threads follow the loop."""
    w = draw("f32", 72, 72) / 20

    def function(x):
        return lax.fori_loop(0, 3, lambda i, y: jnp.tanh(y @ jnp.asarray(w, y.dtype)), x)

    check(tools, target, function, draw("f32", 136, 72))


def test_chains(tools, target):
    """Several products of one program."""

    def function(x, w):
        return multiply(0, 0)(jnp.sin(x @ w), x)

    check(tools, target, function, draw("f32", 128, 64), draw("f32", 64, 64))


@pytest.mark.parametrize("kind", ["bf16", "f16"])
def test_tensor_cores(tools, target, kind, tmp_path):
    text = read_text(
        tools, target, tmp_path, multiply(1, 0), draw(kind, 128, 64), draw(kind, 64, 64)
    )
    assert f"mma.sync.aligned.m16n8k16.row.col.f32.{kind}.{kind}.f32" in text
    assert "ldmatrix.sync.aligned.m8n8.x4" in text and "cp.async.cg.shared.global" in text
    # All sizes are known: nothing is left of the other ways.
    assert "ld.global.u16" not in text and ".local" not in text


def test_small_products_have_a_thread_for_each_element(tools, target, tmp_path):
    text = read_text(
        tools, target, tmp_path, multiply(1, 0), draw("bf16", 8, 8), draw("bf16", 8, 8)
    )
    assert "mma.sync" not in text


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("left,right", [(1, 0), (0, 1)])
def test_few_tiles_of_a_long_depth(tools, target, kind, left, right, tmp_path):
    """Parts of the depth, by a workgroup each; the last one is shorter."""
    a, b = draw(kind, 40, 1000), draw(kind, 1000, 24)

    def function(a, b):
        return jnp.maximum(multiply(left, right)(a, b), 0) + 1

    arrays = [a if left else a.T.copy(), b.T.copy() if right else b]
    check(tools, target, function, *arrays)
    assert read_text(tools, target, tmp_path, function, *arrays).count(".entry") == 2


def test_parts_of_batches(tools, target):
    a, b = draw("f32", 2, 3, 20, 777), draw("f32", 2, 3, 777, 33)
    check(tools, target, lambda a, b: a @ b, a, b)


def test_what_is_not_computed_in_parts(tools, target, tmp_path):
    """Enough tiles for all, a short depth, and what a loop's one workgroup does."""
    for shapes in [((2560, 768), (768, 1280)), ((64, 500), (500, 64))]:
        arrays = [draw("bf16", *shape) for shape in shapes]
        assert read_text(tools, target, tmp_path, multiply(1, 0), *arrays).count(".entry") == 1

    def function(x, w):
        return lax.fori_loop(0, 2, lambda i, y: jnp.tanh(y @ w) / 9, x)

    check(tools, target, function, draw("f32", 16, 640), draw("f32", 640, 640) / 25)
