"""Products and convolutions that are large enough to be done in blocks, of random
shapes and layouts, with and without epilogues, by several threads: they must give
what XLA gives, to the rounding of sums in another order."""

import os
import random

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import ml_dtypes
import numpy as np
import pytest
from jax import lax
from jax import numpy as jnp

import jax_functions  # isort: skip, it finds the next
import alula_library

pytestmark = jax_functions.needs_build
TARGETS = jax_functions.TARGETS
tools = jax_functions.tools


def check(tools, function, arrays, depth, seed):
    """Against the same function in f64."""
    wide = [jnp.asarray(np.asarray(a, np.float64)) for a in arrays]
    want = jax.tree.leaves(jax.jit(function)(*wide))
    kind = np.result_type(*[a.dtype for a in arrays])
    epsilon = float(ml_dtypes.finfo(kind).eps)
    for got, exact in zip(
        jax_functions.run(tools, function, arrays, TARGETS[seed % 3]), want, strict=True
    ):
        exact = np.asarray(exact)
        limit = 2 * epsilon * max(np.abs(exact).max(initial=0), depth**0.5)
        if kind.itemsize >= 4:
            limit *= max(depth, 1) ** 0.5
        np.testing.assert_allclose(np.asarray(got, np.float64), exact, rtol=0, atol=limit)


def uniform(shape, dtype, seed):
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(dtype)


@pytest.fixture(autouse=True)
def _wide_types():
    with jax.enable_x64(True):
        yield


EPILOGUES = [
    lambda y, b: y,
    lambda y, b: jax.nn.relu(y + b),
    lambda y, b: b * y,
    lambda y, b: jnp.where(y > b, y, jnp.tanh(b)),
    lambda y, b: (y + b, y.sum()),
]


@pytest.mark.parametrize("seed", range(40))
def test_product(tools, seed):
    r = random.Random(seed)
    m, n, k = (r.choice([1, 2, 3, 7, 16, 33, 64, 100, 130, 200, 300]) for _ in range(3))
    batch = r.choice([(), (), (3,), (2, 5)])
    dtype = r.choice([np.float32, np.float32, np.float64, ml_dtypes.bfloat16, np.float16])
    lhs_dims, rhs_dims = (
        r.sample(range(len(batch) + 2), len(batch) + 2) if r.random() < 0.5 else None
        for _ in range(2)
    )
    epilogue = r.choice(EPILOGUES)

    def lie(shape, order):
        """The shape as it lies in memory if its dimensions are in this order."""
        return shape if order is None else tuple(shape[d] for d in order)

    def back(x, order):
        return x if order is None else jnp.transpose(x, np.argsort(order))

    def function(x, y, b):
        return epilogue(jnp.matmul(back(x, lhs_dims), back(y, rhs_dims)), b)

    arrays = [
        uniform(lie((*batch, m, k), lhs_dims), dtype, seed),
        uniform(lie((*batch, k, n), rhs_dims), dtype, seed + 1),
        uniform((n,), dtype, seed + 2),
    ]
    check(tools, function, arrays, k * (m * n if epilogue is EPILOGUES[-1] else 1), seed)


@pytest.mark.parametrize(
    "equation,shapes",
    [
        ("bthd,bshd->bhts", [(2, 20, 3, 8), (2, 24, 3, 8)]),
        ("bhts,bshd->bthd", [(2, 3, 20, 24), (2, 24, 3, 8)]),
        ("abc,cde->abde", [(6, 7, 20), (20, 4, 9)]),
        ("abc,bcd->ad", [(30, 4, 20), (4, 20, 50)]),
        ("acb,bcd->ad", [(30, 20, 4), (4, 20, 50)]),
        ("eak,ekn->an", [(7, 60, 37), (7, 37, 50)]),
        ("eak,ekn->an", [(5, 130, 301), (5, 301, 70)]),
        ("ab,b->a", [(100, 200), (200,)]),
        ("ab,a->b", [(100, 200), (100,)]),
        ("ij,ij->", [(100, 200), (100, 200)]),
        ("i,j->ij", [(100,), (200,)]),
    ],
)
def test_einsum(tools, equation, shapes):
    arrays = [uniform(shape, np.float32, i) for i, shape in enumerate(shapes)]
    check(tools, lambda x, y: jnp.einsum(equation, x, y), arrays, 20000, len(equation))


