"""Types of values, as JAX sees them."""

import functools

import jax
import numpy as np
from jaxlib import _jax

from alula.bindings import dtypes

ArrayImpl = _jax.ArrayImpl
LITERALS = (bool, int, float, complex)


def is_literal(leaf):
    """A Python number: kept as it is instead of becoming an array."""
    return type(leaf) in LITERALS


def is_abstract(leaf):
    return isinstance(leaf, (jax.ShapeDtypeStruct, jax.core.AbstractValue))


def to_aval(leaf):
    """The abstract value of a leaf; TypeError if JAX has no such values."""
    if isinstance(leaf, jax.core.AbstractValue):
        return leaf
    if isinstance(leaf, jax.ShapeDtypeStruct):
        return jax.core.ShapedArray(leaf.shape, leaf.dtype, weak_type=bool(leaf.weak_type))
    if not isinstance(leaf, (np.ndarray, np.generic, jax.Array)) and hasattr(leaf, "__array__"):
        leaf = np.asarray(leaf)
    try:
        return jax.typeof(leaf)
    except TypeError as error:
        raise TypeError(f"{leaf!r} of type {type(leaf)} is not a valid JAX type") from error


def is_value(leaf):
    """Whether a leaf may be part of a global."""
    if isinstance(leaf, str):
        return False
    try:
        to_aval(leaf)
    except Exception:
        return False
    return True


def is_key(dtype):
    """Whether values are typed PRNG keys."""
    return jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key)


def key_impl(dtype):
    """The name of a typed key's generator, or None for numbers."""
    if not is_key(dtype):
        return None
    found = []

    def look(key):
        found.append(str(jax.random.key_impl(key)))
        return 0

    jax.eval_shape(look, jax.ShapeDtypeStruct((), dtype))
    return found[0]


def key_shape(dtype):
    """The words of one key."""
    return tuple(jax.eval_shape(jax.random.key_data, jax.ShapeDtypeStruct((), dtype)).shape)


class Type:
    """Shape and element type of an argument, a result or a global, as the
    program has it (`shape`, `dtype`) and as bytes lie in memory (`raw_…`)."""

    def __init__(self, aval):
        self.shape, self.dtype = tuple(aval.shape), aval.dtype
        self.weak = bool(getattr(aval, "weak_type", False))
        self.key = key_impl(self.dtype)
        if self.key:
            self.raw_shape = self.shape + key_shape(self.dtype)
            self.raw_dtype = np.dtype("uint32")
        else:
            self.raw_shape, self.raw_dtype = self.shape, np.dtype(self.dtype)
        # None: known only of each value.
        self.raw_aval = None
        if not self.is_dynamic:
            self.raw_aval = jax.core.ShapedArray(self.raw_shape, self.raw_dtype)

    @property
    def is_dynamic(self):
        return any(not isinstance(size, (int, np.integer)) for size in self.shape)

    def struct(self):
        """What JAX traces with."""
        return jax.ShapeDtypeStruct(self.shape, self.dtype, weak_type=self.weak)

    def __str__(self):
        return dtypes.describe(self.key and f"key<{self.key}>" or self.dtype.name, self.shape)

    def __eq__(self, other):
        return (self.shape, self.dtype) == (other.shape, other.dtype)

    def to_json(self):
        return {
            "dtype": self.raw_dtype.name,
            "shape": [
                int(n) if isinstance(n, (int, np.integer)) else str(n) for n in self.raw_shape
            ],
            **({"prng": self.key} if self.key else {}),
        }


def to_raw(value):
    """A host array of the bytes of a concrete value."""
    if isinstance(value, jax.Array) and is_key(value.dtype):
        value = jax.random.key_data(value)
    array = np.asarray(value)
    dtype = jax.dtypes.canonicalize_dtype(array.dtype)
    return np.array(array, dtype=dtype, order="C", copy=True)


# Where new arrays go, if it is asked for: a device and the sharding of just it.
_homes = {}


def _find_home(asked):
    device = asked
    if device is None or isinstance(device, str):
        device = jax.local_devices(backend=device)[0]
    home = _homes[asked] = device, jax.sharding.SingleDeviceSharding(device)
    return home


def find_home():
    """Where JAX puts new arrays: a device and the sharding of just it."""
    asked = jax.config.jax_default_device
    return _homes.get(asked) or _find_home(asked)


# As jax.device_put, which takes ten times as long to find out the same.
put = _jax.batched_device_put

# What arrays that are gone had, which JAX keeps until it makes others.
collect = getattr(_jax, "collect_garbage", lambda: None)


@functools.lru_cache(4096)
def make_aval(shape, dtype):
    return jax.core.ShapedArray(shape, dtype)


def from_raw(arrays, types_):
    """jax.Arrays of what the runtime gave, which nobody else has: the host's share its memory."""
    device, sharding = find_home()
    found = []
    for array, type_ in zip(arrays, types_):
        aval = type_.raw_aval or make_aval(array.shape, array.dtype)
        value = put(aval, sharding, [array], [device], False)
        found.append(jax.random.wrap_key_data(value, impl=type_.key) if type_.key else value)
    return found
