"""A tool for --preprocess-executables-with: an executable that is one product of
f32 takes its code from mul.c, all others stay as they are."""

import math
import re
import sys

NOT_FOR_ME = 86
UNIT = 64  # elements of a workgroup of mul.c

program = sys.stdin.read()
ops = re.findall(r"= \"?(stablehlo\.\w+)", program)
product = re.search(r"stablehlo\.multiply .*: tensor<([0-9x]*)xf32>", program)
if ops != ["stablehlo.multiply"] or not product:
    sys.exit(NOT_FOR_ME)

count = math.prod(int(size) for size in product[1].split("x"))
groups = max(1, math.ceil(count / UNIT))
objects = ", ".join(
    f'#dispatch.object<target = "cpu:{machine}", path = "mul_{machine}.o", entry = "simple_mul">'
    for machine in ("x86_64", "aarch64")
)

lines = []
inside = False
for line in program.splitlines():
    if re.match(r"    builtin\.module \{", line):
        inside = True
    elif inside:
        inside = not re.match(r"    \}", line)
    else:
        line = re.sub(
            r"(dispatch\.executable @\S+) \{$",
            rf"\1 attributes {{objects = [{objects}]}} {{",
            line,
        )
        line = re.sub(r"workgroups \[.*?\]", f"workgroups [{groups}, 1, 1]", line)
        lines.append(line)
print("\n".join(lines))
