"""The program's module as users see it."""

import html
import re

from jaxlib.mlir import ir

from alula.program.attributes import elements
from alula.program.merge import symbol
from alula.program.specialize import FunctionTypes

_NAME = r'@(?:[\w$.\-]+|"(?:[^"\\]|\\.)*")'
_LOAD = re.compile(
    rf'"ml_program\.global_load"\(\) (?:<)?\{{global = ({_NAME})\}}(?:>)? : \(\) -> (.*)'
)
_STORE = re.compile(
    rf'"ml_program\.global_store"\((%[\w#]+)\) \{{global = ({_NAME})\}} : \((.*)\) -> \(\)'
)
_GLOBAL = re.compile(r'"ml_program\.global"\(\) \{(.*)\} : \(\) -> \(\)')
_SAFE = re.compile(r"[A-Za-z_][\w$.]*$")


def _symbol(text):
    """Names with a `$` are quoted, as those of globals always were."""
    name = text.strip("@")
    if name.startswith('"'):
        return "@" + name
    return f'@"{name}"' if "$" in name or not _SAFE.match(name) else "@" + name


def _pretty_global(op, values, limit):
    attributes = op.attributes
    name = ir.StringAttr(attributes["sym_name"]).value
    mutable = " mutable" if "is_mutable" in attributes else ""
    type_ = ir.TypeAttr(attributes["type"]).value
    value = f"({attributes['value']})" if "value" in attributes else ""
    if name in values:
        array = values[name]
        short = limit is not None and array.size > limit
        value = f"(dense<{'__elided__' if short else elements(array)}> : {type_})"
    shown = f'@"{name}"' if not _SAFE.match(name) or "$" in name else f"@{name}"
    return f"ml_program.global private{mutable} {shown}{value} : {type_}"


def _pretty_line(line):
    found = _LOAD.search(line)
    if found:
        return line[: found.start()] + f"ml_program.global_load {_symbol(found[1])} : {found[2]}"
    found = _STORE.search(line)
    if found:
        return (
            line[: found.start()]
            + f"ml_program.global_store {_symbol(found[2])} = {found[1]} : {found[3]}"
        )
    return line


class ModuleOperation:
    """The parts of MLIR's operation that make sense for a whole program."""

    def __init__(self, module):
        self._module = module

    def get_asm(self, *, enable_debug_info=False, large_elements_limit=None, binary=False, **_):
        op = self._module._operation
        with self._module._context:
            text = op.get_asm(
                enable_debug_info=enable_debug_info, large_elements_limit=large_elements_limit
            )
            pretty = iter(
                [_pretty_global(o, self._module.values, large_elements_limit) for o in op.regions[0].blocks[0].operations
                 if o.operation.name == "ml_program.global"]
            )  # fmt: skip
        lines = []
        for line in text.splitlines():
            if _GLOBAL.search(line):
                line = line[: len(line) - len(line.lstrip())] + next(pretty)
            lines.append(_pretty_line(line))
        text = "\n".join(lines) + "\n"
        return text.encode() if binary else text

    def print(self, file=None, binary=False, **options):
        text = self.get_asm(**options)
        if file is None:
            print(text)
        else:
            file.write(text.encode() if binary else text)

    def write_bytecode(self, file, desired_version=None):
        """The whole program in MLIR's bytecode, values included."""
        module = self._module
        with module._context, ir.Location.unknown():
            whole = ir.Module.parse(self._module._operation.get_asm(binary=False))
            for op in whole.body.operations:
                name = symbol(op)
                if op.operation.name == "ml_program.global" and name in module.values:
                    type_ = ir.TypeAttr(op.attributes["type"]).value
                    op.attributes["value"] = ir.Attribute.parse(
                        f"dense<{elements(module.values[name])}> : {type_}"
                    )
            whole.operation.write_bytecode(file)

    def verify(self):
        return self._module._operation.verify()

    def __str__(self):
        return self.get_asm()


class Module:
    """A whole program in StableHLO and `ml_program`. `str()` is its text, which
    alula-compile takes."""

    def __init__(self, operation, context, values, names):
        self._operation, self._context = operation, context
        # What globals begin with, where it is not in the module: symbol -> array.
        self.values = values
        # Function -> names of its arguments and results.
        self._names = names

    @property
    def operation(self):
        return ModuleOperation(self)

    def describe_function(self, name):
        """How the module's text calls a function, and its types."""
        with self._context:
            for function in self._operation.regions[0].blocks[0].operations:
                if function.operation.name == "func.func" and symbol(function) == name:
                    return str(ir.FlatSymbolRefAttr.get(name)), FunctionTypes(function)
        raise KeyError(name)

    def to_compile(self, description):
        """The text for the compiler: with names and places, without `values`."""
        op = self._operation
        with self._context:
            op.attributes["alula.program"] = ir.StringAttr.get(description)
            functions = []
            for function in op.regions[0].blocks[0].operations:
                named = self._names.get(symbol(function))
                if function.operation.name == "func.func" and named:
                    _set_names(function, *named)
                    functions.append(function)
            text = op.get_asm(enable_debug_info=True)
            for function in functions:
                for name in ("arg_attrs", "res_attrs"):
                    if name in function.attributes:
                        del function.attributes[name]
            del op.attributes["alula.program"]
        return text

    def __str__(self):
        return self.operation.get_asm()

    def _repr_html_(self):
        return f"<pre>{html.escape(self.operation.get_asm(large_elements_limit=16))}</pre>"


def _set_names(function, arguments, results):
    def all_of(key, names):
        return ir.ArrayAttr.get(
            [ir.DictAttr.get({key: ir.StringAttr.get(name)} if name else {}) for name in names]
        )

    if arguments:
        function.attributes["arg_attrs"] = all_of("jax.arg_info", arguments)
    if results:
        function.attributes["res_attrs"] = all_of("jax.result_info", results)
