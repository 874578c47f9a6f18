"""Programs that JAX exports with sizes that are not known, compiled once without
refinement and run at several sizes: they must give what JAX gives."""

import os
import pathlib
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "jax")]

import jax
import numpy as np
import pytest
from jax import export, lax
from jax import numpy as jnp

import alula_library

BUILD = HERE.parent.parent / os.environ.get("ALULA_BUILD", "build")

pytestmark = pytest.mark.skipif(
    not (BUILD / "lib/libalula_compiler.so").exists(), reason="the compiler is not built"
)


@pytest.fixture(scope="module")
def tools():
    return alula_library.Compiler(BUILD), alula_library.Runtime(BUILD)


RANDOM = np.random.RandomState(7)
W1, W2 = (RANDOM.standard_normal(s).astype(np.float32) for s in ((4, 32), (32, 3)))
KERNEL = RANDOM.standard_normal((3, 3, 2, 5)).astype(np.float32)


def mlp(x):
    return jnp.tanh(x @ W1) @ W2


def layer_norm(x):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)


def convolve(x):
    return lax.conv_general_dilated(
        x, KERNEL, (2, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def attention(q, k, v):
    scores = jnp.einsum("bqd,bkd->bqk", q, k) / np.sqrt(q.shape[-1]).astype(np.float32)
    return jnp.einsum("bqk,bkd->bqd", jax.nn.softmax(scores), v)


def power_iteration(a):
    def step(_, v):
        v = a @ v
        return v / (1 + jnp.abs(v).sum())

    return lax.fori_loop(0, 5, step, jnp.ones(a.shape[0], a.dtype))


def count_down(x):
    def body(state):
        n, x = state
        return n - 1, x * 0.5 + n

    return lax.while_loop(lambda s: s[0] > 0, body, (jnp.int32(x.shape[0]), x))[1]


def scan_rows(x):
    return lax.scan(lambda s, row: (s + row, s * row), jnp.zeros(x.shape[1]), x)


def branches(p, x):
    return lax.cond(p > 0, lambda: jnp.flip(x, 0) * 2, lambda: x + x.shape[0])


def windows(x):
    pooled = lax.reduce_window(x, -np.inf, lax.max, (1, 3), (1, 2), "SAME")
    return pooled, lax.reduce_window(x, 0.0, lax.add, (1, 2), (1, 1), "SAME")


def paired_windows(x):
    """Values and their columns, in windows as wide as there are rows."""

    def later(left, right):
        wins = right[0] > left[0]
        return lax.select(wins, right[0], left[0]), lax.select(wins, right[1], left[1])

    columns = lax.broadcasted_iota(jnp.int32, x.shape, 1)
    start = (jnp.float32(-np.inf), jnp.int32(-1))
    return lax.reduce_window((x, columns), start, later, (1, x.shape[0]), (1, 2), "VALID")


def wide_windows(x):
    """As wide as the rows are many, with gaps, and every other one."""
    rows, columns = x.shape
    holes = dict(window_dilation=(1, 2), padding=((2, 3), (1, 0)))
    return (
        lax.reduce_window(x, -np.inf, lax.max, (rows, columns // 2 + 1), (2, 3), **holes),
        lax.reduce_window(x, 0.0, lax.add, (rows + 4, 1), (1, 2), ((2, 3), (0, 0))),
    )


def running(x):
    return lax.cumsum(x, 0), lax.cummax(x, 1, reverse=True), lax.cumlogsumexp(x, 0)


def largest(x):
    return lax.top_k(x, x.shape[-1] - 1)


def update(x, row, i):
    return lax.dynamic_update_slice(x, row, (i, 0)), x.at[i].add(1.0)


def reshapes(x):
    rows, columns = x.shape
    return x.reshape(-1), x.T.reshape(columns // 2, 2 * rows), jnp.tile(x, (2, 1))


def edges(x):
    padded = jnp.pad(x, ((1, 2), (0, 0)), constant_values=7.0)
    return padded, x[1:], x[:-1], x[::2], jnp.concatenate([x, x[::-1]], 0)


def made(x):
    n = x.shape[0]
    return jnp.arange(n), jnp.eye(n, dtype=x.dtype), jnp.full((n, 2), 3), jnp.tri(n)


def sorts(x):
    return jnp.sort(x, 0), jnp.argsort(x, 0), jnp.argmax(x, 0), jnp.median(x, 0)


def indexed(table, ids):
    return table[ids], jnp.take_along_axis(table[ids], ids[:, None], 1), table.at[ids].set(0.0)


def scattered(x, ids):
    return jax.ops.segment_sum(x, ids, 5), jnp.bincount(ids, length=4)


def gradient(x):
    return jax.grad(lambda x: (jax.nn.gelu(x @ W1).sum(-1) ** 2).mean())(x)


def half(x):
    return (x.astype(jnp.bfloat16) @ W1.astype(jnp.bfloat16)).sum(0), x.astype(jnp.float16).sum(0)


def chosen(x, y):
    return jnp.where(x > y, x, y), jnp.clip(x, -1, 1), jnp.outer(x[:, 0], y[:, 0])


def random_bits(x):
    return jax.random.uniform(jax.random.PRNGKey(3), x.shape)


F, I, S = np.float32, np.int32, "scalar"
# Function, shapes of arguments with the names of their sizes, sizes to run with.
MANY = [{"b": b} for b in (1, 2, 3, 17, 64)]
PROGRAMS = {
    "mlp": (mlp, [("b, 4", F)], [{"b": 0}, *MANY, {"b": 1000}]),
    "columns": (
        lambda x: (x.sum(0), jnp.tanh(x.max(1)), x.sum((0, 1)), x.sum((0, 2))),
        [("a, b, c", F)],
        [{"a": a, "b": b, "c": c} for a, b, c in ((1, 1, 1), (9, 8, 3), (2, 17, 1100), (70, 9, 5))],
    ),
    "softmax": (
        jax.nn.softmax,
        [("b, n", F)],
        # Several workgroups; rows that are summed up in parts.
        [
            *({"b": b, "n": n} for b in (0, 1, 5) for n in (1, 33)),
            {"b": 3000, "n": 1100},
            {"b": 2, "n": 400_000},
        ],
    ),
    "rows_of_batches": (
        lambda x: jax.nn.softmax(x * 2, (2, 3)) + layer_norm(x),
        [("3, b, c, n", F)],
        [{"b": b, "c": c, "n": n} for b in (1, 6) for c in (1, 5) for n in (1, 130)],
    ),
    "unit_dims": (
        lambda x: jnp.transpose(jnp.tanh(x)[:, None, :, None], (2, 3, 0, 1)) * 2,
        [("b, 5", F)],
        MANY,
    ),
    "layer_norm": (layer_norm, [("b, n", F)], [{"b": b, "n": n} for b in (1, 5) for n in (1, 7, 130)]),
    "convolve": (
        convolve,
        [("b, h, 9, 2", F)],
        [{"b": b, "h": h} for b in (1, 3) for h in (1, 4, 9)],
    ),
    "attention": (
        attention,
        [("b, q, 8", F), ("b, k, 8", F), ("b, k, 8", F)],
        [{"b": 1, "q": 1, "k": 1}, {"b": 2, "q": 5, "k": 3}, {"b": 3, "q": 40, "k": 65}],
    ),
    "matmul": (
        jnp.matmul,
        [("m, k", F), ("k, n", F)],
        [{"m": m, "k": k, "n": n} for m in (1, 5) for k in (0, 1, 70) for n in (1, 33)],
    ),
    "power_iteration": (power_iteration, [("b, b", F)], MANY),
    "count_down": (count_down, [("b,", F)], MANY),
    "scan_rows": (scan_rows, [("b, 6", F)], MANY),
    "branches": (branches, [(S, I), ("b, 3", F)], MANY),
    "windows": (windows, [("b, n", F)], [{"b": b, "n": n} for b in (1, 4) for n in (1, 2, 11)]),
    "paired_windows": (
        paired_windows,
        [("b, b + n", F)],
        [{"b": b, "n": n} for b in (1, 3, 8) for n in (1, 10)],
    ),
    "wide_windows": (
        wide_windows,
        [("b, n", F)],
        [{"b": b, "n": n} for b in (1, 2, 7, 40) for n in (1, 4, 13)],
    ),
    "running": (
        running,
        [("b, n", F)],
        [*({"b": b, "n": n} for b in (1, 5, 30) for n in (1, 4)), {"b": 2000, "n": 3}],
    ),
    "largest": (largest, [("3, n", F)], [{"n": n} for n in (1, 2, 40)]),
    "approximate": (
        lambda x: lax.approx_max_k(x, 3) + lax.approx_min_k(x.T, x.shape[0], reduction_dimension=1),
        [("b, n+3", F)],
        [{"b": b, "n": n} for b, n in ((1, 1), (3, 7), (7, 40))],
    ),
    "transform": (
        lambda x: (jnp.fft.fft(x), jnp.fft.irfft(jnp.fft.rfft(x))),
        [("b, 12", F)],
        MANY,
    ),
    "update": (update, [("b, 3", F), ("1, 3", F), (S, I)], MANY),
    "reshapes": (reshapes, [("b, 2*n", F)], [{"b": b, "n": n} for b in (1, 5) for n in (1, 4)]),
    "edges": (edges, [("b, 3", F)], MANY),
    "made": (made, [("b,", F)], MANY),
    "sorts": (sorts, [("b, 3", F)], MANY),
    "indexed": (
        indexed,
        [("n, 6", F), ("b,", I)],
        [{"n": n, "b": b} for n in (6, 9) for b in (1, 4, 20)],
    ),
    "scattered": (scattered, [("b,", F), ("b,", I)], [{"b": 0}, *MANY]),
    "gradient": (gradient, [("b, 4", F)], MANY),
    "half": (half, [("b, 4", F)], MANY),
    "chosen": (chosen, [("b, 3", F), ("b, 3", F)], MANY),
    "random_bits": (random_bits, [("b, 5", F)], MANY),
    "reductions": (
        lambda x: (x.sum(), x.max(0), x.prod(1), jnp.any(x > 0, 0), jnp.linalg.norm(x)),
        [("b, n", F)],
        [{"b": b, "n": n} for b in (1, 2, 50) for n in (1, 3)],
    ),
    "stacked": (
        lambda x, y: (jnp.stack([x, x * 2]), jnp.concatenate([x, y]), jnp.repeat(x, 3)),
        [("b,", F), ("c,", F)],
        [{"b": b, "c": c} for b in (1, 4) for c in (1, 9)],
    ),
    "complex": (
        lambda x: (jnp.abs(x * (1 + 2j)), (x * 1j) @ (x * 1j).T),
        [("b, 3", F)],
        MANY,
    ),
    "triangular": (
        lambda a, b: lax.linalg.triangular_solve(a + 9 * jnp.eye(4), b, left_side=True, lower=True),
        [("4, 4", F), ("4, b", F)],
        MANY,
    ),
}


def arguments_of(shapes, sizes, seed):
    random = np.random.RandomState(seed)
    found = []
    for shape, kind in shapes:
        dims = () if shape == S else eval(f"({shape},)" if shape[-1] != "," else f"({shape})", dict(sizes))
        if kind is I:
            found.append(np.asarray(random.randint(0, 3, dims), I))
        else:
            found.append(random.standard_normal(dims).astype(kind))
    return found


def run(tools, artifact, arguments):
    _, runtime = tools
    executable = runtime.load(artifact)
    names = {np.dtype(np.float32): "f32", np.dtype(np.int32): "i32"}
    buffers = [runtime.new_buffer(a, names[a.dtype]) for a in arguments]
    results = executable.call(executable.find("main"), buffers)
    arrays = [result.array() for result in results]
    for buffer in [*buffers, *results]:
        buffer.release()
    executable.destroy()
    return arrays


def compile_symbolic(tools, function, shapes, checked=True):
    scope = export.SymbolicScope()
    specs = [
        jax.ShapeDtypeStruct(
            () if shape == S else export.symbolic_shape(shape, scope=scope), kind
        )
        for shape, kind in shapes
    ]
    # For tpu, JAX says linear algebra in ops.
    exported = export.export(jax.jit(function), platforms=["tpu"])(*specs)
    text = exported.mlir_module()
    if not checked:
        # JAX wants sizes of at least 1.
        lines = text.splitlines(keepends=True)
        text = "".join(line for line in lines if "@shape_assertion" not in line)
    return tools[0].compile(text.encode(), ["cpu:host"])


@pytest.mark.parametrize("name", PROGRAMS)
def test_agrees(tools, name):
    function, shapes, all_sizes = PROGRAMS[name]
    checked = all(0 not in sizes.values() for sizes in all_sizes)
    artifact = compile_symbolic(tools, function, shapes, checked)
    for number, sizes in enumerate(all_sizes):
        arguments = arguments_of(shapes, sizes, number)
        wanted = jax.tree.leaves(jax.jit(function)(*arguments))
        ours = run(tools, artifact, arguments)
        assert len(ours) == len(wanted)
        for mine, theirs in zip(ours, wanted):
            theirs = np.asarray(theirs)
            assert mine.shape == theirs.shape, (name, sizes)
            rough = theirs.dtype.itemsize == 2
            np.testing.assert_allclose(
                np.asarray(mine).astype(theirs.dtype).astype(np.complex128),
                theirs.astype(np.complex128),
                rtol=2e-2 if rough else 2e-5,
                atol=1e-1 if rough else 2e-5,
                err_msg=f"{name} {sizes}",
            )


@pytest.mark.parametrize("algorithm", ["THREE_FRY", "PHILOX"])
def test_random_bits_are_those_of_static_sizes(tools, algorithm):
    dynamic = f"""
func.func @main(%n: tensor<2xi32>) -> tensor<?x?xui32> {{
  %state = stablehlo.constant dense<[7, 11]> : tensor<2xui64>
  %0:2 = stablehlo.custom_call @stablehlo.dynamic_rng_bit_generator(%state, %n) {{rng_algorithm = #stablehlo<rng_algorithm {algorithm}>}} : (tensor<2xui64>, tensor<2xi32>) -> (tensor<2xui64>, tensor<?x?xui32>)
  return %0#1 : tensor<?x?xui32>
}}
"""
    artifact = tools[0].compile(dynamic.encode(), ["cpu:host"])
    for rows, columns in ((3, 5), (5, 3), (3, 4), (4, 3), (1, 1), (0, 2), (7, 7)):
        static = f"""
func.func @main() -> tensor<{rows}x{columns}xui32> {{
  %state = stablehlo.constant dense<[7, 11]> : tensor<2xui64>
  %0, %1 = stablehlo.rng_bit_generator %state, algorithm = {algorithm} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<{rows}x{columns}xui32>)
  return %1 : tensor<{rows}x{columns}xui32>
}}
"""
        wanted = run(tools, tools[0].compile(static.encode(), ["cpu:host"]), [])[0]
        ours = run(tools, artifact, [np.array([rows, columns], I)])[0]
        np.testing.assert_array_equal(ours, wanted)


def test_a_row_may_become_many(tools):
    program = b"""
func.func @main(%x: tensor<?x?xf32>, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %four = stablehlo.constant dense<4> : tensor<1xi32>
  %r = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %r1 = stablehlo.reshape %r : (tensor<i32>) -> tensor<1xi32>
  %list = stablehlo.concatenate %r1, %four, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %t = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
  %tb = stablehlo.dynamic_broadcast_in_dim %t, %list, dims = [0] {known_nonexpanding_dimensions = array<i64: 0>} : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x4xf32>
  %s = stablehlo.subtract %y, %tb : tensor<?x4xf32>
  %u = stablehlo.reduce(%s init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<?x4xf32>, tensor<f32>) -> tensor<?xf32>
  %ub = stablehlo.dynamic_broadcast_in_dim %u, %list, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x4xf32>
  %0 = stablehlo.add %s, %ub : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
"""
    artifact = tools[0].compile(program, ["cpu:host"])
    random = np.random.RandomState(3)
    for before, after in ((1, 5), (5, 5), (1, 1), (1, 0)):
        x = random.standard_normal((before, 7)).astype(F)
        y = random.standard_normal((after, 4)).astype(F)
        s = y - x.sum(1)[:, None]
        wanted = s + s.sum(1)[:, None]
        np.testing.assert_allclose(run(tools, artifact, [x, y])[0], wanted, rtol=1e-5, atol=1e-5)


def test_says_what_shapes_break(tools):
    artifact = compile_symbolic(tools, jnp.add, [("b, 4", F), ("b, 4", F)])
    arrays = [np.zeros((2, 4), F), np.zeros((3, 4), F)]
    with pytest.raises(alula_library.RuntimeFailure, match="Input shapes do not match"):
        run(tools, artifact, arrays)


def test_says_what_sizes_break(tools):
    program = b"""
func.func @main(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.add %a, %b : tensor<?xf32>
  return %0 : tensor<?xf32>
}
"""
    artifact = tools[0].compile(program, ["cpu:host"])
    with pytest.raises(
        alula_library.RuntimeFailure,
        match="'stablehlo.add': operands must have one shape: dimension 0 is 2 and 3",
    ):
        run(tools, artifact, [np.zeros(2, F), np.zeros(3, F)])
