"""Compares what we accept and reject with StableHLO's own verifier tests.

  verify_agreement.py --from STABLEHLO [--opt alula-opt] [--file RE]

Every test file of the checkout is split at `// -----`. A chunk with an
`expected-error` must be rejected, any other one accepted. Where jaxlib, which
embeds StableHLO itself, accepts a chunk that should fail, the error comes from
a pass of the test and not from a verifier: such chunks are left out.
"""

import argparse
import collections
import concurrent.futures
import concurrent.futures.process
import dataclasses
import functools
import itertools
import multiprocessing
import pathlib
import re
import subprocess
import sys

SEPARATOR = re.compile(r"^// -----.*$", re.MULTILINE)
EXPECTED = re.compile(r"expected-error(?:-re)?\s*(?:@\S+)?\s*\d*\s*\{\{(.*?)\}\}")
TIMEOUT = 20


@dataclasses.dataclass(frozen=True)
class Chunk:
    file: str
    line: int
    text: str

    @property
    def expected(self) -> list[str]:
        return EXPECTED.findall(self.text)

    def expects_error_at(self, line: int) -> bool:
        """Whether an expected error may be at this line of the file."""
        for number, text in enumerate(self.text.splitlines(), 1):
            if not EXPECTED.search(text):
                continue
            offset = re.search(r"expected-error(?:-re)?\s*@([+-]\d+|above|below|unknown)", text)
            # "below" skips the comments that follow.
            low, high = {None: (0, 0), "above": (-4, -1), "below": (1, 4)}.get(
                offset and offset[1], (0, 0)
            )
            if offset and offset[1] == "unknown":
                return True
            if offset and offset[1][0] in "+-":
                low = high = int(offset[1])
            if number + low <= line <= number + high:
                return True
        return False

    @property
    def label(self) -> str:
        name = re.search(r"func\.func (?:\w+ )?@([\w.]+)", self.text)
        return f"{self.file}:{self.line} @{name[1] if name else '?'}"


def split(path: pathlib.Path, root: pathlib.Path) -> list[Chunk]:
    text = path.read_text()
    cuts = [0, *(m.end() for m in SEPARATOR.finditer(text)), len(text) + 1]
    chunks = []
    for begin, end in itertools.pairwise(cuts):
        body = SEPARATOR.sub("", text[begin:end])
        if any(line.strip() and not line.strip().startswith("//") for line in body.splitlines()):
            # Blank lines in front keep our messages' line numbers those of
            # the whole file.
            lines = text.count("\n", 0, begin)
            first = re.search(r"func\.func|^module|^\s*\"", body, re.MULTILINE)
            start = lines + body.count("\n", 0, first.start() if first else 0)
            name = str(path.relative_to(root))
            chunks.append(Chunk(name, start + 1, "\n" * lines + body))
    return chunks


def run_opt(command: list[str], chunk: Chunk) -> tuple[str, str]:
    """`accept`, `reject` (`elsewhere` if it is another line's error) or `crash`, with our message."""
    try:
        done = subprocess.run(
            command,
            check=False,
            input=chunk.text.encode(),
            capture_output=True,
            timeout=TIMEOUT,
        )
    except subprocess.TimeoutExpired:
        return "crash", f"no answer in {TIMEOUT} s"
    errors = done.stderr.decode(errors="replace")
    match = re.search(r"error: (.*)", errors)
    message = match[1] if match else errors.strip()[-200:]
    if done.returncode == 0:
        return "accept", ""
    if done.returncode == 1 and match:
        line = re.search(r":(\d+):\d+: error: ", errors)
        if chunk.expected and not chunk.expects_error_at(int(line[1]) if line else 0):
            return "elsewhere", f"{message} (at line {line[1] if line else '?'})"
        return "reject", message
    frames = re.findall(r"#\d+ 0x\w+ (.*)", errors)
    ours = [frame for frame in frames if re.search("stablehlo::|chlo::|sdy::|alula::", frame)]
    where = (ours or frames or [message])[0].removeprefix("(").split("(")[0][:120]
    return "crash", f"exit code {done.returncode} in {where}"


@functools.cache
def _jax_context():
    from jax._src.interpreters import mlir
    from jaxlib.mlir.dialects import stablehlo

    context = mlir.make_ir_context()
    stablehlo.register_interpreter_dialect(context)
    context.allow_unregistered_dialects = True
    return context


def _parse_in_jaxlib(text: str) -> bool:
    from jaxlib.mlir import ir

    try:
        ir.Module.parse(text, _jax_context())
        return True
    except ir.MLIRError:
        return False


class Jaxlib:
    """jaxlib in a process of its own: it crashes on some of the chunks."""

    pool = None

    def accepts(self, chunk: Chunk) -> bool:
        if not self.pool:
            self.pool = concurrent.futures.ProcessPoolExecutor(
                1, multiprocessing.get_context("spawn")
            )
        try:
            return self.pool.submit(_parse_in_jaxlib, chunk.text).result()
        except concurrent.futures.process.BrokenProcessPool:
            self.pool.shutdown()
            self.pool = None
            return False


def report(title: str, lines: list[str], limit: int) -> None:
    if lines:
        print(f"\n{title} ({len(lines)}):")
        print("\n".join(lines[:limit]))
        if len(lines) > limit:
            print(f"  … and {len(lines) - limit} more")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--from", dest="root", type=pathlib.Path, required=True)
    parser.add_argument("--opt", default="build/bin/alula-opt")
    parser.add_argument("--file", default="", help="regular expression")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--max", type=int, default=40, help="lines a list")
    options = parser.parse_args()
    tests = options.root / "stablehlo" / "tests"
    chunks = [
        chunk
        for path in sorted([*tests.glob("*.mlir"), *tests.glob("chlo/*.mlir")])
        if re.search(options.file, path.name)
        for chunk in split(path, tests)
    ]
    command = [options.opt, "--allow-unregistered-dialect", "-"]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        answers = list(pool.map(functools.partial(run_opt, command), chunks))

    jaxlib = Jaxlib()
    wrong = collections.defaultdict(list)
    total, agree = collections.Counter(), collections.Counter()
    for chunk, (answer, message) in zip(chunks, answers):
        total[chunk.file] += 1
        should = "reject" if chunk.expected else "accept"
        if answer == "elsewhere":
            # It may be right still: another order of checks, another location.
            wrong["rejected for another line"].append(f"  {chunk.label}: {message}")
            answer = "reject"
        if answer == should:
            agree[chunk.file] += 1
        elif answer == "crash":
            wrong["crashed"].append(f"  {chunk.label}: {message}")
        elif answer == "reject":
            wrong["rejected, should be accepted"].append(f"  {chunk.label}: {message}")
        elif jaxlib.accepts(chunk):
            total[chunk.file] -= 1
            wrong["left out, the error is a pass's"].append(f"  {chunk.label}: {chunk.expected[0]}")
        else:
            wrong["accepted, should be rejected"].append(f"  {chunk.label}: {chunk.expected[0]}")
    for file in total:
        print(f"{agree[file]:4}/{total[file]:<4} {file}")
    for title, lines in sorted(wrong.items()):
        report(title, lines, options.max)
    bad = total.total() - agree.total()
    print(f"\n{agree.total()} of {total.total()} chunks agree, {bad} do not")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
