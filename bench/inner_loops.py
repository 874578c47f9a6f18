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
    "i8": ("i32", r"mla|[su]mlal2?|sdot|smmla"),
}
# Vectors that a processor multiplies in a cycle.
PROCESSORS = {"neoverse-v2": 4, "cortex-a76": 2}


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


def main():
    print("| type | processor | multiplications | cycles | of the limit |\n|---|---|---|---|---|")
    for type_, (result, multiplies) in TYPES.items():
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "product.mlir"
            source.write_text(PROGRAM.replace("IN", type_).replace("OUT", result))
            out = source.with_suffix("")
            run(
                BUILD / "bin/alula-compile", source, "--emit=static", "--target=cpu:aarch64", "-o", out
            )  # fmt: skip
            text = run("llvm-objdump-19", "-d", "--no-show-raw-insn", out.with_suffix(".a"))
        count, body = find_loops(text, multiplies)[0]
        lines = "\n".join(f"{op} {operands}" for _, op, operands in body)
        for processor, ports in PROCESSORS.items():
            said = run(
                "llvm-mca-19", "-mtriple=aarch64", f"-mcpu={processor}", "-iterations=200", input=lines
            )  # fmt: skip
            cycles = int(re.search(r"Total Cycles:\s+(\d+)", said)[1]) / 200
            print(
                f"| {type_} | {processor} | {count} | {cycles:.1f} | {count / ports / cycles:.0%} |"
            )


if __name__ == "__main__":
    main()
