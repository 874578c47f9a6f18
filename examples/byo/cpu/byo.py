"""A tool for --preprocess-executables-with: an executable that is one product of
f32 takes its code from mul.c, all others stay as they are."""

import math
import re
import sys

NOT_FOR_ME = 86
UNIT = 64  # elements of a workgroup of mul.c

program = sys.stdin.read()
ops = re.findall(r"= \"?(stablehlo\.\w+)", program)
product = re.search(r"stablehlo\.multiply .*: tensor<([0-9x?]*)xf32>", program)
if ops != ["stablehlo.multiply"] or not product:
    sys.exit(NOT_FOR_ME)

# Sizes that are known at run time come as constants: of both operands, then of
# the result. The host computes the grid from them.
sizes = product[1].split("x")
dynamic = sizes.count("?")
count = math.prod(int(size) for size in sizes if size != "?")
groups = max(1, math.ceil(count / UNIT))
arguments = ", ".join(f"%n{i}: index" for i in range(3 * dynamic))
product_of_sizes = "".join(
    f"      %p{i + 1} = arith.muli %p{i}, %n{i + 2 * dynamic} : index\n" for i in range(dynamic)
)
host = f"""    builtin.module {{
      func.func private @groups({arguments}) -> (index, index, index) {{
      %one = arith.constant 1 : index
      %unit = arith.constant {UNIT} : index
      %p0 = arith.constant {count} : index
{product_of_sizes}      %n = arith.ceildivui %p{dynamic}, %unit : index
      return %n, %one, %one : index, index, index
      }}
    }}"""
objects = ", ".join(
    f'#dispatch.object<target = "cpu:{machine}", path = "mul_{machine}.o", entry = "simple_mul">'
    for machine in ("x86_64", "aarch64")
)

lines = []
inside = False
for line in program.splitlines():
    if re.match(r"    builtin\.module \{", line):
        inside = True
        if dynamic:
            lines.append(host)
    elif inside:
        inside = not re.match(r"    \}", line)
    else:
        line = re.sub(
            r"(dispatch\.executable @\S+) \{$",
            rf"\1 attributes {{objects = [{objects}]}} {{",
            line,
        )
        if dynamic:
            line = re.sub(r"(scratch \d+)", r"\1 {workgroup_count = @groups}", line)
        else:
            line = re.sub(r"workgroups \[.*?\]", f"workgroups [{groups}, 1, 1]", line)
        lines.append(line)
print("\n".join(lines))
