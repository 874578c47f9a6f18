"""Writes docs/op_support.md: which op works on which element type.

  op_support.py [--bin DIR] [--out FILE.md] [--harness FILE.jsonl] [--check jaxlib]
  op_support.py --only-cuda    the last column alone, of the table that is there
  op_support.py --only-sparse  the section of sparse encodings alone

One small program for each op and type is made from support/*.mlir.in, given to
alula-opt and to alula-interpret.
"""

import argparse
import collections
import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(HERE / "jax"), str(HERE / "native")]

import support_programs
import tally
import tool_batch

SINT = ["i2", "i4", "i8", "i16", "i32", "i64"]
UINT = ["ui2", "ui4", "ui8", "ui16", "ui32", "ui64"]
SMALL = ["f4E2M1FN", "f6E2M3FN", "f6E3M2FN"]
F8 = "E3M4 E4M3 E4M3B11FNUZ E4M3FN E4M3FNUZ E5M2 E5M2FNUZ E8M0FNU"
EIGHT = [f"f8{name}" for name in F8.split()]
FLOAT = ["bf16", "f16", "f32", "f64"]
COMPLEX = ["complex<f32>", "complex<f64>"]
QUANT = ["!quant.uniform<i8:f32, 5.000000e-01>", "!quant.uniform<u8:f32, 5.000000e-01>"]
COLUMNS = {
    "i1": ["i1"],
    "int": SINT,
    "uint": UINT,
    "f4, f6": SMALL,
    "f8": EIGHT,
    "bf16, f16": FLOAT[:2],
    "f32, f64": FLOAT[2:],
    "complex": COMPLEX,
    "quantized": QUANT,
}
TYPES = list(itertools.chain(*COLUMNS.values()))
CLASSES = {
    "pred": ["i1"],
    "sint": SINT,
    "int": SINT + UINT,
    "float": SMALL + EIGHT + FLOAT,
    "real": FLOAT[2:],
    "complex": COMPLEX,
    "c2c": COMPLEX,
    "quant": QUANT,
    "plain": [t for t in TYPES if t not in QUANT],
    "any": TYPES,
    "expressed": [*EIGHT[1:7], *FLOAT],  # What MLIR 19 quantizes.
}
# Values that a program may name: name, shape, type (the op's own if none).
OPERANDS = [
    *((name, "4", None) for name in "xyz"),
    *((name, "2x2", None) for name in "mn"),
    *((name, "", None) for name in "st"),
    ("o", "1x1", None),
    ("v", "2", None),
    ("g", "1x4x1", None),
    ("h", "2x1x1", None),
    ("p", "4", "i1"),
    ("b", "", "i1"),
    ("i", "", "i32"),
    ("j", "", "i32"),
    ("k", "2", "i32"),
]
ZEROS = {"i", "j"}
REJECTED, ACCEPTED, RUNS = "rejected", "accepted", "runs"
CUDA = "cuda:sm_80"


class Op:
    def __init__(self, dialect: str, name: str, words: str, body: str):
        self.dialect, self.name, self.body = dialect, name, body
        self.classes = words.split()
        self.runnable = "norun" not in self.classes

    def allows(self, kind: str) -> bool:
        return any(kind in CLASSES.get(word, []) for word in self.classes)

    def program(self, kind: str) -> str:
        """A module whose main runs the op on ones."""
        real = match[1] if (match := re.match(r"complex<(.*)>", kind)) else kind
        if kind in QUANT and self.name == "abs":
            real = kind
        lines = []
        for name, shape, fixed in OPERANDS:
            if re.search(rf"%{name}\b", self.body):
                lines += constant(name, shape, fixed or kind)
        lines += self.body.replace("ONE", literal(kind)).splitlines()
        aliases = {
            "!T": kind,
            "!R": real,
            "!C": f"complex<{kind}>",
            "!V": f"tensor<4x{kind}>",
            "!M": f"tensor<2x2x{kind}>",
            "!S": f"tensor<{kind}>",
        }
        text = "\n".join(["func.func @main() {", *("  " + x for x in lines), "  return", "}"])
        if "@same" in text:
            text += "\nfunc.func private @same(%a: !V) -> !V {\n  return %a : !V\n}"
        for alias, meaning in aliases.items():
            text = re.sub(rf"{alias}\b", lambda _, meaning=meaning: meaning, text)
        return text + "\n"


def literal(kind: str) -> str:
    if kind == "i1":
        return "true"
    if kind.startswith("complex"):
        return "(1.0, 0.0)"
    return "1" if kind.lstrip("u")[0] == "i" else "1.0"


