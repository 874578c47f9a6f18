"""Artifacts in Python without JAX: NumPy arrays, and whatever speaks DLPack, in;
NumPy arrays out."""

import json
import keyword
import threading


from alula import errors, safetensors, trees, values
from alula.bindings import dtypes, runtime


def load(source, *, constants=None, max_global_bytes=0):
    """A compiled program, from a file or from bytes; `constants` is the folder
    of its weights, if they are a file and not beside it. A program whose state
    takes more than `max_global_bytes` is refused; 0: 4 GiB and the files' size."""
    return LoadedProgram(source, constants=constants, max_global_bytes=max_global_bytes)


class LoadedProgram:
    """Entry points are methods, globals attributes: `p.run(x)`, `p._params`."""

    def __init__(self, source, *, constants=None, max_global_bytes=0, _executable=None):
        self._executable = _executable or runtime.Executable(source, constants, max_global_bytes)
        self._lock = threading.RLock()
        self._state = runtime.State(self._executable)
        text = self._executable.facts.get("program")
        self._described = json.loads(text) if text else {}
        described = self._described.get("functions", {})
        self._functions = {
            name: LoadedFunction(self, function, described.get(name))
            for name, function in self._executable.functions.items()
        }

    # ---- What there is ----

    @property
    def name(self):
        """As the program was called where it was made; "" if it had no name."""
        return self._described.get("name", "")

    @property
    def functions(self):
        """Name -> entry point, with `arguments` and `results`."""
        return dict(self._functions)

    @property
    def globals(self):
        """Path -> what the global is."""
        return {path: self._executable.globals[n] for path, n in self._numbers().items()}

    def _numbers(self):
        known = {g["symbol"]: g["path"] for g in self._described.get("globals", ())}
        return {
            known.get(value.name, value.name): number
            for number, value in enumerate(self._executable.globals)
        }

    def __getattr__(self, name):
        if name.startswith("__") or "_functions" not in self.__dict__:
            raise AttributeError(name)
        found = self._functions.get(name)
        if found is not None:
            return found
        schema = self._described.get("attributes", {}).get(name)
        if schema is None:
            raise AttributeError(f"the program has no function or global '{name}'")
        with self._lock:
            return trees.rebuild(schema, _Lazy(self._read_numbered))

    def _read_numbered(self, number):
        symbol = self._described["globals"][number]["symbol"]
        return self._state.get(self._executable.global_numbers[symbol])

    def __dir__(self):
        return sorted({*super().__dir__(), *self._functions})

    def _repr_html_(self):
        functions = [
            (name, f.__signature__, (f.__doc__ or "").strip().partition("\n")[0])
            for name, f in self._functions.items()
        ]
        globals_ = [
            (path, repr(value).partition(": ")[2], "" if value.is_mutable else "constant")
            for path, value in self.globals.items()
        ]
        from alula import html

        return html.show_program(self.name, functions, globals_)

    def __repr__(self):
        shown = "".join(f"\n  {function!r}" for function in self._functions.values())
        return f"<alula program {self.name}: {len(self._executable.globals)} globals{shown}>"

    # ---- State ----

    def get_global(self, path):
        """A copy of one global's value; KeyError for a path that there isn't."""
        with self._lock:
            return self._state.get(self._find(path))

    def set_global(self, path, value):
        """Stores a value of the global's type and shape; TypeError for another."""
        number = self._find(path)
        info = self._executable.globals[number]
        if not info.is_mutable:
            raise TypeError(f"global '{path}' is immutable")
        wanted = values.Wanted(path, dtypes.to_numpy(info.dtype), info.shape)
        try:
            array = values.to_array(value, wanted, self._described.get("x64", False))
        except values.Problem as problem:
            raise TypeError(f"global '{path}': {problem}") from None
        with self._lock:
            self._state.set(number, array)

    def _find(self, path):
        numbers = {**self._executable.global_numbers, **self._numbers()}
        for entry in self._described.get("globals", ()):
            for alias in entry.get("aliases", ()):
                numbers.setdefault(alias, self._executable.global_numbers[entry["symbol"]])
        if path not in numbers:
            raise KeyError(f"there is no global '{path}'; there are {', '.join(sorted(numbers))}")
        return numbers[path]

    def state_dict(self):
        """Path -> array, of all globals that have a value."""
        with self._lock:
            return {
                path: self._state.get(number)
                for path, number in self._numbers().items()
                if self._state.is_defined(number)
            }

    def load_state_dict(self, state):
        """Stores what `state_dict` gave: all of it or, if one doesn't fit, nothing."""
        with self._lock:
            before = self._state
            made = self.clone()
            for path, value in state.items():
                if made._executable.globals[made._find(path)].is_mutable:
                    made.set_global(path, value)
            self._state = made._state
            del before

    def save_state(self, path):
        """Writes all globals that have a value to a safetensors file."""
        safetensors.write(path, self.state_dict(), {"program": self.name})

    def load_state(self, path):
        """Stores what a safetensors file holds."""
        self.load_state_dict(safetensors.read(path))

    def reset(self):
        """The state becomes what it was at first."""
        with self._lock:
            self._state = runtime.State(self._executable)

    def clone(self):
        """The same code with a copy of the state."""
        made = LoadedProgram(None, _executable=self._executable)
        with self._lock:
            for number, info in enumerate(self._executable.globals):
                if info.is_mutable and self._state.is_defined(number):
                    made._state.set(number, self._state.get(number))
        return made


