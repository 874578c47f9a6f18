"""Random bits over eight devices are those of one, and each device draws its own;
who asks how an array is divided hears it. test_snippets.py runs this file."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P
from partition_snippets import A, collectives, make_mesh

DEVICES = 8


@pytest.fixture(scope="module")
def mesh():
    return make_mesh((8,), ("x",))


@pytest.fixture(scope="module")
def grid():
    return make_mesh((4, 2), ("x", "y"))


@pytest.mark.parametrize(
    "algorithm, dtype, shape, spec",
    [
        ("RNG_THREE_FRY", "uint32", (64,), P("x")),
        ("RNG_THREE_FRY", "uint8", (3, 40), P(None, "x")),
        ("RNG_THREE_FRY", "uint16", (24, 5), P("x")),
        ("RNG_PHILOX", "uint16", (64,), P("x")),
        ("RNG_PHILOX", "uint32", (3, 40), P(None, "x")),
        ("RNG_DEFAULT", "uint8", (24, 5), P("x")),
    ],
)
def test_random_bits(mesh, algorithm, dtype, shape, spec):
    kind = getattr(lax.RandomAlgorithm, algorithm)
    # The counter's lower word is about to overflow.
    key = np.array([7, 9, 0xFFFFFFFA, 0xFFFFFFFF], np.uint32)
    draw = lambda k: lax.rng_bit_generator(k, shape, np.dtype(dtype), algorithm=kind)
    out = NamedSharding(mesh, P()), NamedSharding(mesh, spec)
    compiled = jax.jit(draw, out_shardings=out).lower(key).compile()
    state, bits = compiled(key)
    wanted_state, wanted = jax.jit(draw)(key)
    assert np.asarray(bits).tobytes() == np.asarray(wanted).tobytes()
    assert np.asarray(state).tobytes() == np.asarray(wanted_state).tobytes()
    text = compiled.as_text()
    # Nobody draws what it doesn't need.
    assert "rng-bit-generator" not in text
    assert f"[{','.join(map(str, shape))}]" not in text


def test_padded_random_bits(mesh):
    key = np.array([7, 9, 11, 13], np.uint32)

    def draw(k):
        bits = lax.rng_bit_generator(k, (61, 3), np.uint32)[1]
        return jnp.max(lax.with_sharding_constraint(bits, NamedSharding(mesh, P("x"))), 0)

    assert collectives(draw, mesh, [key], [P()], P()) == {"all-reduce": 1}


@pytest.mark.parametrize("algorithm", ["RNG_THREE_FRY", "RNG_PHILOX"])
def test_random_bits_of_64(mesh, algorithm):
    kind = getattr(lax.RandomAlgorithm, algorithm)
    with jax.enable_x64(True):
        key = np.array([7, 0xFFFFFFFFFFFFFFFE], np.uint64)
        draw = lambda k: lax.rng_bit_generator(k, (5, 16), np.uint64, algorithm=kind)
        out = NamedSharding(mesh, P()), NamedSharding(mesh, P(None, "x"))
        divided, whole = jax.jit(draw, out_shardings=out)(key), jax.jit(draw)(key)
        for got, wanted in zip(divided, whole):
            assert np.asarray(got).tobytes() == np.asarray(wanted).tobytes()


def ask(mesh, f, *arguments):
    """The shardings that `f`, which gets a function that asks, hears of."""
    heard = []
    with jax.set_mesh(mesh):
        jax.jit(
            lambda *a: f(lambda x: jax.debug.inspect_array_sharding(x, callback=heard.append), *a)
        )(*arguments)
    return heard


def test_asking_for_shardings(grid):
    placed = jax.device_put(A, NamedSharding(grid, P("x", "y")))

    def f(show, a):
        show(a)
        b = jnp.sin(a).T
        show(b)
        show(jnp.sum(b, 0))
        return b

    heard = ask(grid, f, placed)
    assert [s.spec for s in heard] == [P("x", "y"), P("y", "x"), P("x")]
    assert all(len(s.device_set) == 8 for s in heard)

    def inside(show, a):
        def body(a):
            show(a)
            return a * 2

        return jax.shard_map(body, mesh=grid, in_specs=P("x", "y"), out_specs=P("x", "y"))(a)

    assert [s.spec for s in ask(grid, inside, placed)] == [P()]


def test_asking_again(grid):
    """Whoever compiles the same program again hears it again."""
    placed = jax.device_put(A, NamedSharding(grid, P("x")))
    heard = []

    def f(a):
        jax.debug.inspect_array_sharding(a, callback=heard.append)
        return a + 1

    lowered = jax.jit(f).lower(placed)
    # JAX itself would give its own executable again.
    lowered.compile()
    lowered.compile(compiler_options={"xla_embed_ir_in_executable": False})
    assert len(heard) == 2


def test_error_of_who_asks(grid):
    placed = jax.device_put(A, NamedSharding(grid, P("x")))

    def complain(sharding):
        raise ValueError("not so")

    def f(a):
        jax.debug.inspect_array_sharding(a, callback=complain)
        return a + 1

    with pytest.raises(Exception, match="(?s)alula: InspectSharding: .*ValueError: not so"):
        jax.jit(f)(placed)
