"""Globals: aliases, flags, leaves, state from outside."""

import collections
import copy
import warnings
from collections import namedtuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.example_libraries import optimizers

from alula import Program, like, store_global
from alula.errors import FailedPrecondition

Params = namedtuple("Params", "x,b")
X, B = jnp.full((3, 4), 4.0), jnp.ones((3, 4))


def slots(program):
    return [(s.symbol, s.path) for s in Program.get_info(program).table.slots]


def test_alias_by_identity():
    params = Params(X, B)

    class C(Program):
        _params = params
        _x = params.x
        _equal = jnp.full((3, 4), 4.0)

    c = C()
    assert slots(c) == [
        ("_params$0", "_params.x"),
        ("_params$1", "_params.b"),
        ("_equal$0", "_equal"),
    ]
    assert Program.get_info(c).table.slots[0].aliases == ["_x"]


def test_alias_through_optimizer_state():
    initial = [(jnp.ones((4, 3)), jnp.zeros(3)), (jnp.ones((3, 2)), jnp.zeros(2))]
    init, update, get_params = optimizers.momentum(0.1, mass=0.9)
    opt_state = init(initial)

    class Trainer(Program):
        _params = initial
        _opt_state = opt_state

        def update(self, gradients=like(initial)):
            self._opt_state = update(0, gradients, self._opt_state)

        def predict(self):
            return self._params

    t = Trainer()
    assert len(Program.get_info(t).table.slots) == 8
    gradients = jax.tree.map(jnp.ones_like, initial)
    expected = opt_state
    for _ in range(3):
        t.update(gradients)
        expected = update(0, gradients, expected)
    for ours, theirs in zip(jax.tree.leaves(t.predict()), jax.tree.leaves(get_params(expected))):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_index_counts_leaves_that_were_exported_before():
    params = Params(X, B)

    class C(Program):
        _x = params.x
        _params = params

    assert [symbol for symbol, _ in slots(C())] == ["_x$0", "_params$1"]


def test_leaf_before_its_tree_is_initialised():
    """What is declared first decides for the leaf, and only for it."""
    params = Params(X, B)

    class C(Program):
        _x = params.x
        _params = Program.export_global(params)

        def x(self):
            return self._params.x

        def b(self):
            return self._params.b

    with pytest.warns(UserWarning, match="'_params' shares '_x' with '_x', which was first"):
        c = C()
    assert (c.x() == 4).all()
    with pytest.raises(FailedPrecondition, match=r"'_params\$1' is read before"):
        c.b()


def test_same_leaf_twice_is_one_slot():
    class C(Program):
        _pair = [X, X]

        def set(self, v=like(X)):
            store_global(self._pair[1], v)
            return self._pair[0]

    c = C()
    assert len(slots(c)) == 1 and c.set(X * 2)[0, 0] == 8


def test_abstract_leaves_have_no_identity():
    spec = jax.ShapeDtypeStruct((2,), jnp.float32)

    class C(Program):
        _a = Program.export_global([spec, spec])
        _b = Program.export_global(jax.core.ShapedArray((2,), jnp.float32))

    assert [symbol for symbol, _ in slots(C())] == ["_a$0", "_a$1", "_b$0"]


def test_two_aliases_stored_in_one_call():
    params = Params(X, B)

    class C(Program):
        _params = params
        _x = params.x

        def both(self):
            self._x = self._x + 1
            self._params = Params(self._params.x * 10, self._params.b)
            return self._x

    c = C()
    assert c.both()[0, 0] == 50 and c._x[0, 0] == 50