def constant(name: str, shape: str, kind: str) -> list[str]:
    """Lines that define %name as ones (or zeros)."""
    prefix = shape and shape + "x"
    if kind in QUANT:
        wide, narrow = f"tensor<{prefix}f32>", f"tensor<{prefix}{kind}>"
        return [
            f"%{name}_wide = stablehlo.constant dense<1.0> : {wide}",
            f"%{name} = stablehlo.uniform_quantize %{name}_wide : ({wide}) -> {narrow}",
        ]
    value = "0" if name in ZEROS else literal(kind)
    if name == "k":
        value = "2"
    return [f"%{name} = stablehlo.constant dense<{value}> : tensor<{prefix}{kind}>"]


def read_ops() -> list[Op]:
    ops = []
    for path in sorted((HERE / "support").glob("*.mlir.in"), reverse=True):
        dialect = path.name.split(".")[0]
        _, *parts = re.split(r"^// op ", path.read_text(), flags=re.MULTILINE)
        for part in parts:
            head, body = part.split("\n", 1)
            name, words = head.split(":")
            ops.append(Op(dialect, name.strip(), words, body.strip()))
    return ops


class Programs:
    """All programs as files, and what the tools say about them."""

    def __init__(self, folder: pathlib.Path, bin_dir: pathlib.Path):
        self.bin = bin_dir
        self.files = {}
        for op in read_ops():
            for kind in ["i32"] if "none" in op.classes else TYPES:
                path = folder / f"{len(self.files):05d}.mlir"
                path.write_text(op.program(kind))
                self.files[op, kind] = path

    def verify(self, path: pathlib.Path) -> tuple[str, str]:
        """The first error and the generic text."""
        command = [self.bin / "alula-opt", "--emit=generic", path]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode == 0:
            return "", done.stdout
        match = re.search(r"error: (.*)", done.stderr)
        error = match[1] if done.returncode == 1 and match else f"exit code {done.returncode}"
        return error, ""

    def read(self, jobs: int, keys: list | None = None) -> list[tuple[str, str]]:
        """What the verifier says of all programs or some; keeps the generic texts."""
        files = {key: self.files[key] for key in keys} if keys is not None else self.files
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            answers = list(pool.map(self.verify, files.values()))
        self.generic = {
            key: text for key, (error, text) in zip(files, answers, strict=True) if not error
        }
        return answers

    def outcomes(self, jobs: int) -> tuple[dict, dict]:
        """What happened with each program, and the messages of failures."""
        answers = self.read(jobs)
        messages = {key: error for key, (error, _) in zip(self.files, answers, strict=True)}
        outcome = {key: REJECTED if error else ACCEPTED for key, error in messages.items()}
        accepted = [key for key in outcome if outcome[key] == ACCEPTED and key[0].runnable]
        if (self.bin / "alula-interpret").exists():
            problems = tool_batch.interpret(
                self.bin / "alula-interpret",
                [[str(self.files[key]), "--function=main"] for key in accepted],
                jobs,
            )
            for key, problem in zip(accepted, problems, strict=True):
                if problem:
                    messages[key] = problem
                else:
                    outcome[key] = RUNS
        return outcome, messages

    def texts(self) -> dict:
        """Those that are accepted and allowed."""
        return {key: text for key, text in self.generic.items() if is_allowed(*key)}

    def choose(self) -> list:
        """One of each op and column."""
        chosen = {}
        for op, kind in self.files:
            column = next(name for name, kinds in COLUMNS.items() if kind in kinds)
            if is_allowed(op, kind):
                chosen[op, column] = (op, kind)
        return list(chosen.values())

    def native(self, outcome: dict, folder: pathlib.Path, jobs: int) -> dict:
        """What is wrong with native code, for each program that is accepted and allowed."""
        texts = self.texts()
        runnable = {key for key in texts if outcome[key] == RUNS}
        programs = support_programs.NativePrograms(folder, self.bin.parent, jobs)
        return programs.problems(texts, runnable)

    def cuda(self, folder: pathlib.Path, jobs: int) -> dict:
        """Why there is no PTX for a program, one of each op and column."""
        texts = self.texts()
        picked = {key: texts[key] for key in self.choose() if key in texts}
        programs = support_programs.NativePrograms(folder, self.bin.parent, jobs)
        return programs.uncompiled(picked, CUDA)


def is_allowed(op: Op, kind: str) -> bool:
    return op.allows(kind) or "none" in op.classes