@pytest.mark.parametrize("kind", [np.float32, np.float64, ml_dtypes.bfloat16, np.float16])
@pytest.mark.parametrize(
    "queries,keys,heads,width", [(128, 128, 12, 64), (37, 53, 5, 24), (1, 300, 3, 16)]
)
def test_heads(tools, kind, queries, keys, heads, width):
    """Dimensions are divided, moved, and put together again around products."""

    def attend(q, k, v, w):
        q, k, v = (x.reshape(-1, heads, width).transpose(1, 0, 2) for x in (q, k, v))
        weights = q @ k.transpose(0, 2, 1)
        return (weights @ v).transpose(1, 0, 2).reshape(-1, heads * width) @ w

    sizes = [(rows, heads * width) for rows in (queries, keys, keys, heads * width)]
    arrays = [uniform(size, kind, i) for i, size in enumerate(sizes)]
    check(tools, attend, arrays, width * keys * heads * width, heads)


# What a few terms are summed in may be wider than what they are.
FEW_TERMS = [
    (np.float32, None),
    (np.float64, None),
    (np.float16, None),
    (ml_dtypes.bfloat16, None),
    (ml_dtypes.bfloat16, np.float32),
    (np.complex64, None),
    (np.complex128, None),
    (np.int8, np.int32),
    (np.int8, None),
    (np.uint8, np.uint32),
    (np.int32, None),
    (np.bool_, None),
]


def draw_numbers(shape, kind, seed):
    generator = np.random.default_rng(seed)
    if kind == np.bool_:
        return generator.random(shape) < 0.6
    if np.issubdtype(kind, np.integer):
        info = np.iinfo(kind)
        return generator.integers(info.min, info.max, shape, kind, True)
    if np.issubdtype(kind, np.complexfloating):
        return (generator.uniform(-1, 1, shape) + 1j * generator.uniform(-1, 1, shape)).astype(kind)
    return generator.uniform(-1, 1, shape).astype(kind)


def multiply_exactly(x, y, terms, result):
    """By NumPy: every sum in the widest type."""
    if x.dtype == np.bool_:
        return np.einsum(terms, x.astype(np.int64), y.astype(np.int64)) > 0
    if np.issubdtype(x.dtype, np.integer):
        return np.einsum(terms, x.astype(np.int64), y.astype(np.int64)).astype(result)
    wide = np.complex128 if np.issubdtype(x.dtype, np.complexfloating) else np.float64
    return np.einsum(terms, x.astype(wide), y.astype(wide))