def test_numpy_scalars_and_literals():
    class C(Program):
        _state = {"s": np.float32(1), "n": 3, "none": None, "empty": ()}

        def step(self):
            state = self._state
            assert state["n"] == 3 and type(state["n"]) is int and state["none"] is None
            self._state = {**state, "s": state["s"] + state["n"]}
            return self._state

        def wrong(self):
            return 0

    c = C()
    assert slots(c) == [("_state$0", "_state.s")]
    assert c.step() == {"s": 4, "n": 3, "none": None, "empty": ()} and c._state["n"] == 3

    class D(Program):
        _state = {"s": np.float32(1), "n": 3}

        def wrong(self):
            self._state = {**self._state, "n": 4}

    with pytest.raises(TypeError, match="'_state.n' is the Python number 3"):
        D()


def test_python_number_warns():
    class C(Program):
        _step = 0

        def get(self):
            return self._step

    with pytest.warns(UserWarning, match=r"'_step' = 0 is a Python number.*jnp.asarray\(0\)"):
        c = C()
    assert c.get() == 0 and slots(c) == []


def test_float64_is_canonical():
    class C(Program):
        _w = np.ones(3)

    assert Program.get_info(C()).table.slots[0].type.dtype == jnp.float32


def test_values_are_taken_at_instantiation():
    host = np.zeros(2, np.float32)

    class C(Program):
        _x = host

        def get(self):
            return self._x

    host[:] = 1
    c = C()
    host[:] = 2
    assert c.get().tolist() == [1, 1]


def test_undefined():
    class C(Program):
        _kv = Program.export_global(jax.ShapeDtypeStruct((2,), jnp.float32))
        _zeros = Program.export_global(X, initialize="zeros")

        def read(self):
            return self._kv

        def write(self, v=like(np.zeros(2, np.float32))):
            self._kv = v
            return self._kv + 1

        def zeros(self):
            return self._zeros

    c = C()
    with pytest.raises(
        FailedPrecondition, match=r"global '_kv\$0' is read before it is initialised"
    ):
        c.read()
    with pytest.raises(FailedPrecondition):
        c._kv
    assert Program.state_dict(c).keys() == {"_zeros"}
    assert c.zeros().sum() == 0
    assert c.write(np.ones(2, np.float32)).tolist() == [2, 2] and c.read().tolist() == [1, 1]


def test_immutable():
    w = jnp.arange(4.0)

    class C(Program):
        _w = Program.export_global(w, initialize=True, mutable=False)

        def get(self):
            return self._w * 2

    c = C()
    assert c.get().tolist() == [0, 2, 4, 6] and c._w.tolist() == [0, 1, 2, 3]
    with pytest.raises(TypeError, match="global '_w' is immutable"):
        c._w = w

    class D(C):
        def set(self):
            self._w = self._w + 1

    with pytest.raises(TypeError, match="global '_w' is immutable"):
        D()
    with pytest.raises(ValueError, match="neither initialized nor mutable"):
        Program.export_global(w, mutable=False)
    with pytest.raises(ValueError, match="initialize must be"):
        Program.export_global(w, initialize="ones")


def test_contradicting_flags_warn():
    class C(Program):
        _a = X
        _b = Program.export_global(X, initialize=True, mutable=False)

    with pytest.warns(UserWarning, match="'_b' shares '_a' with '_a', which was first"):
        C()


def test_snapshots():
    class C(Program):
        _x = jnp.zeros(1000)

        def bump(self):
            before = self._x
            self._x = self._x + 1
            return before, self._x

    c = C()
    results = [c.bump() for _ in range(3)]
    assert [(a[0].item(), b[-1].item()) for a, b in results] == [(0, 1), (1, 2), (2, 3)]


def test_instances_are_independent():
    class C(Program):
        _x = jnp.asarray(0)

        def bump(self):
            self._x = self._x + 1
            return self._x

    a, b = C(), C()
    assert (a.bump(), a.bump(), b.bump()) == (1, 2, 1)


def test_read_and_set_from_outside():
    params = Params(X, B)

    class C(Program):
        _params = params

        def total(self):
            return self._params.x.sum() + self._params.b.sum()

    c = C()
    c._params = Params(np.zeros((3, 4), np.float32), B * 2)
    assert c.total() == 24 and isinstance(c._params, Params)
    with pytest.raises(
        TypeError, match=r"global '_params.b': expected float32\[3,4\], got float32\[2\]"
    ):
        c._params = Params(X, np.zeros(2, np.float32))
    assert c._params.x[0, 0] == 0, "a tree that does not fit changes nothing"
    with pytest.raises(TypeError, match="mismatched tree"):
        c._params = [X, B]


