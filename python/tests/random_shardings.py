"""Random programs with random shardings over a mesh, against the same without
shardings.

    ALULA_NUM_DEVICES=8 JAX_PLATFORMS=alula,cpu random_shardings.py [COUNT [SEED [chosen]]]

Integers and what only moves are equal bit by bit; sums of floats to a few units.
`chosen` compares the shardings that results get with those of XLA:CPU instead.
"""

import sys

import jax

jax.config.update("jax_num_cpu_devices", 8)

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

MESHES = [((8,), "x"), ((4, 2), "xy"), ((2, 2, 2), "xyz"), ((2, 3), "xy"), ((6,), "x")]
# Sizes that most meshes divide, and some that none does.
SIZES = [8, 12, 24, 6, 16, 48, 5, 1]


class Program:
    """Values of one shape each, made of those before."""

    def __init__(self, random, mesh):
        self.random, self.mesh = random, mesh
        self.steps = []
        count = random.integers(1, 4)
        self.shapes = [self.shape() for _ in range(count)]
        self.inputs = len(self.shapes)
        for _ in range(random.integers(3, 12)):
            self.add()

    def shape(self):
        rank = self.random.integers(1, 4)
        return tuple(int(s) for s in self.random.choice(SIZES, rank))

    def pick(self):
        return int(self.random.integers(0, len(self.shapes)))

    def spec(self, shape, even):
        axes = list(self.random.permutation(self.mesh.axis_names))
        dims = []
        for size in shape:
            names = []
            while axes and self.random.random() < 0.5:
                count = self.mesh.shape[axes[0]] * int(
                    np.prod([self.mesh.shape[a] for a in names], dtype=int)
                )
                if even and size % count:
                    break
                names.append(axes.pop(0))
            dims.append(tuple(names) or None)
        return P(*dims)

    def add(self):
        kind = self.random.choice(
            [
                "unary",
                "binary",
                "scale",
                "transpose",
                "reduce",
                "broadcast",
                "reshape",
                "dot",
                "slice",
                "pad",
                "concatenate",
                "constrain",
                "constrain",
                "sort",
                "take",
                "scatter",
                "cumsum",
                "roll",
                "flip",
                "update",
                "loop",
                "argmax",
                "iota",
                "cond",
            ]
        )
        i = self.pick()
        made = getattr(self, kind)(i, self.shapes[i])
        if made is None:
            return
        shape, f = made
        if int(np.prod(shape)) > 1 << 16:
            return
        self.shapes.append(tuple(shape))
        self.steps.append((kind, f))

    # Each gives the shape of what it makes, and how from all values.

    def unary(self, i, shape):
        f = self.random.choice([jnp.tanh, jnp.negative, jnp.cos, jnp.abs])
        return shape, lambda v: f(v[i])

    def same(self, shape):
        """Another value of the shape, if there is one."""
        found = [j for j, other in enumerate(self.shapes) if other == shape]
        return int(self.random.choice(found))

    def binary(self, i, shape):
        j = self.same(shape)
        f = self.random.choice([jnp.add, jnp.multiply, jnp.maximum, jnp.subtract])
        return shape, lambda v: f(v[i], v[j])

    def scale(self, i, shape):
        return shape, lambda v: v[i] * 0.5 + 1

    def transpose(self, i, shape):
        order = [int(d) for d in self.random.permutation(len(shape))]
        return [shape[d] for d in order], lambda v: jnp.transpose(v[i], order)

    def axis(self, shape):
        return int(self.random.integers(0, len(shape)))

    def reduce(self, i, shape):
        if len(shape) < 2:
            return None
        axis = self.axis(shape)
        f = self.random.choice([jnp.mean, jnp.max, jnp.min])
        return shape[:axis] + shape[axis + 1 :], lambda v: f(v[i], axis)

    def broadcast(self, i, shape):
        if len(shape) > 2:
            return None
        size = int(self.random.choice([8, 6, 2]))
        return (size, *shape), lambda v: jnp.broadcast_to(v[i], (size, *shape))

    def reshape(self, i, shape):
        total = int(np.prod(shape))
        first = int(self.random.choice([d for d in range(1, total + 1) if total % d == 0]))
        return (first, total // first), lambda v: jnp.reshape(v[i], (first, total // first))

    def dot(self, i, shape):
        axis = self.axis(shape)
        j = self.same(shape)
        axes = ((axis,), (axis,))
        rest = shape[:axis] + shape[axis + 1 :]
        if len(rest) * 2 > 3 or not rest:
            return None
        return rest + rest, lambda v: jnp.tensordot(v[i], v[j], axes) / shape[axis]

    def slice(self, i, shape):
        axis = self.axis(shape)
        size = int(self.random.integers(1, shape[axis] + 1))
        start = int(self.random.integers(0, shape[axis] - size + 1))
        result = list(shape)
        result[axis] = size
        return result, lambda v: lax.slice_in_dim(v[i], start, start + size, axis=axis)

    def pad(self, i, shape):
        axis = self.axis(shape)
        low, high = (int(x) for x in self.random.integers(0, 4, 2))
        widths = [(low, high) if d == axis else (0, 0) for d in range(len(shape))]
        result = list(shape)
        result[axis] += low + high
        return result, lambda v: jnp.pad(v[i], widths, constant_values=0.25)

    def concatenate(self, i, shape):
        axis, j = self.axis(shape), self.same(shape)
        result = list(shape)
        result[axis] *= 2
        return result, lambda v: jnp.concatenate([v[i], v[j]], axis)

    def constrain(self, i, shape):
        sharding = NamedSharding(self.mesh, self.spec(shape, even=False))
        return shape, lambda v: lax.with_sharding_constraint(v[i], sharding)

    def sort(self, i, shape):
        axis = self.axis(shape)
        return shape, lambda v: jnp.sort(v[i], axis)

    def take(self, i, shape):
        axis = self.axis(shape)
        places = self.random.integers(-shape[axis], shape[axis], 8).astype(np.int32)
        result = shape[:axis] + (8,) + shape[axis + 1 :]
        return result, lambda v: jnp.take(v[i], jnp.asarray(places), axis=axis, mode="clip")

    def scatter(self, i, shape):
        places = self.random.integers(0, shape[0] + 2, shape[0]).astype(np.int32)
        f = self.random.choice(["add", "max", "set"])
        if f == "set":
            # Which of several wins is nobody's business.
            places = np.arange(shape[0], dtype=np.int32)[::-1].copy()
        j = self.same(shape)
        return shape, lambda v: getattr(v[i].at[places], f)(v[j] * 0.5)

    def cumsum(self, i, shape):
        axis = self.axis(shape)
        return shape, lambda v: jnp.cumsum(v[i], axis) / shape[axis]

    def roll(self, i, shape):
        axis = self.axis(shape)
        return shape, lambda v: jnp.roll(v[i], 1, axis)

    def flip(self, i, shape):
        axis = self.axis(shape)
        return shape, lambda v: jnp.flip(v[i], axis)

    def update(self, i, shape):
        axis = self.axis(shape)
        size = int(self.random.integers(1, shape[axis] + 1))

        def f(v):
            start = jnp.int32(jnp.abs(v[0].ravel()[0]) * 3)
            part = lax.dynamic_slice_in_dim(v[i], start, size, axis)
            return lax.dynamic_update_slice_in_dim(v[i], part + 1, start // 2, axis)

        return shape, f

    def loop(self, i, shape):
        j = self.same(shape)
        return shape, lambda v: lax.fori_loop(0, 3, lambda n, c: jnp.tanh(c + v[j] + n), v[i])

    def cond(self, i, shape):
        j = self.same(shape)
        return shape, lambda v: lax.cond(
            v[0].ravel()[0] > 0, lambda: jnp.sin(v[i]), lambda: v[j] + v[i]
        )

    def argmax(self, i, shape):
        if len(shape) < 2:
            return None
        axis = self.axis(shape)
        # Of what rounding can't change.
        return shape[:axis] + shape[axis + 1 :], lambda v: jnp.argmax(
            jnp.floor(v[i] * 4), axis
        ).astype(jnp.float32)

    def iota(self, i, shape):
        axis = self.axis(shape)
        return shape, lambda v: v[i] + lax.broadcasted_iota(jnp.float32, shape, axis) / 8

    def __call__(self, *inputs):
        values = list(inputs)
        for _, f in self.steps:
            values.append(f(values))
        return values[self.inputs :]


def make(number, seed, devices):
    """A program on as many of the devices as its mesh has."""
    random = np.random.default_rng([seed, number])
    shape, names = MESHES[number % len(MESHES)]
    devices = np.array(devices[: int(np.prod(shape))]).reshape(shape)
    mesh = Mesh(devices, tuple(names), axis_types=(AxisType.Auto,) * len(names))
    program = Program(random, mesh)
    shapes = program.shapes[: program.inputs]
    shardings = [NamedSharding(mesh, program.spec(shape, even=True)) for shape in shapes]
    return program, shapes, shardings


def check(number, seed):
    program, shapes, shardings = make(number, seed, jax.devices())
    random = np.random.default_rng([seed, number, 1])
    # Sixteenths: sums of few of them are exact.
    inputs = [np.round(random.standard_normal(s) * 16).astype(np.float32) / 16 for s in shapes]
    placed = [jax.device_put(x, sharding) for x, sharding in zip(inputs, shardings)]
    results = jax.jit(program)(*placed)
    # Constraints need the mesh, so the same without them.
    constrained = lax.with_sharding_constraint
    try:
        lax.with_sharding_constraint = lambda x, _: x
        wanted = jax.jit(lambda *a: program(*a))(*inputs)
    finally:
        lax.with_sharding_constraint = constrained
    for (kind, _), result, expected in zip(program.steps, results, wanted):
        np.testing.assert_allclose(
            np.asarray(result), np.asarray(expected), rtol=1e-4, atol=1e-4, err_msg=kind
        )


def choose(number, seed, devices):
    """For each result what it is, and the axes of each of its dimensions."""
    program, shapes, shardings = make(number, seed, devices)
    given = [
        jax.ShapeDtypeStruct(shape, np.float32, sharding=sharding)
        for shape, sharding in zip(shapes, shardings)
    ]
    compiled = jax.jit(program).lower(*given).compile()
    results = jax.eval_shape(program, *given)
    chosen = []
    for (kind, _), result, sharding in zip(program.steps, results, compiled.output_shardings):
        dims = [*sharding.spec, *[None] * (len(result.shape) - len(sharding.spec))]
        axes = [d if isinstance(d, tuple) else (d,) if d else () for d in dims]
        chosen.append((kind, result.shape, axes))
    return chosen


def check_chosen(number, seed):
    assert choose(number, seed, jax.devices()) == choose(number, seed, jax.devices("cpu"))


def main():
    run = check_chosen if sys.argv[3:] == ["chosen"] else check
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    failures = 0
    for number in range(count):
        try:
            run(number, seed)
        except (AssertionError, jax.errors.JaxRuntimeError, ValueError, TypeError) as error:
            failures += 1
            text = " ".join(str(error).split())[:600]
            print(f"program {number} of seed {seed}, mesh {MESHES[number % 5]}: {text}", flush=True)
    print(f"{count - failures} of {count} programs are equal")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
