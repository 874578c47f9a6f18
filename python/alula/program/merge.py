"""One module of all procedures of a program, in the form that the compiler
takes: globals of MLIR's `ml_program`, a public function for each procedure,
private ones that several share.

JAX's Python bindings of MLIR build it. They do not know `ml_program`, so its
ops are written without a verifier; the compiler's reader has one."""

import contextlib
import functools
import io

import jax
from jax.interpreters import mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import func as func_dialect

from alula.program import attributes


PLATFORM = "alula"
# Constants of more elements are compared as attributes, not as text.
_LARGE = 32


@functools.cache
def register_lowerings():
    """Linear algebra as calls of our kernels, once for each process."""
    from jax_plugins.alula import lowering

    # JAX looks for plugins, and knows our platform from then on.
    jax.devices()
    # Without the plugin these few functions have no lowering; JAX says so.
    with contextlib.suppress(NotImplementedError):
        lowering.register()


def lower(traced):
    """The bytes of JAX's module of a procedure."""
    register_lowerings()
    if traced.exported is not None:
        return traced.exported.mlir_module_serialized
    if any(t.is_dynamic for t in traced.argument_types):
        return jax.export.export(
            traced.jitted,
            platforms=(PLATFORM,),
            disabled_checks=[
                jax.export.DisabledSafetyCheck.custom_call("alula." + name) for name in _CALLS
            ],
        )(*traced.structs).mlir_module_serialized
    from jax_plugins.alula import lowering

    lowered = traced.jax.lower(
        lowering_platforms=(PLATFORM,), _private_parameters=lowering.make_portable_parameters()
    )
    module = lowered.compiler_ir("stablehlo")
    count = module.operation.attributes["mhlo.num_partitions"].value
    if count > 1:
        raise ValueError(f"procedure '{traced.name}' is sharded over {count} devices; there is one")
    out = io.BytesIO()
    module.operation.write_bytecode(out)
    return out.getvalue()


_CALLS = ("eigh", "eig", "svd", "schur", "hessenberg", "tridiagonal", "lu", "geqrf", "geqp3",
          "lu_pivots_to_permutation", "householder_product", "ormqr", "ragged_dot",
          "sparse_product", "sparse_rows_product", "sparse_sampled", "tridiagonal_solve")  # fmt: skip


def new_context():
    context = mlir.make_ir_context()
    # ml_program.
    context.allow_unregistered_dialects = True
    return context


