"""Sends constants of small floats and bools through alula-opt and jaxlib."""

import subprocess

import numpy as np
from jax._src.interpreters import mlir
from jaxlib.mlir import ir

SHAPES = ((), (1,), (3,), (2, 3), (2, 1, 3), (0,), (2, 0, 3), (150,), (10, 12))
FLOATS = {"f8E3M4": 8, "f8E8M0FNU": 8, "f6E2M3FN": 6, "f6E3M2FN": 6, "f4E2M1FN": 4}
random = np.random.RandomState(1)


def constant(shape, element, codes):
    dims = "".join(f"{size}x" for size in shape)
    value = '"0x' + codes.tobytes().hex() + '"' if codes.size else ""
    return f"  {{}} = stablehlo.constant dense<{value}> : tensor<{dims}{element}>"


def constants():
    for element, width in FLOATS.items():
        for shape in SHAPES:
            count = int(np.prod(shape))
            yield constant(shape, element, random.randint(0, 2**width, count, dtype=np.uint8))
        yield f"  {{}} = stablehlo.constant dense<0.5> : tensor<4x5x{element}>"
    for count in (2, 7, 8, 9, 16, 100, 101, 150, 1000):
        yield constant((count,), "i1", random.randint(0, 2, count, dtype=np.uint8))


def main():
    lines = [line.format(f"%{i}") for i, line in enumerate(constants())]
    source = "func.func @f(%a: tensor<?x2xf8E3M4>) {\n" + "\n".join(lines) + "\n  return\n}\n"
    differing = 0
    with mlir.make_ir_context():
        module = ir.Module.parse(source)
        for options in ({}, {"print_generic_op_form": True}, {"enable_debug_info": True}):
            ours = subprocess.run(["alula-opt", "-"], input=module.operation.get_asm(**options),
                                  capture_output=True, text=True)
            if ours.returncode or (ir.Module.parse(ours.stdout).operation.get_asm()
                                   != module.operation.get_asm()):
                differing += 1
                print(options, ours.stderr[:500])
    print(differing, "modules differ")


main()
