"""Programs as C99: what compilers say of the text, and what it computes (check E11)."""

import json
import re
import subprocess

import numpy as np
import pytest
from standalone_models import MODELS
from standalone_programs import (
    BUILD,
    HOSTED,
    START,
    compile_static,
    find_tool,
    make_inputs,
    read_lines,
    run_artifact,
    sh,
    write_program,
)
from test_small_machines import SMALL, compare

# What computes the same: each operation rounded by itself.
SAME = "cpu:x86-64-v2" + SMALL
STRICT = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror"]
UNDEFINED = ["-fsanitize=undefined", "-fno-sanitize-recover=all"]
COMPILERS = {
    "gcc": ["gcc", *STRICT, "-O2"],
    "gcc-fused": ["gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O3", "-mfma", "-mavx2"],
    "gcc-undefined": ["gcc", *STRICT, "-O1", *UNDEFINED],
    "clang": ["clang-19", *STRICT, "-O2"],
    "clang-fused": ["clang-19", *STRICT, "-O3", "-march=x86-64-v3"],
    "clang-undefined": ["clang-19", *STRICT, "-O1", *UNDEFINED],
    "tcc": ["tcc", "-std=c99", "-Wall", "-Werror"],
}


@pytest.fixture(params=MODELS, scope="module")
def written(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    manifest = compile_static(folder, request.param, target="cpu:c99", form="c")
    inputs = make_inputs(request.param)
    return request.param, folder, manifest, run_artifact(folder, request.param, inputs, target=SAME)


def build_and_run(folder, manifest, inputs, compiler):
    if not find_tool(compiler[0]):
        pytest.skip(f"{compiler[0]} is not installed")
    name = manifest["prefix"]
    sh(*compiler, "-c", folder / f"{name}.c", "-o", folder / f"{name}.o")
    program = write_program(folder, manifest, inputs, HOSTED)
    flags = [flag for flag in compiler[1:] if flag.startswith("-fsanitize")]
    sh(
        compiler[0], "-std=c11", "-O1", *flags, program, folder / f"{name}.o",
        "-o", folder / name, *(["-lm"] if manifest["undefined"] else []),
    )  # fmt: skip
    return read_lines(sh(folder / name))


def check(got, want, model):
    # Vectors sum a row of a softmax in another order.
    if model != "softmax":
        assert got == want
    for a, b in zip(got, want, strict=True):
        compare(a, b, model)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_e11_numbers_of_each_compiler(written, compiler):
    model, folder, manifest, want = written
    check(build_and_run(folder, manifest, make_inputs(model), COMPILERS[compiler]), want, model)


# Pointers of 32 bits on this machine, without a C library; of x87's registers nothing is asked.
BITS_32 = [
    "-m32",
    "-msse2",
    "-mfpmath=sse",
    "-O2",
    "-ffreestanding",
    "-nostdlib",
    "-static",
    "-fno-pie",
]


# What compilers ask of every system.
MEMORY = r"""
void *memmove(void *to, const void *from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes) {
  volatile unsigned char *d = to;
  const volatile unsigned char *s = from;
  for (size_t i = 0; i < bytes; ++i) {
    size_t at = d < s ? i : bytes - 1 - i;
    d[at] = s[at];
  }
  return to;
}
void *memcpy(void *to, const void *from, size_t bytes);
void *memcpy(void *to, const void *from, size_t bytes) { return memmove(to, from, bytes); }
void *memset(void *to, int value, size_t bytes);
void *memset(void *to, int value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) ((volatile unsigned char *)to)[i] = (unsigned char)value;
  return to;
}
"""


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_e11_m32(written, compiler):
    model, folder, manifest, want = written
    if not find_tool(compiler):
        pytest.skip(f"{compiler} is not installed")
    if manifest["undefined"]:
        pytest.skip("calls a C library, of which there is none with 32 bits")
    source = write_program(folder, manifest, make_inputs(model), START["i386"] + MEMORY)
    program = folder / f"{model}_32"
    sh(
        compiler,
        "-std=gnu11",
        *BITS_32,
        "-Wall",
        "-Werror",
        source,
        folder / f"{model}.c",
        "-o",
        program,
    )
    assert "ELF32" in sh("readelf", "-h", program)
    try:
        said = sh(program)
    except OSError:
        pytest.skip("this system runs no programs of 32 bits")
    check(read_lines(said), want, model)


@pytest.mark.parametrize("model", MODELS)
def test_e11_numbers_of_static(model, tmp_path):
    for tool in ("gcc", "clang-19", "qemu-arm"):
        if not find_tool(tool):
            pytest.skip(f"{tool} is not installed")
    # Cortex-M3's floats are functions, each rounded by itself.
    manifest = compile_static(tmp_path, model, target="cpu:thumbv7m")
    inputs = make_inputs(model)
    source = write_program(tmp_path, manifest, inputs, START["arm"])
    sh(
        "clang-19", "--target=thumbv7m-none-eabi", "-mcpu=cortex-m3", "-std=c11", "-O1",
        "-ffreestanding", "-fno-builtin", "-fomit-frame-pointer", "-nostdlib", "-static",
        "-fuse-ld=lld", source, tmp_path / f"{model}.a", "-o", tmp_path / "small",
    )  # fmt: skip
    want = read_lines(sh("qemu-arm", tmp_path / "small"))
    manifest = compile_static(tmp_path, model, target="cpu:c99", form="c")
    assert build_and_run(tmp_path, manifest, inputs, COMPILERS["gcc"]) == want


def test_e11_manifest_and_names(written):
    model, folder, manifest, _ = written
    assert manifest["machine"] == "any machine" and manifest["triple"] == ""
    assert manifest["undefined"] == []
    sh(
        "gcc",
        "-std=c99",
        "-O1",
        "-ffreestanding",
        "-c",
        folder / f"{model}.c",
        "-o",
        folder / "n.o",
    )
    seen = sh("nm", "-g", "--defined-only", folder / "n.o").split()[2::3]
    assert seen and all(name.startswith(f"{model}_") for name in seen)


@pytest.mark.parametrize(
    "start, emulator, flags",
    [
        ("riscv", "qemu-riscv32", ["--target=riscv32-unknown-elf", "-march=rv32imafc", "-mabi=ilp32f"]),
        ("aarch64", "qemu-aarch64", ["--target=aarch64-none-elf"]),
    ],
    ids=["32 bits", "fused"],
)  # fmt: skip
@pytest.mark.parametrize("model", ["dense", "softmax", "lstm", "conv"])
def test_e11_other_machines(model, start, emulator, flags, tmp_path):
    for tool in ("clang-19", emulator):
        if not find_tool(tool):
            pytest.skip(f"{tool} is not installed")
    manifest = compile_static(tmp_path, model, target="cpu:c99", form="c")
    inputs = make_inputs(model)
    source = write_program(tmp_path, manifest, inputs, START[start])
    sh(
        "clang-19", *flags, "-std=c11", "-O2", "-ffreestanding", "-fno-builtin", "-nostdlib",
        "-static", "-fuse-ld=lld", source, tmp_path / f"{model}.c", "-o", tmp_path / "program",
    )  # fmt: skip
    got = read_lines(sh(emulator, tmp_path / "program"))
    check(got, run_artifact(tmp_path, model, inputs, target=SAME), model)


def test_same_bytes(tmp_path):
    texts = []
    for place in ("a", "b"):
        (tmp_path / place).mkdir()
        compile_static(tmp_path / place, "lstm", target="cpu:c99", form="c")
        texts.append((tmp_path / place / "lstm.c").read_bytes())
    assert texts[0] == texts[1]


# A function of each kind, of types that C has no words for, and a routine of the library.
FAMILIES = {
    "functions": (
        "tensor<64xf32>",
        """
    %0 = stablehlo.tanh %x : T
    %1 = stablehlo.sine %0 : T
    %2 = stablehlo.log_plus_one %1 : T
    %3 = stablehlo.cbrt %2 : T
    %4 = stablehlo.floor %3 : T
    %5 = stablehlo.power %x, %x : T
    %6 = stablehlo.atan2 %5, %3 : T
    %7 = stablehlo.add %6, %4 : T
    %8 = stablehlo.sqrt %7 : T
    %9 = stablehlo.remainder %8, %x : T
    return %9 : T""",
    ),
    "halves": (
        "tensor<64xf16>",
        """
    %0 = stablehlo.exponential %x : T
    %1 = stablehlo.divide %0, %x : T
    %2 = stablehlo.maximum %1, %x : T
    %3 = stablehlo.convert %2 : (T) -> tensor<64xbf16>
    %4 = stablehlo.multiply %3, %3 : tensor<64xbf16>
    %5 = stablehlo.convert %4 : (tensor<64xbf16>) -> T
    return %5 : T""",
    ),
    "doubles": (
        "tensor<64xf64>",
        """
    %0 = stablehlo.sine %x : T
    %1 = stablehlo.exponential %0 : T
    %2 = stablehlo.log %1 : T
    %3 = stablehlo.round_nearest_even %x : T
    %4 = stablehlo.subtract %2, %3 : T
    return %4 : T""",
    ),
    "integers": (
        "tensor<64xi64>",
        """
    %0 = stablehlo.multiply %x, %x : T
    %1 = stablehlo.popcnt %0 : T
    %2 = stablehlo.count_leading_zeros %x : T
    %3 = stablehlo.shift_right_arithmetic %x, %1 : T
    %4 = stablehlo.remainder %x, %2 : T
    %5 = stablehlo.divide %3, %1 : T
    %6 = stablehlo.xor %4, %5 : T
    return %6 : T""",
    ),
    "sort": (
        "tensor<64xf32>",
        """
    %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (T) -> T
    return %0 : T""",
    ),
    "ragged_dot": (
        "tensor<40x8xf32>",
        """
    %g = stablehlo.constant dense<[9, 0, 17, 8]> : tensor<4xi32>
    %w = stablehlo.reshape %x : (T) -> tensor<4x8x10xf32>
    %0 = "chlo.ragged_dot"(%x, %w, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1],
      rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}>
      : (T, tensor<4x8x10xf32>, tensor<4xi32>) -> tensor<40x10xf32>
    %1 = stablehlo.slice %0 [0:40, 0:8] : (tensor<40x10xf32>) -> T
    return %1 : T""",
    ),
    "cholesky": (
        "tensor<8x8xf32>",
        """
    %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (T, T) -> T
    %1 = stablehlo.cholesky %0, lower = true : T
    return %1 : T""",
    ),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_families_of_operations(family, tmp_path):
    kind, body = FAMILIES[family]
    text = re.sub(r"\bT\b", kind, f"func.func @main(%x: T) -> T {{{body}\n}}\n")
    dtype = {"f32": np.float32, "f16": np.float16, "f64": np.float64, "i64": np.int64}[
        kind.strip(">").split("x")[-1]
    ]
    random = np.random.RandomState(7)
    shape = tuple(map(int, kind[7:-1].split("x")[:-1]))
    values = random.uniform(-9, 9, (2, *shape))
    inputs = list(values.astype(dtype) if dtype != np.int64 else (values * 1e9).astype(dtype))
    manifest = compile_static(tmp_path, family, target="cpu:c99", form="c", text=text)
    got = build_and_run(tmp_path, manifest, inputs, COMPILERS["gcc-undefined"])
    want = run_artifact(tmp_path, family, inputs, target=SAME, text=text)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(np.frombuffer(a, dtype), np.frombuffer(b, dtype))


@pytest.mark.parametrize(
    "flags, message",
    [
        (
            ["--emit=c", "--target=cpu:x86-64-v3"],
            "--emit=c: is for whatever the C compiler makes code for: --target=cpu:c99",
        ),
        (["--emit=static", "--target=cpu:c99"], "there is no machine code for cpu:c99, only --emit=c"),
        (["--target=cpu:c99"], "there is no runtime for cpu:c99, only --emit=c"),
        (["--emit=rust"], "'artifact', 'static', 'c' or 'blob'"),
        (["--emit=c", "--externalize-constants=w"], "not with --emit=c"),
    ],
)  # fmt: skip
def test_wrong_flags(flags, message, tmp_path):
    source = tmp_path / "dense.mlir"
    source.write_text(MODELS["dense"])
    result = subprocess.run(
        [BUILD / "bin/alula-compile", source, "-o", tmp_path / "x", *flags],
        capture_output=True,
        text=True,
    )
    assert result.returncode in (1, 2) and message in result.stderr, result.stderr
    assert not (tmp_path / "x.c").exists()


def test_without_a_target_it_is_for_any_machine(tmp_path):
    source = tmp_path / "dense.mlir"
    source.write_text(MODELS["dense"])
    sh(BUILD / "bin/alula-compile", source, "--emit=c", "-o", tmp_path / "dense")
    assert json.loads((tmp_path / "dense.json").read_text())["machine"] == "any machine"
