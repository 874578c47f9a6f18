"""PTX: B3, B4, B5."""

import hashlib
from pathlib import Path

import pytest
from object_runs import (
    BYO,
    CUDA,
    PTXAS,
    TOOL,
    call,
    compile,
    fail,
    inspect,
    objects_tool,
    run,
    substitute,
    succeed,
    write_product,
    write_ptx,
    write_two,
)
from support import cuda_image
from support.tool_runs import BIN


def test_b03_ptx_beside_generated_kernels(tmp_path):
    """One image has both; what was brought is as it came."""
    two = write_two(tmp_path)
    ptx = write_ptx(tmp_path)
    flag = substitute(f"{ptx},entry=simple_mul", "first_0")
    compile(two, flag, folder=tmp_path, target=CUDA)
    image = cuda_image.read(
        succeed(BIN / "alula-inspect", "out.alula", "--extract=cuda:sm_90", folder=tmp_path)
    )
    [[brought], [ours]] = image.kernels
    assert image.modules[brought.module][0].text == ptx.read_text()
    assert brought.entry == "simple_mul" and brought.block == (64, 1, 1)
    assert f".entry {ours.entry}(" in image.modules[ours.module][0].text
    [variant] = inspect("out.alula", folder=tmp_path)["variants"]
    assert variant["origins"]["second_1"] == "generated"
    assert variant["origins"]["first_0"].startswith("ptx kernels.ptx sha256:")


def test_b04_ptx_comes_out_as_it_went_in(tmp_path, product):
    artifact = tmp_path / "m.alula"
    compile(product, TOOL, f"--object-path={BYO / 'cuda'}", output=artifact, target=CUDA)
    text = succeed(BIN / "alula-inspect", artifact, "--extract=cuda:sm_90")
    digest = hashlib.sha256(text).hexdigest()
    assert digest == hashlib.sha256((BYO / "cuda/kernels.ptx").read_bytes()).hexdigest()
    [variant] = inspect(artifact)["variants"]
    origin = variant["origins"]["main_0"]
    assert variant["image"] == "ptx" and variant["features"] == ["sm_90"]
    assert origin.startswith(f"ptx kernels.ptx sha256:{digest} ")
    assert origin.endswith(" kernel simple_mul block 64,1,1")
    one = succeed(BIN / "alula-inspect", artifact, "--extract=cuda:sm_90", "--kernel=main_0")
    assert one == text
    result = run(BIN / "alula-run", artifact, "--input=8xf32=1", "--input=8xf32=1")
    assert b"no variant fits this machine: 'cuda:sm_90' needs cuda" in result.stderr
    if not PTXAS:
        pytest.skip("no ptxas: NVIDIA's toolkit and its wheel nvidia-cuda-nvcc have it")
    (tmp_path / "out.ptx").write_bytes(text)
    succeed(PTXAS, "-arch=sm_90", tmp_path / "out.ptx", "-o", tmp_path / "out.cubin")


PTX_ERRORS = {
    "missing_parameter": (
        lambda text: text.replace(",\n\t.param .u64 simple_mul_c", ""),
        "obj-ptx-parameters",
        "kernel 'simple_mul' must take 3 pointers and 0 numbers: takes 2 parameters",
    ),
    "swapped_order": (
        lambda text: text.replace(".param .u64 simple_mul_a", ".param .u32 simple_mul_a"),
        "obj-ptx-order",
        "parameter 0 of kernel 'simple_mul' must be a 64-bit pointer, pointers come first: is u32",
    ),
    "entry_name": (
        lambda text: text.replace(".entry simple_mul", ".entry other_mul"),
        "obj-entry",
        "has no kernel 'simple_mul': has other_mul",
    ),
    "newer_device": (
        lambda text: text.replace("sm_80", "sm_100"),
        "obj-ptx-target",
        "is for sm_100, which sm_90 can't run",
    ),
    "truncated": (
        lambda text: text[: text.index("st.global")],
        "obj-ptx-truncated",
        "is truncated: a bracket is not closed at its end",
    ),
    "address_size": (
        lambda text: text.replace("address_size 64", "address_size 32"),
        "obj-ptx-address",
        "must have .address_size 64: has 32",
    ),
    "no_block": (
        lambda text: text.replace(".reqntid 64, 1, 1", ""),
        "obj-ptx-block",
        "kernel 'simple_mul' must have .reqntid, as the executable has no workgroup_size",
    ),
    "large_block": (
        lambda text: text.replace(".reqntid 64, 1, 1", ".reqntid 64, 32, 1"),
        "obj-ptx-block",
        "blocks must have 1 to 1024 threads: kernel 'simple_mul' has 64 x 32 x 1",
    ),
    "extern": (
        lambda text: text.replace(".visible", ".extern .func (.param .b32 r) f ();\n.visible", 1),
        "obj-undefined",
        "calls what is not there: f",
    ),
    "not_ptx": (lambda text: "hello", "obj-container", "is for no target: is neither ELF nor"),
}


@pytest.mark.parametrize("case", PTX_ERRORS)
def test_b05_wrong_ptx(tmp_path, product, case):
    edit, tag, text = PTX_ERRORS[case]
    ptx = write_ptx(tmp_path, edit)
    said = fail(product, tag, substitute(f"{ptx},entry=simple_mul"), folder=tmp_path, target=CUDA)
    assert f"@main_0: 'kernels.ptx': {text}" in said


