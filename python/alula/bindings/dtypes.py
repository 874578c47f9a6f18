"""Element types: codes of alula/dtype.h and names that NumPy takes."""

# Code -> (NumPy's name, bytes of an element, MLIR's name). A test compares it
# with the header.
TABLE = {
    1: ("bool", 1, "i1"),
    2: ("int2", 1, "i2"),
    3: ("int4", 1, "i4"),
    4: ("int8", 1, "i8"),
    5: ("int16", 2, "i16"),
    6: ("int32", 4, "i32"),
    7: ("int64", 8, "i64"),
    8: ("uint2", 1, "ui2"),
    9: ("uint4", 1, "ui4"),
    10: ("uint8", 1, "ui8"),
    11: ("uint16", 2, "ui16"),
    12: ("uint32", 4, "ui32"),
    13: ("uint64", 8, "ui64"),
    14: ("bfloat16", 2, "bf16"),
    15: ("float16", 2, "f16"),
    16: ("float32", 4, "f32"),
    17: ("float64", 8, "f64"),
    18: ("float8_e4m3", 1, "f8E4M3"),
    19: ("float8_e4m3fn", 1, "f8E4M3FN"),
    20: ("float8_e4m3fnuz", 1, "f8E4M3FNUZ"),
    21: ("float8_e4m3b11fnuz", 1, "f8E4M3B11FNUZ"),
    22: ("float8_e5m2", 1, "f8E5M2"),
    23: ("float8_e5m2fnuz", 1, "f8E5M2FNUZ"),
    24: ("float8_e3m4", 1, "f8E3M4"),
    25: ("float8_e8m0fnu", 1, "f8E8M0FNU"),
    26: ("float6_e2m3fn", 1, "f6E2M3FN"),
    27: ("float6_e3m2fn", 1, "f6E3M2FN"),
    28: ("float4_e2m1fn", 1, "f4E2M1FN"),
    29: ("complex64", 8, "complex<f32>"),
    30: ("complex128", 16, "complex<f64>"),
    31: ("", 0, "token"),
}
CODES = {name: code for code, (name, _, _) in TABLE.items() if name}


def to_numpy(code):
    """NumPy's type of a code. Types that NumPy lacks need ml_dtypes."""
    import numpy

    name = TABLE[code][0]
    try:
        return numpy.dtype(name)
    except TypeError:
        pass
    try:
        import ml_dtypes
    except ImportError:
        raise TypeError(f"values of type {name} need the package ml_dtypes") from None
    return numpy.dtype(getattr(ml_dtypes, name))


def describe(name, shape):
    """float32[3,4]: a type as messages say it."""
    return f"{name}[{','.join(str(size) for size in shape)}]"
