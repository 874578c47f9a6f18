"""Runs the test suites and counts: the last line is `N passed, N failed`."""

import json
import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / os.environ.get("ALULA_BUILD", "build")
PYTHON = sys.executable

# Long suites run only when they are named.
LONG = {
    "harness": ["tests/jax/run_harness.py"],
    "jax": ["tests/jax/run_jax_tests.py"],
    "jax-processes": ["tests/jax/run_jax_processes.py"],
    "interpret": ["tests/stablehlo/run_interpreter_tests.py"],
    "compendium": ["tests/compendium/run.py"],
    "agreement": ["tests/stablehlo/verify_agreement.py"],
    "accuracy": ["tests/accuracy/run.py"],
    "native": ["tests/jax/run_native.py"],
    "cuda": ["tests/cuda/run.py"],
    "ptx": ["tests/cuda/ptx.py"],
    "triton": ["tests/cuda/run_triton.py"],
    "native-stablehlo": ["tests/stablehlo/run_native_tests.py"],
    "training": ["tests/jax/run_training.py"],
    "torch": ["tests/torch/run.py"],
    "frontends": ["tests/frontends/run.py"],
}


class Tally:
    """Counts over all suites, and names of what failed."""

    def __init__(self):
        self.passed = self.skipped = 0
        self.failures = []

    def add(self, suite, passed, failed, skipped, start):
        self.passed += passed
        self.skipped += skipped
        self.failures += [f"{suite}: {name}" for name in failed]
        print(
            f"  {suite}: {passed} passed, {len(failed)} failed, "
            f"{skipped} skipped ({time.monotonic() - start:.1f} s)",
            flush=True,
        )


def run_unit_test(binary, tally, device=None):
    name = f"{binary.name} on {device}" if device else binary.name
    start = time.monotonic()
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        result = subprocess.run(
            [binary, f"--gtest_output=json:{report.name}", "--gtest_brief=1"],
            cwd=ROOT,
            env=os.environ | ({"ALULA_DEVICE": device} if device else {}),
            capture_output=True,
            text=True,
            errors="replace",
        )
        try:
            data = json.load(open(report.name))
        except ValueError:
            data = {"tests": 0, "testsuites": []}
    failed = [
        f"{suite['name']}.{test['name']}"
        for suite in data["testsuites"]
        for test in suite["testsuite"]
        if test.get("failures")
    ]
    skipped = sum(
        test.get("result") == "SKIPPED"
        for suite in data["testsuites"]
        for test in suite["testsuite"]
    )
    if result.returncode and not failed:
        failed = [f"exit status {result.returncode}"]
    if failed:
        print(result.stdout[-4000:], result.stderr[-4000:])
    passed = max(data["tests"] - len(failed) - skipped, 0)
    tally.add(name, passed, failed, skipped, start)


def read_junit(path):
    passed, failed, skipped = 0, [], 0
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        if case.find("failure") is not None or case.find("error") is not None:
            failed.append(name)
        elif case.find("skipped") is not None:
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def run_with_junit(suite, command, tally):
    """Runs a tool that writes a JUnit file to the path it is given last."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        result = subprocess.run([*command, str(report)], cwd=ROOT)
        if not report.exists():
            tally.add(suite, 0, [f"exit status {result.returncode}"], 0, start)
            return
        passed, failed, skipped = read_junit(report)
    if result.returncode and not failed and passed + skipped:
        failed = [f"exit status {result.returncode}"]
    tally.add(suite, passed, failed, skipped, start)


def run_lit(paths, tally):
    command = [
        str(Path(PYTHON).with_name("lit")),
        "-q",
        "--param",
        f"build={BUILD}",
        "--param",
        f"python={PYTHON}",
        *paths,
        "--xunit-xml-output",
    ]
    run_with_junit("lit", command, tally)


def run_pytest(paths, tally):
    command = [PYTHON, "-m", "pytest", "-q", *paths, "--junitxml"]
    run_with_junit("pytest", command, tally)


def run_programs(names, tally):
    """What CTest knows besides unit tests: fuzzers with few rounds, sizes."""
    command = ["ctest", "--test-dir", str(BUILD), "-Q"]
    found = subprocess.run(
        [*command[:3], "--show-only=json-v1"], capture_output=True, text=True, check=True
    ).stdout
    programs = [
        test["name"]
        for test in json.loads(found)["tests"]
        if not test["name"].endswith("_test") and (not names or any(n in test["name"] for n in names))
    ]
    if programs:
        pattern = "^(" + "|".join(programs) + ")$"
        run_with_junit("programs", [*command, "-R", pattern, "--output-junit"], tally)


def lit_folders():
    files = subprocess.run(
        ["git", "ls-files", "*/test/*.mlir", "*/test/*.test", "tests/compile/*.test"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    folders = {str(Path(file).parent) for file in files}
    return sorted(folder for folder in folders if "Inputs" not in folder)


def main():
    names = sys.argv[1:]
    tally = Tally()
    if names and names[0] in LONG:
        return subprocess.run(
            [PYTHON, *LONG[names[0]], *names[1:]], cwd=ROOT
        ).returncode

    def wanted(name):
        return not names or any(part in name for part in names)

    for binary in sorted((BUILD / "tests").glob("*_test")):
        if wanted(binary.name):
            run_unit_test(binary, tally)
            # Again where the host can't reach the devices' memory.
            if binary.name.startswith("pjrt_"):
                run_unit_test(binary, tally, "afar")
    run_programs(names, tally)
    folders = [folder for folder in lit_folders() if wanted(folder)]
    if folders:
        run_lit(folders, tally)
    scripts = subprocess.run(
        ["git", "ls-files", "*/test_*.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    scripts = [script for script in scripts if wanted(script)]
    if scripts:
        run_pytest(scripts, tally)

    for failure in tally.failures:
        print(f"FAILED {failure}")
    if tally.skipped:
        print(f"{tally.skipped} skipped")
    print(f"{tally.passed} passed, {len(tally.failures)} failed")
    if not tally.passed + len(tally.failures):
        print("no test matches", *names)
    return 1 if tally.failures or not tally.passed else 0


if __name__ == "__main__":
    sys.exit(main())
