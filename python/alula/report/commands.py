"""The commands of a function as alula-inspect prints them: in the order in which
they run, with what each reads and writes, and how long values live."""

import dataclasses
import re

from alula.bindings import dtypes

_CODES = {mlir: code for code, (_, _, mlir) in dtypes.TABLE.items()}
_DISPATCH = re.compile(
    r"dispatch @(?P<name>.*) grid\((?P<grid>[^()]*)\) bindings\((?P<bindings>[^()]*)\)"
    r"(?: constants\([^()]*\))?$",
    re.DOTALL,
)
_CALLED = re.compile(
    r"(?P<what>call @|custom_call \")(?P<name>.*?)\"?\((?P<reads>[%\d, ]*)\) -> "
    r"\((?P<writes>[%\d, ]*)\)(?: dims.*)?$",
    re.DOTALL,
)
_SLOT = re.compile(r"%(\d+)")
_RANGE = re.compile(r" \[(\d+), (?:\+(\d+)|\.\.\.)\)$")
# The first slot of these is written, the others are read.
_WRITING = ("store", "copy", "fill", "view", "alloc")


@dataclasses.dataclass
class Slot:
    number: int
    text: str
    # "argument", "result", "constant", "global", "arena" or "local", and which.
    kind: str
    index: int
    begin: int
    # None: not known before it runs.
    bytes: int | None
    name: str

    @property
    def storage(self):
        return self.number if self.kind == "local" else self.index, self.kind

    @property
    def end(self):
        return float("inf") if self.bytes is None else self.begin + self.bytes


@dataclasses.dataclass
class Command:
    number: int
    text: str
    # "dispatch", "copy", "call" …
    kind: str
    # Of the kernel or of the function called.
    name: str = ""
    grid: str = ""
    reads: list = dataclasses.field(default_factory=list)
    writes: list = dataclasses.field(default_factory=list)
    # The loops and branches that it is in.
    scopes: tuple = ()
    # Numbers of the commands, and slots nobody here wrote, that it reads from.
    sources: list = dataclasses.field(default_factory=list)
    inputs: list = dataclasses.field(default_factory=list)


def type_bytes(value):
    """Bytes of an argument, result or global; None if its size is not known."""
    count = 1
    for size in value["shape"]:
        if not isinstance(size, int):
            return None
        count *= size
    code = _CODES.get(value["dtype"])
    return None if code is None else dtypes.packed_bytes(code, count)


def type_text(value):
    sizes = [str(s) if isinstance(s, int) else s["symbol"] or "?" for s in value["shape"]]
    return "x".join([*sizes, value["dtype"]])


