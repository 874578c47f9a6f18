"""Kinds of parallelism over eight devices: the losses of 20 steps are those of
one device, and what is moved is no more than XLA:CPU's partitioner moves for the
same program. test_snippets.py runs this file; by itself it prints a table:

    ALULA_NUM_DEVICES=8 JAX_PLATFORMS=alula,cpu python parallelism_snippets.py
"""

import itertools
import math
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax._src.tree_util import broadcast_prefix
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

jax.config.update("jax_num_cpu_devices", 8)

DEVICES = 8
STEPS = 20


def random(*shape, scale=1.0):
    generator = np.random.default_rng(sum(shape))
    return (scale * generator.standard_normal(shape)).astype(np.float32)


def weight(*shape):
    return random(*shape, scale=1 / math.sqrt(math.prod(shape[:-1])))


class Kind:
    """A model with its data, and how both lie on a mesh of one axis "x"."""

    def __init__(self, loss, params, specs, batch, batch_specs):
        self.loss, self.params, self.specs = loss, params, specs
        self.batch, self.batch_specs = batch, batch_specs

    def step(self, mesh):
        def keep(x, *spec):
            return x if mesh is None else lax.with_sharding_constraint(x, place(mesh, P(*spec)))

        def step(params, batch):
            value, grads = jax.value_and_grad(self.loss)(params, batch, keep, mesh)
            return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), value

        return step


def place(mesh, spec):
    return NamedSharding(mesh, spec)


def mlp(params, batch, keep, mesh):
    x, y = batch
    for w, b in params[:-1]:
        x = jnp.tanh(x @ w + b)
    w, b = params[-1]
    return jnp.mean(jnp.square(x @ w + b - y))


def deep(params, batch, keep, mesh):
    """Layers of one size in a loop, which gathers the weights of one at a time."""
    x, y = batch
    layer = lambda x, wb: (jnp.tanh(x @ wb[0] + wb[1]), None)
    x, _ = lax.scan(layer, x, params)
    return jnp.mean(jnp.square(x - y))


def make_deep():
    layers, size = 16, 128
    params = weight(layers, size, size) * np.sqrt(layers), np.zeros((layers, size), np.float32)
    batch = random(64, size), random(64, size)
    specs = P(None, "x"), P(None, "x")
    return Kind(deep, params, specs, batch, (P("x"), P("x")))


def make_mlp(spec, sizes, batch_spec):
    params = [(weight(a, b), np.zeros(b, np.float32)) for a, b in itertools.pairwise(sizes)]
    batch = random(64, sizes[0]), random(64, sizes[-1])
    return Kind(mlp, params, [spec] * len(params), batch, (batch_spec, batch_spec))


def attention(q, k, v):
    """Of [batch, position, head, feature]."""
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(q.shape[-1])
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)


def block(params, batch, keep, mesh, spec=(None, None, None)):
    """A transformer's block on [batch, position, feature]."""
    x, y = batch
    x = keep(x, *spec)
    wq, wk, wv, wo, up, down = params
    h = x - jnp.mean(x, -1, keepdims=True)
    q, k, v = (jnp.einsum("btf,fhd->bthd", h, w) for w in (wq, wk, wv))
    x = keep(x + jnp.einsum("bthd,hdf->btf", attention(q, k, v), wo), *spec)
    x = keep(x + jax.nn.gelu(x @ up) @ down, *spec)
    return jnp.mean(jnp.square(x - y))


def make_block(specs, batch_spec, spec=(None, None, None)):
    features, heads, size, wide = 32, 8, 8, 128
    params = [weight(features, heads, size) for _ in range(3)]
    params += [weight(heads, size, features), weight(features, wide), weight(wide, features)]
    batch = random(4, 16, features), random(4, 16, features)
    loss = lambda *arguments: block(*arguments, spec=spec)
    return Kind(loss, params, specs, batch, (batch_spec, batch_spec))


def experts(params, batch, keep, mesh):
    """Each token goes to one of eight experts, which have room for eight of each
    group of 32."""
    x, y = batch
    router, up, down = params
    x = keep(x, "x")
    chances = jax.nn.softmax(x @ router)
    chosen = jax.nn.one_hot(jnp.argmax(chances, -1), 8)
    rank = jnp.cumsum(chosen, 1) * chosen
    room = jax.nn.one_hot(rank.astype(jnp.int32) - 1, 8) * chosen[..., None]
    sent = keep(jnp.einsum("gtec,gtf->egcf", room, x), "x")
    made = jnp.einsum("egch,ehf->egcf", jax.nn.relu(jnp.einsum("egcf,efh->egch", sent, up)), down)
    returned = jnp.einsum("gtec,egcf->gtf", room, keep(made, "x"))
    gate = jnp.max(chances, -1, keepdims=True)
    return jnp.mean(jnp.square(keep(returned, "x") * gate - y))


