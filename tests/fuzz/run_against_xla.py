"""Random programs on Alula and on XLA:CPU, in processes that may die.

  run_against_xla.py [--count N] [--first N] [--jobs N] [--build DIR] [--keep DIR] [--tasks N]

Both compilers are libraries of the process, which may die in either. The program
at which it does is run again in a process of its own, and it is said in which of
the two that dies. Where results differ by more than the type's tolerance, the
same program in f64 tells whose are nearer to the truth, and where it can't, the
reference interpreter whose are right. What is not right is kept, and makes the
run fail; a death or an error of XLA:CPU does not.
"""

import argparse
import collections
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")
# One thread each: there are programs enough for every core.
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / name) for name in ("native", "jax")]

import alula_library
import compare
import forked
import fuzz_native
import numpy as np
import tensor_file
import wider
import xla_cpu
from judge import SLACK_EPSILONS

ROOT = HERE.parents[1]
TARGETS = ["cpu:host", "cpu:x86-64-v2", "cpu:x86-64-v3"]


class Comparison:
    """What is done with each number: compare the results of program `number`."""

    def __init__(self, build: pathlib.Path):
        self.build = build
        self.compiler = alula_library.Compiler(build)

    def __call__(self, number: int, note: forked.Note) -> tuple[str, str]:
        """A verdict and what it is about."""
        program, inputs = make(number)
        text = program.text()
        note.say("XLA:CPU")
        try:
            theirs = xla_cpu.run(text, inputs)
        except Exception as error:  # noqa: BLE001, whatever it is that it throws
            theirs, refusal = None, str(error).splitlines()[0]
        note.say("Alula compiles")
        try:
            artifact = self.compiler.compile(text.encode(), [TARGETS[number % 3]])
        except alula_library.CompileError as error:
            return "refused", str(error)
        note.say("Alula runs")
        ours = self.run(artifact, program, inputs)
        if theirs is None:
            return "XLA:CPU refuses", refusal
        note.say("comparing")
        verdict, about = judge(program, text, inputs, ours, theirs)
        if verdict == "differ" and equal_by_reference(self.build, number, ours):
            return "XLA:CPU is wrong", about
        return verdict, about

    def run(self, artifact, program, inputs):
        runtime = alula_library.Runtime(self.build)
        executable = runtime.load(artifact)
        arguments = [
            runtime.new_buffer(array, value.kind)
            for array, value in zip(inputs, program.arguments, strict=True)
        ]
        results = executable.call(executable.find("main"), arguments)
        return [result.array() for result in results]


def make(number: int) -> tuple[fuzz_native.Program, list[np.ndarray]]:
    program = fuzz_native.Program(random.Random(7_000_003 + number))
    return program, fuzz_native.inputs_of(program, np.random.RandomState(number))


def judge(program, text, inputs, ours, theirs) -> tuple[str, str]:
    verdict = "agree"
    truths = None
    for place, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
        other = np.asarray(other).astype(mine.dtype)
        if mine.shape != other.shape:
            return "differ", f"result {place}: shape {mine.shape} for {other.shape}"
        difference = compare.compare(mine, other, accumulates=True)
        if not difference:
            continue
        if compare.flushed(mine, other, difference.where):
            verdict = "agree but for denormals"
            continue
        if not compare.is_float(mine.dtype):
            return "differ", f"result {place}: {difference.text}"
        if truths is None:
            wide = wider.widen_text(text)
            truths = wide and xla_cpu.run(wide, [wider.widen_array(array) for array in inputs])
        slack = SLACK_EPSILONS * compare.epsilon(mine.dtype)
        if not truths or not (
            wider.nearer(mine, other, truths[place], difference.where, slack)
            or wider.nearer_as_a_whole(mine, other, truths[place])
        ):
            return "differ", f"result {place}: {difference.text}"
        verdict = "are as near to the truth or nearer"
    return verdict, ""


def equal_by_reference(build: pathlib.Path, number: int, ours: list[np.ndarray]) -> bool:
    """Does the reference interpreter have our results too?"""
    with tempfile.TemporaryDirectory() as name:
        stem = keep(pathlib.Path(name), number)
        program, inputs = make(number)
        types = [value.type[7:-1] for value in program.results]
        given = [
            f"--input={value.type[7:-1]}=@{stem}.in{place}.bin"
            for place, value in enumerate(program.arguments[: len(inputs)])
        ]
        asked = [f"--output={stem}.ref{place}.bin" for place in range(len(types))]
        tool = build / "bin/alula-interpret"
        if subprocess.run(
            [tool, f"{stem}.mlir", "--function=main", *given, *asked], check=False
        ).returncode:
            return False
        return not any(
            compare.compare(
                mine, tensor_file.read(f"{stem}.ref{place}.bin", types[place]), accumulates=True
            )
            for place, mine in enumerate(ours)
        )


def keep(folder: pathlib.Path, number: int) -> pathlib.Path:
    """Writes the program and its arguments; the begin of their names."""
    folder.mkdir(parents=True, exist_ok=True)
    program, inputs = make(number)
    (folder / f"{number}.mlir").write_text(program.text())
    for place, array in enumerate(inputs):
        tensor_file.write(array, folder / f"{number}.in{place}.bin")
    return folder / str(number)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    build = ROOT / os.environ.get("ALULA_BUILD", "build")
    parser.add_argument("--build", type=pathlib.Path, default=build)
    parser.add_argument("--keep", type=pathlib.Path, help="folder for what is not right")
    parser.add_argument("--tasks", type=int, default=25, help="programs of one process")
    options = parser.parse_args()
    start = time.monotonic()
    verdicts, failures = collections.Counter(), 0
    said = collections.Counter()

    def on_end(end):
        nonlocal failures
        verdict, about = end.value or ("", "")
        if end.problem:
            verdict = f"die in {end.phase}" if end.phase else "die"
            about = end.problem
        verdicts[verdict] += 1
        if verdicts.total() % 250 == 0:
            print(f"{verdicts.total()} of {options.count}, {failures} failures", flush=True)
        if verdict in ("refused", "XLA:CPU refuses"):
            said[f"{verdict}: {about[:150]}"] += 1
            return
        if about:
            print(f"{end.number}: {verdict}: {about[:300]}", flush=True)
            failures += verdict not in ("die in XLA:CPU", "XLA:CPU is wrong")
            if options.keep:
                keep(options.keep, end.number)

    limits = forked.Limits(seconds=60, memory=16 << 30, tasks=options.tasks)
    numbers = range(options.first, options.first + options.count)
    forked.run(Comparison(options.build), numbers, limits, options.jobs, on_end)
    for text, count in said.most_common(10):
        print(f"{count} {text}")
    counts = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common())
    print(f"{options.count} programs: {counts}; {time.monotonic() - start:.0f} s")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
