"""Mutants are what they are said to be, and some of them are compiled."""

import forked
import hostile
import pytest
import run_hostile

SEEDS = [
    """func.func @main(%a: tensor<4x6xf32>) -> tensor<2x3xf32> {
  %0 = "stablehlo.slice"(%a) <{start_indices = array<i64: 0, 1>, limit_indices = array<i64: 4, 6>, strides = array<i64: 2, 2>}> : (tensor<4x6xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
""",
    """func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%1) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
""",
]


def test_single_edits():
    mutants = set(hostile.single_edits(SEEDS[0]))
    for new in (
        "strides = array<i64: 9223372036854775807, 2>",
        "strides = array<i64: 2, -1>",
        "start_indices = array<i64: 2147483648, 1>",
        "start_indices = array<i64: 1, 0>",  # permuted
        "start_indices = array<i64: 0>",  # shortened
        "start_indices = array<i64>",
        "start_indices = array<i64: 0, 1, 9223372036854775807>",  # lengthened
        "%a: tensor<4x2147483648xf32>",
        "%a: tensor<4x6xcomplex<f64>>",
    ):
        assert any(new in mutant for mutant in mutants), new
    assert any("limit_indices" not in mutant for mutant in mutants)
    groups = set(hostile.single_edits(SEEDS[1]))
    assert any("dense<-1> : tensor<1x2xi64>" in mutant for mutant in groups)
    assert any(": tensor<2x1xi64>" in mutant for mutant in groups)


def test_mutants_are_the_same_each_time():
    first, second = hostile.Mutants(SEEDS), hostile.Mutants(SEEDS)
    numbers = [0, 57, first.ends[-1], first.ends[-1] + 1000]
    assert [first[n] for n in numbers] == [second[n] for n in numbers]
    assert len({first[n] for n in range(first.ends[-1])}) > 0.9 * first.ends[-1]


@pytest.mark.skipif(
    not (hostile.ROOT / "build/lib/libalula_compiler.so").exists(), reason="not built"
)
def test_some_of_them_compile_or_are_refused():
    mutants = hostile.Mutants(SEEDS)
    task = run_hostile.Compilation(hostile.ROOT / "build", mutants, 10)
    ends = forked.run(task, range(0, mutants.ends[-1] + 200, 3), forked.Limits())
    assert not [(end.number, end.problem) for end in ends if end.problem]
    said = {end.value[0] for end in ends}
    assert "" in said and len(said) > 20
