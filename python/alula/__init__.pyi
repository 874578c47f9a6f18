from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any, BinaryIO

from alula.artifact import Artifact as Artifact
from alula.errors import AlulaError as AlulaError
from alula.errors import CompileError as CompileError
from alula.errors import TracedValueError as TracedValueError
from alula.errors import TracerLeakError as TracerLeakError
from alula.functions import CompiledFunction
from alula.loaded import LoadedProgram as LoadedProgram
from alula.program.info import ClassInfo, InstanceInfo
from alula.program.module import Module

__version__: str

class _ProgramMeta(type):
    def __new__(
        mcs,
        name: str,
        bases: tuple[type, ...],
        body: dict[str, Any],
        *,
        export_name: str | None = None,
    ) -> Any: ...
    # Members of `Program` alone: classes and instances of yours hide them.
    def like(cls, tree: Any) -> Any: ...
    def kernel(cls, function: Callable[..., Any]) -> Callable[..., Any]: ...
    def store_global(cls, target: Any, source: Any) -> None: ...
    def export_global(
        cls,
        value: Any,
        *,
        export_name: str | None = None,
        initialize: bool | str = False,
        mutable: bool = True,
    ) -> Any: ...
    def print(cls, text: str, *values: Any) -> None: ...
    def procedure(
        cls,
        function: Callable[..., Any] | None = None,
        *,
        signature: Any = None,
        name: str | None = None,
    ) -> Any: ...
    def extern(cls, name: str, *, result: Any) -> Any: ...
    def constant(cls, value: Any) -> Any: ...
    def static(cls, value: Any) -> Any: ...
    def create_from_dict(
        cls, name: str, dct: Mapping[str, Any], *, export_name: str | None = None
    ) -> type[Program]: ...
    def get_class_info(cls, program: type[Program]) -> ClassInfo: ...
    def get_info(cls, program: Program) -> InstanceInfo: ...
    def get_mlir_module(cls, program: Program | type[Program]) -> Module: ...
    def get_compiled_artifact(
        cls, program: Program | type[Program], *, weights: str = "inline", **options: Any
    ) -> Artifact: ...
    def save(cls, program: Program | type[Program], binary_file: BinaryIO) -> None: ...
    def clone(cls, program: Program) -> Any: ...
    def reset(cls, program: Program) -> None: ...
    def state_dict(cls, program: Program) -> dict[str, Any]: ...
    def load_state_dict(
        cls,
        program: Program,
        values: Mapping[str, Any],
        *,
        strict: bool = True,
        rename: Callable[[str], str] | None = None,
    ) -> None: ...
    def save_state(cls, program: Program, path: str | PathLike[str]) -> None: ...
    def load_state(
        cls,
        program: Program,
        path: str | PathLike[str],
        *,
        strict: bool = True,
        rename: Callable[[str], str] | None = None,
    ) -> None: ...
    def write_header(
        cls,
        program: Program | type[Program],
        path: str | PathLike[str],
        *,
        prefix: str | None = None,
    ) -> None: ...

class Program(metaclass=_ProgramMeta):
    def __new__(
        cls,
        *,
        context: Any = None,
        import_only: bool = False,
        compile: str | None = None,
        returns: str = "jax",
        **options: Any,
    ) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...
    def __setattr__(self, name: str, value: Any) -> None: ...

def like(tree: Any) -> Any: ...
def kernel(function: Callable[..., Any]) -> Callable[..., Any]: ...
def store_global(target: Any, source: Any) -> None: ...
def load(
    source: str | PathLike[str] | bytes,
    *,
    constants: str | PathLike[str] | None = None,
    max_global_bytes: int = 0,
) -> LoadedProgram: ...
def load_torch_xla(
    folder: str | PathLike[str], *, targets: Sequence[str] = ("cpu:host",)
) -> TorchXlaProgram: ...

class TorchXlaProgram:
    state_dict: dict[str, Any]
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

def compile(
    function: Any,
    *specs: Any,
    name: str | None = None,
    static_argnums: int | tuple[int, ...] = (),
    **options: Any,
) -> CompiledFunction: ...
def export(
    function: Any,
    *specs: Any,
    name: str | None = None,
    static_argnums: int | tuple[int, ...] = (),
    weights: str = "inline",
    **options: Any,
) -> Artifact: ...
def export_functions(
    functions: Mapping[str, Any],
    *,
    name: str = "functions",
    weights: str = "inline",
    **options: Any,
) -> Artifact: ...
def print_environment_info(return_string: bool = False) -> str | None: ...
def get_environment_info() -> dict[str, str]: ...
def register_custom_call(name: str, function: Callable[..., Any]) -> None: ...
def from_exported(exported: Any, *, name: str = "main") -> type[Program]: ...
