"""Programs as blobs that alula_min calls: numbers, what is refused, its size (checks E19 and E20)."""

import json
import subprocess

import numpy as np
import pytest
from standalone_models import MODELS
from standalone_programs import (
    BUILD,
    HOSTED,
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

MIN = ROOT / "runtime/min/alula_min.c"
INCLUDE = f"-I{ROOT}/include"
STRICT = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror"]

# Prints a line of hexadecimal digits for each result of each call; all sizes are the blob's.
CALLER = r"""
#include "alula/min.h"
static void put(const char *text, size_t n);
static int run(void);
START
__asm__(".section .text.blob,\"ax\",%progbits\n.balign 4096\n.globl the_blob\nthe_blob:\n.incbin \"BLOB\"\n"
        ".globl the_end\nthe_end:\n.text\n");
extern const unsigned char the_blob[], the_end[];
static _Alignas(64) unsigned char arena[ARENA + 1];
static _Alignas(64) unsigned char state[STATE + 1];
static _Alignas(64) const unsigned char inputs[][IN0] = {INPUTS};
static _Alignas(64) unsigned char output[OUT0];
static int run(void) {
  static const char digits[] = "0123456789abcdef";
  const void *in[1] = {inputs[0]};
  void *out[1] = {output};
  alula_min program;
  alula_min_function function;
  alula_min_port port;
  int32_t code = alula_min_open(&program, the_blob, (size_t)(the_end - the_blob), ALULA_MIN_FEATURES);
  if (code) return code;
  if ((code = alula_min_find(&program, "main", &function))) return code;
  if (function.arena_bytes != ARENA || program.state_bytes != STATE) return 90;
  if ((code = alula_min_get_port(&function, 0, &port)) || port.bytes != IN0) return 91;
  if ((code = alula_min_get_port(&function, 1, &port)) || port.bytes != OUT0) return 92;
  if (alula_min_get_port(&function, 2, &port) != ALULA_MIN_E_NAME) return 93;
  if ((code = alula_min_reset(&program, state))) return code;
  size_t enough = ARENA;
  if (enough && alula_min_run(&function, arena, enough - 1, state, in, out) != ALULA_E_ARENA) return 94;
  for (size_t i = 0; i < sizeof inputs / sizeof *inputs; ++i) {
    in[0] = inputs[i];
    out[0] = output;
    if ((code = alula_min_run(&function, arena, enough, state, in, out))) return code;
    for (size_t j = 0; j < sizeof output; ++j) {
      char text[2] = {digits[output[j] >> 4], digits[output[j] & 15]};
      put(text, 2);
    }
    put("\n", 1);
  }
  return 0;
}
"""


def make_blob(folder, model, target):
    manifest = compile_static(folder, model, target=target, form="blob")
    assert not (folder / f"{model}.h").exists()
    return manifest, folder / f"{model}.blob"


def write_caller(folder, manifest, blob, inputs, start):
    main = next(each for each in manifest["functions"] if each["name"] == "main")
    text = CALLER.replace("START", start).replace("BLOB", str(blob))
    for word, value in {
        "INPUTS": ",\n".join("{" + ",".join(map(str, x.tobytes())) + "}" for x in inputs),
        "ARENA": main["arena"]["bytes"],
        "STATE": manifest["state"]["bytes"],
        "IN0": main["inputs"][0]["bytes"],
        "OUT0": main["outputs"][0]["bytes"],
    }.items():
        for before in "[( ":
            text = text.replace(before + word, f"{before}{value}")
        text = text.replace("{" + word, "{" + str(value))
    path = folder / "caller.c"
    path.write_text(text)
    return path


@pytest.mark.parametrize("model", MODELS)
def test_numbers_here(model, tmp_path):
    manifest, blob = make_blob(tmp_path, model, "cpu:x86-64-v3")
    inputs = make_inputs(model)
    source = write_caller(tmp_path, manifest, blob, inputs, HOSTED)
    for compiler in ("gcc", "clang-19"):
        if not find_tool(compiler):
            pytest.skip(f"{compiler} is not installed")
        sh(
            compiler, "-std=c11", "-O1", "-march=x86-64-v3", "-Wall", "-Werror", INCLUDE, source, MIN,
            "-o", tmp_path / "caller",
        )  # fmt: skip
        got = read_lines(sh(tmp_path / "caller"))
        assert got == run_artifact(tmp_path, model, inputs)


MACHINES = {
    "aarch64": (["--target=aarch64-none-elf"], "aarch64", "qemu-aarch64"),
    "riscv64": (["--target=riscv64-unknown-elf", "-march=rv64gc", "-mabi=lp64d"], "riscv", "qemu-riscv64"),
    "riscv32": (["--target=riscv32-unknown-elf", "-march=rv32imafc", "-mabi=ilp32f"], "riscv", "qemu-riscv32"),
    "thumbv7em": (["--target=thumbv7em-none-eabihf", "-mcpu=cortex-m4"], "arm", "qemu-arm"),
    "thumbv7m": (["--target=thumbv7m-none-eabi", "-mcpu=cortex-m3"], "arm", "qemu-arm"),
}  # fmt: skip


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("model", ["dense", "softmax", "lstm", "int8", "conv"])
def test_numbers_on_other_machines(machine, model, tmp_path):
    flags, start, emulator = MACHINES[machine]
    for tool in ("clang-19", "ld.lld-19", emulator):
        if not find_tool(tool):
            pytest.skip(f"{tool} is not installed")
    bare = [
        "clang-19", *flags, "-std=c11", "-O1", "-ffreestanding", "-fno-builtin",
        "-fomit-frame-pointer", "-nostdlib", "-static", "-fuse-ld=lld", "-Wall", "-Werror",
    ]  # fmt: skip
    inputs = make_inputs(model)
    manifest, blob = make_blob(tmp_path, model, f"cpu:{machine}")
    source = write_caller(tmp_path, manifest, blob, inputs, START[start])
    sh(*bare, INCLUDE, source, MIN, "-o", tmp_path / "caller")
    got = read_lines(sh(emulator, tmp_path / "caller"))
    # The same code in an archive is linked to its place.
    manifest = compile_static(tmp_path, model, target=f"cpu:{machine}")
    source = write_program(tmp_path, manifest, inputs, START[start])
    sh(*bare, source, tmp_path / f"{model}.a", "-o", tmp_path / "linked")
    assert got == read_lines(sh(emulator, tmp_path / "linked"))


# Opens what is left of a blob, and one with bits flipped, with and without the right checksum; all that an opened
# one says is read. Bytes end where they end: what is behind them may not be read.
ATTACK = r"""
#include "alula/min.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static uint32_t state = 1;
static uint32_t next(void) { state = state * 1664525u + 1013904223u; return state >> 3; }
static uint32_t sum(const unsigned char *bytes, uint32_t n) {
  uint32_t all = ~0u;
  for (uint32_t i = 0; i < n; ++i) {
    all ^= i / 4 == ALULA_MIN_AT_CHECKSUM ? 0 : bytes[i];
    for (int k = 0; k < 8; ++k) all = all >> 1 ^ (all & 1 ? 0xedb88320u : 0);
  }
  return ~all;
}
static long seen, opened;
static int32_t open_all(const unsigned char *bytes, size_t n) {
  alula_min program;
  alula_min_function function;
  alula_min_port port;
  int32_t code = alula_min_open(&program, bytes, n, ~0u);
  if (code) return alula_min_get(&program, 0, &function) ? code : -1;
  ++opened;
  for (uint32_t i = 0; !alula_min_get(&program, i, &function); ++i) {
    seen += (long)strlen(function.name);
    for (uint32_t j = 0; !alula_min_get_port(&function, j, &port); ++j) {
      seen += (long)strlen(port.name);
      for (uint32_t k = 0; k < port.rank; ++k) seen += alula_min_get_size(&port, k);
    }
  }
  return 0;
}
int main(int argc, char **argv) {
  FILE *file = fopen(argv[argc - 1], "rb");
  static unsigned char whole[1 << 20];
  size_t n = fread(whole, 1, sizeof whole, file);
  int counts[32] = {0};
  if (open_all(NULL, n) != ALULA_E_NULL) return 1;
  unsigned char *copy = aligned_alloc(4096, (n + 4095) / 4096 * 4096);
  memcpy(copy, whole, n);
  if (open_all(copy, n)) return 2;
  if (n % 4096 && open_all(copy + 1, n - 1) == 0) return 3;
  free(copy);
  for (size_t i = 0; i < n; ++i) {
    unsigned char *part;
    if (posix_memalign((void **)&part, 4096, i ? i : 1)) return 4;
    memcpy(part, whole, i);
    int32_t code = open_all(part, i);
    if (code <= 0) return 5;
    ++counts[code];
    free(part);
  }
  for (int i = 0; i < 20000; ++i) {
    unsigned char *part;
    if (posix_memalign((void **)&part, 4096, n)) return 4;
    memcpy(part, whole, n);
    int isFixed = i >= 10000;
    // What the tables say is changed more often than code.
    uint32_t most = isFixed && i % 2 ? 256 : (uint32_t)n;
    for (int k = i % 3; k >= 0; --k) {
      uint32_t at = next() % most;
      part[at] ^= (unsigned char)(1u << next() % 8);
    }
    if (isFixed) {
      uint32_t right = sum(part, (uint32_t)n);
      for (int k = 0; k < 4; ++k) part[4 * ALULA_MIN_AT_CHECKSUM + k] = (unsigned char)(right >> 8 * k);
    }
    int32_t code = open_all(part, n);
    if (code < 0 || code > 31) return 6;
    // Two flips may undo each other.
    if (!isFixed && !code && memcmp(part, whole, n)) return 7;
    ++counts[code];
    free(part);
  }
  for (int i = 0; i < 32; ++i) if (counts[i]) printf("%d %d\n", i, counts[i]);
  return opened > 0 && seen > 0 ? 0 : 8;
}
"""


def test_e19_damaged_blobs(tmp_path):
    if not find_tool("gcc"):
        pytest.skip("gcc is not installed")
    _, blob = make_blob(tmp_path, "lstm", "cpu:x86-64-v3")
    (tmp_path / "attack.c").write_text(ATTACK)
    sh(
        "gcc", "-std=gnu11", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", INCLUDE,
        tmp_path / "attack.c", MIN, "-o", tmp_path / "attack",
    )  # fmt: skip
    counts = dict(map(int, line.split()) for line in sh(tmp_path / "attack", blob).splitlines())
    # Too short, no blob, another version, a wrong sum; behind the right one other machines and wrong places.
    assert set(counts) >= {0, 16, 17, 18, 19, 20, 22}, counts


def test_e20_size(tmp_path):
    for tool in ("clang-19", "llvm-size-19"):
        if not find_tool(tool):
            pytest.skip(f"{tool} is not installed")
    sh(
        "clang-19", "--target=thumbv7m-none-eabi", "-mcpu=cortex-m3", *STRICT, "-ffreestanding",
        "-nostdlib", "-Os", INCLUDE, "-c", MIN, "-o", tmp_path / "min.o",
    )  # fmt: skip
    text, data, bss = map(int, sh("llvm-size-19", tmp_path / "min.o").split("\n")[1].split()[:3])
    assert text < 8192 and data == 0 and bss == 0
    assert sh("llvm-nm-19", "-u", tmp_path / "min.o").strip() == ""


@pytest.mark.parametrize("compiler", ["gcc", "clang-19", "tcc"])
def test_the_loader_is_c99(compiler, tmp_path):
    if not find_tool(compiler):
        pytest.skip(f"{compiler} is not installed")
    flags = ["-std=c99", "-Wall"] if compiler == "tcc" else STRICT
    sh(compiler, *flags, INCLUDE, "-c", MIN, "-o", tmp_path / "min.o")


def test_another_machine_is_refused(tmp_path):
    manifest, blob = make_blob(tmp_path, "dense", "cpu:x86-64-v3")
    inputs = make_inputs("dense", 1)

    def run(*flags):
        source = write_caller(tmp_path, manifest, blob, inputs, HOSTED)
        sh("gcc", "-std=c11", *flags, INCLUDE, source, MIN, "-o", tmp_path / "caller")
        return subprocess.run([tmp_path / "caller"], capture_output=True).returncode

    assert run("-march=x86-64-v3") == 0
    # ALULA_MIN_E_FEATURES, ALULA_MIN_E_MACHINE.
    assert run("-march=x86-64-v2") == 21
    manifest, blob = make_blob(tmp_path, "dense", "cpu:aarch64")
    assert run("-march=x86-64-v3") == 20


def test_same_bytes(tmp_path):
    blobs = []
    for place in ("a", "b"):
        (tmp_path / place).mkdir()
        blobs.append(make_blob(tmp_path / place, "lstm", "cpu:thumbv7m")[1].read_bytes())
    assert blobs[0] == blobs[1]


@pytest.mark.parametrize(
    "target, message",
    [
        ("cpu:wasm32", "there are no blobs for cpu:wasm32, whose code can't be data: --emit=static"),
        ("cpu:c99", "there is no machine code for cpu:c99, only --emit=c"),
        ("cpu:portable", "--emit=blob: is for one machine, such as --target=cpu:x86-64-v3"),
    ],
)  # fmt: skip
def test_machines_without_blobs(target, message, tmp_path):
    source = tmp_path / "dense.mlir"
    source.write_text(MODELS["dense"])
    result = subprocess.run(
        [BUILD / "bin/alula-compile", source, "--emit=blob", f"--target={target}", "-o", tmp_path / "x"],
        capture_output=True,
        text=True,
    )  # fmt: skip
    assert result.returncode in (1, 2) and message in result.stderr, result.stderr
    assert not (tmp_path / "x.blob").exists()


def test_words_of_a_blob(tmp_path):
    manifest, blob = make_blob(tmp_path, "lstm", "cpu:thumbv7em")
    words = np.frombuffer(blob.read_bytes(), "<u4", 15)
    assert words[0] == 0x424D4C41 and words[2] == blob.stat().st_size
    assert words[8] == manifest["state"]["bytes"] > 0 and words[9] == manifest["stack_bytes"] > 0
    assert words[14] >= manifest["code_bytes"] + manifest["constant_bytes"]
    assert json.loads((tmp_path / "lstm.json").read_text())["machine"] == "thumbv7em"
