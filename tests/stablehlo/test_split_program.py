"""What a test of StableHLO becomes when it is split."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import native_corpus
import split_program

# As alula-opt --emit=generic prints it.
CALLS = """
"builtin.module"() ({
  "func.func"() <{function_type = () -> tensor<2xf32>, sym_name = "main"}> ({
    %0:2 = "func.call"() <{callee = @inputs}> : () -> (tensor<2xf32>, tensor<f32>)
    %1 = "func.call"() <{callee = @expected}> : () -> tensor<2xf32>
    %2 = "stablehlo.constant"() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32>
    %3 = "stablehlo.reduce"(%0#0, %0#1) <{dimensions = array<i64>}> ({
    ^bb0(%arg0: tensor<f32>, %arg1: tensor<f32>):
      %9 = "stablehlo.add"(%arg0, %2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%9) : (tensor<f32>) -> ()
    }) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    "stablehlo.custom_call"(%3, %1) <{call_target_name = "check.expect_eq"}> : (tensor<2xf32>, tensor<2xf32>) -> ()
    "func.return"(%3) : (tensor<2xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (tensor<2xf32>, tensor<f32>), sym_name = "inputs"}> ({
    %4 = "stablehlo.constant"() <{value = dense<2.0> : tensor<2xf32>}> : () -> tensor<2xf32>
    %5 = "stablehlo.constant"() <{value = dense<3.0> : tensor<f32>}> : () -> tensor<f32>
    "func.return"(%4, %5) : (tensor<2xf32>, tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> tensor<2xf32>, sym_name = "expected"}> ({
    %6 = "stablehlo.constant"() <{value = dense<4.0> : tensor<2xf32>}> : () -> tensor<2xf32>
    "func.return"(%6) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
"""

CONSTANTS = """
"builtin.module"() ({
  "func.func"() <{function_type = () -> (), sym_name = "test"}> ({
    %0 = "stablehlo.constant"() <{value = dense<1.0> : tensor<2xf32>}> : () -> tensor<2xf32>
    %1 = "stablehlo.constant"() <{value = dense<2.0> : tensor<2xf32>}> : () -> tensor<2xf32>
    %2 = "stablehlo.abs"(%0) : (tensor<2xf32>) -> tensor<2xf32>
    "check.expect_eq_const"(%2) <{value = dense<1.0> : tensor<2xf32>}> : (tensor<2xf32>) -> ()
    %3 = "stablehlo.custom_call"(%1, %2) <{call_target_name = "check.eq"}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<i1>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
"""


def split(text, entry):
    return split_program.split(split_program.parse_functions(text), entry)


def test_inputs_become_arguments_and_program_constants_stay():
    parts = split(CALLS, "main")
    assert "func.func @main(%in0: tensor<2xf32>, %in1: tensor<f32>) -> (tensor<2xf32>)" in (
        parts.program
    )
    assert '"stablehlo.reduce"(%in0, %in1)' in parts.program
    assert "dense<1.0>" in parts.program
    assert "dense<2.0>" not in parts.program
    assert "expected" not in parts.program
    assert parts.input_types == ["tensor<2xf32>", "tensor<f32>"]
    assert '"func.return"(%0#0, %0#1)' in parts.inputs
    assert parts.ops == ["stablehlo.add", "stablehlo.reduce"]


def test_checks_get_the_results_and_the_expected_values():
    checks = split(CALLS, "main").checks
    assert "func.func @main(%out0: tensor<2xf32>) -> ()" in checks
    assert '"stablehlo.custom_call"(%out0, %1)' in checks
    assert "dense<4.0>" in checks
    assert "dense<2.0>" not in checks


def test_constants_become_arguments():
    parts = split(CONSTANTS, "test")
    assert parts.input_types == ["tensor<2xf32>"]
    assert "stablehlo.constant" not in parts.program
    # The expected value comes first here.
    assert '"check.expect_eq"(%1, %out0)' in parts.checks
    assert "dense<2.0>" in parts.checks
    assert '"check.expect_eq_const"(%out0)' in parts.checks


def test_a_checked_constant_is_part_of_the_program():
    text = CONSTANTS.replace('_const"(%2)', '_const"(%0)')
    parts = split(text, "test")
    assert "dense<1.0>" in parts.program
    assert parts.input_types == []


def test_what_only_returns_is_compared_with_itself():
    lines = [line for line in CONSTANTS.splitlines() if "check" not in line]
    text = "\n".join(lines).replace(
        '"func.return"() : () ->', '"func.return"(%1) : (tensor<2xf32>) ->'
    )
    parts = split(text, "test")
    assert '"func.return"(%1)' in parts.program
    assert '"check.expect_eq"(%out0, %1)' in parts.checks


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('"check.expect_eq_const"', '"check.expect_serialized_eq"', "watches the interpreter"),
        ('"stablehlo.abs"', '"interpreter.probe"', "watches the interpreter"),
        ("function_type = () -> ()", "function_type = (i32) -> ()", "has arguments"),
    ],
)
def test_says_why_not(old, new, reason):
    with pytest.raises(split_program.Unsplittable, match=reason):
        split(CONSTANTS.replace(old, new), "test")


def test_types():
    kinds = "(tensor<2xcomplex<f32>>, !quant<a, b>, (i1, i2) -> i3)"
    assert split_program.split_types(kinds) == [
        "tensor<2xcomplex<f32>>",
        "!quant<a, b>",
        "(i1, i2) -> i3",
    ]
    assert native_corpus.inner("tensor<2x!quant.uniform<u8:f32, 0.5>>") == "2xui8"
    with pytest.raises(split_program.Unsplittable, match="a value of type !stablehlo.token"):
        native_corpus.inner("!stablehlo.token")


@pytest.mark.parametrize(
    ("stem", "group"),
    [
        ("abs_dtypes_float32_20_20", "abs"),
        ("reduce_window_max_bfloat16_4_6", "reduce_window_max"),
        ("sort_bool_5_7", "sort_bool"),
        ("add_dynamic", "add"),
        ("fft", "fft"),
    ],
)
def test_groups(stem, group):
    assert native_corpus.group_of(stem) == group
