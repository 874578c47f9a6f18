"""What goes wrong, as exceptions."""


class AlulaError(RuntimeError):
    """An error of the runtime or the compiler; `code` is its status."""

    code = "unknown"

    def __init__(self, message, code=None):
        super().__init__(message)
        if code is not None:
            self.code = code


class InvalidArgument(AlulaError, ValueError):
    code = "invalid argument"


class NotFound(AlulaError, LookupError):
    code = "not found"


class FailedPrecondition(AlulaError):
    code = "failed precondition"


class ResourceExhausted(AlulaError, MemoryError):
    code = "resource exhausted"


class CompileError(AlulaError):
    """The compiler refused a program. `diagnostics` are all that it said, as
    pairs of place and text."""

    code = "invalid argument"

    def __init__(self, message, diagnostics=()):
        super().__init__(message)
        self.diagnostics = list(diagnostics)


class TracedValueError(TypeError):
    """Python asked for a value that is not known while a procedure is traced: in
    an `if`, as an index, or for NumPy. It is an error of JAX's kind too, and has
    JAX's own as its cause."""


class TracerLeakError(TypeError):
    """A value of a traced sub-computation was used outside of it."""


_BY_CODE = {
    3: InvalidArgument,
    5: NotFound,
    8: ResourceExhausted,
    9: FailedPrecondition,
}


def from_status(code, name, message):
    """The exception for a status code of the C interface."""
    kind = _BY_CODE.get(code)
    return kind(message) if kind else AlulaError(message, name)
