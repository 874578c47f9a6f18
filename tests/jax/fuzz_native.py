"""Random small programs: native code against the reference interpreter.

  fuzz_native.py [--count N] [--seed N] [--build DIR] [--keep DIR] [--target T]

Sizes are odd, one or zero more often than not, values small integers, so that
sums are exact in most types. A program that differs is kept, with its inputs.
"""

import argparse
import collections
import math
import os
import pathlib
import random
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(HERE.parent / "native")]

import compare
import numpy as np
import tally
import tensor_file
import tool_batch
import worker_pool

SIZES = [0, 1, 1, 2, 3, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 65]
MOST_ELEMENTS = 3000
FLOATS = ["f32", "f32", "f64", "f16", "bf16"]
INTS = ["i32", "i32", "i64", "i8", "i16", "ui8", "ui32", "ui64", "ui16"]
KINDS = [*FLOATS, *INTS, "i1", "complex<f32>", "i4"]
ROUNDED = "exponential log logistic tanh sine cosine sqrt rsqrt cbrt exponential_minus_one".split()


def is_complex(kind: str) -> bool:
    return kind.startswith("complex")


def is_float(kind: str) -> bool:
    return kind[0] in "bf"


def is_int(kind: str) -> bool:
    return kind.lstrip("u")[0] == "i" and kind != "i1"


class Value:
    def __init__(self, name: str, shape: tuple[int, ...], kind: str):
        self.name, self.shape, self.kind = name, shape, kind

    @property
    def type(self) -> str:
        return "tensor<" + "".join(f"{d}x" for d in self.shape) + self.kind + ">"


def csv(numbers) -> str:
    return ", ".join(map(str, numbers))


class Program:
    """Grows by one op at a time; each choice comes from `rng`."""

    def __init__(self, rng: random.Random):
        self.rng, self.lines, self.ops = rng, [], set()
        self.values, self.arguments = [], []
        kind = rng.choice(KINDS)
        shape = self.new_shape()
        for number in range(rng.randint(1, 3)):
            value = Value(f"%a{number}", shape if number < 2 else self.new_shape(), kind)
            self.arguments.append(value)
        self.values += self.arguments
        for _ in range(rng.randint(1, 5)):
            self.grow()
        made = self.values[len(self.arguments) :]
        self.results = made if rng.random() < 0.5 else made[-1:]

    def new_shape(self) -> tuple[int, ...]:
        shape = tuple(self.rng.choice(SIZES) for _ in range(self.rng.randint(0, 3)))
        return shape if math.prod(shape) <= MOST_ELEMENTS else shape[:1]

    def add(self, op: str, text: str, shape, kind: str) -> Value | None:
        """`text` is what stands after the op's name, with {} for the result's type."""
        value = Value(f"%v{len(self.lines)}", tuple(shape), kind)
        if math.prod(value.shape) > MOST_ELEMENTS:
            return None
        self.lines.append(f"  {value.name} = {op}{text.replace('{}', value.type)}")
        self.ops.add(op.strip('"'))
        self.values.append(value)
        return value

    def grow(self) -> None:
        for _ in range(20):
            operand = self.rng.choice(self.values)
            step = self.rng.choice(STEPS)
            if step(self, operand):
                return

    def fellow(self, operand: Value) -> Value:
        """A value of the same type, perhaps the same."""
        same = [v for v in self.values if (v.shape, v.kind) == (operand.shape, operand.kind)]
        return self.rng.choice(same)

    def constant(self, number, kind: str, shape=()) -> Value:
        text = f"({number}.0, 0.0)" if is_complex(kind) else str(number)
        if kind in ("f32", "f64", "f16", "bf16"):
            text = f"{number}.0"
        elif kind == "i1":
            text = "true" if number else "false"
        value = Value(f"%v{len(self.lines)}", tuple(shape), kind)
        self.lines.append(f"  {value.name} = stablehlo.constant dense<{text}> : {value.type}")
        return value

    def region(self, op: str, kind: str) -> str:
        t = f"tensor<{kind}>"
        return (
            f"({{\n  ^bb0(%x: {t}, %y: {t}):\n    %z = stablehlo.{op} %x, %y : {t}\n"
            f"    stablehlo.return %z : {t}\n  }})"
        )

    def text(self) -> str:
        given = ", ".join(f"{a.name}: {a.type}" for a in self.arguments)
        kinds = ", ".join(r.type for r in self.results)
        names = ", ".join(r.name for r in self.results)
        return "\n".join(
            [
                f"func.func @main({given}) -> ({kinds}) {{",
                *self.lines,
                f"  return {names} : {kinds}",
                "}\n",
            ]
        )