def test_clone_and_reset():
    class C(Program):
        _x = jnp.asarray(0)

        def bump(self):
            self._x = self._x + 1
            return self._x

    c = C()
    c.bump()
    d, e = Program.clone(c), copy.deepcopy(c)
    assert (d.bump(), d.bump(), e.bump(), copy.copy(c).bump(), c._x) == (2, 3, 2, 2, 1)
    Program.reset(d)
    assert d.bump() == 1


def test_state_is_saved_and_restored(tmp_path):
    class C(Program):
        _params = {"w": jnp.ones((2, 3), jnp.bfloat16), "n": jnp.asarray(0), "f": jnp.asarray(True)}
        _key = jax.random.key(7)
        _later = Program.export_global(jax.ShapeDtypeStruct((2,), jnp.float32))
        _odd = jnp.ones(3, jnp.float8_e4m3fnuz)

        def bump(self):
            p = self._params
            self._params = {"w": p["w"] * 2, "n": p["n"] + 1, "f": ~p["f"]}
            self._key, sub = jax.random.split(self._key)
            return jax.random.uniform(sub)

    c, d = C(), C()
    c.bump()
    Program.save_state(c, tmp_path / "state.safetensors")
    expected = c.bump()
    Program.load_state(d, tmp_path / "state.safetensors")
    assert d.bump() == expected and d._params["n"] == 2 and not d._params["f"] == False  # noqa: E712

    from safetensors.numpy import load_file

    assert load_file(tmp_path / "state.safetensors")["_params.n"] == 1

    state = Program.state_dict(c)
    assert "_later" not in state and jax.dtypes.issubdtype(state["_key"].dtype, jax.dtypes.prng_key)
    with pytest.raises(KeyError, match="there is no global 'nowhere'"):
        Program.load_state_dict(d, {**state, "nowhere": np.zeros(1)})
    with pytest.raises(KeyError, match="no values for the globals _key"):
        Program.load_state_dict(d, {k: v for k, v in state.items() if k != "_key"})
    with pytest.raises(TypeError, match=r"global '_params.n': expected int32\[\]"):
        Program.load_state_dict(d, {**state, "_params.n": np.zeros(3)})
    assert d._params["n"] == 2
    Program.load_state_dict(
        d, {"model.n": np.int32(9)}, strict=False, rename=lambda p: p.replace("model", "_params")
    )
    assert d._params["n"] == 9


def test_damaged_state(tmp_path):
    class C(Program):
        _x = jnp.zeros(2)

    for data in (
        b"",
        b"\xff" * 9,
        b"\x02\0\0\0\0\0\0\0[]",
        b"\x10\0\0\0\0\0\0\0" + b'{"a":{"dtype":1}}',
    ):
        (tmp_path / "s").write_bytes(data)
        with pytest.raises(ValueError, match="is no safetensors file"):
            Program.load_state(C(), tmp_path / "s")


@pytest.mark.parametrize("impl", ["threefry2x32", "rbg"])
def test_typed_keys(impl):
    key = jax.random.key(3, impl=impl)

    class C(Program):
        _key = key

        def draw(self):
            self._key, sub = jax.random.split(self._key)
            return sub

        def use(self, key=like(key)):
            return jax.random.key_data(key)

    c = C()
    expected, sub = jax.random.split(key)
    ours = c.draw()
    assert str(jax.random.key_impl(ours)) == impl
    if impl == "threefry2x32":
        assert (jax.random.key_data(ours) == jax.random.key_data(sub)).all()
        assert (jax.random.key_data(c._key) == jax.random.key_data(expected)).all()
    assert (c.use(key) == jax.random.key_data(key)).all()
    assert (c.use(jax.random.key_data(key)) == jax.random.key_data(key)).all()
    with pytest.raises(TypeError, match="got a key of"):
        c.use(jax.random.key(0, impl="rbg" if impl != "rbg" else "threefry2x32"))


