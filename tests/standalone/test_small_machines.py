"""Code without a runtime on other machines, under qemu and in node: E12, E13, E14, E17, E23.

Each program has no C library. What it prints is what an artifact computes on this machine that was compiled with the
same facts.
"""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from standalone_models import INPUTS, MODELS
from standalone_programs import (
    BUILD,
    ROOT,
    START,
    compile_static,
    find_tool,
    make_inputs,
    read_lines,
    run_artifact,
    sh,
    write_program,
)

sys.path.append(str(ROOT / "python/tests"))
import browser  # noqa: E402

SMALL = (
    ":cores=1:memory_cores=1:l1_bytes=16K:l2_bytes=0:l3_bytes=0:line_bytes=32:lanes=1:panel_bytes=0"
    ":block_rows=64:block_columns=64:call_steps=1024G:alignment=16"
)
# The machine, its C compiler's flags, the start, the emulator, the machine here that computes the same.
MACHINES = {
    "aarch64": (
        "cpu:aarch64", ["--target=aarch64-none-elf"], "aarch64", ["qemu-aarch64"],
        "cpu:x86-64-v3",
    ),
    "aarch64-dot": (
        "cpu:aarch64-dot", ["--target=aarch64-none-elf"], "aarch64",
        ["qemu-aarch64", "-cpu", "cortex-a76"], "cpu:x86-64-v3",
    ),
    "aarch64-mmla": (
        "cpu:aarch64-mmla", ["--target=aarch64-none-elf"], "aarch64",
        ["qemu-aarch64", "-cpu", "max"], "cpu:x86-64-v3",
    ),
    "riscv64": (
        "cpu:riscv64", ["--target=riscv64-unknown-elf", "-march=rv64gc", "-mabi=lp64d"], "riscv",
        ["qemu-riscv64"], "cpu:x86-64-v3",
    ),
    "riscv32": (
        "cpu:riscv32", ["--target=riscv32-unknown-elf", "-march=rv32imafc", "-mabi=ilp32f"],
        "riscv", ["qemu-riscv32"], "cpu:x86-64-v3" + SMALL,
    ),
    "thumbv7em": (
        "cpu:thumbv7em", ["--target=thumbv7em-none-eabihf", "-mcpu=cortex-m4"], "arm",
        ["qemu-arm"], "cpu:x86-64-v3" + SMALL,
    ),
}  # fmt: skip


def run_on(folder, machine, manifest, inputs):
    _, flags, start, emulator, _ = MACHINES[machine]
    clang = find_tool("clang-19")
    if not clang or not find_tool("ld.lld-19", "ld.lld"):
        pytest.skip("clang-19 and lld-19 are not installed")
    if not find_tool(emulator[0]):
        pytest.skip(f"{emulator[0]} is not installed")
    name = manifest["prefix"]
    source = write_program(folder, manifest, inputs, START[start])
    sh(
        clang, *flags, "-std=c11", "-O1", "-ffreestanding", "-fno-builtin", "-fomit-frame-pointer",
        "-nostdlib", "-static", "-fuse-ld=lld", "-Wall", "-Werror", source, folder / f"{name}.a", "-o", folder / "program",
    )  # fmt: skip
    return read_lines(sh(*emulator, folder / "program"))


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("model", MODELS)
def test_e12_e14_numbers_on_other_machines(machine, model, tmp_path):
    target, *_, same = MACHINES[machine]
    manifest = compile_static(tmp_path, model, target=target)
    assert manifest["undefined"] == []
    inputs = make_inputs(model)
    got = run_on(tmp_path, machine, manifest, inputs)
    want = run_artifact(tmp_path, model, inputs, target=same)
    # Vectors add in an order of their own, and Cortex-M4 rounds products: elsewhere bits are equal.
    if model == "int8" or (model == "dense" and machine != "thumbv7em"):
        assert got == want
    for a, b in zip(got, want, strict=True):
        compare(a, b, model)


