"""Tensors as `alula-interpret` reads and writes them.

A tensor argument is `2x3xbf16=@raw.bin`: dense, row major, little endian, and
one byte for each element of a type under eight bits.
"""

import re

import ml_dtypes
import numpy as np

# MLIR's element type names; a quantized type is stored as its storage type.
DTYPES = {
    "i1": np.bool_,
    "i2": ml_dtypes.int2,
    "i4": ml_dtypes.int4,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "ui2": ml_dtypes.uint2,
    "ui4": ml_dtypes.uint4,
    "ui8": np.uint8,
    "ui16": np.uint16,
    "ui32": np.uint32,
    "ui64": np.uint64,
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "f4E2M1FN": ml_dtypes.float4_e2m1fn,
    "f6E2M3FN": ml_dtypes.float6_e2m3fn,
    "f6E3M2FN": ml_dtypes.float6_e3m2fn,
    "f8E3M4": ml_dtypes.float8_e3m4,
    "f8E4M3": ml_dtypes.float8_e4m3,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E4M3B11FNUZ": ml_dtypes.float8_e4m3b11fnuz,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
    "complex<f32>": np.complex64,
    "complex<f64>": np.complex128,
}


def split_type(text: str) -> tuple[tuple[int, ...], str]:
    """Splits `2x3xf32` into its shape and its element type."""
    match = re.fullmatch(r"((?:\d+x)*)(.+)", text)
    return tuple(int(d) for d in match[1].split("x")[:-1]), match[2]


def dtype_of(text: str) -> np.dtype:
    return np.dtype(DTYPES[split_type(text)[1]])


def to_array(value, text: str) -> np.ndarray:
    """The value as an array of exactly this type; complains if it is not."""
    shape, _ = split_type(text)
    array = np.asarray(value, dtype_of(text))
    if array.shape != shape:
        raise ValueError(f"array of shape {array.shape} for type {text}")
    return np.ascontiguousarray(array).reshape(shape)


def write(array: np.ndarray, path) -> None:
    with open(path, "wb") as file:
        file.write(array.tobytes())


def read(path, text: str) -> np.ndarray:
    shape, _ = split_type(text)
    with open(path, "rb") as file:
        return np.frombuffer(file.read(), dtype_of(text)).reshape(shape)
