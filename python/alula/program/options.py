"""Options by name: what is documented is what is taken."""

import difflib

# Of a program's compilation, wherever they are given.
COMPILE = ("targets", "custom_calls", "dump_directory", "cache_directory")
# Of an artifact besides.
ARTIFACT = (*COMPILE, "external_file", "external_minimum_bytes", "until")


def check(function, given, known, named=()):
    """TypeError for an option that there is not; `named` are parameters that
    somebody may have meant."""
    for name, value in given.items():
        if name not in known:
            close = difflib.get_close_matches(name, [*known, *named], 1)
            hint = f"did you mean '{close[0]}'?" if close else f"there are {', '.join(known)}"
            raise TypeError(f"{function}() got an unexpected argument '{name}'; {hint}")
        if name in ("targets", "custom_calls") and isinstance(value, (str, bytes)):
            raise TypeError(f"{function}() argument '{name}' is a list of names: [{value!r}]")
