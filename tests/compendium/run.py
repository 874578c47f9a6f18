"""Reads StableHLO's compendium of portable artifacts with our codec.

    run.py --from DIR [--build build] [--no-verify]

DIR is a checkout of openxla/stablehlo; its artifacts are
`stablehlo/tests/vhlo/*.mlir.bc`. Each must

- be read, and say the same program as the text beside it;
- come back equal, as text and as bytes, when written at the lowest version
  that can say it and at the newest.

Those whose test says that they are invalid must fail with their reason.

Then the programs of `vhlo_to_version_downgrade*.mlir` are written at the version
in the file's name: those of `…_invalid…` must be refused for the version that
they need, the others must be written.

--no-verify leaves out the verifiers of the ops, which some of these programs,
made to show syntax, do not satisfy.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

REASONS = {
    "invalid_vhlo_future": "'vhlo.constant_v99': form 99 is newer than form 1",
}


def pair(artifact):
    """The text that says the same program, if there is one."""
    text = artifact.removesuffix(".bc")
    return text if os.path.basename(text).startswith("stablehlo_legalize") else None


def check(tool, artifact):
    """Why an artifact fails, or nothing."""
    name = os.path.basename(artifact).split(".")[0]

    def run(*args):
        return subprocess.run([*tool, *args], capture_output=True, text=True)

    result = run("read", artifact)
    if name in REASONS:
        if result.returncode == 0:
            return "was read, though it is invalid"
        if REASONS[name] not in result.stderr:
            return f"failed for another reason: {result.stderr.strip()}"
        return None
    if result.returncode != 0:
        return result.stderr.strip()
    result = run("roundtrip", artifact)
    if result.returncode != 0:
        return result.stderr.strip() or "does not come back"
    text = pair(artifact)
    if text:
        result = run("same", artifact, text)
        if result.returncode != 0:
            return result.stderr.strip() or "differs from its text"
    return None


def version(artifact):
    found = re.search(r"\.(\d+)_(\d+)_(\d+)\.mlir", artifact)
    return tuple(map(int, found.groups())) if found else (99, 0, 0)


def parts(path):
    """The programs of a file, each as text."""
    with open(path, encoding="utf-8") as file:
        for part in re.split(r"^// -----.*$", file.read(), flags=re.M):
            if "func.func" in part:
                yield part


def check_downgrades(tool, folder, scratch):
    """The number of programs, and what is wrong with some."""
    count, problems = 0, []
    for name in sorted(os.listdir(folder)):
        if not re.fullmatch(r"vhlo_to_version_downgrade.*\.mlir", name):
            continue
        numbers = version(name)
        target = "1.4.0" if numbers[0] == 99 else ".".join(map(str, numbers))
        for part in parts(os.path.join(folder, name)):
            program = os.path.join(scratch, "program.mlir")
            with open(program, "w", encoding="utf-8") as file:
                file.write(part)
            result = subprocess.run(
                [*tool, "write", target, program], capture_output=True, text=True
            )
            count += 1
            # Files of refusals hold a few programs that show what is fine.
            is_fine = "expected-error" not in part and "CHECK: vhlo." in part
            if "invalid" not in name or is_fine:
                good = result.returncode == 0
            else:
                good = result.returncode != 0 and "needs version" in result.stderr
            if not good:
                problems.append(f"{name}: {target}: {result.stderr.strip()[:300]}")
    return count, problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--from", dest="source", required=True)
    parser.add_argument("--build", default="build")
    parser.add_argument("--tool", help="vhlo-test-tool, if not of the build")
    parser.add_argument("--no-verify", action="store_true")
    args = parser.parse_args()
    tool = [args.tool or os.path.join(args.build, "tests", "vhlo-test-tool")]
    if args.no_verify:
        tool.append("--raw")
    folder = os.path.join(args.source, "stablehlo", "tests", "vhlo")
    files = [os.path.join(folder, f) for f in os.listdir(folder) if f.endswith(".mlir.bc")]
    if not files:
        sys.exit(f"no artifacts in {folder}")
    failures = 0
    for artifact in sorted(files, key=version):
        problem = check(tool, artifact)
        if problem:
            failures += 1
            print(f"{os.path.basename(artifact)}: {problem[:500]}")
    invalid = sum(os.path.basename(f).split(".")[0] in REASONS for f in files)
    print(f"compendium: {len(files)} artifacts, {invalid} of them invalid on purpose")
    with tempfile.TemporaryDirectory() as scratch:
        count, problems = check_downgrades(tool, folder, scratch)
    print(*problems, sep="\n", end="\n" if problems else "")
    print(f"downgrades: {count} programs, {len(problems)} of them wrong")
    total = len(files) + count
    failures += len(problems)
    print(f"{total - failures} passed, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
