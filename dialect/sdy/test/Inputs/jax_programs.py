"""Lowers sharded programs with JAX and sends them through alula-opt."""

import os
import subprocess

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
from jax import lax, shard_map
from jax._src.interpreters import mlir
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
from jaxlib.mlir import ir

auto = jax.make_mesh((2, 4), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
cube = jax.make_mesh((2, 2, 2), ("a", "b", "c"), axis_types=(AxisType.Auto,) * 3)
explicit = jax.make_mesh((2, 4), ("x", "y"), axis_types=(AxisType.Explicit,) * 2)


def array(*shape, spec=None, mesh=auto, dtype=jnp.float32):
    sharding = None if spec is None else NamedSharding(mesh, spec)
    return jax.ShapeDtypeStruct(shape, dtype, sharding=sharding)


def mapped(body, inputs, outputs, mesh=auto, **options):
    return shard_map(body, mesh=mesh, in_specs=inputs, out_specs=outputs, **options)


def inner(a):
    total = shard_map(lambda b: lax.psum(b, "b"), in_specs=P("b", None),
                      out_specs=P(), axis_names={"b"})
    return total(lax.psum(a, "a"))


ring = [(i, (i + 1) % 4) for i in range(4)]
square = array(8, 8)
PROGRAMS = {
    "psum": (mapped(lambda a: lax.psum(a, "x"), P("x", "y"), P(None, "y")), square),
    "all_gather": (mapped(lambda a: lax.all_gather(a, "x", tiled=True), P("x", "y"),
                          P(None, "y"), check_vma=False), square),
    "psum_scatter": (mapped(lambda a: lax.psum_scatter(a, "y", tiled=True), P("x", None),
                            P(("x", "y"), None)), array(32, 8)),
    "all_to_all": (mapped(lambda a: lax.all_to_all(a, "x", 1, 0, tiled=True),
                          P("x", "y"), P("x", "y")), square),
    "ppermute": (mapped(lambda a: lax.ppermute(a, "y", ring), P("x", "y"), P("x", "y")),
                 square),
    "some_axes": (mapped(lambda a: lax.psum(a * 2, "a"), P("a", None), P(None, None),
                         cube, axis_names={"a"}), square),
    "nested": (mapped(inner, P("a", None), P(None, None), cube, axis_names={"a"}), square),
    "constraint": (lambda a: lax.with_sharding_constraint(
        a @ a.T, NamedSharding(auto, P("x", "y"))), array(8, 8, spec=P("x", None))),
    "open": (lambda a: lax.with_sharding_constraint(
        a + 1, NamedSharding(auto, P(P.UNCONSTRAINED, "y"))),
        array(8, 8, spec=P(("x", "y"), None))),
    "loop": (mapped(lambda a: lax.fori_loop(0, 3, lambda i, c: lax.psum(c, "y") / 4, a),
                    P("x", "y"), P("x", "y"), check_vma=False), square),
    "gradient": (jax.grad(lambda a: mapped(
        lambda b: lax.psum(jnp.sin(b).sum(), ("x", "y")), P("x", "y"), P())(a)), square),
    "several": (mapped(lambda a, b, c: (a + b, c), (P("x"), P("x"), P()), (P("x"), P())),
                array(8), array(8), array(dtype=jnp.int32)),
    "explicit": (lambda a: a * 2 + jax.sharding.reshard(a, P("x", "y")),
                 array(8, 8, spec=P("x", "y"), mesh=explicit)),
    "unreduced": (lambda a, b: jax.sharding.reshard(
        jnp.einsum("ij,jk->ik", a, b, out_sharding=P("x", None, unreduced={"y"})),
        P("x", None)),
        array(8, 8, spec=P("x", "y"), mesh=explicit),
        array(8, 8, spec=P("y", None), mesh=explicit)),
}


def printed(module, generic=False):
    return module.operation.get_asm(enable_debug_info=True, print_generic_op_form=generic)


def main():
    context = mlir.make_ir_context()
    differing = 0
    for name, (function, *arguments) in PROGRAMS.items():
        sharded = [a.sharding for a in arguments if a.sharding is not None]
        mesh = explicit if any(s.mesh == explicit for s in sharded) else None
        with jax.set_mesh(mesh) if mesh is not None else jax.default_device(None):
            lowered = jax.jit(function).lower(*arguments)
        text = lowered.compiler_ir("stablehlo")
        for generic in (False, True):
            ours = subprocess.run(["alula-opt", "-"], input=printed(text, generic),
                                  capture_output=True, text=True)
            with context:
                same = ours.returncode == 0 and (
                    ir.Module.parse(ours.stdout).operation.get_asm()
                    == text.operation.get_asm())
            if not same:
                differing += 1
                print(name, "generic" if generic else "pretty", ours.stderr[:500])
    print(differing, "programs differ")


main()
