"""Products of BCOO and BCSR, judged by NumPy: one call each, whatever the order of
the indices, with padding, places that are there twice, and gradients.
test_snippets.py runs this file."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import sparse


def matrix(m, k, seed=0, density=0.3):
    random = np.random.RandomState(seed)
    return np.where(random.rand(m, k) < density, random.randn(m, k), 0).astype(np.float32)


def listed(dense, seed=0, padding=3):
    """Unsorted, with elements in two parts and padding that is out of range."""
    random = np.random.RandomState(seed)
    rows, columns = np.nonzero(dense)
    values = dense[rows, columns]
    rows, columns = np.concatenate([rows, rows]), np.concatenate([columns, columns])
    values = np.concatenate([values - 1, np.ones_like(values)])
    order = random.permutation(len(values))
    indices = np.stack([rows[order], columns[order]], 1)
    indices = np.concatenate([indices, np.tile(dense.shape, (padding, 1))]).astype(np.int32)
    data = np.concatenate([values[order], np.full(padding, 5.0)]).astype(np.float32)
    return sparse.BCOO((data, indices), shape=dense.shape)


def close(a, b):
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-4, atol=1e-4)


def calls(function, *arguments):
    text = jax.jit(function).lower(*arguments).as_text()
    return text.count("@alula.sparse_"), text


def test_products():
    dense = matrix(37, 53)
    for width in (1, 5, 16, 33, 64):
        right = np.random.RandomState(1).randn(53, width).astype(np.float32)
        left = np.random.RandomState(2).randn(width, 37).astype(np.float32)
        s = listed(dense)
        close(jax.jit(lambda s, x: s @ x)(s, right), dense @ right)
        close(jax.jit(lambda s, x: x @ s)(s, left), left @ dense)
        close(jax.jit(lambda s, x: s.T @ x)(s, left.T), dense.T @ left.T)
        close(jax.jit(lambda s, x: s @ x)(s, right[:, 0]), dense @ right[:, 0])


def test_negative_indices_count_from_the_end():
    s = sparse.BCOO((jnp.ones(2), jnp.array([[-1, 0], [0, -2]], jnp.int32)), shape=(3, 4))
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    close(jax.jit(lambda s, x: s @ x)(s, x), [x[2], [0, 0], x[0]])


def test_bcsr():
    dense = matrix(40, 30)
    s = sparse.BCSR.fromdense(dense)
    x = np.random.RandomState(1).randn(30, 7).astype(np.float32)
    close(jax.jit(lambda s, x: s @ x)(s, x), dense @ x)
    close(jax.jit(lambda s, x: s @ x)(s, x[:, 0]), dense @ x[:, 0])


def test_gradients():
    dense = matrix(20, 30)
    s = sparse.BCOO.fromdense(dense)
    x = np.random.RandomState(1).randn(30, 9).astype(np.float32)
    weights = np.random.RandomState(2).randn(20, 9).astype(np.float32)

    def loss(data, x):
        return (weights * (sparse.BCOO((data, s.indices), shape=s.shape) @ x)).sum()

    of_data, of_x = jax.jit(jax.grad(loss, (0, 1)))(s.data, x)
    i, j = np.asarray(s.indices).T
    close(of_data, (weights[i] * x[j]).sum(1))
    close(of_x, dense.T @ weights)


def test_one_call_and_nothing_as_large_as_nonzeros_times_columns():
    dense = matrix(64, 64)
    s = sparse.BCOO.fromdense(dense)
    x = jnp.ones((64, 48))

    def gradient(data, x):
        return jax.grad(lambda d: ((sparse.BCOO((d, s.indices), shape=s.shape) @ x) ** 2).sum())(
            data
        )

    count, text = calls(lambda s, x: s @ x, s, x)
    assert count == 1 and f"{s.nse}x48" not in text
    count, text = calls(gradient, s.data, x)
    assert count == 2 and f"{s.nse}x48" not in text


def test_others_keep_the_lowering_of_jax():
    dense = matrix(6, 5)
    x = np.arange(10).reshape(5, 2)
    batched = sparse.BCOO.fromdense(np.stack([dense, 2 * dense]), n_batch=1)
    right = np.ones((2, 5, 3), np.float32)
    many = jax.jit(
        lambda s, x: sparse.bcoo_dot_general(s, x, dimension_numbers=(([2], [1]), ([0], [0])))
    )
    close(many(batched, right), np.stack([dense, 2 * dense]) @ right)
    whole = sparse.BCOO.fromdense((dense * 4).astype(np.int32))
    close(jax.jit(lambda s, x: s @ x)(whole, x), (dense * 4).astype(np.int32) @ x)
    half = sparse.BCOO.fromdense(dense.astype(jnp.bfloat16))
    assert jax.jit(lambda s, x: s @ x)(half, x.astype(jnp.bfloat16)).dtype == jnp.bfloat16


def test_export():
    """Programs that are kept may hold the calls."""
    from jax import export

    dense = matrix(9, 8)
    s = sparse.BCOO.fromdense(dense)
    x = jnp.ones((8, 3))
    product = jax.jit(lambda d, i, x: sparse.BCOO((d, i), shape=(9, 8)) @ x)
    exported = export.export(product, platforms=["alula"])(s.data, s.indices, x)
    assert "@alula.sparse_product" in exported.mlir_module()
    close(exported.call(s.data, s.indices, x), dense @ np.ones((8, 3)))