def unary(p: Program, v: Value):
    if v.kind == "i1" or v.kind.startswith("i4"):
        return p.add("stablehlo.not", f" {v.name} : {{}}", v.shape, v.kind)
    names = ["negate"]
    if v.kind in FLOATS:
        names += ["abs", "floor", "ceil", "sign", "round_nearest_even", "round_nearest_afz"]
        names += ROUNDED
    elif not is_complex(v.kind):
        names += ["not", "popcnt", "count_leading_zeros"]
        names += [] if v.kind.startswith("u") else ["abs", "sign"]
    return p.add(f"stablehlo.{p.rng.choice(names)}", f" {v.name} : {{}}", v.shape, v.kind)


def binary(p: Program, v: Value):
    names = ["add", "multiply"]
    if v.kind == "i1":
        names = ["and", "or", "xor", "add", "multiply", "maximum", "minimum"]
    elif not is_complex(v.kind):
        names += ["subtract", "maximum", "minimum"]
        if is_int(v.kind):
            names += ["and", "or", "xor", "divide", "remainder", "shift_left"]
            names += ["shift_right_logical", "shift_right_arithmetic"]
        else:
            names += ["remainder", "divide"]
    other = p.fellow(v)
    name = f"stablehlo.{p.rng.choice(names)}"
    return p.add(name, f" {v.name}, {other.name} : {{}}", v.shape, v.kind)


def comparison(p: Program, v: Value):
    direction = p.rng.choice(["EQ", "NE"] if is_complex(v.kind) else "EQ NE LT LE GT GE".split())
    other = p.fellow(v)
    text = f" {direction}, {v.name}, {other.name} : ({v.type}, {other.type}) -> {{}}"
    return p.add("stablehlo.compare", text, v.shape, "i1")


def selection(p: Program, v: Value):
    masks = [m for m in p.values if m.kind == "i1" and m.shape in ((), v.shape)]
    if not masks:
        return None
    mask, other = p.rng.choice(masks), p.fellow(v)
    text = f" {mask.name}, {v.name}, {other.name} : {mask.type}, {{}}"
    return p.add("stablehlo.select", text, v.shape, v.kind)


def conversion(p: Program, v: Value):
    kind = p.rng.choice([k for k in KINDS if is_complex(k) or not is_complex(v.kind)])
    # What a float that the integer can't hold becomes is nobody's promise.
    if v.kind in FLOATS and not (kind in FLOATS or is_complex(kind) or kind == "i1"):
        return None
    return p.add("stablehlo.convert", f" {v.name} : ({v.type}) -> {{}}", v.shape, kind)


def broadcast(p: Program, v: Value):
    rank = p.rng.randint(len(v.shape), 3)
    places = sorted(p.rng.sample(range(rank), len(v.shape)))
    shape = [p.rng.choice(SIZES[:12]) for _ in range(rank)]
    for place, size in zip(places, v.shape, strict=True):
        shape[place] = p.rng.choice(SIZES[:12]) if size == 1 else size
    text = f" {v.name}, dims = [{csv(places)}] : ({v.type}) -> {{}}"
    return p.add("stablehlo.broadcast_in_dim", text, shape, v.kind)


