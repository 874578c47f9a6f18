"""Arrays of loaded programs: DLPack in every version, and in notebooks."""

import ctypes
import gc
import html.parser
import subprocess
import sys
import threading

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from program_tools import ROOT

import alula
from alula import arrays, dlpack

_get = ctypes.PyDLL(None).PyCapsule_GetPointer
_get.restype = ctypes.c_void_p
_get.argtypes = [ctypes.py_object, ctypes.c_char_p]


class Capsule:
    """What a consumer reads, by the layout of the specification alone."""

    def __init__(self, capsule, name):
        self.capsule = capsule
        self.address = _get(capsule, name)
        raw = (ctypes.c_uint8 * 128).from_address(self.address)
        words = np.frombuffer(raw, np.uint8)
        at = 0
        self.version = self.flags = None
        if name == b"dltensor_versioned":
            self.version = tuple(words[0:8].view(np.uint32).tolist())
            self.deleter = int(words[16:24].view(np.uint64)[0])
            self.flags = int(words[24:32].view(np.uint64)[0])
            at = 32
        tensor = words[at : at + 48]
        self.data = int(tensor[0:8].view(np.uint64)[0])
        self.device = tuple(tensor[8:16].view(np.int32).tolist())
        self.ndim = int(tensor[16:20].view(np.int32)[0])
        self.code, self.bits = int(tensor[20]), int(tensor[21])
        self.lanes = int(tensor[22:24].view(np.uint16)[0])
        shape, strides, self.offset = tensor[24:48].view(np.uint64).tolist()
        read = ctypes.c_int64 * self.ndim
        self.shape = tuple(read.from_address(shape)) if self.ndim else ()
        self.strides = tuple(read.from_address(strides)) if self.ndim else ()
        if name == b"dltensor":
            self.deleter = int(words[56:64].view(np.uint64)[0])

    def delete(self):
        """As a consumer that has taken it does."""
        rename = ctypes.PyDLL(None).PyCapsule_SetName
        rename.argtypes = [ctypes.py_object, ctypes.c_char_p]
        self._name = b"used_dltensor"
        assert rename(self.capsule, self._name) == 0
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.deleter)(self.address)


def make(value):
    return np.asarray(value).view(arrays.Array)


TYPES = [
    ("bool", 6, 8),
    ("int8", 0, 8),
    ("int64", 0, 64),
    ("uint16", 1, 16),
    ("float16", 2, 16),
    ("float64", 2, 64),
    ("complex64", 5, 64),
    ("bfloat16", 4, 16),
    ("float8_e4m3fn", 10, 8),
    ("float8_e5m2", 12, 8),
]


@pytest.mark.parametrize("name, code, bits", TYPES)
def test_versioned(name, code, bits):
    dtype = np.dtype(getattr(ml_dtypes, name, None) or name)
    array = make(np.zeros((2, 3), dtype))
    made = Capsule(array.__dlpack__(max_version=(1, 0)), b"dltensor_versioned")
    assert made.version[0] == 1 and made.version[1] == (1 if bits == 8 and code > 6 else 0)
    assert (made.code, made.bits, made.lanes) == (code, bits, 1)
    assert made.shape == (2, 3) and made.strides == (3, 1) and made.offset == 0
    assert made.device == (1, 0) == array.__dlpack_device__()
    assert made.data == array.ctypes.data and made.flags == 0


def test_unversioned():
    array = make(np.arange(6, dtype=np.float32).reshape(2, 3).T)
    for options in ({}, {"max_version": (0, 8)}):
        made = Capsule(array.__dlpack__(**options), b"dltensor")
        assert made.shape == (3, 2) and made.strides == (1, 3) and made.data == array.ctypes.data
    with pytest.raises(BufferError, match="needs a consumer of DLPack 1.0"):
        make(np.zeros(2, ml_dtypes.float8_e5m2)).__dlpack__()


def test_read_only():
    array = make(np.arange(3.0))
    array.flags.writeable = False
    made = Capsule(array.__dlpack__(max_version=(1, 1)), b"dltensor_versioned")
    assert made.flags == dlpack.READ_ONLY and made.data == array.ctypes.data
    # Who can't be told gets a copy.
    made = Capsule(array.__dlpack__(), b"dltensor")
    assert made.data != array.ctypes.data
    with pytest.raises(BufferError, match="read-only, which consumers before DLPack 1.0"):
        array.__dlpack__(copy=False)
    made = Capsule(array.__dlpack__(max_version=(1, 0), copy=True), b"dltensor_versioned")
    assert made.flags == dlpack.IS_COPIED and made.data != array.ctypes.data


def test_what_is_refused():
    with pytest.raises(BufferError, match="no streams"):
        make(np.zeros(2)).__dlpack__(stream=1)
    with pytest.raises(BufferError, match=r"can't be exported to device \(2, 0\)"):
        make(np.zeros(2)).__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError, match="DLPack has no type for int4"):
        make(np.zeros(2, ml_dtypes.int4)).__dlpack__()
    with pytest.raises(BufferError, match="DLPack has no type for"):
        make(np.zeros(2, ">f4")).__dlpack__()


