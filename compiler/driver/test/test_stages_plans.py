"""Stop at the plan, edit it, go on: results stay right, or an error says why."""

import re

import numpy as np
import pytest
from stage_programs import BIN, ROWS, TARGET, fail, succeed

PRODUCT = """func.func @main(%x: tensor<300x200xf32>, %y: tensor<200x260xf32>) -> tensor<300x260xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<300x260xf32>
  %0 = stablehlo.dot %x, %y : (tensor<300x200xf32>, tensor<200x260xf32>) -> tensor<300x260xf32>
  %1 = stablehlo.add %0, %one : tensor<300x260xf32>
  %2 = stablehlo.abs %1 : tensor<300x260xf32>
  return %2 : tensor<300x260xf32>
}
"""
SUMS = """func.func @main(%x: tensor<6x5000xf32>) -> tensor<6xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<6x5000xf32>, tensor<f32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}
"""
# The place of the greatest number of each row, which is added to it.
GREATEST = """func.func @main(%x: tensor<6x5000xi32>) -> tensor<6xi32> {
  %least = stablehlo.constant dense<-2147483648> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %i = stablehlo.iota dim = 1 : tensor<6x5000xi32>
  %0:2 = stablehlo.reduce(%x init: %least), (%i init: %zero) across dimensions = [1] : (tensor<6x5000xi32>, tensor<6x5000xi32>, tensor<i32>, tensor<i32>) -> (tensor<6xi32>, tensor<6xi32>)
    reducer(%a: tensor<i32>, %b: tensor<i32>) (%ai: tensor<i32>, %bi: tensor<i32>) {
      %gt = stablehlo.compare GT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %eq = stablehlo.compare EQ, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %before = stablehlo.compare LT, %ai, %bi : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %tie = stablehlo.and %eq, %before : tensor<i1>
      %pick = stablehlo.or %gt, %tie : tensor<i1>
      %v = stablehlo.select %gt, %a, %b : tensor<i1>, tensor<i32>
      %p = stablehlo.select %pick, %ai, %bi : tensor<i1>, tensor<i32>
      stablehlo.return %v, %p : tensor<i32>, tensor<i32>
    }
  %1 = stablehlo.add %0#0, %0#1 : tensor<6xi32>
  return %1 : tensor<6xi32>
}
"""
COLUMNS = """func.func @main(%x: tensor<700x1500xf32>) -> tensor<1500xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<700x1500xf32>, tensor<f32>) -> tensor<1500xf32>
  return %0 : tensor<1500xf32>
}
"""
CONVOLUTION = """func.func @main(%x: tensor<2x20x22x8xf32>, %k: tensor<3x3x8x24xf32>) -> tensor<2x18x20x24xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x20x22x8xf32>, tensor<3x3x8x24xf32>) -> tensor<2x18x20x24xf32>
  return %0 : tensor<2x18x20x24xf32>
}
"""
MAP = """func.func @main(%x: tensor<640x640xf32>) -> tensor<640x640xf32> {
  %0 = stablehlo.exponential %x : tensor<640x640xf32>
  %1 = stablehlo.negate %0 : tensor<640x640xf32>
  return %1 : tensor<640x640xf32>
}
"""
# A copy by the kernel library, and loops that read across rows.
TURNED = """func.func @main(%x: tensor<300x3x260xf32>) -> tensor<260x3x300xf32> {
  %0 = stablehlo.transpose %x, dims = [2, 1, 0] : (tensor<300x3x260xf32>) -> tensor<260x3x300xf32>
  return %0 : tensor<260x3x300xf32>
}
"""
TURNED_SUM = """func.func @main(%x: tensor<300x260xf32>, %y: tensor<260x300xf32>) -> tensor<260x300xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<300x260xf32>) -> tensor<260x300xf32>
  %1 = stablehlo.add %0, %y : tensor<260x300xf32>
  return %1 : tensor<260x300xf32>
}
"""
# Rows by digits; sums of all before each place; rows that no two updates share.
SORT = """func.func @main(%x: tensor<6x500xi32>) -> tensor<6x500xi32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<6x500xi32>) -> tensor<6x500xi32>
  return %0 : tensor<6x500xi32>
}
"""
SCAN = """func.func @main(%x: tensor<30x7xf32>) -> tensor<30x7xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 30, 1>, padding = dense<[[29, 0], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<30x7xf32>, tensor<f32>) -> tensor<30x7xf32>
  return %0 : tensor<30x7xf32>
}
"""
SCATTER = """func.func @main(%x: tensor<5000x90xi32>, %u: tensor<700x90xi32>) -> tensor<5000x90xi32> {
  %i = stablehlo.iota dim = 0 : tensor<700x1xi32>
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }) : (tensor<5000x90xi32>, tensor<700x1xi32>, tensor<700x90xi32>) -> tensor<5000x90xi32>
  return %0 : tensor<5000x90xi32>
}
"""


