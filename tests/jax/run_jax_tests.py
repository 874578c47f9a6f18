"""Runs JAX's own tests on Alula and on XLA:CPU and compares.

  run_jax_tests.py [FILE...] --from DIR [--python PYTHON] [--jobs N]
                   [--devices N] [--out DIR] [--table FILE.md]

DIR is an extracted tree of jax at the tag of the installed version: `tests`,
`conftest.py`, `pyproject.toml`. FILE is `lax`, `lax_test` or a path below DIR;
default: the files of the table. PYTHON is an interpreter with jax and what its
tests need (absl-py hypothesis cloudpickle pillow matplotlib …).

A test that kills its process, or takes too long, counts as failed and the rest
goes on. The results stay in --out: what is there is not run again."""

import argparse
import collections
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FILES = """aot lax lax_numpy lax_numpy_indexing lax_numpy_reducers lax_control_flow lax_autodiff
lax_vmap lax_scipy nn random fft api export image linalg shard_map""".split()
MOST_RESTARTS = 200


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*")
    parser.add_argument("--from", dest="tree", required=True, type=Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--jobs", type=int, default=1, help="processes for each file")
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--match", help="pytest's -k")
    parser.add_argument("--sample", type=int, default=1, help="one test of so many")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "jax_tests")
    parser.add_argument("--table", type=Path)
    parser.add_argument("--test-timeout", type=float, default=180)
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    parser.add_argument("--only", choices=["alula", "cpu"])
    return parser.parse_args()


def find_file(tree, name):
    for path in (name, f"tests/{name}", f"tests/{name}.py", f"tests/{name}_test.py"):
        if (tree / path).is_file():
            return path
    sys.exit(f"no test file {name} in {tree}")


def make_environment(platform, results, shard, options):
    environment = dict(os.environ)
    flags = f"--xla_force_host_platform_device_count={options.devices}"
    environment.update(
        JAX_PLATFORMS="cpu" if platform == "cpu" else "alula,cpu",
        JAX_SKIP_SLOW_TESTS="true",
        JAX_TRACEBACK_FILTERING="off",
        ALULA_NUM_DEVICES=str(options.devices),
        XLA_FLAGS=flags if options.devices > 1 else "",
        ALULA_RESULTS=str(results),
        ALULA_SHARD=shard,
        PYTHONPATH=os.pathsep.join([str(HERE), str(ROOT / "python"), str(options.tree)]),
    )
    return environment


