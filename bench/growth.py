"""How the processor time of compiling grows with a program: each kind at n, 2n, 4n, 8n.

    python bench/growth.py [KIND ...] [--times 4] [--tool build/bin/alula-compile]

Says seconds of processor time, the growth of each step, and the most memory. Text is made here, so
nothing but the compiler is measured."""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
F = "tensor<64xf32>"
M = "tensor<8x8xf32>"


def function(body, arguments=(("x", F),), results=(F,), name="main", visibility="public"):
    given = ", ".join(f"%{n}: {t}" for n, t in arguments)
    return f"func.func {visibility} @{name}({given}) -> ({', '.join(results)}) {{\n{body}\n}}\n"


def chain(n):
    """One operation after another, which fuse."""
    names = ["sine", "tanh", "abs", "negate"]
    lines, last = [], "x"
    for i in range(n):
        lines.append(f"%v{i} = stablehlo.{names[i % 4]} %{last} : {F}")
        last = f"v{i}"
    return function("\n".join([*lines, f"return %{last} : {F}"]))


def products(n):
    """Products one after another, of sizes that differ: kernels of their own."""
    lines, last, size = [], "x", 8
    for i in range(n):
        to = 8 + (i * 7) % 61
        a, b, r = f"tensor<{size}xf32>", f"tensor<{size}x{to}xf32>", f"tensor<{to}xf32>"
        lines.append(f"%w{i} = stablehlo.constant dense<{i + 1}.0> : {b}")
        lines.append(
            f"%v{i} = stablehlo.dot_general %{last}, %w{i}, contracting_dims = [0] x [0] : ({a}, {b}) -> {r}"
        )
        last, size = f"v{i}", to
    result = f"tensor<{size}xf32>"
    return function(
        "\n".join([*lines, f"return %{last} : {result}"]), (("x", "tensor<8xf32>"),), (result,)
    )


def fan(n):
    """Results that read the same argument."""
    lines, types = ["%z = stablehlo.constant dense<0.0> : tensor<f32>"], []
    for i in range(n):
        size = 1 + i % 64
        t = f"tensor<{size}xf32>"
        lines.append(f"%s{i} = stablehlo.slice %x [0:{size}] : ({F}) -> {t}")
        lines.append(f"%r{i} = stablehlo.sine %s{i} : {t}")
        types.append(t)
    lines.append(f"return {', '.join(f'%r{i}' for i in range(n))} : {', '.join(types)}")
    return function("\n".join(lines), results=types)


def gather_in(n):
    """Arguments that are summed to one result."""
    lines, last = [], "x0"
    for i in range(1, n):
        lines.append(f"%v{i} = stablehlo.add %{last}, %x{i} : {F}")
        last = f"v{i}"
    return function("\n".join([*lines, f"return %{last} : {F}"]), [(f"x{i}", F) for i in range(n)])


def scan(n):
    """A loop that is unrolled: a product and a tanh, n times."""
    lines, last = [], "x"
    for i in range(n):
        lines.append(
            f"%p{i} = stablehlo.dot_general %{last}, %w, contracting_dims = [1] x [0] : ({M}, {M}) -> {M}"
        )
        lines.append(f"%v{i} = stablehlo.tanh %p{i} : {M}")
        last = f"v{i}"
    return function("\n".join([*lines, f"return %{last} : {M}"]), (("x", M), ("w", M)), (M,))


