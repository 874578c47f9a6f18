"""Stores every program of JAX's own harnesses with XLA:CPU's results.

  harness_corpus.py --out DIR [--jobs N] [--limit N] [--match RE] [--shard i/n]

DIR/index.jsonl gets one line for each harness, with the files' names relative
to DIR. A second run adds only what is missing.
"""

import argparse
import collections
import fcntl
import json
import os
import pathlib
import re
import subprocess
import sys
import time

os.environ.setdefault("JAX_ENABLE_X64", "1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

FOLDER_SIZE = 100
DEBUG_EVERY = 16


def read_index(folder: pathlib.Path) -> list[dict]:
    """All entries, in the harnesses' order."""
    path = folder / "index.jsonl"
    if not path.exists():
        return []
    with open(path) as file:
        return sorted(map(json.loads, file), key=lambda entry: entry["id"])


def _append(folder: pathlib.Path, entry: dict) -> None:
    with open(folder / "index.jsonl", "a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(json.dumps(entry) + "\n")


def store(folder: pathlib.Path, number: int, group: str, name: str, function, make_args) -> None:
    """Adds one program to the corpus."""
    import program_record

    place = f"{number // FOLDER_SIZE:03d}"
    (folder / place).mkdir(parents=True, exist_ok=True)
    entry = {"id": number, "name": name, "group": group}
    try:
        entry |= program_record.record(
            function,
            make_args(),
            folder,
            f"{place}/{number:04d}",
            debug=number % DEBUG_EVERY == 0,
        )
    except Exception as error:  # noqa: BLE001, JAX raises anything
        # Say so rather than lose the whole run.
        entry |= {"status": "broken", "reason": repr(error)[:300]}
    _append(folder, entry)


def generate(
    folder: pathlib.Path,
    match: str = "",
    names: set[str] | None = None,
    shard: str = "0/1",
    limit: int | None = None,
) -> None:
    """Adds the harnesses that are missing."""
    import jax
    import numpy as np
    from jax._src.internal_test_util import test_harnesses

    folder.mkdir(parents=True, exist_ok=True)
    done = {entry["name"] for entry in read_index(folder)}
    part, parts = map(int, shard.split("/"))
    wanted = [
        (number, harness)
        for number, harness in enumerate(test_harnesses.all_harnesses)
        if number % parts == part
        and re.search(match, harness.fullname)
        and (names is None or harness.fullname in names)
    ][:limit]
    start = time.monotonic()
    for count, (number, harness) in enumerate(wanted, 1):
        if harness.fullname in done:
            continue
        store(
            folder,
            number,
            harness.group_name,
            harness.fullname,
            harness.dyn_fun,
            lambda harness=harness: harness.dyn_args_maker(np.random.RandomState(0)),
        )
        if count % 100 == 0:
            jax.clear_caches()
            seconds = time.monotonic() - start
            print(f"{count}/{len(wanted)} {seconds:.0f} s", flush=True)


def summary(folder: pathlib.Path) -> str:
    entries = read_index(folder)
    statuses = collections.Counter(entry["status"] for entry in entries)
    parts = [f"{count} {status}" for status, count in statuses.most_common()]
    return f"{len(entries)} harnesses: " + ", ".join(parts)


def fix_order() -> None:
    """Some of JAX's harnesses come in the order of a set: it has to be the same in all
    processes that make a corpus, and when one goes on with what another began."""
    if os.environ.get("PYTHONHASHSEED") != "0":
        fixed = os.environ | {"PYTHONHASHSEED": "0"}
        os.execve(sys.executable, [sys.executable, *sys.argv], fixed)


def main() -> None:
    fix_order()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--match", default="", help="regular expression")
    parser.add_argument("--names", type=pathlib.Path, help="a file with one name a line")
    parser.add_argument("--shard", default="0/1", help="i/n")
    options = parser.parse_args()
    if options.jobs > 1:
        # Each process imports JAX for itself: it does not survive a fork.
        command = [sys.executable, *sys.argv, "--jobs=1"]
        processes = [
            subprocess.Popen([*command, f"--shard={i}/{options.jobs}"]) for i in range(options.jobs)
        ]
        if sum(process.wait() for process in processes):
            sys.exit("a shard failed")
    else:
        names = set(options.names.read_text().split()) if options.names else None
        generate(options.out, options.match, names, options.shard, options.limit)
    print(summary(options.out))


if __name__ == "__main__":
    main()
