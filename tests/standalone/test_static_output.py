"""Code without a runtime: what is in the files, what it computes, what it refuses (checks E1 to E10, E15 to E18, E21)."""

import json
import re
import shutil
import subprocess

import pytest
from standalone_models import MODELS, make_dense
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

CC = find_tool("gcc", "clang-19", "clang")


def build_and_run(folder, manifest, inputs, *flags, start=HOSTED):
    source = write_program(folder, manifest, inputs, start)
    program = folder / f"{manifest['prefix']}_program"
    sh(
        CC, "-std=c11", "-O1", "-Wall", "-Werror", *flags, source,
        folder / f"{manifest['prefix']}.a", "-o", program,
    )  # fmt: skip
    return read_lines(sh(program))


@pytest.fixture(params=MODELS, scope="module")
def built(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    return request.param, folder, compile_static(folder, request.param)


def test_e1_e3_calls_nothing_and_has_no_memory_of_its_own(built):
    name, folder, manifest = built
    assert manifest["undefined"] == []
    assert sh("nm", "-u", folder / f"{name}.a").split()[1:] == []
    # Nothing is seen but what C calls.
    seen = re.findall(r" [A-Z] (\S+)", sh("nm", "-g", folder / f"{name}.a"))
    assert seen and all(symbol.startswith(f"{name}_") for symbol in seen), seen
    sections = sh("readelf", "-SW", folder / f"{name}.a")
    for section in (".init_array", ".tdata", ".tbss", ".data", ".bss"):
        sizes = re.findall(rf" {re.escape(section)}(?:\.\S+)? +\S+ +\S+ +\S+ +(\S+)", sections)
        assert all(int(size, 16) == 0 for size in sizes), section
    if name != "softmax":
        assert ".rodata" in sections and manifest["constant_bytes"] > 0


def test_numbers_are_those_of_the_runtime(built):
    name, folder, manifest = built
    inputs = make_inputs(name)
    assert build_and_run(folder, manifest, inputs) == run_artifact(folder, name, inputs)


@pytest.mark.skipif(not find_tool("strace"), reason="strace is not installed")
def test_e2_without_a_c_library(built):
    name, folder, manifest = built
    source = write_program(folder, manifest, make_inputs(name, 1), START["x86_64"])
    program = folder / f"{name}_bare"
    sh(
        CC, "-std=c11", "-O1", "-nostdlib", "-static", "-ffreestanding", "-fno-stack-protector",
        source, folder / f"{name}.a", "-o", program,
    )  # fmt: skip
    log = folder / "strace.log"
    traced = subprocess.run(["strace", "-o", log, program], capture_output=True, text=True)
    if "ptrace" in traced.stderr.lower():
        pytest.skip("strace may not trace here")
    assert read_lines(traced.stdout) == run_artifact(folder, name, make_inputs(name, 1))
    calls = set(re.findall(r"^(\w+)\(", log.read_text(), re.MULTILINE))
    assert calls == {"execve", "write", "exit"}


COMPILERS = [
    [tool, *flags]
    for tool, *flags in (
        ("gcc", "-std=c99", "-pedantic"),
        ("clang-19", "-std=c99", "-pedantic"),
        ("g++", "-x", "c++", "-std=c++17"),
        ("clang++-19", "-x", "c++", "-std=c++17"),
        ("gcc", "-std=c99", "-pedantic", "-m32", "-ffreestanding"),
        ("clang++-19", "-x", "c++", "-std=c++17", "-m32", "-ffreestanding"),
    )
]


@pytest.mark.parametrize(
    "compiler", COMPILERS, ids=lambda words: words[0] + "-m32" * ("-m32" in words)
)
def test_e4_headers(built, compiler):
    if not find_tool(compiler[0]):
        pytest.skip(f"{compiler[0]} is not installed")
    name, folder, _ = built
    text = f'#include "{name}.h"\n#include "{name}.h"\n'
    command = [*compiler, "-Wall", "-Wextra", "-Werror", f"-I{folder}", "-fsyntax-only", "-"]
    if compiler[1] == "-std=c99":
        command[-1:] = ["-x", "c", "-"]
    result = subprocess.run(command, input=text, capture_output=True, text=True)
    assert not result.returncode, result.stderr


GUARDED = r"""
#define _GNU_SOURCE
#include "NAME.h"
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
/* Memory that ends, and then one that begins, where no other memory is. */
static unsigned char *guarded(size_t bytes, int at_end) {
  size_t page = 4096, whole = (bytes + page - 1) / page * page;
  unsigned char *map = mmap(0, whole + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(map + page, whole, PROT_READ | PROT_WRITE);
  return map + page + (at_end ? whole - bytes : 0);
}
int main(void) {
  for (int end = 0; end < 2; ++end) {
    void *arena = guarded(UPPER_ARENA_BYTES, end);
    const void *in[1] = {guarded(UPPER_IN0_BYTES, end)};
    void *out[1] = {guarded(UPPER_OUT0_BYTES, end)};
    unsigned char first[UPPER_OUT0_BYTES];
    for (int i = 0; i < 1000; ++i) {
      memset(arena, i ? 0xFF : 0, UPPER_ARENA_BYTES);
      memset(out[0], 0xFF, UPPER_OUT0_BYTES);
      RESET
      int code = NAME_run(arena, STATE in, out);
      if (code) return code;
      if (!i) memcpy(first, out[0], sizeof first);
      if (memcmp(first, out[0], sizeof first)) return 50;
    }
    int code = NAME_run_checked(arena, UPPER_ARENA_BYTES - 1, STATE in, out);
    if (UPPER_ARENA_BYTES && code != ALULA_E_ARENA) return 51;
  }
  return 0;
}
"""


def fill(template, name, manifest):
    state = manifest["state"]["bytes"]
    text = template.replace("STATE", "state," if state else "")
    reset = f"static _Alignas(64) unsigned char state[{state}]; NAME_reset(state);" if state else ""
    if state:
        text = text.replace("int main(void) {", "int main(void) {\n" + reset, 1)
    text = text.replace("RESET", "NAME_reset(state);" if state else "")
    return text.replace("UPPER", name.upper()).replace("NAME", name)


def run_c(folder, name, text, *flags):
    source, program = folder / f"{name}_c.c", folder / f"{name}_c"
    source.write_text(text)
    sh(CC, "-std=c11", *flags, source, folder / f"{name}.a", "-o", program)
    return subprocess.run([program], capture_output=True, text=True)


def test_e5_e6_arena_between_guards_and_with_any_content(built):
    name, folder, manifest = built
    assert run_c(folder, name, fill(GUARDED, name, manifest)).returncode == 0


def check_plan(function):
    """The peak of what lives at once; nothing that lives at the same time shares bytes."""
    arena = function["arena"]
    pieces = arena["pieces"]
    for a in pieces:
        assert a["offset"] + a["bytes"] <= arena["bytes"]
    peak = 0
    for step in {piece["first_step"] for piece in pieces}:
        live = [p for p in pieces if p["first_step"] <= step <= p["last_step"]]
        taken = set()
        for piece in live:
            taken.update(range(piece["offset"], piece["offset"] + piece["bytes"]))
        peak = max(peak, len(taken))
        for i, a in enumerate(live):
            for b in live[:i]:
                assert (
                    a["offset"] + a["bytes"] <= b["offset"]
                    or b["offset"] + b["bytes"] <= a["offset"]
                ), (a, b)
    return peak


def test_e7_arena_is_close_to_the_lower_bound(built):
    _, _, manifest = built
    for function in manifest["functions"]:
        arena = function["arena"]
        assert check_plan(function) == arena["lower_bound"]
        assert arena["bytes"] <= 1.10 * arena["lower_bound"]


def test_e8_arena_budget(tmp_path):
    arena = compile_static(tmp_path, "conv")["functions"][0]["arena"]["bytes"]
    compile_static(tmp_path, "conv", f"--arena-budget={arena}")
    result = subprocess.run(
        [
            BUILD / "bin/alula-compile", tmp_path / "conv.mlir", "--emit=static",
            "--target=cpu:x86-64-v3", f"--arena-budget={arena - 1}", "-o", tmp_path / "less",
        ],
        capture_output=True,
        text=True,
    )  # fmt: skip
    assert result.returncode == 1
    assert (
        f"'func.func': the arena of @main is {arena} bytes, more than --arena-budget={arena - 1}"
        in result.stderr
    )
    assert re.search(r"at step \d+ live \d+ bytes: ", result.stderr)
    assert not (tmp_path / "less.a").exists()


PAINTED = r"""
#define _GNU_SOURCE
#include "NAME.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>
static _Alignas(64) unsigned char stack[1 << 20], arena[UPPER_ARENA_BYTES + 1];
static unsigned char in0[UPPER_IN0_BYTES], out0[UPPER_OUT0_BYTES];
static ucontext_t caller, callee;
static volatile int code;
static unsigned char *volatile top;
static void call(void) {
  const void *in[1] = {in0};
  void *out[1] = {out0};
  unsigned char here;
  top = &here;
  code = NAME_run(arena, STATE in, out);
}
int main(void) {
  memset(stack, 0xA5, sizeof stack);
  getcontext(&callee);
  callee.uc_stack.ss_sp = stack;
  callee.uc_stack.ss_size = sizeof stack;
  callee.uc_link = &caller;
  makecontext(&callee, call, 0);
  swapcontext(&caller, &callee);
  size_t untouched = 0;
  while (stack[untouched] == 0xA5) ++untouched;
  printf("%ld\n", (long)(top - (stack + untouched)));
  return code;
}
"""


def test_e9_stack_is_within_its_bound(built):
    name, folder, manifest = built
    text = fill(PAINTED, name, manifest)
    if manifest["state"]["bytes"]:
        state = f"static _Alignas(64) unsigned char state[{manifest['state']['bytes']}];"
        text = text.replace(state + " ", "").replace(
            "static ucontext_t", state + "\nstatic ucontext_t"
        )
    result = run_c(folder, name, text, "-O1")
    assert result.returncode == 0, result.stderr
    # The frame of who calls, up to its own variable, is counted too.
    assert int(result.stdout) <= manifest["stack_bytes"] + 160
    assert manifest["stack_bytes"] < 1 << 16


TWO = r"""
#include "dense.h"
#include "digits.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>
static _Alignas(64) unsigned char a[2][DENSE_ARENA_BYTES + DIGITS_ARENA_BYTES + 64];
static float in0[16], in1[256];
static float want0[10], want1[40];
static void *work(void *p) {
  unsigned char *arena = p;
  float out0[10], out1[40];
  for (int i = 0; i < 200; ++i) {
    if (dense_run_io(arena, in0, out0) || memcmp(out0, want0, sizeof out0)) return p;
    if (digits_run_io(arena, in1, out1) || memcmp(out1, want1, sizeof out1)) return p;
  }
  return 0;
}
int main(void) {
  for (int i = 0; i < 256; ++i) in1[i] = (i % 7) * 0.25f;
  for (int i = 0; i < 16; ++i) in0[i] = i * 0.125f;
  dense_run_io(a[0], in0, want0);
  digits_run_io(a[0], in1, want1);
  pthread_t threads[2];
  void *bad[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], 0, work, a[i]);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], &bad[i]);
  return bad[0] || bad[1];
}
"""


def test_e10_two_models_and_two_threads(tmp_path):
    for name in ("dense", "digits"):
        compile_static(tmp_path, name)
    (tmp_path / "two.c").write_text(TWO)
    sh(
        CC, "-std=c11", "-pthread", tmp_path / "two.c", tmp_path / "dense.a",
        tmp_path / "digits.a", "-o", tmp_path / "two",
    )  # fmt: skip
    sh(tmp_path / "two")


WRONG = r"""
#include "dense.h"
#include <stdio.h>
static _Alignas(64) unsigned char arena[DENSE_ARENA_BYTES + 64];
static _Alignas(64) float in0[64], out0[64];
int main(void) {
  const void *in[1] = {in0}, *null_in[1] = {0}, *odd[1] = {(char *)in0 + 1};
  void *out[1] = {out0}, *null_out[1] = {0}, *over[1] = {in0 + 15}, *same[1] = {in0};
  void *beside[1] = {in0 + 16};
  printf("%d %d %d %d %d %d %d %d %d %d %d\n", dense_run(arena, in, out),
         dense_run(0, in, out), dense_run(arena, 0, out), dense_run(arena, in, 0),
         dense_run(arena, null_in, out), dense_run(arena, in, null_out),
         dense_run(arena + 1, in, out), dense_run(arena, odd, out),
         dense_run(arena, in, over), dense_run(arena, in, same), dense_run(arena, in, beside));
  return 0;
}
"""


def test_e18_wrong_pointers(tmp_path):
    # A model whose kernels need an arena.
    manifest = compile_static(tmp_path, "dense", text=make_dense(batch=1))
    result = run_c(tmp_path, "dense", WRONG)
    codes = result.stdout.split()
    if not manifest["functions"][0]["arena"]["bytes"]:
        codes[1] = codes[6] = "unused"
        assert codes == "0 unused 1 1 1 1 unused 2 3 3 0".split()
    else:
        assert codes == "0 1 1 1 1 1 2 2 3 3 0".split()


def test_e21_same_bytes(tmp_path):
    files = {}
    for place in ("one", "two"):
        folder = tmp_path / place
        folder.mkdir()
        compile_static(folder, "digits")
        for ending in (".a", ".h", ".json"):
            files.setdefault(ending, []).append((folder / f"digits{ending}").read_bytes())
    for ending, (one, two) in files.items():
        assert one == two, ending


REFUSED = {
    "size": (
        "func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {\n"
        "  %0 = stablehlo.add %x, %x : tensor<?x4xf32>\n  return %0 : tensor<?x4xf32>\n}\n",
        [],
        ":1:1: error: 'func.func': argument 0 of @main has a size that is known at run time only: "
        "code without a runtime has all its memory planned: 'tensor<?x4xf32>'",
    ),
    "call": (
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
        "  %0 = stablehlo.custom_call @mine(%x) : (tensor<4xf32>) -> tensor<4xf32>\n"
        "  return %0 : tensor<4xf32>\n}\n",
        ["--custom-call=mine"],
        ":2:8: error: 'stablehlo.custom_call': needs a runtime, which static code has not: @mine",
    ),
    "symbols": (
        "func.func @run() -> tensor<4xf32> {\n  %0 = stablehlo.constant dense<1.0> : tensor<4xf32>\n"
        "  return %0 : tensor<4xf32>\n}\n"
        "func.func @main() -> tensor<4xf32> {\n  %0 = stablehlo.constant dense<2.0> : tensor<4xf32>\n"
        "  return %0 : tensor<4xf32>\n}\n",
        [],
        "'func.func': two functions would be called refused_run in C: @",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_e16_what_needs_a_runtime_is_named(case, tmp_path):
    text, flags, message = REFUSED[case]
    source = tmp_path / "refused.mlir"
    source.write_text(text)
    result = subprocess.run(
        [
            BUILD / "bin/alula-compile", source, "--emit=static", "--target=cpu:x86-64-v3",
            "-o", tmp_path / "refused", *flags,
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )  # fmt: skip
    assert result.returncode == 1 and message in result.stderr, result.stderr
    # The program is to blame: nothing is kept for the compiler's authors.
    assert "how to see this again" not in result.stderr


@pytest.mark.parametrize(
    "flags, message",
    [
        (["--target=cpu:x86-64-v3", "--target=cpu:x86-64-v4"], "--emit=static: is for one machine"),
        ([], "--emit=static: is for one machine"),
        (["--target=cpu:x86-64-v3", "--symbol-prefix=1x"], "--symbol-prefix: must be a name as C has them: is '1x'"),
        (["--target=cpu:x86-64-v3", "--arena-budget=much"], "--arena-budget: must be a number: is 'much'"),
        (["--target=cpu:x86-64-v3", "--emit=dynamic"], "--emit: must be 'artifact', 'static', 'c' or 'blob': is 'dynamic'"),
        (["--target=cpu:mips"], "no such cpu: mips; there are"),
        (["--target=cuda:sm_80"], "'builtin.module': --emit=static is for processors: is for 'cuda:sm_80'"),
    ],
)  # fmt: skip
def test_e22_wrong_flags(flags, message, tmp_path):
    source = tmp_path / "x.mlir"
    source.write_text(MODELS["dense"])
    result = subprocess.run(
        [BUILD / "bin/alula-compile", source, "--emit=static", "-o", tmp_path / "x", *flags],
        capture_output=True,
        text=True,
    )
    assert result.returncode and message in result.stderr, result.stderr


MANY = """
ml_program.global private mutable @count(dense<5> : tensor<i32>) : tensor<i32>
ml_program.global private mutable @last : tensor<4xf32>
func.func @next(%x: tensor<4xf32>) -> tensor<i32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = ml_program.global_load @count : tensor<i32>
  %m = stablehlo.add %n, %one : tensor<i32>
  ml_program.global_store @count = %m : tensor<i32>
  ml_program.global_store @last = %x : tensor<4xf32>
  return %m : tensor<i32>
}
func.func @last_one() -> tensor<4xf32> {
  %x = ml_program.global_load @last : tensor<4xf32>
  return %x : tensor<4xf32>
}
func.func @collatz(%n: tensor<i64>) -> (tensor<i64>, tensor<i64>) {
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %two = stablehlo.constant dense<2> : tensor<i64>
  %three = stablehlo.constant dense<3> : tensor<i64>
  %r:2 = stablehlo.while(%i = %n, %steps = %zero) : tensor<i64>, tensor<i64>
   cond {
    %go = stablehlo.compare NE, %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %rest = stablehlo.remainder %i, %two : tensor<i64>
    %odd = stablehlo.compare EQ, %rest, %one : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %half = stablehlo.divide %i, %two : tensor<i64>
    %triple = stablehlo.multiply %i, %three : tensor<i64>
    %up = stablehlo.add %triple, %one : tensor<i64>
    %j = stablehlo.select %odd, %up, %half : tensor<i1>, tensor<i64>
    %k = stablehlo.add %steps, %one : tensor<i64>
    stablehlo.return %j, %k : tensor<i64>, tensor<i64>
  }
  return %r#0, %r#1 : tensor<i64>, tensor<i64>
}
func.func @power(%a: tensor<8x8xf32>, %n: tensor<i32>) -> tensor<8x8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %m = %a) : tensor<i32>, tensor<8x8xf32>
   cond {
    %go = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %p = stablehlo.dot_general %m, %a, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %p : tensor<i32>, tensor<8x8xf32>
  }
  return %r#1 : tensor<8x8xf32>
}
"""
MANY_C = r"""
#include "many.h"
#include <stdio.h>
static _Alignas(64) unsigned char arena[MANY_ARENA_BYTES + 64], state[MANY_STATE_BYTES];
int main(void) {
  float x[4] = {1, 2, 3, 4}, y[4] = {0}, a[64] = {0}, p[64];
  int32_t n = 0, two = 2;
  int64_t start = 27, end = 0, steps = 0;
  if (many_reset(0) != ALULA_E_NULL || many_reset(state)) return 1;
  printf("%d", many_last_one_io(arena, state, y));
  for (int i = 0; i < 3; ++i) many_next_io(arena, state, x, &n);
  printf(" %d %d", (int)n, many_last_one_io(arena, state, y));
  printf(" %g", y[3]);
  many_reset(state);
  many_next_io(arena, state, x, &n);
  printf(" %d", (int)n);
  printf(" %d", many_collatz_io(arena, state, &start, &end, &steps));
  printf(" %d %d", (int)end, (int)steps);
  for (int i = 0; i < 8; ++i) a[9 * i] = 3;
  printf(" %d", many_power_io(arena, state, a, &two, p));
  printf(" %g %g\n", p[0], p[1]);
  return 0;
}
"""


def test_state_loops_and_several_functions(tmp_path):
    manifest = compile_static(tmp_path, "many", text=MANY)
    assert [f["symbol"] for f in manifest["functions"]] == [
        "many_next", "many_last_one", "many_collatz", "many_power",
    ]  # fmt: skip
    result = run_c(tmp_path, "many", MANY_C, "-Wall", "-Werror")
    # Before the first value: ALULA_E_STATE. Then 8 calls are counted from 5.
    assert result.stdout.split() == "6 8 0 4 6 0 1 111 0 27 0".split(), result.stderr


FUNCTIONS = ["exponential", "tanh", "log", "sine", "logistic", "cbrt", "power", "atan2"]


def test_e15_functions_bring_their_code(tmp_path):
    t = "tensor<32xf32>"
    text = f"func.func @main(%x: {t}) -> tensor<{len(FUNCTIONS)}x32xf32> {{\n"
    for i, name in enumerate(FUNCTIONS):
        operands = "%x, %x" if name in ("power", "atan2") else "%x"
        text += f"  %{i} = stablehlo.{name} {operands} : {t}\n"
        text += f"  %r{i} = stablehlo.reshape %{i} : ({t}) -> tensor<1x32xf32>\n"
    rows = ", ".join(f"%r{i}" for i in range(len(FUNCTIONS)))
    types = ", ".join(["tensor<1x32xf32>"] * len(FUNCTIONS))
    text += f"  %y = stablehlo.concatenate {rows}, dim = 0 : ({types}) -> tensor<{len(FUNCTIONS)}x32xf32>\n"
    text += f"  return %y : tensor<{len(FUNCTIONS)}x32xf32>\n}}\n"
    import numpy as np

    inputs = [np.linspace(0.1, 3, 32, dtype=np.float32)]
    manifest = compile_static(tmp_path, "functions", text=text)
    assert manifest["undefined"] == []
    assert build_and_run(tmp_path, manifest, inputs) == run_artifact(
        tmp_path, "functions", inputs, text=text
    )


def test_names(tmp_path):
    # The file says how names begin, unless a flag does; endings of the three files may be given.
    source = tmp_path / "x.mlir"
    source.write_text(MODELS["dense"])
    compile_flags = [BUILD / "bin/alula-compile", source, "--emit=static", "--target=cpu:x86-64-v3"]
    sh(*compile_flags, "-o", tmp_path / "my-net.a")
    assert json.loads((tmp_path / "my-net.json").read_text())["prefix"] == "my_net"
    sh(*compile_flags, "-o", tmp_path / "b", "--symbol-prefix=other")
    assert "int32_t other_run(void *arena" in (tmp_path / "b.h").read_text()
    result = subprocess.run(compile_flags, capture_output=True, text=True)
    assert result.returncode == 2
    assert "--emit=static writes several files: -o NAME says how they begin" in result.stderr
    shutil.rmtree(tmp_path)
