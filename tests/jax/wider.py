"""Says the same program in f64, to judge where two results differ.

XLA:CPU runs the wider program. Its result is not exact, but by far nearer to
the truth than both of those that it judges.
"""

import re
import struct

import ml_dtypes
import numpy as np
import tensor_file

NARROW = {"f32": "<u4", "f16": "<u2", "bf16": "<u2"}
_TYPE = re.compile(r"(?<![A-Za-z0-9_.])((?:[0-9?]+x)*)(complex<)?(f32|f16|bf16)\b")


def widen_type(text: str) -> str:
    return _TYPE.sub(lambda match: f"{match[1]}{match[2] or ''}f64", text)


def _hex(bits: int, kind: str) -> str:
    raw = np.array([bits], NARROW[kind])
    value = raw.view(tensor_file.DTYPES[kind]).astype(np.float64)[0]
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def _blob(digits: str, kind: str) -> str:
    narrow = np.frombuffer(bytes.fromhex(digits), tensor_file.DTYPES[kind])
    return '"0x' + narrow.astype(np.float64).tobytes().hex().upper() + '"'


def widen_text(text: str) -> str | None:
    """The module with every float as f64; nothing if bits matter or all is f64."""
    if "bitcast_convert" in text or "reduce_precision" in text or not _TYPE.search(text):
        return None
    lines = []
    for line in text.splitlines():
        types = [match[3] for match in _TYPE.finditer(line)]
        if types and "dense<" in line:
            kind = types[-1]
            line = re.sub(
                r'"0x([0-9A-Fa-f]+)"', lambda match, kind=kind: _blob(match[1], kind), line
            )
            line = re.sub(
                r'(?<!")0x([0-9A-Fa-f]+)\b(?!")',
                lambda match, kind=kind: (
                    _hex(int(match[1], 16), kind) if len(match[1]) <= 8 else match[0]
                ),
                line,
            )
        lines.append(widen_type(line))
    return "\n".join(lines)


def widen_array(array: np.ndarray) -> np.ndarray:
    if array.dtype.kind == "c":
        return array.astype(np.complex128)
    if array.dtype in (np.float32, np.float16, ml_dtypes.bfloat16):
        return array.astype(np.float64)
    return array


def _error(array: np.ndarray, truth: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore", over="ignore"):
        gap = np.abs(widen_array(array) - truth)
        # What the narrow type can't say is infinite there.
        rounded = truth.astype(array.dtype) == array
    same = np.isnan(widen_array(array)) & np.isnan(truth)
    return np.where(same | rounded, 0, np.where(np.isnan(gap), np.inf, gap))


def nearer(ours, theirs, truth, where: np.ndarray, slack: float) -> bool:
    """Whether ours is as good as theirs, or within `slack` of the truth."""
    mine, other = _error(ours, truth), _error(theirs, truth)
    with np.errstate(invalid="ignore", over="ignore"):
        good = (mine <= other) | (mine <= slack * np.abs(truth))
    return bool(good[where].all())


def nearer_as_a_whole(ours, theirs, truth) -> bool:
    """Whether ours has the smaller error, at most and on average.

    For sums of many terms: one element of a poor result may be right by chance.
    """
    mine, other = _error(ours, truth), _error(theirs, truth)
    return bool(mine.max() <= other.max() and (mine**2).sum() <= (other**2).sum())
