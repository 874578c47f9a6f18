"""Element types: codes of alula/dtype.h and names that NumPy takes."""

# Code -> (NumPy's name, bytes of an element in NumPy's arrays, MLIR's name). A
# test compares it with the header.
TABLE = {
    1: ("bool", 1, "i1"),
    4: ("int8", 1, "i8"),
    5: ("int16", 2, "i16"),
    6: ("int32", 4, "i32"),
    7: ("int64", 8, "i64"),
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
    29: ("complex64", 8, "complex<f32>"),
    30: ("complex128", 16, "complex<f64>"),
    31: ("", 0, "token"),
    32: ("int2", 1, "i2"),
    33: ("int4", 1, "i4"),
    34: ("uint2", 1, "ui2"),
    35: ("uint4", 1, "ui4"),
    36: ("float4_e2m1fn", 1, "f4E2M1FN"),
}
TOKEN = 31
CODES = {name: code for code, (name, _, _) in TABLE.items() if name}


# Elements of 2 and 4 bits: how many share a byte of a buffer of the runtime.
PACKING = {32: 4, 33: 2, 34: 4, 35: 2, 36: 2}
PACKED_NAMES = {TABLE[code][0] for code in PACKING}


def packed_bytes(code, count):
    """Bytes that elements take in a buffer of the runtime."""
    return -(-count // PACKING[code]) if code in PACKING else count * TABLE[code][1]


def pack(code, array):
    """A contiguous array in the form that buffers of the runtime have."""
    if code not in PACKING:
        return array
    import numpy

    each = PACKING[code]
    bits = 8 // each
    codes = array.reshape(-1).view(numpy.uint8) & ((1 << bits) - 1)
    rows = numpy.zeros((-(-codes.size // each), each), numpy.uint8)
    rows.reshape(-1)[: codes.size] = codes
    packed = rows[:, 0].copy()
    for i in range(1, each):
        packed |= rows[:, i] << (i * bits)
    return packed


def unpack(code, raw, shape):
    """Bytes of a buffer as an array; of packed elements a copy."""
    if code not in PACKING:
        return raw.view(to_numpy(code)).reshape(shape)
    import numpy

    each = PACKING[code]
    bits = 8 // each
    count = 1
    for size in shape:
        count *= size
    shifts = numpy.arange(each, dtype=numpy.uint8) * bits
    codes = ((raw[:, None] >> shifts) & ((1 << bits) - 1)).reshape(-1)[:count]
    if TABLE[code][0].startswith("int"):
        sign = 1 << (bits - 1)
        codes = ((codes ^ sign) - sign).astype(numpy.uint8)
    return codes.view(to_numpy(code)).reshape(shape)


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
