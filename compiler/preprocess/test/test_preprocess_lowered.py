"""H19 and H20: tools that choose the grid, and tools that lower the body."""

import re
import subprocess

import numpy as np
import pytest
from preprocess_runs import drop_locations, fail, run, step, succeed, write_filter
from support.tool_runs import BIN, ROOT

# The body of `(a + b) * b` in LLVM's dialect: 64 numbers for each workgroup. `SIZE` is how it
# comes to know how many there are.
BODY = """
llvm.func @main_0(%args: !llvm.ptr, %x: i32, %y: i32, %z: i32) -> i32 {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c1 = llvm.mlir.constant(1 : i64) : i64
  %c64 = llvm.mlir.constant(64 : i64) : i64
SIZE
  %where = llvm.getelementptr %args[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %list = llvm.load %where : !llvm.ptr -> !llvm.ptr
  %a = llvm.load %list : !llvm.ptr -> !llvm.ptr
  %list1 = llvm.getelementptr %list[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %b = llvm.load %list1 : !llvm.ptr -> !llvm.ptr
  %list2 = llvm.getelementptr %list[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %c = llvm.load %list2 : !llvm.ptr -> !llvm.ptr
  %group = llvm.zext %x : i32 to i64
  %first = llvm.mul %group, %c64 : i64
  %last = llvm.add %first, %c64 : i64
  %end = llvm.intr.smin(%last, %n) : (i64, i64) -> i64
  llvm.br ^head(%first : i64)
^head(%i: i64):
  %more = llvm.icmp "slt" %i, %end : i64
  llvm.cond_br %more, ^body, ^exit
^body:
  %pa = llvm.getelementptr %a[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %pb = llvm.getelementptr %b[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %pc = llvm.getelementptr %c[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %va = llvm.load %pa : !llvm.ptr -> f32
  %vb = llvm.load %pb : !llvm.ptr -> f32
  %sum = llvm.fadd %va, %vb : f32
  %product = llvm.fmul %sum, %vb : f32
  llvm.store %product, %pc : f32, !llvm.ptr
  %next = llvm.add %i, %c1 : i64
  llvm.br ^head(%next : i64)
^exit:
  llvm.return %c0 : i32
}
"""
STATIC = BODY.replace("SIZE", "  %n = llvm.mlir.constant(NUMBER : i64) : i64")
DYNAMIC = BODY.replace(
    "SIZE",
    """  %sizes = llvm.getelementptr %args[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %size = llvm.load %sizes : !llvm.ptr -> !llvm.ptr
  %n = llvm.load %size : !llvm.ptr -> i64""",
)
# Replaces the function of the kernel, and adds to the entry.
LOWER = """
begin = text.index("builtin.module {{")
end = text.rindex("}}", 0, text.rindex("}}", 0, text.rindex("}}")))
text = re.sub(r"scratch 0", "scratch 0 {{{attributes}}}", text[:begin])
text += '''builtin.module {{ {body} }} }} }}'''
"""
GRID = """
func.func private @grid({constants}) -> (index, index, index) {{
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  {n}
  %count = arith.ceildivsi %n, %c64 : index
  return %count, %c1, %c1 : index, index, index
}}
"""


def lower(folder, body, attributes):
    text = LOWER.format(body=body.replace("\\", "\\\\"), attributes=attributes)
    return write_filter(folder, "text = re.sub(r' loc\\(#loc\\w*\\)|\\n#loc.*', '', text)\n" + text)


def write_sum(folder, size):
    type = f"tensor<{size}xf32>"
    path = folder / "sum.mlir"
    path.write_text(
        f"func.func @main(%a: {type}, %b: {type}) -> {type} {{\n"
        f"  %0 = stablehlo.add %a, %b : {type}\n"
        f"  %1 = stablehlo.multiply %0, %b : {type}\n  return %1 : {type}\n}}\n"
    )
    return path


def inspect(artifact):
    return subprocess.run(
        [BIN / "alula-inspect", artifact], capture_output=True, text=True, check=True
    ).stdout


