"""A tool for --preprocess-executables-with: an executable that is one product of
8 numbers takes its code from kernels.ptx, all others stay as they are."""

import re
import sys

NOT_FOR_ME = 86

program = sys.stdin.read()
ops = re.findall(r"= \"?(stablehlo\.\w+)", program)
if ops != ["stablehlo.multiply"] or "tensor<8xf32>" not in program:
    sys.exit(NOT_FOR_ME)

objects = '#dispatch.object<target = "cuda", path = "kernels.ptx", entry = "simple_mul">'
program = re.sub(
    r"(dispatch\.executable @\S+) \{\n",
    rf"\1 attributes {{objects = [{objects}]}} {{\n",
    program,
)
# Its blocks have 64 threads, of which one is enough.
program = re.sub(r"(scratch \d+)", r"\1 {workgroup_size = array<i64: 64, 1, 1>}", program)
program = re.sub(r"    builtin\.module \{\n.*?\n    \}[^\n]*\n", "", program, flags=re.DOTALL)
print(program)
