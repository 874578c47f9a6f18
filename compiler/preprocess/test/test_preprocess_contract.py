"""H16 to H18: what tools must leave as it is."""

import subprocess
import sys

import pytest
from preprocess_runs import fail, run, step, succeed, write_filter, write_tool
from support.tool_runs import BIN

WHOLE = r"dispatch\.entry @main_0(?:\n      .*)*"
# A name, a change of what the tool gets, and what is said of it.
CHANGES = {
    "binding_count": (
        r"\[#dispatch<access read>, ",
        "[",
        "must keep its bindings: was [#dispatch<access read>, #dispatch<access read>, "
        "#dispatch<access write>], is [#dispatch<access read>, #dispatch<access write>]",
    ),
    "access": (
        r"<access write>",
        "<access read_write>",
        "#dispatch<access write>], is [#dispatch<access read>, #dispatch<access read>, "
        "#dispatch<access read_write>]",
    ),
    "entry_name": (r"entry @main_0", "entry @other", "were @main_0, are @other"),
    "ordinal": (
        f"({WHOLE})",
        r"dispatch.entry @z bindings([]) workgroups [1, 1, 1] scratch 0\n\1",
        "were @main_0, are @z, @main_0",
    ),
    "constant_count": (
        r"workgroups",
        "constants 1 workgroups",
        "must keep its constant_count: was 0 : i64, is 1 : i64",
    ),
    "added_entry": (
        f"({WHOLE})",
        r"\1\ndispatch.entry @z bindings([]) workgroups [1, 1, 1] scratch 0",
        "were @main_0, are @main_0, @z",
    ),
    "no_entry": (WHOLE, "", "were @main_0, are "),
    "count_of_zero": (
        r"workgroups \[1, 1, 1\]",
        "workgroups [0, 1, 1]",
        "must be from 1 to 4294967295: was array<i64: 1, 1, 1>, is [0, 1, 1]",
    ),
    "count_of_two_sizes": (
        r"workgroups \[1, 1, 1\]",
        "workgroups [1, 1]",
        "must have three sizes: was array<i64: 1, 1, 1>, is array<i64: 1, 1>",
    ),
    "scratch": (
        r"scratch 0",
        "scratch 64",
        "must keep its scratch_bytes, which is found later: was 0 : i64, is 64 : i64",
    ),
    "function": (
        r"func.func @main_0",
        "func.func @other",
        "the function of entry @main_0 must keep its type: was (",
    ),
    "function_type": (
        r"tensor<256x256xf32>",
        "tensor<256x256xf64>",
        "is (tensor<256x256xf64>, tensor<256x256xf64>) -> (tensor<256x256xf64>)",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_h18_contract(m2, tmp_path, temporary, change):
    pattern, replacement, text = CHANGES[change]
    tool = write_tool(
        tmp_path,
        "change",
        f"#!{sys.executable}\nimport re, sys\n"
        f"print(re.sub({pattern!r}, {replacement!r}, sys.stdin.read()))\n",
    )
    said = fail(m2, "pre-contract", step(tool), "--preprocess-only=main_0", temporary=temporary)
    assert text in said


def test_h18_symbols_outside(m2, tmp_path, temporary):
    tool = write_tool(tmp_path, "change", "#!/bin/sh\nsed 's/scratch 0/& {x.y = @elsewhere}/'\n")
    said = fail(m2, "pre-contract", step(tool), "--preprocess-only=main_0", temporary=temporary)
    assert "must not use what is outside of it: uses @elsewhere" in said


def test_verifier_is_asked(m2, temporary):
    said = fail(
        m2,
        "pre-verify",
        step(r"sed -E 's/return %.* loc/return loc/'"),
        "--preprocess-only=main_0",
        temporary=temporary,
    )
    assert "has 0 operands, but enclosing function (@main_0) returns 1" in said


def test_pass_fails(m2):
    said = fail(
        m2, "pre-pipeline", step("builtin.module(dispatch.executable(kernel-verify-output))")
    )
    assert "step 1, 'builtin.module(dispatch.executable(kernel-verify-output))': " in said


def test_pipeline_breaks_contract(m2):
    passes = "kernel-convert-stablehlo-to-loops,kernel-assign-scratch"
    said = fail(m2, "pre-contract", step(f"builtin.module(dispatch.executable({passes}))"))
    assert "entry @main_0 must keep its scratch_bytes, which is found later: was 0 : i64" in said


def test_h18_variant_in_an_executable(m2, tmp_path, temporary):
    """Code for a machine comes later, or as an object: no variant is added or deleted here."""
    tool = write_filter(
        tmp_path,
        "text = text.replace('builtin.module {', 'dispatch.variant @v target \"x86_64\" "
        'features [] {image = ""} builtin.module {\')',
    )
    said = fail(m2, "pre-shape", step(tool), "--preprocess-only=main_0", temporary=temporary)
    assert "must hold entries and a module alone: holds dispatch.variant" in said


RESOURCE = "0x08000000" + "".join(f"0{i}00000000000000" for i in (1, 2, 3))


def test_h16_data_of_constants(m2, tmp_path):
    tool = write_tool(
        tmp_path,
        "change",
        "#!/bin/sh\nsed 's/scratch 0/& "
        "{x.y = dense_resource<blob1> : tensor<3xi64>}/'\n"
        f"echo '{{-# dialect_resources: {{builtin: {{blob1: \"{RESOURCE}\"}}}} #-}}'\n",
    )
    for second in ("cat", "alula-opt", "sed s/subtract/add/"):
        text = succeed(m2, step(tool), step(second), "--preprocess-only=main_0")
        assert f': "{RESOURCE}"' in text


def test_h16_constants_at_run_time(tmp_path):
    """A constant whose data is a resource: the numbers arrive."""
    program, artifact = tmp_path / "p.mlir", tmp_path / "out"
    program.write_text("""func.func @main(%a: tensor<3xi64>) -> tensor<3xi64> {
  %c = stablehlo.constant dense<[7, 8, 9]> : tensor<3xi64>
  %0 = stablehlo.add %a, %c : tensor<3xi64>
  return %0 : tensor<3xi64>
}""")
    tool = write_filter(
        tmp_path,
        "text = re.sub(r'dense<.7, 8, 9.>', 'dense_resource<blob1>', text)\n"
        f"text += '{{-# dialect_resources: {{builtin: {{blob1: \"{RESOURCE}\"}}}} #-}}'",
    )
    for others in ([step("cat")], [step("alula-opt --canonicalize --cse")], []):
        succeed(program, step(tool), *others, "-o", artifact, until=None)
        result = subprocess.run(
            [BIN / "alula-run", artifact, "--input=3xi64=10,20,30"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert "11,22,33" in result.stdout


def test_h17_data_is_too_small(m2, tmp_path, temporary):
    tool = write_tool(
        tmp_path,
        "change",
        "#!/bin/sh\nsed 's/scratch 0/& {x.y = dense_resource<blob1> : tensor<4xi64>}/'\n"
        f"echo '{{-# dialect_resources: {{builtin: {{blob1: \"{RESOURCE}\"}}}} #-}}'\n",
    )
    said = fail(m2, "pre-contract", step(tool), "--preprocess-only=main_0", temporary=temporary)
    assert "dense_resource<blob1> has 24 bytes, tensor<4xi64> needs 32" in said


def test_h17_data_is_missing(m2, tmp_path, temporary):
    tool = write_tool(
        tmp_path,
        "change",
        "#!/bin/sh\nsed 's/scratch 0/& {x.y = dense_resource<blob1> : tensor<3xi64>}/'\n",
    )
    said = fail(m2, "pre-contract", step(tool), "--preprocess-only=main_0", temporary=temporary)
    assert "dense_resource<blob1> has none" in said


def test_our_attributes_stay(m2, tmp_path):
    tool = write_filter(
        tmp_path,
        "text = text.replace('scratch 0', 'scratch 0 {dispatch.x = 1 : i8, own.x = 2 : i8}')",
    )
    result = run(m2, step(tool), "--verbose", "--preprocess-only=main_0")
    assert b"[main_0] dispatch.x of entry @main_0 is ours: it stays as it was" in result.stderr
    assert b"own.x = 2 : i8" in result.stdout and b"dispatch.x" not in result.stdout