def check_numbers(folder, artifact, size):
    """The artifact's numbers are NumPy's."""
    rng = np.random.default_rng(5)
    a, b = (rng.standard_normal(size).astype(np.float32) for _ in range(2))
    np.save(folder / "a.npy", a)
    np.save(folder / "b.npy", b)
    subprocess.run(
        [BIN / "alula-run", artifact, f"--input=@{folder}/a.npy", f"--input=@{folder}/b.npy"]
        + [f"--output={folder}/c.npy", "--threads=2"],
        check=True,
        timeout=2000,
    )
    np.testing.assert_array_equal(np.load(folder / "c.npy"), (a + b) * b)


def test_h19_grid_of_tensors(tmp_path):
    """The body is as it was, and shared among as many workgroups as the tool says."""
    program, artifact = write_sum(tmp_path, 250), tmp_path / "out"
    grid = "scratch 0 {workgroup_size = array<i64: 64, 1, 1>}"
    tool = write_filter(
        tmp_path,
        f"text = text.replace('workgroups [1, 1, 1]', 'workgroups [4, 1, 1]').replace('scratch 0', '{grid}')",
    )
    text = succeed(program, step(tool), until="kernel")
    assert "workgroups [4, 1, 1]" in text and "pinned" in text
    # Ours would not share so few numbers at all.
    assert "workgroups [1, 1, 1]" in succeed(program, until="kernel")
    succeed(program, step(tool), "-o", artifact, until=None)
    shown = inspect(artifact)
    assert "kernel.main_0.workgroup_size" in shown and '"64,1,1"' in shown
    check_numbers(tmp_path, artifact, 250)


@pytest.mark.parametrize("size", [250, 256, 64, 1])
def test_h19_grid_that_the_host_computes(tmp_path, size):
    """Count ceil(n / 64), size 64; n is known, so the grid is."""
    program, artifact = write_sum(tmp_path, size), tmp_path / "out"
    body = STATIC.replace("NUMBER", str(size)) + GRID.format(
        constants="", n=f"%n = arith.constant {size} : index"
    )
    attributes = "workgroup_count = @grid, workgroup_size = array<i64: 64, 1, 1>"
    tool = lower(tmp_path, body, attributes)
    text = succeed(program, step(tool))
    assert f"workgroups [{-(-size // 64)}, 1, 1]" in text and "@grid" not in text
    succeed(program, step(tool), "-o", artifact, until=None)
    assert '"64,1,1"' in inspect(artifact)
    check_numbers(tmp_path, artifact, size)


def test_h19_grid_of_each_call(tmp_path):
    """The host finds n, and with it the grid, at every call."""
    program, artifact = write_sum(tmp_path, "?"), tmp_path / "out"
    count = int(re.search(r"constants (\d+)", succeed(program)).group(1))
    constants = ", ".join(f"%s{i}: index" for i in range(count))
    grid = GRID.format(constants=constants, n="%n = arith.addi %s0, %zero : index")
    grid = grid.replace("%c64 =", "%zero = arith.constant 0 : index\n  %c64 =")
    attributes = "workgroup_count = @grid, workgroup_size = array<i64: 64, 1, 1>"
    tool = lower(tmp_path, DYNAMIC + grid, attributes)
    text = succeed(program, step(tool))
    assert "workgroups(%" in text and "arith.ceildivsi" in text
    succeed(program, step(tool), "-o", artifact, until=None)
    for size in (1, 64, 65, 1000):
        check_numbers(tmp_path, artifact, size)
    # Nothing to do is no error.
    check_numbers(tmp_path, artifact, 0)


