"""Programs that somebody wrote to do harm: mutants of programs with every op.

A seed is MLIR text in its generic form, of one function `main` that takes what
its ops need and returns what they give, so that nothing of it is dead. First
come all single edits: each integer of an attribute becomes each of HOSTILE,
each list is permuted, shortened and lengthened, each attribute is dropped, each
type is changed everywhere in the program. Then come several edits at a time.
"""

import itertools
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TESTS = HERE.parent
ROOT = TESTS.parent
sys.path[:0] = [str(TESTS / name) for name in ("", "native", "jax", "stablehlo")]

import op_support
import split_program
import support_programs

HOSTILE = [0, -1, 2**31, 2**63 - 1]
NUMBERS = [*HOSTILE, 1, 2, 3, 5, -2, 7, 2**31 - 1, 2**32, 2**62, -(2**31), -(2**63)]
SIZES = [0, 1, 2, 3, 5, 7, 2**31, 2**40, 2**63 - 1, "?"]
KINDS = [kind for kind in op_support.TYPES if kind not in op_support.QUANT]
KINDS += ["complex<i32>", "i3", "ui1", "i65", "index", "f80", "tensor<2xf32>", "none"]

# Not a part of a name, a type, a fraction or hexadecimal digits.
INTEGER = re.compile(r"(?<![\w%#.^$-])-?\d+(?![\w.])")
LIST = re.compile(r"array<i64(?:: ([^<>\[\]]*))?>|(?<![\w%#])\[([^\[\]<>:]*)\]")
DENSE = re.compile(r"dense<([^<>]*)> : tensor<([\dx]*)x(i64|i32|i1)>")
ATTRIBUTE = re.compile(r"\b([a-z]\w*) = ")
TENSOR = re.compile(r"tensor<((?:(?:\d+|\?)x)*)((?:complex<\w+>)|\w+)([^<>]*)>")
WORD = re.compile(r"\b(true|false|LT|GT|EQ|NE|GE|LE|FLOAT|SIGNED|UNSIGNED|TOTALORDER)\b")


def replace(text, match, new):
    return text[: match.start()] + new + text[match.end() :]


def set_integer(text, match, number):
    return replace(text, match, str(number))


def list_variants(items, draw):
    """The list in other orders and of other lengths."""
    variants = [items[::-1], items[1:], items[:-1], [], items + items[-1:], [*items, "0"]]
    variants += [[*items, str(number)] for number in HOSTILE[1:]]
    variants += [["0", *items], items * 3, items[1:] + items[:1]]
    variants.append(draw.sample(items, len(items)))
    return [v for v in variants if v != items]


def edit_list(match, items):
    inside = ", ".join(items)
    if match[0].startswith("array"):
        return f"array<i64: {inside}>" if items else "array<i64>"
    return f"[{inside}]"


def split_list(match):
    return [item.strip() for item in (match[1] or match[2] or "").split(",") if item.strip()]


def dense_variants(match, draw):
    """Elements and shape of a constant of a few integers, in other forms."""
    numbers = re.findall(r"-?\d+|true|false", match[1])
    shape = [int(size) for size in match[2].split("x") if size]
    if not shape or '"' in match[1]:
        return []
    shapes = [shape[::-1], shape[1:], [*shape, 1], [0, *shape[1:]], [*shape[:-1], shape[-1] + 1]]
    shapes += [[shape[0] + 1, *shape[1:]], [2**31], [*shape, 2]]
    variants = []
    for other in [s for s in shapes if s != shape]:
        number = draw.choice(numbers or ["0"])
        variants.append(f"dense<{number}> : tensor<{''.join(f'{d}x' for d in other)}{match[3]}>")
    if match[3] != "i1":
        kind = "".join(f"{d}x" for d in shape) + match[3]
        high = HOSTILE if match[3] == "i64" else [0, -1, 2**31 - 1]
        variants += [f"dense<{number}> : tensor<{kind}>" for number in high]
        count = 1
        for size in shape:
            count *= size
        if len(numbers) == count > 1:
            for order in (numbers[::-1], [numbers[0]] * count, draw.sample(numbers, count)):
                nested = order
                for size in shape[:0:-1]:
                    nested = [
                        "[" + ", ".join(nested[i : i + size]) + "]"
                        for i in range(0, len(nested), size)
                    ]
                variants.append(f"dense<[{', '.join(nested)}]> : tensor<{kind}>")
    return variants


def drop_attribute(text, match):
    """Without `name = value`, as far as brackets say where it ends."""
    depth, place = 0, match.end()
    while place < len(text):
        character = text[place]
        if character in "<([{":
            depth += 1
        elif character in ">)]}" and text[place - 1] != "-":
            depth -= 1
            if depth < 0:
                return text[: match.start()].rstrip(", ") + " " + text[place:]
        elif character in ",\n" and depth == 0:
            return text[: match.start()] + text[place + 1 :]
        place += 1
    return text


def change_type(text, whole, new):
    return text.replace(whole, new)


def type_variants(match):
    """One size, the rank or the kind of elements of a type in another way."""
    shape, kind, rest = match[1].split("x")[:-1], match[2], match[3]

    def form(sizes, kind=kind):
        return "tensor<" + "".join(f"{size}x" for size in sizes) + kind + rest + ">"

    variants = [
        form([*shape[:i], size, *shape[i + 1 :]])
        for i in range(len(shape))
        for size in SIZES
        if str(size) != shape[i]
    ]
    variants += [form(sizes) for sizes in (shape[1:], [*shape, 1], [1, *shape], shape * 2) if sizes]
    variants += [form([2**31 - 1] * len(shape)), form(shape, draw_kind(kind)), f"tensor<*x{kind}>"]
    return variants + [form(shape, other) for other in KINDS if other != kind]


