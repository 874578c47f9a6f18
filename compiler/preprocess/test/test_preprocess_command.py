"""H1 to H7: what is run, and how it is written."""

import re
import sys

import pytest
from preprocess_runs import (
    drop_locations,
    fail,
    run,
    step,
    succeed,
    write_filter,
    write_program,
    write_tool,
)


def test_fixture_has_a_kernel_for_each_product(tmp_path):
    for count in (2, 8):
        text = succeed(write_program(tmp_path, count))
        assert text.count("dispatch.executable") == count
        assert text.count("stablehlo.subtract") == count


@pytest.mark.parametrize("kind", ["text", "bytecode"])
def test_h01_cat_changes_nothing(m2, temporary, kind):
    plain = succeed(m2, "--mlir-print-debuginfo")
    flag = f"--preprocess-format={kind}"
    through = succeed(m2, step("cat"), flag, "--mlir-print-debuginfo", temporary=temporary)
    assert through == plain
    assert not list(temporary.iterdir())
    # All of the file, its record included, text and bytecode.
    for form in ([], ["--emit-bytecode"]):
        stage = "executable-sources"
        plain = run(m2, *form, until=stage).stdout
        assert plain and run(m2, step("cat"), flag, *form, until=stage).stdout == plain
        changed = run(m2, step("sed s/subtract/add/"), *form, until=stage).stdout
        assert b"--preprocess-executables-with=sed" in changed and plain != changed


def kernels(*flags):
    return drop_locations(succeed(*flags))


def test_h02_pipeline_and_tool_agree(m2):
    same = step("sed s/subtract/add/")
    by_pipeline = kernels(m2, same, step("builtin.module(cse)"))
    assert by_pipeline == kernels(m2, same, step("alula-opt --cse"))
    assert by_pipeline.count("stablehlo.add") == 2
    one = kernels(m2, step("sed s/subtract/add/"), "--preprocess-only=*_1")
    first, second = re.split(r"dispatch\.executable", one)[1:]
    assert "subtract" in first and "subtract" not in second


@pytest.fixture
def three(tmp_path):
    """Kernels with a constant of 8080, and notes that make them differ; a tool that says for two of them what it shall be."""
    program = tmp_path / "three.mlir"
    program.write_text(
        "".join(
            f"func.func public @d{i}(%a: tensor<4xi64>) -> tensor<4xi64> {{\n"
            "  %c = stablehlo.constant dense<8080> : tensor<4xi64>\n"
            f"  %0 = stablehlo.add %a, %c {{note = {i}}} : tensor<4xi64>\n"
            "  return %0 : tensor<4xi64>\n}\n"
            for i in range(3)
        )
    )
    tool = write_filter(
        tmp_path,
        "for name, value in [('d0', 123), ('d1', 456)]:\n"
        "    text = re.sub(rf'(executable @{name}\\w*)', "
        "rf'\\1 attributes {{test.value = {value} : i64}}', text)",
    )
    return program, step(tool)


def test_h02_only_where_an_attribute_says_so(three):
    by_pipeline = kernels(*three, step("builtin.module(test-preprocess)"))
    assert by_pipeline == kernels(*three, step("alula-opt --test-preprocess"))
    parts = re.split(r"dispatch\.executable", by_pipeline)[1:]
    assert [re.findall(r"dense<(\d+)>", part) for part in parts] == [["123"], ["456"], ["8080"]]
    bytecode = step("alula-opt --test-preprocess --emit=bytecode")
    assert by_pipeline == kernels(*three, bytecode)


def test_h04_bytecode_both_ways(three, tmp_path):
    program, tool = three
    dump = tmp_path / "dump.mlir"
    succeed(program, tool, "-o", dump)
    bytecode = step("alula-opt --test-preprocess --emit=bytecode")
    again = kernels(
        dump, "--preprocess-again", "--override-recorded", bytecode, "--preprocess-format=bytecode"
    )
    assert re.findall(r"dense<(\d+)>", again) == ["123", "456", "8080"]


def test_h03_steps_in_order(m2):
    tool, passes = step("sed s/subtract/add/"), step("pipeline:builtin.module(cse)")
    assert kernels(m2, tool, passes).count("stablehlo.add") == 2
    assert kernels(m2, passes, tool).count("stablehlo.add") == 4


