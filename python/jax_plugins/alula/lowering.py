"""Lowering rules of the platform `alula`: dense linear algebra as custom calls
named `alula.<function>`, which the compiler maps to its own kernel library. The
README beside this file is the contract."""


def _call(ctx, name, operands, avals_out, **flags):
    """A custom call with row-major operands and results and flags."""
    from jax._src import core
    from jax._src.interpreters import mlir

    types, _ = mlir.ir_tree_registry.flatten(
        [mlir.aval_to_ir_types(ctx.module_context, aval) for aval in avals_out]
    )
    shapes = None
    if any(not core.is_constant_shape(aval.shape) for aval in avals_out):
        shapes = [mlir.eval_dynamic_shape_as_tensor(ctx, aval.shape) for aval in avals_out]
    op = mlir.custom_call(
        "alula." + name,
        result_types=types,
        operands=operands,
        backend_config={key: mlir.ir_attribute(bool(value)) for key, value in flags.items()},
        result_shapes=shapes,
        api_version=4,
    )
    return list(op.results)


def _eigh(ctx, a, *, lower, sort_eigenvalues, subset_by_index, algorithm):
    (aval,) = ctx.avals_in
    n = aval.shape[-1]
    if subset_by_index is not None and subset_by_index != (0, n):
        raise NotImplementedError("subset_by_index not supported on alula")
    # Eigenvalues are always sorted. `algorithm` asks for a way, not for other
    # results: there is one way, which serves all.
    return _call(ctx, "eigh", [a], ctx.avals_out, lower=lower)


def _eig(ctx, a, *, compute_left_eigenvectors, compute_right_eigenvectors, **_):
    return _call(
        ctx,
        "eig",
        [a],
        ctx.avals_out,
        left=compute_left_eigenvectors,
        right=compute_right_eigenvectors,
    )


def _svd(ctx, a, *, full_matrices, compute_uv, subset_by_index, algorithm=None):
    from jax._src.interpreters import mlir
    from jax._src.lax import linalg

    (aval,) = ctx.avals_in
    m, n = aval.shape[-2:]
    if subset_by_index is not None and subset_by_index != (0, min(m, n)):
        raise NotImplementedError("subset_by_index not implemented for alula")
    if algorithm in (linalg.SvdAlgorithm.JACOBI, linalg.SvdAlgorithm.POLAR):
        raise NotImplementedError(
            "The SVD Jacobi and Polar algorithms are not implemented on alula."
        )
    if m == 0 or n == 0:
        rule = mlir.lower_fun(linalg._empty_svd, multiple_results=True)
        return rule(ctx, a, full_matrices=full_matrices, compute_uv=compute_uv)
    return _call(ctx, "svd", [a], ctx.avals_out, full_matrices=full_matrices, compute_uv=compute_uv)


# Up to this size Schur forms are those of XLA:CPU, element by element: ADR 96.
MOST_ROWS_OF_LAPACK = 100


def _find_lapack_rule(ctx):
    """JAX's rule for XLA:CPU, which calls jaxlib's LAPACK, where a program stays
    with Python and the function is the better one; else None."""
    from jax._src import core
    from jax._src.lax import linalg

    (aval,) = ctx.avals_in
    context = ctx.module_context
    if (
        tuple(context.platforms) != ("alula",)
        or context.lowering_parameters.for_export
        or not core.is_constant_shape(aval.shape)
        or aval.shape[-1] > MOST_ROWS_OF_LAPACK
        or 0 in aval.shape
    ):
        return None
    return getattr(linalg, "_schur_cpu_lowering", None)


def _schur(ctx, a, **options):
    rule = _find_lapack_rule(ctx) or _our_schur
    return rule(ctx, a, **options)


def _our_schur(ctx, a, *, compute_schur_vectors, sort_eig_vals, select_callable):
    if sort_eig_vals:
        raise NotImplementedError("sorted Schur forms are not supported on alula")
    return _call(ctx, "schur", [a], ctx.avals_out, vectors=compute_schur_vectors)


def _hessenberg(ctx, a):
    return _call(ctx, "hessenberg", [a], ctx.avals_out)


def _tridiagonal(ctx, a, *, lower):
    return _call(ctx, "tridiagonal", [a], ctx.avals_out, lower=lower)


def _lu(ctx, a):
    return _call(ctx, "lu", [a], ctx.avals_out)


def _lu_pivots_to_permutation(ctx, pivots, *, permutation_size):
    return _call(ctx, "lu_pivots_to_permutation", [pivots], ctx.avals_out)


def _geqrf(ctx, a):
    return _call(ctx, "geqrf", [a], ctx.avals_out)


def _geqp3(ctx, a, fixed, *, use_magma=None):
    return _call(ctx, "geqp3", [a, fixed], ctx.avals_out)


def _householder_product(ctx, a, taus):
    return _call(ctx, "householder_product", [a, taus], ctx.avals_out)


