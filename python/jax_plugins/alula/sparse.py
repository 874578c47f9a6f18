"""Products of JAX's sparse matrices on the platform `alula`: one custom call each,
without JAX's array of nonzeros times columns. What the calls don't do (dense
dimensions, more than two sparse ones, other types) keeps JAX's own lowering."""

from functools import partial
from math import prod


class _Primitives:
    """One for each call."""

    def __init__(self):
        self.product = self._make(
            "sparse_product",
            lambda values, indices, b, *, rows, **_: (*b.shape[:-2], rows, b.shape[-1]),
        )
        self.rows_product = self._make(
            "sparse_rows_product",
            lambda values, starts, columns, b, *, rows: (*b.shape[:-2], rows, b.shape[-1]),
        )
        self.sampled = self._make("sparse_sampled", lambda a, b, indices: indices.shape[:-1])

    @staticmethod
    def _make(name, get_shape):
        from jax._src import core
        from jax._src.interpreters import mlir

        from .lowering import _call

        primitive = core.Primitive("alula_" + name)
        primitive.def_abstract_eval(
            lambda *avals, **flags: core.ShapedArray(get_shape(*avals, **flags), avals[0].dtype)
        )

        def lower(ctx, *operands, rows=None, **flags):
            return _call(ctx, name, list(operands), ctx.avals_out, **flags)

        mlir.register_lowering(primitive, lower)
        return primitive


_TYPES = ("float32", "float64")


def _arrange(data, rhs, dimension_numbers, preferred_element_type, shape):
    """Of a product with matrices of two sparse dimensions: how what is a batch is laid
    out, `rhs` as a batch of matrices, and what makes the product's result of
    theirs. None if it is none of two dimensions."""
    import jax.numpy as jnp

    (contracted, of_rhs), (batch, batch_of_rhs) = dimension_numbers
    n_batch = len(shape) - 2
    out_type = preferred_element_type or jnp.result_type(data.dtype, rhs.dtype)
    if not (
        data.ndim == n_batch + 1
        and len(contracted) == 1
        and contracted[0] >= n_batch
        and out_type in _TYPES
        and jnp.result_type(data.dtype, rhs.dtype) == out_type
    ):
        return None
    free = [d for d in range(n_batch) if d not in batch]
    order = [*batch, *free]
    sizes = [shape[d] for d in order]

    def lay(array):
        """Batches first, all of them."""
        rest = range(n_batch, array.ndim)
        array = array.transpose([*order, *rest])
        return jnp.broadcast_to(array, (*sizes, *array.shape[n_batch:]))

    others = [d for d in range(rhs.ndim) if d not in batch_of_rhs and d not in of_rhs]
    dense = rhs.astype(out_type).transpose([*batch_of_rhs, *of_rhs, *others])
    outer = dense.shape[len(batch) + 1 :]
    dense = dense.reshape(
        *dense.shape[: len(batch)], *[1] * len(free), dense.shape[len(batch)], prod(outer)
    )
    dense = jnp.broadcast_to(dense, (*sizes, *dense.shape[-2:]))

    def finish(result):
        return result if len(outer) == 1 else result.reshape(*result.shape[:-1], *outer)

    return lay, lay(data.astype(out_type)), dense, finish


def _bcoo_dot_general(primitives, otherwise, data, indices, rhs, *, dimension_numbers, preferred_element_type, lhs_spinfo):  # fmt: skip
    shape = lhs_spinfo.shape
    arranged = None
    if indices.shape[-1] == 2 and indices.dtype == "int32" and indices.ndim == len(shape):
        arranged = _arrange(data, rhs, dimension_numbers, preferred_element_type, shape)
    if arranged is None:
        return otherwise(
            data, indices, rhs, dimension_numbers=dimension_numbers,
            preferred_element_type=preferred_element_type, lhs_spinfo=lhs_spinfo,
        )  # fmt: skip
    lay, values, dense, finish = arranged
    transposed = dimension_numbers[0][0][0] == len(shape) - 2
    result = primitives.product.bind(
        values, lay(indices), dense, rows=shape[-1 if transposed else -2], transposed=transposed
    )
    return finish(result)


def _bcsr_dot_general(primitives, by_list, to_bcoo, data, indices, indptr, rhs, *, lhs_spinfo, **parameters):  # fmt: skip
    shape = lhs_spinfo.shape
    (contracted, _), _ = parameters["dimension_numbers"]
    arranged = None
    if contracted == (len(shape) - 1,) and indices.dtype == indptr.dtype == "int32":
        arranged = _arrange(data, rhs, shape=shape, **parameters)
    if arranged is None:
        listed = to_bcoo(indices, indptr, shape=shape)
        return by_list(data, listed, rhs, lhs_spinfo=lhs_spinfo, **parameters)
    lay, values, dense, finish = arranged
    return finish(
        primitives.rows_product.bind(values, lay(indptr), lay(indices), dense, rows=shape[-2])
    )