def test_b05_what_ptxas_refuses(tmp_path, product):
    if not PTXAS:
        pytest.skip("no ptxas: NVIDIA's toolkit and its wheel nvidia-cuda-nvcc have it")
    ptx = write_ptx(tmp_path, lambda text: text.replace("mul.f32", "mul.f33"))
    flag = substitute(f"{ptx},entry=simple_mul")
    path = f":{Path(PTXAS).parent}"
    result = run(BIN / "alula-compile", product, flag, CUDA, "-o", tmp_path / "o", path=path)
    assert result.returncode == 1
    assert b"[obj-ptxas] @main_0: 'kernels.ptx': is refused by ptxas: line 3" in result.stderr


def test_b05_blocks_must_agree(tmp_path, product):
    write_ptx(tmp_path, lambda text: text.replace(".reqntid 64", ".reqntid 32"))
    said = fail(product, "obj-ptx-block", TOOL, folder=tmp_path, target=CUDA)
    assert (
        "kernel 'simple_mul' has .reqntid 32 x 1 x 1, the executable asks for blocks of 64 x 1 x 1"
        in said
    )


def test_b05_newer_ptx_than_the_driver(tmp_path, product):
    ptx = write_ptx(tmp_path, lambda text: text.replace("version 7.0", "version 8.4"))
    flag = substitute(f"{ptx},entry=simple_mul")
    said = compile(product, flag, folder=tmp_path, target=CUDA)
    assert "warning: @main_0: 'kernels.ptx': .version 8.4 needs a driver" in said
    assert compile(product, flag, "--cuda-driver=12.4", folder=tmp_path, target=CUDA) == ""
    said = fail(
        product, "obj-ptx-version", flag, "--cuda-driver=12.3", folder=tmp_path, target=CUDA
    )
    assert "has .version 8.4, which a driver of CUDA 12.3 refuses" in said


def test_b05_the_same_text_is_there_once(tmp_path):
    two = write_two(tmp_path)
    ptx = write_ptx(tmp_path)
    flag = substitute(f"{ptx},entry=simple_mul", "first_0")
    both = [flag, substitute(f"{ptx},entry=simple_mul", "second_1")]
    compile(two, *both, folder=tmp_path, target=CUDA)
    text = succeed(BIN / "alula-inspect", "out.alula", "--extract=cuda:sm_90", folder=tmp_path)
    assert text == ptx.read_bytes()
    result = run(BIN / "alula-compile", two, "--target=cuda:fast", "-o", tmp_path / "o")
    assert b"a device of cuda must be named as in cuda:sm_80: is 'fast'" in result.stderr
    words = ["alula-inspect", tmp_path / "out.alula", "--extract=cuda:sm_90"]
    result = run(BIN / words[0], *words[1:], "--kernel=third")
    assert b"alula-inspect: error: there is no kernel 'third'" in result.stderr


def test_one_file_of_ptx(several, product):
    write_ptx(several)
    text = (several / "kernels.ptx").read_text()
    (several / "more.ptx").write_text(text.replace("simple_mul", "main_0"))
    tool = objects_tool(several, ("cuda", "kernels.ptx"), ("cuda", "more.ptx"))
    said = fail(product, "obj-many", tool, folder=several, target=CUDA)
    assert "one file must have all kernels for cuda:sm_90: 2 are given" in said
    tool = objects_tool(several, ("cuda", "k1.o"))
    said = fail(product, "obj-container", tool, folder=several, target=CUDA)
    assert "'k1.o': must be PTX: is an ELF object for x86_64" in said


def test_b03_without_a_device_ptx_lies_beside_our_code(tmp_path, product):
    """One file for both: the CPU runs our code."""
    ptx = write_ptx(tmp_path)
    flags = [substitute(f"{ptx},entry=simple_mul"), CUDA]
    compile(product, *flags, folder=tmp_path)
    programs = inspect("out.alula", folder=tmp_path)["programs"]
    variants = [variant for each in programs for variant in each["program"]["variants"]]
    origins = {variant["name"]: variant["origins"]["main_0"] for variant in variants}
    assert origins["x86-64-v3"] == "generated"
    assert origins["cuda:sm_90"].startswith("ptx kernels.ptx sha256:")
    got = call("out.alula", "8xf32=2", "8xf32=4", folder=tmp_path)
    assert got[-1] == "8xf32=" + ",".join(["8"] * 8)


def test_b05_numbers_follow_pointers(tmp_path):
    """Sizes that only the host knows are 32-bit parameters."""
    program = write_product(tmp_path, "?")
    numbers = "".join(f",\n\t.param .u32 n{i}" for i in range(3))
    declared = "\t.param .u64 simple_mul_c"
    ptx = write_ptx(tmp_path, lambda text: text.replace(declared, declared + numbers))
    compile(program, substitute(f"{ptx},entry=simple_mul"), folder=tmp_path, target=CUDA)
    ptx = write_ptx(
        tmp_path,
        lambda text: text.replace(declared, declared + numbers.replace("u32 n2", "u64 n2")),
    )
    flag = substitute(f"{ptx},entry=simple_mul")
    said = fail(program, "obj-ptx-order", flag, folder=tmp_path, target=CUDA)
    assert "parameter 5 of kernel 'simple_mul' must be a 32-bit number" in said
    ptx = write_ptx(
        tmp_path, lambda text: text.replace(declared, "\t.param .align 4 .b8 simple_mul_c[12]")
    )
    said = fail(write_product(tmp_path), "obj-ptx-order", flag, folder=tmp_path, target=CUDA)
    assert "parameter 2 of kernel 'simple_mul' must be a 64-bit pointer" in said
    assert said.count("is bytes")