@pytest.mark.parametrize("options", [{}, {"max_version": (1, 0)}])
def test_lifetime(options):
    gc.collect()
    before = len(dlpack._alive)
    array = make(np.full(1000, 7.0))
    taken = np.from_dlpack(array)
    address = array.ctypes.data
    del array
    gc.collect()
    assert taken.ctypes.data == address and (taken == 7).all()
    assert len(dlpack._alive) == before + 1
    del taken
    gc.collect()
    assert len(dlpack._alive) == before
    # Nobody took it.
    capsule = make(np.zeros(3)).__dlpack__(**options)
    assert len(dlpack._alive) == before + 1
    del capsule
    assert len(dlpack._alive) == before
    # Taken, and given back by another thread.
    name = b"dltensor_versioned" if options else b"dltensor"
    made = Capsule(make(np.zeros(3)).__dlpack__(**options), name)
    thread = threading.Thread(target=made.delete)
    thread.start()
    thread.join()
    assert len(dlpack._alive) == before
    del made


def test_alive_when_the_process_ends():
    text = (
        "import numpy as np\nfrom alula import arrays\n"
        "kept = np.from_dlpack(np.ones(3).view(arrays.Array))\n"
        "capsule = np.ones(3).view(arrays.Array).__dlpack__()\nprint(kept.sum())"
    )
    done = subprocess.run(
        [sys.executable, "-c", text], cwd=ROOT / "python", capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "3.0\n", "")


def test_results_go_anywhere():
    def f(x):
        return x * 2, x.astype(jnp.bfloat16)

    loaded = alula.export(f, jnp.ones(4)).load()
    double, small = loaded.f(np.arange(4, dtype=np.float32))
    assert isinstance(double, np.ndarray) and isinstance(double, arrays.Array)
    shared = np.from_dlpack(double)
    double[0] = 5
    assert shared[0] == 5 and shared.ctypes.data == double.ctypes.data
    taken = jax.dlpack.from_dlpack(small)
    assert taken.dtype == jnp.bfloat16 and taken.tolist() == [0, 1, 2, 3]
    # What is computed with it is plain; JAX takes it.
    assert type(double + 1) is np.ndarray and np.isscalar(double.sum())
    assert (jax.jit(lambda x: x + 1)(double) == np.asarray(double) + 1).all()
    assert loaded.f(double)[0][3] == 12


def test_arrays_of_the_plugin():
    text = """
import gc
import jax, jax.numpy as jnp, numpy as np
from alula import dlpack
x = jax.jit(lambda: jnp.arange(6.0).reshape(2, 3) + 1)()
assert x.platform() == "alula" and x.__dlpack_device__() == (1, 0)
taken = np.from_dlpack(x)
assert taken.tolist() == [[1, 2, 3], [4, 5, 6]]
# What was shown stays, though its array is given away.
versioned = x.__dlpack__(max_version=(1, 0))
y = jax.jit(lambda a: a * 2, donate_argnums=0)(x)
del x
gc.collect()
assert taken.tolist() == [[1, 2, 3], [4, 5, 6]] and y[0, 0] == 2
assert "dltensor_versioned" in repr(versioned)
cpu = jax.device_put(np.ones(2), jax.devices("cpu")[0])
assert np.from_dlpack(cpu).tolist() == [1, 1] and cpu.__dlpack_device__()[0] == 1
print("fine")
"""
    done = subprocess.run(
        [sys.executable, "-c", text],
        cwd=ROOT / "python",
        env={**__import__("os").environ, "JAX_PLATFORMS": "alula,cpu"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and done.stdout == "fine\n", done.stderr[-3000:]


def parse(text):
    """Tags that open and close, and the words between them."""
    open_, words = [], []

    class Parser(html.parser.HTMLParser):
        def handle_starttag(self, tag, _):
            open_.append(tag)

        def handle_endtag(self, tag):
            assert open_.pop() == tag

        def handle_data(self, data):
            words.append(data)

    Parser().feed(text)
    assert not open_
    return words


def test_html():
    words = parse(make(np.arange(6).reshape(2, 3))._repr_html_())
    assert words == ["int64[2,3]", "0", "1", "2", "0", "0", "1", "2", "1", "3", "4", "5"]
    words = parse(make(np.arange(1000.0))._repr_html_())
    assert words[0] == "float64[1000]" and "…" in words and "999.0" in words and len(words) < 40
    assert "1.5" in parse(make(np.float32(1.5))._repr_html_())
    assert "[0, …]" in parse(make(np.zeros((2, 3, 4)))._repr_html_())
    assert parse(make(np.zeros((0, 4)))._repr_html_())[0] == "float64[0,4]"


def test_html_of_programs():
    def scale(x, by):
        """Scales <it>.

        More."""
        return x * by

    made = alula.compile(scale, jnp.ones(3), jnp.ones(()))
    loaded = made.artifact.load()
    for text in (loaded._repr_html_(), loaded.scale._repr_html_(), made._repr_html_()):
        words = parse(text)
        assert "scale" in words and "(x, by)" in words and "Scales <it>." in words
    assert ["argument", "x", "float32[3]"] == parse(loaded.scale._repr_html_())[5:8]

    class Counter(alula.Program):
        _count = jnp.zeros((2,), jnp.int32)

        def run(self, by=alula.like(jnp.int32(0))):
            self._count = self._count + by

    words = parse(Counter()._repr_html_())
    assert "run" in words and "(by)" in words and "_count" in words and "int32[2]" in words