def wrong(op: Op, kind: str, outcome: str) -> str:
    """How an outcome departs from the specification, if it does."""
    allowed = is_allowed(op, kind)
    if allowed and outcome == REJECTED:
        return "rejected, but the specification allows it"
    if not allowed and outcome != REJECTED and "loose" not in op.classes:
        return "accepted, but the specification does not allow it"
    if allowed and outcome == ACCEPTED and op.runnable:
        return "can't be interpreted"
    return ""


def cell(op: Op, kinds: list[str], outcome: dict) -> str:
    states = []
    for kind in kinds:
        state = outcome[op, kind]
        if not op.allows(kind):
            fine = state == REJECTED or "loose" in op.classes
            states.append("–" if fine else "lax")
        else:
            states.append({REJECTED: "no", ACCEPTED: "verify", RUNS: "yes"}[state])
    counts = collections.Counter(states)
    if len(counts) == 1:
        return states[0]
    # Types that the op does not have need no word beside those that it has.
    return ", ".join(f"{state} {number}" for state, number in counts.items() if state != "–")


def native_cell(op: Op, native: dict) -> str:
    """For which of the types that an op has there is native code."""
    if (op, "i32") in native and "none" in op.classes:
        return "no" if native[op, "i32"] else "yes"
    whole, part, none = [], [], []
    for column, kinds in COLUMNS.items():
        asked = [kind for kind in kinds if (op, kind) in native]
        good = [kind for kind in asked if not native[op, kind]]
        if not asked:
            continue
        if len(good) == len(asked):
            whole.append(column)
        elif good:
            part.append(f"{column} ({len(good)} of {len(asked)})")
        else:
            none.append(column)
    if not part + none:
        return "yes" if whole else "–"
    if not whole + part:
        return "no"
    if len(none) < len(whole) and not part:
        return "not " + "; ".join(none)
    return "; ".join(whole + part)


def native_section(native: dict, title: str = "No native code") -> list[str]:
    """Why there is no native code, by first error."""
    reasons = collections.defaultdict(lambda: collections.defaultdict(list))
    for (op, kind), problem in native.items():
        if problem:
            # The types are counted: that they differ is no other reason.
            reason = re.sub(r"(!f\.)?\bf\d+E\w+|complex<f\d+>", "..", tally.normal(problem))
            reasons[reason][f"{op.dialect}.{op.name}"].append(kind.split(",")[0])
    if not reasons:
        return []
    lines = ["", f"## {title}", "", "| programs | why | ops |", "|---|---|---|"]
    ordered = sorted(reasons.items(), key=lambda item: -sum(map(len, item[1].values())))
    for reason, ops in ordered:
        count = sum(map(len, ops.values()))
        shown = [f"{name} {len(kinds)}" for name, kinds in list(ops.items())[:6]]
        more = f", {len(ops) - 6} more" if len(ops) > 6 else ""
        lines.append(f"| {count} | {reason} | {', '.join(shown)}{more} |")
    return lines


def harness_section(path: pathlib.Path) -> list[str]:
    """The programs of JAX's harnesses that native code does not pass, by op and reason."""
    entries = [json.loads(line) for line in path.read_text().splitlines()]
    reasons = collections.Counter(
        (entry["group"], tally.why(entry)) for entry in entries if not tally.passed(entry)
    )
    lines = ["", "## JAX's harnesses as native code", "", tally.line(entries) + "."]
    if reasons:
        lines += ["", "| harness | programs | why |", "|---|---|---|"]
        lines += [f"| {group} | {n} | {why} |" for (group, why), n in sorted(reasons.items())]
    return lines


SPARSE = {
    "CSR": "(i : dense, j : compressed)",
    "CSC": "(j : dense, i : compressed)",
    "DCSR": "(i : compressed, j : compressed)",
    "COO": "(i : compressed(nonunique), j : singleton)",
    "blocks": "(i floordiv 2 : dense, j floordiv 2 : compressed, i mod 2 : dense, j mod 2 : dense)",
}
SPARSE_OPS = {
    "abs ceil exponential_minus_one floor log_plus_one negate sign sine sqrt tan tanh": "%1 = stablehlo.{} %a : {S}",
    "add subtract multiply": "%1 = stablehlo.{} %a, %a : {S}",
    "convert": "%1 = stablehlo.convert %a : ({S}) -> {S}",
    "dot": "%1 = stablehlo.dot %a, %a : ({S}, {S}) -> {S}",
    "dot_general": "%1 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : ({S}, {S}) -> {S}",
    "reduce": "%c = stablehlo.constant dense<0.0> : tensor<f32>\n%0 = stablehlo.reduce(%a init: %c) applies stablehlo.add across dimensions = [0] : ({S}, tensor<f32>) -> tensor<4xf32>\n%1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<4xf32>) -> {S}",
    "reshape": "%1 = stablehlo.reshape %a : ({S}) -> {S}",
    "broadcast_in_dim": "%1 = stablehlo.broadcast_in_dim %a, dims = [1, 0] : ({S}) -> {S}",
    "concatenate": "%1 = stablehlo.concatenate %a, dim = 0 : ({S}) -> {S}",
    "transpose": "%1 = stablehlo.transpose %a, dims = [1, 0] : ({S}) -> {S}",
    "chlo.bessel_i1e": "%1 = chlo.bessel_i1e %a : {S} -> {S}",
    "cosine": "%1 = stablehlo.cosine %a : {S}",
}  # fmt: skip