def _sampled(primitives, otherwise, a, b, indices, *, dimension_numbers):
    (of_a, of_b), (batch_of_a, batch_of_b) = dimension_numbers
    n_batch = indices.ndim - 2
    if not (
        indices.shape[-1] == 2
        and indices.dtype == "int32"
        and len(of_a) == 1
        and len(batch_of_a) == n_batch
        and a.ndim == b.ndim == n_batch + 2
        and all(a.shape[d] == size for d, size in zip(batch_of_a, indices.shape))
        and a.dtype == b.dtype
        and a.dtype in _TYPES
    ):
        return otherwise(a, b, indices, dimension_numbers=dimension_numbers)

    def arrange(x, batch, inner):
        rows = [d for d in range(x.ndim) if d not in batch and d not in inner]
        return x.transpose([*batch, *rows, *inner])

    return primitives.sampled.bind(
        arrange(a, batch_of_a, of_a), arrange(b, batch_of_b, of_b), indices
    )


def _coo_product(primitives, otherwise, data, row, col, b, *, spinfo, transpose):
    import jax.numpy as jnp

    if not (_is_plain(data, b) and row.dtype == col.dtype == "int32"):
        return otherwise(data, row, col, b, spinfo=spinfo, transpose=transpose)
    if transpose:
        row, col = col, row
    dense = b[:, None] if b.ndim == 1 else b
    indices = jnp.stack([row, _nearest(col, b.shape[0])], 1)
    rows = spinfo.shape[1 if transpose else 0]
    result = primitives.product.bind(data, indices, dense, rows=rows, transposed=False)
    return result[:, 0] if b.ndim == 1 else result


def _csr_product(primitives, otherwise, data, indices, indptr, b, *, shape, transpose):
    if transpose or not (_is_plain(data, b) and indices.dtype == indptr.dtype == "int32"):
        # A list of pairs.
        return otherwise(data, indices, indptr, b, shape=shape, transpose=transpose)
    dense = b[:, None] if b.ndim == 1 else b
    columns = _nearest(indices, b.shape[0])
    result = primitives.rows_product.bind(data, indptr, columns, dense, rows=shape[0])
    return result[:, 0] if b.ndim == 1 else result


def _is_plain(data, b):
    return data.ndim == 1 and data.dtype == b.dtype and data.dtype in _TYPES and b.shape[0] > 0


def _solve(data, indices, indptr, b, *, tol, reorder):
    """By SciPy, as JAX does it on a CPU."""
    import jax

    def solve(data, indices, indptr, b):
        import numpy as np
        from scipy.sparse import csr_matrix, linalg

        b = np.asarray(b)
        matrix = csr_matrix(tuple(map(np.asarray, (data, indices, indptr))), shape=(b.size, b.size))
        return linalg.spsolve(matrix, b).astype(b.dtype)

    like = jax.ShapeDtypeStruct(b.shape, b.dtype)
    return jax.pure_callback(solve, like, data, indices, indptr, b)


def _nearest(columns, size):
    """These classes read the last row of what is too short, not zeros."""
    import jax.numpy as jnp

    return jnp.clip(jnp.where(columns < 0, columns + size, columns), 0, size - 1)


def register(platform: str) -> None:
    """When jax.experimental.sparse is imported, which takes long, or at once if it
    has been."""
    import sys

    name = "jax.experimental.sparse"
    if name in sys.modules:
        return _register(platform)
    sys.meta_path.insert(0, _AfterImport(name, partial(_register, platform)))


class _AfterImport:
    """A finder that leaves the work to the others and then calls back, once."""

    def __init__(self, name, callback):
        self.name, self.callback = name, callback

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        import importlib.util
        import sys

        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        run = spec.loader.exec_module

        def run_and_register(module):
            run(module)
            self.callback()

        spec.loader.exec_module = run_and_register
        return spec


def _register(platform: str) -> None:
    import jax._src.export._export as export
    from jax._src.interpreters import mlir
    from jax.experimental.sparse import bcoo, bcsr, coo, csr, linalg

    primitives = _Primitives()
    by_list = partial(_bcoo_dot_general, primitives, bcoo._bcoo_dot_general_impl)
    rules = {
        bcoo.bcoo_dot_general_p: by_list,
        bcoo.bcoo_dot_general_sampled_p: partial(
            _sampled, primitives, bcoo._bcoo_dot_general_sampled_impl
        ),
        bcsr.bcsr_dot_general_p: partial(
            _bcsr_dot_general, primitives, by_list, bcsr._bcsr_to_bcoo
        ),
        coo.coo_matvec_p: partial(_coo_product, primitives, coo._coo_matvec_impl),
        coo.coo_matmat_p: partial(_coo_product, primitives, coo._coo_matmat_impl),
        csr.csr_matvec_p: partial(_csr_product, primitives, csr._csr_matvec_impl),
        csr.csr_matmat_p: partial(_csr_product, primitives, csr._csr_matmat_impl),
        linalg.spsolve_p: _solve,
    }
    # They mean the same in every version.
    stable = getattr(export, "_CUSTOM_CALL_TARGETS_GUARANTEED_STABLE", None)
    if stable is not None:
        stable.update({"alula.sparse_product", "alula.sparse_rows_product", "alula.sparse_sampled"})
    for primitive, impl in rules.items():
        lowering = mlir.lower_fun(impl, multiple_results=False)
        mlir.register_lowering(primitive, lowering, platform=platform)
