"""What LLVM-MCA says of the inner loops of products for machines that are not here: cycles of each step beside
those that the multiplications alone would take.

    .venv/bin/python bench/inner_loops.py
"""

import os
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / os.environ.get("ALULA_BUILD", "build")
PROGRAM = """
func.func @main(%x: tensor<256x256xIN>, %w: tensor<256x256xIN>) -> tensor<256x256xOUT> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<256x256xIN>, tensor<256x256xIN>) -> tensor<256x256xOUT>
  return %0 : tensor<256x256xOUT>
}
"""
# Of each type: the result's, instructions that multiply.
TYPES = {
    "f32": ("f32", r"fmla|fmul"),
    "bf16": ("bf16", r"fmla|bfmmla|bfdot|bfmlal[bt]"),
    "i8": ("i32", r"mla|[su]mlal2?|[su]dot|[su]mmla"),
}
# For each processor the target that it is the best of. LLVM describes Cortex-A76 by the tables of an older one, Cortex-A57,
# and Neoverse N1, which has the same core, by its own.
PROCESSORS = {
    "neoverse-v2": "aarch64-mmla",
    "neoverse-n1": "aarch64-dot",
    "cortex-a76": "aarch64-dot",
}


def run(*command, **options):
    return subprocess.run(
        [*map(str, command)], check=True, capture_output=True, text=True, **options
    ).stdout


def find_loops(text, multiplies):
    """Bodies of innermost loops with multiplications, those with most first."""
    code = [
        (int(address, 16), op, operands.split("<")[0].strip())
        for address, op, operands in re.findall(
            r"^\s+([0-9a-f]+):\s+(\S+)\s*(.*)$", text, re.MULTILINE
        )
    ]
    loops = []
    for end, (address, op, operands) in enumerate(code):
        target = re.findall(r"0x([0-9a-f]+)", operands)
        if not (op.startswith("b.") or op in ("cbnz", "tbnz")) or not target:
            continue
        begin = end - (address - int(target[-1], 16)) // 4
        body = code[max(begin, 0) : end]
        if not body or body[0][0] != int(target[-1], 16):
            continue
        if any(re.match(r"b|cb|tb|ret", op) and not op.startswith("bf") for _, op, _ in body):
            continue
        count = sum(bool(re.fullmatch(multiplies, op)) for _, op, _ in body)
        if count:
            loops.append((count, body))
    return sorted(loops, key=lambda loop: -loop[0])


def count_cycles(processor, lines):
    said = run(
        "llvm-mca-19", "-mtriple=aarch64", f"-mcpu={processor}", "-mattr=+dotprod,+bf16,+i8mm",
        "-iterations=200", input="\n".join(lines),
    )  # fmt: skip
    return int(re.search(r"Total Cycles:\s+(\d+)", said)[1]) / 200


def count_least(processor, lines):
    """Cycles of the same instructions where none waits for another: enough of each to fill
    the machine, for what one takes."""
    cycles = 0.0
    for form in {re.sub(r"v\d+", "v", line) for line in lines}:
        same = [line for line in lines if re.sub(r"v\d+", "v", line) == form]
        apart = [re.sub(r"v\d+", f"v{number}", same[0], count=1) for number in range(24)]
        apart = [re.sub(r", v\d+", ", v15", line) for line in apart]
        cycles += len(same) * (count_cycles(processor, apart * 4) - 0.05) / (24 * 4)
    return cycles


def measure(type_, processor):
    """Instructions that multiply in the innermost loop, its cycles, their cycles alone."""
    result, multiplies = TYPES[type_]
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "product.mlir"
        source.write_text(PROGRAM.replace("IN", type_).replace("OUT", result))
        out = source.with_suffix("")
        run(
            BUILD / "bin/alula-compile", source, "--emit=static",
            f"--target=cpu:{PROCESSORS[processor]}", "-o", out,
        )  # fmt: skip
        text = run(
            "llvm-objdump-19", "-d", "--no-show-raw-insn", "--mattr=+dotprod,+bf16,+i8mm",
            out.with_suffix(".a"),
        )  # fmt: skip
    count, body = find_loops(text, multiplies)[0]
    lines = [f"{op} {operands}" for _, op, operands in body]
    products = [line for line in lines if re.fullmatch(multiplies, line.split()[0])]
    ops = ", ".join(sorted({line.split()[0] for line in products}))
    return ops, count, count_cycles(processor, lines), count_least(processor, products)


def main():
    print("| type | processor | multiplications | cycles | of the limit |\n|---|---|---|---|---|")
    for type_ in TYPES:
        for processor in PROCESSORS:
            ops, count, cycles, least = measure(type_, processor)
            print(
                f"| {type_} | {processor} | {count} {ops} | {cycles:.1f} | {least / cycles:.0%} |"
            )


if __name__ == "__main__":
    main()
