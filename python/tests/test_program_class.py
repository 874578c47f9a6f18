"""What a class body declares: exports, names, signatures, errors."""

import gc
import weakref
from collections import namedtuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from alula import Program, like

Params = namedtuple("Params", "x,b")


def test_base_class_omits_info():
    with pytest.raises(KeyError):
        Program.get_class_info(Program)
    with pytest.raises(KeyError):
        Program.get_class_info(int)
    with pytest.raises(KeyError):
        Program.get_info(3)


def test_info():
    class MySubclass(Program):
        pass

    info = Program.get_class_info(MySubclass)
    assert info.export_name == "my_subclass"
    one, two = MySubclass(import_only=True), MySubclass(import_only=True)
    assert Program.get_info(one) is not Program.get_info(two)
    assert Program.get_info(one).class_info is info is Program.get_info(two).class_info


def test_explicit_export_name():
    class MySubclass(Program, export_name="Foobar"):
        pass

    assert Program.get_class_info(MySubclass).export_name == "Foobar"


@pytest.mark.parametrize(
    "name, expected",
    [
        ("TrivialKernel", "trivial_kernel"),
        ("MySubclass", "my_subclass"),
        ("MyProgram", "my"),
        ("Gpt2Module", "gpt2_module"),
        ("A_B", "a__b"),
        ("FFT", "f_f_t"),
        ("HTTPServerProgram", "h_t_t_p_server"),
        ("MnistModule", "mnist_module"),
        ("_Private", "__private"),
    ],
)
def test_program_name(name, expected):
    made = Program.create_from_dict(name, {})
    assert Program.get_class_info(made).export_name == expected


def test_empty_name():
    with pytest.raises(TypeError, match="pass export_name="):
        type(Program)("Program", (Program,), {})


def test_def_function():
    class C(Program):
        def nullary(self): ...

        def unary(self, a=like(np.asarray(0))): ...

    assert repr(C.nullary) == "<def nullary([])>"
    assert repr(C.unary) == "<def unary([ShapedArray(int32[])])>"


def test_global():
    class C(Program):
        my_global = np.asarray(0)

    assert repr(C.my_global) == "<global my_global: initialize=True, mutable=True, value=0>"


def test_builtins_hidden():
    class C(Program):
        def export_global(self): ...

    instance = C()
    assert instance.export_global() is None
    for name in ("get_info", "get_mlir_module", "like", "store_global", "kernel", "save", "print"):
        with pytest.raises(AttributeError):
            getattr(instance, name)
        with pytest.raises(AttributeError):
            getattr(C, name)


def test_export_function_requires_self():
    with pytest.raises(
        TypeError, match="export function 'f' is expected to have at least a 'self' parameter"
    ):

        class C(Program):
            def f(): ...


@pytest.mark.parametrize(
    "function",
    [lambda self, *a: 0, lambda self, *, k=1: 0, lambda self, **k: 0, lambda *a: 0],
)
def test_export_function_requires_positional(function):
    with pytest.raises(TypeError, match="export function 'f' can only have positional parameters"):
        Program.create_from_dict("C", {"f": function})


def test_export_function_requires_aval():
    with pytest.raises(TypeError, match="expected tree of abstract values but got: False.*like"):

        class C(Program):
            def f(self, a=False): ...

    with pytest.raises(
        TypeError, match="export function 'f' missing default value annotation for parameter 'a'"
    ):

        class D(Program):
            def f(self, a): ...


def test_export_illegal_global():
    for value in (object(), "text", np, int, staticmethod(len), property(len), len):
        with pytest.raises(
            TypeError, match="cannot set arbitrary Python value 'foobar' on program: "
        ):
            Program.create_from_dict("C", {"foobar": value})
    with pytest.raises(ValueError, match="must be a tree of JAX values, but got: <object"):
        Program.export_global(object())


def test_signature_by_annotation_and_decorator():
    class C(Program):
        def annotated(self, x: like(np.float32(1))):
            return x + 1

        @Program.procedure(signature=[like(np.float32(1))], name="other")
        def decorated(self, x):
            return x * 2

        def static(self, x=like(np.float32(1)), n=Program.static(3)):
            return x * n

        def struct(self, x=jax.ShapeDtypeStruct((2,), jnp.float32)):
            return x

    c = C()
    assert (c.annotated(1.0), c.decorated(2.0), c.static(2.0)) == (2, 4, 6)
    with pytest.raises(TypeError, match="the signature has 1 types for 0 parameters"):
        Program.procedure(signature=[1])(lambda self: 0)


