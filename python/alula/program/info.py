"""What is known of a program: of its class, and of each instance."""

import threading

import jax
import numpy as np

from alula import values
from alula.artifact import Artifact
from alula.bindings import compiler, dtypes, runtime
from alula.program import declarations, description, duration, merge, specialize, trace, types
from alula.program.module import Module
from alula.program.slots import SlotTable


class ClassInfo:
    def __init__(self, export_name):
        self.export_name = export_name
        # Attribute -> declaration, those of base classes first.
        self.exports = {}
        self.constants = {}

    @property
    def all_exports(self):
        return list(self.exports.items())

    def _of(self, kind):
        return [(n, d) for n, d in self.exports.items() if isinstance(d, kind)]

    @property
    def export_globals(self):
        return self._of(declarations.Global)

    @property
    def export_functions(self):
        return self._of(declarations.Procedure)

    @property
    def py_only_defs(self):
        return self._of(declarations.Kernel)

    def add(self, name, declaration):
        if name in self.exports:
            raise TypeError(f"Attempt to export attribute more than once: {name}")
        self.exports[name] = declaration

    def __repr__(self):
        return f"<program class {self.export_name}: {', '.join(self.exports)}>"


class InstanceInfo:
    """One instance: its traces, its module, what was compiled, its state."""

    def __init__(self, class_info, options, returns="jax", specialize_after=specialize.AFTER):
        self.class_info, self.options, self.returns = class_info, options, returns
        self.name = class_info.export_name
        self.specialize_after = specialize_after
        self.x64 = jax.config.jax_enable_x64
        self.table = SlotTable()
        self.traced = {}
        self.lock = threading.RLock()
        self._module = self._compiled = self._portable = None
        self._state = None

    @property
    def export_module(self):
        return self.module

    @property
    def shadow_dict(self):
        """Attribute -> tree of slots, kernels and procedures."""
        trees = {n: a.unflatten(lambda s: s) for n, a in self.table.attributes.items()}
        return {**dict(self.class_info.exports), **trees}

    # ---- Tracing ----

    def trace_all(self, instance):
        for name, declaration in self.class_info.export_globals:
            self.table.add(name, declaration)
        names = set()
        for name, procedure in self.class_info.export_functions:
            if procedure.export_name in names:
                raise ValueError(f"Duplicate export definition: {procedure.export_name}")
            names.add(procedure.export_name)
        for name, procedure in self.class_info.export_functions:
            traced = trace.trace(instance, self, name, procedure)
            traced.name = procedure.export_name
            self._finish(traced)
            self.traced[procedure.export_name] = traced

    def _finish(self, traced):
        """What outlives the trace: types, not tracers."""
        pairs, _ = jax.tree_util.tree_flatten_with_path(traced.result)
        traced.result_paths = [
            jax.tree_util.keystr(p, simple=True, separator=".") for p, _ in pairs
        ]
        count, stored = len(traced.result_leaves), len(traced.stored)
        traced.print_types = []
        if traced.jaxpr is not None:
            avals = [v.aval for v in traced.jaxpr.jaxpr.outvars]
            traced.result_types = [types.Type(aval) for aval in avals[:count]]
            traced.print_types = [types.Type(aval) for aval in avals[count + stored :]]
        traced.steps = None if traced.jaxpr is None else duration.Steps(traced.jaxpr.jaxpr)
        traced.doc = (traced.procedure.function.__doc__ or "").strip()
        traced.wanted = [
            values.Wanted(
                path,
                t.raw_dtype,
                [int(n) if isinstance(n, int) else str(n) for n in t.raw_shape],
                t.key,
                str(t),
            )
            for path, t in zip(traced.argument_paths, traced.argument_types)
        ]
        parameters = traced.procedure.parameters
        is_static = any(parameter.is_static for parameter in parameters)
        # Of all arguments together; one that no tuple of arguments has, if some are not given.
        given = (
            None
            if is_static
            else tuple(p.treedef.unflatten(range(p.treedef.num_leaves)) for p in parameters)
        )
        traced.argument_treedef = jax.tree.structure(given)
        leaf = jax.tree.structure(0)
        traced.is_flat = not is_static and all(p.treedef == leaf for p in parameters)
        traced.is_single = traced.result_treedef == leaf
        # Of results that are arrays of JAX as they are.
        traced.has_plain_results = not traced.prints and not any(
            t.key or t.raw_dtype.name in dtypes.PACKED_NAMES for t in traced.result_types
        )
        avals = tuple(t.raw_aval for t in traced.result_types)
        traced.avals = avals if traced.has_plain_results and None not in avals else None
        # Only calls know sizes; those of keys are not those of their words.
        traced.is_dynamic = any(t.is_dynamic for t in traced.argument_types) and not any(
            t.key for t in traced.argument_types
        )
        # Leaves of the tree become numbers: a tracer keeps its whole trace.
        traced.result = traced.result_treedef.unflatten(range(count))
        traced.result_leaves = list(range(count))
        # Set when it is compiled, if only its calls know sizes.
        traced.specializer = None
        if traced.jaxpr is not None:
            capture.warn(traced, self)

    # ---- Module and artifact ----

    @property
    def module(self):
        with self.lock:
            if self._module is None:
                self._module = self._make_module()
            return self._module

    def _make_module(self):
        merger = merge.Merger(self.name)
        merger.reserve([slot.symbol for slot in self.table.slots])
        merger.reserve(self.traced)
        merger.add_globals(self.table.slots)
        for name, traced in self.traced.items():
            try:
                merger.add(traced, self.table.slots)
            except Exception as error:
                trace.add_note(error, f"while lowering procedure '{name}' of program '{self.name}'")
                raise
            # Not needed any more.
            traced.jax = traced.jaxpr = traced.jitted = None
        names = {
            name: (traced.argument_paths, [*traced.result_paths, *[""] * len(traced.print_types)])
            for name, traced in self.traced.items()
        }
        return Module(merger.module.operation, merger.context, merger.values, names)

    def artifact(self, *, external_file=None, **options):
        """For a file, that is for machines which are not known, unless targets
        are named."""
        data, external = compiler.compile_program(
            self.module.to_compile(description.describe(self)),
            self.module.values,
            external_file=external_file,
            **self._complete({"targets": ["cpu:portable"], **self.options, **options}),
        )
        return Artifact(self.name, data, external, external_file)

    def _complete(self, options):
        names = [d.export_name for _, d in self.class_info._of(declarations.Extern)]
        return {**options, "custom_calls": [*options.get("custom_calls", ()), *names]}

    def _load(self):
        """What runs in this process."""
        dynamic = [t for t in self.traced.values() if t.is_dynamic]
        # Copies would have variables of their own.
        if (
            not self.specialize_after
            or not dynamic
            or any(slot.mutable for slot in self.table.slots)
        ):
            return runtime.Executable(self.compiled.data)
        options = self._complete({"targets": ["cpu:host"], **self.options})
        text = self.module.to_compile(description.describe(self))
        weights = specialize.Weights()
        data, external = specialize.compile_quietly(text, self.module.values, options)
        arrays, _ = weights.take(external)
        options.pop("dump_directory", None)
        hidden, values_ = specialize.hide_functions(text), self.module.values

        def compile_text(text, cancel):
            return specialize.compile_quietly(text, values_, options, cancel)

        for traced in dynamic:
            traced.specializer = specialize.Specializer(
                *self.module.describe_function(traced.name),
                hidden, compile_text, weights, self.specialize_after, self.returns, traced,
            )  # fmt: skip
        return runtime.Executable(data, external=arrays)

    @property
    def compiled(self):
        with self.lock:
            if self._compiled is None:
                # For this process.
                self._compiled = self.artifact(**{"targets": ["cpu:host"], **self.options})
            return self._compiled

    @property
    def portable(self):
        with self.lock:
            if self._portable is None:
                named = "targets" in self.options
                self._portable = self.compiled if named else self.artifact()
            return self._portable

    @property
    def state(self):
        with self.lock:
            if self._state is None:
                executable = self._load()
                runtime.calls().set_foreign(types.ArrayImpl, types.put, types.collect)
                self._state = runtime.State(executable)
                for name, traced in self.traced.items():
                    traced.function = executable.functions[name]
                    traced.function.is_brief = duration.is_brief(traced.steps)
            return self._state

    # ---- Values ----

    def slot_number(self, slot):
        return self.state.executable.global_numbers[slot.symbol]

    def read(self, slot):
        return types.from_raw([self.state.get(self.slot_number(slot))], [slot.type])[0]

    def write(self, slot, value, path):
        wanted = values.Wanted(
            path, slot.type.raw_dtype, slot.type.raw_shape, slot.type.key, str(slot.type)
        )
        try:
            array = values.to_array(value, wanted, self.x64)
        except values.Problem as problem:
            raise TypeError(f"global '{slot.path}': {problem}") from None
        self.state.set(self.slot_number(slot), array)

    def call(self, name, args, kwargs):
        traced = self.traced[name]
        raw = None
        with self.lock:
            state = self._state or self.state
            # What is just what the function wants needs no more than a look.
            leaves = args if traced.is_flat and not kwargs else None
            if leaves is None and not kwargs:
                flat, treedef = jax.tree.flatten(args)
                leaves = tuple(flat) if treedef == traced.argument_treedef else None
            function, avals, copy = traced.function, traced.avals, None
            if leaves is not None:
                if traced.specializer is not None:
                    copy = traced.specializer.find(leaves)
                    if copy is not None:
                        function, state, avals = copy.function, copy.state, copy.avals
                entry = function.entry
                if avals is not None and self.returns == "jax":
                    device, sharding = types.find_home()
                    made = entry.call(state.address, leaves, None, avals, sharding, device)
                    if made is not None:
                        return (
                            made[0] if traced.is_single else traced.result_treedef.unflatten(made)
                        )
                else:
                    raw = entry.call(state.address, leaves)
                if raw is not None and copy is None and traced.specializer is not None:
                    traced.specializer.count(leaves)
        if raw is not None:
            return self._finish_call(traced, function.complete(raw))
        leaves = _flatten_arguments(traced, args, kwargs)
        with self.lock:
            arrays = values.convert_all(
                traced.procedure.__name__, zip(leaves, traced.wanted), self.x64
            )
            raw = self._call_converted(traced, arrays)
        return self._finish_call(traced, raw)

    def _call_converted(self, traced, arrays):
        if traced.specializer is None:
            return traced.function(self.state, arrays)
        copy = traced.specializer.find(arrays)
        if copy is not None:
            return copy.function(copy.state, arrays)
        raw = traced.function(self.state, arrays)
        traced.specializer.count(arrays)
        return raw

    def _finish_call(self, traced, raw):
        leaves = raw
        if traced.prints:
            count = len(traced.result_types)
            self._print(traced, raw[count:])
            leaves = raw[:count]
        if self.returns == "jax":
            leaves = types.from_raw(leaves, traced.result_types)
        else:
            leaves = [np.asarray(leaf) for leaf in leaves]
        return leaves[0] if traced.is_single else traced.result_treedef.unflatten(leaves)

    def _print(self, traced, arrays):
        for text, count in traced.prints:
            print(text.format(*arrays[:count]))
            arrays = arrays[count:]


def _flatten_arguments(traced, args, kwargs):
    procedure = traced.procedure
    name = procedure.__name__
    leaves = []
    given = trace.bind_names(procedure, name, args, kwargs)
    for parameter, value in zip(procedure.parameters, given):
        if parameter.is_static:
            continue
        part, treedef = jax.tree.flatten(value)
        if treedef != parameter.treedef:
            from alula.program import containers

            wanted = parameter.treedef.unflatten(range(parameter.treedef.num_leaves))
            where = containers.find_difference(wanted, value, parameter.name)
            raise TypeError(
                f"{name}() argument '{parameter.name}': expected the structure "
                f"{parameter.treedef}, got {treedef}; first difference at {where}"
            )
        leaves += part
    return leaves


from alula.program import capture  # noqa: E402
