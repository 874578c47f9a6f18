"""Trees as data: what an artifact says of arguments, results and globals.

A schema is JSON: {"leaf": n} is the n-th leaf, {"literal": x} a Python number,
{"none": true}; "list", "tuple" and "dict" (pairs, keys sorted as JAX sorts
them) hold their parts; {"namedtuple": name, "fields": …, "items": …} and
{"custom": name, "keys": …, "items": …} name a class. Never code, never
pickles. Without JAX a named tuple is its class, if it was imported, else one
made up for the purpose; other classes are dictionaries by key."""

import collections
import functools
import sys


def class_name(kind):
    return f"{kind.__module__}.{kind.__qualname__}"


def is_namedtuple(value):
    return isinstance(value, tuple) and hasattr(value, "_fields")


def describe(tree, leaf):
    """The schema of a tree; `leaf(x)` gives the node of each leaf, in JAX's
    order."""
    import jax

    if tree is None:
        return {"none": True}
    kind = type(tree)
    if kind is list:
        return {"list": [describe(part, leaf) for part in tree]}
    if kind is tuple:
        return {"tuple": [describe(part, leaf) for part in tree]}
    if kind in (dict, collections.OrderedDict):
        keys = sorted(tree) if kind is dict else tree
        pairs = [[_key(key), describe(tree[key], leaf)] for key in keys]
        return {"dict": pairs} if kind is dict else {"dict": pairs, "ordered": True}
    if is_namedtuple(tree) and _is_plain(tree):
        items = [describe(part, leaf) for part in tree]
        return {"namedtuple": class_name(kind), "fields": list(kind._fields), "items": items}
    if jax.tree_util.all_leaves([tree]):
        return leaf(tree)
    keys, parts = one_level(tree)
    return {
        "custom": class_name(kind),
        "keys": keys,
        "items": [describe(part, leaf) for part in parts],
    }


def _is_plain(tree):
    """Whether JAX takes a named tuple apart itself: a class may have said how."""
    _, parts = one_level(tree)
    return len(parts) == len(tree) and all(a is b for a, b in zip(parts, tree))


def _key(key):
    return key if isinstance(key, (str, int)) else repr(key)


def one_level(tree):
    """Keys and children of a node of a registered class."""
    import jax

    paths, _ = jax.tree_util.tree_flatten_with_path(tree, is_leaf=lambda x: x is not tree)
    keys, parts = [], []
    for path, part in paths:
        keys.append(jax.tree_util.keystr(path[:1], simple=True) if path else "")
        parts.append(part)
    return keys, parts


def rebuild(schema, leaves):
    """The tree of a schema over a list of leaves."""
    ((kind, value),) = [(k, v) for k, v in schema.items() if k in _BUILDERS]
    return _BUILDERS[kind](value, schema, leaves)


def count_leaves(schema):
    if "leaf" in schema:
        return 1
    parts = schema.get("list") or schema.get("tuple") or schema.get("items")
    if parts is None:
        parts = [part for _, part in schema.get("dict", ())]
    return sum(count_leaves(part) for part in parts)


def _all(parts, leaves):
    return [rebuild(part, leaves) for part in parts]


def _dict(pairs, schema, leaves):
    kind = collections.OrderedDict if schema.get("ordered") else dict
    return kind((key, rebuild(part, leaves)) for key, part in pairs)


def _namedtuple(name, schema, leaves):
    return find_namedtuple(name, tuple(schema["fields"]))(*_all(schema["items"], leaves))


@functools.cache
def find_namedtuple(name, fields):
    """The class of that name, if a module that is loaded has it."""
    module, _, qualified = name.rpartition(".")
    found = sys.modules.get(module)
    for part in qualified.split("."):
        found = getattr(found, part, None)
    if isinstance(found, type) and getattr(found, "_fields", None) == fields:
        return found
    return collections.namedtuple(qualified, fields, rename=True)


