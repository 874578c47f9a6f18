"""Runs StableHLO's own interpreter tests on alula-interpret, as they stand.

    run_interpreter_tests.py --from DIR [--build build] [--only PART] [--jobs N]

DIR is a checkout of openxla/stablehlo. Three sets are run and counted in files:
`stablehlo/tests/interpret/**`, `stablehlo/tests/math/**` and `stablehlo/testdata/**`; files whose RUN line
StableHLO has disabled for its own interpreter are counted by themselves. What a RUN line asks of StableHLO's tools is
asked of ours.
"""

import argparse
import concurrent.futures
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

KNOWN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "known_interpreter_failures.txt")
FILE_CHECK = shutil.which("FileCheck") or "/usr/lib/llvm-19/bin/FileCheck"


def run_lines(path):
    with open(path, encoding="utf-8") as file:
        return [m.group(1).strip() for m in
                re.finditer(r"^// RUN(?:-DISABLED[^:]*?)?:? (.*)$", file.read(), re.M)]


class Runner:
    def __init__(self, build):
        self.tool = os.path.join(build, "bin", "alula-interpret")
        self.scratch = tempfile.mkdtemp(prefix="probe")

    def options(self, path):
        """Options of the plain way to run a file, or None if it needs more."""
        lines = run_lines(path)
        text = "\n".join(lines)
        if "FileCheck" in text:
            return None
        options = ["--print=none", "--timeout=120"]
        if re.search("-split-input-file", text):
            options.append("--split-input-file")
        if "probe-output-dir" in text:
            options.append("--probe-output-dir=" + self.scratch)
        return options

    def checked(self, path):
        """Files whose output FileCheck reads: each RUN line by itself."""
        for line in run_lines(path):
            command, _, check = line.partition("|")
            words = [w for w in shlex.split(command) if w != "%s"]
            negated = words[0] == "not"
            args = []
            for word in words:
                if word.startswith("--args="):
                    args.append(word)
                elif "split-input-file" in word:
                    args.append("--split-input-file")
                elif word == "--interpreter-print-dense":
                    args.append("--print=dense")
            done = subprocess.run([self.tool, path, *args], text=True, timeout=120,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if (done.returncode != 0) != negated:
                return done.stdout.strip() or f"exit {done.returncode}"
            if negated:
                continue  # errors are worded our way
            checker = [FILE_CHECK, path] + shlex.split(check)[1:]
            checker = [w for w in checker if w != "%s"]
            seen = subprocess.run(checker, input=done.stdout, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if seen.returncode != 0:
                return f"FileCheck: {' '.join(seen.stdout.split())[:300]}"
        return None

    def batch(self, items):
        """Runs (path, options) pairs in one process; starts again after one
        that brings it down."""
        failures = {}
        while items:
            lines = "".join("\t".join([p, *o]) + "\n" for p, o in items)
            done = subprocess.run([self.tool, "--batch=-"], input=lines, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            results = [l.split("\t", 2) for l in done.stdout.splitlines()
                       if l.startswith(("PASS\t", "FAIL\t"))]
            for result in results:
                if result[0] == "FAIL":
                    failures[result[1]] = result[2] if len(result) > 2 else ""
            if len(results) == len(items):
                break
            failures[items[len(results)][0]] = f"crash, exit {done.returncode}"
            items = items[len(results) + 1:]
        return failures


def is_disabled(path):
    with open(path, encoding="utf-8") as file:
        return "RUN-DISABLED" in file.readline()


def find(folder):
    return sorted(os.path.join(d, f) for d, _, files in os.walk(folder)
                  for f in files if f.endswith(".mlir"))


def run_set(runner, folder, only, jobs):
    paths = [p for p in find(folder) if only in p
             and "--interpret" in "".join(run_lines(p))]
    plain, failures = [], {}
    for path in paths:
        options = runner.options(path)
        if options is not None:
            plain.append((path, options))
            continue
        problem = runner.checked(path)
        if problem:
            failures[path] = problem
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for found in pool.map(runner.batch, [plain[k::jobs] for k in range(jobs)]):
            failures.update(found)
    return paths, failures


def share(passed, count):
    return f"{passed}/{count} ({100 * passed / max(count, 1):.2f} %)"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--from", dest="checkout", required=True)
    parser.add_argument("--build", default="build")
    parser.add_argument("--only", default="", help="files whose path has this part")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--known", default=KNOWN, help="file of names that may fail")
    args = parser.parse_args()
    known = set()
    if args.known:
        with open(args.known, encoding="utf-8") as file:
            known = {l.split("#")[0].strip() for l in file} - {""}
    runner = Runner(args.build)
    unknown = 0
    for name in ("stablehlo/tests/interpret", "stablehlo/tests/math", "stablehlo/testdata"):
        folder = os.path.join(args.checkout, name)
        paths, failures = run_set(runner, folder, args.only, args.jobs)
        for path, problem in sorted(failures.items()):
            short = os.path.relpath(path, args.checkout)
            unknown += short not in known and not is_disabled(path)
            mark = "FAIL (disabled)" if is_disabled(path) else "FAIL"
            print(f"{mark} {short}: {problem[:400]}")
        disabled = {p for p in paths if is_disabled(p)}
        failed = set(failures)
        enabled = len(paths) - len(disabled)
        print(f"{name}: {share(enabled - len(failed - disabled), enabled)}")
        if disabled:
            print(f"{name}, disabled by StableHLO: "
                  + share(len(disabled - failed), len(disabled)))
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
