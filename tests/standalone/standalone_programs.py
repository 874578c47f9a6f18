"""Compiles models to code without a runtime, links it to small C programs, and runs them."""

import json
import os
import pathlib
import shutil
import subprocess

import alula
import numpy as np
from standalone_models import MODELS, make_input

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("ALULA_BUILD", "build")

# What programs write and end with, and how they begin, without a C library.
CALL = r"""
static void put(const char *text, size_t n) { call(WRITE, 1, (long)text, (long)n); }
void _start(void);
void _start(void) { call(EXIT, run(), 0, 0); }
"""
RISCV = r"""
static long call(long n, long a, long b, long c) {
  register long a7 __asm__("a7") = n, a0 __asm__("a0") = a, a1 __asm__("a1") = b, a2 __asm__("a2") = c;
  __asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2) : "memory");
  return a0;
}
""" + CALL.replace("WRITE", "64").replace("EXIT", "93")
START = {
    "x86_64": r"""
static long call(long n, long a, long b, long c) {
  long r;
  __asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
  return r;
}
"""
    + CALL.replace("WRITE", "1")
    .replace("EXIT", "60")
    .replace(
        "\nvoid _start(void) {", "\n__attribute__((force_align_arg_pointer)) void _start(void) {"
    ),
    # gcc -m32 and clang -m32.
    "i386": r"""
static long call(long n, long a, long b, long c) {
  __asm__ volatile("int $0x80" : "+a"(n) : "b"(a), "c"(b), "d"(c) : "memory");
  return n;
}
"""
    + CALL.replace("WRITE", "4")
    .replace("EXIT", "1")
    .replace(
        "\nvoid _start(void) {", "\n__attribute__((force_align_arg_pointer)) void _start(void) {"
    ),
    "aarch64": r"""
static long call(long n, long a, long b, long c) {
  register long x8 __asm__("x8") = n, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
  return x0;
}
"""
    + CALL.replace("WRITE", "64").replace("EXIT", "93"),
    "arm": r"""
static long call(long n, long a, long b, long c) {
  register long r7 __asm__("r7") = n, r0 __asm__("r0") = a, r1 __asm__("r1") = b, r2 __asm__("r2") = c;
  __asm__ volatile("svc 0" : "+r"(r0) : "r"(r7), "r"(r1), "r"(r2) : "memory");
  return r0;
}
"""
    + CALL.replace("WRITE", "4").replace("EXIT", "1"),
    "riscv": RISCV,
}

# Prints a line of hexadecimal digits for each result of each call.
PROGRAM = r"""
#include "NAME.h"
static void put(const char *text, size_t n);
static int run(void);
START
static _Alignas(ALIGN) unsigned char arena[UPPER_ARENA_BYTES + 1];
static _Alignas(ALIGN) unsigned char state[UPPER_STATE_BYTES + 1];
static _Alignas(64) const unsigned char inputs[][UPPER_IN0_BYTES] = {INPUTS};
static _Alignas(64) unsigned char output[UPPER_OUT0_BYTES];
static int run(void) {
  static const char digits[] = "0123456789abcdef";
  const void *in[1];
  void *out[1];
  RESET
  (void)state;
  for (size_t i = 0; i < sizeof inputs / sizeof *inputs; ++i) {
    for (size_t j = 0; j < sizeof arena; ++j) arena[j] = 0xFF;
    in[0] = inputs[i];
    out[0] = output;
    int32_t code = NAME_run(arena, STATE in, out);
    if (code) return code;
    for (size_t j = 0; j < sizeof output; ++j) {
      char text[2] = {digits[output[j] >> 4], digits[output[j] & 15]};
      put(text, 2);
    }
    put("\n", 1);
  }
  return 0;
}
"""

HOSTED = r"""
#include <stdio.h>
static void put(const char *text, size_t n) { fwrite(text, 1, n, stdout); }
int main(void) { return run(); }
"""


def sh(*command, **options):
    result = subprocess.run(
        [*map(str, command)], capture_output=True, text=True, check=False, **options
    )
    assert not result.returncode, f"{command}\n{result.stdout}\n{result.stderr}"
    return result.stdout


def compile_static(
    folder, model, *flags, target="cpu:x86-64-v3", name=None, text=None, form="static"
):
    """NAME.a (or .c), .h and .json in the folder; the manifest."""
    name = name or model
    source = folder / f"{name}.mlir"
    source.write_text(text or MODELS[model])
    sh(
        BUILD / "bin/alula-compile", source, f"--emit={form}", f"--target={target}",
        "-o", folder / name, *flags,
    )  # fmt: skip
    return json.loads((folder / f"{name}.json").read_text())


def write_program(folder, manifest, inputs, start=HOSTED):
    """The C file that calls a model with each of the inputs."""
    name = manifest["prefix"]
    state = manifest["state"]["bytes"]
    text = PROGRAM.replace("START", start)
    arrays = ",\n".join("{" + ",".join(map(str, x.tobytes())) + "}" for x in inputs)
    for word, value in {
        "INPUTS": arrays,
        "RESET": f"if ({name}_reset(state)) return 99;" if state else "",
        "STATE in": "state, in" if state else "in",
        "ALIGN": str(max(manifest["alignment"], 1)),
        "UPPER": name.upper(),
        "NAME": name,
    }.items():
        text = text.replace(word, value)
    path = folder / f"{name}_program.c"
    path.write_text(text)
    return path


def run_artifact(folder, model, inputs, target="cpu:x86-64-v3", text=None):
    """What the runtime computes for each of the inputs; globals stay between calls."""
    artifact = folder / f"{model}.alula"
    source = folder / f"{model}_artifact.mlir"
    source.write_text(text or MODELS[model])
    sh(BUILD / "bin/alula-compile", source, f"--target={target}", "-o", artifact)
    program = alula.load(artifact)
    return [np.asarray(program.main(x)).tobytes() for x in inputs]


def make_inputs(model, count=3):
    return [make_input(model, seed) for seed in range(count)]


def find_tool(*names):
    return next((path for path in map(shutil.which, names) if path), None)


def read_lines(text):
    return [bytes.fromhex(line) for line in text.split()]
