"""Products of groups of rows, judged by NumPy in f64: one call each, whatever the sizes
of the groups, with gradients. test_snippets.py runs this file."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

SIZES = [
    (16, 4, 5, [3, 5, 2]),
    (300, 130, 150, [64, 0, 120, 100, 16]),
    (251, 259, 321, [50, 51, 0, 100, 10, 40, 0]),
    (7, 3, 1, [0, 0, 7]),
    (1, 300, 700, [0, 1, 0]),
    (9, 4, 6, [0, 0, 0]),
    (5, 0, 3, [2, 2]),
    # More than there are rows: the last ones get what is left.
    (10, 3, 4, [6, 6, 6]),
    (600, 17, 1030, [600, 0]),
]


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def split(rows, sizes):
    """The rows of each group."""
    ends = np.minimum(np.cumsum(sizes), rows)
    return [slice(end - size, end) for end, size in zip(ends, np.diff(ends, prepend=0))]


def rows_product(x, w, sizes):
    result = np.zeros((x.shape[0], w.shape[2]))
    for matrix, rows in zip(w, split(len(x), sizes)):
        result[rows] = x[rows].astype(np.float64) @ matrix.astype(np.float64)
    return result


def sums_product(x, y, sizes):
    x, y = x.astype(np.float64), y.astype(np.float64)
    return np.stack([x[rows].T @ y[rows] for rows in split(len(x), sizes)])


def close(got, want, tolerance=2e-6):
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    assert got.shape == want.shape
    bound = tolerance * max(1.0, np.abs(want).max(initial=0))
    assert np.abs(got - want).max(initial=0) <= bound


def is_call(function, *arguments):
    return "@alula.ragged_dot(" in jax.jit(function).lower(*arguments).as_text()


@pytest.mark.parametrize("m,k,n,sizes", SIZES)
def test_rows(m, k, n, sizes):
    x, w, g = normal(m, k), normal(len(sizes), k, n, seed=1), np.array(sizes, np.int32)
    assert is_call(lax.ragged_dot, x, w, g)
    close(jax.jit(lax.ragged_dot)(x, w, g), rows_product(x, w, sizes))
    for kind in (np.int64, np.uint8):
        if max(sizes) < 256:
            close(jax.jit(lax.ragged_dot)(x, w, g.astype(kind)), rows_product(x, w, sizes))


@pytest.mark.parametrize("m,k,n,sizes", SIZES)
def test_gradients(m, k, n, sizes):
    x, w, g = normal(m, k), normal(len(sizes), k, n, seed=1), np.array(sizes, np.int32)
    y = normal(m, n, seed=2)
    _, pull = jax.vjp(lambda x, w: lax.ragged_dot(x, w, g), x, w)
    dx, dw = jax.jit(pull)(y)
    close(dx, rows_product(y, w.transpose(0, 2, 1), sizes))
    close(dw, sums_product(x, y, sizes))


@pytest.mark.parametrize(
    "kind,result,tolerance",
    [
        (jnp.bfloat16, jnp.bfloat16, 2**-8),
        (jnp.bfloat16, jnp.float32, 1e-5),
        (jnp.float16, jnp.float16, 2**-11),
        (jnp.float16, jnp.float32, 1e-5),
        (jnp.float8_e4m3fn, jnp.float32, 1e-5),
    ],
)
def test_small_floats(kind, result, tolerance):
    x, w = jnp.asarray(normal(70, 33), kind), jnp.asarray(normal(3, 33, 40, seed=1), kind)
    g = np.array([20, 0, 45], np.int32)

    def function(x, w):
        return lax.ragged_dot(x, w, g, preferred_element_type=result)

    got = jax.jit(function)(x, w)
    assert got.dtype == result
    want = rows_product(np.asarray(x, np.float32), np.asarray(w, np.float32), g)
    close(got, want, tolerance)


def test_f64_and_integers():
    g = np.array([4, 3], np.int32)
    with jax.enable_x64(True):
        x, w = normal(9, 5).astype(np.float64), normal(2, 5, 3, seed=1).astype(np.float64)
        close(jax.jit(lax.ragged_dot)(x, w, g), rows_product(x, w, g), 1e-15)
    # No kernel multiplies these group by group; the meaning is the same.
    x, w = np.arange(45).reshape(9, 5), np.arange(30).reshape(2, 5, 3)
    got = jax.jit(lax.ragged_dot)(x.astype(np.int32), w.astype(np.int32), g)
    np.testing.assert_array_equal(got, rows_product(x, w, g))


def test_batches():
    x, w = normal(3, 20, 6), normal(3, 4, 6, 7, seed=1)
    g = np.array([[5, 5, 5, 5], [0, 3, 0, 9], [20, 0, 0, 0]], np.int32)
    want = np.stack([rows_product(*each) for each in zip(x, w, g)])
    close(jax.jit(jax.vmap(lax.ragged_dot))(x, w, g), want)
    y = normal(3, 20, 7, seed=2)
    _, pull = jax.vjp(lambda x, w: jax.vmap(lax.ragged_dot)(x, w, g), x, w)
    dx, dw = jax.jit(pull)(y)
    close(dw, np.stack([sums_product(*each) for each in zip(x, y, g)]))
    close(dx, np.stack([rows_product(*each) for each in zip(y, w.transpose(0, 1, 3, 2), g)]))


def general(x, w, g, contracting, batch, ragged, group):
    numbers = lax.RaggedDotDimensionNumbers(
        dot_dimension_numbers=(contracting, batch),
        lhs_ragged_dimensions=ragged,
        rhs_group_dimensions=group,
    )
    return jax.jit(lambda x, w, g: lax.ragged_dot_general(x, w, g, numbers))(x, w, g)


def test_dimensions_in_any_order():
    g = np.array([4, 0, 9], np.int32)
    # Two contracted dimensions, and a free one inside of the ragged one.
    x, w = normal(6, 15, 2, 5), normal(5, 8, 3, 6, seed=1)
    got = general(x, w, g, ((0, 3), (3, 0)), ((), ()), [1], [2])
    flat = x.transpose(1, 2, 0, 3).reshape(30, 30)
    want = rows_product(flat, w.transpose(2, 3, 0, 1).reshape(3, 30, 8), 2 * g)
    close(got, want.reshape(15, 2, 8))
    # Groups of a contracted dimension, with another one inside.
    x, w = normal(4, 15, 2), normal(15, 2, 7, seed=1)
    got = general(x, w, g, ((1, 2), (0, 1)), ((), ()), [1], [])
    close(got, sums_product(x.transpose(1, 2, 0).reshape(30, 4), w.reshape(30, 7), 2 * g))
    # Groups of a batch are as if they were none.
    x, w = normal(15, 4, 5), normal(15, 5, 3, seed=1)
    close(general(x, w, g, ((2,), (1,)), ((0,), (0,)), [0], []), x @ w)


def test_other_groups_are_not_read():
    x, w = normal(8, 4), normal(3, 4, 5, seed=1)
    w[1] = np.inf
    g = np.array([5, 0, 3], np.int32)
    close(jax.jit(lax.ragged_dot)(x, w, g), rows_product(x, np.where(np.isinf(w), 0, w), g))


def test_sizes_may_be_anything():
    """What they mean then is not said; nothing outside is touched."""
    x, w = normal(8, 4), normal(3, 4, 5, seed=1)
    for sizes in ([-3, 5, -1], [2**31 - 1] * 3, [-(2**31)] * 3):
        got = jax.jit(lax.ragged_dot)(x, w, np.array(sizes, np.int64).astype(np.int32))
        assert np.isfinite(np.asarray(got)).all()


def test_groups_on_several_devices():
    from jax.sharding import NamedSharding, PartitionSpec

    mesh = jax.make_mesh((2,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))
    x, w, g = normal(10, 4), normal(4, 4, 6, seed=1), np.array([3, 0, 5, 1], np.int32)
    for spec in (PartitionSpec("d"), PartitionSpec(None, None, "d"), PartitionSpec(None, "d")):
        split = jax.device_put(w, NamedSharding(mesh, spec))
        close(jax.jit(lax.ragged_dot)(x, split, g), rows_product(x, w, g))


def test_exported():
    g = np.array([3, 5], np.int32)
    x, w = normal(10, 4), normal(2, 4, 5, seed=1)
    exported = jax.export.export(jax.jit(lax.ragged_dot), platforms=["alula"])(x, w, g)
    assert "@alula.ragged_dot" in exported.mlir_module()
    close(exported.call(x, w, g), rows_product(x, w, g))