@pytest.mark.parametrize("seed", range(72))
def test_few_terms(tools, seed):
    """Up to 8 terms for each element, none and one too; batches; any order of
    dimensions; alone, with what makes factors, and as a factor of the next."""
    r = random.Random(seed)
    kind, wide = FEW_TERMS[seed % len(FEW_TERMS)]
    k = seed % 9
    sizes = dict(zip("abmnk", [r.choice([1, 2, 7, 40]), r.choice([1, 5, 24]), 0, 0, k]))
    sizes["m"], sizes["n"] = r.choice([(1, 1), (1, 5), (3, 1), (3, 5), (2, 9), (24, 5), (70, 3)])
    # Two contracted dimensions, as of couplings.
    split = k in (4, 6, 8) and r.random() < 0.5
    if split:
        sizes["k"], sizes["l"] = 2, k // 2
    batch = r.choice(["", "a", "ab"])
    contracted = "kl" if split else "k"
    lhs = "".join(r.sample(batch + "m" + contracted, len(batch) + 1 + len(contracted)))
    rhs = "".join(r.sample(batch + "n" + contracted, len(batch) + 1 + len(contracted)))
    terms = f"{lhs},{rhs}->{batch}mn"
    x, y = (
        draw_numbers([sizes[c] for c in dims], kind, seed + i)
        for i, dims in enumerate((lhs, rhs))
    )  # fmt: skip
    result = np.dtype(wide or kind)

    def product(x, y):
        return jnp.einsum(terms, x, y, preferred_element_type=result)

    got = jax_functions.run(tools, product, [x, y], TARGETS[seed % 3])[0]
    want = multiply_exactly(x, y, terms, result)
    inexact = not (result == np.bool_ or np.issubdtype(result, np.integer))
    if inexact:
        epsilon = float(ml_dtypes.finfo(result).eps)
        wide_kind = np.complex128 if np.issubdtype(result, np.complexfloating) else np.float64
        np.testing.assert_allclose(
            np.asarray(got).astype(wide_kind), want, rtol=0, atol=2 * epsilon * max(k, 1)
        )  # fmt: skip
    else:
        np.testing.assert_array_equal(got, want)
    if result in (np.float32, np.float64) and kind == result:
        check_chain(tools, terms, x, y, seed)


def check_chain(tools, terms, x, y, seed):
    """Factors that are made, a product whose result is a factor, two readers."""
    batch = terms.split("->")[1][:-2]
    size = dict(zip(terms.split("->")[0].replace(",", ""), (*x.shape, *y.shape)))
    z = uniform([size[c] for c in batch + "n"] + [3], x.dtype, seed + 5)

    def chain(x, y, z):
        first = jnp.einsum(terms, jnp.tanh(x), y * 2)
        second = jnp.einsum(f"{batch}mn,{batch}np->{batch}mp", first + 1, jnp.sin(z))
        return second, jnp.einsum(f"{batch}mn,{batch}mn->{batch}m", first, first - 1)

    check(tools, chain, [x, y, z], 8 * max(size["n"], 1), seed)


@pytest.mark.parametrize("seed", range(40))
def test_convolution(tools, seed):
    r = random.Random(seed)
    rank = r.choice([1, 2, 2, 2, 3])
    groups = r.choice([1, 1, 1, 2, 3])
    batch, channels, features = r.choice([1, 2, 5]), r.choice([1, 3, 8, 20]), r.choice([8, 10, 33])
    sizes = [r.choice([5, 9, 14, 30] if rank < 3 else [5, 8]) for _ in range(rank)]
    window = [r.choice([1, 2, 3, 5]) for _ in range(rank)]
    spatial = "XYZ"[:rank]
    layout = {
        "dimension_numbers": r.choice(
            [
                ("N" + spatial + "C", spatial + "IO", "N" + spatial + "C"),
                ("NC" + spatial, "OI" + spatial, "NC" + spatial),
                ("N" + spatial + "C", "OI" + spatial, "NC" + spatial),
                (spatial + "NC", "I" + spatial + "O", "C" + spatial + "N"),
            ]
        )
    }
    dilation = [r.choice([1, 1, 1, 2]) for _ in range(rank)]
    padding = r.choice(
        ["VALID", "SAME", [(r.randint(-1, 3), r.randint(0, 3)) for _ in range(rank)]]
    )
    strides = [r.choice([1, 1, 2, 3]) for _ in range(rank)]
    lhs_dilation = [r.choice([1, 1, 1, 2]) for _ in range(rank)]
    if isinstance(padding, str) and max(lhs_dilation) > 1:
        padding = [(1, 2)] * rank
    flipped = r.random() < 0.3
    dtype = r.choice([np.float32, np.float32, np.float64, ml_dtypes.bfloat16])
    epilogue = r.choice([lambda y: y, jax.nn.relu, lambda y: y * 3 + 1])
    lhs, rhs, _ = layout["dimension_numbers"]

    def place(order, named):
        return tuple(named[c] if c in named else sizes_of[c] for c in order)

    sizes_of = dict(zip(spatial, sizes))
    x = uniform(place(lhs, {"N": batch, "C": channels * groups}), dtype, seed)
    sizes_of = dict(zip(spatial, window))
    w = uniform(place(rhs, {"I": channels, "O": features * groups}), dtype, seed + 1)

    def function(x, w):
        if flipped:
            w = jnp.flip(w, [i for i, c in enumerate(rhs) if c in spatial])
        return epilogue(
            lax.conv_general_dilated(
                x, w, strides, padding, lhs_dilation, dilation, feature_group_count=groups, **layout
            )
        )

    check(tools, function, [x, w], channels * int(np.prod(window)), seed)