def draw_kind(kind):
    return "f64" if kind == "f32" else "i1"


def single_edits(text):
    """All programs that one edit makes, in a fixed order."""
    draw = random.Random(len(text))
    for match in INTEGER.finditer(text):
        for number in NUMBERS:
            yield set_integer(text, match, number)
    for match in LIST.finditer(text):
        for items in list_variants(split_list(match), draw):
            yield replace(text, match, edit_list(match, items))
    for match in DENSE.finditer(text):
        for new in dense_variants(match, draw):
            yield replace(text, match, new)
    for match in ATTRIBUTE.finditer(text):
        yield drop_attribute(text, match)
    for whole in dict.fromkeys(match[0] for match in TENSOR.finditer(text)):
        for new in type_variants(TENSOR.fullmatch(whole)):
            yield change_type(text, whole, new)


def edit(text, draw):
    """One edit by chance."""
    kind = draw.choice("iiiillldtttaww")
    pattern = {"i": INTEGER, "l": LIST, "d": DENSE, "t": TENSOR, "a": ATTRIBUTE, "w": WORD}[kind]
    matches = list(pattern.finditer(text))
    if not matches:
        return text
    match = draw.choice(matches)
    if kind == "i":
        near = [int(match[0]) + 1, int(match[0]) - 1, 2 * int(match[0])]
        return set_integer(
            text, match, draw.choice(NUMBERS[:7] + near if draw.random() < 0.7 else NUMBERS)
        )
    if kind == "l":
        return replace(
            text,
            match,
            edit_list(match, draw.choice(list_variants(split_list(match), draw) or [[]])),
        )
    if kind == "d":
        return replace(text, match, draw.choice(dense_variants(match, draw) or [match[0]]))
    if kind == "a":
        return drop_attribute(text, match) if draw.random() < 0.3 else text
    if kind == "w":
        return replace(
            text,
            match,
            draw.choice([m[0] for m in matches])
            if draw.random() < 0.5
            else draw.choice(["true", "false", "LT", "NE", "FLOAT", "SIGNED"]),
        )
    new = draw.choice(type_variants(match))
    if draw.random() < 0.2:
        return replace(text, match, new)
    return change_type(text, match[0], new)


class Mutants:
    """Mutant `number`, for whoever asks, is always the same."""

    def __init__(self, seeds: list[str], first: int = 1):
        self.seeds, self.first = seeds, first
        self.singles = [list(dict.fromkeys(single_edits(seed))) for seed in seeds]
        self.ends = list(itertools.accumulate(map(len, self.singles)))

    def __getitem__(self, number: int) -> str:
        if number < self.ends[-1]:
            place = next(i for i, end in enumerate(self.ends) if number < end)
            return self.singles[place][number - self.ends[place]]
        draw = random.Random(self.first * 1_000_003 + number)
        text = draw.choice(self.seeds)
        for _ in range(draw.choice([1, 2, 2, 3, 3, 4, 6])):
            text = edit(text, draw)
        return text


def return_all(function: split_program.Function) -> str:
    """A module whose `main` is the function and returns what each of its ops gives."""
    results = [
        (name, kind)
        for op in function.ops
        for name, kind in zip(op.results, op.result_types, strict=True)
        if kind.startswith("tensor<") and "!quant" not in kind and "*" not in kind
    ]
    head, *body = function.text.splitlines()
    place = next(k for k, line in enumerate(body) if line.startswith('    "func.return"'))
    names, kinds = (", ".join(part) for part in zip(*results, strict=True)) if results else ("", "")
    body[place] = f'    "func.return"({names}) : ({kinds}) -> ()'
    head = re.sub(r"-> \([^)]*\)(?=[,}])|-> [^(,]*(?=, sym_name)", f"-> ({kinds})", head, count=1)
    head = head.replace(f'"{function.name}"', '"main"')
    return '"builtin.module"() ({\n' + "\n".join([head, *body]) + "\n}) : () -> ()\n"


def to_generic(build: pathlib.Path, text: str) -> str:
    """As alula-opt prints it, or nothing if it does not verify."""
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(text)
        file.flush()
        done = subprocess.run(
            [build / "bin/alula-opt", "--emit=generic", file.name],
            check=False,
            capture_output=True,
            text=True,
        )
    return done.stdout if done.returncode == 0 else ""


def op_seeds(build: pathlib.Path) -> list[str]:
    """One program for each op of the table, on a type that it has."""
    seeds = []
    for op in op_support.read_ops():
        kind = next((k for k in ("f32", "i32", "i1", "complex<f32>") if op.allows(k)), "i32")
        generic = to_generic(build, op.program(kind))
        if not generic:
            continue
        try:
            seeds.append(support_programs.open_up(generic).program)
        except split_program.Unsplittable:
            continue
    return seeds


def file_seeds(build: pathlib.Path, path: pathlib.Path) -> list[str]:
    """The functions of a file of many parts."""
    seeds = []
    for part in path.read_text().split("// -----\n"):
        functions = split_program.parse_functions(to_generic(build, part))
        for function in functions.values():
            if function.ops and not any("@" in op.text for op in function.ops):
                seeds.append(return_all(function))
    return seeds


EVERY_OP = ROOT / "dialect/vhlo/test/Inputs/every_op.mlir"


def all_seeds(build: pathlib.Path) -> list[str]:
    """Made once: a file in the build folder keeps them."""
    kept = build / "tests/hostile_seeds.json"
    sources = [EVERY_OP, *(TESTS / "support").glob("*.in"), pathlib.Path(__file__)]
    if not kept.exists() or kept.stat().st_mtime < max(s.stat().st_mtime for s in sources):
        kept.write_text(json.dumps(op_seeds(build) + file_seeds(build, EVERY_OP)))
    return json.loads(kept.read_text())
