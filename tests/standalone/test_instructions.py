"""Instructions of a call on a Cortex-M4 and M3: qemu counts them, a timer of the board reads them.

As a program it prints a table: `.venv/bin/python tests/standalone/test_instructions.py`."""

import pathlib
import subprocess
import tempfile

import pytest
from standalone_models import MODELS, make_dense
from standalone_programs import compile_static, find_tool, sh
from test_small_machines import BOARD, BOARDS, LAYOUT

# An instruction takes 32 ns, the timer counts down every 40.
COUNT = r"""
#include "NAME.h"
static void put(const char *text, size_t n);
static int run(void);
START
static _Alignas(64) unsigned char arena[UPPER_ARENA_BYTES + 1], state[UPPER_STATE_BYTES + 1];
static _Alignas(64) unsigned char input[UPPER_IN0_BYTES], output[UPPER_OUT0_BYTES];
#define TIMER ((volatile unsigned *)0x40000000u)
static int run(void) {
  const void *in[1] = {input};
  void *out[1] = {output};
  (void)state;
  RESET
  TIMER[2] = 0xffffffffu;
  TIMER[0] = 1;
  unsigned before = TIMER[1];
  int code = NAME_run(arena, STATE in, out);
  unsigned ticks = before - TIMER[1];
  if (code) return code;
  for (int i = 28; i >= 0; i -= 4) put(&"0123456789abcdef"[ticks >> i & 15], 1);
  return 0;
}
"""


def count(folder, machine, name, text):
    """Instructions of one call, and the manifest."""
    for tool in ("qemu-system-arm", "clang-19"):
        if not find_tool(tool):
            pytest.skip(f"{tool} is not installed")
    manifest = compile_static(folder, name, target=f"cpu:{machine}", text=text)
    state = manifest["state"]["bytes"]
    program = COUNT.replace("START", BOARD)
    for word, value in {
        "RESET": f"if ({name}_reset(state)) return 99;" if state else "",
        "STATE in": "state, in" if state else "in",
        "UPPER": name.upper(),
        "NAME": name,
    }.items():
        program = program.replace(word, value)
    (folder / "count.c").write_text(program)
    (folder / "board.ld").write_text(LAYOUT)
    board, flags, _ = BOARDS[machine]
    sh(
        "clang-19", *flags, "-std=c11", "-O1", "-ffreestanding", "-fno-builtin", "-nostdlib",
        "-static", "-fuse-ld=lld", "-Wl,--gc-sections", f"-T{folder}/board.ld", folder / "count.c",
        folder / f"{name}.a", "-o", folder / "count.elf",
    )  # fmt: skip
    result = subprocess.run(
        [
            "qemu-system-arm", "-M", board, "-icount", "shift=5", "-nographic", "-monitor", "none",
            "-serial", "null", "-semihosting-config", "enable=on,target=native", "-kernel",
            folder / "count.elf",
        ],
        capture_output=True, text=True, timeout=2000,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return int(result.stdout + result.stderr, 16) * 40 // 32, manifest


# For one multiplication and addition of a dense net, with all around it.
MOST = {"thumbv7em": 14, "thumbv7m": 90}


@pytest.mark.parametrize("machine", MOST)
def test_instructions_of_a_dense_net(machine, tmp_path):
    number, manifest = count(tmp_path, machine, "dense", make_dense())
    products = 16 * 24 + 24 * 10
    assert products < number < MOST[machine] * products
    # It is the loops that are counted.
    larger, _ = count(tmp_path, machine, "dense", make_dense(inputs=64))
    assert larger > number + 48 * 24


if __name__ == "__main__":
    print("| net | machine | instructions | code | arena | stack |\n|---|---|---|---|---|---|")
    for machine in BOARDS:
        for name, text in {
            **{name: MODELS[name] for name in ("dense", "lstm", "int8", "conv")},
            "wide": make_dense(inputs=640, hidden=128, outputs=128),
        }.items():
            with tempfile.TemporaryDirectory() as folder:
                number, facts = count(pathlib.Path(folder), machine, name, text)
                print(
                    f"| {name} | {machine} | {number:,} | {facts['code_bytes']} |"
                    f" {facts['functions'][0]['arena']['bytes']} | {facts['stack_bytes']} |",
                    flush=True,
                )