def sparse_section(folder: pathlib.Path, bin_dir: pathlib.Path, jobs: int) -> list[str]:
    """Which ops take and give tensors with an encoding."""

    def compiles(program: str, number: int) -> bool:
        path = folder / f"sparse{number}.mlir"
        path.write_text(program)
        command = [bin_dir / "alula-compile", "--target=cpu:x86-64-v3", path, "-o", f"{path}.alula"]
        return subprocess.run(command, check=False, capture_output=True).returncode == 0

    programs = {}
    for names, body in SPARSE_OPS.items():
        for name in names.split():
            for kind, levels in SPARSE.items():
                text = f"#E = #sparse_tensor.encoding<{{ map = (i, j) -> {levels} }}>\n"
                text += "func.func @main(%a: {S}) -> {S} {\n" + body.replace("{}", name)
                text += "\nreturn %1 : {S}\n}\n"
                programs[name, kind] = text.replace("{S}", "tensor<4x4xf32, #E>")
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        answers = list(pool.map(compiles, programs.values(), range(len(programs))))
    outcome = dict(zip(programs, answers, strict=True))
    lines = ["", "## Tensors with a sparse encoding", ""]
    lines += [
        "Native code for operands and results of f32 with an encoding of MLIR's `sparse_tensor`;"
    ]
    lines += ["`cosine` stands for all others, which are errors.", ""]
    lines += ["| op | " + " | ".join(SPARSE) + " |", "|---" * (len(SPARSE) + 1) + "|"]
    for name in dict.fromkeys(name for name, _ in programs):
        cells = ("yes" if outcome[name, kind] else "–" for kind in SPARSE)
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def with_sparse(text: str, section: list[str]) -> str:
    """Before the sections that say what there is no code for."""
    text = re.sub(
        r"\n## Tensors with a sparse encoding\n.*?(?=\n## |\Z)", "", text, flags=re.DOTALL
    )
    head, mark, tail = text.partition("\n## No ")
    return head.rstrip("\n") + "\n" + "\n".join(section) + "\n" + mark + tail


HEADER = """# Ops and element types

Generated by `tests/op_support.py`: one small program for each op and type, read and verified by
`alula-opt`, run by `alula-interpret`, compiled for `cpu:host` and run; cuda: one type of each
column compiled for `cuda:sm_80`. Do not edit.

yes: parsed, verified and interpreted. verify: parsed and verified, not interpreted (`infeed`,
`recv` and `send` need a partner). –: the specification does not allow it, and it is rejected.
no: should work, but is rejected. lax: should be rejected, but is accepted. A number says for
how many of the types: int and uint have 6 widths (2 to 64), there are 8 kinds of f8 and 3 of f4
and f6.
"""


def with_cuda(text: str, cuda: dict) -> str:
    """The table with a last column that says for what there is PTX."""
    lines, dialect = [], ""
    cells = {(op.dialect, op.name): native_cell(op, cuda) for op, _ in cuda}
    text = text.split("\n## No PTX\n")[0].rstrip("\n")
    for line in text.splitlines():
        if line.startswith("## "):
            dialect = line[3:]
        parts = line.split("|")
        if line.startswith("| op | i1 |"):
            line = line.split(" native |")[0] + " native | cuda |"
        elif line.startswith("|---|---|---|---|---|---|---|---|---|---|---|"):
            line = "|---" * (len(COLUMNS) + 3) + "|"
        elif len(parts) in (13, 14) and (dialect, parts[1].strip()) in cells:
            line = "|".join(parts[:12]) + f"| {cells[dialect, parts[1].strip()]} |"
        lines.append(line)
    counts = f"PTX for sm_80: {sum(not why for why in cuda.values())} of {len(cuda)}."
    text = "\n".join(lines)
    text = re.sub(r" PTX for sm_80: .*", "", text)
    text = re.sub(r"(Native code: \d+ of \d+\.)", rf"\1 {counts}", text)
    return text + "\n" + "\n".join([*native_section(cuda, "No PTX"), ""])


