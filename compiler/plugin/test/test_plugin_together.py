"""Plugins among others and in other tools: G10 to G12, G17. G1, G2, G9 and G13
to G15 are in test_plugin_samples.py."""

import os
import random
import shutil
import subprocess

from plugin_runs import INPUTS, LLVM, PROGRAM, SWAPPED, build, compute, fail, probe, run, succeed
from support.tool_runs import ROOT


def test_dumps_say_which_plugins_took_part(swap, here):
    flags = [f"--load-plugin={swap}", "--swap-mul-add"]
    succeed(PROGRAM, "--compile-to=optimize", *flags, "-o", here / "o.mlir")
    succeed(PROGRAM, "-o", here / "straight", *flags)
    succeed(here / "o.mlir", "-o", here / "resumed", flags[0])
    assert (here / "straight").read_bytes() == (here / "resumed").read_bytes()
    assert "with plugin swap 1.0, which does not take part now" in fail(
        "stage-plugin", here / "o.mlir"
    )


def test_g10_a_default_plugin_changes_nothing(probes, here):
    library = probe(probes, "default", ACTIVATION=1, STAGES="target.link")
    succeed(PROGRAM, "-o", here / "without")
    environment = {"ALULA_PLUGIN_PATH": str(library)}
    succeed(PROGRAM, "-o", here / "with", environment=environment)
    assert (here / "without").read_bytes() == (here / "with").read_bytes()
    assert ", active" in succeed("--list-plugins", environment=environment)
    assert "not active" in succeed("--list-plugins", "--plugin=-probe", environment=environment)
    greedy = probe(probes, "greedy", ACTIVATION=1)
    assert "may not take part in stage 'preprocess'" in fail(
        "plug-abi", PROGRAM, f"--load-plugin={greedy}"
    )


def test_g11_order_is_that_of_after(here):
    after = {"e": ["b"], "c": ["e"], "a": ["c", "d"], "b": [], "d": []}
    built = []
    for name, needs in after.items():
        macros = [f'-DID="{name}"']
        if needs:
            macros.append("-DAFTER=" + ",".join(f'"{need}"' for need in needs))
        built.append(build(here / f"{name}.so", INPUTS / "probe.c", *macros))
    orders = set()
    shuffle = random.Random(5)
    for i in range(20):
        folder = here / f"folder{i}"
        folder.mkdir(mode=0o755)
        names = list("12345")
        shuffle.shuffle(names)
        for library, name in zip(built, names):
            shutil.copy(library, folder / f"alula-plugin-{name}.so")
        flags = [f"--plugin={name}" for name in after] + [f"--{name}-do=say" for name in after]
        shuffle.shuffle(flags)
        result = run(PROGRAM, f"--plugin-dir={folder}", *flags, "-o", os.devnull)
        assert result.returncode == 0, result.stderr
        orders.add(result.stderr)
    said = [line.removeprefix("remark: ") for line in orders.pop().splitlines()]
    assert not orders and said == ["b", "d", "e", "c", "a"]


def test_g11_order_that_cannot_be(here):
    one = build(here / "one.so", INPUTS / "probe.c", '-DID="one"', '-DAFTER="other"')
    other = build(here / "other.so", INPUTS / "probe.c", '-DID="other"', '-DAFTER="one"')
    load = [f"--load-plugin={one}", f"--load-plugin={other}"]
    text = fail("plug-cycle", PROGRAM, *load)
    assert "one, other" in text
    text = fail("plug-missing-dep", PROGRAM, load[0])
    assert "plugin 'one' needs 'other', which is not loaded" in text
    text = fail("plug-missing-dep", PROGRAM, *load, "--plugin=-other")
    assert "which is not active: --plugin=other" in text


def test_g12_sessions_in_parallel(here):
    sources = [
        ROOT / f"compiler/plugin/{name}.cpp" for name in ("hook", "options", "plugin", "session")
    ]
    command = ["clang++-19", "-std=c++20", "-O1", "-g", "-fsanitize=thread", "-fno-exceptions"]
    command += ["-I", ROOT, "-I", ROOT / "include", "-isystem", LLVM / "include"]
    command += [
        INPUTS / "session_threads.cpp",
        *sources,
        f"-L{LLVM}/lib",
        "-lLLVM",
        "-o",
        "threads",
    ]
    subprocess.run(command, check=True, cwd=here, timeout=2000)
    result = subprocess.run([here / "threads"], capture_output=True, text=True, timeout=2000)
    assert result.returncode == 0, result.stderr
    assert result.stdout == "0 wrong, 0 alive\n" and "ThreadSanitizer" not in result.stderr


def test_g17_the_pass_runner_sees_the_same(swap, here):
    load = f"--load-plugin={swap}"
    formed = succeed(load, "--form-mul-add", PROGRAM, tool="alula-opt")
    assert "swap.mul_add" in formed
    (here / "formed.mlir").write_text(formed)
    lowered = succeed(load, "--lower-mul-add=swapped", here / "formed.mlir", tool="alula-opt")
    assert "swap.mul_add" not in lowered and "stablehlo.add %arg0, %arg1" in lowered
    for tool in ("alula-opt", "alula-compile"):
        result = run(here / "formed.mlir", tool=tool)
        assert result.returncode == 1 and "swap" in result.stderr
    # By name in the compiler's own pipelines too.
    step = "--preprocess-executables-with=builtin.module(form-mul-add,lower-mul-add{swapped})"
    assert compute(load, step, folder=here) == SWAPPED
    assert "alula-opt: error: [plug-open]" in fail(
        "plug-open", "--load-plugin=nowhere.so", PROGRAM, tool="alula-opt"
    )
