"""Who watches over tasks must see each way in which they can end."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import forked
import pytest

LIMITS = forked.Limits(seconds=1, wall_seconds=600, memory=200 << 20, tasks=4)


def task(number, note):
    note.say(f"phase {number}")
    if number == 3:
        os.kill(os.getpid(), signal.SIGSEGV)
    if number == 5:
        while True:
            pass
    if number == 8:
        os.write(2, b"Assertion `false' failed\n")
        os.abort()
    if number == 9:
        return len(bytearray(1 << 30))
    if number == 10:
        os._exit(7)
    if number == 11:
        raise ValueError("not so")
    return number * number


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_end_is_found(jobs):
    ends = {end.number: end for end in forked.run(task, range(14), LIMITS, jobs)}
    assert sorted(ends) == list(range(14))
    problems = {number: end.problem for number, end in ends.items() if end.problem}
    assert problems == {
        3: "signal SIGSEGV",
        5: "more than 1 s of processor time",
        8: "signal SIGABRT: Assertion `false' failed",
        9: "MemoryError: ",
        10: "exit status 7",
        11: "ValueError: not so",
    }
    assert all(end.value == n * n for n, end in ends.items() if not end.problem)
    assert ends[3].phase == "phase 3"


def test_a_task_that_sleeps_is_ended():
    limits = forked.Limits(wall_seconds=1)
    (end,) = forked.run(lambda number, note: time.sleep(6000), [0], limits)
    assert end.problem == "more than 1 s"


def test_a_death_that_others_caused_is_said():
    seen = []

    def dies_late(number, note):
        seen.append(number)
        if len(seen) == 3:
            os.kill(os.getpid(), signal.SIGSEGV)

    ends = {end.number: end for end in forked.run(dies_late, range(4), LIMITS)}
    assert ends[2].problem == "signal SIGSEGV (not when alone)"
    assert not ends[3].problem


DIES = """
import os, signal
import forked

ends = forked.run(lambda number, note: os.kill(os.getpid(), number), [signal.SIGSEGV], forked.Limits())
print(ends[0].problem)
"""


def test_deaths_are_not_reported_as_the_watcher_s():
    said = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", DIES],
        cwd=Path(__file__).parent, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert (said.stdout, said.stderr) == ("signal SIGSEGV\n", "")