class Function:
    """One function of an artifact, as alula-inspect --json has it."""

    def __init__(self, artifact, function):
        self.name = function["name"]
        self.arguments, self.results = function["arguments"], function["results"]
        self.arena_bytes = function["arena_bytes"]
        self.slots = [
            _read_slot(n, text, artifact, function) for n, text in enumerate(function["slots"])
        ]
        self.commands, self.loops = [], []
        self._blocks = function["blocks"]
        if self._blocks:
            self._walk(0, ())
        self._connect()

    @property
    def is_straight(self):
        """Each command runs once in each call."""
        return not any(c.scopes or c.kind == "call" for c in self.commands)

    def _walk(self, block, scopes):
        for text in self._blocks[block]:
            command = _read_command(len(self.commands), text, scopes)
            self.commands.append(command)
            inner = [int(n) for n in re.findall(r"\^(\d+)", text)]
            if command.kind not in ("if", "case", "while"):
                continue
            for number, block_ in enumerate(inner):
                here = f"{command.kind} {command.number}"
                if command.kind != "while":
                    here += f" branch {number}"
                self._walk(block_, (*scopes, here))
            if command.kind == "while":
                self.loops.append((command.number, len(self.commands) - 1))

    def _connect(self):
        """Who wrote what each command reads: one pass, without the ways back of
        loops."""
        written, pointed = {}, {}

        def find(number):
            slot = self.slots[number]
            return pointed.get(number, (slot.storage, slot.begin, slot.end))

        for command in self.commands:
            for number in command.reads:
                storage, begin, end = find(number)
                hits = [n for b, e, n in written.get(storage, ()) if b < end and begin < e]
                command.sources += [n for n in hits if n not in command.sources]
                if not hits and self.slots[number].kind in ("argument", "constant", "global"):
                    command.inputs.append(number)
            if command.kind == "view":
                base, begin, _ = find(command.reads[0])
                pointed[command.writes[0]] = (base, begin, float("inf"))
                continue
            if command.kind == "swap":
                a, b = command.reads
                pointed[a], pointed[b] = find(b), find(a)
                continue
            for number in command.writes:
                storage, begin, end = find(number)
                kept = []
                for b, e, n in written.get(storage, ()):
                    # In a branch or a loop what was there before may stay.
                    left = (b, e) if command.scopes else (b, min(e, begin))
                    right = (e, e) if command.scopes else (max(b, end), e)
                    kept += [(*part, n) for part in (left, right) if part[0] < part[1]]
                written[storage] = [*kept, (begin, end, command.number)]

    # ---- The arena ----

    def lives(self):
        """Slots of the arena -> the first and the last command that needs them."""
        found = {}
        for command in self.commands:
            for number in [*command.writes, *command.reads]:
                if self.slots[number].kind == "arena":
                    found.setdefault(number, []).append(command.number)
        lives = {}
        swapped = [(c.number, c.reads) for c in self.commands if c.kind == "swap"]
        for number, uses in found.items():
            first, last = uses[0], uses[-1]
            # Inner loops come first.
            for begin, end in self.loops:
                if last < begin or first > end:
                    continue
                # What it holds comes from the round before.
                carried = begin <= first and (
                    number in self.commands[first].reads
                    or any(begin <= at <= end and number in both for at, both in swapped)
                )
                if first < begin or last > end or carried:
                    first = min(first, begin) if carried else first
                    last = max(last, end)
            lives[number] = (first, last)
        return lives

    def live_sets(self):
        """For each command: bytes of the arena that are in use, and by which slots."""
        lives = self.lives()
        sets = []
        for command in self.commands:
            live = [n for n, (first, last) in lives.items() if first <= command.number <= last]
            total, reached = 0, 0
            for slot in sorted((self.slots[n] for n in live), key=lambda s: s.begin):
                end = min(slot.end, self.arena_bytes)
                total += max(0, end - max(reached, slot.begin))
                reached = max(reached, end)
            sets.append((total, sorted(live, key=lambda n: -(self.slots[n].bytes or 0))))
        return sets


def _read_slot(number, text, artifact, function):
    kind = text.split(" ")[0]
    range_ = _RANGE.search(text)
    index = re.match(r"\w+ (\d+)", text)
    index = int(index[1]) if index else 0
    begin = int(range_[1]) if range_ else 0
    tables = {
        "argument": function["arguments"],
        "result": function["results"],
        "global": artifact["globals"],
    }
    name, size = "", None
    if kind in tables:
        name, size = tables[kind][index]["name"], type_bytes(tables[kind][index])
    elif kind == "constant":
        size = artifact["constants"][index]["bytes"]
    size = int(range_[2]) if range_ and range_[2] else None if size is None else size - begin
    return Slot(number, text, kind, index, begin, size, name)


def _numbers(text):
    return [int(n) for n in _SLOT.findall(text)]


def _read_command(number, text, scopes):
    dispatch = _DISPATCH.match(text)
    if dispatch:
        command = Command(number, text, "dispatch", dispatch["name"], scopes=scopes)
        command.grid = dispatch["grid"].replace(", ", " × ")
        for access, slot in re.findall(r"(\w+) %(\d+)", dispatch["bindings"]):
            if access in ("read", "update"):
                command.reads.append(int(slot))
            if access in ("write", "update"):
                command.writes.append(int(slot))
        return command
    called = _CALLED.match(text)
    if called:
        kind = called["what"].split(" ")[0]
        return Command(
            number, text, kind, called["name"], "",
            _numbers(called["reads"]), _numbers(called["writes"]), scopes,
        )  # fmt: skip
    words = text.split(" ")
    kind = words[2] if re.match(r"r\d+ = ", text) else words[0]
    command = Command(number, text, kind, scopes=scopes)
    # A message in an assertion is no slot.
    slots = [] if kind == "assert" else _numbers(text)
    if kind in _WRITING:
        command.writes, command.reads = slots[:1], slots[1:]
    elif kind == "collective_start":
        command.reads, command.writes = slots[:1], slots[1:]
    else:
        command.reads = slots
    return command
