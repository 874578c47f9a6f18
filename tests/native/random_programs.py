"""Random JAX programs on 32-bit integers: every result is exact, so that what
Alula and XLA give must be the same, however ops are fused and reordered."""

import random

import numpy as np
from jax import lax
from jax import numpy as jnp

MOST_ELEMENTS = 20000
SIZES = [1, 1, 2, 3, 5, 8, 16, 33, 100]


class Maker:
    """Takes the same steps each time it is called with the same arrays."""

    def __init__(self, seed, steps=12):
        self.seed, self.steps = seed, steps

    def arguments(self):
        draw, numbers = random.Random(self.seed), np.random.default_rng(self.seed)
        shapes = []
        while len(shapes) < draw.randint(1, 3):
            shape = [draw.choice(SIZES) for _ in range(draw.randint(0, 4))]
            if np.prod(shape, dtype=int) <= MOST_ELEMENTS:
                shapes.append(shape)
        return [numbers.integers(-100, 100, shape).astype(np.int32) for shape in shapes]

    def __call__(self, *arguments):
        draw = random.Random(self.seed + 1)
        values = self.run(draw, list(arguments), self.steps, 0)
        count = draw.randint(1, min(4, len(values)))
        return [values[-1], *draw.sample(values, count)]

    def run(self, draw, values, steps, depth):
        for _ in range(steps):
            kind = draw.choice(KINDS + (NESTED if depth < 2 else []))
            # Late values are used more often.
            x = values[max(draw.randrange(len(values)), draw.randrange(len(values)))]
            result = kind(self, draw, x, values, depth)
            if result is not None and result.size <= MOST_ELEMENTS and result.ndim <= 5:
                values.append(result)
        return values


def unary(_, draw, x, values, depth):
    return draw.choice(
        [jnp.negative, jnp.abs, jnp.invert, jnp.sign, lax.population_count, lambda x: x * 3]
    )(x)


def fit(draw, x, values):
    """Another value with the shape of x, as far as one can be made."""
    y = draw.choice(values)
    if y.shape == x.shape:
        return y
    if y.size == x.size:
        return y.reshape(x.shape)
    try:
        return jnp.broadcast_to(y, x.shape)
    except ValueError:
        return jnp.broadcast_to(y.sum(dtype=jnp.int32), x.shape)


def binary(_, draw, x, values, depth):
    y = fit(draw, x, values)
    op = draw.choice(
        [
            jnp.add,
            jnp.subtract,
            jnp.multiply,
            jnp.maximum,
            jnp.minimum,
            jnp.bitwise_xor,
            jnp.bitwise_and,
        ]
    )
    return op(x, y) if draw.random() < 0.5 else op(y, x)


def choose(_, draw, x, values, depth):
    y = fit(draw, x, values)
    return jnp.where(draw.choice([jnp.less, jnp.equal])(x & 7, y & 7), x, fit(draw, x, values))


def transpose(_, draw, x, values, depth):
    return x.transpose(draw.sample(range(x.ndim), x.ndim))


def reshape(_, draw, x, values, depth):
    form = draw.choice(["flat", "one", "merge", "split"])
    if form == "flat":
        return x.reshape(-1)
    if form == "one":
        return jnp.expand_dims(x, draw.randint(0, x.ndim))
    if form == "merge" and x.ndim > 1:
        return x.reshape(-1, *x.shape[2:])
    if x.ndim and x.shape[0] % 2 == 0:
        return x.reshape(2, -1, *x.shape[1:])
    return None


def cut(_, draw, x, values, depth):
    if not x.ndim:
        return None
    parts = []
    for size in x.shape:
        start = draw.randrange(size)
        stop = draw.randint(start + 1, size)
        parts.append(slice(start, stop, draw.choice([1, 1, 2])))
    return x[tuple(parts)]


def pad(_, draw, x, values, depth):
    return lax.pad(
        x,
        jnp.int32(7),
        [
            (draw.randint(-1, 2) if s > 2 else 1, draw.randint(0, 2), draw.choice([0, 0, 1]))
            for s in x.shape
        ],
    )


def join(_, draw, x, values, depth):
    return jnp.concatenate([x, fit(draw, x, values)], draw.randrange(x.ndim)) if x.ndim else None


def turn(_, draw, x, values, depth):
    return jnp.flip(x, draw.randrange(x.ndim)) if x.ndim else None