_BUILDERS = {
    "leaf": lambda n, schema, leaves: leaves[n],
    "literal": lambda value, schema, leaves: value,
    "none": lambda value, schema, leaves: None,
    "list": lambda parts, schema, leaves: _all(parts, leaves),
    "tuple": lambda parts, schema, leaves: tuple(_all(parts, leaves)),
    "dict": _dict,
    "namedtuple": _namedtuple,
    "custom": lambda name, schema, leaves: dict(zip(schema["keys"], _all(schema["items"], leaves))),
}


# Kinds of nodes, as python/calls has them.
_LIST, _TUPLE, _SEQUENCE, _DICT = 2, 3, 4, 5


def for_calls(schema, *, results, strict=False):
    """A schema as `alula_calls.Trees` wants it: a leaf's number, None, or (kind, parts) with the keys
    of a dictionary behind. None: it has parts that only Python can take apart (or, of `results`,
    put together), or leaves in another order. `strict`: lists are no tuples."""
    order = iter(range(1 << 30))

    def convert(schema):
        if "leaf" in schema:
            if schema["leaf"] != next(order):
                raise _Unsuitable
            return schema["leaf"]
        if "none" in schema:
            return None
        if "list" in schema or "tuple" in schema:
            kind = _LIST if "list" in schema else _TUPLE
            parts = schema.get("list") or schema.get("tuple") or ()
            return kind if results or strict else _SEQUENCE, tuple(map(convert, parts))
        if "namedtuple" in schema and not results and not strict:
            return _SEQUENCE, tuple(map(convert, schema["items"]))
        if "dict" in schema and not (schema.get("ordered") and (results or strict)):
            pairs = schema["dict"]
            return _DICT, tuple(convert(part) for _, part in pairs), tuple(key for key, _ in pairs)
        raise _Unsuitable

    try:
        return convert(schema)
    except _Unsuitable:
        return None


def of_treedef(treedef):
    """The schema of what JAX takes apart itself, dictionaries of any keys too; None for others."""

    def convert(tree):
        kind = type(tree)
        if tree is None:
            return {"none": True}
        if kind is int:
            return {"leaf": tree}
        if kind in (list, tuple):
            return {kind.__name__: list(map(convert, tree))}
        if kind is dict:
            return {"dict": [(key, convert(part)) for key, part in tree.items()]}
        raise _Unsuitable

    try:
        return convert(treedef.unflatten(range(treedef.num_leaves)))
    except _Unsuitable:
        return None


class _Unsuitable(Exception):
    pass


class Mismatch(Exception):
    """A value does not have the structure that a schema asks for."""


def flatten(schema, value, path, leaves):
    """Leaves of a value that has a schema's structure, with their paths."""
    if "leaf" in schema:
        leaves.append((path, value))
    elif "none" in schema:
        if value is not None:
            raise Mismatch(f"{path}: expected None, got {type(value).__name__}")
    elif "literal" in schema:
        if value != schema["literal"]:
            raise Mismatch(f"{path}: expected {schema['literal']!r}, got {value!r}")
    elif "dict" in schema or "custom" in schema:
        pairs = schema.get("dict") or list(zip(schema["keys"], schema["items"]))
        _flatten_dict(pairs, value, path, leaves)
    else:
        _flatten_sequence(schema, value, path, leaves)


def _flatten_dict(pairs, value, path, leaves):
    keys = [key for key, _ in pairs]
    if not hasattr(value, "keys") or set(value.keys()) != set(keys):
        given = sorted(value.keys()) if hasattr(value, "keys") else type(value).__name__
        raise Mismatch(f"{path}: expected a dictionary of {keys}, got {given}")
    for key, part in pairs:
        flatten(part, value[key], f"{path}.{key}", leaves)


def _flatten_sequence(schema, value, path, leaves):
    parts = schema.get("list") or schema.get("tuple") or schema.get("items") or []
    if not isinstance(value, (list, tuple)) or len(value) != len(parts):
        size = f" of {len(value)}" if hasattr(value, "__len__") else ""
        raise Mismatch(
            f"{path}: expected a sequence of {len(parts)}, got {type(value).__name__}{size}"
        )
    names = schema.get("fields") or range(len(parts))
    for name, part, item in zip(names, parts, value):
        flatten(part, item, f"{path}.{name}", leaves)