def nest(n):
    """Loops in loops."""
    one, flag = "tensor<i32>", "tensor<i1>"

    def loop(depth, value):
        if depth == n:
            return [f"%t{depth} = stablehlo.tanh %{value} : {F}"], f"t{depth}"
        inner, last = loop(depth + 1, f"y{depth}")
        return [
            f"%r{depth}:2 = stablehlo.while(%i{depth} = %zero, %y{depth} = %{value}) : {one}, {F}",
            f"cond {{\n%c{depth} = stablehlo.compare LT, %i{depth}, %two : ({one}, {one}) -> {flag}",
            f"stablehlo.return %c{depth} : {flag}\n}} do {{",
            *inner,
            f"%n{depth} = stablehlo.add %i{depth}, %one : {one}",
            f"stablehlo.return %n{depth}, %{last} : {one}, {F}\n}}",
        ], f"r{depth}#1"

    lines, last = loop(0, "x")
    head = [
        f"%{k} = stablehlo.constant dense<{v}> : {one}"
        for k, v in [("zero", 0), ("one", 1), ("two", 2)]
    ]
    return function("\n".join([*head, *lines, f"return %{last} : {F}"]))


def branch(n):
    """One branch after another."""
    lines, last = [], "x"
    for i in range(n):
        lines.append(
            f'%v{i} = "stablehlo.if"(%c) ({{\n%a{i} = stablehlo.sine %{last} : {F}\nstablehlo.return %a{i} : {F}\n}}, '
            f"{{\n%b{i} = stablehlo.tanh %{last} : {F}\nstablehlo.return %b{i} : {F}\n}}) : (tensor<i1>) -> {F}"
        )
        last = f"v{i}"
    return function("\n".join([*lines, f"return %{last} : {F}"]), (("x", F), ("c", "tensor<i1>")))


def calls(n):
    """A function that each of n functions calls, in a chain."""
    text = [
        function(f"%y = stablehlo.tanh %x : {F}\nreturn %y : {F}", name="f0", visibility="private")
    ]
    for i in range(1, n):
        body = f"%a = func.call @f{i - 1}(%x) : ({F}) -> {F}\n%y = stablehlo.sine %a : {F}\nreturn %y : {F}"
        text.append(function(body, name=f"f{i}", visibility="private"))
    text.append(function(f"%y = func.call @f{n - 1}(%x) : ({F}) -> {F}\nreturn %y : {F}"))
    return "".join(text)


def sums(n):
    """Sums of rows of sizes that differ, each with its own kernel."""
    lines, types = ["%z = stablehlo.constant dense<0.0> : tensor<f32>"], []
    for i in range(n):
        w = 64 + i
        lines.append(
            f"%s{i} = stablehlo.slice %x [0:4, 0:{w}] : (tensor<4x4096xf32>) -> tensor<4x{w}xf32>"
        )
        lines.append(
            f"%r{i} = stablehlo.reduce(%s{i} init: %z) applies stablehlo.add across dimensions = [1] : "
            f"(tensor<4x{w}xf32>, tensor<f32>) -> tensor<4xf32>"
        )
        types.append("tensor<4xf32>")
    lines.append(f"return {', '.join(f'%r{i}' for i in range(n))} : {', '.join(types)}")
    return function("\n".join(lines), (("x", "tensor<4x4096xf32>"),), types)


def updates(n):
    """Pieces written into one array, one after another."""
    lines, last = [], "x"
    for i in range(n):
        lines.append(f"%i{i} = stablehlo.constant dense<{i % 60}> : tensor<i32>")
        lines.append(
            f"%s{i} = stablehlo.slice %{last} [{i % 61}:{i % 61 + 3}] : ({F}) -> tensor<3xf32>"
        )
        lines.append(f"%t{i} = stablehlo.sine %s{i} : tensor<3xf32>")
        lines.append(
            f"%v{i} = stablehlo.dynamic_update_slice %{last}, %t{i}, %i{i} : ({F}, tensor<3xf32>, tensor<i32>) -> {F}"
        )
        last = f"v{i}"
    return function("\n".join([*lines, f"return %{last} : {F}"]))


def diamonds(n):
    """Values that two operations read, whose results meet: 2 to the n paths."""
    lines, last = [], "x"
    for i in range(n):
        lines.append(f"%a{i} = stablehlo.sine %{last} : {F}")
        lines.append(f"%b{i} = stablehlo.tanh %{last} : {F}")
        lines.append(f"%v{i} = stablehlo.multiply %a{i}, %b{i} : {F}")
        last = f"v{i}"
    return function("\n".join([*lines, f"return %{last} : {F}"]))


