"""Globals of an instance: one slot for each array leaf of the declared trees.

A leaf that is the same object as one declared before is the same slot: the
first declaration decides its name and flags."""

import warnings

import jax
import numpy as np

from alula.program import types


class Slot:
    """One global of the artifact."""

    def __init__(self, symbol, path, type_, value, mutable):
        self.symbol, self.path, self.type = symbol, path, type_
        # A host array, or None if the program begins without a value.
        self.value = value
        self.mutable = mutable
        # Paths of later declarations.
        self.aliases = []

    def __repr__(self):
        return f"<global {self.path}: {self.type}>"


class Attribute:
    """A declared tree: its structure, and for each leaf a slot or a literal."""

    def __init__(self, name, declaration, treedef, leaves, paths):
        self.name, self.declaration, self.treedef = name, declaration, treedef
        # Slot, or a Python number.
        self.leaves = leaves
        self.paths = paths

    @property
    def slots(self):
        return [leaf for leaf in self.leaves if isinstance(leaf, Slot)]

    def unflatten(self, value_of):
        """The tree with `value_of(slot)` at each slot."""
        return self.treedef.unflatten(
            value_of(leaf) if isinstance(leaf, Slot) else leaf for leaf in self.leaves
        )


class SlotTable:
    def __init__(self):
        self.slots, self.attributes = [], {}
        self._by_identity, self._symbols = {}, set()
        # Identities stay what they are while objects live.
        self._kept = []
        self._owners, self._paths = {}, set()

    def add(self, name, declaration):
        if any(
            a.declaration.export_name == declaration.export_name for a in self.attributes.values()
        ):
            raise ValueError(f"Duplicate export definition: {declaration.export_name}")
        pairs, treedef = jax.tree_util.tree_flatten_with_path(declaration.value)
        leaves, paths, number = [], [], 0
        for path, leaf in pairs:
            suffix = jax.tree_util.keystr(path, simple=True, separator=".")
            full = f"{declaration.export_name}.{suffix}" if suffix else declaration.export_name
            paths.append(full)
            if types.is_literal(leaf):
                leaves.append(leaf)
                continue
            leaves.append(self._add_leaf(name, declaration, leaf, full, number))
            number += 1
        if declaration.is_sugar and number == 0 and pairs:
            warnings.warn(
                f"'{name}' = {declaration.value!r} is a Python number, which stays what it is; "
                f"for a value that changes write jnp.asarray({declaration.value!r})",
                stacklevel=4,
            )
        self.attributes[name] = Attribute(name, declaration, treedef, leaves, paths)

    def _add_leaf(self, name, declaration, leaf, path, number):
        has_identity = not types.is_abstract(leaf)
        known = self._by_identity.get(id(leaf)) if has_identity else None
        if known is not None:
            self._check_flags(known, name, declaration)
            if path not in known.aliases:
                known.aliases.append(path)
            return known
        slot = Slot(
            self._unique(f"{declaration.export_name}${number}"),
            # Keys may hold dots: {"a.b": …} beside {"a": {"b": …}}.
            path if path not in self._paths else f"{path}${number}",
            types.Type(types.to_aval(leaf)),
            None,
            declaration.mutable,
        )
        slot.type.weak = False
        if slot.type.is_dynamic:
            raise TypeError(f"global '{path}' must have a static shape, not {slot.type}")
        if declaration.initialize == "zeros":
            slot.value = np.zeros(slot.type.raw_shape, slot.type.raw_dtype)
        elif declaration.initialize and has_identity:
            slot.value = types.to_raw(leaf)
        self._paths.add(slot.path)
        self.slots.append(slot)
        self._owners[slot.symbol] = (name, declaration)
        if has_identity:
            self._kept.append(leaf)
            self._by_identity[id(leaf)] = slot
        return slot

    def _check_flags(self, slot, name, declaration):
        owner, first = self._owners[slot.symbol]
        flags = (declaration.initialize, declaration.mutable)
        if not declaration.is_sugar and flags != (first.initialize, first.mutable):
            warnings.warn(
                f"'{name}' shares '{slot.path}' with '{owner}', which was first: its flags "
                f"initialize={first.initialize}, mutable={first.mutable} hold, not "
                f"initialize={declaration.initialize}, mutable={declaration.mutable}",
                stacklevel=5,
            )

    def _unique(self, symbol):
        name, count = symbol, 0
        while name in self._symbols:
            name = f"{symbol}_{count}"
            count += 1
        self._symbols.add(name)
        return name

    def find_captured(self, array):
        """The slot of a host array that a procedure captured, if any."""
        return self._by_identity.get(id(array))
