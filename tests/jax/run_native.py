"""Compiles every program of a corpus of JAX's harnesses, runs it, judges it.

  run_native.py [--corpus DIR] [--build DIR] [--match RE] [--target T] [--sample tenth]
                [--compile-only] [--summary FILE.md] [--results FILE.jsonl] [--bless]
                [--emulator WORDS]

A result must be XLA:CPU's, and the reference interpreter's, within the type's
tolerance (see judge.py). Fails if a group passes less than native_expected.json
says, if anything crashes, and if a result is wrong.

Programs for another machine run under an emulator (runtime/conformance/test_other_machines.py builds an alula-run):
  --target cpu:aarch64 --emulator 'qemu-aarch64 -L /usr/aarch64-linux-gnu build/qemu-aarch64/bin/alula-run'
"""

import argparse
import collections
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("JAX_ENABLE_X64", "1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(HERE.parent / "native")]

import harness_corpus
import judge
import tally
import tensor_file
import tool_batch
import worker_pool

EXPECTED = HERE.parent / "native" / "expected.json"
BUILD = ROOT / os.environ.get("ALULA_BUILD", "build")


def sample(entries: list[dict], which: str) -> list[dict]:
    """A tenth of each group: always the same, whatever else is in the corpus."""
    if which != "tenth":
        return entries
    seen = collections.Counter()
    chosen = []
    for entry in entries:
        if seen[entry["group"]] % 10 == 0:
            chosen.append(entry)
        seen[entry["group"]] += 1
    return chosen


class Reference:
    """What alula-interpret makes of the programs, kept beside the corpus."""

    def __init__(self, corpus: pathlib.Path, tool: pathlib.Path):
        self.corpus, self.tool = corpus, tool
        self.folder = corpus / "reference"

    def prepare(self, entries: list[dict], jobs: int) -> None:
        digest = hashlib.sha256(self.tool.read_bytes()).hexdigest()
        stamp = self.folder / "tool.sha256"
        if not stamp.exists() or stamp.read_text() != digest:
            self.folder.mkdir(exist_ok=True)
            for path in self.folder.glob("*.bin"):
                path.unlink()
            stamp.write_text(digest)
        missing = [e for e in entries if e["outputs"] and not self._path(e, 0).exists()]
        commands = []
        for entry in missing:
            inputs = [f"--input={i['type']}=@{self.corpus / i['file']}" for i in entry["inputs"]]
            outputs = [f"--output={self._path(entry, k)}" for k in range(len(entry["outputs"]))]
            program = str(self.corpus / entry["mlir"])
            commands.append([program, "--function=main", *inputs, *outputs])
        if commands:
            tool_batch.interpret(self.tool, commands, jobs)

    def _path(self, entry: dict, number: int) -> pathlib.Path:
        return self.folder / f"{entry['id']}.{number}.bin"

    def results(self, entry: dict) -> list | None:
        try:
            return [
                tensor_file.read(self._path(entry, number), output["type"])
                for number, output in enumerate(entry["outputs"])
            ]
        except (OSError, ValueError):
            return None


def compile_and_run(
    entries: list[dict],
    corpus: pathlib.Path,
    build: pathlib.Path,
    work: pathlib.Path,
    targets: list[str],
    run: bool = True,
    jobs: int = 0,
    timeout: float = worker_pool.TIMEOUT,
    environment: dict[str, str] | None = None,
    emulator: list[str] | None = None,
) -> None:
    """Sets entry["native"]."""
    tasks = [
        {
            "program": str(corpus / entry["mlir"]),
            "targets": targets,
            "run": run,
            "inputs": [i | {"file": str(corpus / i["file"])} for i in entry["inputs"]],
            "outputs": str(work / str(entry["id"])),
            "emulator": emulator or [],
            "types": [output["type"] for output in entry["outputs"]],
        }
        for entry in entries
    ]
    answers = worker_pool.run(
        tasks,
        build,
        jobs or os.cpu_count(),
        timeout=timeout,
        title="native",
        environment=environment,
    )
    for entry, answer in zip(entries, answers, strict=True):
        entry["native"] = answer


def judge_all(
    entries: list[dict], judging: judge.Judge, work: pathlib.Path, reference: Reference | None
) -> None:
    """Sets verdict and detail, and those against the reference."""
    for entry in entries:
        if entry["native"]["status"] not in ("ok", "unsound"):
            continue
        types = [result["type"] for result in entry["native"]["results"]]
        wanted = [output["type"] for output in entry["outputs"]]
        if types != wanted:
            entry["verdict"], entry["detail"] = "differs", f"results {types} for {wanted}"
            continue
        prefix = work / str(entry["id"])
        entry["verdict"], entry["detail"] = judging.judge_files(entry, prefix)
        theirs = reference and reference.results(entry)
        if theirs:
            ours = [
                tensor_file.read(f"{prefix}.{number}.bin", kind)
                for number, kind in enumerate(types)
            ]
            verdict, detail = judging.judge(entry, ours, theirs)
            entry["reference_verdict"] = verdict
            entry["reference_detail"] = detail and f"reference: {detail}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", type=pathlib.Path, default=BUILD / "corpus/harness")
    parser.add_argument("--build", type=pathlib.Path, default=BUILD)
    parser.add_argument("--match", default="", help="regular expression")
    parser.add_argument("--target", action="append", default=[], help="cpu:host")
    parser.add_argument("--emulator", default="", help="runs programs: a command, in words")
    parser.add_argument("--sample", choices=["all", "tenth"], default="all")
    parser.add_argument("--compile-only", action="store_true", help="do not run anything")
    parser.add_argument("--no-reference", action="store_true", help="compare with XLA:CPU only")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=float, default=worker_pool.TIMEOUT)
    parser.add_argument("--summary", type=pathlib.Path, help="Markdown file")
    parser.add_argument("--results", type=pathlib.Path, help="JSON lines file")
    parser.add_argument("--again", type=pathlib.Path, help="only what did not pass, by --results")
    parser.add_argument("--bless", action="store_true", help="write native/expected.json")
    options = parser.parse_args()
    if not (options.corpus / "index.jsonl").exists():
        script = HERE / "harness_corpus.py"
        command = [sys.executable, script, "--out", options.corpus, f"--jobs={options.jobs}"]
        subprocess.run(command, check=True)
    corpus, run = options.corpus.resolve(), not options.compile_only
    entries = [e for e in harness_corpus.read_index(corpus) if e["status"] == "ok"]
    entries = sample(entries, options.sample)
    entries = [entry for entry in entries if re.search(options.match, entry["name"])]
    todo = tally.recall(entries, options.again)
    targets = options.target or ["cpu:host"]
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        compile_and_run(
            todo, corpus, options.build, work, targets, run, options.jobs, options.timeout,
            emulator=shlex.split(options.emulator),
        )  # fmt: skip
        if run:
            reference = None
            if not options.no_reference:
                reference = Reference(corpus, options.build / "bin" / "alula-interpret")
                ran = [e for e in todo if e["native"]["status"] in ("ok", "unsound")]
                reference.prepare(ran, options.jobs)
            judge_all(todo, judge.Judge(corpus), work, reference)
    title = f"JAX's harnesses as native code ({', '.join(targets)})"
    text = tally.summary(title, entries, run)
    if options.summary:
        options.summary.write_text(text)
    else:
        print(text)
    if options.results:
        options.results.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    suite = "harness" if options.sample == "all" else f"harness {options.sample}"
    expectations = tally.Expectations(EXPECTED, suite)
    lost = expectations.regressions(entries, run)
    for text in lost:
        print(f"REGRESSION {text}")
    if options.bless and run:
        expectations.bless(entries)
    print(f"{tally.line(entries, run)} ({time.monotonic() - start:.0f} s)")
    hard = [e for e in entries if tally.outcome(e, run) in ("wrong", "crash", "failed")]
    sys.exit(bool(lost or hard))


if __name__ == "__main__":
    main()