@pytest.mark.parametrize("machine", ["aarch64", "riscv64"])
def test_e13_with_a_c_library_of_the_machine(machine, tmp_path):
    libraries = f"/usr/{machine}-linux-gnu"
    for tool in ("clang-19", f"qemu-{machine}"):
        if not find_tool(tool):
            pytest.skip(f"{tool} is not installed")
    if not os.path.exists(f"{libraries}/include/stdio.h"):
        pytest.skip(f"the C library of {machine} is not installed")
    manifest = compile_static(tmp_path, "dense", target=f"cpu:{machine}")
    inputs = make_inputs("dense")
    source = write_program(tmp_path, manifest, inputs)
    sh(
        "clang-19", f"--target={machine}-linux-gnu", "-fuse-ld=lld", "-std=c11", "-O1", "-Wall",
        "-Werror", source, tmp_path / "dense.a", "-o", tmp_path / "program",
    )  # fmt: skip
    assert "libc.so" in sh("readelf", "-d", tmp_path / "program")
    got = read_lines(sh(f"qemu-{machine}", "-L", libraries, tmp_path / "program"))
    assert got == run_artifact(tmp_path, "dense", inputs, target="cpu:x86-64-v3")


def test_e23_what_is_not_installed_is_skipped_and_counted(tmp_path):
    # Only what runs pytest is there; the compiler and the runtime are found by their paths.
    result = subprocess.run(
        [
            sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", __file__, "-k",
            "(e12 or e13 or e14_boards) and (dense or library)",
        ],
        capture_output=True, text=True, env={**os.environ, "PATH": str(tmp_path)}, cwd=ROOT,
    )  # fmt: skip
    assert result.returncode == 0, result.stdout + result.stderr
    summary = result.stdout.splitlines()[-1]
    assert re.search(r"\d+ skipped", summary) and "passed" not in summary, summary
    for reason in ("clang-19 is not installed", "qemu-system-arm is not installed"):
        assert reason in result.stdout


def test_small_code(tmp_path):
    manifest = compile_static(tmp_path, "dense", target="cpu:thumbv7em")
    assert manifest["code_bytes"] <= 5 * 1024
    assert manifest["stack_bytes"] <= 512


DIVISION = (
    "func.func @main(%x: tensor<4xi64>, %y: tensor<4xi64>) -> tensor<4xi64> {\n"
    "  %0 = stablehlo.divide %x, %y : tensor<4xi64>\n  return %0 : tensor<4xi64>\n}\n"
)


def test_compiler_rt_is_asked_for(tmp_path):
    source = tmp_path / "division.mlir"
    source.write_text(DIVISION)
    result = subprocess.run(
        [
            BUILD / "bin/alula-compile", source, "--emit=static", "--target=cpu:thumbv7em",
            "-o", tmp_path / "division",
        ],
        capture_output=True,
        text=True,
    )  # fmt: skip
    assert result.returncode == 1
    assert (
        "code for thumbv7em without a runtime calls functions that it has not: __aeabi_ldivmod: "
        "--allow-compiler-rt leaves them to the C compiler's library" in result.stderr
    )
    manifest = compile_static(
        tmp_path, "division", "--allow-compiler-rt", target="cpu:thumbv7em", text=DIVISION
    )
    assert manifest["undefined"] == ["__aeabi_ldivmod"]
    assert sh("nm", "-u", tmp_path / "division.a").split()[1:] == ["U", "__aeabi_ldivmod"]


def test_there_is_no_runtime(tmp_path):
    source = tmp_path / "dense.mlir"
    source.write_text(MODELS["dense"])
    result = subprocess.run(
        [BUILD / "bin/alula-compile", source, "--target=cpu:thumbv7em", "-o", tmp_path / "x.alula"],
        capture_output=True,
        text=True,
    )
    assert result.returncode == 1
    assert "there is no runtime for cpu:thumbv7em, only --emit=static" in result.stderr


@pytest.mark.parametrize("target, arch", [("riscv32", "rv32"), ("riscv64", "rv64")])
def test_e17_attributes_of_riscv(target, arch, tmp_path):
    readelf = find_tool("llvm-readelf-19", "riscv64-linux-gnu-readelf")
    if not readelf:
        pytest.skip("llvm-readelf-19 is not installed")
    manifest = compile_static(tmp_path, "dense", target=f"cpu:{target}")
    text = sh(readelf, "-A", tmp_path / "dense.a")
    found = re.search(rf"{arch}i\S*", text)
    if not found:
        pytest.skip("the object has no attributes")
    letters = {part[0] for part in found[0][4:].split("_") if part[0] in "imafdc"}
    assert letters | {"i"} >= set(manifest["features"]) - {"i"}


WASM = r"""
__attribute__((import_module("env"), import_name("put"))) void imported_put(const char *text, size_t n);
static void put(const char *text, size_t n) { imported_put(text, n); }
__attribute__((export_name("run"))) int start(void);
int start(void) { return run(); }
"""
NODE = """
const fs = require('fs');
let memory, text = '';
const put = (at, n) => { text += Buffer.from(memory.buffer, at, n).toString(); };
WebAssembly.instantiate(fs.readFileSync(process.argv[2]), {env: {put}}).then(({instance}) => {
  memory = instance.exports.memory;
  const code = instance.exports.run();
  process.stdout.write(text);
  process.exit(code);
});
"""