class Merger:
    """Adds procedures to one module."""

    def __init__(self, name):
        self.context = new_context()
        with self.context, ir.Location.unknown():
            self.module = ir.Module.create()
            self.module.operation.attributes["sym_name"] = ir.StringAttr.get(name)
        self.taken = set()
        # Values that globals begin with, beside the module: symbol -> array.
        self.values = {}
        # Type and bytes -> the immutable global that has them.
        self._constants = {}
        # Text of a private function -> the functions that have it.
        self._known = {}

    def reserve(self, names):
        self.taken.update(names)

    def _unique(self, name, pattern):
        """A symbol that nothing has yet."""
        count = 0
        while name in self.taken:
            name, count = pattern.format(count), count + 1
        self.taken.add(name)
        return name

    # ---- Globals ----

    def add_globals(self, slots):
        with self.context, ir.Location.unknown(), ir.InsertionPoint(self.module.body):
            for slot in slots:
                entries = {
                    "sym_name": ir.StringAttr.get(slot.symbol),
                    "sym_visibility": ir.StringAttr.get("private"),
                    "type": ir.TypeAttr.get(attributes.tensor_type(slot.type)),
                }
                if slot.mutable:
                    entries["is_mutable"] = ir.UnitAttr.get()
                if slot.value is not None:
                    if attributes.is_text(slot.value):
                        entries["value"] = attributes.dense(slot.value, slot.type)
                    else:
                        self._add_value(slot.symbol, slot.value, entries)
                        if not slot.mutable:
                            self._constants[attributes.content_key(entries["type"], slot.value)] = (
                                slot.symbol
                            )
                ir.Operation.create("ml_program.global", attributes=entries)

    def _add_value(self, symbol, array, entries):
        self.values[symbol] = array
        if "is_mutable" not in entries:
            type_ = ir.TypeAttr(entries["type"]).value
            entries["value"] = ir.Attribute.parse(f"#ml_program.extern<{type_}>")

    def _hoist_constants(self, op):
        """Large constants become globals, which all functions share."""
        found = []

        def visit(inner):
            if inner.name == "stablehlo.constant":
                found.append(inner)

        _walk(op, visit)
        for constant in found:
            array = attributes.to_array(constant)
            if array is None or attributes.is_text(array):
                continue
            type_ = ir.TypeAttr.get(constant.results[0].type)
            key = attributes.content_key(type_, array)
            name = self._constants.get(key)
            if name is None:
                name = self._constants[key] = self._unique("_constant$0", "_constant${}")
                entries = {
                    "sym_name": ir.StringAttr.get(name),
                    "sym_visibility": ir.StringAttr.get("private"),
                    "type": type_,
                }
                self._add_value(name, array, entries)
                with ir.InsertionPoint.at_block_begin(self.module.body):
                    ir.Operation.create("ml_program.global", attributes=entries)
            with ir.InsertionPoint(constant):
                load = ir.Operation.create(
                    "ml_program.global_load",
                    results=[constant.results[0].type],
                    attributes={"global": ir.FlatSymbolRefAttr.get(name)},
                )
            constant.results[0].replace_all_uses_with(load.result)
            constant.erase()

    # ---- Procedures ----

    def add(self, traced, slots):
        """Adds a procedure; `slots` are all of the program's, in order."""
        data = lower(traced)
        with self.context, ir.Location.unknown():
            module = _read(data, self.context)
            functions = {}
            for op in list(module.body.operations):
                name = symbol(op)
                if op.operation.name == "func.func":
                    self._hoist_constants(op)
                if name == "main":
                    main = op
                elif op.operation.name == "func.func":
                    functions[name] = op
                else:
                    self._add_other(op, name)
            renamed = {}
            for name in list(functions):
                self._add_private(name, functions, renamed)
            _rename_calls(main, renamed)
            if traced.exported is not None:
                self._wrap_exported(main, traced)
            else:
                self._make_entry(main, traced, slots)
            # A module that its ops have left is not to be touched again.
            self._gone = module

    def _add_other(self, op, name):
        """Meshes of shardings, and the like: the same name is the same thing."""
        if name is not None and name not in self.taken:
            self.taken.add(name)
            self._move(op)

    def _add_private(self, name, functions, renamed):
        if name in renamed:
            return
        op = functions[name]
        for callee in _callees(op):
            if callee in functions and callee != name:
                self._add_private(callee, functions, renamed)
        _rename_calls(op, renamed)
        key, constants = _fingerprint(op)
        for known, other in self._known.get(key, ()):
            if constants == other:
                renamed[name] = known
                return
        unique = renamed[name] = self._unique(name, name + "_{}")
        op.attributes["sym_name"] = ir.StringAttr.get(unique)
        self._known.setdefault(key, []).append((unique, constants))
        self._move(op)

    def _move(self, op):
        op = op.operation
        op.detach_from_parent()
        self.module.body.append(op)

    def _make_entry(self, op, traced, slots):
        """JAX's main takes all globals and gives those that were stored; the
        entry loads and stores them."""
        op.attributes["sym_name"] = ir.StringAttr.get(traced.name)
        for name in ("sym_visibility", "arg_attrs", "res_attrs"):
            if name in op.attributes:
                del op.attributes[name]
        block = op.regions[0].blocks[0]
        with ir.InsertionPoint.at_block_begin(block):
            for i, slot in enumerate(slots):
                argument = block.arguments[i]
                if not list(argument.uses):
                    continue
                load = ir.Operation.create(
                    "ml_program.global_load",
                    results=[argument.type],
                    attributes={"global": ir.FlatSymbolRefAttr.get(slot.symbol)},
                )
                argument.replace_all_uses_with(load.result)
        for _ in slots:
            block.erase_argument(0)
        end = list(block.operations)[-1]
        values = list(end.operands)
        count = len(traced.result_leaves)
        stored = values[count : count + len(traced.stored)]
        given = values[:count] + values[count + len(traced.stored) :]
        with ir.InsertionPoint(end):
            for slot, value in zip(traced.stored, stored):
                ir.Operation.create(
                    "ml_program.global_store",
                    operands=[value],
                    attributes={"global": ir.FlatSymbolRefAttr.get(slot.symbol)},
                )
            func_dialect.ReturnOp(given)
        end.operation.erase()
        inputs = [argument.type for argument in block.arguments]
        results = [value.type for value in given]
        op.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, results))
        self._move(op)

    def _wrap_exported(self, op, traced):
        """An exported main may lack arguments that nobody reads, and may ask
        first for which of its platforms it runs; the entry sees to both."""
        exported = traced.exported
        unique = self._unique(f"{traced.name}_main", f"{traced.name}_main_{{}}")
        for name in ("arg_attrs", "res_attrs"):
            if name in op.attributes:
                del op.attributes[name]
        op.attributes["sym_name"] = ir.StringAttr.get(unique)
        op.attributes["sym_visibility"] = ir.StringAttr.get("private")
        inner = list(op.regions[0].blocks[0].arguments)
        results = list(ir.FunctionType(ir.TypeAttr(op.attributes["function_type"]).value).results)
        kept = list(exported.module_kept_var_idx)
        extra = len(inner) - len(kept)
        by_index = dict(zip(kept, inner[extra:]))
        types_ = [
            by_index[i].type if i in by_index else attributes.tensor_type(t)
            for i, t in enumerate(traced.argument_types)
        ]
        self._move(op)
        with ir.InsertionPoint(self.module.body):
            entry = func_dialect.FuncOp(traced.name, (types_, results))
        block = entry.add_entry_block()
        with ir.InsertionPoint(block):
            leading = [
                ir.Operation.create(
                    "stablehlo.constant",
                    results=[argument.type],
                    attributes={
                        "value": ir.DenseElementsAttr.get_splat(
                            argument.type,
                            ir.IntegerAttr.get(ir.RankedTensorType(argument.type).element_type, 0),
                        )
                    },
                ).result
                for argument in inner[:extra]
            ]
            call = func_dialect.CallOp(
                results,
                ir.FlatSymbolRefAttr.get(unique),
                [*leading, *(block.arguments[i] for i in kept)],
            )
            func_dialect.ReturnOp(list(call.results))