def plan(text, *flags):
    return succeed("-", TARGET, *flags, "--compile-to=plan", input=text.encode()).decode()


def make_inputs(program, folder):
    rng = np.random.default_rng(1)
    flags = []
    arguments = program.split(") ->")[0]
    for i, (sizes, kind) in enumerate(re.findall(r"tensor<([\dx]+)x([fi]32)>", arguments)):
        path = folder / f"input{i}.npy"
        shape = list(map(int, sizes.split("x")))
        if kind == "f32":
            np.save(path, rng.standard_normal(shape, np.float32))
        else:
            np.save(path, rng.integers(-1000, 1000, shape, np.int32))
        flags.append(f"--input=@{path}")
    return flags


def compile_and_run(dump, inputs, folder, name):
    succeed("-", "-o", folder / f"{name}.alula", input=dump.encode())
    out = folder / f"{name}.npy"
    succeed(
        folder / f"{name}.alula",
        *inputs,
        f"--output={out}",
        "--threads=2",
        program=BIN / "alula-run",
    )
    return np.load(out), (folder / f"{name}.alula").read_bytes()


@pytest.mark.parametrize(
    "program, before, after",
    [
        # A tile is halved, made of a size that divides nothing, or taken away.
        (PRODUCT, r"tile = \[\d+, (\d+)\]", r"tile = [64, \1]"),
        (PRODUCT, r"tile = \[\d+, \d+\]", r"tile = [7, 33]"),
        (PRODUCT, r", tile = \[\d+, \d+\]", ""),
        # What followed blocks is a loop of its own.
        (
            PRODUCT,
            r"(stablehlo.add .*)<epilogue 0>(.*\n.*)<epilogue 0>",
            r"\1<inline>\2<map 1, space = [300, 260]>",
        ),
        (SUMS, r"terms = \d+", "terms = 100"),
        (SUMS, r", terms = \d+", ""),
        (GREATEST, r"parts = 16", "parts = 5"),
        (GREATEST, r", parts = 16", ""),
        (COLUMNS, r"tile = \[(\d+), 8\]", "tile = [100, 3]"),
        (COLUMNS, r"tile = \[(\d+), 8\]", "tile = [1500, 1]"),
        # A row that was kept is computed again; a reduction has its own loop.
        (ROWS, r"memory = row", "memory = again"),
        (ROWS, r", fused", ""),
        (CONVOLUTION, r"tile = \[\d+, \d+, \d+\]", "tile = [3, 5, 16]"),
        (CONVOLUTION, r", tile = \[\d+, \d+, \d+\]", ""),
        (SORT, r"way = digits", "way = merge"),
        (SORT, r"way = digits", "way = insertion"),
        (SCAN, r"way = scan", "way = memory"),
        (SCAN, r"way = scan", "way = registers"),
        (SCATTER, r"way = free", "way = ordered"),
        (TURNED, r"tile = \[\d+, 1, \d+\]", "tile = [7, 1, 90]"),
        (TURNED, r"tile = \[\d+, 1, \d+\], way = blocks", "tile = [64, 1, 77], way = strips"),
        (TURNED, r"way = blocks", "way = tiles"),
        (TURNED, r", tile = .*, way = blocks", ", way = elements"),
        (TURNED_SUM, r"tile = \[64, 64\], way = tiles", "tile = [5, 40], way = tiles"),
        (TURNED_SUM, r", tile = .*, way = tiles", ", way = elements"),
        (MAP, r"(stablehlo.negate.*)<inline>", r"\1<inline, tile = [9, 640], way = tiles>"),
        (MAP, r"most = \d+, steps = \d+", "workgroups = 5"),
        (MAP, r"most = \d+, steps = \d+", "most = 3, steps = 1"),
        (MAP, r"(stablehlo.exponential.*)<inline>", r"\1<map 7, space = [640, 640]>"),
    ],
)
def test_edited(tmp_path, program, before, after):
    dump = plan(program)
    edited, count = re.subn(before, after, dump)
    assert count >= 1 and edited != dump, dump
    if "memory = again" in after:
        # Nothing is written that it could be fused with.
        edited = edited.replace(", fused", "")
    inputs = make_inputs(program, tmp_path)
    expected, artifact = compile_and_run(dump, inputs, tmp_path, "before")
    got, other = compile_and_run(edited, inputs, tmp_path, "after")
    assert artifact != other
    np.testing.assert_allclose(got, expected, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("count, least", [("workgroups = 5", 5), ("most = 3, steps = 1", 2)])
def test_grid(count, least):
    edited = re.sub(r"most = \d+, steps = \d+", count, plan(MAP))
    loops = succeed("-", "--compile-to=kernel", input=edited.encode()).decode()
    assert f"workgroups [{least}, 1, 1]" in loops
    # Nothing of it is left.
    assert "plan." not in loops


@pytest.mark.parametrize(
    "program, before, after, why",
    [
        (
            PRODUCT,
            r"tile = \[\d+, \d+\]",
            "tile = [64]",
            "'stablehlo.dot_general': plan: a tile must have 2 sizes, rows and columns: is [64]",
        ),
        (
            SUMS,
            r"<rows 0, space = \[6, 5000\], terms = \d+>",
            "<map 0, space = [6]>",
            "'stablehlo.reduce': plan: 'map' is not possible: it is 'rows'",
        ),
        (
            GREATEST,
            r"parts = 16",
            "parts = 1000",
            "'stablehlo.reduce': plan: 1000 parts are not possible",
        ),
        (
            ROWS,
            r"memory = row",
            "memory = again",
            "'stablehlo.reduce': plan: can't be fused: no loop writes its operand",
        ),
        (
            TURNED,
            r"tile = \[\d+, 1, \d+\], way = blocks",
            "tile = [65, 1, 64], way = strips",
            "'stablehlo.transpose': plan: way 'strips' is not possible: a strip has at most 64 "
            "rows: is 65",
        ),
        (
            TURNED_SUM,
            r"way = tiles",
            "way = blocks",
            "'stablehlo.add': plan: way 'blocks' is not possible: it is no copy of memory",
        ),
        (
            MAP.replace("%1 = stablehlo.negate %0", "%1 = stablehlo.reverse %0, dims = [0]"),
            r"plan.stage = #plan.stage<inline>",
            "other = 1",
            "plan: has no stage, in a kernel that is planned",
        ),
    ],
)
def test_impossible(tmp_path, program, before, after, why):
    edited, count = re.subn(before, after, plan(program), count=1)
    assert count == 1
    said = fail("-", "-o", tmp_path / "a.alula", status=1, input=edited.encode(), cwd=tmp_path)
    assert why in said
    # It is the plan's fault, and not the compiler's.
    assert not list(tmp_path.glob("alula-compile-crash-*"))