class Worker:
    """One process after the other over one shard of one file."""

    def __init__(self, file, platform, index, options):
        self.options = options
        self.results = options.out / f"{Path(file).stem}.{platform}.{index}.jsonl"
        if options.fresh:
            self.results.unlink(missing_ok=True)
        self.environment = make_environment(
            platform, self.results, f"{index}/{options.jobs * options.sample}", options
        )
        self.command = [options.python, "-m", "pytest", "-q", "-p", "record_results"]
        self.command += ["-p", "no:cacheprovider", "--no-header", "--tb=short", file]
        if options.match:
            self.command += ["-k", options.match]
        self.restarts = 0
        self.process = None
        self.done = self.rows()[-1:] == [{"finished": True}]

    def rows(self):
        if not self.results.exists():
            return []
        return [json.loads(row) for row in self.results.read_text().splitlines()]

    def start(self):
        log = open(self.results.with_suffix(".log"), "a")
        self.process = subprocess.Popen(
            self.command,
            cwd=self.options.tree,
            env=self.environment,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        self.changed, self.size = time.monotonic(), -1

    def note(self, text):
        """Blames the test that was running."""
        rows = self.rows()
        ended = {row["test"] for row in rows if "test" in row}
        running = [row["start"] for row in rows if "start" in row and row["start"] not in ended]
        with open(self.results, "a") as out:
            for test in running:
                out.write(json.dumps({"test": test, "outcome": "failed", "text": text}) + "\n")
        return bool(running)

    def poll(self):
        """Restarts what died; true when the shard is done."""
        if self.done:
            return True
        if self.process is None:
            self.start()
            return False
        code = self.process.poll()
        if code is None:
            size = self.results.stat().st_size if self.results.exists() else 0
            if size != self.size:
                self.changed, self.size = time.monotonic(), size
            elif time.monotonic() - self.changed > self.options.test_timeout:
                self.process.kill()
                self.process.wait()
                self.note("timeout")
                self.process = None
            return False
        if self.rows()[-1:] == [{"finished": True}]:
            self.done = True
            return True
        self.process = None
        self.restarts += 1
        if not self.note(f"the process ended with {code}") or self.restarts > MOST_RESTARTS:
            print(f"  {self.results.stem}: the process ends with {code}, see its log")
            self.done = True
        return self.done


def run(file, platform, options):
    """Runs a file on a platform: outcomes by test, and seconds."""
    workers = [Worker(file, platform, i, options) for i in range(options.jobs)]
    timing = options.out / f"{Path(file).stem}.{platform}.seconds"
    start = time.monotonic()
    if not all(worker.done for worker in workers):
        while not all([worker.poll() for worker in workers]):
            time.sleep(0.2)
        timing.write_text(str(time.monotonic() - start))
    outcomes = {}
    for worker in workers:
        for row in worker.rows():
            if "test" in row and outcomes.get(row["test"], ("",))[0] != "failed":
                outcomes[row["test"]] = (row["outcome"], row["text"])
    return outcomes, float(timing.read_text()) if timing.exists() else 0.0


def find_cause(text):
    """What failures have in common, in a few words."""
    found = re.search(r"'([\w.]+)': (no native code[^\n]*)", text)
    if found:
        return f"{found[1]}: {found[2]}"
    found = re.search(r"(UNIMPLEMENTED|INVALID_ARGUMENT|INTERNAL)[^\n]*", text)
    line = found[0] if found else text.strip().splitlines()[0] if text.strip() else "no message"
    line = re.sub(r'"[^"]*":\d+:\d+', "…", line)
    line = re.sub(r"(callsite|loc)\(.*\): '", "'", line)
    line = re.sub(r"0x[0-9a-f]+|\d+(\.\d+)?(e[-+]?\d+)?", "N", line)
    return line[:120]


def write_table(rows, causes, path):
    lines = [
        "| file | passes on XLA:CPU | of these here | % | seconds on XLA:CPU | seconds here | aborts |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    lines += ["", "| failures | cause |", "|---|---|"]
    lines += [f"| {count} | {cause.replace('|', '/')} |" for cause, count in causes.most_common()]
    text = "\n".join(lines) + "\n"
    print(text)
    if path:
        path.write_text(text)


def read_tests_of_others():
    """Tests that only a platform called cpu can pass."""
    lines = (HERE / "jax_tests_of_others.txt").read_text().splitlines()
    names = (line.split()[0] for line in lines if line and not line.startswith("#"))
    return {name.replace("_test::", "_test.py::", 1) for name in names}


def compare(file, options, causes):
    results = {}
    for platform in ("cpu", "alula"):
        if options.only in (None, platform):
            results[platform] = run(file, platform, options)
    ours, seconds = results.get("alula", ({}, 0))
    theirs, their_seconds = results.get("cpu", (ours, 0))
    others = read_tests_of_others()
    theirs = {name: row for name, row in theirs.items() if name.split("/")[-1] not in others}
    wanted = [test for test, (outcome, _) in theirs.items() if outcome == "passed"]
    failed = [test for test in wanted if ours.get(test, ("missing", ""))[0] != "passed"]
    if options.only == "alula":
        wanted = list(theirs)
        failed = [test for test, (outcome, _) in theirs.items() if outcome == "failed"]
    aborts = 0
    for test in failed:
        outcome, text = ours.get(test, ("missing", "not run"))
        aborts += text.startswith("the process ended") or text == "timeout"
        causes[find_cause(text) if outcome != "skipped" else "skipped here"] += 1
    share = 100 * (len(wanted) - len(failed)) / max(len(wanted), 1)
    with open(options.out / f"{Path(file).stem}.failures.txt", "w") as out:
        for test in sorted(failed):
            text = ours.get(test, ("", "not run"))[1]
            out.write(f"{test}\n    {text[:600]!r}\n")
    return [
        Path(file).stem,
        str(len(wanted)),
        str(len(wanted) - len(failed)),
        f"{share:.1f}",
        f"{their_seconds:.0f}",
        f"{seconds:.0f}",
        str(aborts),
    ]


def main():
    options = parse_arguments()
    options.tree = options.tree.resolve()
    options.out.mkdir(parents=True, exist_ok=True)
    rows, causes = [], collections.Counter()
    for name in options.files or FILES:
        row = compare(find_file(options.tree, name), options, causes)
        print(*row, flush=True)
        rows.append(row)
    write_table(rows, causes, options.table)


if __name__ == "__main__":
    main()