def symbol(op):
    known = op.attributes
    return ir.StringAttr(known["sym_name"]).value if "sym_name" in known else None


def _read(data, context):
    if data[:4] == b"ML\xefR" and b"StableHLO" in data[:64]:
        from jaxlib.mlir.dialects import stablehlo

        return stablehlo.deserialize_portable_artifact(context, data)
    return ir.Module.parse(data)


def _walk(op, visit):
    def each(inner):
        visit(inner.operation)
        return ir.WalkResult.ADVANCE

    op.operation.walk(each)


def _callees(op):
    found = []

    def visit(inner):
        for name in ("callee", "decomposition"):
            if name in inner.attributes:
                attribute = inner.attributes[name]
                if isinstance(attribute, ir.FlatSymbolRefAttr):
                    found.append(ir.FlatSymbolRefAttr(attribute).value)

    _walk(op, visit)
    return found


def _rename_calls(op, renamed):
    def visit(inner):
        for name in ("callee", "decomposition"):
            if name in inner.attributes:
                attribute = inner.attributes[name]
                if isinstance(attribute, ir.FlatSymbolRefAttr):
                    new = renamed.get(ir.FlatSymbolRefAttr(attribute).value)
                    if new is not None:
                        inner.attributes[name] = ir.FlatSymbolRefAttr.get(new)

    _walk(op, visit)


def _fingerprint(op):
    """What tells functions apart besides their name and where they come from."""
    constants, limit = [], {"large_elements_limit": _LARGE}

    def visit(inner):
        if inner.name == "stablehlo.constant":
            try:
                constants.append(inner.attributes["value"])
            except TypeError:
                # Python has no name for the type: all of the text then.
                limit.clear()

    _walk(op, visit)
    name = op.attributes["sym_name"]
    op.attributes["sym_name"] = ir.StringAttr.get("function")
    try:
        return op.operation.get_asm(**limit), constants
    finally:
        op.attributes["sym_name"] = name