def softmaxes(n):
    """Norms of rows, one after another, whose results are read by more than one."""
    t, r = "tensor<16x64xf32>", "tensor<16xf32>"
    lines, last = ["%z = stablehlo.constant dense<0.0> : tensor<f32>"], "x"
    for i in range(n):
        lines += [
            f"%e{i} = stablehlo.exponential %{last} : {t}",
            f"%s{i} = stablehlo.reduce(%e{i} init: %z) applies stablehlo.add across dimensions = [1] : ({t}, tensor<f32>) -> {r}",
            f"%b{i} = stablehlo.broadcast_in_dim %s{i}, dims = [0] : ({r}) -> {t}",
            f"%d{i} = stablehlo.divide %e{i}, %b{i} : {t}",
            f"%v{i} = stablehlo.add %d{i}, %{last} : {t}",
        ]
        last = f"v{i}"
    return function("\n".join([*lines, f"return %{last} : {t}"]), (("x", t),), (t,))


def carried(n):
    """A loop that carries n arrays."""
    one = "tensor<i32>"
    types = ", ".join([one] + [F] * n)
    start = ", ".join(["%i = %zero"] + [f"%y{i} = %x{i}" for i in range(n)])
    body = [f"%t{i} = stablehlo.add %y{i}, %y{(i + 1) % n} : {F}" for i in range(n)]
    lines = [
        f"%zero = stablehlo.constant dense<0> : {one}",
        f"%one = stablehlo.constant dense<1> : {one}",
        f"%ten = stablehlo.constant dense<10> : {one}",
        f"%r:{n + 1} = stablehlo.while({start}) : {types}",
        f"cond {{\n%c = stablehlo.compare LT, %i, %ten : ({one}, {one}) -> tensor<i1>",
        "stablehlo.return %c : tensor<i1>\n} do {",
        *body,
        f"%n = stablehlo.add %i, %one : {one}",
        f"stablehlo.return {', '.join(['%n'] + [f'%t{i}' for i in range(n)])} : {types}\n}}",
        f"return {', '.join(f'%r#{i + 1}' for i in range(n))} : {', '.join([F] * n)}",
    ]
    return function("\n".join(lines), [(f"x{i}", F) for i in range(n)], [F] * n)


def pieces(n):
    """Pieces that are computed each and put together."""
    lines = []
    for i in range(n):
        lines.append(f"%s{i} = stablehlo.slice %x [{i % 60}:{i % 60 + 4}] : ({F}) -> tensor<4xf32>")
        lines.append(f"%t{i} = stablehlo.sine %s{i} : tensor<4xf32>")
    t = f"tensor<{4 * n}xf32>"
    lines.append(
        f"%r = stablehlo.concatenate {', '.join(f'%t{i}' for i in range(n))}, dim = 0 : "
        f"({', '.join(['tensor<4xf32>'] * n)}) -> {t}"
    )
    return function("\n".join([*lines, f"return %r : {t}"]), results=(t,))


def cases(n):
    """A choice among n."""
    regions = ", ".join(
        f"{{\n%a{i} = stablehlo.sine %x : {F}\n%k{i} = stablehlo.constant dense<{i}.0> : {F}\n"
        f"%b{i} = stablehlo.add %a{i}, %k{i} : {F}\nstablehlo.return %b{i} : {F}\n}}"
        for i in range(n)
    )
    return function(
        f'%r = "stablehlo.case"(%c) ({regions}) : (tensor<i32>) -> {F}\nreturn %r : {F}',
        (("x", F), ("c", "tensor<i32>")),
    )


