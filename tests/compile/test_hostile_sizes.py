"""Programs that are small and ask for much: an error or a result, soon."""

import os
import pathlib
import resource
import signal
import subprocess
import time

import pytest
from support import pace

COMPILE = pathlib.Path(__file__).parents[2] / "build/bin/alula-compile"
pytestmark = pytest.mark.skipif(not COMPILE.exists(), reason="not built")
ROW = "tensor<4xf32>"
ADD = f"""func.func @main(%a: {ROW}) -> {ROW} {{
  %0 = stablehlo.add %a, %a : {ROW}
  return %0 : {ROW}
}}
"""


def compile_text(folder, text, *flags):
    """Processor seconds of a usual machine, and what was said."""
    (folder / "in.mlir").write_text(text)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = subprocess.run(
        [COMPILE, folder / "in.mlir", "--target=cpu:x86-64-v3", "-o", folder / "out.alula", *flags],
        capture_output=True,
        check=False,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (600, 600)),
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) / pace.find(), result


def call_tree(depth):
    text = f"func.func @main(%a: {ROW}) -> {ROW} {{\n"
    for i in range(depth):
        call = f"func.call @f{i}" if i < depth - 1 else "stablehlo.add %a,"
        if i == depth - 1:
            text += f"  %1 = stablehlo.add %a, %a : {ROW}\n"
        else:
            text += f"  %0 = {call}(%a) : ({ROW}) -> {ROW}\n"
            text += f"  %1 = {call}(%0) : ({ROW}) -> {ROW}\n"
        text += f"  return %1 : {ROW}\n}}\n"
        if i < depth - 1:
            text += f"func.func private @f{i}(%a: {ROW}) -> {ROW} {{\n"
    return text


def test_calls_that_would_explode(tmp_path):
    seconds, result = compile_text(tmp_path, call_tree(40))
    assert result.returncode == 1
    assert "each call gets a copy of its function" in result.stderr and seconds < 5


def test_calls_that_are_many(tmp_path):
    _, result = compile_text(tmp_path, call_tree(10))
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("prefix", ["", "0.", "0x"])
def test_a_million_digits(tmp_path, prefix):
    number = prefix + "1" * 1000000
    seconds, result = compile_text(
        tmp_path, ADD.replace(" {\n", f" attributes {{a = {number}}} {{\n")
    )
    assert result.returncode == 1
    assert "number of more than 4096 digits: 1000" in result.stderr and seconds < 5


def many_arguments(count):
    text = f"func.func @main({', '.join(f'%a{i}: {ROW}' for i in range(count))}) -> {ROW} {{\n"
    for i in range(1, count):
        text += f"  %{i} = stablehlo.add %{'a0' if i == 1 else i - 1}, %a{i} : {ROW}\n"
    return text + f"  return %{count - 1} : {ROW}\n}}\n"


def many_results(count):
    text = f"func.func @main(%a: {ROW}) -> ({', '.join([ROW] * count)}) {{\n"
    for i in range(count):
        text += f"  %c{i} = stablehlo.constant dense<{i}.5> : {ROW}\n"
        text += f"  %{i} = stablehlo.add %a, %c{i} : {ROW}\n"
    names = ", ".join(f"%{i}" for i in range(count))
    return text + f"  return {names} : {', '.join([ROW] * count)}\n}}\n"


@pytest.mark.parametrize("make", [many_arguments, many_results])
def test_many_arguments_or_results(tmp_path, make):
    # Three times as long if LLVM compares each pair of them.
    seconds, result = compile_text(tmp_path, make(4000))
    assert result.returncode == 0, result.stderr
    assert seconds < 6


def test_many_results_are_right(tmp_path):
    # One kernel of so many buffers that it is compiled the short way.
    count = 200
    _, result = compile_text(tmp_path, many_results(count))
    assert result.returncode == 0, result.stderr
    said = subprocess.run(
        [
            COMPILE.with_name("alula-run"),
            tmp_path / "out.alula",
            "--input=4xf32=1,2,4,8",
            *["--output=-"] * count,
        ],
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    for i in range(count):
        numbers = ",".join(f"{x + i + 0.5:g}" for x in (1, 2, 4, 8))
        assert said.splitlines()[i] == f"4xf32={numbers}"


def many_globals(count):
    text = "".join(
        f"ml_program.global private mutable @g{i}(dense<{i}.0> : {ROW}) : {ROW}\n"
        for i in range(count)
    )
    text += f"func.func @main(%s: {ROW}) -> {ROW} {{\n"
    last = "%s"
    for i in range(count):
        text += f"  %l{i} = ml_program.global_load @g{i} : {ROW}\n"
        text += f"  %s{i} = stablehlo.add {last}, %l{i} : {ROW}\n"
        text += f"  ml_program.global_store @g{i} = %s{i} : {ROW}\n"
        last = f"%s{i}"
    return text + f"  return {last} : {ROW}\n}}\n"


def test_many_globals(tmp_path):
    # Some 16 s where each of them looks at all others.
    count = 8000
    seconds, result = compile_text(tmp_path, many_globals(count), "--compile-to=schedule")
    assert result.returncode == 0, result.stderr
    assert seconds < 6


def test_many_globals_as_machine_code(tmp_path):
    # Three times as long if LLVM compares the accesses of kernels of many buffers.
    seconds, result = compile_text(tmp_path, many_globals(4000))
    assert result.returncode == 0, result.stderr
    assert seconds < 8


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_where_nobody_asks(tmp_path, number):
    """A pipe that nobody reads stands for whatever keeps the process."""
    (tmp_path / "in.mlir").write_text(ADD)
    os.mkfifo(tmp_path / "out")
    process = subprocess.Popen(
        [COMPILE, tmp_path / "in.mlir", "--target=cpu:x86-64-v3", "-o", tmp_path / "out"],
        stderr=subprocess.PIPE,
    )
    waiting = pathlib.Path(f"/proc/{process.pid}/wchan")
    until = time.monotonic() + 600
    while waiting.read_text() != "wait_for_partner" and time.monotonic() < until:
        time.sleep(0.02)
    process.send_signal(number)
    _, said = process.communicate(timeout=600)
    assert process.returncode == 128 + number
    assert said == b"alula-compile: error: interrupted\n"


@pytest.mark.parametrize("part", ["i1", "i4", "i32", "ui8", "f16", "bf16", "f8E4M3FN"])
def test_complex_numbers_of_other_parts_are_errors(tmp_path, part):
    kind = f"tensor<2xcomplex<{part}>>"
    numbers = "(1,0)" if "i" in part else "(1.0,0.0)"
    _, result = compile_text(
        tmp_path,
        f"func.func @main() -> {kind} {{\n"
        f"  %0 = stablehlo.constant dense<{numbers}> : {kind}\n  return %0 : {kind}\n}}\n",
    )
    assert result.returncode == 1
    assert "in.mlir:2:" in result.stderr and "error: " in result.stderr


@pytest.mark.parametrize("function", ["sine", "logistic", "tan", "power"])
@pytest.mark.parametrize("size", [3, 4, 8, 15])
def test_chains_of_functions_over_few_elements(tmp_path, function, size):
    kind = f"tensor<{size}xf32>"
    second = ", %{0}" if function == "power" else ""
    chain = "".join(
        f"  %{i + 1} = stablehlo.{function} %{i}{second.format(i)} : {kind}\n" for i in range(16)
    )
    text = f"func.func @main(%0: {kind}) -> {kind} {{\n{chain}  return %16 : {kind}\n}}\n"
    seconds, result = compile_text(tmp_path, text)
    assert result.returncode == 0, result.stderr
    assert seconds < 5
