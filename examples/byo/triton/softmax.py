"""Kernels of Triton for softmax, for --preprocess-executables-with=offer:softmax:COMMAND.

Gets an executable on standard input and prints it with PTX that Triton has made. What is not
for it (other elements, long rows, no GPU among the targets, no Triton here) stays as it is:
status 86.
"""

import math
import os
import re
import sys

NOT_FOR_ME = 86
LONGEST_ROW = 16384
SHARED_BYTES = 48 * 1024
# The oldest that Triton can be told, for drivers of CUDA 12.0 and later.
PTX_VERSION = 80
# Types of Triton for our elements.
POINTERS = {"f32": "*fp32", "f16": "*fp16", "bf16": "*bf16"}


def decline(why: str) -> None:
    print(f"declined: {why}", file=sys.stderr)
    sys.exit(NOT_FOR_ME)


def read_shape(program: str) -> tuple[list[int], str]:
    """Of the kernel's argument, which is its result's too."""
    if 'dispatch.pattern = "softmax"' not in program:
        decline("it is no softmax")
    types = re.search(r"func\.func @\S+?\(%\w+: tensor<([^>]+)>.*-> tensor<([^>]+)>", program)
    if not types or types[1] != types[2]:
        decline("it has more than one argument")
    *sizes, element = types[1].split("x")
    if element not in POINTERS:
        decline(f"its elements are {element}")
    return [int(size) for size in sizes], element


def compile_rows(chip: str, columns: int, element: str):
    """A program of Triton's for each row; what it made of it."""
    # Names of files are of no use to who gets the kernel.
    os.environ["TRITON_DISABLE_LINE_INFO"] = "1"
    try:
        import rows
        import triton
        from triton.backends.compiler import GPUTarget
        from triton.compiler import ASTSource
    except ImportError as problem:
        decline(f"no Triton here: {problem}")

    block = triton.next_power_of_2(columns)
    pointer = POINTERS[element]
    source = ASTSource(
        rows.softmax,
        {"x": pointer, "y": pointer, "COLUMNS": "constexpr", "BLOCK": "constexpr"},
        {"COLUMNS": columns, "BLOCK": block},
    )
    warps = min(max(block // 1024, 1), 16)
    number = int(re.match(r"sm_(\d+)", chip)[1])
    return triton.compile(
        source,
        target=GPUTarget("cuda", number, 32),
        options={
            "num_warps": warps,
            "ptx_version": PTX_VERSION,
            "enable_fp_fusion": False,
        },
    ), f"triton {triton.__version__}"


def adapt(text: str, shared: int) -> str:
    """As our host launches it: pointers for the bindings and nothing else, memory that
    is shared by a block declared and not asked for at the launch."""
    head = re.search(r"\.entry softmax\(\s*(.*?)\s*\)", text, re.DOTALL)
    parameters = re.split(r",\s*", head[1])
    for hidden in parameters[2:]:
        name = hidden.split()[-1]
        if text.count(name) != len(re.findall(re.escape(name), hidden)):
            decline(f"Triton wants memory of its own: {name}")
    text = text.replace(head[1], ",\n".join(parameters[:2]))
    if shared > SHARED_BYTES:
        decline(f"it needs {shared} bytes of shared memory")
    text = re.sub(
        r"\.extern \.shared (\.align \d+) \.b8 (\w+)\[\];",
        rf".shared \1 .b8 \2[{max(shared, 4)}];",
        text,
    )
    if ".reqntid" not in text:
        text, count = re.subn(r"\.maxntid( \d+(?:, \d+)*)", r".reqntid\1", text, count=1)
        if not count:
            decline("Triton doesn't say how many threads a block has")
    return text


def quote(text: str) -> str:
    return "".join(
        char if 32 <= ord(char) < 127 and char not in '"\\' else f"\\{ord(char):02X}"
        for char in text
    )


def attach(program: str, texts: dict[str, str], rows: int, threads: int, version: str) -> str:
    """The executable with the texts of PTX, by chip, and a block of threads for each row.
    Its body stays: for other machines, and for comparison."""
    objects = ", ".join(
        f'#dispatch.object<target = "cuda:{chip}", path = "softmax.ptx", entry = "softmax", '
        f'tool = "{version}", data = "{quote(text)}">'
        for chip, text in texts.items()
    )
    program = re.sub(
        r"(dispatch\.executable @\S+) attributes \{",
        lambda match: f"{match[1]} attributes {{objects = [{objects}],",
        program,
    )
    program = re.sub(r"workgroups \[[^\]]*\]", f"workgroups [{rows}, 1, 1]", program)
    return re.sub(
        r"(scratch \d+)", rf"\1 {{workgroup_size = array<i64: {threads}, 1, 1>}}", program
    )


def main() -> None:
    program = sys.stdin.read()
    shape, element = read_shape(program)
    targets = os.environ.get("ALULA_TARGETS", "").split(",")
    chips = [chip for kind, _, chip in (each.partition(":") for each in targets) if kind == "cuda"]
    if not chips:
        decline("no GPU of NVIDIA is compiled for")
    if not 1 <= shape[-1] <= LONGEST_ROW:
        decline(f"rows have {shape[-1]} elements")
    texts, threads, version = {}, 0, ""
    for chip in dict.fromkeys(chips):
        made, version = compile_rows(chip, shape[-1], element)
        texts[chip] = adapt(made.asm["ptx"], made.metadata.shared)
        threads = 32 * made.metadata.num_warps
    print(attach(program, texts, math.prod(shape[:-1]), threads, version))


if __name__ == "__main__":
    main()