@pytest.mark.parametrize("seed", range(24))
def test_depthwise_convolution(tools, seed):
    """Weights for each channel, which lie side by side or not: rows by the library, or loops."""
    r = random.Random(1000 + seed)
    rank = r.choice([1, 2, 2, 2, 3])
    batch, groups = r.choice([1, 3]), r.choice([2, 3, 17, 64, 100])
    sizes = [r.choice([1, 6, 11, 20] if rank < 3 else [1, 5]) for _ in range(rank)]
    window = [r.choice([1, 2, 3, 5]) for _ in range(rank)]
    strides = [r.choice([1, 1, 2, 3]) for _ in range(rank)]
    gaps = [r.choice([1, 1, 2]) for _ in range(rank)]
    padding = []
    for size, taps, gap in zip(sizes, window, gaps, strict=True):
        room = size - ((taps - 1) * gap + 1)
        low = r.randint(-1, 6)
        padding.append((low, max(r.randint(-1, 6), -room - low)))
    spatial = "XYZ"[:rank]
    last = ("N" + spatial + "C", spatial + "IO", "N" + spatial + "C")
    mixed = ("N" + spatial[::-1] + "C", spatial + "IO", spatial + "NC")
    first = ("NC" + spatial, "OI" + spatial, "NC" + spatial)
    layout = r.choice([last, last, last, mixed, first])
    flipped = r.random() < 0.3
    kind = r.choice([np.float32, np.float32, np.float64, ml_dtypes.bfloat16])
    epilogue = r.choice([lambda y: y, jax.nn.relu, lambda y: y * 3 + 1])

    def place(order, lengths, named):
        named = named | dict(zip(spatial, lengths, strict=True))
        return tuple(named[c] for c in order)

    x = uniform(place(layout[0], sizes, {"N": batch, "C": groups}), kind, seed)
    w = uniform(place(layout[1], window, {"I": 1, "O": groups}), kind, seed + 1)

    def function(x, w):
        if flipped:
            w = jnp.flip(w, [i for i, c in enumerate(layout[1]) if c in spatial])
        convolution = lax.conv_general_dilated(
            x, w, strides, padding, None, gaps, layout, feature_group_count=groups
        )
        return epilogue(convolution)

    check(tools, function, [x, w], int(np.prod(window)), seed)


KINDS = [np.float32, np.float32, np.float64, ml_dtypes.bfloat16, np.float16, np.int8, np.int32]


