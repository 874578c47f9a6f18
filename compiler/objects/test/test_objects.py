"""Code of other compilers from outside, check by check: B1 to B14, and what is
wrong with objects, each with its own sentence."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[3]
BUILD = ROOT / os.environ.get("ALULA_BUILD", "build")
BIN = BUILD / "bin"
BYO = ROOT / "examples/byo"
CLANG = shutil.which("clang-19")
PTXAS = shutil.which("ptxas", path=f"{os.environ['PATH']}:/usr/local/cuda/bin")
V3 = "--target=cpu:x86-64-v3"

pytestmark = pytest.mark.skipif(not CLANG, reason="no clang-19 to compile objects with")


def run(*words, folder=None, path="", **options):
    environment = dict(os.environ, PATH=f"{BIN}:{os.environ['PATH']}{path}")
    return subprocess.run(
        [str(word) for word in words],
        capture_output=True,
        cwd=folder,
        env=environment,
        timeout=120,
        **options,
    )


def succeed(*words, **options):
    result = run(*words, **options)
    assert result.returncode == 0, result.stderr.decode(errors="replace")
    return result.stdout


def compile(program, *flags, output="out.alula", folder=None, target=V3):
    words = [BIN / "alula-compile", program, *flags, "-o", output]
    words += [target] if target else []
    result = run(*words, folder=folder)
    assert result.returncode == 0, result.stderr.decode(errors="replace")
    return result.stderr.decode()


def fail(program, tag, *flags, folder=None, target=V3, count=1, status=1):
    output = folder / "fails.alula"
    words = [BIN / "alula-compile", program, *flags, "-o", output]
    words += [target] if target else []
    result = run(*words, folder=folder)
    text = result.stderr.decode(errors="replace")
    assert result.returncode == status, text
    assert re.findall(r"error: \[([a-z-]+)\]", text) == [tag] * count, text
    assert not output.exists()
    return text


def call(artifact, *inputs, function="main", flags=(), runner=None, folder=None):
    words = [*(runner or [BIN / "alula-run"]), artifact, f"--function={function}", *flags]
    words += [f"--input={value}" for value in inputs]
    return succeed(*words, folder=folder).decode().splitlines()


def inspect(artifact, folder=None):
    return json.loads(succeed(BIN / "alula-inspect", artifact, "--json", folder=folder))


def build(folder, name, code, machine="x86_64", flags=()):
    source = folder / f"{name}.c"
    source.write_text(code)
    output = folder / f"{name}.o"
    common = ["-std=c99", "-O2", "-ffreestanding", "-fno-builtin", "-fPIC", "-fvisibility=hidden"]
    common += ["-fno-stack-protector", f"-I{ROOT / 'include'}", f"--target={machine}-none-elf"]
    succeed(CLANG, *common, *flags, "-c", source, "-o", output)
    return output


def build_bitcode(folder, name, code, machine="x86_64"):
    source = folder / f"{name}.c"
    source.write_text(code)
    output = folder / f"{name}.bc"
    flags = ["-std=c99", "-O2", "-ffreestanding", "-fno-builtin", "-emit-llvm"]
    succeed(
        CLANG, *flags, f"--target={machine}-unknown-linux-gnu", f"-I{ROOT / 'include'}", "-c",
        source, "-o", output,
    )  # fmt: skip
    return output


HEADER = '#include "alula/kernel_abi.h"\n'
SIGNATURE = "(const alula_kernel_args *args, uint32_t x, uint32_t y, uint32_t z)"


def kernel(body, name="main_0", before=""):
    """A kernel of one workgroup over f32: a, b and c are its bindings."""
    return f"""{HEADER}{before}