def test_constants_that_a_tool_adds(tmp_path):
    """Half of n is computed on the host, and read by the kernel as one more constant."""
    program, artifact = write_sum(tmp_path, "?"), tmp_path / "out"
    count = int(re.search(r"constants (\d+)", succeed(program)).group(1))
    constants = ", ".join(f"%s{i}: index" for i in range(count))
    added = f"""
func.func private @added({constants}) -> index {{
  %c2 = arith.constant 2 : index
  %double = arith.muli %s0, %c2 : index
  return %double : index
}}
"""
    grid = GRID.format(constants=constants, n="%n = arith.maxsi %s0, %c1 : index")
    body = DYNAMIC.replace(
        "  %n = llvm.load %size : !llvm.ptr -> i64",
        f"""  %last_size = llvm.getelementptr %size[{8 * count}] : (!llvm.ptr) -> !llvm.ptr, i8
  %double = llvm.load %last_size : !llvm.ptr -> i64
  %n = llvm.ashr %double, %c1 : i64""",
    )
    attributes = "workgroup_count = @grid, added_constants = @added"
    tool = lower(tmp_path, body + grid + added, attributes)
    assert f"constants {count + 1}" in succeed(program, step(tool))
    succeed(program, step(tool), "-o", artifact, until=None)
    for size in (3, 200):
        check_numbers(tmp_path, artifact, size)


def test_h20_body_in_llvm(tmp_path):
    """Nobody touches it until it is machine code."""
    program, artifact = write_sum(tmp_path, 50), tmp_path / "out"
    tool = lower(tmp_path, STATIC.replace("NUMBER", "50"), "")
    before = succeed(program, step(tool))
    after = succeed(program, step(tool), until="kernel")
    body = re.compile(r"llvm\.func @main_0.*?llvm\.return", re.DOTALL)
    assert body.search(after).group() == body.search(before).group()
    succeed(program, step(tool), "-o", artifact, until=None)
    check_numbers(tmp_path, artifact, 50)
    log = run(program, step(tool), "--print-stage-log", "-o", artifact, until=None).stderr.decode()
    stages = re.findall(r"^stage (\w+)$", log, re.MULTILINE)
    assert stages == "input optimize partition dispatch plan kernel schedule target emit".split()
    why = "skipped: its body is in LLVM's dialect already"
    for stage, work in (
        ("kernel", "conversion to loops"),
        ("target", "lowering to LLVM's dialect"),
    ):
        assert f"stage {stage}\n  @main_0: {work} {why}\n" in log
    assert "skipped" not in run(program, "--print-stage-log", until="target").stderr.decode()


def test_h20_body_in_loops(tmp_path):
    """Our own lowering as somebody else's pipeline: the rest is done as ever."""
    program, artifact = write_sum(tmp_path, 5000), tmp_path / "out"
    pipeline = step("builtin.module(dispatch.executable(kernel-convert-stablehlo-to-loops))")
    text = succeed(program, pipeline)
    assert "scf.parallel" in text and "stablehlo.add" not in text
    succeed(program, pipeline, "-o", artifact, until=None)
    check_numbers(tmp_path, artifact, 5000)
    by_tool = succeed(
        program,
        step(
            "alula-opt --pass-pipeline=builtin.module(dispatch.executable(kernel-convert-stablehlo-to-loops))"
        ),
    )
    assert drop_locations(by_tool) == drop_locations(text)


@pytest.mark.parametrize(
    "body, attributes, text",
    [
        ("", "workgroup_count = @none", "must not use what is outside of it: uses @none"),
        (
            "func.func private @grid() -> (index, index, index)",
            "workgroup_count = @grid",
            "must name a function with a body: names @grid",
        ),
        (
            "func.func private @grid() -> (i32, i32, i32) { %c = arith.constant 1 : i32\n"
            "return %c, %c, %c : i32, i32, i32 }",
            "workgroup_count = @grid",
            "must take 0 index and return 3 index: is () -> (i32, i32, i32)",
        ),
        (
            "func.func private @grid() -> (index, index, index) { %c = arith.constant 0 : index\n"
            "return %c, %c, %c : index, index, index }",
            "workgroup_count = @grid",
            "must be from 1 to 4294967295: was array<i64: 1, 1, 1>, is [0, 0, 0]",
        ),
        (
            "func.func private @grid() -> (index, index, index) { %c = arith.constant 1 : index\n"
            "%f = arith.constant 1.0 : f32\nreturn %c, %c, %c : index, index, index }",
            "workgroup_count = @grid",
            "must be arithmetic of integers, which the host can do: has arith.constant",
        ),
        (
            "func.func private @grid() -> (index, index, index) { %c = arith.constant 1 : index\n"
            "cf.br ^bb1\n^bb1:\nreturn %c, %c, %c : index, index, index }",
            "workgroup_count = @grid",
            "must have one block: has 2",
        ),
        (
            "",
            "workgroup_size = array<i64: 64, 0, 1>",
            "must be three sizes from 1: was none, is array<i64: 64, 0, 1>",
        ),
        ("llvm.func @f()", "", "must be of the kernel library or in objects"),
        (
            "func.func private @h(%a: f32) -> f32 { return %a : f32 }",
            "",
            "must be in it too: @h is a func.func",
        ),
    ],
)
def test_h18_grid(tmp_path, temporary, body, attributes, text):
    tool = lower(tmp_path, STATIC.replace("NUMBER", "50") + body, attributes)
    program = write_sum(tmp_path, 50)
    assert text in fail(program, "pre-contract", step(tool), temporary=temporary)


