"""Structures: what differs between two trees, and whether a container that was
handed out has been changed since."""

import jax

from alula.bindings import dtypes


def match(tree, treedef, paths, what):
    """The leaves of a tree, if it has the structure; else a TypeError that
    names the first path where it has not."""
    leaves, given = jax.tree.flatten(tree)
    if given == treedef:
        return leaves
    wanted = treedef.unflatten(range(treedef.num_leaves))
    raise TypeError(
        f"Attempt to store mismatched tree {_show(tree)} (described by {given}) into {what} "
        f"(described by {treedef}): first difference at {find_difference(wanted, tree, what)}"
    )


class _Shown(str):
    __repr__ = str.__str__


def _show(tree):
    """A tree with types in the place of values."""

    def show(leaf):
        if hasattr(leaf, "dtype") and hasattr(leaf, "shape"):
            return _Shown(dtypes.describe(str(leaf.dtype), leaf.shape))
        return leaf

    return repr(jax.tree.map(show, tree))


def find_difference(wanted, given, path):
    """Where two trees begin to differ, and how, in words."""
    if type(wanted) is not type(given):
        if jax.tree_util.all_leaves([wanted]) and jax.tree_util.all_leaves([given]):
            return f"{path}"
        return f"{path}: expected {_kind(wanted)}, got {_kind(given)}"
    if jax.tree_util.all_leaves([wanted]):
        return path
    mine, theirs = _children(wanted), _children(given)
    if [key for key, _ in mine] != [key for key, _ in theirs]:
        return f"{path}: expected parts {_keys(mine)}, got {_keys(theirs)}"
    for (key, a), (_, b) in zip(mine, theirs):
        if jax.tree.structure(a) != jax.tree.structure(b):
            return find_difference(a, b, f"{path}{key}")
    return path


def _kind(tree):
    if tree is None:
        return "None"
    return "an array" if jax.tree_util.all_leaves([tree]) else type(tree).__name__


def _keys(children):
    return "(" + ", ".join(key for key, _ in children) + ")"


def _children(tree):
    pairs, _ = jax.tree_util.tree_flatten_with_path(tree, is_leaf=lambda x: x is not tree)
    return [(jax.tree_util.keystr(path[:1]), part) for path, part in pairs]


class HandedOut:
    """Containers of globals that a procedure has got, as they were then."""

    def __init__(self):
        self._known = []

    def add(self, name, tree):
        leaves, treedef = jax.tree.flatten(tree)
        self._known.append((name, tree, leaves, treedef))

    def check(self):
        for name, tree, leaves, treedef in self._known:
            now, structure = jax.tree.flatten(tree)
            if structure == treedef and all(a is b for a, b in zip(now, leaves)):
                continue
            path = self._find(tree, treedef, leaves, now, structure)
            raise TypeError(
                f"in-place modification of global '{name}' at {path} is not a store; assign the "
                f"whole tree or use Program.store_global(self.{name}{path}, value)"
            )

    @staticmethod
    def _find(tree, treedef, leaves, now, structure):
        if structure != treedef:
            was = treedef.unflatten(leaves)
            return find_difference(was, tree, "").partition(":")[0]
        paths = [path for path, _ in jax.tree_util.tree_leaves_with_path(tree)]
        for path, a, b in zip(paths, now, leaves):
            if a is not b:
                return jax.tree_util.keystr(path)
        return ""