@pytest.mark.parametrize("seed", range(42))
def test_dilated_convolution(tools, seed):
    """Gaps between inputs: transposed convolutions and gradients by inputs. Phases of any
    period, with and without taps; what is before or behind the input; few and many features."""
    r = random.Random(seed)
    kind = KINDS[seed % len(KINDS)]
    rank = r.choice([1, 2, 2, 3])
    groups, batch_groups = r.choice([(1, 1), (1, 1), (1, 1), (3, 1), (8, 1), (1, 2)])
    channels, features = r.choice([1, 2, 7, 16, 40]), r.choice([1, 3, 8, 33])
    sizes = [r.choice([1, 4, 7, 12] if rank < 3 else [1, 5]) for _ in range(rank)]
    dilation = [r.choice([1, 2, 2, 3, 4]) for _ in range(rank)]
    window = [r.choice([1, 2, 3, 4, 7] if rank < 3 else [1, 2, 3]) for _ in range(rank)]
    strides = [r.choice([1, 1, 2, 3, 4]) for _ in range(rank)]
    gaps = [r.choice([1, 1, 2, 3]) for _ in range(rank)]
    padding = []
    for size, by, taps, gap in zip(sizes, dilation, window, gaps):
        room = (size - 1) * by + 1 - ((taps - 1) * gap + 1)
        low = r.randint(-2, 5)
        padding.append((low, max(r.randint(-3, 5), -room - low)))
    spatial = "XYZ"[:rank]
    last = ("N" + spatial + "C", spatial + r.choice(["IO", "OI"]), "N" + spatial + "C")
    first = ("NC" + spatial, "OI" + spatial, "NC" + spatial)
    mixed = (spatial + "NC", "I" + spatial + "O", "C" + spatial + "N")
    numbers = r.choice([last, last, first, mixed])
    flipped = [i for i, c in enumerate(numbers[1]) if c in spatial and r.random() < 0.4]
    epilogue = r.choice([lambda y: y, lambda y: y, lambda y: y * 3 + 1])

    def place(order, named, spatial_sizes):
        return tuple((named | dict(zip(spatial, spatial_sizes)))[c] for c in order)

    x_shape = place(numbers[0], {"N": 2 * batch_groups, "C": channels * groups}, sizes)
    w_shape = place(numbers[1], {"I": channels, "O": features * groups * batch_groups}, window)

    def function(x, w):
        return epilogue(
            lax.conv_general_dilated(
                x, jnp.flip(w, flipped), strides, padding, dilation, gaps, numbers,
                feature_group_count=groups, batch_group_count=batch_groups,
            )
        )  # fmt: skip

    depth = channels * int(np.prod(window))
    if not np.issubdtype(kind, np.integer):
        arrays = [uniform(x_shape, kind, seed), uniform(w_shape, kind, seed + 1)]
        return check(tools, function, arrays, depth, seed)
    draw = np.random.default_rng(seed)
    arrays = [draw.integers(-9, 9, shape).astype(kind) for shape in (x_shape, w_shape)]
    got = jax_functions.run(tools, function, arrays, TARGETS[seed % 3])[0]
    want = np.asarray(jax.jit(function)(*[a.astype(np.float64) for a in arrays]))
    np.testing.assert_array_equal(got, want.astype(np.int64).astype(kind))


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("stride", [1, 2])
def test_gradients_of_a_convolution(tools, padding, stride):
    x, w = uniform((4, 14, 14, 8), np.float32, 1), uniform((3, 3, 8, 16), np.float32, 2)

    def loss(x, w):
        y = lax.conv_general_dilated(
            x, w, (stride, stride), padding, dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        return (y * y).sum()

    check(tools, lambda x, w: jax.grad(loss, (0, 1))(x, w), [x, w], 4 * 14 * 14 * 9, stride)


@pytest.mark.parametrize("seed", range(24))
def test_integers(tools, seed):
    # Sums that are exact in f32, in f64, and in neither.
    draw = random.Random(seed)
    left, right = draw.choices([np.int8, np.uint8, np.int16, np.int32], k=2)
    result = draw.choice([None, jnp.int32, jnp.int64]) if left == right else jnp.int32
    m, n, k = draw.choice([1, 5, 64]), draw.choice([1, 40, 200]), draw.choice([3, 100, 2000])

    def numbers(shape, kind, at):
        info, generator = np.iinfo(kind), np.random.default_rng(at)
        edge = generator.choice([info.min, info.max], shape)
        return np.where(seed % 2, edge, generator.integers(info.min, info.max, shape)).astype(kind)

    a, b = numbers((m, k), left, seed), numbers((k, n), right, seed + 1)
    wanted = a.astype(np.int64) @ b.astype(np.int64)
    got = jax_functions.run(
        tools,
        lambda a, b: lax.dot(a, b, preferred_element_type=result),
        [a, b],
        TARGETS[seed % 3],
    )[0]
    np.testing.assert_array_equal(got, wanted.astype(got.dtype))


# Machines whose code for products of narrow numbers differs; what this one has not
# is compiled only.
MACHINES = [
    "cpu:x86-64" + level for level in ["-v4-bf16", "-v4-vnni", "-v4", "-v3-vnni", "-v3", ""]
]


@pytest.mark.parametrize("seed", range(40))
def test_narrow_products(tools, seed):
    r = random.Random(seed)
    kind = r.choice([np.int8, np.uint8, ml_dtypes.bfloat16])
    wide = {np.int8: np.int32, np.uint8: np.uint32, ml_dtypes.bfloat16: np.float32}[kind]
    result = r.choice([None, wide])
    m, n, k = (r.choice([1, 2, 3, 5, 31, 64, 100, 257, 333]) for _ in range(3))
    batch = r.choice([(), (), (3,), (2, 2)])
    # Any dimension may be the one whose elements are neighbours.
    orders = [r.sample(range(len(batch) + 2), len(batch) + 2) for _ in range(2)]
    epilogue = r.choice([lambda y: y, lambda y: y + y[..., :1], lambda y: (y, y.max(-1))])

    def lie(shape, order):
        return tuple(shape[d] for d in order)

    def function(x, y, result=result):
        x, y = (jnp.transpose(z, np.argsort(order)) for z, order in zip((x, y), orders))
        return epilogue(jnp.matmul(x, y, preferred_element_type=result))

    shapes = [lie((*batch, m, k), orders[0]), lie((*batch, k, n), orders[1])]
    target = MACHINES[seed % len(MACHINES)]
    if kind == ml_dtypes.bfloat16:
        arrays = [uniform(shape, kind, seed + i) for i, shape in enumerate(shapes)]
        got = run_if_possible(tools, function, arrays, target)
        exact = [jnp.asarray(np.asarray(a, np.float64)) for a in arrays]
        want = jax.tree.leaves(jax.jit(lambda x, y: function(x, y, None))(*exact))
        epsilon = 2.0**-8 if result is None else 2.0**-22 * k
        for x, y in zip(got, want, strict=True):
            limit = epsilon * (np.abs(y).max() + (k**0.5 if result is None else 1))
            np.testing.assert_allclose(np.asarray(x, np.float64), y, rtol=0, atol=2 * limit)
        return
    info = np.iinfo(kind)
    draw = np.random.default_rng(seed)
    arrays = [draw.integers(info.min, info.max, shape, kind, True) for shape in shapes]
    got = run_if_possible(tools, function, arrays, target)
    for x, y in zip(got, jax.tree.leaves(jax.jit(function)(*arrays)), strict=True):
        np.testing.assert_array_equal(x, y)


def run_if_possible(tools, function, arrays, target):
    try:
        return jax_functions.run(tools, function, arrays, target)
    except Exception as error:
        if "variant" in str(error) or "feature" in str(error):
            pytest.skip(str(error))
        raise


@pytest.mark.parametrize("sizes", [(300, 700, 1000), (1, 700, 1000), (700, 1, 1000)])
@pytest.mark.parametrize("kind", [ml_dtypes.bfloat16, np.float32])
def test_threads_agree(tools, kind, sizes):
    m, n, k = sizes
    arrays = [uniform((m, k), kind, 1), uniform((k, n), kind, 2)]

    def function(x, y):
        return jnp.matmul(x, y, preferred_element_type=jnp.float32)

    alone = alula_library.Runtime(jax_functions.BUILD, thread_count=1)
    results = [
        jax_functions.run((tools[0], runtime), function, arrays, "cpu:host")[0]
        for runtime in (alone, tools[1])
    ]
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("kind", [np.int8, np.uint8])
def test_integer_convolutions(tools, kind):
    x = np.random.default_rng(1).integers(0, 128, (2, 14, 14, 24)).astype(kind)
    w = np.random.default_rng(2).integers(0, 128, (3, 3, 24, 32)).astype(kind)

    def function(x, w):
        return lax.conv_general_dilated(
            x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"),
            preferred_element_type=jnp.int32,
        )  # fmt: skip

    got = jax_functions.run(tools, function, [x, w], "cpu:host")[0]
    np.testing.assert_array_equal(got, jax.jit(function)(x, w))


WRAPPING = [np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]


def whole_range(kind, shape, seed):
    info = np.iinfo(kind)
    return np.random.default_rng(seed).integers(info.min, info.max, shape, kind, endpoint=True)


@pytest.mark.parametrize("kind", WRAPPING)
@pytest.mark.parametrize(
    "equation,shapes",
    [
        ("mk,kn->mn", [(70, 130), (130, 50)]),
        ("mk,nk->mn", [(37, 200), (33, 200)]),
        ("km,kn->nm", [(64, 40), (64, 48)]),
        ("mk,k->m", [(100, 200), (200,)]),
        ("bmk,bkn->bmn", [(5, 33, 40), (5, 40, 31)]),
        ("bj,bj->b", [(70, 90), (70, 90)]),
        ("jb,bj->b", [(90, 70), (70, 90)]),
    ],
)
def test_integers_wrap(tools, kind, equation, shapes):
    arrays = [whole_range(kind, shape, i) for i, shape in enumerate(shapes)]
    for target in TARGETS:
        got = jax_functions.run(tools, lambda x, y: 3 + jnp.einsum(equation, x, y), arrays, target)
        np.testing.assert_array_equal(got[0], 3 + np.einsum(equation, *arrays))


@pytest.mark.parametrize("kind", WRAPPING)
def test_convolutions_of_integers_wrap(tools, kind):
    arrays = [whole_range(kind, (2, 14, 14, 24), 1), whole_range(kind, (3, 3, 24, 32), 2)]

    def function(x, w):
        return lax.conv_general_dilated(
            x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )

    got = jax_functions.run(tools, function, arrays, "cpu:host")[0]
    np.testing.assert_array_equal(got, jax.jit(function)(*arrays))


VECTORS = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16, np.complex64, np.complex128]