@pytest.mark.parametrize("model", MODELS)
def test_wasm_in_node(model, tmp_path):
    clang, linker, node = find_tool("clang-19"), find_tool("wasm-ld-19"), find_tool("node")
    if not (clang and linker and node):
        pytest.skip("clang-19, wasm-ld-19 or node is not installed")
    manifest = compile_static(tmp_path, model, target="cpu:wasm32")
    assert manifest["undefined"] == []
    inputs = make_inputs(model)
    source = write_program(tmp_path, manifest, inputs, WASM)
    sh(
        clang, "--target=wasm32", "-std=c11", "-O1", "-ffreestanding", "-fno-builtin", "-msimd128",
        "-c", source, "-o", tmp_path / "program.o",
    )  # fmt: skip
    sh(
        linker, "--no-entry", "--gc-sections", "-z", "stack-size=262144", tmp_path / "program.o",
        tmp_path / f"{model}.a", "-o", tmp_path / "program.wasm",
    )  # fmt: skip
    (tmp_path / "run.js").write_text(NODE)
    got = read_lines(sh(node, tmp_path / "run.js", tmp_path / "program.wasm"))
    want = run_artifact(tmp_path, model, inputs, target="cpu:x86-64-v2")
    # Vectors of another width add in another order.
    for a, b in zip(got, want, strict=True):
        compare(a, b, model)


def compare(a, b, model):
    dtype = INPUTS[model][1]
    if dtype == "int8":
        assert a == b
    else:
        tolerance = 2e-3 if dtype == "float16" else 2e-6
        np.testing.assert_allclose(
            np.frombuffer(a, dtype).astype(np.float64),
            np.frombuffer(b, dtype).astype(np.float64),
            rtol=tolerance,
            atol=tolerance,
        )


def make_page(folder):
    if not (find_tool("clang-19") and find_tool("wasm-ld-19")):
        pytest.skip("clang-19 or wasm-ld-19 is not installed")
    (folder / "model.mlir").write_text(MODELS["digits"])
    said = sh(
        ROOT / "examples/browser/make_page.sh", folder / "model.mlir", folder / "page",
        BUILD / "bin/alula-compile",
    )  # fmt: skip
    assert re.fullmatch(r"module \d+ bytes, page \d+ bytes\n", said)
    return folder / "page"


IN_NODE = """
const html = require('fs').readFileSync(process.argv[2], 'utf8');
const bytes = Buffer.from(html.match(/MODULE = "([^"]*)"/)[1], 'base64');
WebAssembly.instantiate(bytes).then(({instance}) => {
  const m = instance.exports;
  const input = JSON.parse(process.argv[3]);
  new Float32Array(m.memory.buffer, m.pictures(), input.length).set(input);
  const code = m.classify();
  console.log(JSON.stringify([code, ...new Float32Array(m.memory.buffer, m.probabilities(), 40)]));
});
"""


def test_page_of_the_digits_model(tmp_path):
    page = make_page(tmp_path)
    if not find_tool("node"):
        pytest.skip("node is not installed")
    (x,) = make_inputs("digits", 1)
    (tmp_path / "check.js").write_text(IN_NODE)
    got = sh("node", tmp_path / "check.js", page / "digits.html", json.dumps(x.ravel().tolist()))
    (want,) = run_artifact(tmp_path, "digits", [x], target="cpu:x86-64-v2")
    code, *numbers = json.loads(got)
    assert code == 0
    compare(np.array(numbers, np.float32).tobytes(), want, "digits")
    # Vectors are used.
    if find_tool("llvm-objdump-19"):
        assert "f32x4" in sh("llvm-objdump-19", "-d", page / "digits.a")


def test_page_in_a_browser(tmp_path):
    browser.find_browser()
    page = make_page(tmp_path)
    (x,) = make_inputs("digits", 1)
    (want,) = run_artifact(tmp_path, "digits", [x], target="cpu:x86-64-v2")
    with browser.open_browser() as tab:
        tab.open(page / "digits.html")
        for _ in range(100):
            if tab.evaluate("typeof model === 'object'"):
                break
        # A page has one picture; the others of the batch are empty.
        row = tab.evaluate(f"classify({json.dumps(x[0].tolist())})")
        tab.evaluate("picture.fill(1, 16, 24); show()")
        tab.save_picture(page / "digits.png")
        assert tab.problems == []
    np.testing.assert_allclose(row, np.frombuffer(want, np.float32)[:10], rtol=2e-6, atol=2e-6)


