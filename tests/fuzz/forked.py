"""Does numbered tasks in forked processes, and finds out how each of them ends.

A process does many tasks, one after the other. The one at which it dies, takes
too much time or memory is done again, alone in a process of its own: what
happens there is its answer; if it fares well there, that is said too, since
then the tasks before it are to blame.
"""

import dataclasses
import faulthandler
import mmap
import os
import pickle
import resource
import select
import signal
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterable

PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")


@dataclasses.dataclass
class Limits:
    seconds: float = 10  # of processor time for a task
    wall_seconds: float = 120  # who sleeps for ever takes no processor time
    memory: int = 2 << 30  # beyond what the process begins with
    tasks: int = 500  # for one process


@dataclasses.dataclass
class End:
    """How a task ended: `value` is what it returned, `problem` why it did not."""

    number: int
    value: object = None
    problem: str = ""
    phase: str = ""  # the last that it said
    seconds: float = 0


class Note:
    """What a child says of itself to whoever watches, in shared memory."""

    def __init__(self):
        self._map = mmap.mmap(-1, PAGE)

    def say(self, phase: str) -> None:
        """The phase of the task, so that a death is known for what it is."""
        text = phase.encode()[:64]
        self._map[32 : 32 + 65] = text + bytes(65 - len(text))

    @property
    def phase(self) -> str:
        return bytes(self._map[32:97]).rstrip(b"\0").decode(errors="replace")

    def begin(self, place: int) -> None:
        self.say("")
        self._map[:24] = struct.pack("qdd", place, time.process_time(), time.monotonic())

    def read(self) -> tuple[int, float, float]:
        return struct.unpack("qdd", self._map[:24])


def _child(task, numbers, note: Note, pipe: int, errors, limits: Limits) -> None:
    with open("/proc/self/statm") as file:
        held = int(file.read().split()[0]) * PAGE
    resource.setrlimit(resource.RLIMIT_AS, (held + limits.memory,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.dup2(errors.fileno(), 2)
    # Its handlers write to the stderr of whoever watches, as if that had died.
    faulthandler.disable()
    for place, number in enumerate(numbers):
        note.begin(place)
        start = time.process_time()
        try:
            value, problem = task(number, note), ""
        except Exception as failure:  # noqa: BLE001
            value, problem = None, f"{type(failure).__name__}: {failure}"
        data = pickle.dumps((number, value, problem, note.phase, time.process_time() - start))
        data = struct.pack("q", len(data)) + data
        while data:
            data = data[os.write(pipe, data) :]


def _processor_seconds(pid: int) -> float:
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


class _Batch:
    """One process and the tasks that it is given."""

    def __init__(self, task: Callable, numbers: list[int], limits: Limits):
        self.numbers, self.limits = numbers, limits
        self.note, self.errors = Note(), tempfile.TemporaryFile()  # noqa: SIM115
        self.note.begin(0)
        self.pipe, write_end = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if not self.pid:
            status = 1
            try:
                _child(task, numbers, self.note, write_end, self.errors, limits)
                status = 0
            finally:
                os._exit(status)
        os.close(write_end)
        self.data, self.ends, self.killed = b"", [], ""

    def _overdrawn(self) -> str:
        _, processor, wall = self.note.read()
        try:
            used = _processor_seconds(self.pid) - processor
        except OSError:
            return ""
        if used > self.limits.seconds:
            return f"more than {self.limits.seconds:g} s of processor time"
        if time.monotonic() - wall > self.limits.wall_seconds:
            return f"more than {self.limits.wall_seconds:g} s"
        return ""

    def step(self) -> bool:
        """Reads what came; False when the process has ended and all is read."""
        chunk = os.read(self.pipe, 1 << 16)
        self.data += chunk
        while len(self.data) >= 8:
            (size,) = struct.unpack("q", self.data[:8])
            if len(self.data) < 8 + size:
                break
            self.ends.append(End(*pickle.loads(self.data[8 : 8 + size])))
            self.data = self.data[8 + size :]
        return bool(chunk)

    def watch(self) -> None:
        if not self.killed and (problem := self._overdrawn()):
            self.killed = problem
            os.kill(self.pid, signal.SIGKILL)

    def finish(self) -> End | None:
        """The end of the task at which the process died, if it did."""
        os.close(self.pipe)
        _, status = os.waitpid(self.pid, 0)
        self.errors.seek(0)
        said = self.errors.read()[-2000:].decode(errors="replace").strip()
        self.errors.close()
        if len(self.ends) == len(self.numbers):
            return None
        problem = self.killed
        if not problem and os.WIFSIGNALED(status):
            problem = f"signal {signal.Signals(os.WTERMSIG(status)).name}"
        elif not problem:
            problem = f"exit status {os.waitstatus_to_exitcode(status)}"
        telling = [line for line in said.splitlines() if "ssert" in line or "rror" in line]
        lines = telling[-1:] or said.splitlines()[-1:]
        problem += "".join(f": {line[:300]}" for line in lines)
        return End(self.numbers[len(self.ends)], None, problem, self.note.phase)


def run(
    task: Callable[[int, Note], object],
    numbers: Iterable[int],
    limits: Limits,
    jobs: int = 1,
    on_end: Callable[[End], None] = lambda end: None,
) -> list[End]:
    """`on_end` is called for each task, in no order, as tasks end."""
    numbers = list(numbers)
    waiting = [numbers[i : i + limits.tasks] for i in range(0, len(numbers), limits.tasks)][::-1]
    running: dict[int, _Batch] = {}
    ends = []

    def keep(end: End) -> None:
        ends.append(end)
        on_end(end)

    while waiting or running:
        while waiting and len(running) < jobs:
            batch = _Batch(task, waiting.pop(), limits)
            running[batch.pipe] = batch
        ready, _, _ = select.select(list(running), [], [], 0.5)
        for batch in running.values():
            batch.watch()
        for pipe in ready:
            batch, known = running[pipe], len(running[pipe].ends)
            going = batch.step()
            for end in batch.ends[known:]:
                keep(end)
            if going:
                continue
            del running[pipe]
            if not (died := batch.finish()):
                continue
            place = len(batch.ends)
            if len(batch.numbers) == 1:
                keep(died)
            else:
                waiting += [batch.numbers[place + 1 :]] if batch.numbers[place + 1 :] else []
                keep(_again(task, died, limits))
    return ends


def _again(task, died: End, limits: Limits) -> End:
    """What happens to the task when it is alone."""
    batch = _Batch(task, [died.number], limits)
    while True:
        ready, _, _ = select.select([batch.pipe], [], [], 0.5)
        batch.watch()
        if ready and not batch.step():
            break
    alone = batch.finish()
    if alone:
        return alone
    died.problem += " (not when alone)"
    return died
