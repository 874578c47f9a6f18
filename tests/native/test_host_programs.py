"""Random host programs: loops, branches, results in place, dynamic sizes.

A program is made of launches of five small kernels on vectors; what it
computes is known from NumPy. Values are returned, carried, swapped and
overwritten at random, so that a wrong memory plan shows.
"""

import os
import pathlib
import random
import subprocess

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BIN = ROOT / os.environ.get("ALULA_BUILD", "build") / "bin"

pytestmark = pytest.mark.skipif(
    not (BIN / "alula-compile").exists(), reason="the compiler is not built"
)

LENGTH = 100  # of static vectors, large enough to be exchanged, not copied
VECTOR = "memref<1000xi32>"

# name: accesses of the bindings, body for element i with x = a[i], y = b[0]
KERNELS = {
    "mix": (["read", "read", "write"], {"o": (3, 1)}),
    "update": (["read_write", "read"], {"a": (5, 1)}),
    "split": (["read_write", "read", "write"], {"o": (1, -1), "a": (7, 1)}),
    "grow": (["read", "read", "write"], {"o": (1, 0)}),
}
SCALAR_KERNELS = {
    "next": ("memref<i32>", "memref<i32>", "%r = arith.addi %x, %one : i32"),
    "less": (
        "memref<i32>",
        "memref<i8>",
        "%p = arith.cmpi slt, %x, %three : i32\n %r = arith.extui %p : i1 to i8",
    ),
    "odd": (
        VECTOR,
        "memref<i8>",
        "%p = arith.andi %x, %one : i32\n %r = arith.trunci %p : i32 to i8",
    ),
    "low": (VECTOR, "memref<i32>", "%r = arith.andi %x, %three : i32"),
}


def kernel_text() -> str:
    entries, bodies = [], []

    def add(name, accesses, constants, arguments, body):
        shown = ", ".join(f"#dispatch<access {access}>" for access in accesses)
        some = f"constants {constants} " if constants else ""
        entries.append(
            f"dispatch.entry @{name} bindings([{shown}]) {some}workgroups [1, 1, 1] scratch 0"
        )
        bodies.append(
            f"func.func @{name}({arguments}) attributes {{kernel.bindings = {len(accesses)} : i64,"
            f" kernel.constants = {constants} : i64}} {{\n"
            "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n"
            "%one = arith.constant 1 : i32\n%three = arith.constant 3 : i32\n"
            f"{body}\nreturn\n}}"
        )

    for name, (accesses, results) in KERNELS.items():
        names = ["a", "b", "o"][: len(accesses)]
        arguments = ", ".join(f"%{n}: {VECTOR}" for n in names) + ", %n: index"
        body = f"%y = memref.load %b[%c0] : {VECTOR}\nscf.for %i = %c0 to %n step %c1 {{\n"
        body += f"%x = memref.load %a[%i] : {VECTOR}\n"
        for target, (factor, sign) in results.items():
            body += (
                f"%f{target} = arith.constant {factor} : i32\n"
                f"%s{target} = arith.constant {sign} : i32\n"
                f"%p{target} = arith.muli %x, %f{target} : i32\n"
                f"%q{target} = arith.muli %y, %s{target} : i32\n"
                f"%r{target} = arith.addi %p{target}, %q{target} : i32\n"
                f"memref.store %r{target}, %{target}[%i] : {VECTOR}\n"
            )
        body += "}\n"
        if name == "grow":
            body += f"%m = arith.index_cast %n : index to i32\nmemref.store %m, %o[%n] : {VECTOR}"
        add(name, accesses, 1, arguments, body)
    for name, (source, target, body) in SCALAR_KERNELS.items():
        at = "%c0" if source == VECTOR else ""
        body = f"%x = memref.load %a[{at}] : {source}\n{body}\nmemref.store %r, %o[] : {target}"
        add(name, ["read", "write"], 0, f"%a: {source}, %o: {target}", body)
    lines = "\n".join(entries) + "\nbuiltin.module {\n" + "\n".join(bodies)
    return f"dispatch.executable @e {{\n{lines}\n}}\n}}\n"


