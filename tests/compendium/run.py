"""Reads StableHLO's compendium of portable artifacts with our codec.

    run.py --from DIR [--build build] [--no-verify]

DIR is a checkout of openxla/stablehlo; its artifacts are
`stablehlo/tests/vhlo/*.mlir.bc`. Each must

- be read, and say the same program as the text beside it;
- come back equal, as text and as bytes, when written at the lowest version
  that can say it and at the newest.

Those whose test says that they are invalid must fail with their reason.
--no-verify leaves out the verifiers of the ops, which some of these programs,
made to show syntax, do not satisfy.
"""

import argparse
import os
import re
import subprocess
import sys

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
    print(f"{len(files) - failures} passed, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
