"""Procedures while they are traced: reads, stores, calls, what is refused."""

from collections import namedtuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from alula import Program, like, store_global
from alula.errors import TracerLeakError

Params = namedtuple("Params", "x,b")
X, B = jnp.full((3, 4), 4.0), jnp.ones((3, 4))
SCALAR = like(np.float32(0))


def test_read_after_store():
    class C(Program):
        _x = jnp.asarray(1.0)

        def f(self):
            before = self._x
            self._x = before + 1
            between = self._x
            self._x = self._x * 10
            return before, between, self._x

    c = C()
    assert c.f() == (1, 2, 20) and c._x == 20


def test_store_of_sub_trees():
    class C(Program):
        _params = Params(X, {"k": [B, B + 1]})

        def f(self):
            store_global(self._params.x, self._params.x * 2)
            Program.store_global(self._params.b["k"], [B * 5, B * 6])
            return self._params

    c = C()
    result = c.f()
    assert (result.x[0, 0], result.b["k"][0][0, 0], result.b["k"][1][0, 0]) == (8, 5, 6)
    assert c._params.x[0, 0] == 8


def test_arbitrary_jax_code():
    class C(Program):
        _w = jnp.eye(4)

        def train(self, x=like(jnp.ones((4, 4)))):
            def loss(w):
                return jnp.sum((w @ x - 1) ** 2)

            for _ in range(2):
                self._w = self._w - 0.01 * jax.grad(loss)(self._w)
            total, _ = jax.lax.scan(lambda c, row: (c + row @ self._w[0], None), 0.0, x)
            return total, jax.vmap(lambda r: r.sum())(self._w)

    x = np.arange(16, dtype=np.float32).reshape(4, 4) / 16

    def expected(w):
        for _ in range(2):
            w = w - 0.01 * jax.grad(lambda w: jnp.sum((w @ x - 1) ** 2))(w)
        return sum(row @ w[0] for row in x), w.sum(axis=1)

    ours, theirs = C().train(x), expected(jnp.eye(4))
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-5)
    np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-5)


@pytest.mark.parametrize(
    "value, text",
    [
        (
            jnp.ones((3, 5)),
            r"cannot store float32\[3,5\] into global '_params.x' of type float32\[3,4\]",
        ),
        (jnp.ones((3, 4), jnp.int32), r"cannot store int32\[3,4\] into global '_params.x'"),
        ("text", "cannot store 'text' into global '_params.x'"),
    ],
)
def test_store_of_other_types(value, text):
    class C(Program):
        _params = Params(X, B)

        def f(self):
            self._params = Params(value, self._params.b)

    with pytest.raises(TypeError, match=text):
        C()


def test_weak_values_are_converted():
    class C(Program):
        _h = jnp.asarray(1, jnp.bfloat16)
        _n = jnp.asarray(1, jnp.int8)
        _f = jnp.asarray(1, jnp.float32)

        def f(self):
            self._h, self._n = 2.5, 3
            self._f = np.float64(7)

    c = C()
    c.f()
    assert (c._h, c._n, c._f) == (2.5, 3, 7) and c._h.dtype == jnp.bfloat16

    class D(Program):
        _n = jnp.asarray(1)

        def f(self):
            self._n = 2.5

    with pytest.raises(
        TypeError, match=r"cannot store float32\[\] into global '_n' of type int32\[\]"
    ):
        D()


def test_store_of_another_structure():
    class C(Program):
        _state = {"a": [X, B], "n": X}

        def f(self):
            self._state = {"a": [X, (B,)], "n": X}

    with pytest.raises(TypeError, match=r"Attempt to store mismatched tree .*\['a'\]\[1\]"):
        C()


def test_store_to_what_is_no_global():
    class C(Program):
        _x = X

        def f(self):
            store_global(self._x + 1, X)

    with pytest.raises(TypeError, match="'store_global' expects a tree of global arrays. Got:"):
        C()
    with pytest.raises(RuntimeError, match="only be used while a procedure is traced"):
        store_global(X, X)


@pytest.mark.parametrize(
    "change, path",
    [
        (lambda s: s.__setitem__("k", B), r"\['k'\]"),
        (lambda s: s["l"].append(B), r"\['l'\]"),
        (lambda s: s.pop("k"), "at"),
    ],
)
def test_in_place_modification(change, path):
    class C(Program):
        _state = {"k": X, "l": [X]}

        def f(self):
            change(self._state)

    with pytest.raises(
        TypeError, match=f"in-place modification of global '_state' at {path}|in-place modification"
    ):
        C()

    class D(Program):
        _state = {"k": X, "l": [X]}

        def f(self):
            state = self._state
            state["k"] = B
            self._state = state

    with pytest.raises(
        TypeError,
        match=r"in-place modification of global '_state' at \['k'\] is not a store; assign the whole "
        r"tree or use Program.store_global\(self._state\['k'\], value\)",
    ):
        D()


