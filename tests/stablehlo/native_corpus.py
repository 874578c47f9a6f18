"""Makes a corpus of StableHLO's tests, each split into program, inputs and checks.

  native_corpus.py --from CHECKOUT --out DIR [--build build] [--jobs N]

DIR/index.jsonl has one line for each program, as harness_corpus.py's has, with
`set` (data, interpreter, math, quantized, dynamic), `file` and, where a test can't be
split, `status` with the reason.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(HERE.parent / "jax")]

import numpy as np
import split_program
import tensor_file
import tool_batch

SEPARATOR = re.compile(r"^// -----.*$", re.MULTILINE)
# Set, folder of the checkout, pattern of files.
SETS = [
    ("data", "stablehlo/testdata", "*.mlir"),
    ("interpreter", "stablehlo/tests/interpret", "**/*.mlir"),
    ("math", "stablehlo/tests/math", "*.mlir"),
    ("quantized", "stablehlo/testdata/quantized", "*.mlir"),
    ("dynamic", "stablehlo/testdata/dynamic", "*.mlir"),
]

# What the dimensions that are not known are tried to be.
SIZES = (3, 5, 8, 2, 4, 1)


def group_of(stem: str) -> str:
    """`abs_dtypes_float32_20` → `abs`: the words before what varies."""
    stop = r"(?:_(?:shape|dtypes?|from|padding|lhs|rhs|jax|inshape|poly|dynamic|[a-z]*\d.*)(?:_|$))"
    return re.split(stop, stem + "_")[0].strip("_") or stem


def storage(kind: str) -> str:
    """The element type that a file of such a tensor holds."""
    match = re.match(r"((?:[\d?]+x)*)!quant\.uniform<([iu])(\d+)", kind)
    if not match:
        return kind
    return match[1] + ("ui" if match[2] == "u" else "i") + match[3]


def inner(kind: str) -> str:
    match = re.fullmatch(r"tensor<(.*)>", kind)
    if not match:
        raise split_program.Unsplittable(f"a value of type {kind}")
    return storage(match[1])


def dynamic_types(text: str) -> dict:
    """Types of arguments and the number of results of a main with dynamic shapes."""
    head = next(line for line in text.splitlines() if "@main(" in line)
    arguments, _, results = head[head.index("@main(") :].partition(") -> ")
    return {
        "arguments": re.findall(r"%arg\d+: tensor<([^ ]*)>", arguments),
        "results": len(re.findall(r"tensor<", results)),
        "ops": sorted(set(re.findall(r"\b(?:stablehlo|chlo)\.[a-z_0-9]+\b", text))),
    }


def invented(kind: str, size: int, seed: int) -> tuple[str, np.ndarray]:
    """A value for an argument: `size` for each size that is not known and each lone integer."""
    kind = kind.replace("?", str(size))
    shape, element = tensor_file.split_type(kind)
    dtype = tensor_file.DTYPES[element]
    if element == "i64" and not shape:
        return kind, np.array(size, dtype)
    random = np.random.RandomState(seed)
    if element.lstrip("u").startswith("i"):
        return kind, random.randint(0, 2 if element == "i1" else 3, shape).astype(dtype)
    return kind, random.standard_normal(shape).astype(dtype)


class Maker:
    def __init__(self, checkout: pathlib.Path, out: pathlib.Path, build: pathlib.Path):
        self.checkout, self.out = checkout, out
        self.opt, self.interpreter = build / "bin/alula-opt", build / "bin/alula-interpret"

    def generic(self, text: str) -> str:
        done = subprocess.run(
            [self.opt, "--emit=generic", "-"], input=text, capture_output=True, text=True
        )
        if done.returncode:
            lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
            raise split_program.Unsplittable(f"alula-opt: {lines[0][:300]}")
        return done.stdout

    def entries_of(self, job: tuple[str, pathlib.Path]) -> list[dict]:
        which, path = job
        text = path.read_text()
        short = str(path.relative_to(self.checkout))
        name = f"{which}/{path.stem}"
        base = {"set": which, "file": short, "group": group_of(path.stem)}
        if "RUN-DISABLED" in text.split("\n", 1)[0]:
            base["disabled"] = True
        if which == "dynamic":
            return [base | {"name": name, "source": text, "status": "ok"} | dynamic_types(text)]
        found = []
        for number, chunk in enumerate(SEPARATOR.split(text)):
            if "func.func" not in chunk:
                continue
            here = base | {"name": name if which != "interpreter" else f"{name}:{number}"}
            try:
                if "interpreter.run_parallel" in chunk:
                    raise split_program.Unsplittable("several devices")
                functions = split_program.parse_functions(self.generic(chunk))
                # Functions that others call are parts of a test; so are @inputs and the like.
                called = set()
                for function in functions.values():
                    body = function.text.split("\n", 1)[1]
                    called |= {q or b for q, b in split_program.SYMBOL.findall(body)}
                tests = [
                    f for n, f in functions.items() if n not in called and not f.argument_count
                ]
                if not tests:
                    raise split_program.Unsplittable("has arguments")
            except split_program.Unsplittable as reason:
                found.append(here | {"status": "unsplit", "reason": str(reason)})
                continue
            for function in tests:
                entry = dict(here)
                if which == "interpreter":
                    entry["name"] += f":{function.name}"
                try:
                    found.append(entry | self.describe(functions, function.name))
                except split_program.Unsplittable as reason:
                    found.append(entry | {"status": "unsplit", "reason": str(reason)})
        return found

    def describe(self, functions: dict, name: str) -> dict:
        split = split_program.split(functions, name)
        return {
            "status": "ok",
            "source": split.program,
            "ops": split.ops,
            "input_source": split.inputs,
            "check_source": split.checks,
            "inputs": [{"type": inner(kind)} for kind in split.input_types],
            "outputs": [{"type": inner(kind)} for kind in split.output_types],
        }

    def store(self, number: int, entry: dict) -> None:
        entry["id"] = number
        place = f"{number // 100:03d}"
        (self.out / place).mkdir(parents=True, exist_ok=True)
        stem = f"{place}/{number:04d}"
        for key, name in (("source", "mlir"), ("input_source", "make"), ("check_source", "check")):
            if key in entry:
                file = f"{stem}.{name}.mlir" if name != "mlir" else f"{stem}.mlir"
                (self.out / file).write_text(entry.pop(key))
                entry[name] = file
        for k, item in enumerate(entry.get("inputs", [])):
            item["file"] = f"{stem}.in{k}.bin"

    def make_inputs(self, entries: list[dict], jobs: int) -> None:
        """Lets the interpreter write the values of the constants."""
        wanted = [entry for entry in entries if entry.get("inputs")]
        commands = [
            [str(self.out / e["make"]), "--function=main"]
            + [f"--output={self.out / item['file']}" for item in e["inputs"]]
            for e in wanted
        ]
        problems = tool_batch.interpret(self.interpreter, commands, jobs)
        for entry, problem in zip(wanted, problems, strict=True):
            if problem:
                entry["status"], entry["reason"] = "unsplit", f"inputs: {problem}"

    def try_dynamic(self, entries: list[dict], jobs: int) -> None:
        """Finds sizes with which the interpreter can run the programs, and its results."""
        waiting = [entry for entry in entries if entry["set"] == "dynamic"]
        for size in SIZES:
            commands = []
            for entry in waiting:
                stem = self.out / entry["mlir"].removesuffix(".mlir")
                entry["inputs"] = []
                for k, kind in enumerate(entry["arguments"]):
                    concrete, value = invented(kind, size, k)
                    tensor_file.write(value, f"{stem}.in{k}.bin")
                    file = f"{stem.relative_to(self.out)}.in{k}.bin"
                    entry["inputs"].append({"type": concrete, "file": file})
                commands.append(
                    [str(self.out / entry["mlir"]), "--function=main"]
                    + [f"--input={i['type']}=@{self.out / i['file']}" for i in entry["inputs"]]
                    + [f"--output={stem}.ref{k}.bin" for k in range(entry["results"])]
                )
            problems = tool_batch.interpret(self.interpreter, commands, jobs)
            failed = []
            for entry, problem in zip(waiting, problems, strict=True):
                if problem:
                    entry["no_reference"] = problem[:300]
                    failed.append(entry)
                else:
                    entry.pop("no_reference", None)
            waiting = failed

    def make(self, jobs: int) -> list[dict]:
        files = [
            (which, path)
            for which, folder, pattern in SETS
            for path in sorted((self.checkout / folder).glob(pattern))
        ]
        missing = sorted({which for which, *_ in SETS} - {which for which, _ in files})
        if missing:
            sys.exit(f"{self.checkout} has no tests of the sets {', '.join(missing)}")
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            entries = [entry for found in pool.map(self.entries_of, files) for entry in found]
        for number, entry in enumerate(entries):
            self.store(number, entry)
        self.make_inputs([entry for entry in entries if entry["set"] != "dynamic"], jobs)
        self.try_dynamic(entries, jobs)
        lines = "".join(json.dumps(entry) + "\n" for entry in entries)
        (self.out / "index.jsonl").write_text(lines)
        return entries


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--from", dest="checkout", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    maker = Maker(options.checkout.resolve(), options.out.resolve(), options.build.resolve())
    entries = maker.make(options.jobs)
    unsplit = [entry for entry in entries if entry["status"] != "ok"]
    for entry in unsplit:
        print(f"{entry['name']}: {entry['reason'][:200]}")
    print(f"{len(entries)} programs, {len(unsplit)} can't be split")


if __name__ == "__main__":
    main()