BOARD = r"""
extern unsigned char stack_top[];
void reset(void);
__attribute__((section(".vectors"), used)) const void *const vectors[2] = {stack_top, (const void *)reset};
static int host(unsigned operation, const void *block) {
  register unsigned r0 __asm__("r0") = operation;
  register const void *r1 __asm__("r1") = block;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return (int)r0;
}
static void put(const char *text, size_t n) {
  for (size_t i = 0; i < n; ++i) host(3, text + i);
}
__attribute__((noinline)) static int work(void) { return run(); }
void reset(void) {
#ifdef __ARM_FP
  /* Floats are off until they are turned on. */
  *(volatile unsigned *)0xE000ED88u |= 0xFu << 20;
  __asm__ volatile("dsb\n isb" ::: "memory");
#endif
  unsigned block[2] = {0x20026u, (unsigned)work()};
  host(0x20, block);
  for (;;) {
  }
}
"""
LAYOUT = """
ENTRY(reset)
MEMORY { flash (rx) : ORIGIN = 0, LENGTH = 4M  ram (rw) : ORIGIN = 0x20000000, LENGTH = 4M }
stack_top = ORIGIN(ram) + LENGTH(ram);
SECTIONS {
  .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) } > flash
  /DISCARD/ : { *(.ARM.exidx*) }
  .bss (NOLOAD) : { *(.bss*) } > ram
  .data : { *(.data*) } > flash
}
"""
BOARDS = {
    "thumbv7em": ("mps2-an386", ["--target=thumbv7em-none-eabihf", "-mcpu=cortex-m4"], "v3"),
    "thumbv7m": ("mps2-an385", ["--target=thumbv7m-none-eabi", "-mcpu=cortex-m3"], "v2"),
}


def run_on_board(folder, machine, manifest, inputs, change=lambda text: text):
    """What firmware of a model prints, and the status that the board ends with."""
    for tool in ("qemu-system-arm", "clang-19"):
        if not find_tool(tool):
            pytest.skip(f"{tool} is not installed")
    board, flags, _ = BOARDS[machine]
    source = write_program(folder, manifest, inputs, BOARD)
    source.write_text(change(source.read_text()))
    (folder / "board.ld").write_text(LAYOUT)
    sh(
        "clang-19", *flags, "-std=c11", "-O1", "-ffreestanding", "-fno-builtin", "-nostdlib",
        "-static", "-fuse-ld=lld", "-Wl,--gc-sections", f"-T{folder}/board.ld", source,
        folder / f"{manifest['prefix']}.a", "-o", folder / "firmware.elf",
    )  # fmt: skip
    return subprocess.run(
        [
            "qemu-system-arm", "-M", board, "-nographic", "-monitor", "none", "-serial", "null",
            "-semihosting-config", "enable=on,target=native", "-kernel", folder / "firmware.elf",
        ],
        capture_output=True, text=True, timeout=2000,
    )  # fmt: skip


@pytest.mark.parametrize("machine", BOARDS)
@pytest.mark.parametrize("model", ["dense", "softmax", "lstm", "int8", "f16", "conv"])
def test_e14_boards(machine, model, tmp_path):
    level = BOARDS[machine][2]
    manifest = compile_static(tmp_path, model, target=f"cpu:{machine}")
    inputs = make_inputs(model, 2)
    result = run_on_board(tmp_path, machine, manifest, inputs)
    want = run_artifact(tmp_path, model, inputs, target=f"cpu:x86-64-{level}{SMALL}")
    assert result.returncode == 0, result.stderr
    got = read_lines(result.stdout + result.stderr)
    # Floats of our own are rounded as this machine's, which sums the rows of a softmax in vectors; Cortex-M4 rounds a
    # product and a sum once.
    if model == "int8" or machine == "thumbv7m" and model != "softmax":
        assert got == want
    for a, b in zip(got, want, strict=True):
        compare(a, b, model)
    # Who calls it wrong is told so, and so is who started the board.
    wrong = run_on_board(
        tmp_path,
        machine,
        manifest,
        inputs,
        lambda text: text.replace("_run(arena,", "_run(arena + 1,"),
    )
    assert wrong.returncode == 2