@pytest.mark.parametrize("kind", VECTORS)
@pytest.mark.parametrize(
    "equation,shapes",
    [
        ("bj,bj->b", [(7, 100), (7, 100)]),
        ("jb,bj->b", [(100, 7), (7, 100)]),
        ("jb,jb->b", [(100, 70), (100, 70)]),
        ("abij,iajb->ba", [(2, 3, 20, 5), (20, 2, 5, 3)]),
        ("bj,bj->b", [(3, 100000), (3, 100000)]),
        ("bij,bj->bi", [(40, 12, 30), (40, 30)]),
        ("jb,ijb->bi", [(20, 50), (15, 20, 50)]),
    ],
)
def test_vectors(tools, kind, equation, shapes):
    """Products of vectors side by side."""
    arrays = [uniform(shape, kind, i) for i, shape in enumerate(shapes)]
    if np.dtype(kind).kind == "c":
        arrays = [x + 1j * uniform(x.shape, x.real.dtype, 9) for x in arrays]
    terms = max(x.size for x in arrays) // 3
    wide = np.result_type(kind, np.float64) if kind != ml_dtypes.bfloat16 else np.float64
    exact = np.einsum(equation, *(x.astype(wide) for x in arrays))
    magnitude = np.einsum(equation, *(np.abs(x.astype(wide)) for x in arrays))
    epsilon = float(ml_dtypes.finfo(arrays[0].real.dtype).eps)
    got = jax_functions.run(
        tools, lambda x, y: jnp.einsum(equation, x, y), arrays, TARGETS[len(shapes) % 3]
    )[0]
    # Halves are added up as floats, and rounded once.
    limit = np.abs(exact) * epsilon + magnitude * min(terms, 64) * min(epsilon, 2.0**-23)
    assert got.dtype == arrays[0].dtype
    assert (np.abs(got.astype(wide) - exact) <= limit).all()