def in_scan(self):
    def body(c, _):
        self._x = c
        return c, None

    jax.lax.scan(body, self._x, None, length=2)


def in_cond(self):
    def branch(v):
        self._x = v
        return v

    return jax.lax.cond(True, branch, lambda v: v, self._x)


def in_vmap(self):
    def each(v):
        self._x = v
        return v

    return jax.vmap(each)(jnp.ones(2))


def in_grad(self):
    def loss(v):
        self._x = v
        return v

    return jax.grad(loss)(self._x)


def in_jit(self):
    @jax.jit
    def inner(v):
        self._x = v

    inner(self._x)


@pytest.mark.parametrize("body", [in_scan, in_cond, in_vmap, in_grad, in_jit])
def test_store_in_sub_computation(body):
    made = Program.create_from_dict("C", {"_x": jnp.asarray(1.0), "f": body})
    with pytest.raises(
        TypeError, match="globals cannot be assigned inside a traced sub-computation"
    ):
        made()


def leak_scan(self):
    kept = []
    jax.lax.scan(lambda c, _: (kept.append(c), (c + 1, None))[1], 0.0, None, length=3)
    return kept[0] + 1


def leak_cond(self):
    kept = []
    jax.lax.cond(self._x > 0, lambda v: (kept.append(v), v)[1], lambda v: v, self._x)
    return kept[0] * 2


def leak_jit(self):
    kept = []
    jax.jit(lambda v: kept.append(v + 1))(self._x)
    return kept[0] * 2


@pytest.mark.parametrize("body", [leak_scan, leak_cond, leak_jit])
def test_leaked_tracers(body):
    made = Program.create_from_dict("C", {"_x": jnp.asarray(1.0), "leaky": body})
    with pytest.raises((TracerLeakError, jax.errors.UnexpectedTracerError), match="leak"):
        made()


def test_reads_in_sub_computations():
    class C(Program):
        _x = jnp.asarray(2.0)

        def f(self):
            out, _ = jax.lax.scan(lambda c, _: (c * self._x, None), 1.0, None, length=3)
            return out + jax.lax.cond(True, lambda: self._x, lambda: 0.0)

    assert C().f() == 10


def test_procedures_call_procedures():
    class C(Program):
        _n = jnp.asarray(0)

        def twice(self):
            first = self.bump(2)
            return first, self.bump(by=jnp.asarray(3)), self._n

        def bump(self, by=like(jnp.asarray(0))):
            self._n = self._n + by
            return {"n": self._n}

    c = C()
    assert c.twice() == ({"n": 2}, {"n": 5}, 5) and c.bump(1) == {"n": 6}


@pytest.mark.parametrize(
    "call, text",
    [
        (
            lambda s: s.callee(jnp.ones(3)),
            r"callee\(\) argument 'v': expected float32\[\], got float32\[3\]",
        ),
        (lambda s: s.callee(), r"callee\(\) missing arguments: 'v'"),
        (lambda s: s.callee(1.0, 2.0), "takes 1 arguments but 2 were given"),
        (lambda s: s.callee(w=1.0), "unexpected argument 'w'"),
        (lambda s: s.callee(1.0, v=1.0), "multiple values for argument 'v'"),
        (lambda s: s.callee([1.0]), "mismatched tree"),
    ],
)
def test_wrong_calls_of_procedures(call, text):
    made = Program.create_from_dict("C", {"callee": _callee, "f": call})
    with pytest.raises(TypeError, match=text):
        made()


def _callee(self, v=SCALAR):
    return v


def test_recursion():
    class C(Program):
        def even(self):
            return self.odd()

        def odd(self):
            return self.even()

    with pytest.raises(TypeError, match="must not call themselves: even -> odd -> even") as caught:
        C()
    assert isinstance(caught.value, RecursionError)


def test_kernel_access_to_globals():
    class C(Program):
        _x = X

        def f(self):
            @Program.kernel
            def k(v):
                return v + self._x

            return k(X)

    with pytest.raises(
        TypeError, match="kernels cannot access program globals; pass them as arguments"
    ):
        C()


def test_kernel_captures():
    captured = []

    class C(Program):
        _x = jnp.asarray(1.0)

        def f(self):
            captured.append(self._x + 1)
            return self.k(2.0)

        @Program.kernel
        def k(v):
            return v + captured[-1]

    with pytest.raises(TypeError, match="kernel 'k' captures a value that procedure 'f' computes"):
        C()


