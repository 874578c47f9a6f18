"""Checks the tools on every program of a corpus of JAX's harnesses.

  run_harness.py [--corpus DIR] [--bin DIR] [--match RE] [--summary FILE.md]

Each program must parse, verify, print and parse to the same again, go to the
lowest portable version that can say it and to the newest one and back, be
deserialized by jaxlib, and give XLA:CPU's results when it is interpreted.
A corpus that is missing is made first, which takes about 10 minutes.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("JAX_ENABLE_X64", "1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import harness_corpus
import judge
import tool_batch
from jaxlib_reader import JaxlibReader

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent
# The text, the text without chlo, the text with locations (of a sample) and jaxlib's portable
# artifact.
FORMS = ("mlir", "expanded", "debug", "portable")


class Checker:
    def __init__(self, corpus: pathlib.Path, bin_dir: pathlib.Path, jobs: int):
        self.corpus, self.bin, self.jobs = corpus, bin_dir, jobs
        self.judge = judge.Judge(corpus)

    def expand(self, entries: list[dict], work: pathlib.Path) -> None:
        """Says chlo in stablehlo, where a program has any: no portable artifact can hold it."""
        for entry in entries:
            if not any(op.startswith("chlo.") for op in entry["ops"]):
                continue
            path = work / f"{entry['id']}.expanded.mlir"
            done = subprocess.run(
                [
                    self.bin / "alula-opt",
                    "--input-convert-chlo-to-stablehlo",
                    self.corpus / entry["mlir"],
                    "-o",
                    path,
                ],
                check=False,
                capture_output=True,
                text=True,
            )
            # Functions that keep their names have no other form.
            entry["isNamed"] = not done.returncode and "chlo." in path.read_text()
            if not entry["isNamed"]:
                # The round trip of a missing file fails, and says so.
                entry["expanded"] = str(path)
            if done.returncode:
                print(f"{entry['name']}: {done.stderr[:300]}", file=sys.stderr)

    def round_trip(self, entries: list[dict], form: str, work: pathlib.Path) -> None:
        """Sets entry["round_trip:FORM"] to "" or what failed, where it has this form."""
        entries = [entry for entry in entries if form in entry]
        answers = tool_batch.run(
            [str(self.bin / "alula-opt"), "--round-trip="],
            [
                [str(self.corpus / e[form]), str(work / f"{e['id']}.{form}"), e["version"]]
                for e in entries
            ],
            self.jobs,
            title=f"round trip of {form}",
        )
        for entry, (status, *fields) in zip(entries, answers, strict=True):
            ok = status == "ok"
            entry[f"round_trip:{form}"] = "" if ok else ": ".join(fields) or status
            if ok and form in ("mlir", "expanded"):
                entry["lowest"] = fields[0]

    def read_by_jaxlib(self, entries: list[dict], work: pathlib.Path) -> None:
        """Sets entry["jaxlib"] to "" or what jaxlib says about our files."""
        reader = JaxlibReader()
        for entry in entries:
            source = "expanded" if "expanded" in entry else "mlir"
            entry["jaxlib"] = "nothing was written"
            if entry[f"round_trip:{source}"]:
                continue
            if entry.get("isNamed"):
                entry["jaxlib"] = ""
                continue
            texts = {}
            for form in ("lowest", "own"):
                ok, texts[form] = reader.read(work / f"{entry['id']}.{source}.{form}")
                if not ok:
                    break
            entry["jaxlib"] = "" if ok else f"{form}: {texts[form]}"
            if ok:
                path = self.corpus / entry[source]
                _, theirs = reader.through(path, entry["version"])
                if texts["own"] != theirs:
                    entry["jaxlib"] = "own: not the module that jaxlib writes"

    def interpret(self, entries: list[dict], work: pathlib.Path) -> None:
        """Sets entry["interpret"] and entry["verdict"]."""
        jobs = []
        for entry in entries:
            inputs = [f"--input={i['type']}=@{self.corpus / i['file']}" for i in entry["inputs"]]
            outputs = [
                f"--output={work / str(entry['id'])}.{number}.bin"
                for number in range(len(entry["outputs"]))
            ]
            program = str(self.corpus / entry["mlir"])
            jobs.append([program, "--function=main", *inputs, *outputs])
        problems = tool_batch.interpret(self.bin / "alula-interpret", jobs, self.jobs)
        for entry, problem in zip(entries, problems, strict=True):
            entry["interpret"] = problem
            if not problem:
                prefix = work / str(entry["id"])
                entry["verdict"], entry["detail"] = self.judge.judge_files(entry, prefix)


def count(entries: list[dict], key: str) -> int:
    return sum(entry.get(key) == "" for entry in entries)


def counts_line(entries: list[dict], total: int) -> str:
    verdicts = collections.Counter(e["verdict"] for e in entries if "verdict" in e)
    explained = verdicts.total() - verdicts["differs"]
    return (
        f"{total} harnesses, {len(entries)} lowered: "
        f"{count(entries, 'round_trip:mlir')} round trips of text, "
        f"{count(entries, 'round_trip:expanded')} without chlo, "
        f"{count(entries, 'round_trip:debug')} with locations, "
        f"{count(entries, 'round_trip:portable')} of jaxlib's artifacts, "
        f"{count(entries, 'jaxlib')} read by jaxlib, "
        f"{count(entries, 'interpret')} interpreted, "
        f"{verdicts['agrees']} agree with XLA:CPU, {explained - verdicts['agrees']} differ "
        f"for a reason, {verdicts['differs']} differ"
    )


def grouped(entries: list[dict], key: str) -> list[str]:
    """Failures of one check as Markdown rows: group, count, an example."""
    groups = collections.defaultdict(list)
    for entry in entries:
        if entry.get(key):
            groups[entry["group"]].append(entry)
    return [
        f"| {group} | {len(found)} | `{found[0]['name'][:70]}` | "
        f"{found[0][key][:160].replace('|', '/')} |"
        for group, found in sorted(groups.items())
    ]


def summary(entries: list[dict], total: int) -> str:
    lines = ["# JAX's harnesses", "", counts_line(entries, total), ""]
    lowest = collections.Counter(e["lowest"] for e in entries if "lowest" in e)
    lines += ["| lowest portable version | programs |", "|---|---|"]
    lines += [f"| {version} | {number} |" for version, number in sorted(lowest.items())]
    for title, key in (
        ("Round trip of the text", "round_trip:mlir"),
        ("Round trip of the text without chlo", "round_trip:expanded"),
        ("Round trip of the text with locations", "round_trip:debug"),
        ("Round trip of jaxlib's artifact", "round_trip:portable"),
        ("Read by jaxlib", "jaxlib"),
        ("Interpreted", "interpret"),
    ):
        if rows := grouped(entries, key):
            lines += ["", f"## Fails: {title}", "", "| group | count | example | why |"]
            lines += ["|---|---|---|---|", *rows]
    reasons = collections.defaultdict(list)
    for entry in entries:
        if entry.get("verdict", "agrees") not in ("agrees", "differs"):
            reasons[entry["group"], entry["detail"]].append(entry)
    if reasons:
        lines += ["", "## Differs from XLA:CPU for a reason", "", "| group | count | reason |"]
        lines += ["|---|---|---|"]
        lines += [f"| {g} | {len(f)} | {reason} |" for (g, reason), f in sorted(reasons.items())]
    unexplained = [e for e in entries if e.get("verdict") == "differs"]
    if unexplained:
        lines += ["", "## Differs from XLA:CPU", "", "| group | count | example | how |"]
        lines += ["|---|---|---|---|", *grouped(unexplained, "detail")]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", type=pathlib.Path, default=ROOT / "build/corpus/harness")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/bin")
    parser.add_argument("--match", default="", help="regular expression")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", choices=["round-trip", "interpret"], help="one half")
    parser.add_argument("--summary", type=pathlib.Path, help="Markdown file")
    parser.add_argument("--results", type=pathlib.Path, help="JSON lines file")
    options = parser.parse_args()
    if not (options.corpus / "index.jsonl").exists():
        script = HERE / "harness_corpus.py"
        command = [sys.executable, script, "--out", options.corpus, f"--jobs={options.jobs}"]
        subprocess.run(command, check=True)
    index = harness_corpus.read_index(options.corpus)
    found = [entry for entry in index if re.search(options.match, entry["name"])]
    entries = [entry for entry in found if entry["status"] == "ok"]
    checker = Checker(options.corpus.resolve(), options.bin.resolve(), options.jobs)
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        if options.only != "interpret":
            checker.expand(entries, work)
            for form in FORMS:
                checker.round_trip(entries, form, work)
            checker.read_by_jaxlib(entries, work)
        if options.only != "round-trip":
            checker.interpret(entries, work)
    if options.summary:
        options.summary.write_text(summary(entries, len(found)))
    else:
        print(summary(entries, len(found)))
    if options.results:
        lines = [json.dumps(entry) for entry in entries]
        options.results.write_text("\n".join(lines) + "\n")
    print(f"{counts_line(entries, len(found))} ({time.monotonic() - start:.0f} s)")
    checks = [f"round_trip:{form}" for form in FORMS] + ["jaxlib", "interpret"]
    bad = [e for e in entries if any(e.get(c) for c in checks) or e.get("verdict") == "differs"]
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