def _ormqr(ctx, a, taus, c, *, left, transpose):
    return _call(ctx, "ormqr", [a, taus, c], ctx.avals_out, left=left, adjoint=transpose)


def _tridiagonal_solve(ctx, dl, d, du, b, *, perturb_singular=False):
    return _call(ctx, "tridiagonal_solve", [dl, d, du, b], ctx.avals_out, perturb=perturb_singular)


def _ragged_dot_general(
    ctx,
    lhs,
    rhs,
    group_sizes,
    *,
    ragged_dot_dimension_numbers,
    precision,
    preferred_element_type,
    group_offset=None,
    out_sharding=None,
):
    """A call with the dimensions of `chlo.ragged_dot`: the op itself would be spelled out
    in products of all rows before a plugin sees it. What the call can't say is left to
    JAX's own lowering."""
    import numpy as np
    from jax._src import core
    from jax._src.interpreters import mlir
    from jax._src.lax import lax

    is_plain = (
        group_offset is None
        and out_sharding is None
        and lhs.type.element_type == rhs.type.element_type
        and all(core.is_constant_shape(aval.shape) for aval in ctx.avals_in)
        and np.issubdtype(ctx.avals_in[2].dtype, np.integer)
        and not isinstance(precision, lax.DotAlgorithm | lax.DotAlgorithmPreset)
    )
    if not is_plain:
        rule = mlir.lower_fun(lax._ragged_dot_general_impl, multiple_results=False)
        return rule(
            ctx,
            lhs,
            rhs,
            group_sizes,
            ragged_dot_dimension_numbers=ragged_dot_dimension_numbers,
            precision=precision,
            preferred_element_type=preferred_element_type,
            group_offset=group_offset,
            out_sharding=out_sharding,
        )
    numbers = ragged_dot_dimension_numbers
    contracting, batching = numbers.dot_dimension_numbers
    dims = {
        "lhs_batching_dimensions": batching[0],
        "rhs_batching_dimensions": batching[1],
        "lhs_contracting_dimensions": contracting[0],
        "rhs_contracting_dimensions": contracting[1],
        "lhs_ragged_dimensions": numbers.lhs_ragged_dimensions,
        "rhs_group_dimensions": numbers.rhs_group_dimensions,
    }
    config = {key: mlir.dense_int_array(value) for key, value in dims.items()}
    # More than the default, which options of the compiler may round.
    sides = precision if isinstance(precision, tuple) else (precision,)
    is_exact = any(side not in (None, lax.Precision.DEFAULT) for side in sides)
    config["exact"] = mlir.ir_attribute(is_exact)
    op = mlir.custom_call(
        "alula.ragged_dot",
        result_types=[mlir.aval_to_ir_type(ctx.module_context, ctx.avals_out[0])],
        operands=[lhs, rhs, group_sizes],
        backend_config=config,
        api_version=4,
    )
    return [mlir.lower_with_sharding_in_types(ctx, op.result, ctx.avals_out[0])]


RULES = {
    "eigh_p": _eigh,
    "eig_p": _eig,
    "svd_p": _svd,
    "schur_p": _schur,
    "hessenberg_p": _hessenberg,
    "tridiagonal_p": _tridiagonal,
    "lu_p": _lu,
    "lu_pivots_to_permutation_p": _lu_pivots_to_permutation,
    "geqrf_p": _geqrf,
    "geqp3_p": _geqp3,
    "householder_product_p": _householder_product,
    "ormqr_p": _ormqr,
    "tridiagonal_solve_p": _tridiagonal_solve,
}


def make_portable_parameters():
    """For `lower`: programs that run where there is no Python call nothing of
    jaxlib's."""
    from jax._src.interpreters import mlir
    from jax._src.lax import linalg

    return mlir.LoweringParameters(override_lowering_rules=((linalg.schur_p, _our_schur),))


def register(platform: str = "alula") -> None:
    import jax._src.export._export as export
    from jax._src.interpreters import mlir
    from jax._src.lax import lax, linalg

    for name, rule in RULES.items():
        # Another version of JAX may lack one.
        primitive = getattr(linalg, name, None)
        if primitive is not None:
            mlir.register_lowering(primitive, rule, platform=platform)
    # Tensor cores are faster with all groups at once, as JAX's own lowering has them.
    ragged = getattr(lax, "ragged_dot_general_p", None)
    if ragged is not None and platform == "alula":
        mlir.register_lowering(ragged, _ragged_dot_general, platform=platform)
    if platform not in mlir._platforms_with_donation:
        mlir._platforms_with_donation.append(platform)
    # Kernels of ours in an exported program mean the same in every version.
    stable = getattr(export, "_CUSTOM_CALL_TARGETS_GUARANTEED_STABLE", None)
    if stable is not None:
        stable.update("alula." + name.removesuffix("_p") for name in RULES)
        stable.add("alula.ragged_dot")
