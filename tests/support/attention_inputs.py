"""Ways in which queries, keys and values of 3 heads of 32 numbers lie in one array."""

WAYS = ["columns", "columns of heads", "dimension in front", "last"]


def split(x, way, np):
    """x: [2, 70, 288] of `np`, which is NumPy or JAX's; three of [2, 70, 3, 32]."""
    if way == "columns":
        return [part.reshape(2, 70, 3, 32) for part in np.split(x, 3, -1)]
    if way == "columns of heads":
        parts = x.reshape(2, 70, 3, 96)
        return [parts[..., 32 * i : 32 * i + 32] for i in range(3)]
    if way == "dimension in front":
        return list(x.reshape(2, 70, 3, 3, 32).transpose(2, 0, 1, 3, 4))
    assert way == "last"
    return [x.reshape(2, 70, 3, 32, 3)[..., i] for i in (2, 0, 1)]
