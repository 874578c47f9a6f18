"""Runs many jobs in one process of a tool.

A tool with a batch mode takes a file with one job a line, its fields split by
tabs, and prints one line of fields for each job, in order. If it dies or stays
silent, the answer of the job that it was at is `crash`, and a new process goes
on with the next one.

  alula-opt --round-trip=LIST    job: FILE, PREFIX, VERSION
      parses, verifies, prints, parses again and compares; writes the lowest
      version that can say the program (from 1.0.0 on) to PREFIX.lowest, VERSION
      to PREFIX.own, reads both and the newest version back and compares.
      `ok, LOWEST` or `fail, STEP, MESSAGE`.
  alula-interpret --batch=LIST   job: FILE and the options of one run
      `PASS, FILE` or `FAIL, FILE, MESSAGE`.
"""

import concurrent.futures
import pathlib
import subprocess
import sys
import tempfile
import threading

CHUNK = 100


def _run_some(command: list[str], jobs: list[list[str]], timeout: float) -> list[list[str]]:
    """The answers up to the first crash."""
    with tempfile.TemporaryDirectory() as folder:
        listing = pathlib.Path(folder) / "jobs"
        listing.write_text("".join("\t".join(job) + "\n" for job in jobs))
        errors = open(pathlib.Path(folder) / "stderr", "w+b")  # noqa: SIM115
        with (
            errors,
            subprocess.Popen(
                [*command[:-1], command[-1] + str(listing)],
                stdout=subprocess.PIPE,
                stderr=errors,
            ) as process,
        ):
            answers = []
            while len(answers) < len(jobs):
                watchdog = threading.Timer(timeout, process.kill)
                watchdog.start()
                line = process.stdout.readline().decode(errors="replace")
                watchdog.cancel()
                if not line:
                    break
                answers.append(line.rstrip("\n").split("\t"))
            status = process.wait()
            errors.seek(0)
            text = errors.read().decode(errors="replace").strip()
        if len(answers) < len(jobs):
            if "nknown command line" in text:
                sys.exit(text)
            last = text.splitlines()[-1:] or [""]
            answers.append(["crash", f"exit status {status}: {last[0][:300]}"])
        return answers


def _run_chunk(command: list[str], jobs: list[list[str]], timeout: float) -> list[list[str]]:
    answers = []
    while len(answers) < len(jobs):
        answers += _run_some(command, jobs[len(answers) :], timeout)
    return answers


def interpret(
    tool: pathlib.Path, jobs: list[list[str]], processes: int, timeout: float = 120
) -> list[str]:
    """What went wrong with each job of alula-interpret; "" if nothing did."""
    answers = run([str(tool), "--batch="], jobs, processes, timeout, "interpret")
    return [
        "" if status == "PASS" else (fields[-1] if fields else status)
        for status, *fields in answers
    ]


def run(
    command: list[str],
    jobs: list[list[str]],
    processes: int,
    timeout: float = 120,
    title: str = "",
) -> list[list[str]]:
    """One answer for each job; the last word of the command ends in `=`."""
    chunks = [jobs[i : i + CHUNK] for i in range(0, len(jobs), CHUNK)]
    answers = []
    with concurrent.futures.ThreadPoolExecutor(processes) as pool:
        runs = pool.map(lambda chunk: _run_chunk(command, chunk, timeout), chunks)
        for some in runs:
            answers += some
            if title and sys.stderr.isatty():
                print(f"\r{title} {len(answers)}/{len(jobs)}", end="", file=sys.stderr)
    if title and sys.stderr.isatty():
        print(file=sys.stderr)
    return answers