class Program:
    """Text, and what each op does to an environment of arrays."""

    def __init__(self, seed: int, dynamic: bool):
        self.random = random.Random(seed)
        self.dynamic = dynamic
        self.type = "tensor<?xi32>" if dynamic else f"tensor<{LENGTH}xi32>"
        self.count = 0
        self.lines = []

    def name(self):
        self.count += 1
        return f"%v{self.count}"

    def pick(self, values):
        if self.random.random() < 0.5:
            return self.random.choice(values)
        return values[-1 - self.random.randrange(min(3, len(values)))]

    def block(self, values, depth, count):
        values, steps = list(values), []
        for _ in range(count):
            kind = self.random.random()
            if depth == 3 or kind < 0.65:
                step, new = self.launch(values)
            elif kind < 0.7:
                step, new = self.barrier(values)
            elif kind < 0.85:
                step, new = self.loop(values, depth)
            else:
                step, new = self.branches(values, depth)
            steps.append(step)
            values += new
        return steps, values

    def launch(self, values):
        a, b, o = self.pick(values), self.pick(values), self.name()
        kernels = ["mix", "update", "split"] + ["grow"] * self.dynamic
        kernel = self.random.choice(kernels)
        if self.dynamic:
            zero, size = self.name(), self.name()
            self.lines.append(f"{zero} = arith.constant 0 : index")
            self.lines.append(f"{size} = tensor.dim {a}, {zero} : {self.type}")
            dim = size
            if kernel == "grow":
                one, dim = self.name(), self.name()
                self.lines.append(f"{one} = arith.constant 1 : index")
                self.lines.append(f"{dim} = arith.addi {size}, {one} : index")
        else:
            size = self.name()
            self.lines.append(f"{size} = arith.constant {LENGTH} : index")
        results = 2 if kernel == "split" else 1
        dims = f" result_dims({', '.join([dim] * results)})" if self.dynamic else ""
        place = {"update": " in_place [0]", "split": " in_place [0, -1]"}.get(kernel, "")
        types = ", ".join([self.type] * results)
        self.lines.append(
            f"{o}{':2' if results == 2 else ''} = dispatch.launch @e::@{kernel}({a}, {b})[{size}]"
            f"{dims}{place} : ({self.type}, {self.type}) -> ({types})"
        )

        def step(env):
            x, y = env[a], env[b][0]
            if kernel == "split":
                env[f"{o}#0"], env[f"{o}#1"] = x * np.int32(7) + y, x - y
            elif kernel == "grow":
                env[o] = np.append(x, np.int32(len(x)))
            else:
                env[o] = x * np.int32(3 if kernel == "mix" else 5) + y

        return step, [f"{o}#0", f"{o}#1"] if kernel == "split" else [o]

    def barrier(self, values):
        a, o = self.pick(values), self.name()
        self.lines.append(f"{o} = stablehlo.optimization_barrier {a} : {self.type}")
        return lambda env: env.__setitem__(o, env[a]), [o]

    def loop(self, values, depth):
        count = self.random.randrange(1, 4)
        inits = [self.pick(values) for _ in range(count)]
        carried = [self.name() for _ in range(count)]
        start, o, zero, number, flag, after = self.random.randrange(3), *(
            self.name() for _ in range(5)
        )
        types = ", ".join([self.type] * count + ["tensor<i32>"])
        pairs = zip(carried + [number], inits + [zero], strict=True)
        self.lines += [
            f"{zero} = stablehlo.constant dense<{start}> : tensor<i32>",
            f"{o}:{count + 1} = stablehlo.while({', '.join(f'{x} = {y}' for x, y in pairs)}) : {types}",
            "cond {",
            f"{flag} = dispatch.launch @e::@less({number}) : (tensor<i32>) -> tensor<i1>",
            f"stablehlo.return {flag} : tensor<i1>",
            "} do {",
        ]
        steps, inner = self.block(values + carried, depth + 1, self.random.randrange(1, 5))
        results = [self.random.choice(inner[-4:] + carried) for _ in range(count)]
        self.lines += [
            f"{after} = dispatch.launch @e::@next({number}) : (tensor<i32>) -> tensor<i32>",
            f"stablehlo.return {', '.join(results + [after])} : {types}",
            "}",
        ]

        def step(env):
            current = [env[x] for x in inits]
            for _ in range(start, 3):
                env.update(zip(carried, current, strict=True))
                for inner_step in steps:
                    inner_step(env)
                current = [env[x] for x in results]
            env.update((f"{o}#{i}", x) for i, x in enumerate(current))

        return step, [f"{o}#{i}" for i in range(count)]

    def branches(self, values, depth):
        count, a = self.random.randrange(1, 3), self.pick(values)
        flag, o, is_if = self.name(), self.name(), self.random.random() < 0.6
        kernel, kind, op = ("odd", "i1", "if") if is_if else ("low", "i32", "case")
        number = 2 if is_if else self.random.randrange(1, 4)
        types = ", ".join([self.type] * count)
        self.lines += [
            f"{flag} = dispatch.launch @e::@{kernel}({a}) : ({self.type}) -> tensor<{kind}>",
            f'{o}:{count} = "stablehlo.{op}"({flag}) ({{',
        ]
        made = []
        for i in range(number):
            steps, inner = self.block(values, depth + 1, self.random.randrange(4))
            results = [self.random.choice(inner[-4:]) for _ in range(count)]
            self.lines.append(f"stablehlo.return {', '.join(results)} : {types}")
            last = i == number - 1
            self.lines.append(f"}}) : (tensor<{kind}>) -> ({types})" if last else "}, {")
            made.append((steps, results))

        def step(env):
            bits = int(env[a][0]) & 3
            taken = 1 - bits % 2 if is_if else min(bits, number - 1)
            steps, results = made[taken]
            for inner_step in steps:
                inner_step(env)
            new = [env[x] for x in results]
            env.update((f"{o}#{i}", x) for i, x in enumerate(new))

        return step, [f"{o}#{i}" for i in range(count)]

    def function(self):
        arguments = [f"%a{i}" for i in range(self.random.randrange(1, 4))]
        steps, values = self.block(arguments, 0, self.random.randrange(2, 12))
        results = [self.random.choice(values[-6:]) for _ in range(self.random.randrange(1, 4))]
        # Some arguments give their memory away.
        alias = {}
        for argument in arguments:
            number = self.random.randrange(len(results))
            if not self.dynamic and self.random.random() < 0.3 and number not in alias.values():
                alias[argument] = number
        declared = ", ".join(
            f"{x}: {self.type}"
            + (f" {{tf.aliasing_output = {alias[x]} : i32}}" if x in alias else "")
            for x in arguments
        )
        types = ", ".join([self.type] * len(results))
        body = "\n".join(self.lines)
        text = f"func.func @main({declared}) -> ({types}) {{\n{body}\nreturn {', '.join(results)} : {types}\n}}\n"
        return text, arguments, results, steps


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("seed", range(20))
def test_random_program(tmp_path, seed, dynamic):
    program = Program(seed, dynamic)
    text, arguments, results, steps = program.function()
    source, artifact = tmp_path / "program.mlir", tmp_path / "program.alula"
    source.write_text(kernel_text() + text)
    subprocess.run(
        [BIN / "alula-compile", "--compile-from=kernel", source, "-o", artifact], check=True
    )
    numbers = np.random.RandomState(seed)
    env, command = {}, [BIN / "alula-run", artifact]
    for argument in arguments:
        length = numbers.randint(1, 6) if dynamic else LENGTH
        env[argument] = numbers.randint(-1000, 1000, length).astype(np.int32)
        command.append(f"--input={length}xi32=" + ",".join(map(str, env[argument])))
    with np.errstate(over="ignore"):
        for step in steps:
            step(env)
    for i in range(len(results)):
        command.append(f"--output={tmp_path / f'{i}.npy'}")
    subprocess.run(command, check=True)
    for i, result in enumerate(results):
        np.testing.assert_array_equal(np.load(tmp_path / f"{i}.npy"), env[result])