def reshape(p: Program, v: Value):
    count = math.prod(v.shape)
    divisors = [d for d in range(1, count + 1) if count % d == 0] if count else [0]
    first = p.rng.choice(divisors)
    shape = [first, count // first] if count else [p.rng.choice([1, 3, 8]), 0]
    if p.rng.random() < 0.3:
        shape.insert(p.rng.randint(0, 2), 1)
    return p.add("stablehlo.reshape", f" {v.name} : ({v.type}) -> {{}}", shape, v.kind)


def transpose(p: Program, v: Value):
    order = p.rng.sample(range(len(v.shape)), len(v.shape))
    text = f" {v.name}, dims = [{csv(order)}] : ({v.type}) -> {{}}"
    return p.add("stablehlo.transpose", text, [v.shape[k] for k in order], v.kind)


def slicing(p: Program, v: Value):
    ranges, shape = [], []
    for size in v.shape:
        start = p.rng.randint(0, size)
        stop, stride = p.rng.randint(start, size), p.rng.choice([1, 1, 2, 3])
        ranges.append(f"{start}:{stop}:{stride}")
        shape.append(-(-(stop - start) // stride))
    text = f" {v.name} [{csv(ranges)}] : ({v.type}) -> {{}}"
    return p.add("stablehlo.slice", text, shape, v.kind)


def reverse(p: Program, v: Value):
    dims = sorted(p.rng.sample(range(len(v.shape)), p.rng.randint(0, len(v.shape))))
    return p.add("stablehlo.reverse", f" {v.name}, dims = [{csv(dims)}] : {{}}", v.shape, v.kind)


def padding(p: Program, v: Value):
    zero = p.constant(1, v.kind)
    low = [p.rng.randint(-1 if s else 0, 2) for s in v.shape]
    high = [p.rng.randint(0, 2) for _ in v.shape]
    inner = [p.rng.choice([0, 0, 1, 2]) for _ in v.shape]
    shape = [
        a + b + s + max(s - 1, 0) * i for s, a, b, i in zip(v.shape, low, high, inner, strict=True)
    ]
    text = f" {v.name}, {zero.name}, low = [{csv(low)}], high = [{csv(high)}], "
    text += f"interior = [{csv(inner)}] : ({v.type}, {zero.type}) -> {{}}"
    return p.add("stablehlo.pad", text, shape, v.kind)


def concatenation(p: Program, v: Value):
    if not v.shape:
        return None
    others = [v, p.fellow(v), p.fellow(v)][: p.rng.randint(1, 3)]
    dim = p.rng.randrange(len(v.shape))
    shape = list(v.shape)
    shape[dim] *= len(others)
    text = f" {csv(o.name for o in others)}, dim = {dim} : ({csv(o.type for o in others)}) -> {{}}"
    return p.add("stablehlo.concatenate", text, shape, v.kind)


def iota(p: Program, v: Value):
    if not v.shape or v.kind == "i1":
        return None
    dim = p.rng.randrange(len(v.shape))
    return p.add("stablehlo.iota", f" dim = {dim} : {{}}", v.shape, v.kind)


def reduction(p: Program, v: Value):
    dims = sorted(p.rng.sample(range(len(v.shape)), p.rng.randint(0, len(v.shape))))
    names = ["and", "or"] if v.kind == "i1" else ["add"]
    if not is_complex(v.kind):
        names += ["maximum", "minimum"]
    if math.prod(v.shape[dim] for dim in dims) == 1:
        # Whether the initial value takes part is left open.
        names = ["or"] if v.kind == "i1" else ["add"]
    start = p.constant(0, v.kind)
    shape = [size for dim, size in enumerate(v.shape) if dim not in dims]
    text = f"({v.name}, {start.name}) "
    attributes = f"<{{dimensions = array<i64{': ' if dims else ''}{csv(dims)}>}}> "
    text += attributes + p.region(p.rng.choice(names), v.kind)
    return p.add('"stablehlo.reduce"', f"{text} : ({v.type}, {start.type}) -> {{}}", shape, v.kind)


def window(p: Program, v: Value):
    if not v.shape or v.kind == "i1":
        return None
    sizes = [p.rng.randint(1, 3) for _ in v.shape]
    strides = [p.rng.randint(1, 2) for _ in v.shape]
    pads = [(p.rng.randint(0, 1), p.rng.randint(0, 1)) for _ in v.shape]
    spans = [s + a + b for s, (a, b) in zip(v.shape, pads, strict=True)]
    shape = [
        max((span - size) // stride + 1, 0) if span >= size else 0
        for span, size, stride in zip(spans, sizes, strides, strict=True)
    ]
    start = p.constant(0, v.kind)
    rows = csv(f"[{a}, {b}]" for a, b in pads)
    text = f"({v.name}, {start.name}) <{{window_dimensions = array<i64: {csv(sizes)}>, "
    text += f"window_strides = array<i64: {csv(strides)}>, "
    text += f"padding = dense<[{rows}]> : tensor<{len(pads)}x2xi64>}}> "
    name = p.rng.choice(["add"] if is_complex(v.kind) else ["add", "maximum", "minimum"])
    text += p.region(name, v.kind)
    text += f" : ({v.type}, {start.type}) -> {{}}"
    return p.add('"stablehlo.reduce_window"', text, shape, v.kind)


def product(p: Program, v: Value):
    if len(v.shape) != 2 or v.kind in ("i1", "i4"):
        return None
    others = [o for o in p.values if o.kind == v.kind and o.shape[:1] == v.shape[1:]]
    turned = not others
    other = v if turned else p.rng.choice(others)
    place = 1 if turned else 0
    shape = [v.shape[0], *(s for k, s in enumerate(other.shape) if k != place)]
    text = f" {v.name}, {other.name}, contracting_dims = [1] x [{place}]"
    text += f" : ({v.type}, {other.type}) -> {{}}"
    return p.add("stablehlo.dot_general", text, shape, v.kind)


def sorting(p: Program, v: Value):
    if not v.shape or is_complex(v.kind):
        return None
    t, truth = f"tensor<{v.kind}>", "tensor<i1>"
    dim = p.rng.randrange(len(v.shape))
    direction = p.rng.choice(["LT", "GT"])
    text = f"({v.name}) <{{dimension = {dim} : i64, is_stable = true}}> ({{\n"
    text += f"  ^bb0(%x: {t}, %y: {t}):\n"

    def compare(name, way, left, right):
        return f"    %{name} = stablehlo.compare {way}, %{left}, %{right} : ({t}, {t}) -> {truth}\n"

    if is_float(v.kind):
        # NaN comes last: an order that has no place for it leaves the result open.
        text += compare("in_order", direction, "x", "y") + compare("number", "EQ", "x", "x")
        text += compare("nan", "NE", "y", "y")
        text += f"    %before_nan = stablehlo.and %number, %nan : {truth}\n"
        text += f"    %z = stablehlo.or %in_order, %before_nan : {truth}\n"
    else:
        text += compare("z", direction, "x", "y")
    text += f"    stablehlo.return %z : {truth}\n  }})"
    return p.add('"stablehlo.sort"', f"{text} : ({v.type}) -> {{}}", v.shape, v.kind)


def dynamic_slicing(p: Program, v: Value):
    starts = [p.constant(p.rng.randint(0, 4), "i32") for _ in v.shape]
    shape = [p.rng.randint(0, size) for size in v.shape]
    types = csv([v.type, *(s.type for s in starts)])
    text = f" {csv([v.name, *(s.name for s in starts)])}, sizes = [{csv(shape)}]"
    return p.add("stablehlo.dynamic_slice", f"{text} : ({types}) -> {{}}", shape, v.kind)


def dynamic_update(p: Program, v: Value):
    part = slicing(p, v)
    if not part:
        return None
    starts = [p.constant(p.rng.randint(0, 4), "i32") for _ in v.shape]
    names = csv([v.name, part.name, *(s.name for s in starts)])
    types = csv([v.type, part.type, *(s.type for s in starts)])
    text = f" {names} : ({types}) -> {{}}"
    return p.add("stablehlo.dynamic_update_slice", text, v.shape, v.kind)


def take(p: Program, v: Value):
    """Gathers rows; indices may lie outside."""
    rows = [i for i in p.values if i.kind == "i32" and len(i.shape) == 1]
    if not v.shape or not v.shape[0] or not rows:
        return None
    index = p.rng.choice(rows)
    rest = len(v.shape) - 1
    text = f"({v.name}, {index.name}) <{{dimension_numbers = #stablehlo.gather<"
    text += f"offset_dims = [{csv(range(1, rest + 1))}], collapsed_slice_dims = [0], "
    text += "start_index_map = [0], index_vector_dim = 1>, "
    text += f"slice_sizes = array<i64: {csv([1, *v.shape[1:]])}>}}>"
    text += f" : ({v.type}, {index.type}) -> {{}}"
    return p.add('"stablehlo.gather"', text, [*index.shape, *v.shape[1:]], v.kind)


def scatter_rows(p: Program, v: Value):
    rows = [i for i in p.values if i.kind == "i32" and len(i.shape) == 1]
    if not v.shape or not rows or v.kind == "i1":
        return None
    index = p.rng.choice(rows)
    updates = Value("", (*index.shape, *v.shape[1:]), v.kind)
    fit = [u for u in p.values if (u.shape, u.kind) == (updates.shape, updates.kind)]
    update = p.rng.choice(fit) if fit else p.constant(2, v.kind, updates.shape)
    rest = len(v.shape) - 1
    text = f"({v.name}, {index.name}, {update.name}) <{{scatter_dimension_numbers = "
    text += f"#stablehlo.scatter<update_window_dims = [{csv(range(1, rest + 1))}], "
    text += "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
    text += f"index_vector_dim = 1>}}> {p.region('add', v.kind)}"
    text += f" : ({v.type}, {index.type}, {update.type}) -> {{}}"
    return p.add('"stablehlo.scatter"', text, v.shape, v.kind)


def loop(p: Program, v: Value):
    """A while that doubles the value a few times."""
    if v.kind == "i1":
        return None
    start, limit = p.constant(0, "i32"), p.constant(p.rng.randint(0, 4), "i32")
    one = p.constant(1, "i32")
    t, name = v.type, f"%w{len(p.lines)}"
    p.lines.append(
        f'  {name}:2 = "stablehlo.while"({start.name}, {v.name}) ({{\n'
        f"  ^bb0(%i: tensor<i32>, %x: {t}):\n"
        f"    %c = stablehlo.compare LT, %i, {limit.name} : (tensor<i32>, tensor<i32>)"
        " -> tensor<i1>\n    stablehlo.return %c : tensor<i1>\n  }, {\n"
        f"  ^bb0(%i: tensor<i32>, %x: {t}):\n"
        f"    %n = stablehlo.add %i, {one.name} : tensor<i32>\n"
        f"    %y = stablehlo.add %x, %x : {t}\n"
        f"    stablehlo.return %n, %y : tensor<i32>, {t}\n"
        f"  }}) : (tensor<i32>, {t}) -> (tensor<i32>, {t})"
    )
    p.ops.add("stablehlo.while")
    value = Value(f"{name}#1", v.shape, v.kind)
    p.values.append(value)
    return value


STEPS = [unary, binary, binary, comparison, selection, conversion, broadcast, reshape]
STEPS += [transpose, slicing, reverse, padding, concatenation, iota, reduction, reduction, window]
STEPS += [product, sorting, dynamic_slicing, dynamic_update, take, scatter_rows, loop]


def inputs_of(program: Program, rng: np.random.RandomState) -> list[np.ndarray]:
    arrays = []
    for value in program.arguments:
        low, high = (0, 2) if value.kind == "i1" else (0, 8) if value.kind[0] == "u" else (-4, 5)
        numbers = rng.randint(low, high, value.shape)
        dtype = tensor_file.DTYPES[value.kind]
        if is_complex(value.kind):
            numbers = numbers + 1j * rng.randint(low, high, value.shape)
        arrays.append(np.asarray(numbers).astype(dtype))
    return arrays


class Trial:
    def __init__(self, folder: pathlib.Path, number: int, seed: int):
        self.program = Program(random.Random(seed))
        self.stem = folder / f"{number:05d}"
        self.file = pathlib.Path(f"{self.stem}.mlir")
        self.file.write_text(self.program.text())
        self.inputs = []
        arrays = inputs_of(self.program, np.random.RandomState(seed % 2**32))
        for k, (value, array) in enumerate(zip(self.program.arguments, arrays, strict=True)):
            path = f"{self.stem}.in{k}.bin"
            tensor_file.write(array, path)
            self.inputs.append({"type": value.type[7:-1], "file": path})

    def job(self, targets: list[str]) -> dict:
        return {
            "program": str(self.file),
            "targets": targets,
            "inputs": self.inputs,
            "outputs": str(self.stem),
        }

    def interpreter_job(self) -> list[str]:
        given = [f"--input={i['type']}=@{i['file']}" for i in self.inputs]
        asked = [f"--output={self.stem}.ref{k}.bin" for k in range(len(self.program.results))]
        return [str(self.file), "--function=main", *given, *asked]

    def judge(self, answer: dict) -> str:
        """What is wrong, if anything is."""
        if answer["status"] != "ok":
            return f"{answer['status']} {answer.get('at', '')}: {answer.get('message', '')}"
        for k, (result, value) in enumerate(
            zip(answer["results"], self.program.results, strict=True)
        ):
            if result["type"] != value.type[7:-1]:
                return f"result {k}: {result['type']} for {value.type}"
            ours = tensor_file.read(result["file"], result["type"])
            theirs = tensor_file.read(f"{self.stem}.ref{k}.bin", result["type"])
            if difference := compare.compare(ours, theirs, accumulates=True):
                return f"wrong: {value.name} {difference.text}"
        return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    build = ROOT / os.environ.get("ALULA_BUILD", "build")
    parser.add_argument("--build", type=pathlib.Path, default=build)
    parser.add_argument("--keep", type=pathlib.Path, help="folder for what fails")
    parser.add_argument("--target", action="append", default=[], help="cpu:host")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        trials = [Trial(folder, n, options.seed * 1_000_003 + n) for n in range(options.count)]
        tool = options.build / "bin/alula-interpret"
        problems = tool_batch.interpret(tool, [t.interpreter_job() for t in trials], options.jobs)
        broken = [(t, p) for t, p in zip(trials, problems, strict=True) if p]
        trials = [t for t, p in zip(trials, problems, strict=True) if not p]
        targets = options.target or ["cpu:host"]
        answers = worker_pool.run([t.job(targets) for t in trials], options.build, options.jobs)
        refused = collections.Counter()
        failures = []
        for trial, answer in zip(trials, answers, strict=True):
            if answer["status"] == "compile":
                refused[tally.normal(answer.get("message", ""))] += 1
            elif problem := trial.judge(answer):
                failures.append((trial, problem))
        for trial, problem in failures:
            print(f"{trial.file.name}: {problem[:300]}")
            if options.keep:
                options.keep.mkdir(parents=True, exist_ok=True)
                for path in folder.glob(f"{trial.stem.name}.*"):
                    shutil.copy(path, options.keep)
        for message, count in refused.most_common(20):
            print(f"not compiled: {count} {message}")
        for message, count in collections.Counter(tally.normal(p) for _, p in broken).items():
            print(f"not interpreted: {count} {message}")
    good = len(trials) - len(failures) - refused.total()
    print(
        f"{options.count} programs: {good} agree, {len(failures)} fail, "
        f"{refused.total()} not compiled, {len(broken)} not interpreted"
    )
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
