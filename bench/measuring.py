"""Measures all peers of one case in turns."""

import json
import subprocess
import sys
from pathlib import Path

from bench.peers import EVERY, ROUNDED, ROUNDED_TOLERANCE, Unable
from bench.peers.alula import Alula, AlulaBf16, AlulaI8
from bench.peers.iree import Iree
from bench.peers.python_worker import PATHS, PythonWorker
from bench.peers.tool import ToolFailed
from bench.sampling import summarize

TOOLS = {"alula": Alula, "iree": Iree, "alula-bf16": AlulaBf16, "alula-i8": AlulaI8}
ROUNDING = {name for pair in ROUNDED.items() for name in pair}


def prepare(row: str, size: str, folder: Path) -> dict:
    """The lowered program and its data; raises ToolFailed with the reason."""
    command = [sys.executable, "-m", "bench.prepare", row, size, str(folder)]
    ended = subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin", "JAX_PLATFORMS": "cpu", "PYTHONPATH": PATHS},
    )
    if ended.returncode:
        raise ToolFailed(ended.stderr.strip()[-400:])
    return json.loads((folder / "about.json").read_text())


def make(name, folder, threads, cpus, limit):
    if name in TOOLS:
        return TOOLS[name](folder, threads, cpus, limit)
    return PythonWorker(name, folder, threads, cpus, limit)


def attempt(action, entry: dict):
    """What went wrong stands in the entry instead of a time."""
    try:
        return action()
    except Unable as reason:
        entry["unable"] = str(reason)
    except (ToolFailed, OSError, ValueError) as problem:
        entry["failed"] = str(problem)
    return None


def lost(entry: dict) -> bool:
    return "unable" in entry or "failed" in entry


def measure(folder: Path, threads: int, cpus, options) -> dict:
    """For each peer its entry. Rounds go through them in one order and in the
    other, each from another peer on, so none always follows the same one."""
    about = json.loads((folder / "about.json").read_text())
    names = [name for name in EVERY if name in options.peers]
    entries = {name: {} for name in names}
    samples = {name: [] for name in names}
    peers = {name: make(name, folder, threads, cpus, options.limit) for name in names}
    try:
        for name in names:
            attempt(peers[name].start, entries[name])
        for turn in range(options.rounds):
            first = turn % len(names)
            order = names[first:] + names[:first]
            for name in order if turn % 2 == 0 else reversed(order):
                if lost(entries[name]):
                    continue
                got = attempt(lambda name=name: peers[name].sample(options.seconds), entries[name])
                samples[name] += got or []
    finally:
        for name in names:
            entries[name] |= peers[name].stop()
    for name, entry in entries.items():
        if lost(entry):
            continue
        entry |= summarize(samples[name])
        # Who rounds is held against what rounding does.
        allowed = ROUNDED_TOLERANCE if name in ROUNDING else about["tolerance"]
        entry["right"] = entry["error"] <= allowed
    return entries
