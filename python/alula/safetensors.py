"""Files of named tensors in the safetensors format, without its package."""

import json
import pathlib

import numpy as np

from alula.artifact import _write
from alula.bindings import dtypes

_NAMES = {
    "bool": "BOOL",
    "int8": "I8",
    "int16": "I16",
    "int32": "I32",
    "int64": "I64",
    "uint8": "U8",
    "uint16": "U16",
    "uint32": "U32",
    "uint64": "U64",
    "float16": "F16",
    "bfloat16": "BF16",
    "float32": "F32",
    "float64": "F64",
    "complex64": "C64",
    "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2",
    "float8_e8m0fnu": "F8_E8M0",
}
_TYPES = {short: name for name, short in _NAMES.items()}
# Types without a name in the format lie as bytes; this entry says which.
_BYTES = "alula.types"


def write(path, arrays, metadata=None):
    header, chunks, offset, odd = {}, [], 0, {}
    for name, array in arrays.items():
        array = np.ascontiguousarray(array).reshape(np.shape(array))
        short = _NAMES.get(array.dtype.name)
        if short is None:
            odd[name] = [array.dtype.name, list(array.shape)]
            array, short = array.reshape(-1).view(np.uint8), "U8"
        header[name] = {
            "dtype": short,
            "shape": list(array.shape),
            "data_offsets": [offset, offset + array.nbytes],
        }
        chunks.append(array.tobytes())
        offset += array.nbytes
    header["__metadata__"] = dict(metadata or {})
    if odd:
        header["__metadata__"][_BYTES] = json.dumps(odd)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 64)
    _write(pathlib.Path(path), len(text).to_bytes(8, "little") + text + b"".join(chunks))


def read(path):
    """Name -> array; the arrays are views of one buffer."""
    return parse(pathlib.Path(path).read_bytes(), path)


def parse(data, path="<bytes>"):
    """The same of a file's bytes."""
    size = int.from_bytes(data[:8], "little")
    if len(data) < 8 or size > len(data) - 8:
        raise ValueError(f"{path}: is no safetensors file: its header is cut")
    try:
        header = json.loads(data[8 : 8 + size])
        metadata = header.pop("__metadata__", {})
        odd = json.loads(metadata.get(_BYTES, "{}"))
        arrays = {}
        for name, entry in header.items():
            begin, end = entry["data_offsets"]
            if not 0 <= begin <= end <= len(data) - 8 - size:
                raise ValueError(f"tensor '{name}' lies outside of the file")
            dtype = dtypes.to_numpy(dtypes.CODES[_TYPES[entry["dtype"]]])
            raw = np.frombuffer(data, np.uint8, end - begin, 8 + size + begin)
            array = raw.view(dtype).reshape(entry["shape"])
            if name in odd:
                kind, shape = odd[name]
                array = raw.view(dtypes.to_numpy(dtypes.CODES[kind])).reshape(shape)
            arrays[name] = array
        return arrays
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: is no safetensors file: {error}") from error