def test_h18_kernel_convention(tmp_path, temporary):
    program = write_sum(tmp_path, 50)
    tool = lower(tmp_path, STATIC.replace("NUMBER", "50").replace("%z: i32", "%z: i64"), "")
    said = fail(program, "pre-contract", step(tool), temporary=temporary)
    assert "must be external and have the kernel's convention" in said


@pytest.mark.parametrize(
    "change, text",
    [
        ("'[1, 1, 1]', '[4, 2, 1]'", "shared along one dimension: the grid of entry @main_0 was"),
        (
            "'scratch 0', 'scratch 0 {workgroup_count = @grid}').replace("
            "'builtin.module {', 'builtin.module { func.func private @grid() -> (index, index, index)"
            " { %c = arith.constant 1 : index return %c, %c, %c : index, index, index }'",
            "needs a function that asks for its workgroup",
        ),
    ],
)
def test_h18_grid_of_tensors(tmp_path, temporary, change, text):
    tool = write_filter(tmp_path, f"text = text.replace({change})")
    said = fail(write_sum(tmp_path, 50), "pre-contract", step(tool), temporary=temporary)
    assert text in said


def test_h18_grid_that_can_not_be(tmp_path):
    """A running sum has one order."""
    program = tmp_path / "sum.mlir"
    program.write_text("""func.func @main(%a: tensor<4096xf32>) -> tensor<f32> {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%a init: %0) applies stablehlo.add across dimensions = [0] : (tensor<4096xf32>, tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}""")
    tool = write_filter(tmp_path, "text = text.replace('[1, 1, 1]', '[4, 1, 1]')")
    result = run(program, step(tool), until="kernel")
    assert result.returncode == 1
    assert b"a kernel that can't be shared must have a grid of 1: @main_0 has 4" in result.stderr
    assert b"how to see this again" not in result.stderr


def test_h18_block_on_cuda(tmp_path, temporary):
    program = write_sum(tmp_path, 50)
    tool = write_filter(
        tmp_path,
        "text = text.replace('scratch 0', 'scratch 0 {workgroup_size = array<i64: 2048, 1, 1>}')",
    )
    target = "--target=cuda:sm_80"
    said = fail(program, "pre-contract", step(tool), target, temporary=temporary)
    assert "must be at most 1024 in all: was none, is [2048, 1, 1]" in said
    result = run(program, step(tool), target, "--preprocess-check=warn")
    assert b"warning: [pre-contract] @main_0, step 1" in result.stderr
    assert b"error: [pre-contract]" not in result.stderr
    succeed(program, step(tool))


def test_h18_write_to_what_is_read(tmp_path, temporary):
    """A body in loops that stores to its first input."""
    program = write_sum(tmp_path, 50)
    loops = "alula-opt --pass-pipeline=builtin.module(dispatch.executable(kernel-convert-stablehlo-to-loops))"
    tool = write_filter(
        tmp_path,
        "text = re.sub(r'(memref.store %\\w+, )%(\\w+)\\[', r'\\1%A[', text)\n"
        "text = text.replace('%A[', '%' + re.search(r'%(\\w+) = memref.reinterpret_cast %arg0', text).group(1) + '[')",
    )
    said = fail(program, "pre-contract", step(loops), step(tool), temporary=temporary)
    assert "binding 0 of entry @main_0 is only read: memref.store writes to it" in said


