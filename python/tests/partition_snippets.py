"""Programs over eight devices that leave the partitioning to us: equal to the
same without shardings, and with the collectives that it takes. test_snippets.py
runs this file."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import random_shardings
from jax import lax
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

DEVICES = 8


def make_mesh(shape, names):
    return jax.make_mesh(shape, names, axis_types=(AxisType.Auto,) * len(names))


@pytest.fixture(scope="module")
def mesh():
    return make_mesh((8,), ("x",))


@pytest.fixture(scope="module")
def grid():
    return make_mesh((4, 2), ("x", "y"))


def random(*shape):
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


KINDS = ["all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute"]


def collectives(f, mesh, arguments, specs, out=None):
    """Counts of the collectives, and the result, which has been checked."""
    placed = [jax.device_put(a, NamedSharding(mesh, s)) for a, s in zip(arguments, specs)]
    kwargs = {} if out is None else {"out_shardings": NamedSharding(mesh, out)}
    compiled = jax.jit(f, **kwargs).lower(*placed).compile()
    result = compiled(*placed)
    wanted = jax.jit(f)(*arguments)
    np.testing.assert_allclose(np.asarray(result), np.asarray(wanted), rtol=2e-5, atol=1e-5)
    if out is not None:
        assert result.sharding.is_equivalent_to(NamedSharding(mesh, out), result.ndim)
    text = compiled.as_text()
    counts = {kind: len(re.findall(rf"\b{kind}\(", text)) for kind in KINDS}
    return {kind: count for kind, count in counts.items() if count}


A, B = random(64, 64), random(64, 64) + 1


@pytest.mark.parametrize(
    "left, right, out, wanted",
    [
        (P("x"), P(), None, [{}]),
        (P(None, "x"), P("x"), P(), [{"all-reduce": 1}]),
        (P(None, "x"), P("x"), None, [{"all-reduce": 1}]),
        (P(None, "x"), P("x"), P("x"), [{"reduce-scatter": 1}]),
        (P("x"), P(None, "x"), None, [{"all-gather": 1}]),
        (P(None, "x"), P(), None, [{"all-gather": 1}, {"all-reduce": 1}]),
    ],
)
def test_products(mesh, left, right, out, wanted):
    assert collectives(jnp.dot, mesh, [A, B], [left, right], out) in wanted


def test_product_on_a_grid(grid):
    spec = P("x", "y")
    assert collectives(jnp.dot, grid, [A, B], [spec, spec], spec) == {"all-gather": 2}


@pytest.mark.parametrize(
    "before, after, wanted",
    [
        (P("x"), P(None, "x"), {"all-to-all": 1}),
        (P("x"), P(), {"all-gather": 1}),
        (P(), P("x"), {}),
        (P("x", "y"), P("y", "x"), {"all-to-all": 1, "collective-permute": 1}),
        (P(("x", "y")), P(("y", "x")), {"collective-permute": 1}),
        (P("x"), P(("x", "y")), {}),
        (P(("x", "y")), P("x"), {"all-gather": 1}),
        (P("x", "y"), P(("x", "y")), {"all-to-all": 1}),
    ],
)
def test_moves(grid, before, after, wanted):
    assert collectives(lambda a: a + 1, grid, [A], [before], after) == wanted


def test_sums(mesh):
    assert collectives(jnp.sum, mesh, [A], [P("x")]) == {"all-reduce": 1}
    assert collectives(jnp.max, mesh, [A], [P("x")]) == {"all-reduce": 1}
    softmax = collectives(lambda a: jax.nn.softmax(a, 1), mesh, [A], [P(None, "x")])
    assert softmax == {"all-reduce": 2}
    assert collectives(lambda a: jax.nn.softmax(a, 1), mesh, [A], [P("x")]) == {}


def test_reshapes(mesh):
    split = lambda a: jnp.sin(a).reshape(8, 8, 64)
    assert collectives(split, mesh, [A], [P("x")]) == {}
    merge = lambda a: jnp.sin(a).reshape(-1)
    assert collectives(merge, mesh, [A], [P("x")]) == {}
    assert collectives(merge, mesh, [A], [P(None, "x")]) == {"all-gather": 1}


def test_random_numbers_need_nothing(mesh):
    def f(key):
        x = jax.random.normal(key, (64, 64))
        return lax.with_sharding_constraint(x, NamedSharding(mesh, P("x")))

    key = jax.random.key(7)
    compiled = jax.jit(f).lower(key).compile()
    assert not any(f"{kind}(" in compiled.as_text() for kind in KINDS)
    assert "[64,64]" not in compiled.as_text()
    np.testing.assert_array_equal(
        np.asarray(compiled(key)),
        np.asarray(jax.jit(lambda k: jax.random.normal(k, (64, 64)))(key)),
    )


def test_loops(mesh):
    def f(c):
        return lax.fori_loop(0, 3, lambda i, c: jnp.sin(c @ c), c)

    assert collectives(f, mesh, [A / 8], [P("x")]) == {"all-gather": 1}


def test_branches(mesh):
    def f(a, b):
        return lax.cond(a[0, 0] > b[0, 0], lambda: jnp.sin(a), lambda: b * 2)

    collectives(f, mesh, [A, B], [P("x"), P("x")], P("x"))


LAYERS = [(64, 256), (256, 64), (64, 8)]


def loss(params, batch):
    x, y = batch
    for w, b in params[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = params[-1]
    return jnp.mean(jnp.square(x @ w + b - y))


def step(params, batch):
    value, grads = jax.value_and_grad(loss)(params, batch)
    return jax.tree.map(lambda p, g: p - 0.05 * g, params, grads), value


def make_params():
    return [(random(a, b) / np.sqrt(a), np.zeros(b, np.float32)) for a, b in LAYERS]


def train(params, batch, shardings=None, steps=20):
    kwargs = {} if shardings is None else {"out_shardings": (shardings, None)}
    f, losses = jax.jit(step, **kwargs), []
    for _ in range(steps):
        params, value = f(params, batch)
        losses.append(float(value))
    return losses


@pytest.mark.parametrize("number", range(20))
def test_random_programs(number):
    """More: `random_shardings.py 200`."""
    random_shardings.check(number, seed=0)


@pytest.mark.parametrize("number", range(5))
def test_chosen_shardings(number):
    """More: `random_shardings.py 200 1 chosen`."""
    random_shardings.check_chosen(number, seed=3)


KINDS_OF_PARALLELISM = {
    "data": ((8,), ("x",), [(P(), P())] * 3, P("x")),
    "fsdp": ((8,), ("x",), [(P("x"), P("x"))] * 3, P("x")),
    "tensor": (
        (8,),
        ("x",),
        [(P(None, "x"), P("x")), (P("x"), P()), (P(), P())],
        P(),
    ),
    "data and tensor": (
        (4, 2),
        ("x", "y"),
        [(P(None, "y"), P("y")), (P("y"), P()), (P(), P())],
        P("x"),
    ),
}


@pytest.mark.parametrize("kind", KINDS_OF_PARALLELISM)
def test_training(kind):
    shape, names, specs, batch_spec = KINDS_OF_PARALLELISM[kind]
    mesh = make_mesh(shape, names)
    place = lambda s: NamedSharding(mesh, s)
    shardings = [tuple(place(s) for s in layer) for layer in specs]
    batch = random(32, 64), random(32, 8)
    wanted = train(make_params(), batch)
    params = jax.device_put(make_params(), shardings)
    placed = jax.device_put(batch, place(batch_spec))
    np.testing.assert_allclose(train(params, placed, shardings), wanted, rtol=1e-5)

    # No device has a whole weight that is split.
    compiled = jax.jit(step, out_shardings=(shardings, None)).lower(params, placed).compile()
    text = compiled.as_text()
    if kind == "data":
        assert "f32[32,256]" not in text and "f32[4,256]" in text
        # All gradients and the loss go together.
        assert len(re.findall(r"\ball-reduce\(", text)) == 1
    if kind == "tensor":
        assert "f32[64,256]" not in text and "f32[32,256]" not in text


def test_embedding(mesh):
    table, places = random(64, 16), np.arange(24, dtype=np.int32) * 3 - 4
    assert collectives(lambda t, i: t[i], mesh, [table, places], [P("x"), P()]) == {"all-reduce": 1}
    add = lambda t, i: jnp.zeros_like(t).at[i].add(jnp.sin(t[i]))
    assert collectives(add, mesh, [table, places], [P(), P("x")], P()) == {"all-reduce": 1}
