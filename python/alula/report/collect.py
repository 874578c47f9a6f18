"""All that a report shows of one function of a program."""

import dataclasses
import json
import os
import pathlib
import tempfile

from alula.bindings import compiler
from alula.report import kernels, measure
from alula.report.commands import Function
from alula.report.measure import Problem

_MAGIC = b"\x89ALULA\r\n"


@dataclasses.dataclass
class Kernel:
    """A kernel and what one run of it takes; None is what is not known."""

    name: str
    # Numbers of the commands that run it, by function.
    commands: list = dataclasses.field(default_factory=list)
    grid: str = ""
    operations: list = dataclasses.field(default_factory=list)
    # The same with element types, "add:f32".
    typed: list = dataclasses.field(default_factory=list)
    source_name: str = ""
    source: str = ""
    flops: float | None = None
    transcendentals: float | None = None
    # What its operations read and write of that, by the compiler's count.
    cost_bytes: float | None = None
    # The memory that it is given to read and to write.
    read_bytes: int | None = None
    written_bytes: int | None = None
    # In one call of the program, and the seconds of one run.
    runs: float | None = None
    seconds: float | None = None

    @property
    def bytes(self):
        """What it has to move: of some kernels either count alone is too large."""
        known = []
        if self.read_bytes is not None and self.written_bytes is not None:
            known.append(self.read_bytes + self.written_bytes)
        if self.cost_bytes is not None:
            known.append(self.cost_bytes)
        return min(known) if known else None

    def bound(self, machine):
        """Seconds that this machine takes at the least, and what for."""
        moved, computed = self.bytes, self.flops
        if machine is None or moved is None:
            return None
        memory = moved / machine.bandwidth
        arithmetic = (computed or 0) / machine.flops
        return max((memory, "memory"), (arithmetic, "arithmetic"))


@dataclasses.dataclass
class Report:
    title: str
    path: str
    artifact: dict
    # The function reported, then those it calls.
    functions: list
    kernels: list
    # The compiler's count for the program: "flops" …; empty for an artifact.
    cost: dict
    times: object
    machine: object
    # What is not known, and why.
    notes: list

    def kernel(self, name):
        return next((k for k in self.kernels if k.name == name), None)

    def total(self, get):
        """Of all kernels in one call; None unless it is known of each."""
        total = 0
        for kernel in self.kernels:
            value = get(kernel)
            if value is None or kernel.runs is None:
                return None
            total += value * kernel.runs
        return total


def inspect(path, program=None):
    chosen = [f"--program={program}"] if program else []
    text = measure.run_tool("alula-inspect", path, "--json", *chosen)
    artifact = json.loads(text, strict=False)
    if "programs" in artifact:
        names = ", ".join(p["name"] for p in artifact["programs"])
        raise Problem(f"it holds programs for several kinds of machines, name one of {names}")
    return artifact


def choose_function(artifact, name):
    exported = [f["name"] for f in artifact["functions"] if f["exported"]]
    if name is None:
        name = exported[0] if len(exported) == 1 else "main"
    if name not in exported:
        raise Problem(f"there is no function '{name}', but {', '.join(exported) or 'none'}")
    return name


def reach(artifact, name):
    """A function and those it calls."""
    by_name = {f["name"]: f for f in artifact["functions"]}
    found, names = [], [name]
    for reached in names:
        found.append(Function(artifact, by_name[reached]))
        for command in found[-1].commands:
            if command.kind == "call" and command.name not in names:
                names.append(command.name)
    return found


def collect(
    path, *, function=None, program=None, targets=("cpu:host",), custom_calls=(), inputs=(),
    calls=10, run=True,
):  # fmt: skip
    """A report of a program (MLIR or a portable artifact), which is compiled, or
    of an artifact. `custom_calls` are as alula-run takes them."""
    path = pathlib.Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise Problem(error.strerror or str(error)) from None
    described, notes = None, []
    with tempfile.TemporaryDirectory() as folder:
        file = path
        if not data.startswith(_MAGIC):
            names = [c.split("=")[0] for c in custom_calls]
            compiled, _ = compiler.compile_program(data, targets=targets, custom_calls=names)
            described = kernels.describe(data, list(targets), names)
            file = pathlib.Path(folder, "program.alula")
            file.write_bytes(compiled)
        artifact = inspect(file, program)
        name = choose_function(artifact, function)
        functions = reach(artifact, name)
        times = machine = None
        if not run:
            notes.append("Times: it was not run.")
        elif program:
            notes.append("Times: of a file for several kinds of machines, they are not taken.")
        else:
            try:
                times = measure.measure(
                    file, name, len(functions[0].results), calls, inputs, custom_calls
                )
                machine = measure.measure_machine()
            except Problem as problem:
                notes.append(f"Times: {problem}.")
    told = described.kernels if described else kernels.read_facts(artifact["facts"])
    if not told:
        notes.append(
            "What was fused, flops and source lines: the artifact doesn't hold them; "
            "make the report from the program, or compile with --debug=1."
        )
    elif described and described.flags & kernels.UNKNOWN_COST:
        notes.append("Cost: loops of unknown length count as once, unknown sizes as one.")
    found = _join(functions, told, times)
    if any(k.read_bytes is None for k in found):
        notes.append("Bytes of some kernels: sizes are known when the program runs.")
    return Report(
        (described.name if described else "") or path.stem,
        str(path),
        {**artifact, "file_bytes": os.path.getsize(path)},
        functions,
        found,
        described.cost if described else {},
        times,
        machine,
        notes,
    )


def _join(functions, described, times):
    """Kernels in the order in which they first run."""
    straight = all(f.is_straight for f in functions)
    found = {}
    for function in functions:
        for command in function.commands:
            if command.kind != "dispatch":
                continue
            kernel = found.setdefault(command.name, Kernel(command.name, grid=command.grid))
            if not kernel.commands:
                kernel.read_bytes = _sum(function, command.reads)
                kernel.written_bytes = _sum(function, command.writes)
            kernel.commands.append((function.name, command.number))
    for kernel in found.values():
        told = described.get(kernel.name)
        if told:
            kernel.operations, kernel.typed = told["operations"], told["typed"]
            kernel.source_name, kernel.source = told["source_name"], told["source"]
            kernel.flops, kernel.transcendentals = told["flops"], told["transcendentals"]
            kernel.cost_bytes = told["bytes"]
        if times:
            kernel.runs, kernel.seconds = times.commands.get(kernel.name, (0, None))
        elif straight:
            kernel.runs = len(kernel.commands)
    return list(found.values())


def _sum(function, numbers):
    sizes = [function.slots[n].bytes for n in dict.fromkeys(numbers)]
    return None if None in sizes else sum(sizes)