def test_kernel_captures_in_two_procedures():
    """The second one would get a tracer of the first one's trace."""
    captured = []

    class C(Program):
        kernel_ = Program.kernel(lambda v: v + captured[-1])

        def first(self, x=SCALAR):
            captured.append(x * 1)
            return self.kernel_(x)

        def second(self, x=SCALAR):
            return self.kernel_(x)

    with pytest.raises(TypeError, match="captures a value that procedure 'first' computes"):
        C()


def test_kernel_captures_between_two_calls():
    """JAX would take the first call's value for the second one."""
    captured = []

    class C(Program):
        k = Program.kernel(lambda v: v + captured[-1])

        def f(self, x=SCALAR):
            captured.append(x * 2)
            one = self.k(x)
            captured.append(x * 3)
            return one + self.k(x)

    with pytest.raises(TypeError, match="captures a value that procedure 'f' computes"):
        C()


def test_stale_tracers_of_another_trace():
    kept = []

    class C(Program):
        def first(self, x=SCALAR):
            kept.append(x + 1)
            return x

        def second(self, x=SCALAR):
            return x + kept[0]

    with pytest.raises((TracerLeakError, jax.errors.UnexpectedTracerError)):
        C()


def test_kernel_arguments():
    class C(Program):
        _x = X

        def f(self):
            return self.k({"a": self._x}, scale=3.0)

        @Program.kernel
        def k(tree, *, scale):
            return tree["a"] * scale

    assert C().f()[0, 0] == 12

    class D(C):
        def g(self):
            return self.k(object(), scale=1.0)

    with pytest.raises(TypeError) as caught:
        D()
    notes = caught.value.__notes__
    assert "in kernel 'k' called by procedure 'g'" in notes
    assert "while tracing procedure 'g' of program 'd'" in notes


def test_values_that_are_no_arrays():
    class C(Program):
        def f(self):
            return object()

    with pytest.raises(TypeError, match="not a valid JAX type") as caught:
        C()
    assert "while tracing procedure 'f' of program 'c'" in caught.value.__notes__


def test_python_control_flow_on_values():
    class C(Program):
        def f(self, x=SCALAR):
            return 1 if x > 0 else 2

    with pytest.raises(jax.errors.TracerBoolConversionError) as caught:
        C()
    assert "while tracing procedure 'f' of program 'c'" in caught.value.__notes__


def test_results():
    class C(Program):
        _x = jnp.asarray(3.0)

        def f(self, unused=SCALAR, used=SCALAR):
            y = used * 2
            return {
                "same": [y, y],
                "int": 1,
                "float": 2.0,
                "np": np.arange(2),
                "none": None,
                "g": self._x,
            }

        def nothing(self):
            self._x = 4.0

    c = C()
    result = c.f(0.0, 5.0)
    assert (
        result["same"] == [10, 10] and result["int"].dtype == jnp.int32 and result["none"] is None
    )
    assert result["float"].dtype == jnp.float32 and result["np"].tolist() == [0, 1]
    assert isinstance(result["g"], jax.Array) and c.nothing() is None and c._x == 4


def test_flax_frozen_dict_and_list():
    flax = pytest.importorskip("flax")

    class C(Program):
        def f(self, a=like(0)):
            return self.k(a), self.pair(a)

        @Program.kernel
        def k(a):
            return flax.core.FrozenDict({"a": a})

        @Program.kernel
        def pair(a):
            return [a, a]

    result = C().f(3)
    assert (
        result[0]["a"] == 3 and isinstance(result[0], flax.core.FrozenDict) and result[1] == [3, 3]
    )


def test_print(capsys):
    class C(Program):
        _n = jnp.asarray(0)

        def f(self, x=SCALAR):
            self._n = self._n + 1
            Program.print("step {}: {}", self._n, x * 2)
            Program.print("done")
            return self._n

    c = C()
    c.f(1.5), c.f(2.5)
    assert capsys.readouterr().out == "step 1: 3.0\ndone\nstep 2: 5.0\ndone\n"
    with pytest.raises(RuntimeError, match="only be used while a procedure is traced"):
        Program.print("x")


@pytest.mark.parametrize("text", ["{} {}", "{0}", "{:d}", "{!r}", "{x}"])
def test_wrong_prints(text):
    made = Program.create_from_dict("C", {"f": lambda self: Program.print(text, jnp.ones(1))})
    with pytest.raises(ValueError, match="Program.print: "):
        made()


def test_print_in_sub_computation():
    def f(self):
        jax.lax.scan(lambda c, _: (Program.print("x"), (c, None))[1], 0.0, None, length=2)

    with pytest.raises(TypeError, match="cannot be used inside a traced sub-computation"):
        Program.create_from_dict("C", {"f": f})()
