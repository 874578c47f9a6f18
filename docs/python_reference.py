"""The page about the Python package, made from its sources: nothing is
imported, so that neither JAX nor a library is needed."""

import ast
import pathlib

PACKAGE = pathlib.Path(__file__).resolve().parents[1] / "python" / "alula"


def read(path):
    return ast.parse((PACKAGE / path).read_text())


def find(module, name):
    """A function or class of a module, by its dotted name."""
    path = module.replace(".", "/").removeprefix("alula/")
    package = (PACKAGE / path).is_dir()
    tree = read(f"{path}/__init__.py" if package else f"{path}.py")
    kinds = (ast.FunctionDef, ast.ClassDef)
    for node in tree.body:
        if isinstance(node, kinds) and node.name == name:
            return node
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return find(node.module, alias.name)
    return None


def get_homes():
    """Each public name of the package -> its module."""
    for node in read("__init__.py").body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "_HOMES":
            homes = ast.literal_eval(node.value)
            return {name: home for name, home in homes.items() if name[0] != "_"}
    raise LookupError("_HOMES")


def get_class(tree, name):
    return next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == name)


def get_methods(node):
    return [
        each
        for each in node.body
        if isinstance(each, ast.FunctionDef) and not each.name.startswith("_")
    ]


def get_text(node):
    return (ast.get_docstring(node) or "") if node else ""


def show(prefix, node):
    """`prefix.name(arguments)` without `self` or `cls`, and what it says."""
    decorators = {each.id for each in node.decorator_list if isinstance(each, ast.Name)}
    if "property" in decorators:
        return f"{prefix}{node.name}"
    arguments = ast.unparse(node.args)
    for first in ("self, ", "cls, ", "self", "cls"):
        if arguments.startswith(first):
            arguments = arguments.removeprefix(first)
            break
    return f"{prefix}{node.name}({arguments})"


def entry(prefix, node, text):
    return [f"### `{prefix}{node.name}`", "", "```text", show(prefix, node), "```", "", text, ""]


def make_page():
    types = read("__init__.pyi")
    declared = {n.name: n for n in types.body if isinstance(n, ast.FunctionDef)}
    out = [
        "# The Python package `alula`",
        "",
        ast.get_docstring(read("__init__.py")),
        "",
        "## Functions",
        "",
    ]
    classes = []
    for name, module in get_homes().items():
        node = find(module, name)
        if isinstance(node, ast.FunctionDef):
            out += entry("alula.", declared.get(name, node), get_text(node))
        elif node is not None and name != "Program":
            classes.append(node)
    out += [
        "## Members of `Program`",
        "",
        "[A first program](program/first-program.md) uses most.",
        "",
    ]
    for node in get_methods(get_class(types, "_ProgramMeta")):
        found = find("alula.program.api", node.name) or find("alula.program.api", f"{node.name}_")
        found = found or find("alula.program", node.name)
        found = found or find("alula.program.declarations", node.name.title())
        text = get_text(found)
        out += entry("Program.", node, text)
    for node in classes:
        out += [f"## `{node.name}`", "", get_text(node), ""]
        for method in get_methods(node):
            out += entry(f"{node.name}.", method, get_text(method))
    return "\n".join(out)
