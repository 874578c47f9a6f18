"""Runs JAX's own tests on Alula and on XLA:CPU and compares.

  run_jax_tests.py [FILE...] --from DIR [--python PYTHON] [--jobs N]
                   [--devices N] [--out DIR] [--table FILE.md]

DIR is an extracted tree of jax at the tag of the installed version: `tests`,
`conftest.py`, `pyproject.toml`. FILE is `lax`, `lax_test` or a path below DIR;
default: the files of the table. PYTHON is an interpreter with jax and what its
tests need (absl-py hypothesis cloudpickle pillow matplotlib …).

A test that kills its process, or takes too long, counts as failed and the rest
goes on. The two platforms take turns of --slice seconds, so that both see the
same load. The results stay in --out: what has ended there is not run again, and
its seconds count: those of the tests that ended on both platforms, and of one
start of Python."""

import argparse
import collections
import dataclasses
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FILES = """aot lax lax_numpy lax_numpy_indexing lax_numpy_reducers lax_control_flow lax_autodiff
lax_vmap lax_scipy nn random fft api export image linalg shard_map""".split()
MOST_START_SECONDS = 600
MOST_RESTARTS = 200


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*")
    parser.add_argument("--from", dest="tree", required=True, type=Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--jobs", type=int, default=1, help="processes for each file")
    parser.add_argument("--devices", type=int, help="default: as many as the file asks XLA:CPU for")
    parser.add_argument("--match", help="pytest's -k")
    parser.add_argument("--sample", type=int, default=1, help="one test of so many")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "jax_tests")
    parser.add_argument("--table", type=Path)
    parser.add_argument("--test-timeout", type=float, default=180)
    parser.add_argument("--slice", type=float, default=20, help="seconds of a turn")
    parser.add_argument("--minutes", type=float, help="end after so long; 0: tell results")
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    parser.add_argument("--only", choices=["alula", "cpu"])
    return parser.parse_args()


def find_file(tree, name):
    for path in (name, f"tests/{name}", f"tests/{name}.py", f"tests/{name}_test.py"):
        if (tree / path).is_file():
            return path
    sys.exit(f"no test file {name} in {tree}")


def count_devices(file, options):
    asked = re.search(r"request_cpu_devices\((\d+)\)", (options.tree / file).read_text())
    return options.devices or int(asked[1] if asked else 1)


