"""Programs over eight devices whose results read what neighbours have, and sizes
that eight does not divide: equal to the same on one device, and with the
collectives that it takes. test_snippets.py runs this file."""

import jax
import jax.numpy as jnp
import pytest
from jax import lax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P
from partition_snippets import A, collectives, make_mesh, random

DEVICES = 8


@pytest.fixture(scope="module")
def mesh():
    return make_mesh((8,), ("x",))


@pytest.mark.parametrize(
    "f, wanted",
    [
        (lambda a: jnp.roll(a, 1, 0), {"collective-permute": 1}),
        (lambda a: jnp.roll(a, -9, 0), {"collective-permute": 2}),
        (lambda a: jnp.flip(a, 0), {"collective-permute": 1}),
        (lambda a: jnp.pad(a[:-1], ((1, 0), (0, 0))), {"collective-permute": 1}),
        (lambda a: jnp.sort(a, 0), {"all-to-all": 2}),
    ],
)
def test_neighbours(mesh, f, wanted):
    assert collectives(f, mesh, [A], [P("x")], P("x")) == wanted


def test_padded_pieces(mesh):
    """63 and 65 rows over eight devices."""
    counts = collectives(lambda a: jnp.sum(a[1:] - a[:-1]), mesh, [A], [P("x")])
    assert counts == {"all-reduce": 1, "collective-permute": 1}

    def longer(a):
        a = jnp.concatenate([a, a[:1]], 0)
        return jnp.max(lax.with_sharding_constraint(a, NamedSharding(mesh, P("x"))), 0)

    assert collectives(longer, mesh, [A - 9], [P()]) == {"all-reduce": 1}
    first = lambda a, b: jnp.sum(jnp.sin(jnp.concatenate([a, b], 0)))
    assert collectives(first, mesh, [A[:1], A], [P(), P("x")]) == {
        "all-reduce": 1,
        "collective-permute": 1,
    }


def convolve(stride, padding, **kwargs):
    return lambda image, kernel: lax.conv_general_dilated(
        image,
        kernel,
        (stride, stride),
        padding,
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
        **kwargs,
    )


def grad_of_convolution(stride, place):
    def f(image, kernel):
        return jnp.sum(jnp.sin(convolve(stride, "SAME")(image, kernel)))

    return lambda *arguments: jax.grad(f, place)(*arguments)


IMAGE, KERNEL = random(2, 32, 32, 4), random(3, 3, 4, 8)


@pytest.mark.parametrize(
    "f, out, wanted",
    [
        (convolve(1, "SAME"), P(None, "x"), {"collective-permute": 2}),
        (convolve(2, "SAME"), P(None, "x"), {"collective-permute": 1}),
        (
            lambda i, k: jnp.sum(convolve(1, "VALID")(i, k) ** 2, (1, 2)),
            P(),
            {"all-reduce": 1, "collective-permute": 1},
        ),
        (grad_of_convolution(2, 0), P(None, "x"), {"collective-permute": 2}),
        (grad_of_convolution(2, 1), P(), {"all-reduce": 1, "collective-permute": 2}),
    ],
)
def test_convolutions_in_space(mesh, f, out, wanted):
    assert collectives(f, mesh, [IMAGE, KERNEL], [P(None, "x"), P()], out) == wanted


def test_groups_of_features(mesh):
    f = convolve(1, "SAME", feature_group_count=8)
    arguments = [random(2, 8, 8, 8), random(3, 3, 1, 8)]
    assert collectives(f, mesh, arguments, [P(None, None, None, "x"), P()]) == {}


@pytest.mark.parametrize(
    "operation, size, stride, wanted",
    [
        ("max", 3, 2, {"collective-permute": 1}),
        ("max", 2, 2, {}),
        ("add", 2, 2, {}),
        ("grad", 2, 2, {}),
    ],
)
def test_pooling_in_space(mesh, operation, size, stride, wanted):
    kind, first = (lax.add, 0.0) if operation == "add" else (lax.max, -jnp.inf)

    def pool(a):
        window, strides = (1, size, size, 1), (1, stride, stride, 1)
        return lax.reduce_window(a, first, kind, window, strides, "SAME")

    f = pool if operation != "grad" else jax.grad(lambda a: jnp.sum(jnp.sin(pool(a))))
    assert collectives(f, mesh, [IMAGE], [P(None, "x")], P(None, "x")) == wanted


def test_matrices_of_a_batch(mesh):
    def solve(a):
        a = a @ a.transpose(0, 2, 1) + 6 * jnp.eye(6, dtype=a.dtype)
        q, r = jnp.linalg.qr(a)
        return jnp.linalg.cholesky(a) + jnp.abs(q @ r), jnp.linalg.eigvalsh(a), jnp.linalg.det(a)

    f = lambda a: jnp.concatenate([x.reshape(8, -1) for x in solve(a)], 1)
    assert collectives(f, mesh, [random(8, 6, 6)], [P("x")]) == {}