def pipeline(params, batch, keep, mesh):
    """Eight stages, each on a device; eight pieces of the batch follow each other."""
    x, y = batch

    def stage(w, x):
        return jnp.tanh(x @ w)

    if mesh is None:
        for w in params:
            x = jax.vmap(lambda piece, w=w: stage(w, piece))(x)
        return jnp.mean(jnp.square(x - y))

    def run(w, x, y):
        number = lax.axis_index("x")

        def turn(state, t):
            piece = jnp.where(number == 0, x[jnp.clip(t, 0, 7)], state)
            made = stage(w[0], piece)
            error = jnp.mean(jnp.square(made - y[jnp.clip(t - 7, 0, 7)]))
            error = jnp.where((number == 7) & (t >= 7), error, 0.0)
            return lax.ppermute(made, "x", [(i, (i + 1) % 8) for i in range(8)]), error

        state = lax.pcast(jnp.zeros_like(x[0]), "x", to="varying")
        _, errors = lax.scan(turn, state, jnp.arange(15))
        return lax.psum(jnp.sum(errors), "x") / 8

    body = jax.shard_map(run, mesh=mesh, in_specs=(P("x"), P(), P()), out_specs=P())
    return body(params, x, y)


def convolve(params, batch, keep, mesh):
    """Images that are cut into stripes."""
    x, y = batch
    for w in params:
        x = lax.conv_general_dilated(
            x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        x = jnp.tanh(x)
    x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return jnp.mean(jnp.square(x - y))


KINDS = {
    "data": lambda: make_mlp((P(), P()), [64, 128, 128, 8], P("x")),
    "weights (FSDP)": make_deep,
    "tensor": lambda: make_block([P(None, "x")] * 3 + [P("x"), P(None, "x"), P("x")], P()),
    "sequence": lambda: make_block([P()] * 6, P(None, "x"), (None, "x", None)),
    "expert": lambda: Kind(
        experts,
        [weight(16, 8), weight(8, 16, 32), weight(8, 32, 16)],
        [P(), P("x"), P("x")],
        (random(8, 32, 16), random(8, 32, 16)),
        (P("x"), P("x")),
    ),
    "pipeline": lambda: Kind(
        pipeline, weight(8, 32, 32), P("x"), (random(8, 4, 32), random(8, 4, 32)), (P(), P())
    ),
    "space": lambda: Kind(
        convolve,
        [weight(3, 3, 4, 8), weight(3, 3, 8, 8)],
        [P(), P()],
        (random(2, 32, 32, 4), random(2, 16, 16, 8)),
        (P(None, "x"), P(None, "x")),
    ),
}

NAMES = ["all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute"]
SIZES = {"pred": 1, "s8": 1, "u8": 1, "bf16": 2, "f16": 2, "f64": 8, "s64": 8, "u64": 8}


def count_group(line):
    listed = re.search(r"replica_groups=\{\{([\d,]*)\}", line)
    if listed:
        return listed[1].count(",") + 1
    counted = re.search(r"replica_groups=\[\d+,(\d+)\]", line)
    return int(counted[1]) if counted else DEVICES


def read_collectives(text):
    """By kind: how many, and the bytes that a device sends."""
    found = {}
    for line in text.splitlines():
        match = re.search(rf"= (.*?) ({'|'.join(NAMES)})(-start)?\(", line)
        if not match:
            continue
        size = 0
        for kind, dims in re.findall(r"([a-z]+\d*)\[([\d,]*)\]", match[1]):
            count = math.prod(int(d) for d in dims.split(",") if d)
            size += count * SIZES.get(kind, 4)
        name, group = match[2], count_group(line)
        others = (group - 1) / group
        factor = {
            "all-reduce": 2 * others,
            "reduce-scatter": group - 1,
            "collective-permute": 1,
        }.get(name, others)
        count, total = found.get(name, (0, 0))
        found[name] = count + 1, total + factor * size
    return found


def train(kind, devices):
    """Losses, and the compiled step."""
    mesh = None if devices is None else Mesh(np.array(devices), ("x",), axis_types=(AxisType.Auto,))
    params, batch, step = kind.params, kind.batch, kind.step(mesh)
    if mesh is None:
        step = jax.jit(step)
    else:
        to = lambda specs: jax.tree.map(lambda s: place(mesh, s), specs)
        params = jax.device_put(params, to(kind.specs))
        batch = jax.device_put(batch, to(kind.batch_specs))
        shardings = jax.tree.map(lambda p: p.sharding, params)
        step = jax.jit(step, out_shardings=(shardings, place(mesh, P())))
    compiled = step.lower(params, batch).compile()
    losses = []
    for _ in range(STEPS):
        params, value = compiled(params, batch)
        losses.append(float(value))
    return losses, compiled


def lower_on_cpu(kind):
    """XLA's program of a device."""
    mesh = Mesh(np.array(jax.devices("cpu")), ("x",), axis_types=(AxisType.Auto,))
    to = lambda specs: jax.tree.map(lambda s: place(mesh, s), specs)
    shape = lambda x, s: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=place(mesh, s))
    params = jax.tree.map(shape, kind.params, kind.specs)
    batch = jax.tree.map(shape, kind.batch, kind.batch_specs)
    out = (to(kind.specs), place(mesh, P()))
    return jax.jit(kind.step(mesh), out_shardings=out).lower(params, batch).compile()