int32_t {name}{SIGNATURE} {{
  const float *a = args->bindings[0], *b = args->bindings[1];
  float *c = args->bindings[2];
  uint64_t n = args->binding_bytes[2] / sizeof(float);
  (void)a, (void)b, (void)x, (void)y, (void)z;
  for (uint64_t i = 0; i < n; ++i) {{ {body} }}
  return 0;
}}
"""


GOOD = kernel("c[i] = a[i] + 10 * b[i];")


def write_product(folder, size=8):
    path = folder / "mul.mlir"
    path.write_text((BYO / "mul.mlir").read_text().replace("8xf32", f"{size}xf32"))
    return path


def write_two(folder):
    """Two functions, so two kernels: first_0 and second_1."""
    path = folder / "two.mlir"
    functions = "\n".join(
        f"""func.func public @{name}(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {{
  %0 = stablehlo.{op} %a, %b : tensor<8xf32>
  return %0 : tensor<8xf32>
}}"""
        for name, op in [("first", "multiply"), ("second", "subtract")]
    )
    path.write_text(functions + "\n")
    return path


@pytest.fixture
def product(tmp_path):
    return write_product(tmp_path)


def substitute(file, name="main_0"):
    return f"--substitute-executable={name}={file}"


@pytest.fixture(scope="module")
def objects(tmp_path_factory):
    """mul.c for two machines."""
    folder = tmp_path_factory.mktemp("objects")
    succeed("sh", BYO / "build_objects.sh", folder)
    return folder


def byo(folder, objects, size):
    """The worked example for the CPU with so many numbers."""
    compile(
        write_product(folder, size),
        "--target=cpu:aarch64",
        f"--object-path={objects}",
        f"--preprocess-executables-with={sys.executable} {BYO / 'cpu/byo.py'}",
        output=folder / "byo.alula",
    )
    return folder / "byo.alula"


def save_inputs(folder, size):
    generator = np.random.default_rng(size)
    values = [generator.standard_normal(size).astype(np.float32) for _ in range(2)]
    for name, value in zip("ab", values):
        np.save(folder / f"{name}.npy", value)
    return values, [f"@{folder / name}.npy" for name in "ab"]


@pytest.mark.parametrize("size", [1, 63, 64, 65, 1000])
def test_b01_an_object_gives_what_our_code_gives(tmp_path, objects, size):
    values, inputs = save_inputs(tmp_path, size)
    artifact = byo(tmp_path, objects, size)
    call(artifact, *inputs, flags=[f"--output=@{tmp_path / 'theirs.npy'}"])
    compile(tmp_path / "mul.mlir", output=tmp_path / "ours.alula")
    call(tmp_path / "ours.alula", *inputs, flags=[f"--output=@{tmp_path / 'ours.npy'}"])
    theirs, ours = (tmp_path / name for name in ("theirs.npy", "ours.npy"))
    assert theirs.read_bytes() == ours.read_bytes()
    assert np.array_equal(np.load(theirs), values[0] * values[1])
    for variant in inspect(artifact)["variants"]:
        machine = variant["target"]
        digest = hashlib.sha256((objects / f"mul_{machine}.o").read_bytes()).hexdigest()
        assert variant["origins"]["main_0"].startswith(f"object mul_{machine}.o sha256:{digest} ")
        assert "byo.py" in variant["origins"]["main_0"]
    # One workgroup for 64 numbers.
    assert f"grid({-(-size // 64)}, 1, 1)" in json.dumps(inspect(artifact))


def test_b02_the_same_artifact_on_aarch64(tmp_path, objects):
    qemu = shutil.which("qemu-aarch64")
    runner = BUILD / "qemu-aarch64/bin/alula-run"
    if not qemu:
        pytest.skip("no qemu-aarch64: Debian's qemu-user has it")
    if not runner.exists():
        pytest.skip(
            "no alula-run for aarch64: runtime/conformance/test_other_machines.py builds it"
        )
    artifact = byo(tmp_path, objects, 65)
    _, inputs = save_inputs(tmp_path, 65)
    there = [qemu, "-L", "/usr/aarch64-linux-gnu", runner]
    for name, words in {"here": None, "there": there}.items():
        output = f"--output=@{tmp_path / name}.npy"
        call(artifact, *inputs, flags=[output], runner=words)
    assert (tmp_path / "here.npy").read_bytes() == (tmp_path / "there.npy").read_bytes()


def test_b03_ptx_beside_generated_kernels():
    pytest.skip("there is neither a code generator nor a driver for cuda yet")


def write_ptx(folder, edit=lambda text: text):
    path = folder / "kernels.ptx"
    path.write_text(edit((BYO / "cuda/kernels.ptx").read_text()))
    return path


CUDA = "--target=cuda:sm_90"
TOOL = f"--preprocess-executables-with={sys.executable} {BYO / 'cuda/byo_cuda.py'}"


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


def test_b05_each_executable_needs_ptx(tmp_path):
    two = write_two(tmp_path)
    ptx = write_ptx(tmp_path)
    flag = substitute(f"{ptx},entry=simple_mul", "first_0")
    said = fail(two, "obj-generator", flag, folder=tmp_path, target=CUDA)
    assert (
        "[obj-generator] there is no code generator for cuda:sm_90 yet: each executable must have PTX; "
        "these have none: second_1" in said
    )
    both = [flag, substitute(f"{ptx},entry=simple_mul", "second_1")]
    compile(two, *both, folder=tmp_path, target=CUDA)
    # The same text is there once.
    text = succeed(BIN / "alula-inspect", "out.alula", "--extract=cuda:sm_90", folder=tmp_path)
    assert text == ptx.read_bytes()
    result = run(BIN / "alula-compile", two, "--target=cuda:fast", "-o", tmp_path / "o")
    assert b"a device of cuda must be named as in cuda:sm_80: is 'fast'" in result.stderr
    words = ["alula-inspect", tmp_path / "out.alula", "--extract=cuda:sm_90"]
    result = run(BIN / words[0], *words[1:], "--kernel=third")
    assert b"alula-inspect: error: there is no kernel 'third'" in result.stderr


OBJECT_ERRORS = {
    "tls": (
        kernel("c[i] = ++counter;", before="static __thread int counter;"),
        "obj-tls",
        "has thread-local storage: .tbss, counter",
    ),
    "printf": (
        kernel(
            "c[i] = printf(0) + puts(0);", before="int printf(const char *, ...), puts(char *);"
        ),
        "obj-undefined",
        "calls what is not there: printf, puts",
    ),
    "bss": (
        kernel("c[i] = ++counter;", before="static int counter;"),
        "obj-state",
        "has memory that is written: .bss",
    ),
    "common": (
        kernel("c[i] = ++counter;", before="int counter __attribute__((common));"),
        "obj-state",
        "has memory that is written: counter",
    ),
    "constructor": (
        kernel(
            "c[i] = 0;",
            before='__attribute__((constructor)) static void f(void) { __asm__ volatile(""); }',
        ),
        "obj-constructor",
        "has constructors: .init_array",
    ),
    "ifunc": (
        kernel(
            "c[i] = f();",
            before="static int one(void) { return 1; } static void *choose(void) { return one; }\n"
            'int f(void) __attribute__((ifunc("choose")));',
        ),
        "obj-ifunc",
        "has functions that are resolved at load: f",
    ),
    "addresses": (
        kernel(
            "c[i] = *names[i % 2];",
            before='__attribute__((used)) static const char *const names[] = {"a", "b"};',
        ),
        "obj-relocation",
        "must be compiled with -fPIC: its addresses are absolute in .data.rel.ro",
    ),
    "entry": (
        kernel("c[i] = 0;", name="other"),
        "obj-entry",
        "has no function 'main_0', nor one that the body calls: has other",
    ),
    "static_entry": (
        kernel("c[i] = 0;").replace(
            "int32_t main_0", "__attribute__((used)) static int32_t main_0"
        ),
        "obj-entry",
        "has no function 'main_0', nor one that the body calls: has none",
    ),
}


@pytest.mark.parametrize("case", OBJECT_ERRORS)
def test_b06_wrong_objects(tmp_path, product, case):
    code, tag, text = OBJECT_ERRORS[case]
    file = build(tmp_path, case, code)
    said = fail(product, tag, substitute(file), folder=tmp_path)
    assert f"'{case}.o': {text}" in said


def test_b06_another_machine(tmp_path, product):
    file = build(tmp_path, "arm", GOOD, machine="aarch64")
    said = fail(product, "obj-target", substitute(file), folder=tmp_path)
    assert "@main_0: no object is for cpu:x86-64-v3: 'arm.o' is for cpu:aarch64" in said
    # Somebody says that it is, and it is not.
    said = fail(product, "obj-machine", attach(tmp_path, "arm.o", "cpu:x86_64"), folder=tmp_path)
    assert "'arm.o': must be an ELF object for x86_64: is an ELF object for aarch64" in said


def test_b06_all_that_is_wrong_is_said_at_once(tmp_path, product):
    before = "int printf(const char *, ...); static __thread int t; static int s;"
    file = build(tmp_path, "bad", kernel("c[i] = printf(0) + ++t + ++s;", before=before))
    result = run(BIN / "alula-compile", product, substitute(file), V3, "-o", tmp_path / "o")
    tags = re.findall(r"error: \[([a-z-]+)\]", result.stderr.decode())
    assert tags == ["obj-tls", "obj-state", "obj-undefined"]


def test_b06_absolute_code(tmp_path, product):
    before = 'extern const char text[]; const char text[] = "abc";'
    code = kernel("c[i] = (uint32_t)(uint64_t)(text + i);", before=before)
    flags = ["-fno-pic"]
    file = build(tmp_path, "absolute", code, flags=flags)
    said = fail(product, "obj-relocation", substitute(file), folder=tmp_path)
    assert "must be compiled with -fPIC: its addresses are absolute in .text" in said


@pytest.mark.parametrize(
    "name, content, tag, text",
    [
        ("empty.o", b"", "obj-empty", "is empty"),
        (
            "text.o",
            b"hello",
            "obj-container",
            "is for no target: is neither ELF nor bitcode nor PTX",
        ),
        ("lib.o", b"!<arch>\n", "obj-container", "is for no target: is a static library: its"),
        ("spirv.o", b"\x03\x02\x23\x07" * 9, "obj-container", "is for no target: is SPIR-V"),
        ("fat.o", b"\x50\xed\x55\xba" * 9, "obj-container", "is for no target: is a fatbin"),
        ("bad.bc", b"BC\xc0\xde" + b"?" * 40, "obj-container", "is for no target: is bitcode"),
    ],
)
def test_b06_no_objects(tmp_path, product, name, content, tag, text):
    (tmp_path / name).write_bytes(content)
    said = fail(product, tag, substitute(tmp_path / name), folder=tmp_path)
    assert f"@main_0: '{name}': {text}" in said


def test_b06_damaged_objects_are_errors(tmp_path, product):
    good = build(tmp_path, "good", GOOD).read_bytes()
    damaged = tmp_path / "damaged.o"
    for size in range(64, len(good), len(good) // 20):
        damaged.write_bytes(good[:size])
        result = run(BIN / "alula-compile", product, substitute(damaged), V3, "-o", tmp_path / "o")
        assert result.returncode == 1, size
        assert b"[obj-damaged] @main_0: 'damaged.o': is damaged: " in result.stderr


def test_b06_files_that_are_not_there(tmp_path, product):
    flags = [substitute("no.o"), "--object-path=elsewhere"]
    said = fail(product, "obj-missing", *flags, folder=tmp_path)
    assert "@main_0: can't read no.o, nor elsewhere/no.o: No such file" in said
    said = fail(product, "obj-container", substitute("mul.exe"), folder=tmp_path)
    assert "@main_0: what substitutes it must end in .o, .bc, .ptx or .mlir: mul.exe" in said
    said = fail(product, "obj-missing", "--substitute-executables-from=no", folder=tmp_path)
    assert "[obj-missing] can't read the folder no: No such file" in said


def test_b07_unknown_names(tmp_path):
    two = write_two(tmp_path)
    file = build(tmp_path, "good", GOOD)
    said = fail(two, "obj-name", substitute(file, "typo"), folder=tmp_path)
    assert f"no executable 'typo' to substitute by {file}: there are first_0, second_1" in said
    said = compile(two, substitute(file, "typo"), "--substitute-missing=warn", folder=tmp_path)
    assert "warning: [obj-name] no executable 'typo'" in said
    for flags, text in {
        ("--substitute-executable=main_0",): "must be name=file: is 'main_0'",
        ("--substitute-executable=main_0=a.o,entry=",): "must be name=file",
        ("--cuda-driver=99.9",): "--cuda-driver: must be from 11.0 to 13.1: is '99.9'",
    }.items():
        result = run(BIN / "alula-compile", two, *flags, "-o", tmp_path / "o")
        assert result.returncode == 2
        assert f"[obj-usage] {text}" in result.stderr.decode() or text in result.stderr.decode()


def test_b07_a_folder_of_objects(tmp_path):
    two = write_two(tmp_path)
    folder = tmp_path / "objects"
    folder.mkdir()
    build(folder, "first_0", kernel("c[i] = a[i] + 10 * b[i];", "first_0"))
    flag = f"--substitute-executables-from={folder}"
    compile(two, flag, folder=tmp_path)
    for name, value in {"first": 42, "second": -2}.items():
        got = call("out.alula", "8xf32=2", "8xf32=4", function=name, folder=tmp_path)
        assert got[-1] == "8xf32=" + ",".join([str(value)] * 8)
    build(folder, "third_0", GOOD)
    said = fail(two, "obj-name", flag, folder=tmp_path)
    assert "no executable 'third_0' to substitute by " in said


def test_b08_what_is_dumped_goes_back_unchanged(tmp_path):
    two = write_two(tmp_path)
    file = build(tmp_path, "good", kernel("c[i] = 0;", "first_0"))
    flag = substitute(file, "first_0")
    dump = tmp_path / "dump"
    compile(two, output=tmp_path / "plain.alula")
    compile(two, f"--dump-executable-sources-to={dump}", output=tmp_path / "dumped.alula")
    compile(two, f"--substitute-executables-from={dump}", output=tmp_path / "back.alula")
    plain = (tmp_path / "plain.alula").read_bytes()
    assert plain == (tmp_path / "dumped.alula").read_bytes()
    assert plain == (tmp_path / "back.alula").read_bytes()
    # And one of them edited.
    [edited] = [path for path in dump.iterdir() if "second" in path.name]
    edited.write_text(edited.read_text().replace("stablehlo.subtract", "stablehlo.add"))
    compile(two, f"--substitute-executables-from={dump}", flag, output=tmp_path / "new.alula")
    got = [
        call(tmp_path / "new.alula", "8xf32=2", "8xf32=4", function=f) for f in ("first", "second")
    ]
    assert [lines[-1].split("=")[1].split(",")[0] for lines in got] == ["0", "6"]


def test_b09_helpers_of_one_name(tmp_path):
    two = write_two(tmp_path)
    for name, number in {"first_0": 3, "second_1": 5}.items():
        before = (
            f"const float table[2] = {{{number}, {number}}};\n"
            f"__attribute__((noinline)) float helper(float v) {{ return v * table[(int)v & 1]; }}"
        )
        build(tmp_path, name, kernel("c[i] = helper(a[i]);", name, before))
    flags = [substitute(tmp_path / f"{name}.o", name) for name in ("first_0", "second_1")]
    compile(two, *flags, folder=tmp_path)
    for name, number in {"first": 6, "second": 10}.items():
        got = call("out.alula", "8xf32=2", "8xf32=4", function=name, folder=tmp_path)
        assert got[-1] == "8xf32=" + ",".join([str(number)] * 8)


def attach(folder, file, target=""):
    """The flag of a tool that names a file for every executable."""
    tool = folder / "attach.py"
    tool.write_text("""
import re, sys
target = f'target = "{sys.argv[2]}", ' if len(sys.argv) > 2 else ""
objects = ", ".join(f'#dispatch.object<{target}path = "{file}">' for file in sys.argv[1].split(","))
text = sys.stdin.read()
print(re.sub(r"(dispatch.executable @\\S+) \\{", lambda m: f"{m[1]} attributes {{objects = [{objects}]}} {{", text))
""")
    return f"--preprocess-executables-with={sys.executable} {tool} {file} {target}"


def import_tool(folder, kind, file=""):
    """The flag of a tool that turns a product into a call of `ext`."""
    tool = folder / "call.py"
    tool.write_text("""
import re, sys
kind, name = sys.argv[1], sys.argv[2]
text = sys.stdin.read()
type = re.search(r"tensor<\\d+xf32>", text)[0]
if len(sys.argv) > 3:
    objects = f'#dispatch.object<path = "{sys.argv[3]}">'
    text = re.sub(r"(dispatch.executable @\\S+) \\{", lambda m: f"{m[1]} attributes {{objects = [{objects}]}} {{", text)
head = "    builtin.module {\\n"
text = text.replace(head, head + f'func.func private @"{name}"({type}, {type}, index) -> {type} attributes {{dispatch.import = "{kind}"}}\\n')
call = f'%n = arith.constant 8 : index\\n%c = func.call @"{name}"(%arg0, %arg1, %n) : ({type}, {type}, index) -> {type}\\n'
product = re.search(r" *%0 = (stablehlo.multiply [^\\n]*)\\n", text)
if name.startswith("?"):
    call = (f'%has = dispatch.has_import @"{name}" : tensor<i1>\\n%0 = "stablehlo.if"(%has) ({{\\n{call}'
            f'stablehlo.return %c : {type}\\n}}, {{\\n%m = {product[1]}\\nstablehlo.return %m : {type}\\n}}) : (tensor<i1>) -> {type}\\n')
else:
    call += f"%0 = stablehlo.add %c, %arg0 : {type}\\n"
print(text.replace(product[0], call))
""")
    name = "?ext" if kind == "optional" else "ext"
    kind = "dynamic" if kind == "optional" else kind
    return f"--preprocess-executables-with={sys.executable} {tool} {kind} '{name}' {file}".strip()


EXT = """#include <stdint.h>
void ext(const float *a, const float *b, int64_t n, float *r) {
  for (int64_t i = 0; i < n; ++i) r[i] = a[i] + 10 * b[i];
}
"""


def test_b10_imports_are_not_evaluated(tmp_path):
    program = tmp_path / "constants.mlir"
    program.write_text("""
func.func @main() -> tensor<8xf32> {
  %a = stablehlo.constant dense<2.0> : tensor<8xf32>
  %b = stablehlo.constant dense<4.0> : tensor<8xf32>
  %0 = dispatch.launch @main_0::@main_0(%a, %b) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
dispatch.executable @main_0 {
  dispatch.entry @main_0 bindings([#dispatch<access read>, #dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func private @ext(tensor<8xf32>, tensor<8xf32>, index) -> tensor<8xf32> attributes {dispatch.import = "dynamic"}
    func.func @main_0(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
      %n = arith.constant 8 : index
      %0 = func.call @ext(%a, %b, %n) : (tensor<8xf32>, tensor<8xf32>, index) -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }
  }
}
""")
    said = compile(program, "--compile-from=dispatch", folder=tmp_path)
    assert "remark: not evaluated: needs import 'ext'" in said
    artifact = inspect("out.alula", folder=tmp_path)
    assert artifact["imports"] == [{"name": "ext", "optional": False}]
    result = run(BIN / "alula-run", "out.alula", "--function=main", folder=tmp_path)
    assert result.returncode != 0
    assert b"ext" in result.stderr


def test_b11_a_changed_file_counts_for_the_next_compile(tmp_path, product):
    file = build(tmp_path, "k", GOOD)
    compile(product, substitute(file), output=tmp_path / "old.alula")
    build(tmp_path, "k", kernel("c[i] = a[i] - b[i];"))
    compile(product, substitute(file), output=tmp_path / "new.alula")
    origins = [
        inspect(tmp_path / name)["variants"][0]["origins"]["main_0"]
        for name in ("old.alula", "new.alula")
    ]
    assert origins[1] != origins[0]
    assert hashlib.sha256(file.read_bytes()).hexdigest() in origins[1]
    for name, value in {"old.alula": 42, "new.alula": -2}.items():
        got = call(tmp_path / name, "8xf32=2", "8xf32=4")
        assert got[-1] == "8xf32=" + ",".join([str(value)] * 8)


PLUGIN = """#include "alula/import.h"
#include <string.h>
struct params { const float *a, *b; int64_t n; float *r; };
static int32_t ext(void *memory, void *context, void *reserved) {
  struct params *p = memory;
  for (int64_t i = 0; i < p->n; ++i) p->r[i] = p->a[i] + 10 * p->b[i];
  return (void)context, (void)reserved, p->a[0] < 0 ? 7 : 0;
}
static int32_t resolve(void *self, size_t count, const char *const *names,
                       alula_import_call *functions, void **contexts) {
  (void)self, (void)contexts;
  for (size_t i = 0; i < count; ++i)
    if (!functions[i] && strcmp(names[i], "ext") == 0) functions[i] = ext;
  return 0;
}
const alula_import_plugin *alula_import_plugin_query(uint16_t major, uint16_t minor) {
  static const alula_import_plugin plugin = {
      sizeof plugin, 1, 0, "test", "1", 0, ALULA_IMPORT_SANITIZER_NONE, 0, 0, resolve, 0};
  return (void)minor, major == 1 ? &plugin : 0;
}
"""


def test_b12_an_optional_import_there_and_not(tmp_path, product):
    compile(product, import_tool(tmp_path, "optional"), folder=tmp_path)
    assert inspect("out.alula", folder=tmp_path)["imports"] == [{"name": "ext", "optional": True}]
    got = call("out.alula", "8xf32=2", "8xf32=4", folder=tmp_path)
    assert got[-1] == "8xf32=" + ",".join(["8"] * 8)
    if b"--executable-plugin" not in run(BIN / "alula-run", "--help").stdout:
        pytest.skip("alula-run has no --executable-plugin yet")
    (tmp_path / "plugin.c").write_text(PLUGIN)
    flags = ["-shared", "-fPIC", f"-I{ROOT / 'include'}"]
    succeed(CLANG, *flags, tmp_path / "plugin.c", "-o", tmp_path / "plugin.so")
    plugin = [f"--executable-plugin={tmp_path / 'plugin.so'}"]
    got = call("out.alula", "8xf32=2", "8xf32=4", flags=plugin, folder=tmp_path)
    assert got[-1] == "8xf32=" + ",".join(["42"] * 8)
    # What an import returns is what the kernel returns.
    words = ["out.alula", "--function=main", *plugin, "--input=8xf32=-2", "--input=8xf32=4"]
    result = run(BIN / "alula-run", *words, folder=tmp_path)
    assert result.returncode != 0 and b"7" in result.stderr


def test_b12_a_needed_import(tmp_path, product):
    compile(product, import_tool(tmp_path, "dynamic"), folder=tmp_path)
    words = ["out.alula", "--function=main", "--input=8xf32=2", "--input=8xf32=4"]
    result = run(BIN / "alula-run", *words, folder=tmp_path)
    assert result.returncode != 0 and b"ext" in result.stderr


def test_b13_bitcode_is_inlined(tmp_path, product):
    file = build_bitcode(tmp_path, "ext", EXT)
    compile(product, import_tool(tmp_path, "bitcode", file), folder=tmp_path)
    got = call("out.alula", "8xf32=2", "8xf32=4", folder=tmp_path)
    assert got[-1] == "8xf32=" + ",".join(["44"] * 8)
    image = succeed(BIN / "alula-inspect", "out.alula", "--extract=x86-64-v3", folder=tmp_path)
    (tmp_path / "image.elf").write_bytes(image)
    objdump = shutil.which("llvm-objdump-19")
    if not objdump:
        pytest.skip("no llvm-objdump-19")
    code = succeed(objdump, "-d", "--no-show-raw-insn", tmp_path / "image.elf").decode()
    assert not re.search(r"\bcall", code)
    [variant] = inspect("out.alula", folder=tmp_path)["variants"]
    assert variant["origins"]["main_0"].startswith("generated, bitcode ext.bc sha256:")


def test_b13_a_static_import_is_called(tmp_path, product):
    file = build(tmp_path, "ext", EXT)
    compile(product, import_tool(tmp_path, "static", file), folder=tmp_path)
    got = call("out.alula", "8xf32=2", "8xf32=4", folder=tmp_path)
    assert got[-1] == "8xf32=" + ",".join(["44"] * 8)


def test_b13_an_entry_of_bitcode(tmp_path, product):
    file = build_bitcode(tmp_path, "whole", GOOD)
    compile(product, substitute(file), folder=tmp_path)
    got = call("out.alula", "8xf32=2", "8xf32=4", folder=tmp_path)
    assert got[-1] == "8xf32=" + ",".join(["42"] * 8)


def test_b13_wrong_imports(tmp_path, product):
    def tool(*words):
        return import_tool(tmp_path, *words)

    said = fail(product, "obj-undefined", tool("static"), folder=tmp_path)
    assert "no object for cpu:x86-64-v3 has what the body calls: ext" in said
    said = fail(product, "obj-import", tool("sometimes"), folder=tmp_path)
    assert (
        "an import must be a function without a body, and static, bitcode or dynamic: "
        '@ext is "sometimes"' in said
    )
    state = "int counter;\n__thread int thread;\n" + EXT.replace(
        "r[i] =", "r[i] = counter++ + thread++ +"
    )
    file = build_bitcode(tmp_path, "state", state)
    result = run(BIN / "alula-compile", product, tool("bitcode", file), V3, "-o", tmp_path / "o")
    assert b"'state.bc': has memory that is written: counter" in result.stderr
    assert b"'state.bc': has thread-local storage: thread" in result.stderr
    file = build_bitcode(tmp_path, "arm", EXT, machine="aarch64")
    said = fail(product, "obj-target", substitute(file), folder=tmp_path)
    assert "'arm.bc' is for cpu:aarch64" in said
    said = fail(product, "obj-machine", attach(tmp_path, "arm.bc", "cpu"), folder=tmp_path)
    assert "'arm.bc': must be for x86_64: is bitcode for aarch64" in said


def test_b14_dumps_need_no_files(tmp_path, objects):
    folder = tmp_path / "objects"
    shutil.copytree(objects, folder)
    program = write_product(tmp_path, 65)
    flags = [
        f"--object-path={folder}",
        f"--preprocess-executables-with={sys.executable} {BYO / 'cpu/byo.py'}",
    ]
    compile(program, *flags, output=tmp_path / "straight.alula")
    for stage in ("dispatch", "schedule"):
        dump = tmp_path / f"{stage}.mlir"
        if not folder.exists():
            shutil.copytree(objects, folder)
        compile(program, *flags, f"--compile-to={stage}", output=dump)
        shutil.rmtree(folder)
        compile(dump, output=tmp_path / "resumed.alula", target=None)
        straight, resumed = (
            (tmp_path / name).read_bytes() for name in ("straight.alula", "resumed.alula")
        )
        assert straight == resumed


# What patterns of targets say, beside the checks.


@pytest.fixture
def several(tmp_path):
    """Objects that give 1, 2 and 3."""
    for number in (1, 2, 3):
        build(tmp_path, f"k{number}", kernel(f"c[i] = {number};"))
    return tmp_path


def objects_tool(folder, *objects):
    tool = folder / "several.py"
    text = ", ".join(f'#dispatch.object<target = "{t}", path = "{p}">' for t, p in objects)
    tool.write_text(f"""
import re, sys
print(re.sub(r"(dispatch.executable @\\S+) \\{{", lambda m: m[1] + ' attributes {{objects = [{text}]}} {{', sys.stdin.read()))
""")
    return f"--preprocess-executables-with={sys.executable} {tool}"


def test_the_most_specific_pattern_wins(several, product):
    patterns = [("cpu", "k1.o"), ("cpu:x86_64", "k2.o"), ("cpu:x86_64+avx2+fma", "k3.o")]
    for target, number in {"cpu:x86-64-v3": 3, "cpu:x86-64": 2}.items():
        compile(
            product, objects_tool(several, *patterns), folder=several, target=f"--target={target}"
        )
        got = call("out.alula", "8xf32=2", "8xf32=4", folder=several)
        assert got[-1] == "8xf32=" + ",".join([str(number)] * 8)
    patterns = [("cpu:x86-64-v3", "k1.o"), ("cpu:x86_64", "k2.o")]
    compile(product, objects_tool(several, *patterns), folder=several)
    assert call("out.alula", "8xf32=2", "8xf32=4", folder=several)[-1].startswith("8xf32=1,")
    patterns = [("cpu:x86_64,vector_bytes=32", "k1.o"), ("cpu", "k2.o")]
    compile(product, objects_tool(several, *patterns), folder=several)
    assert call("out.alula", "8xf32=2", "8xf32=4", folder=several)[-1].startswith("8xf32=1,")


def test_a_tie_is_an_error(several, product):
    tool = objects_tool(several, ("cpu:x86_64+avx2", "k1.o"), ("cpu:x86_64+fma", "k2.o"))
    said = fail(product, "obj-tie", tool, folder=several)
    assert "objects fit cpu:x86-64-v3 alike: 'cpu:x86_64+avx2' and 'cpu:x86_64+fma'" in said


@pytest.mark.parametrize(
    "pattern, text",
    [
        ("tpu", "there is cpu and cuda"),
        ("cpu:", "a name must follow the colon"),
        ("cpu:x86_64+", "a feature must follow each +"),
        ("cpu,fast=1", "after a comma there is vector_bytes=N: is 'fast=1'"),
    ],
)
def test_wrong_patterns(several, product, pattern, text):
    said = fail(product, "obj-pattern", objects_tool(several, (pattern, "k1.o")), folder=several)
    assert f"@main_0: target pattern '{pattern}': {text}" in said


def test_a_target_without_an_object_has_our_code(several, product):
    tool = objects_tool(several, ("cpu:aarch64", "k1.o"))
    compile(product, tool, folder=several)
    got = call("out.alula", "8xf32=2", "8xf32=4", folder=several)
    assert got[-1] == "8xf32=" + ",".join(["8"] * 8)
    build(several, "arm", kernel("c[i] = 0;"), machine="aarch64")
    tool = objects_tool(several, ("cpu:aarch64", "arm.o"))
    compile(product, tool, "--target=cpu:aarch64", folder=several)
    origins = [v["origins"]["main_0"][:9] for v in inspect("out.alula", folder=several)["variants"]]
    assert sorted(origins) == ["generated", "object ar"]


def test_two_objects_for_one_target(several, product):
    build(several, "part", HEADER + "float give(float v) { return v + 1; }")
    before = "float give(float);"
    build(several, "whole", kernel("c[i] = give(a[i]);", before=before))
    compile(product, attach(several, "whole.o,part.o", "cpu"), folder=several)
    got = call("out.alula", "8xf32=2", "8xf32=4", folder=several)
    assert got[-1] == "8xf32=" + ",".join(["3"] * 8)
    said = fail(product, "obj-twice", attach(several, "k1.o,k2.o", "cpu"), folder=several)
    assert "'k2.o': defines 'main_0', as another object does" in said


def test_functions_of_the_code_generator_are_there(tmp_path, product):
    before = "void *memcpy(void *, const void *, unsigned long);"
    file = build(tmp_path, "copy", kernel("memcpy(c, a, n * 4);", before=before))
    compile(product, substitute(file), folder=tmp_path)
    got = call("out.alula", "8xf32=2", "8xf32=4", folder=tmp_path)
    assert got[-1] == "8xf32=" + ",".join(["2"] * 8)


def test_inline_content_and_its_hash(tmp_path, product):
    file = build(tmp_path, "k", GOOD)
    compile(product, substitute(file), "--compile-to=dispatch", output=tmp_path / "d.mlir")
    text = (tmp_path / "d.mlir").read_text()
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert f'sha256 = "{digest}"' in text
    (tmp_path / "e.mlir").write_text(text.replace(digest, "0" * 64))
    said = fail(tmp_path / "e.mlir", "obj-hash", folder=tmp_path, target=None)
    assert f"'k.o': its content has changed: sha256 is {digest}, was {'0' * 64}" in said
    # Without path and hash it is inline.
    inline = re.sub(r'sha256 = "[0-9a-f]*", |path = "[^"]*", ', "", text)
    inline = re.sub(r', sha256 = "[0-9a-f]*"|, path = "[^"]*"', "", inline)
    (tmp_path / "i.mlir").write_text(inline)
    compile(tmp_path / "i.mlir", output=tmp_path / "i.alula", target=None)
    [variant] = inspect(tmp_path / "i.alula")["variants"]
    assert variant["origins"]["main_0"] == f"object inline sha256:{digest}"


def test_an_object_must_be_something(tmp_path, product):
    tool = tmp_path / "nothing.py"
    tool.write_text("""
import sys
print(sys.stdin.read().replace("@main_0 {", '@main_0 attributes {objects = [#dispatch.object<target = "cpu">]} {', 1))
""")
    flag = f"--preprocess-executables-with={sys.executable} {tool}"
    said = fail(product, "obj-missing", flag, folder=tmp_path)
    assert "[obj-missing] @main_0: an object must have a path or data" in said


def test_one_file_of_ptx(several, product):
    write_ptx(several)
    tool = objects_tool(several, ("cuda", "kernels.ptx"), ("cuda", "kernels.ptx"))
    said = fail(product, "obj-many", tool, folder=several, target=CUDA)
    assert "one file must have all kernels for cuda:sm_90: 2 are given" in said
    tool = objects_tool(several, ("cuda", "k1.o"))
    said = fail(product, "obj-container", tool, folder=several, target=CUDA)
    assert "'k1.o': must be PTX: is an ELF object for x86_64" in said


def test_extraction_says_what_is_wrong(tmp_path, product):
    compile(product, folder=tmp_path)
    words = [BIN / "alula-inspect", tmp_path / "out.alula", "--extract=x86-64-v3"]
    result = run(*words, "--kernel=main_0")
    assert b"--kernel is for PTX: the kernels of 'x86-64-v3' are one image" in result.stderr
    assert succeed(*words)[:4] == b"\x7fELF"


def test_the_commands_of_the_readme(tmp_path):
    """In a folder like the repository, but empty otherwise."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    text = (BYO / "README.md").read_text()
    commands = re.findall(r"(?:^    .*\n)+", text, flags=re.M)
    assert len(commands) == 3
    outputs = [
        succeed("bash", "-ec", command.replace("python3", sys.executable), folder=tmp_path).decode()
        for command in commands
    ]
    assert "@main_0: object mul_x86_64.o sha256:" in outputs[0]
    assert outputs[0].endswith("8xf32=8,8,8,8,8,8,8,8\n")
    assert (tmp_path / "mul.ptx").read_bytes() == (BYO / "cuda/kernels.ptx").read_bytes()


def test_damage_is_never_a_crash(tmp_path, product):
    """Random changes of objects: an error or an artifact, whatever they hit."""
    generator = np.random.default_rng(7)
    code = kernel("c[i] = helper(a[i]);", before="float helper(float v) { return v + 1; }")
    files = [build(tmp_path, "good", code), write_ptx(tmp_path)]
    for file, target in zip(files, (V3, CUDA)):
        good = np.frombuffer(file.read_bytes(), np.uint8)
        damaged = tmp_path / f"damaged{file.suffix}"
        for _ in range(25):
            bad = good.copy()
            places = generator.integers(0, len(bad), 4)
            bad[places] = generator.integers(0, 256, 4)
            damaged.write_bytes(bad.tobytes())
            flag = substitute(f"{damaged},entry=simple_mul" if target == CUDA else damaged)
            result = run(BIN / "alula-compile", product, flag, target, "-o", tmp_path / "o")
            assert result.returncode in (0, 1), result.stderr.decode(errors="replace")
