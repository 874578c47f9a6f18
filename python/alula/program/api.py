"""The members of `Program`."""

import concurrent.futures
import functools
import string

import jax

from alula import futures
from alula.program import containers, declarations, state, trace
from alula.program import options as option_names
from alula.program.slots import Slot


def _classes():
    from alula.program import classes

    return classes


def get_class_info(cls):
    """The declarations of a program class; KeyError for anything else."""
    return _classes().class_info(cls)


def get_info(instance):
    """Traces, module and state of an instance; KeyError for anything else."""
    return _classes().instance_info(instance)


def _info_of(program):
    if isinstance(program, type):
        get_class_info(program)
        program = program(import_only=True)
    return get_info(program)


def get_mlir_module(program):
    """The module of an instance, or of a new instance of a class."""
    return _info_of(program).module


def get_compiled_artifact(program, *, weights="inline", **options):
    """The compiled program, for any machine of this one's kind, or for those
    of `targets`. `weights` may name a safetensors file, relative, that large
    values go to; it lies beside the artifact.

    Options: `targets`, names of machines as ["cpu:x86-64-v3"]; `custom_calls`,
    names of functions that the runtime will be given; `dump_directory`, where
    the program is written after each stage; `cache_directory`, where artifacts
    are kept and taken from if they were made before; `until`, the last stage;
    `external_file` and `external_minimum_bytes`, the file that values of at
    least so many bytes go to."""
    option_names.check("get_compiled_artifact", options, option_names.ARTIFACT, ("weights",))
    info = _info_of(program)
    if weights == "inline" and not options:
        return info.portable
    if weights != "inline":
        options = {"external_minimum_bytes": 1024, "external_file": str(weights), **options}
    return info.artifact(**options)


def save(program, binary_file):
    """Writes the module as MLIR bytecode to an open file."""
    get_mlir_module(program).operation.write_bytecode(file=binary_file)


def export_global(value, *, export_name=None, initialize=False, mutable=True):
    """A global: see docs/program/state.md."""
    return declarations.Global(
        value, export_name=export_name, initialize=initialize, mutable=mutable
    )


def extern(name, *, result):
    """A function of the host: `self.f(x)` in a procedure calls it by name."""
    return declarations.Extern(name, result)


def procedure(function=None, *, signature=None, name=None):
    """Marks a method as an entry point, with a signature or a name of its own."""
    if function is None:
        return functools.partial(procedure, signature=signature, name=name)
    return declarations.Procedure(function, export_name=name, signature=signature)


def create_from_dict(name, dct, *, export_name=None):
    """A program class from a dictionary instead of a class body."""
    classes = _classes()
    body = {key: value for key, value in dct.items()}
    return classes.ProgramMeta(name, (classes.Program,), body, export_name=export_name)


def print_(text, *values):
    """Prints when the procedure runs; `{}` stands for a value."""
    scope = trace.current_scope()
    if scope is None:
        raise RuntimeError("Program.print can only be used while a procedure is traced")
    count = _count_places(text)
    leaves = jax.tree.leaves(list(values))
    if count != len(leaves):
        raise ValueError(f"Program.print: {count} places for {len(leaves)} values in {text!r}")
    scope.print(text, leaves)


def _count_places(text):
    count = 0
    for _, field, form, conversion in string.Formatter().parse(text):
        if field is None:
            continue
        if field or form or conversion:
            raise ValueError(f"Program.print: only {{}} may stand in the text: {text!r}")
        count += 1
    return count


# ---- State from outside ----


def set_attribute(info, attribute, value):
    """Sets a global between calls: all leaves or, if one does not fit, none."""
    leaves = containers.match(value, attribute.treedef, attribute.paths, attribute.name)
    with info.lock:
        before = []
        try:
            for leaf, slot, path in zip(leaves, attribute.leaves, attribute.paths):
                if not isinstance(slot, Slot):
                    if leaf != slot:
                        raise TypeError(f"'{path}' is the Python number {slot!r}, not an array")
                    continue
                if not slot.mutable:
                    raise TypeError(f"global '{slot.path}' is immutable")
                number = info.slot_number(slot)
                before.append(
                    (number, info.state.get(number) if info.state.is_defined(number) else None)
                )
                info.write(slot, leaf, path)
        except TypeError:
            for number, array in before:
                if array is not None:
                    info.state.set(number, array)
            raise


def clone(instance):
    """Another instance with the same code and a copy of the state."""
    info = get_info(instance)
    made = object.__new__(type(instance))
    made.__dict__["__alula_info__"] = state.clone(info)
    return made


def reset(instance):
    """The state becomes what it was at first."""
    state.reset(get_info(instance))


def state_dict(instance):
    """Path -> array, of all globals that have a value."""
    return state.read_all(get_info(instance))


def load_state_dict(instance, values, *, strict=True, rename=None):
    """Stores what `state_dict` gave; not `strict`: paths may be missing or too
    many. `rename` makes a path of each key."""
    state.write_all(get_info(instance), values, strict=strict, rename=rename)


def save_state(instance, path):
    """Writes all globals to a safetensors file."""
    state.save(get_info(instance), path)


def load_state(instance, path, *, strict=True, rename=None):
    """The same from a safetensors file."""
    state.load(get_info(instance), path, strict=strict, rename=rename)


def write_header(program, path, *, prefix=None):
    """A C header with a typed function for each entry point."""
    from alula import header

    info = _info_of(program)
    text = header.make(info.portable, prefix)
    with open(path, "w") as file:
        file.write(text)


_executor = functools.cache(lambda: concurrent.futures.ThreadPoolExecutor(4, "alula"))


def call_async(info, declaration, args, kwargs):
    """A future of the call, which can be awaited too."""
    future = futures.CallFuture()

    def run():
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(info.call(declaration.export_name, args, kwargs))
        except BaseException as error:  # noqa: BLE001
            future.set_exception(error)

    _executor().submit(run)
    return future


MEMBERS = {
    "like": declarations.like,
    "kernel": declarations.kernel,
    "store_global": trace.store_global,
    "export_global": export_global,
    "print": print_,
    "procedure": procedure,
    "extern": extern,
    "constant": declarations.Constant,
    "static": declarations.Static,
    "create_from_dict": create_from_dict,
    "get_class_info": get_class_info,
    "get_info": get_info,
    "get_mlir_module": get_mlir_module,
    "get_compiled_artifact": get_compiled_artifact,
    "save": save,
    "clone": clone,
    "reset": reset,
    "state_dict": state_dict,
    "load_state_dict": load_state_dict,
    "save_state": save_state,
    "load_state": load_state,
    "write_header": write_header,
}
