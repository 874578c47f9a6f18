"""Programs over eight devices that take slices, update them and look things up
along what is divided: equal to the same on one device, to the bit, and with the
collectives that it takes. test_snippets.py runs this file."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P
from partition_snippets import A, B, collectives, make_mesh

DEVICES = 8
STARTS = [-3, 0, 5, 8, 37, 60, 63, 99]


@pytest.fixture(scope="module")
def mesh():
    return make_mesh((8,), ("x",))


@pytest.fixture(scope="module")
def grid():
    return make_mesh((4, 2), ("x", "y"))


def compare(f, mesh, arguments, specs, out):
    """All bits, for several starts; the collectives of the program."""
    placed = [jax.device_put(a, NamedSharding(mesh, s)) for a, s in zip(arguments, specs)]
    divided = jax.jit(f, out_shardings=NamedSharding(mesh, out))
    whole = jax.jit(f)
    for start in STARTS:
        got, wanted = divided(*placed, start), whole(*arguments, start)
        assert np.asarray(got).tobytes() == np.asarray(wanted).tobytes(), start
    kwargs = [jnp.int32(0)]
    return collectives(f, mesh, [*arguments, *kwargs], [*specs, P()], out)


# A slice of one row, of some of a piece, of several pieces.
@pytest.mark.parametrize("rows", [1, 5, 8, 20])
def test_slices(mesh, rows):
    take = lambda a, i: lax.dynamic_slice_in_dim(a, i, rows, 0)
    minus = np.where(A < 0, np.float32(-0.0), A)
    assert compare(take, mesh, [minus], [P("x")], P()) == {"all-reduce": 1}
    if rows % 8 == 0:
        assert compare(take, mesh, [minus], [P("x")], P("x")) == {"reduce-scatter": 1}


@pytest.mark.parametrize("rows", [1, 5, 8, 20])
def test_updates(mesh, rows):
    put = lambda a, b, i: lax.dynamic_update_slice_in_dim(a, b, i, 0)
    assert compare(put, mesh, [A, B[:rows]], [P("x"), P()], P("x")) == {}


def test_slices_of_two_dimensions(grid):
    take = lambda a, i: lax.dynamic_slice(a, (i, 60 - i), (3, 20))
    assert compare(take, grid, [A], [P("x", "y")], P()) == {"all-reduce": 1}
    put = lambda a, b, i: lax.dynamic_update_slice(a, b, (i, 60 - i))
    assert compare(put, grid, [A, B[:3, :20]], [P("x", "y"), P()], P("x", "y")) == {}


def test_padded_slices(mesh):
    """63 rows: the last piece has seven."""

    def take(a, i):
        a = lax.with_sharding_constraint(a[:63] + 1, NamedSharding(mesh, P("x")))
        return lax.dynamic_slice_in_dim(a, i, 5, 0)

    assert compare(take, mesh, [A], [P("x")], P()) == {"all-reduce": 1}

    def put(a, b, i):
        a = lax.with_sharding_constraint(a[:63] + 1, NamedSharding(mesh, P("x")))
        return jnp.max(lax.dynamic_update_slice_in_dim(a, b, i, 0), 0)

    assert compare(put, mesh, [A, B[:5]], [P("x"), P()], P()) == {"all-reduce": 1}


@pytest.mark.parametrize("dtype", ["int8", "uint8", "uint32", "int16"])
def test_types_of_places(mesh, dtype):
    take = lambda a, i: lax.dynamic_slice_in_dim(a, i, 5, 0)
    at = np.array(61, dtype)
    assert collectives(take, mesh, [A, at], [P("x"), P()], P()) == {"all-reduce": 1}


def test_slices_in_loops(mesh):
    """What is stacked is written where it lies, and what is read isn't gathered."""

    def run(xs):
        step = lambda c, x: (c + x, jnp.sin(c))
        return lax.scan(step, jnp.zeros(xs.shape[1:]), xs)[1]

    large = np.ones((64, 1 << 13), np.float32)
    assert collectives(run, mesh, [large], [P("x")], P("x")) == {"all-reduce": 1}


TABLE = np.arange(63 * 4, dtype=np.float32).reshape(63, 4)
PLACES = np.array([0, 62, 7, 8, 55, 56, 61, 99, -1], np.int32)


def test_padded_lookups(mesh):
    spread = lambda x: lax.with_sharding_constraint(x, NamedSharding(mesh, P("x")))
    find = lambda a, at: jnp.take(spread(a + 1), at, 0, mode="clip")
    assert collectives(find, mesh, [TABLE, PLACES], [P(), P()], P()) == {"all-reduce": 1}
    # Nine places over eight devices: pieces of two, of which some have none.
    find = lambda a, at: jnp.sum(jnp.take(a, spread(at + 0), 0, mode="clip"))
    assert collectives(find, mesh, [TABLE, PLACES], [P(), P()], P()) == {"all-reduce": 1}


def test_padded_updates(mesh):
    spread = lambda x: lax.with_sharding_constraint(x, NamedSharding(mesh, P("x")))
    updates = np.ones((9, 4), np.float32)

    def add(a, at, b):
        return jnp.max(spread(a + 1).at[at].add(b, mode="drop"), 0)

    arguments = [TABLE, PLACES, updates]
    assert collectives(add, mesh, arguments, [P()] * 3, P()) == {"all-reduce": 1}

    def add_parts(a, at, b):
        return (a + 1).at[spread(at + 0)].add(spread(b + 0), mode="drop")

    assert collectives(add_parts, mesh, arguments, [P()] * 3, P()) == {"all-reduce": 1}