def called(n):
    """One function that is called n times."""
    text = function(
        f"%a = stablehlo.tanh %x : {F}\n%y = stablehlo.reverse %a, dims = [0] : {F}\nreturn %y : {F}",
        name="f",
        visibility="private",
    )
    lines, last = [], "x"
    for i in range(n):
        lines.append(f"%v{i} = func.call @f(%{last}) : ({F}) -> {F}")
        last = f"v{i}"
    return text + function("\n".join([*lines, f"return %{last} : {F}"]))


def reshaped(n):
    """Transposes and reshapes, one after another."""
    lines, last, shape = [], "x", (4, 6, 10)
    for i in range(n):
        a = "tensor<" + "x".join(map(str, shape)) + "xf32>"
        b = "tensor<" + "x".join(map(str, shape[1:] + shape[:1])) + "xf32>"
        lines.append(f"%v{i} = stablehlo.transpose %{last}, dims = [1, 2, 0] : ({a}) -> {b}")
        shape, last = ((6, 4, 10) if i % 2 else (10, 4, 6)), f"v{i}"
        c = "tensor<" + "x".join(map(str, shape)) + "xf32>"
        lines.append(f"%w{i} = stablehlo.reshape %v{i} : ({b}) -> {c}")
        last = f"w{i}"
    return function(
        "\n".join([*lines, f"return %{last} : {c}"]), (("x", "tensor<4x6x10xf32>"),), (c,)
    )


def sorts(n):
    """Arrays of sizes that differ, sorted."""
    lines, types = [], []
    for i in range(n):
        size = 64 + i * 37 % 241
        t = f"tensor<{size}xf32>"
        lines.append(f"%s{i} = stablehlo.slice %x [0:{size}] : (tensor<4096xf32>) -> {t}")
        lines.append(
            f'%r{i} = "stablehlo.sort"(%s{i}) <{{dimension = 0 : i64, is_stable = true}}> ({{\n'
            f"^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
            f"%c = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
            f"stablehlo.return %c : tensor<i1>\n}}) : ({t}) -> {t}"
        )
        types.append(t)
    lines.append(f"return {', '.join(f'%r{i}' for i in range(n))} : {', '.join(types)}")
    return function("\n".join(lines), (("x", "tensor<4096xf32>"),), types)


KINDS = {
    "chain": (chain, 2500),
    "products": (products, 125),
    "fan": (fan, 500),
    "arguments": (gather_in, 250),
    "scan": (scan, 250),
    "nest": (nest, 8),
    "branches": (branch, 125),
    "calls": (calls, 250),
    "sums": (sums, 60),
    "updates": (updates, 125),
    "diamonds": (diamonds, 250),
    "softmaxes": (softmaxes, 60),
    "carried": (carried, 125),
    "pieces": (pieces, 250),
    "cases": (cases, 125),
    "called": (called, 500),
    "reshaped": (reshaped, 250),
    "sorts": (sorts, 30),
}


def measure(tool, text):
    """Seconds of processor time, and the most memory in MB."""
    with tempfile.TemporaryDirectory() as folder:
        program, artifact = (
            pathlib.Path(folder) / "program.mlir",
            pathlib.Path(folder) / "program.alu",
        )
        program.write_text(text)
        process = subprocess.Popen([tool, program, "--target=cpu:host", "-o", artifact])
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{tool} failed")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kinds", nargs="*", default=list(KINDS))
    parser.add_argument("--times", type=int, default=4)
    parser.add_argument("--tool", default=ROOT / "build/bin/alula-compile")
    options = parser.parse_args()
    for kind in options.kinds:
        make, n = KINDS[kind]
        row, before = [], None
        for _ in range(options.times):
            seconds, memory = measure(options.tool, make(n))
            grown = f" x{seconds / before:.2f}" if before else ""
            row.append(f"{n}: {seconds:.2f} s{grown} ({memory:.0f} MB)")
            before, n = seconds, 2 * n
        print(f"{kind:10} " + "   ".join(row), flush=True)


if __name__ == "__main__":
    main()