def test_inheritance():
    class Base(Program):
        _x = jnp.asarray(1.0)
        _y = jnp.asarray(2.0)

        def get(self):
            return self._x, self._y

        def twice(self):
            return self._y * 2

    class Derived(Base):
        _y = jnp.asarray(5.0)

        def more(self):
            return self.twice() + 1

    info = Program.get_class_info(Derived)
    assert [name for name, _ in info.all_exports] == ["_x", "_y", "get", "twice", "more"]
    assert info.export_name == "derived"
    assert Derived().get() == (1, 5) and Derived().more() == 11 and Base().get() == (1, 2)


def test_order_and_kinds_of_exports():
    class C(Program):
        """Documented."""

        _g = jnp.zeros(2)

        def p(self):
            return self.k(self._g) + self.jitted(self._g) + self.settings["bias"]

        @Program.kernel
        def k(x):
            return x + 1

        jitted = jax.jit(lambda x: x * 2)
        settings = Program.constant({"bias": 3})

    info = Program.get_class_info(C)
    assert [n for n, _ in info.export_globals] == ["_g"]
    assert [n for n, _ in info.export_functions] == ["p"]
    assert [n for n, _ in info.py_only_defs] == ["k", "jitted"]
    assert C.__doc__ == "Documented." and C().p().tolist() == [4, 4]
    assert "_g" in dir(C) and "p" in dir(C()) and "like" in dir(Program)
    assert repr(C.k) == "<kernel k>" and repr(info).startswith("<program class c")
    with pytest.raises(AttributeError, match="cannot be changed"):
        C.p = 3
    with pytest.raises(AttributeError, match="Attribute q not defined"):
        C.q


def test_export_twice():
    info = Program.get_class_info(Program.create_from_dict("C", {"x": np.ones(1)}))
    with pytest.raises(TypeError, match="Attempt to export attribute more than once: x"):
        info.add("x", None)


def test_duplicate_export_names():
    a, b = np.ones(1), np.ones(1)
    made = Program.create_from_dict(
        "C",
        {
            "x": Program.export_global(a, export_name="n"),
            "y": Program.export_global(b, export_name="n"),
        },
    )
    with pytest.raises(ValueError, match="Duplicate export definition: n"):
        made()
    procedures = {
        "f": Program.procedure(lambda self: 1, name="n"),
        "g": Program.procedure(lambda self: 2, name="n"),
    }
    with pytest.raises(ValueError, match="Duplicate export definition: n"):
        Program.create_from_dict("D", procedures)()


def test_construction_arguments():
    class C(Program):
        def f(self):
            return 1

    with pytest.raises(TypeError, match="takes no positional arguments: got 1"):
        C(3)
    with pytest.raises(TypeError, match="unexpected argument 'speed'"):
        C(speed=3)
    with pytest.raises(TypeError, match="compile must be"):
        C(compile="now")
    with pytest.raises(TypeError, match="to be subclassed"):
        Program()
    with pytest.raises(TypeError, match="returns must be"):
        C(returns="torch")
    assert type(C(returns="numpy").f()) is np.ndarray
    assert C(context=None, compile="eager").f() == 1


def test_attributes_of_instances():
    class C(Program):
        _params = jnp.zeros(2)

        def f(self):
            return 1

    c = C()
    with pytest.raises(AttributeError, match="Attribute _parms not defined; did you mean _params?"):
        c._parms
    with pytest.raises(
        AttributeError, match="Can only set globals on a Program. Attempted to set y = 3"
    ):
        c.y = 3
    with pytest.raises(AttributeError):
        c.f = 3
    assert repr(c) == "<program c: 1 globals, <def f([])>>"


def test_kernel_outside_is_a_jitted_function():
    class C(Program):
        @Program.kernel
        def k(x, *, n=1):
            return x + n

    assert C.k(1.0, n=2) == 3
    with pytest.raises(TypeError, match="a kernel must be a function"):
        Program.kernel(3)


def test_instances_are_collected():
    class C(Program):
        _x = jnp.zeros(4)

        def f(self):
            return self._x

    c = C()
    c.f()
    state = weakref.ref(Program.get_info(c).state)
    watched = weakref.ref(c)
    del c
    assert watched() is None
    gc.collect()
    assert state() is None


def test_pickle():
    import pickle

    with pytest.raises(TypeError, match="programs cannot be pickled"):
        pickle.dumps(Program.create_from_dict("C", {})())