KERNEL = """#include <stdint.h>
#include "alula/kernel_abi.h"

int32_t sum(const alula_kernel_args *args, uint32_t x, uint32_t y, uint32_t z) {
  const float *a = args->bindings[0], *b = args->bindings[1];
  float *c = args->bindings[2];
  uint64_t n = args->binding_bytes[2] / 4;
  for (uint64_t i = 64 * (uint64_t)x; i < n && i < 64 * ((uint64_t)x + 1); ++i)
    c[i] = (a[i] + b[i]) * b[i];
  return y + z;
}
"""


def write_object(folder, text=KERNEL):
    (folder / "sum.c").write_text(text)
    subprocess.run(
        ["clang-19", "-O1", "-ffp-contract=off", "-fPIC", "-ffreestanding", "-c"]
        + [f"-I{ROOT}/include", "sum.c", "-o", "sum.o"],
        cwd=folder,
        check=True,
    )
    return folder / "sum.o"


@pytest.mark.parametrize("hasBody", [True, False])
def test_objects_of_a_tool(tmp_path, hasBody):
    """An object with or instead of the body; the grid is the tool's too."""
    program, artifact, file = write_sum(tmp_path, 250), tmp_path / "out", write_object(tmp_path)
    object = f'#dispatch.object<entry = \\"sum\\", path = \\"{file}\\">'
    drop = "" if hasBody else "text = text[:text.index('builtin.module {')] + '} }'\n"
    tool = write_filter(
        tmp_path,
        "text = re.sub(r' loc\\(#loc\\w*\\)|\\n#loc.*|\\n *loc\\(#loc\\w*\\)', '', text)\n"
        + drop
        + f"text = text.replace('executable @main_0', 'executable @main_0 attributes {{objects = [{object}]}}')\n"
        "text = text.replace('[1, 1, 1]', '[4, 1, 1]')",
    )
    succeed(program, step(tool), "-o", artifact, until=None)
    assert "sum.o" in inspect(artifact)
    check_numbers(tmp_path, artifact, 250)


def test_no_body_and_no_objects(tmp_path, temporary):
    program = write_sum(tmp_path, 250)
    tool = write_filter(tmp_path, "text = re.sub(r'(?s)func.func.*', '} } }', text)")
    said = fail(program, "pre-contract", step(tool), temporary=temporary)
    assert "the function of entry @main_0 must keep its type: was (" in said and "is none" in said


def test_objects_with_a_grid_of_each_call(tmp_path):
    program, artifact, file = write_sum(tmp_path, "?"), tmp_path / "out", write_object(tmp_path)
    count = int(re.search(r"constants (\d+)", succeed(program)).group(1))
    constants = ", ".join(f"%s{i}: index" for i in range(count))
    tool = lower(
        tmp_path,
        GRID.format(constants=constants, n="%n = arith.maxsi %s0, %c1 : index"),
        "workgroup_count = @grid",
    )
    object = f'#dispatch.object<entry = "sum", path = "{file}">'
    attach = write_filter(
        tmp_path,
        f"name = 'executable @main_0'\ntext = text.replace(name, name + ''' attributes {{objects = [{object}]}}''')",
        "attach",
    )
    succeed(program, step(f"sh -c '{attach} | {tool}'"), "-o", artifact, until=None)
    for size in (1, 65, 1000):
        check_numbers(tmp_path, artifact, size)


def test_grid_of_a_file(tmp_path):
    """Who substitutes an executable by a file may choose its grid as a tool may."""
    program, artifact = write_sum(tmp_path, 250), tmp_path / "out"
    folder = tmp_path / "sources"
    succeed(program, f"--dump-executable-sources-to={folder}")
    (file,) = folder.glob("*main_0.source.mlir")
    file.write_text(file.read_text().replace("workgroups [1, 1, 1]", "workgroups [4, 1, 1]"))
    flag = f"--substitute-executable-source=main_0={file}"
    assert "workgroups [4, 1, 1] scratch 0 {pinned}" in succeed(program, flag, until="kernel")
    succeed(program, flag, "-o", artifact, until=None)
    check_numbers(tmp_path, artifact, 250)