def document(outcome: dict, messages: dict, native: dict, harness: pathlib.Path | None) -> str:
    ops = list(dict.fromkeys(op for op, _ in outcome))
    states = collections.Counter(outcome.values())
    bad = {key: text for key, state in outcome.items() if (text := wrong(*key, state))}
    counts = (
        f"{len(ops)} ops, {len(outcome)} programs: {states[RUNS]} run, {states[ACCEPTED]} are "
        f"only verified, {states[REJECTED]} are rejected; {len(bad)} are not as the specification "
        f"says. Native code: {sum(not text for text in native.values())} of {len(native)}."
    )
    lines = [HEADER, counts]
    for dialect in dict.fromkeys(op.dialect for op in ops):
        lines += ["", f"## {dialect}", "", "| op | " + " | ".join(COLUMNS) + " | native |"]
        lines += ["|---" * (len(COLUMNS) + 2) + "|"]
        for op in (op for op in ops if op.dialect == dialect):
            if "none" in op.classes:
                state = {REJECTED: "no", ACCEPTED: "verify", RUNS: "yes"}[outcome[op, "i32"]]
                lines.append(
                    f"| {op.name} | {state} (no element type) |"
                    + " |" * 8
                    + f" {native_cell(op, native)} |"
                )
                continue
            cells = (cell(op, kinds, outcome) for kinds in COLUMNS.values())
            row = " | ".join(cells)
            lines.append(f"| {op.name} | {row} | {native_cell(op, native)} |")
    if bad:
        groups = collections.defaultdict(list)
        for (op, kind), text in bad.items():
            groups[op, text].append(kind)
        lines += ["", "## Not as the specification says", "", "| op | types | what | message |"]
        lines += ["|---|---|---|---|"]
        for (op, text), kinds in groups.items():
            # Where the program lay says nothing to a reader.
            message = re.sub(r'loc\("[^"]*":\d+:\d+\): |/\S*/', "", messages[op, kinds[0]])
            message = message[:150].replace("|", "/").strip()
            shown = " ".join(kind.split(",")[0] for kind in kinds)
            lines.append(f"| {op.dialect}.{op.name} | {shown} | {text} | {message} |")
    lines += native_section(native)
    if harness:
        lines += harness_section(harness)
    return "\n".join(lines) + "\n"


def check_with_jaxlib() -> None:
    """Lists where jaxlib's verifier is not of the table's opinion."""
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir

    context = mlir.make_ir_context()
    for op in read_ops():
        for kind in [t for t in TYPES if t not in QUANT]:
            try:
                ir.Module.parse(op.program(kind), context)
                error = ""
            except ir.MLIRError as failure:
                error = str(failure).split("error: ", 1)[-1].splitlines()[0]
            outcome = REJECTED if error else RUNS
            if wrong(op, kind, outcome):
                print(f"{op.dialect}.{op.name} {kind}: {error or 'accepted'}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/bin")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "docs/op_support.md")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--harness", type=pathlib.Path, help="--results of run_native.py")
    parser.add_argument("--check", choices=["jaxlib"], help="compare the table with jaxlib's")
    parser.add_argument("--only-cuda", action="store_true", help="the last column alone")
    parser.add_argument("--only-sparse", action="store_true", help="one section alone")
    options = parser.parse_args()
    if options.check:
        check_with_jaxlib()
        return
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        if options.only_sparse:
            section = sparse_section(work, options.bin.resolve(), options.jobs)
            options.out.write_text(with_sparse(options.out.read_text(), section))
            return
        programs = Programs(work, options.bin.resolve())
        if options.only_cuda:
            programs.read(options.jobs, programs.choose())
            text = with_cuda(options.out.read_text(), programs.cuda(work, options.jobs))
            options.out.write_text(text)
            return
        outcome, messages = programs.outcomes(options.jobs)
        native = programs.native(outcome, work, options.jobs)
        text = document(outcome, messages, native, options.harness)
        text = with_cuda(text, programs.cuda(work, options.jobs))
        section = sparse_section(work, options.bin.resolve(), options.jobs)
        options.out.write_text(with_sparse(text, section))
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
