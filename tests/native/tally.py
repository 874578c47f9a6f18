"""Counts what became of programs that were compiled and run, by group and error.

An entry has `name`, `group`, `native` (a worker's answer) and, if it ran,
`verdict` and `detail`; `passed` says whether all is well.
"""

import collections
import json
import pathlib
import re

GOOD = ("agrees", "flushed", "nearer", "known")


def passed(entry: dict, run: bool = True) -> bool:
    if entry["native"]["status"] != "ok":
        return False
    if run and "verdict" not in entry:
        return False
    return not run or (
        entry["verdict"] in GOOD and entry.get("reference_verdict", "agrees") in GOOD
    )


def outcome(entry: dict, run: bool = True) -> str:
    """One word: passed, uncompiled, crash, timeout, failed (at load or run), wrong."""
    status = entry["native"]["status"]
    if status == "compile":
        return "uncompiled"
    if status in ("crash", "timeout"):
        return status
    if status != "ok":
        return "failed"
    return "passed" if passed(entry, run) else "wrong"


def recall(entries: list[dict], path: pathlib.Path | None) -> list[dict]:
    """Gives the entries that passed before, by a file of results, what they had; returns the rest."""
    if not path or not path.exists():
        return entries
    before = {}
    for text in path.read_text().splitlines():
        entry = json.loads(text)
        if passed(entry):
            before[entry["name"]] = entry
    rest = []
    for entry in entries:
        if entry["name"] in before:
            entry |= before[entry["name"]]
        else:
            rest.append(entry)
    return rest


OUTCOMES = {
    "passed": "passed",
    "uncompiled": "not compiled",
    "crash": "crashed",
    "timeout": "too slow",
    "failed": "failed at load or run",
    "wrong": "wrong",
}


def line(entries: list[dict], run: bool = True) -> str:
    counts = collections.Counter(outcome(entry, run) for entry in entries)
    share = 100 * counts["passed"] / max(len(entries), 1)
    word = "agree" if run else "compile"
    parts = [f"{counts[key]} {text}" for key, text in OUTCOMES.items() if key != "passed"]
    return f"{counts['passed']} of {len(entries)} {word} ({share:.2f} %); " + ", ".join(parts)


def normal(message: str) -> str:
    """An error without what differs from one program to the next."""
    text = re.sub(r'^\S*"[^"]*":\d+:\d+\)?: ', "", message)
    text = re.sub(r">>> .*", "", text, flags=re.DOTALL)
    text = re.sub(r"(SIG\w+): .*(Assertion .*)", r"\1: \2", text)
    text = re.sub(r"/\S*/", "", text)
    text = re.sub(r"!quant\.uniform<[^>]*>", "!quant<..>", text)
    text = re.sub(r"\b(tensor|memref|vector)<(?:[\d?]+x)+", r"\1<..x", text)
    text = re.sub(r"0x[0-9a-fA-F]+", "0x..", text)
    text = re.sub(r"(?<![A-Za-z0-9-])-?\d+(\.\d+)?(?:[eE]-?\d+)?\b", "N", text)
    return re.sub(r"\s+", " ", text)[:160].replace("|", "/")


def why(entry: dict) -> str:
    """The first thing that went wrong, without particulars."""
    native = entry["native"]
    if native["status"] != "ok":
        at = f" at {native['at']}" if "at" in native else ""
        return f"{native['status']}{at}: {normal(native.get('message', ''))}"
    if entry.get("verdict") not in GOOD:
        return "wrong results"
    return "not the reference's results"


def summary(title: str, entries: list[dict], run: bool = True) -> str:
    """Markdown: failures by first error, by group, and each wrong result."""
    lines = [f"# {title}", "", line(entries, run), ""]
    seconds = [e["native"]["compile_s"] for e in entries if "compile_s" in e["native"]]
    if seconds:
        seconds.sort()
        lines += [
            f"Compilation: {sum(seconds):.0f} s in all, median {seconds[len(seconds) // 2]:.3f} s, "
            f"slowest {seconds[-1]:.2f} s.",
            "",
        ]
    failed = [entry for entry in entries if not passed(entry, run)]
    reasons = collections.defaultdict(list)
    for entry in failed:
        reasons[why(entry)].append(entry)
    lines += ["## By first error", "", "| count | error | groups | example |", "|---|---|---|---|"]
    for reason, found in sorted(reasons.items(), key=lambda item: -len(item[1])):
        groups = collections.Counter(entry["group"] for entry in found)
        names = ", ".join(f"{group} {count}" for group, count in groups.most_common(6))
        more = f", {len(groups) - 6} more" if len(groups) > 6 else ""
        lines.append(f"| {len(found)} | {reason} | {names}{more} | {_example(found[0])} |")
    lines += ["", "## By group", "", "| group | programs | " + " | ".join(OUTCOMES.values()) + " |"]
    lines += ["|---" * (len(OUTCOMES) + 2) + "|"]
    groups = collections.defaultdict(collections.Counter)
    for entry in entries:
        groups[entry["group"]][outcome(entry, run)] += 1
    for group, counts in sorted(groups.items()):
        cells = (str(counts[key] or "") for key in OUTCOMES)
        lines.append(f"| {group} | {counts.total()} | " + " | ".join(cells) + " |")
    bad = [e for e in failed if outcome(e, run) in ("wrong", "failed", "crash", "timeout")]
    if bad:
        lines += ["", "## Wrong, crashed or failed at run time (200 at most)", ""]
        lines += ["| program | what |", "|---|---|"]
        for entry in bad[:200]:
            native = entry["native"]
            text = native.get("message") or entry.get("detail") or entry.get("reference_detail")
            words = f"{native['status']} {native.get('at', '')}".strip()
            text = (text or "").replace("|", "/").replace("\n", " ")[:200]
            lines.append(f"| {_example(entry)} | {words}: {text} |")
    return "\n".join(lines) + "\n"


def _example(entry: dict) -> str:
    return f"`{entry['name'][:90]}` ({entry.get('mlir', '')})"


class Expectations:
    """How many programs of each group must pass, in a JSON file."""

    def __init__(self, path: pathlib.Path, suite: str):
        self.path, self.suite = path, suite
        self.all = json.loads(path.read_text()) if path.exists() else {}

    def regressions(self, entries: list[dict], run: bool = True) -> list[str]:
        """Groups of which fewer pass than should; only whole groups are judged."""
        total = collections.Counter(entry["group"] for entry in entries)
        good = collections.Counter(entry["group"] for entry in entries if passed(entry, run))
        lost = []
        for group, (must, of) in self.all.get(self.suite, {}).items():
            if total[group] == of and good[group] < must:
                lost.append(f"{group}: {good[group]} of {of} pass, {must} did")
        return lost

    def bless(self, entries: list[dict], run: bool = True) -> None:
        total = collections.Counter(entry["group"] for entry in entries)
        good = collections.Counter(entry["group"] for entry in entries if passed(entry, run))
        groups = self.all.setdefault(self.suite, {})
        for group in total:
            groups[group] = [good[group], total[group]]
        self.all[self.suite] = {g: v for g, v in sorted(groups.items()) if v[0]}
        lines = []
        for suite, found in sorted(self.all.items()):
            rows = ",\n".join(f"    {json.dumps(g)}: {json.dumps(v)}" for g, v in found.items())
            lines.append(f"  {json.dumps(suite)}: {{\n{rows}\n  }}")
        self.path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
