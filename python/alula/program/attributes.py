"""Values of globals and constants as attributes of MLIR and as its text."""

import hashlib
import json

import numpy as np
from jax.interpreters import mlir
from jaxlib.mlir import ir

# What has at least so many bytes is not part of the module's text.
_VALUE_BYTES = 1024


def is_text(array):
    """Whether a value is small enough, or regular enough, to be text."""
    if array.dtype.kind == "c":
        # JAX's bindings have no class for such attributes.
        return False
    return array.nbytes < _VALUE_BYTES or _is_splat(array)


def content_key(type_, array):
    return str(type_), hashlib.sha256(array.tobytes()).digest()


def to_array(constant):
    """The elements of a constant; None if Python has no name for their type."""
    try:
        attribute = constant.attributes["value"]
        if not isinstance(attribute, ir.DenseElementsAttr) or attribute.is_splat:
            return None
        return np.array(attribute)
    except (BufferError, TypeError, ValueError):
        return None


def tensor_type(type_):
    return ir.RankedTensorType.get(type_.raw_shape, mlir.dtype_to_ir_type(type_.raw_dtype))


def dense(array, type_):
    """A host array as an attribute."""
    return ir.Attribute.parse(f"dense<{elements(array)}> : {tensor_type(type_)}")


def elements(array):
    """The elements as MLIR writes bytes: one stands for all that are equal,
    booleans are packed."""
    if array.size == 0:
        return ""
    is_bool = array.dtype.name == "bool"
    if is_bool and array.size <= 64:
        # Few bits could be taken for one element.
        return json.dumps(array.tolist())
    raw = array.reshape(-1)
    if _is_splat(raw):
        data = (b"\xff" if raw[0] else b"\0") if is_bool else raw[:1].tobytes()
    else:
        data = (np.packbits(raw, bitorder="little") if is_bool else raw).tobytes()
    return f'"0x{data.hex().upper()}"'


def _is_splat(array):
    raw = array.reshape(-1)
    return (
        array.size > 0
        and raw[0].tobytes() == raw[-1].tobytes()
        and bool((raw.view("V%d" % array.itemsize) == raw[:1].view("V%d" % array.itemsize)).all())
    )