def test_h04_bytecode(m2, tmp_path):
    tool = write_tool(
        tmp_path,
        "check",
        "#!/bin/sh\nhead -c 4 > $ALULA_WORKDIR/magic\n"
        "printf 'ML\\357R' | cmp - $ALULA_WORKDIR/magic || exit 1\nexit 86\n",
    )
    bytecode = "--preprocess-format=bytecode"
    assert succeed(m2, step(tool), bytecode) == succeed(m2)
    opt = step("alula-opt --emit=bytecode --canonicalize --cse")
    loops = "--pass-pipeline=builtin.module(dispatch.executable(kernel-convert-stablehlo-to-loops))"
    by_tools = kernels(m2, opt, step(f"alula-opt --emit=bytecode {loops}"), bytecode)
    assert by_tools == kernels(
        m2,
        step(
            "builtin.module(canonicalize,cse,"
            "dispatch.executable(kernel-convert-stablehlo-to-loops))"
        ),
    )
    assert "scf.parallel" in by_tools


def test_h05_words(m2, tmp_path):
    tool = write_tool(
        tmp_path,
        "argv-dump",
        f"#!{sys.executable}\nimport sys\nprint(sys.argv[1:], file=sys.stderr)\nsys.exit(86)\n",
    )
    command = f"""{tool} '' 'a b' "c\\"d" e\\ f x;y"""
    result = run(m2, step(command), "--verbose")
    said = "['', 'a b', 'c\"d', 'e f', 'x;y']"
    assert result.stderr.decode(errors="replace") == f"[main_0] {said}\n[main_1] {said}\n"
    words = tmp_path / "words.txt"
    words.write_text(f"{tool}\n{{name}}\n a 'b\n")
    result = run(m2, step(f"@{words}"), "--verbose", "--preprocess-only=main_1")
    assert result.stderr.decode(errors="replace") == "[main_1] ['main_1', \" a 'b\"]\n"


@pytest.mark.parametrize(
    "flag, text",
    [
        (step("tool 'oops"), "quote at column 6 has no end"),
        (step(""), "command has no words"),
        (step("   "), "command has no words"),
        (step("builtin.module(cse"), "expected pass pipeline to be wrapped"),
        (step("builtin.module(no-such-pass)"), "no-such-pass"),
        (
            step("pipeline:func.func(cse)"),
            "a pipeline must be one of builtin.module: is one of func.func",
        ),
        (step("cat {nmae}"), "no such placeholder: '{nmae}'"),
        (step("@/no/such/file"), "can't read /no/such/file: No such file"),
        ("--preprocess-jobs=x", "--preprocess-jobs: must be a number: is 'x'"),
        ("--preprocess-jobs=-1", "--preprocess-jobs: must be a number: is '-1'"),
        ("--preprocess-timeout=x", "--preprocess-timeout: must be a number: is 'x'"),
        ("--preprocess-timeout=-1", "a time limit must be from 0 to 1e9 seconds"),
        ("--preprocess-timeout=nan", "a time limit must be from 0 to 1e9 seconds"),
        ("--preprocess-max-output=x", "--preprocess-max-output: must be a number"),
        ("--preprocess-only=[", "pre-usage"),
    ],
)
def test_h06_usage(m2, tmp_path, flag, text):
    output = tmp_path / "out"
    assert text in fail(m2, "pre-usage", flag, "-o", output, status=2)
    assert not output.exists()


def test_h07_no_tool(m2, tmp_path):
    said = fail(m2, "pre-not-found", step("no-such-tool"), status=2)
    assert "there is no 'no-such-tool' on the PATH" in said
    missing = tmp_path / "missing"
    assert f"there is no {missing}" in fail(m2, "pre-not-found", step(missing), status=2)
    notes = tmp_path / "notes.txt"
    notes.write_text("x")
    for path in (notes, tmp_path):
        said = fail(m2, "pre-not-executable", step(path), status=2)
        assert f"{path} can't be executed" in said


def test_keep(m2, tmp_path):
    keep = tmp_path / "kept"
    succeed(m2, step("cat"), f"--preprocess-keep={keep}")
    assert sorted(each.name for each in keep.iterdir()) == ["1-main_0", "1-main_1"]
    text = (keep / "1-main_0/stdin").read_text()
    assert "dispatch.protocol = 1 : i64" in text and "dispatch.executable @main_0 {" in text


def test_dump_before_and_after(m2, tmp_path):
    folder = tmp_path / "dumps"
    change = step("sed s/subtract/add/")
    succeed(m2, change, "--preprocess-only=main_0", f"--dump-executables-to={folder}")
    assert "stablehlo.subtract" in (folder / "module_main_0.source.mlir").read_text()
    assert "stablehlo.subtract" not in (folder / "module_main_0.preprocessed.mlir").read_text()
    assert not (folder / "module_main_1.preprocessed.mlir").exists()