@pytest.mark.parametrize(
    "dtype",
    ["bool", "int4", "uint4", "int8", "uint16", "bfloat16", "float16", "float8_e5m2", "complex64"],
)
def test_element_types(dtype):
    value = jnp.asarray([[0, 1, 1], [1, 0, 1]]).astype(dtype)

    class C(Program):
        _x = value

        def get(self):
            return self._x

        def set(self, v=like(value)):
            self._x = v

    c = C()
    assert c.get().dtype == value.dtype and (c.get() == value).all()
    c.set(value[:, ::-1])
    assert (c._x == value[:, ::-1]).all()


def test_containers():
    flax = pytest.importorskip("flax")

    @jax.tree_util.register_dataclass
    @__import__("dataclasses").dataclass
    class Point:
        x: object
        y: object

    trees = [
        [X, (B, None)],
        collections.OrderedDict(z=X + 1, a=B + 1),
        Point(X + 2, [B + 2]),
        flax.core.FrozenDict({"k": {"deep": X + 3}}),
    ]

    class C(Program):
        _trees = trees

        def get(self):
            return self._trees

        def swap(self, given=like(trees)):
            old = self._trees
            self._trees = given
            return old

    c = C()
    assert jax.tree.structure(c.get()) == jax.tree.structure(trees)
    doubled = jax.tree.map(lambda v: v * 2, trees)
    c.swap(doubled)
    assert all((a == b).all() for a, b in zip(jax.tree.leaves(c._trees), jax.tree.leaves(doubled)))
    assert isinstance(c._trees[2], Point) and isinstance(c._trees[3], flax.core.FrozenDict)
    assert [path for _, path in slots(c)][-1] == "_trees.3.k.deep"


def test_odd_keys():
    keys = ["a b", 'q"uote', "new\nline", "ctrl\x01", "\u00e9", "", "a.b"]
    tree = {key: X[0] * i for i, key in enumerate(keys)} | {"a": {"b": X[0] * 9}}

    class Odd(Program):
        _t = tree
        k = Program.kernel(lambda v: v + 1)

        def f(self, given=like({"ctrl\x01": X[0]})):
            self._t = {**self._t, "": given["ctrl\x01"]}
            return {"r\x02": self.k(self._t[""])}

    odd = Odd()
    assert odd.f({"ctrl\x01": X[0]})["r\x02"][0] == 5
    assert len(Program.state_dict(odd)) == len(keys) + 1
    loaded = Program.get_compiled_artifact(odd).load()
    assert loaded.f({"ctrl\x01": X[0]})["r\x02"][0] == 5
    assert loaded._t["a"]["b"][0] == 36 and loaded._t["a.b"][0] == 24


def test_globals_have_static_shapes():
    b = jax.export.symbolic_shape("b")

    class C(Program):
        _x = Program.export_global(jax.ShapeDtypeStruct(b, jnp.float32))

    with pytest.raises(TypeError, match=r"global '_x' must have a static shape, not float32\[b\]"):
        C()


def test_captured_globals_warn():
    w = jnp.ones(4)

    class C(Program):
        _w = w

        def run(self):
            return self.k(jnp.ones(4))

        @Program.kernel
        def k(x):
            return x * w

    with pytest.warns(UserWarning, match="kernel captured '_w' by value; pass it as an argument"):
        c = C()
    c._w = w * 5
    assert c.run().tolist() == [1] * 4
    with warnings.catch_warnings():
        warnings.simplefilter("error")

        class D(Program):
            _w = Program.export_global(w, initialize=True, mutable=False)

            def run(self):
                return self._w * w

        assert D().run().tolist() == [1] * 4
