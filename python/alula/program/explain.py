"""What went wrong while Python ran a procedure, in the words of its author."""

import functools
import linecache
import pathlib
import re
import traceback

import jax

from alula.errors import TracedValueError

_OURS = str(pathlib.Path(__file__).resolve().parents[1])
_JAX = str(pathlib.Path(jax.__file__).resolve().parent)

_NEEDS = (
    (
        jax.errors.TracerBoolConversionError,
        "choose with jax.numpy.where, jax.lax.cond or jax.lax.while_loop",
    ),
    (jax.errors.TracerIntegerConversionError, "use jax.lax.dynamic_slice or jax.numpy.take"),
    (jax.errors.TracerArrayConversionError, "use jax.numpy instead of numpy"),
    (jax.errors.ConcretizationTypeError, "keep it an array, with jax.numpy"),
)


@functools.cache
def _make_class(theirs):
    """Who catches JAX's error catches this too."""

    def init(self, text):
        TypeError.__init__(self, text)

    return type("TracedValueError", (TracedValueError, theirs), {"__init__": init})


def explain(error, made, slots):
    """The same as a TracedValueError that names the line and the arguments;
    None for errors of other kinds."""
    theirs, advice = next(((k, text) for k, text in _NEEDS if isinstance(error, k)), (None, None))
    if advice is None:
        return None
    names = []
    for what, number in re.findall(r"\b(old|arguments)\[(\d+)\]", str(error)):
        known = (
            [f"global '{slot.path}'" for slot in slots]
            if what == "old"
            else [f"argument '{path}'" for path in made.argument_paths]
        )
        if int(number) < len(known) and known[int(number)] not in names:
            names.append(known[int(number)])
    values = "the value of " + " and ".join(names) if names else "a value"
    static = ", or make the argument static" if any(n.startswith("arg") for n in names) else ""
    return _make_class(theirs)(
        f"{_find_line(error)}Python needs {values}, which is not known while '{made.name}' is "
        f"traced: {advice}{static}"
    )


def _find_line(error):
    """The innermost line that is neither JAX's nor ours."""
    own = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith((_OURS, _JAX, "<"))
        and "site-packages" not in frame.filename
    ]
    if not own:
        return ""
    line = (linecache.getline(own[-1].filename, own[-1].lineno) or "").strip()
    return f"{own[-1].filename}:{own[-1].lineno}: " + (f"`{line}`: " if line else "")
