"""Splits a test of StableHLO into a program, its inputs and its checks.

A test is one function that makes its inputs, computes and checks:

  func @main() { %0 = call @inputs  %1 = call @expected  %2 = abs %0  check %2, %1 }

Of it are made three modules, whose function is `main`:

  inputs   () -> (values)       what `@inputs` gives, or else the constants
  program  (values) -> results  what is to be compiled: nothing in it can be folded
  checks   (results) -> ()      the expected values and the checks

The text is MLIR's generic form, as `alula-opt --emit=generic` prints it.
"""

import dataclasses
import re

_HEAD = re.compile(r'\s*(?:(%[\w$.-]+)(?::(\d+))? = )?"([\w.$-]+)"\(([^)]*)\)')
_REFERENCE = re.compile(r"%[\w$.-]+(?:#\d+)?")
# A function's name, bare or in quotes.
SYMBOL = re.compile(r'@(?:"([^"]*)"|([\w.$-]+))')
_CHECK_CALL = re.compile(r'call_target_name = "(check\.\w+)"')


class Unsplittable(Exception):
    """Why a test is not of this form."""


def split_types(text: str) -> list[str]:
    """`(a, b<c, d>)` or one type as a list."""
    text = text.strip()
    if text.startswith("("):
        text = text[1 : text.rindex(")")]
    types, depth, start = [], 0, 0
    plain = text.replace("->", "--")
    for place, character in enumerate(plain):
        if character in "<({[":
            depth += 1
        elif character in ">)}]":
            depth -= 1
        elif character == "," and depth == 0:
            types.append(text[start:place].strip())
            start = place + 1
    return [*types, text[start:].strip()] if text.strip() else []


@dataclasses.dataclass
class Op:
    text: str
    name: str = ""
    result: str | None = None  # %3, of which %3#1 may be a part.
    operands: list[str] = dataclasses.field(default_factory=list)
    operand_types: list[str] = dataclasses.field(default_factory=list)
    result_types: list[str] = dataclasses.field(default_factory=list)

    def __post_init__(self):
        match = _HEAD.match(self.text)
        if not match:
            raise Unsplittable(f"not an op: {self.text[:80]}")
        self.result, _, self.name, operands = match.groups()
        self.operands = _REFERENCE.findall(operands)
        kind = self.text[self.text.rindex(" : (") + 3 :]
        left, right = _split_arrow(kind)
        self.operand_types, self.result_types = split_types(left), split_types(right)

    @property
    def results(self) -> list[str]:
        if not self.result:
            return []
        count = len(self.result_types)
        return [self.result] if count == 1 else [f"{self.result}#{k}" for k in range(count)]

    @property
    def check(self) -> str | None:
        if self.name.startswith("check."):
            return self.name
        match = _CHECK_CALL.search(self.text) if self.name == "stablehlo.custom_call" else None
        return match and match[1]

    @property
    def callee(self) -> str | None:
        if self.name != "func.call":
            return None
        quoted, bare = SYMBOL.search(self.text, self.text.index("callee = ")).groups()
        return quoted or bare

    def mentions(self) -> set[str]:
        return set(_REFERENCE.findall(self.text)) - set(self.results)


def _split_arrow(kind: str) -> tuple[str, str]:
    depth = 0
    for place, character in enumerate(kind):
        if character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
            if depth == 0:
                return kind[: place + 1], kind[kind.index("->", place) + 2 :]
    raise Unsplittable(f"no type: {kind[:80]}")


@dataclasses.dataclass
class Function:
    name: str
    text: str
    ops: list[Op]
    argument_count: int


def parse_functions(text: str) -> dict[str, Function]:
    """The functions of a module in generic form."""
    functions = {}
    for chunk in re.split(r'^  (?="func\.func")', text, flags=re.MULTILINE)[1:]:
        lines = chunk.splitlines()
        end = next((k for k, line in enumerate(lines) if re.match(r"  }\)", line)), 0)
        name = re.search(r'sym_name = "([^"]*)"', lines[0])[1]
        body, ops = lines[1:end], []
        arguments = split_types(re.search(r"function_type = (\(.*)", lines[0])[1].split(" -> ")[0])
        for line in body:
            if line.startswith("  ^bb0"):
                continue
            # Regions of an op are indented further; the line that ends it is not, but closes.
            if ops and (not line.startswith("    ") or line[4] in " }^"):
                ops[-1] += "\n" + line
            else:
                ops.append(line)
        functions[name] = Function(
            name, "  " + "\n".join(lines[: end + 1]), [Op(op) for op in ops], len(arguments)
        )
    return functions


@dataclasses.dataclass
class Split:
    program: str
    inputs: str
    checks: str
    input_types: list[str]
    output_types: list[str]
    ops: list[str]


def _module(
    arguments: list[tuple[str, str]], body: list[str], results: list[tuple[str, str]], rest: str
) -> str:
    given = ", ".join(f"{name}: {kind}" for name, kind in arguments)
    kinds = ", ".join(kind for _, kind in results)
    names = ", ".join(name for name, _ in results)
    lines = [f"func.func @main({given}) -> ({kinds}) {{", *body]
    lines += [f'    "func.return"({names}) : ({kinds}) -> ()', "}", rest]
    return "\n".join(lines) + "\n"


