"""What an artifact says of the program in Python: docs/program/metadata.md."""

import json

import jax

from alula import trees
from alula.program.slots import Slot


def describe(info):
    numbers = {id(slot): i for i, slot in enumerate(info.table.slots)}
    return json.dumps(
        {
            "version": 1,
            "name": info.name,
            "x64": info.x64,
            "jax": jax.__version__,
            "globals": [_global(slot) for slot in info.table.slots],
            "attributes": {
                name: _attribute(attribute, numbers)
                for name, attribute in info.table.attributes.items()
            },
            "functions": {name: _function(traced) for name, traced in info.traced.items()},
        },
        separators=(",", ":"),
    )


def _global(slot):
    made = {"symbol": slot.symbol, "path": slot.path, **slot.type.to_json()}
    if slot.aliases:
        made["aliases"] = slot.aliases
    return made


def _attribute(attribute, numbers):
    leaves = iter(attribute.leaves)

    def leaf(_):
        found = next(leaves)
        if isinstance(found, Slot):
            return {"leaf": numbers[id(found)]}
        return _literal(found)

    return trees.describe(attribute.declaration.value, leaf)


def _literal(value):
    return {"literal": [value.real, value.imag] if isinstance(value, complex) else value}


def _function(traced):
    count = iter(range(len(traced.argument_types)))
    arguments = [
        {
            "name": parameter.name,
            "tree": trees.describe(parameter.tree, lambda _: {"leaf": next(count)}),
        }
        for parameter in traced.parameters
    ]
    results = iter(range(len(traced.result_leaves)))
    made = {
        "arguments": arguments,
        "argument_leaves": [
            {"path": path, **type_.to_json()}
            for path, type_ in zip(traced.argument_paths, traced.argument_types)
        ],
        "result": trees.describe(traced.result, lambda _: {"leaf": next(results)}),
        "result_leaves": [
            {"path": path, **type_.to_json()}
            for path, type_ in zip(traced.result_paths, traced.result_types)
        ],
    }
    if traced.prints:
        made["prints"] = [[text, count] for text, count in traced.prints]
    if traced.doc:
        made["doc"] = traced.doc
    return made