def make_environment(platform, results, shard, devices, options):
    environment = dict(os.environ)
    flags = f"--xla_force_host_platform_device_count={devices}"
    environment.update(
        JAX_PLATFORMS="cpu" if platform == "cpu" else "alula,cpu",
        JAX_SKIP_SLOW_TESTS="true",
        JAX_TRACEBACK_FILTERING="off",
        ALULA_NUM_DEVICES=str(devices),
        XLA_FLAGS=flags if devices > 1 else "",
        ALULA_RESULTS=str(results),
        ALULA_SHARD=shard,
        ALULA_SLICE="0" if options.only else str(options.slice),
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
        self.shard = f"{index}/{options.jobs * options.sample}"
        devices = count_devices(file, options)
        self.environment = make_environment(platform, self.results, self.shard, devices, options)
        self.command = [options.python, "-m", "pytest", "-q", "-p", "record_results"]
        self.command += ["-p", "no:cacheprovider", "--no-header", "--tb=short", file]
        if options.match:
            self.command += ["-k", options.match]
        self.restarts = 0
        self.process = None
        self.done = self.has_finished()

    def rows(self):
        if not self.results.exists():
            return []
        return [json.loads(row) for row in self.results.read_text().splitlines()]

    def has_finished(self):
        return any(row.get("finished") in (self.shard, "0/1") for row in self.rows())

    def start(self):
        log = open(self.results.with_suffix(".log"), "a")
        self.process = subprocess.Popen(
            self.command,
            cwd=self.options.tree,
            env=self.environment | {"ALULA_STARTED": str(time.time())},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        self.changed, self.size, self.has_begun = time.monotonic(), self.get_size(), False

    def get_size(self):
        return self.results.stat().st_size if self.results.exists() else 0

    def note(self, text):
        """Blames the test that was running."""
        rows = self.rows()
        # Only of this process: an interrupted one left a start as well.
        first = max((i for i, row in enumerate(rows) if "collected" in row), default=0)
        ended = {row["test"] for row in rows if "test" in row}
        running = [row for row in rows[first:] if "start" in row and row["start"] not in ended]
        with open(self.results, "a") as out:
            for row in running:
                test, seconds = row["start"], time.time() - row["at"]
                out.write(json.dumps({"test": test, "outcome": "failed", "text": text}) + "\n")
                out.write(json.dumps({"end": test, "seconds": seconds, "cpu": 0}) + "\n")
        return bool(running)

    def turn(self):
        """Begins or goes on."""
        if self.process is None:
            self.start()
        else:
            self.changed = time.monotonic()
            self.process.send_signal(signal.SIGCONT)

    def has_stopped(self):
        kinds = os.WSTOPPED | os.WNOHANG
        return os.waitid(os.P_PID, self.process.pid, kinds) is not None

    def poll(self):
        """True when the turn is over; restarts what died."""
        code = self.process.poll()
        if code is None:
            if self.has_stopped():
                return True
            size = self.get_size()
            # Tests are collected before the first one begins.
            limit = self.options.test_timeout if self.has_begun else MOST_START_SECONDS
            if size != self.size:
                self.changed, self.size, self.has_begun = time.monotonic(), size, True
            elif time.monotonic() - self.changed > limit:
                self.process.kill()
                self.process.wait()
                self.note("timeout")
                self.process = None
                return True
            return False
        self.process = None
        if self.has_finished():
            self.done = True
            return True
        self.restarts += 1
        if not self.note(f"the process ended with {code}") or self.restarts > MOST_RESTARTS:
            print(f"  {self.results.stem}: the process ends with {code}, see its log")
            self.done = True
        return True

    def kill(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()


def take_turns(lanes, options):
    """Runs one worker of each lane at a time, until all are done."""
    end = options.deadline
    active = [None] * len(lanes)
    while True:
        for i, lane in enumerate(lanes):
            if active[i] is not None and not active[i].poll():
                continue
            last, active[i] = active[i], None
            if end is not None and time.monotonic() >= end:
                continue
            waiting = [worker for worker in lane if not worker.done]
            others = [worker for worker in waiting if worker is not last]
            if waiting:
                active[i] = (others or waiting)[0]
                active[i].turn()
        if not any(active):
            break
        time.sleep(0.05)
    for lane in lanes:
        for worker in lane:
            worker.kill()


@dataclasses.dataclass
class Outcomes:
    """What a platform did with a file."""

    tests: dict = dataclasses.field(default_factory=dict)
    seconds: dict = dataclasses.field(default_factory=dict)
    cpu: dict = dataclasses.field(default_factory=dict)
    start: tuple = (0.0, 0.0)
    total: int = 0

    def read(self, rows):
        for row in rows:
            if "test" in row and self.tests.get(row["test"], ("",))[0] != "failed":
                self.tests[row["test"]] = (row["outcome"], row["text"])
            elif "end" in row:
                self.seconds[row["end"]] = row["seconds"]
                self.cpu[row["end"]] = row["cpu"]
            elif "collected" in row and not self.total:
                self.total = row["total"]
                self.start = row["seconds"], row["cpu"]


def run(file, platforms, options):
    """Runs a file: by platform what came out."""
    lanes = [
        [Worker(file, platform, i, options) for platform in platforms] for i in range(options.jobs)
    ]
    take_turns(lanes, options)
    results = {platform: Outcomes() for platform in platforms}
    for lane in lanes:
        for platform, worker in zip(platforms, lane, strict=True):
            results[platform].read(worker.rows())
    return results


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
        "| file | share run | passes on XLA:CPU | of these here | % | seconds on XLA:CPU "
        "| seconds here | ratio | processor seconds on both | aborts |",
        "|" + "---|" * 10,
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
    platforms = [options.only] if options.only else ["cpu", "alula"]
    results = run(file, platforms, options)
    ours = results.get("alula", Outcomes())
    theirs = results.get("cpu", ours)
    if options.only == "cpu":
        ours = theirs
    others = read_tests_of_others()
    both = [test for test in theirs.tests if test in ours.tests]
    if options.only:
        wanted = [test for test in both if ours.tests[test][0] != "skipped"]
    else:
        wanted = [test for test in both if theirs.tests[test][0] == "passed"]
    wanted = [test for test in wanted if test.split("/")[-1] not in others]
    failed = [test for test in wanted if ours.tests[test][0] != "passed"]
    aborts = 0
    for test in failed:
        outcome, text = ours.tests[test]
        aborts += text.startswith("the process ended") or text == "timeout"
        causes[find_cause(text) if outcome != "skipped" else "skipped here"] += 1
    with open(options.out / f"{Path(file).stem}.failures.txt", "w") as out:
        for test in sorted(failed):
            out.write(f"{test}\n    {ours.tests[test][1][:600]!r}\n")

    def add(platform, what, start):
        # No time is kept for what an older run left behind.
        return start + sum(getattr(platform, what).get(test, 0) for test in both)

    seconds = add(theirs, "seconds", theirs.start[0]), add(ours, "seconds", ours.start[0])
    cpu = add(theirs, "cpu", theirs.start[1]), add(ours, "cpu", ours.start[1])
    return [
        Path(file).stem.removesuffix("_test"),
        f"{len(both)} of {theirs.total}",
        str(len(wanted)),
        str(len(wanted) - len(failed)),
        f"{100 * (len(wanted) - len(failed)) / max(len(wanted), 1):.1f}",
        f"{seconds[0]:.0f}",
        f"{seconds[1]:.0f}",
        f"{seconds[1] / max(seconds[0], 1e-9):.2f}",
        f"{cpu[0]:.0f}, {cpu[1]:.0f}",
        str(aborts),
    ]


def main():
    options = parse_arguments()
    options.tree = options.tree.resolve()
    options.deadline = None
    if options.minutes is not None:
        options.deadline = time.monotonic() + 60 * options.minutes
    options.out.mkdir(parents=True, exist_ok=True)
    rows, causes = [], collections.Counter()
    for name in options.files or FILES:
        row = compare(find_file(options.tree, name), options, causes)
        print(*row, flush=True)
        rows.append(row)
    write_table(rows, causes, options.table)


if __name__ == "__main__":
    main()
