"""Host arrays that traced code has closed over."""

import warnings


def warn(traced, info):
    """A leaf of a mutable global that was captured by value stays what it was:
    hardly what was meant."""
    for array in _find(traced.jaxpr, set()):
        slot = info.table.find_captured(array)
        if slot is not None and slot.mutable:
            warnings.warn(
                f"kernel captured '{slot.path}' by value; pass it as an argument to see updates "
                f"(procedure '{traced.name}' of program '{info.name}')",
                stacklevel=6,
            )


def _find(closed, seen):
    if id(closed) in seen:
        return
    seen.add(id(closed))
    yield from getattr(closed, "consts", ())
    jaxpr = getattr(closed, "jaxpr", closed)
    for equation in getattr(jaxpr, "eqns", ()):
        for value in equation.params.values():
            for part in value if isinstance(value, (tuple, list)) else (value,):
                if hasattr(part, "eqns") or hasattr(part, "jaxpr"):
                    yield from _find(part, seen)