def spread(_, draw, x, values, depth):
    return jnp.broadcast_to(x, (draw.choice([2, 3, 8]), *x.shape))


def reduce(_, draw, x, values, depth):
    if not x.ndim:
        return None
    axes = tuple(draw.sample(range(x.ndim), draw.randint(1, x.ndim)))
    if draw.random() < 0.5:
        axes = tuple(range(draw.randrange(x.ndim), x.ndim))
    op = draw.choice([jnp.sum, jnp.max, jnp.min, jnp.prod])
    keeps = draw.random() < 0.5
    y = op(x, axis=axes, keepdims=keeps)
    return x - y if keeps and draw.random() < 0.7 else y


def argument(_, draw, x, values, depth):
    return jnp.argmax(x, draw.randrange(x.ndim)).astype(jnp.int32) if x.ndim else None


def scan(_, draw, x, values, depth):
    return (
        draw.choice([lax.cumsum, lax.cummax, lax.cumprod])(x, draw.randrange(x.ndim))
        if x.ndim
        else None
    )


def sort(_, draw, x, values, depth):
    if not x.ndim:
        return None
    if draw.random() < 0.4:
        return lax.top_k(x, draw.randint(1, x.shape[-1]))[draw.randrange(2)]
    return lax.sort(x, dimension=draw.randrange(x.ndim))


def product(_, draw, x, values, depth):
    if x.ndim < 1:
        return None
    y = jnp.flip(x, 0)
    side = draw.randrange(x.ndim)
    if x.size // x.shape[side] > 140:
        return None
    return lax.dot_general(x, y, (((side,), (side,)), ((), ())))


def gather(_, draw, x, values, depth):
    if not x.ndim:
        return None
    axis = draw.randrange(x.ndim)
    indices = draw.choice(values).reshape(-1)[: draw.choice([1, 5, 40])]
    return jnp.take(x, jnp.abs(indices) % x.shape[axis], axis=axis)


def scatter(_, draw, x, values, depth):
    if not x.ndim:
        return None
    indices = jnp.abs(draw.choice(values).reshape(-1)[: draw.choice([1, 5, 40])]) % x.shape[0]
    op = draw.choice(["add", "max"])
    return getattr(x.at[indices], op)(draw.randint(-3, 3))


def slide(_, draw, x, values, depth):
    if not x.ndim:
        return None
    starts = [draw.choice(values).sum(dtype=jnp.int32) % 7 for _ in x.shape]
    sizes = [draw.randint(1, s) for s in x.shape]
    part = lax.dynamic_slice(x, starts, sizes)
    return lax.dynamic_update_slice(x, part * 2, starts[::-1]) if draw.random() < 0.5 else part


def window(_, draw, x, values, depth):
    if not x.ndim:
        return None
    sizes = [draw.randint(1, min(s, 3)) for s in x.shape]
    return lax.reduce_window(x, 0, lax.add, sizes, [draw.choice([1, 2]) for _ in x.shape], "SAME")


def loop(maker, draw, x, values, depth):
    seed, others = draw.random(), draw.sample(values, min(2, len(values)))
    start = fit(draw, x, values)

    def body(i, carried):
        inner = random.Random(seed)
        a, b = carried
        known = [a, b, i + a, *others] if inner.random() < 0.7 else [a, b]
        made = maker.run(inner, known, inner.randint(1, 5), depth + 1)
        back = [v for v in made if v.shape == a.shape]
        return inner.choice([(back[-1], a), (b, back[-1]), (back[-1], b), (a + 1, back[-1])])

    return draw.choice(lax.fori_loop(0, draw.choice([1, 3, 7]), body, (x, start)))


def branch(maker, draw, x, values, depth):
    seeds = [draw.random(), draw.random()]

    def make(seed):
        def side(x):
            inner = random.Random(seed)
            made = maker.run(inner, [x], inner.randint(1, 4), depth + 1)
            return [v for v in made if v.shape == x.shape][-1]

        return side

    return lax.cond((draw.choice(values).sum() & 1) == 0, make(seeds[0]), make(seeds[1]), x)


KINDS = [unary, binary, binary, binary, choose, transpose, reshape, cut, pad, join, turn, spread]
KINDS += [reduce, reduce, argument, scan, sort, product, gather, scatter, slide, window]
NESTED = [loop, loop, branch]