def _reached(texts: list[str], functions: dict[str, Function]) -> list[Function]:
    """The functions that these texts need."""
    found: dict[str, Function] = {}
    waiting = list(texts)
    while waiting:
        for quoted, bare in SYMBOL.findall(waiting.pop()):
            function = functions.get(quoted or bare)
            if function and function.name not in found:
                found[function.name] = function
                waiting.append(function.text)
    return list(found.values())


def _callees(texts: list[str], functions: dict[str, Function]) -> str:
    return "\n".join(function.text for function in _reached(texts, functions))


def _rename(text: str, names: dict[str, str]) -> str:
    return _REFERENCE.sub(lambda match: names.get(match[0], match[0]), text)


def _checks_of_returned(function: Function) -> list[Op]:
    """A test that only prints or runs: what it returns must be what it is."""
    found = []
    for op in function.ops:
        if op.name == "func.return":
            for name, kind in zip(op.operands, op.operand_types, strict=True):
                if kind.startswith("tensor<"):
                    text = f'    "check.expect_eq"({name}, {name}) : ({kind}, {kind}) -> ()'
                    found.append(Op(text))
    return found


def split(functions: dict[str, Function], entry: str) -> Split:
    function = functions[entry]
    if function.argument_count:
        raise Unsplittable("has arguments")
    others = {name: f for name, f in functions.items() if name != entry}
    for other in _reached([function.text], others):
        if any(op.check for op in other.ops):
            raise Unsplittable("checks in a called function")
    checks = [op for op in function.ops if op.check]
    if any("probe" in op.check or "serialized" in op.check for op in checks) or any(
        op.name.startswith("interpreter.") for op in function.ops
    ):
        raise Unsplittable("watches the interpreter")
    if any('"check.' in op.text for op in function.ops if op not in checks):
        raise Unsplittable("checks inside of regions")
    if not checks:
        checks = _checks_of_returned(function)
    has_inputs = any(op.callee == "inputs" for op in function.ops)
    makers = {name: op for op in function.ops for name in op.results}

    def given(name: str) -> bool:
        """Whether a value is known before anything is computed."""
        op = makers.get(name)
        return bool(op) and (op.name == "stablehlo.constant" or op.callee == "expected")

    results: dict[str, str] = {}
    expected: list[Op] = []
    kept_constants = set()
    # Of each check, which operands are results; the others are known.
    actual: list[list[bool]] = []
    for op in checks:
        mask = [not given(name) for name in op.operands]
        if not any(mask):
            mask[0] = True  # A constant is what is tested.
            kept_constants.add(op.operands[0])
        for name, kind, is_actual in zip(op.operands, op.operand_types, mask, strict=True):
            if is_actual:
                results[name] = kind
            elif makers[name] not in expected:
                expected.append(makers[name])
        actual.append(mask)
    arguments: list[tuple[str, str]] = []
    input_ops, body = [], []
    names: dict[str, str] = {}
    left_out = {id(op) for op in checks} | {
        id(op) for op in function.ops if op.callee == "expected"
    }
    program_uses = set(results)
    for op in function.ops:
        if id(op) not in left_out and op.name != "func.return":
            program_uses |= op.mentions()
    for op in function.ops:
        if id(op) in left_out or op.name == "func.return":
            continue
        constant = op.name == "stablehlo.constant"
        if constant and not program_uses.intersection(op.results):
            continue
        movable = constant and not has_inputs and not kept_constants.intersection(op.results)
        if op.callee == "inputs" or movable:
            for name, kind in zip(op.results, op.result_types, strict=True):
                names[name] = f"%in{len(arguments)}"
                arguments.append((names[name], kind))
            input_ops.append(op)
        else:
            body.append(op)
    outputs = list(results.items())
    program_body = [_rename(op.text, names) for op in body]
    program = _module(
        arguments,
        program_body,
        [(names.get(name, name), kind) for name, kind in outputs],
        _callees(program_body, others),
    )
    input_body = [op.text for op in input_ops]
    input_results = [
        (name, kind)
        for op in input_ops
        for name, kind in zip(op.results, op.result_types, strict=True)
    ]
    inputs = _module([], input_body, input_results, _callees(input_body, others))
    seen = {name: f"%out{number}" for number, (name, _) in enumerate(outputs)}
    check_body = [op.text for op in expected]
    for op, mask in zip(checks, actual, strict=True):
        named = [seen[n] if m else n for n, m in zip(op.operands, mask, strict=True)]
        operands = ", ".join(named)
        text = re.sub(r"\(%[^)]*\)", lambda _, o=operands: f"({o})", op.text, count=1)
        if op.check == "check.eq":  # Has a result; the other has none.
            kinds = ", ".join(op.operand_types)
            text = f'    "check.expect_eq"({operands}) : ({kinds}) -> ()'
        check_body.append(text)
    checking = _module(
        [(seen[name], kind) for name, kind in outputs],
        check_body,
        [],
        _callees(check_body, others),
    )
    used = re.findall(r'"((?:stablehlo|chlo)\.[a-z_0-9]+)"', program)
    return Split(
        program,
        inputs,
        checking,
        [kind for _, kind in arguments],
        [kind for _, kind in outputs],
        sorted(set(used) - {"stablehlo.constant", "stablehlo.return"}),
    )
