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


def test_batches():
    """A batch of the product, matrices that meet one dense one, and both; the dense
    one with several dimensions or none."""
    dense = np.stack([matrix(6, 5, seed) for seed in range(6)]).reshape(2, 3, 6, 5)
    s = sparse.BCOO.fromdense(dense, n_batch=2)
    rows = sparse.BCSR.from_bcoo(s.update_layout(n_batch=2))
    random = np.random.RandomState(0)
    for numbers, shape, subscripts in [
        ((([3], [2]), ([0, 1], [0, 1])), (2, 3, 5, 4), "abmk,abkn->abmn"),
        ((([3], [2]), ([1], [0])), (3, 4, 5), "abmk,bnk->bamn"),
        ((([3], [0]), ([], [])), (5, 4), "abmk,kn->abmn"),
        ((([3], [0]), ([], [])), (5,), "abmk,k->abm"),
        ((([2], [1]), ([0], [0])), (2, 6, 2, 3), "abmk,amxy->abkxy"),
    ]:
        right = random.randn(*shape).astype(np.float32)
        exact = np.einsum(subscripts, dense, right)
        for a, function in [(s, sparse.bcoo_dot_general), (rows, sparse.bcsr_dot_general)]:
            multiply = jax.jit(lambda s, x, f=function, n=numbers: f(s, x, dimension_numbers=n))
            close(multiply(a, right), exact)
            text = multiply.lower(a, right).as_text()
            assert text.count("@alula.sparse_") == 1


def test_gradients_of_batches():
    dense = np.stack([matrix(6, 5, seed) for seed in range(3)])
    s = sparse.BCOO.fromdense(dense, n_batch=1)
    x = np.random.RandomState(1).randn(3, 5, 4).astype(np.float32)
    weights = np.random.RandomState(2).randn(3, 6, 4).astype(np.float32)
    numbers = (([2], [1]), ([0], [0]))

    def loss(data, x):
        listed = sparse.BCOO((data, s.indices), shape=s.shape)
        return (weights * sparse.bcoo_dot_general(listed, x, dimension_numbers=numbers)).sum()

    gradient = jax.jit(jax.grad(loss, (0, 1)))
    of_data, of_x = gradient(s.data, x)
    close(of_x, dense.transpose(0, 2, 1) @ weights)
    for batch, (i, j) in enumerate(np.asarray(s.indices).transpose(0, 2, 1)):
        inside = (i < 6) & (j < 5)
        close(of_data[batch][inside], (weights[batch][i[inside]] * x[batch][j[inside]]).sum(1))
    assert "@alula.sparse_sampled" in gradient.lower(s.data, x).as_text()


def test_coo_and_csr():
    from jax.experimental.sparse import COO, CSR

    dense = matrix(37, 53)
    x = np.random.RandomState(1).randn(53, 7).astype(np.float32)
    y = np.random.RandomState(2).randn(37, 7).astype(np.float32)
    for kind in (COO, CSR):
        s = kind.fromdense(dense, nse=(dense != 0).sum() + 4)
        for part in (lambda x: x, lambda x: x[:, 0]):
            multiply = jax.jit(lambda s, x: s @ x)
            close(multiply(s, part(x)), dense @ part(x))
            assert multiply.lower(s, part(x)).as_text().count("@alula.sparse_") == 1
            close(jax.jit(lambda s, y: s.T @ y)(s, part(y)), dense.T @ part(y))
    gradient = jax.jit(jax.grad(lambda s, x: (y * (s @ x)).sum(), 1))
    close(gradient(COO.fromdense(dense), x), dense.T @ y)


def test_columns_that_are_none_of_coo_are_the_last_one():
    """As XLA:CPU has it: gathers of these classes stop at the end."""
    from jax.experimental.sparse import COO, CSR

    data = jnp.array([1.0, 2, 4])
    row, col = jnp.array([0, 1, 9], jnp.int32), jnp.array([7, -1, 0], jnp.int32)
    x = np.arange(1, 5, dtype=np.float32)
    close(jax.jit(lambda s, x: s @ x)(COO((data, row, col), shape=(3, 4)), x), [4, 8, 0])
    starts = jnp.array([0, 1, 2, 2], jnp.int32)
    close(jax.jit(lambda s, x: s @ x)(CSR((data, col, starts), shape=(3, 4)), x), [4, 8, 0])


def test_orders_and_sizes_of_threads():
    """As many elements as several threads share, in order and not, one column and
    many; one row has most of them."""
    dense = matrix(300, 200, density=0.2)
    dense[7] = 1
    coo = sparse.BCOO.fromdense(dense)
    random = np.random.RandomState(3)
    shuffled = random.permutation(coo.nse)
    unordered = sparse.BCOO((coo.data[shuffled], coo.indices[shuffled]), shape=coo.shape)
    for width in (1, 3, 64, 130):
        x = random.randn(200, width).astype(np.float32)
        y = random.randn(300, width).astype(np.float32)
        for s in (coo, unordered, sparse.BCSR.from_bcoo(coo)):
            close(jax.jit(lambda s, x: s @ x)(s, x), dense @ x)
        close(jax.jit(lambda s, y: s.T @ y)(coo, y), dense.T @ y)
    with jax.enable_x64(True):
        whole = sparse.BCOO.fromdense(dense.astype(np.float64))
        x = random.randn(200, 11)
        np.testing.assert_allclose(jax.jit(lambda s, x: s @ x)(whole, x), dense @ x, atol=1e-12)


def test_in_a_loop():
    """Where kernels hold loops and where the host does."""
    dense = matrix(40, 40) / 8
    s = sparse.BCOO.fromdense(dense)
    x = np.random.RandomState(1).randn(40).astype(np.float32)
    power = jax.jit(lambda s, x: jax.lax.fori_loop(0, 5, lambda _, x: s @ x, x))
    close(power(s, x), np.linalg.matrix_power(dense, 5) @ x)


def test_others_keep_the_lowering_of_jax():
    dense = matrix(6, 5)
    x = np.arange(10).reshape(5, 2)
    wide = sparse.BCOO.fromdense(np.stack([dense, 2 * dense], 2), n_dense=1)
    blocks = jax.jit(
        lambda s, x: sparse.bcoo_dot_general(s, x, dimension_numbers=(([1], [0]), ([], [])))
    )
    close(blocks(wide, np.ones((5, 3), np.float32)),
          np.einsum("mkd,kn->mdn", np.stack([dense, 2 * dense], 2), np.ones((5, 3))))  # fmt: skip
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


def test_solve():
    from jax.experimental.sparse.linalg import spsolve

    dense = matrix(12, 12) + 5 * np.eye(12, dtype=np.float32)
    s = sparse.BCSR.fromdense(dense)
    b = np.arange(12, dtype=np.float32)
    solve = jax.jit(lambda data, b: spsolve(data, s.indices, s.indptr, b))
    close(solve(s.data, b), np.linalg.solve(dense, b))
    gradient = jax.grad(lambda b: solve(s.data, b).sum())(b)
    close(gradient, np.linalg.solve(dense.T, np.ones(12)))
