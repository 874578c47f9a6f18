"""How far results are from the reference."""

import ml_dtypes
import numpy as np

# As the programs' text and the tools write them.
DTYPES = {
    "f32": np.dtype(np.float32),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "i8": np.dtype(np.int8),
    "ui8": np.dtype(np.uint8),
    "i32": np.dtype(np.int32),
    "ui32": np.dtype(np.uint32),
}


def type_text(array: np.ndarray) -> str:
    """2x3xf32"""
    names = {dtype: name for name, dtype in DTYPES.items()}
    return "x".join([*map(str, array.shape), names[array.dtype]])


def largest_error(results, references) -> float:
    """The largest difference by the largest value, over all results."""
    if len(results) != len(references):
        raise ValueError(f"{len(results)} results instead of {len(references)}")
    worst = 0.0
    for result, reference in zip(results, references, strict=True):
        result = np.asarray(result)
        if result.size != reference.size:
            raise ValueError(f"a result of shape {result.shape}, not {reference.shape}")
        result = result.reshape(reference.shape).astype(np.float64)
        reference = reference.astype(np.float64)
        if not np.isfinite(result).all():
            return float("inf")
        if reference.size == 0:
            continue
        largest = max(np.abs(reference).max(), 1e-30)
        worst = max(worst, float(np.abs(result - reference).max() / largest))
    return worst
