"""Folders that torch_xla saves (`StableHLOGraphModule.save`), run without torch.

A folder has one program, whose arguments are weights, constants and what the
caller gives; `functions/NAME.meta` says which is which."""

import json
import pathlib

import numpy as np

from alula import errors


def load_torch_xla(folder, *, targets=("cpu:host",)):
    """The saved program as a function of the model's own arguments, compiled for
    this machine. Its weights are in `state_dict`, by torch's names. Arrays are
    NumPy's, or whatever speaks DLPack; results are NumPy arrays in the model's
    own tuples, lists and dictionaries. `alula-compile FOLDER` makes a file of
    it, with the weights inside."""
    return TorchXlaProgram(folder, targets)


class TorchXlaProgram:
    def __init__(self, folder, targets):
        from alula import loaded
        from alula.bindings import compiler

        self._folder = pathlib.Path(folder)
        self.__name__, program, meta = self._read()
        self._locations = meta["input_locations"]
        self._inputs = _read_tree(meta.get("input_pytree_spec"))
        self._outputs = _read_tree(meta.get("output_pytree_spec"))
        places = [each["position"] for each in self._locations if each["type_"] == "input_arg"]
        unused = [location["position"] for location, _ in meta.get("unused_inputs") or ()]
        self._count = len({*places, *unused})
        if sorted({*places, *unused}) != list(range(self._count)):
            raise errors.InvalidArgument(f"{self._folder}: positions of arguments are {places}")
        self.state_dict = {
            each["name"]: self._load("data", each["name"])
            for each in self._locations
            if each["type_"] == "parameter"
        }
        self._constants = {
            each["position"]: self._load("constants", str(each["position"]))
            for each in self._locations
            if each["type_"] == "constant"
        }
        artifact, _ = compiler.compile_program(program, targets=tuple(targets))
        self._program = loaded.load(artifact)
        (self._function,) = self._program.functions.values()

    def _read(self):
        found = sorted(self._folder.glob("functions/*.meta"))
        if len(found) != 1:
            what = "several functions" if found else "no functions/NAME.meta"
            raise errors.InvalidArgument(
                f"{self._folder}: is no program as torch_xla saves it: it has {what}",
            )
        meta = json.loads(found[0].read_text())
        for ending in (".bytecode", ".mlir"):
            file = found[0].with_suffix(ending)
            if file.exists():
                return found[0].stem, file.read_bytes(), meta
        raise errors.InvalidArgument(
            f"{self._folder}: has no {found[0].stem}.bytecode and no {found[0].stem}.mlir",
        )

    def _load(self, folder, name):
        if not name or "/" in name or name in (".", ".."):
            raise errors.InvalidArgument(f"{self._folder}: {name!r} is no name of a file")
        with open(self._folder / folder / name, "rb") as file:
            # Never what Python would run.
            return np.asarray(np.load(file, allow_pickle=False), order="C")

    def __call__(self, *args, **kwargs):
        flat = _flatten_arguments(self._inputs, args, kwargs)
        if len(flat) != self._count:
            raise TypeError(f"{self.__name__}() takes {self._count} arrays: {len(flat)} are given")
        given = []
        for each in self._locations:
            kind = each["type_"]
            if kind == "parameter":
                given.append(self.state_dict[each["name"]])
            elif kind == "constant":
                given.append(self._constants[each["position"]])
            else:
                given.append(flat[each["position"]])
        results = self._function(*given)
        if not isinstance(results, (tuple, list)):
            results = (results,)
        if self._outputs is None:
            return results[0] if len(results) == 1 else tuple(results)
        rest = iter(results)
        return _rebuild(self._outputs, rest)

    def __repr__(self):
        return f"<torch_xla program {self.__name__}: {len(self.state_dict)} weights>"


def _read_tree(text):
    """[1, {"type": "builtins.tuple", "context": "null", "children_spec": […]}]."""
    if not text:
        return None
    _, tree = json.loads(text)
    return tree


def _kind(tree):
    return (tree["type"] or "leaf").removeprefix("builtins.")


def _keys(tree):
    return json.loads(tree["context"])


def _flatten_arguments(tree, args, kwargs):
    """Leaves in torch's order."""
    leaves = []
    if tree is None:
        if kwargs:
            raise TypeError(f"unexpected arguments: {', '.join(kwargs)}")
        return list(args)
    children = tree["children_spec"]
    takes_both = _kind(tree) == "tuple" and [_kind(child) for child in children] == [
        "tuple",
        "dict",
    ]
    _flatten(tree, (args, kwargs) if takes_both else args, leaves)
    if kwargs and not takes_both:
        raise TypeError(f"unexpected arguments: {', '.join(kwargs)}")
    return leaves


def _flatten(tree, value, leaves):
    kind, children = _kind(tree), tree["children_spec"]
    if kind == "leaf":
        leaves.append(value)
        return
    if kind == "dict":
        keys = _keys(tree)
        if not isinstance(value, dict) or set(value) != set(keys):
            raise TypeError(f"a dictionary with the keys {keys} is needed: {value!r}")
        value = [value[key] for key in keys]
    elif kind not in ("tuple", "list"):
        raise TypeError(f"arguments of type {tree['type']} are not known here")
    elif not isinstance(value, (tuple, list)) or len(value) != len(children):
        raise TypeError(f"{len(children)} arguments in a {kind} are needed: {value!r}")
    for child, each in zip(children, value):
        _flatten(child, each, leaves)


def _rebuild(tree, leaves):
    kind = _kind(tree)
    if kind == "leaf":
        return next(leaves)
    parts = [_rebuild(child, leaves) for child in tree["children_spec"]]
    if kind == "dict":
        return dict(zip(_keys(tree), parts))
    return tuple(parts) if kind == "tuple" else parts