class _Lazy:
    """Leaves that are read when they are asked for."""

    def __init__(self, read):
        self._read = read

    def __getitem__(self, number):
        return self._read(number)


class _Signature:
    """Made when it is asked for: `inspect` is slow to import."""

    def __get__(self, function, kind):
        if function is None:
            raise AttributeError("__signature__")
        return _make_signature([name for name, _ in function.parameters])


class LoadedFunction:
    """One entry point."""

    __signature__ = _Signature()

    def __init__(self, program, function, described):
        self._program, self._function = program, function
        self._described = described
        self.__name__ = function.name
        if described:
            self.__doc__ = described.get("doc") or None
            leaves = described["argument_leaves"]
            self.parameters = [(a["name"], a["tree"]) for a in described["arguments"]]
            self._result = described["result"]
            self._result_count = len(described["result_leaves"])
        else:
            leaves = [{} for _ in function.arguments]
            self.parameters = [
                (value.name or f"argument{i}", {"leaf": i})
                for i, value in enumerate(function.arguments)
            ]
            self._result_count = len(function.results)
            self._result = _plain_result(self._result_count)
        self._names = [name for name, _ in self.parameters]
        # Arguments that are their own leaves, in order, are all that the call is given.
        schemas = [tree for _, tree in self.parameters]
        is_flat = schemas == [{"leaf": i} for i in range(len(leaves))]
        prints = (described or {}).get("prints")
        self._is_single = self._result == {"leaf": 0} and not prints
        result = None if prints else self._result
        self._trees = function.make_trees(None if is_flat else {"tuple": schemas}, result)
        # Whether results are what users have.
        self._is_finished = self._trees is not None and self._trees.builds_results
        self._wanted = [
            values.Wanted(
                leaf.get("path", value.name),
                dtypes.to_numpy(value.dtype),
                leaf.get("shape", ["?" if n is None else n for n in value.shape]),
            )
            for leaf, value in zip(leaves, function.arguments)
        ]

    @property
    def arguments(self):
        return list(self._function.arguments)

    @property
    def results(self):
        return list(self._function.results[: self._result_count])

    def __call__(self, *args, **kwargs):
        program, trees = self._program, self._trees
        given = self._order(args, kwargs) if kwargs else args
        if trees is not None and given is not None:
            with program._lock:
                state = program._state
                made = self._function.entry.call_tree(state.address, given, trees)
            if made is not NotImplemented:
                return made if self._is_finished else self._finish(self._function.complete(made))
        leaves = self._flatten(args, kwargs)
        with program._lock:
            raw = self._function(program._state, self._convert(leaves))
        return self._finish(raw)

    def call_async(self, *args, **kwargs):
        """A future of the call, which can be awaited too. Calls of a process run
        in the order in which they were made; arguments must not change until
        then. What is wrong with an argument's type is raised here."""
        from alula import futures

        program, trees = self._program, self._trees
        given = self._order(args, kwargs) if kwargs else args
        future, pending = futures.CallFuture(), None

        def finish(raw, error):
            try:
                result = None if error else self._finish(self._function.complete(raw))
            except Exception as raised:  # noqa: BLE001
                error = raised
            if isinstance(error, errors.AlulaError) and error.code == "cancelled":
                future.end_cancelled()
            elif error:
                future.set_exception(error)
            else:
                future.set_result(result)

        if trees is not None and given is not None:
            with program._lock:
                state = program._state
                pending = self._function.entry.start(
                    state.address, given, None, trees, finish, state
                )
        if pending is None:
            leaves = self._flatten(args, kwargs)
            with program._lock:
                pending = self._function.start(program._state, self._convert(leaves), finish)
        future.ask_to_end = pending.cancel
        return future

    def _order(self, args, kwargs):
        """By position what was given by name; None if that can't be."""
        names = self._names[len(args) :]
        if len(names) != len(kwargs):
            return None
        try:
            return (*args, *[kwargs[name] for name in names])
        except KeyError:
            return None

    def _convert(self, leaves):
        return values.convert_all(
            self.__name__,
            zip(leaves, self._wanted),
            self._program._described.get("x64", False),
        )

    def _finish(self, raw):
        self._print(raw[self._result_count :])
        if self._is_single:
            return raw[0]
        return trees.rebuild(self._result, raw)

    def _flatten(self, args, kwargs):
        names = self._names
        if len(args) > len(names):
            raise TypeError(f"{self.__name__}() takes {len(names)} arguments, {len(args)} given")
        given = dict(zip(names, args))
        for name, value in kwargs.items():
            if name not in names or name in given:
                what = "multiple values for" if name in given else "an unexpected"
                raise TypeError(f"{self.__name__}() got {what} argument '{name}'")
            given[name] = value
        missing = [repr(name) for name in names if name not in given]
        if missing:
            raise TypeError(f"{self.__name__}() missing arguments: {', '.join(missing)}")
        leaves = []
        for name, schema in self.parameters:
            try:
                trees.flatten(schema, given[name], name, leaves)
            except trees.Mismatch as mismatch:
                raise TypeError(f"{self.__name__}() argument {mismatch}") from None
        return [leaf for _, leaf in leaves]

    def _print(self, arrays):
        for text, count in (self._described or {}).get("prints", ()):
            print(text.format(*arrays[:count]))
            arrays = arrays[count:]

    def _repr_html_(self):
        results = [(value.name, repr(value).partition(": ")[2]) for value in self.results]
        given = [(w.path, w.shown) for w in self._wanted]
        from alula import html

        return html.show_function(self.__name__, self.__signature__, self.__doc__, given, results)

    def __repr__(self):
        given = ", ".join(f"{w.path}: {w.shown}" for w in self._wanted)
        made = ", ".join(repr(value).partition(": ")[2] for value in self.results)
        return f"{self.__name__}({given}) -> ({made})"


def _make_signature(names):
    """The names as they are in the artifact, if Python can have them."""
    import inspect

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    if not all(name.isidentifier() and not keyword.iskeyword(name) for name in names):
        kind, names = inspect.Parameter.POSITIONAL_ONLY, [f"argument{i}" for i in range(len(names))]
    return inspect.Signature([inspect.Parameter(name, kind) for name in names])


def _plain_result(count):
    if count == 0:
        return {"none": True}
    if count == 1:
        return {"leaf": 0}
    return {"tuple": [{"leaf": i} for i in range(count)]}
