"""Products of BCOO and BCSR on the platform `alula`: one custom call each, without
JAX's array of nonzeros times columns. What the calls don't do (batches, dense
dimensions, other types) keeps JAX's own lowering."""

from functools import partial


def _make_primitives():
    from jax._src import core
    from jax._src.interpreters import mlir

    from .lowering import _call

    product = core.Primitive("alula_sparse_product")
    sampled = core.Primitive("alula_sparse_sampled")
    product.def_abstract_eval(
        lambda values, indices, b, *, rows, transposed: core.ShapedArray(
            (rows, b.shape[1]), b.dtype
        )
    )
    sampled.def_abstract_eval(lambda a, b, indices: core.ShapedArray((indices.shape[0],), a.dtype))

    def lower_product(ctx, values, indices, b, *, rows, transposed):
        return _call(
            ctx, "sparse_product", [values, indices, b], ctx.avals_out, transposed=transposed
        )

    def lower_sampled(ctx, a, b, indices):
        return _call(ctx, "sparse_sampled", [a, b, indices], ctx.avals_out)

    mlir.register_lowering(product, lower_product)
    mlir.register_lowering(sampled, lower_sampled)
    return product, sampled


def _is_listed(indices):
    """Pairs of i32, without batches."""
    return indices.ndim == 2 and indices.shape[1] == 2 and indices.dtype == "int32"


def _dot_general(product, otherwise, data, indices, rhs, *, dimension_numbers, preferred_element_type, lhs_spinfo):  # fmt: skip
    import jax.numpy as jnp
    from jax import lax

    (contracted, of_rhs), (batch, _) = dimension_numbers
    out_type = preferred_element_type or jnp.result_type(data.dtype, rhs.dtype)
    if not (
        _is_listed(indices)
        and data.ndim == 1
        and not batch
        and len(contracted) == 1
        and rhs.ndim in (1, 2)
        and out_type in ("float32", "float64")
        and jnp.result_type(data.dtype, rhs.dtype) == out_type
    ):
        return otherwise(
            data, indices, rhs, dimension_numbers=dimension_numbers,
            preferred_element_type=preferred_element_type, lhs_spinfo=lhs_spinfo,
        )  # fmt: skip
    dense = rhs.astype(out_type)
    dense = dense[:, None] if rhs.ndim == 1 else dense.T if of_rhs[0] == 1 else dense
    result = product.bind(
        data.astype(out_type), indices, dense, rows=lhs_spinfo.shape[1 - contracted[0]],
        transposed=contracted[0] == 0,
    )  # fmt: skip
    return lax.squeeze(result, (1,)) if rhs.ndim == 1 else result


def _sampled(sampled, otherwise, a, b, indices, *, dimension_numbers):
    (of_a, of_b), (batch, _) = dimension_numbers
    if not (
        _is_listed(indices)
        and not batch
        and len(of_a) == 1
        and a.ndim == b.ndim == 2
        and a.dtype == b.dtype
        and a.dtype in ("float32", "float64")
    ):
        return otherwise(a, b, indices, dimension_numbers=dimension_numbers)
    return sampled.bind(a.T if of_a[0] == 0 else a, b.T if of_b[0] == 0 else b, indices)


def _bcsr_dot_general(rule, to_bcoo, data, indices, indptr, rhs, *, lhs_spinfo, **parameters):
    listed = to_bcoo(indices, indptr, shape=lhs_spinfo.shape)
    return rule(data, listed, rhs, lhs_spinfo=lhs_spinfo, **parameters)


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
    from jax.experimental.sparse import bcoo, bcsr

    product, sampled = _make_primitives()
    rule = partial(_dot_general, product, bcoo._bcoo_dot_general_impl)
    rules = {
        bcoo.bcoo_dot_general_p: rule,
        bcoo.bcoo_dot_general_sampled_p: partial(
            _sampled, sampled, bcoo._bcoo_dot_general_sampled_impl
        ),
        bcsr.bcsr_dot_general_p: partial(_bcsr_dot_general, rule, bcsr._bcsr_to_bcoo),
    }
    # They mean the same in every version.
    stable = getattr(export, "_CUSTOM_CALL_TARGETS_GUARANTEED_STABLE", None)
    if stable is not None:
        stable.update({"alula.sparse_product", "alula.sparse_sampled"})
    for primitive, impl in rules.items():
        lowering = mlir.lower_fun(impl, multiple_results=False)
        mlir.register_lowering(primitive, lowering, platform=platform)
