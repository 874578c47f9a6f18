"""Compiles hostile programs: each ends with an error or an artifact, soon.

  run_hostile.py [--count N] [--first N] [--step N] [--seed N] [--jobs N] [--build DIR]
                 [--keep DIR] [--whole N] [--seconds S] [--memory BYTES]

One of --whole becomes an artifact, the others go as far as loops and commands:
what LLVM makes of loops takes most of the time and depends little on the program.
What ends in a signal, in an error without a word, after more than 10 s or with
more than 2 GB is said, kept as a file, and makes the run fail.
"""

import argparse
import collections
import os
import pathlib
import re
import resource
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / name) for name in ("native", "jax")]

import alula_library
import forked
import hostile

TARGET = "cpu:x86-64-v3"


class Compilation:
    """What is done with each number: compile mutant `number`."""

    def __init__(self, build, mutants, whole):
        self.compiler, self.mutants = alula_library.Compiler(build), mutants
        self.whole = whole

    def __call__(self, number, note):
        text = self.mutants[number]
        try:
            until = None if number % self.whole == 0 else "schedule"
            self.compiler.compile(text.encode(), [TARGET], until)
            said = ""
        except alula_library.CompileError as error:
            said = str(error)
            if not error.errors or not said.strip():
                raise RuntimeError("an error without a word") from None
            if re.search(r"internal|unexpected pass failure|failed without saying why", said):
                raise RuntimeError(f"an error that says nothing: {said}") from None
        return said[:80], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--step", type=int, default=1, help="only every Nth")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    build = hostile.ROOT / os.environ.get("ALULA_BUILD", "build")
    parser.add_argument("--build", type=pathlib.Path, default=build)
    parser.add_argument("--keep", type=pathlib.Path, help="folder for what fails")
    parser.add_argument("--whole", type=int, default=10, help="one of so many all the way")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--memory", type=int, default=2 << 30)
    options = parser.parse_args()
    start = time.monotonic()
    mutants = hostile.Mutants(hostile.all_seeds(options.build), options.seed)
    print(f"{len(mutants.seeds)} seeds, {mutants.ends[-1]} programs of one edit", flush=True)
    task = Compilation(options.build, mutants, options.whole)
    numbers = range(options.first, options.first + options.count * options.step, options.step)
    failures, counts = [], collections.Counter()
    slowest = collections.Counter()
    most = 0

    def on_end(end):
        nonlocal most
        slowest[end.number] = end.seconds
        if len(slowest) > 1000:
            for number, _ in slowest.most_common()[5:]:
                del slowest[number]
        if not end.problem:
            counts["compile" if not end.value[0] else "are refused"] += 1
            most = max(most, end.value[1])
            return
        failures.append(end)
        print(f"{end.number}: {end.problem}", flush=True)
        if options.keep:
            options.keep.mkdir(parents=True, exist_ok=True)
            (options.keep / f"{end.number}.mlir").write_text(mutants[end.number])

    limits = forked.Limits(seconds=options.seconds, memory=options.memory)
    forked.run(task, numbers, limits, options.jobs, on_end)
    worst = ", ".join(f"{n}: {s:.2f} s" for n, s in slowest.most_common(3))
    print(
        f"{options.count} programs: {counts['compile']} compile, {counts['are refused']} are "
        f"refused, {len(failures)} fail; slowest {worst}; a process of {limits.tasks} took "
        f"{most} MiB at most; {time.monotonic() - start:.0f} s"
    )
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