def compare(name):
    kind = KINDS[name]()
    wanted, whole = train(kind, None)
    losses, compiled = train(kind, jax.devices())
    np.testing.assert_allclose(losses, wanted, rtol=1e-4)
    assert losses[-1] < losses[0]
    ours = read_collectives(compiled.as_text())
    on_cpu = lower_on_cpu(kind)
    memory = [get_memory(program) for program in (compiled, on_cpu, whole)]
    return ours, read_collectives(on_cpu.as_text()), *memory, count_copies(kind)


def get_memory(compiled):
    sizes = compiled.memory_analysis()
    return sizes.argument_size_in_bytes + sizes.output_size_in_bytes + sizes.temp_size_in_bytes


def count_copies(kind):
    """Bytes that each device has by the kind's own will: of parameters that aren't
    divided the old and the new ones, and gradients before and after they are summed;
    of the batch."""

    def count(tree, specs):
        leaves, specs = jax.tree.leaves(tree), broadcast_prefix(specs, tree, is_spec)
        return sum(x.nbytes for x, spec in zip(leaves, specs, strict=True) if not any(spec))

    is_spec = lambda x: isinstance(x, P)
    return 4 * count(kind.params, kind.specs) + count(kind.batch, kind.batch_specs)


def total(collectives):
    return sum(size for _, size in collectives.values())


def check(name):
    ours, theirs, memory, theirs_memory, whole, copies = compare(name)
    # XLA:CPU has no reduce-scatter: it adds everything up and takes a slice. What
    # goes from one dimension to another needn't be gathered.
    less = {"all-reduce": "reduce-scatter", "all-gather": "all-to-all"}
    kinds = set(theirs) | {less[name] for name in theirs if name in less}
    assert set(ours) <= kinds, (ours, theirs)
    assert total(ours) <= total(theirs), (ours, theirs)
    # What isn't there as a whole by the kind's own will is an eighth and a tenth. A
    # stage of the pipeline keeps more: what 15 turns had, not 8 pieces of the batch.
    most = copies + whole / DEVICES + whole / 10
    if name == "pipeline":
        most = 1.2 * theirs_memory
    assert memory <= most, (memory, theirs_memory, whole, copies)


@pytest.mark.parametrize("name", ["data", "weights (FSDP)", "tensor", "sequence"])
def test_kinds_that_split_matrices(name):
    check(name)


def show(collectives):
    return ", ".join(f"{count} {name}" for name, (count, _) in sorted(collectives.items()))


def main():
    print("| kind | collectives | bytes | XLA:CPU | bytes | memory of a device to the whole |")
    print("|---|---|---|---|---|---|")
    for name in KINDS:
        ours, theirs, memory, _, whole, _ = compare(name)
        sizes = [f"{total(c):,.0f}" for c in (ours, theirs)]
        print(
            f"| {name} | {show(ours)} | {sizes[0]} | {show(theirs)} | {sizes[1]} |"
            f" {memory / whole:.2f} |"
        )


if __name__ == "__main__":
    main()
