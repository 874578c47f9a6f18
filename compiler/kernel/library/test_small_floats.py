"""Small floats against ml_dtypes: every code, and every place where rounding
changes its mind."""

import ctypes

import ml_dtypes
import numpy as np
import pytest
from native_library import _library

TYPES = [
    "bfloat16",
    "float16",
    "float8_e4m3",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e4m3b11fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e3m4",
    "float8_e8m0fnu",
    "float6_e2m3fn",
    "float6_e3m2fn",
    "float4_e2m1fn",
]


def short_name(name):
    return name.replace("bfloat", "bf").replace("float", "f").replace("_", "")


def dtype_of(name):
    return np.dtype(getattr(ml_dtypes, name, None) or name)


def function(name, result, argument):
    found = getattr(_library, name)
    found.restype, found.argtypes = result, [argument]
    return found


def every_code(name):
    bits = {"float6": 6, "float4": 4}.get(name.split("_")[0], 8 * dtype_of(name).itemsize)
    kind = np.uint16 if bits == 16 else np.uint8
    return np.arange(1 << bits, dtype=np.uint32).astype(kind)


def values_of(name):
    return every_code(name).view(dtype_of(name)).astype(np.float64)


def same(a, b):
    return (np.isnan(a) & np.isnan(b)) | ((a == b) & (np.signbit(a) == np.signbit(b)))


@pytest.mark.parametrize("name", TYPES)
def test_decode(name):
    decode = function(f"alula_decode_{short_name(name)}", ctypes.c_float, ctypes.c_int32)
    got = np.array([decode(int(code)) for code in every_code(name)])
    assert same(got, values_of(name)).all()


def inputs(name, dtype):
    """Each value, each middle of two, and their neighbours; then others."""
    values = np.unique(values_of(name)[np.isfinite(values_of(name))])
    if len(values) > 5000:
        values = np.concatenate([values[:300], values[-300:], values[:: len(values) // 4000]])
    with np.errstate(over="ignore"):
        middles = (values[1:] + values[:-1]) / 2
        top = np.abs(values).max()
        more = np.array([top * f for f in (1.01, 1.0625, 1.125, 1.2, 1.25, 1.4, 1.5, 2, 1e6)])
        tiny = np.array(
            [np.abs(values[values != 0]).min() * f for f in (0.5, 0.49, 0.51, 0.75, 1e-3)]
        )
        every = np.concatenate([values, middles, more, -more, tiny, -tiny]).astype(dtype)
        up, down = np.nextafter(every, dtype(np.inf)), np.nextafter(every, dtype(-np.inf))
    specials = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1e-45, -1e-40, 3e38], dtype)
    random = (
        np.random.RandomState(0).randint(0, 2**32, 3000, np.uint32).view(np.float32).astype(dtype)
    )
    return np.unique(
        np.concatenate([every, up, down, random]).view(f"u{np.dtype(dtype).itemsize}")
    ).view(dtype), specials


def encode_all(name, dtype, values):
    wide = dtype is np.float64
    encode = function(
        f"alula_encode_{short_name(name)}" + ("_f64" if wide else ""),
        ctypes.c_int32,
        ctypes.c_double if wide else ctypes.c_float,
    )
    return np.array([encode(float(value)) for value in values])


def nearest_codes(name, values):
    """Codes by comparing with every value, for types where ml_dtypes goes
    through f32 and rounds twice."""
    codes = every_code(name)
    numbers = values_of(name)
    keep = np.isfinite(numbers)
    order = np.argsort(numbers[keep], kind="stable")
    codes, numbers = codes[keep][order].astype(np.int64), numbers[keep][order]
    right = np.clip(np.searchsorted(numbers, values), 1, len(numbers) - 1)
    below, above = numbers[right - 1], numbers[right]
    near_above = above - values
    near_below = values - below
    even = (codes[right] & 1) == 0
    take_above = (near_above < near_below) | ((near_above == near_below) & even)
    return np.where(take_above, right, right - 1), numbers


@pytest.mark.parametrize("name", TYPES)
def test_encode_f32(name):
    values, specials = inputs(name, np.float32)
    values = np.concatenate([values, specials])
    with np.errstate(all="ignore"):
        expected = values.astype(dtype_of(name))
    codes = every_code(name)
    got = encode_all(name, np.float32, values)
    expected = expected.view(np.uint16 if dtype_of(name).itemsize == 2 else np.uint8)
    # NaNs have one code, whatever their bits were.
    nan = np.isnan(values)
    wrong = (got != expected) & ~nan
    if "e8m0" in name:
        # ml_dtypes takes the larger neighbour here, which is further away.
        wrong &= ~((values > 2.0**-127) & (values < 1.5 * 2.0**-127))
    assert not wrong.any(), [
        (values[i], got[i], int(expected[i])) for i in np.flatnonzero(wrong)[:5]
    ]
    decoded = codes.view(dtype_of(name)).astype(np.float64)[got[nan]]
    if "6" in name.split("_")[0][5:] and "_" in name or name.startswith("float4"):
        assert (decoded == 0).all()
    else:
        assert np.isnan(decoded).all()


@pytest.mark.parametrize("name", [name for name in TYPES if "e8m0" not in name])
def test_encode_f64(name):
    values, _ = inputs(name, np.float64)
    finite = values_of(name)[np.isfinite(values_of(name))]
    values = values[np.abs(values) <= finite.max()]
    got = encode_all(name, np.float64, values)
    decoded = every_code(name).view(dtype_of(name)).astype(np.float64)[got]
    index, numbers = nearest_codes(name, values)
    wrong = decoded != numbers[index]
    assert not wrong.any(), [
        (values[i], decoded[i], numbers[index][i]) for i in np.flatnonzero(wrong)[:5]
    ]


@pytest.mark.parametrize("name", TYPES)
def test_f64_agrees_where_f32_is_exact(name):
    values, specials = inputs(name, np.float32)
    values = np.concatenate([values, specials])
    narrow = encode_all(name, np.float32, values)
    wide = encode_all(name, np.float64, values.astype(np.float64))
    assert (narrow == wide).all(), values[narrow != wide][:5]
