"""How far results of a kernel's operations can be from the exact ones, from those
bounds of docs/accuracy.md that are more than one rounding."""

from alula.report.bounds import BOUNDS

_UNITS = {"f32": "2^-24", "f64": "2^-53"}


def describe(typed):
    """Of operations as "tanh:f32": "tanh 2 (f32), dot_general (k + 1) 2^-24 E"."""
    parts = {}
    for operation in typed:
        name, _, dtype = operation.partition(":")
        if name in ("dot_general", "dot", "convolution"):
            # What is narrower than f32 is summed in f32.
            unit = _UNITS.get(dtype, _UNITS["f32"] if dtype.startswith(("f", "bf")) else None)
            if unit:
                parts[f"{name} (k + 1) {unit} E"] = None
        elif BOUNDS.get(operation, 0) > 0.5:
            parts[f"{name} {BOUNDS[operation]:g} ({dtype})"] = None
    return ", ".join(parts)
