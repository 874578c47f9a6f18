"""One model everywhere: as artifact, C library, C, blob, on Cortex-M boards, in a browser and on a GPU that is interpreted, with sizes, times and how far its numbers are from the artifact's.

    ./dev everywhere [FOLDER]

FOLDER/index.html (build/everywhere) has the table and the page that computes in the browser. What is not installed has
a row that says so.
"""

import html
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import numpy as np
import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "cuda"), str(HERE.parents[1] / "python/tests"), str(HERE.parents[1] / "python")]  # fmt: skip

import browser
import fake_gpu
from standalone_models import MODELS
from standalone_programs import (
    BUILD,
    HOSTED,
    ROOT,
    compile_static,
    find_tool,
    make_inputs,
    read_lines,
    sh,
    write_program,
)
from test_blobs import INCLUDE, MIN, make_blob, write_caller
from test_instructions import count
from test_small_machines import make_page, run_on_board

MODEL = "digits"


def add_up(manifest):
    main = manifest["functions"][0]
    return {
        "code": manifest["code_bytes"], "weights": manifest["constant_bytes"],
        "arena": main["arena"]["bytes"], "stack": manifest["stack_bytes"],
    }  # fmt: skip


def as_artifact(folder, inputs):
    import alula

    source, artifact = folder / "model.mlir", folder / "model.alula"
    source.write_text(MODELS[MODEL])
    sh(BUILD / "bin/alula-compile", source, "--target=cpu:x86-64-v3", "-o", artifact)
    program = alula.load(str(artifact))
    numbers = [np.asarray(program.main(x)).tobytes() for x in inputs]
    said = sh(BUILD / "bin/alula-bench", artifact, "--threads=1")
    return numbers, {"file": artifact.stat().st_size, "time": read_time(said)}


def read_time(said):
    """Microseconds of processor time of a call, as alula-bench says it."""
    value, unit = re.search(r"real_time +[\d.]+ \S+ +([\d.]+) (\S+)", said).groups()
    return f"{float(value) * {'ns': 1e-3, 'us': 1, 'ms': 1e3, 's': 1e6}[unit]:.2f} µs"


def as_library(folder, inputs):
    manifest = compile_static(folder, MODEL)
    source = write_program(folder, manifest, inputs[:1], HOSTED)
    numbers = read_lines(build_and_run(folder, source, folder / f"{MODEL}.a"))
    return numbers, add_up(manifest) | {
        "file": (folder / f"{MODEL}.a").stat().st_size,
        "time": time_calls(folder, manifest, IN_LIBRARY, folder / f"{MODEL}.a"),
    }


def as_c(folder, inputs):
    manifest = compile_static(folder, MODEL, target="cpu:c99", form="c")
    text, built = folder / f"{MODEL}.c", folder / "text.o"
    sh("cc", "-std=gnu99", "-O3", "-march=x86-64-v3", "-c", text, "-o", built)
    source = write_program(folder, manifest, inputs[:1], HOSTED)
    numbers = read_lines(build_and_run(folder, source, built))
    code = int(sh("size", built).splitlines()[1].split()[0]) - manifest["constant_bytes"]
    return numbers, add_up(manifest) | {
        "code": code, "stack": None, "file": text.stat().st_size,
        "time": time_calls(folder, manifest, IN_LIBRARY, built),
    }  # fmt: skip


def build_and_run(folder, source, *built):
    sh("cc", "-std=c11", "-O1", "-march=x86-64-v3", source, *built, "-lm", "-o", folder / "program")
    return sh(folder / "program")


CALLER = r"""
#define _POSIX_C_SOURCE 199309L
INCLUDE
#include <stdio.h>
#include <time.h>
static _Alignas(64) unsigned char arena[UPPER_ARENA_BYTES + 1];
static _Alignas(64) unsigned char input[UPPER_IN0_BYTES], output[UPPER_OUT0_BYTES];
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}
int main(void) {
  const void *in[1] = {input};
  void *out[1] = {output};
  double least = 1e30;
  BEFORE
  for (int round = 0; round < 9; ++round) {
    double start = now();
    for (int i = 0; i < 200; ++i)
      if (CALL) return 1;
    double each = (now() - start) / 200;
    least = each < least ? each : least;
  }
  printf("%.2f", least);
  return 0;
}
"""


IN_LIBRARY = {"INCLUDE": '#include "NAME.h"', "BEFORE": "", "CALL": "NAME_run(arena, in, out)"}
IN_BLOB = {
    "INCLUDE": r"""#include "alula/min.h"
__asm__(".section .text.blob,\"ax\",%progbits\n.balign 4096\n.globl the_blob\nthe_blob:\n.incbin \"BLOB\"\n"
        ".globl the_end\nthe_end:\n.text\n");
extern const unsigned char the_blob[], the_end[];""",
    "BEFORE": """alula_min program;
  alula_min_function function;
  if (alula_min_open(&program, the_blob, (size_t)(the_end - the_blob), ALULA_MIN_FEATURES) ||
      alula_min_find(&program, "main", &function)) return 1;""",
    "CALL": "alula_min_run(&function, arena, sizeof arena, 0, in, out)",
}


def time_calls(folder, manifest, how, *built):
    """Microseconds of processor time of a call: the least of nine means."""
    name, main = manifest["prefix"], manifest["functions"][0]
    text = CALLER
    for word, value in {
        **how,
        "UPPER_ARENA_BYTES": str(main["arena"]["bytes"]),
        "UPPER_IN0_BYTES": str(main["inputs"][0]["bytes"]),
        "UPPER_OUT0_BYTES": str(main["outputs"][0]["bytes"]),
        "BLOB": str(folder / f"{name}.blob"),
        "NAME": name,
    }.items():
        text = text.replace(word, value)
    source = folder / "time_calls.c"
    source.write_text(text)
    return f"{build_and_run(folder, source, *built)} µs"


def as_blob(folder, inputs):
    manifest, blob = make_blob(folder, MODEL, "cpu:x86-64-v3")
    source = write_caller(folder, manifest, blob, inputs[:1], HOSTED)
    numbers = read_lines(build_and_run(folder, source, INCLUDE, MIN))
    return numbers, add_up(manifest) | {
        "file": blob.stat().st_size,
        "time": time_calls(folder, manifest, IN_BLOB, INCLUDE, MIN),
    }


def on_board(machine):
    def run(folder, inputs):
        manifest = compile_static(folder, MODEL, target=f"cpu:{machine}")
        result = run_on_board(folder, machine, manifest, inputs[:1])
        assert result.returncode == 0, result.stderr
        instructions, _ = count(folder, machine, MODEL, MODELS[MODEL])
        return read_lines(result.stdout + result.stderr), add_up(manifest) | {
            "file": (folder / f"{MODEL}.a").stat().st_size,
            "time": f"{instructions:,} instructions",
        }

    return run


def in_browser(folder, inputs):
    browser.find_browser()
    page = make_page(folder)
    images = np.asarray(inputs[0])
    with browser.open_browser() as tab:
        tab.open(page / "digits.html")
        for _ in range(1000):
            if tab.evaluate("typeof model === 'object'"):
                break
        rows = [tab.evaluate(f"classify({json.dumps(row.tolist())})") for row in images]
        times = [
            tab.evaluate(
                "(() => { const x = new Array(64).fill(0.5), start = performance.now();"
                " for (let i = 0; i < 500; ++i) classify(x);"
                " return (performance.now() - start) * 2; })()"
            )
            for _ in range(9)
        ]
        assert tab.problems == []
    sizes = {
        "file": (page / "digits.html").stat().st_size,
        "code": (page / "digits.wasm").stat().st_size,
    }
    # A picture at a time: the others of the batch are empty, rows don't know each other.
    numbers = [np.asarray(rows, np.float32).tobytes()]
    return numbers, sizes | {"time": f"{statistics.median(times):.1f} µs in Chromium"}


def on_fake_gpu(folder, inputs):
    if not fake_gpu.LIBRARY.exists():
        pytest.skip("the driver for tests is not built")
    source, artifact = folder / "model.mlir", folder / "gpu.alula"
    source.write_text(MODELS[MODEL])
    sh(BUILD / "bin/alula-compile", source, "--target=cuda:sm_80", "-o", artifact)
    np.save(folder / "x.npy", inputs[0])
    sh(
        BUILD / "bin/alula-run", artifact, "--device=cuda", f"--input=@{folder}/x.npy",
        f"--output={folder}/y.npy", env={**os.environ, **fake_gpu.environment()},
    )  # fmt: skip
    return [np.load(folder / "y.npy").tobytes()], {
        "file": artifact.stat().st_size, "time": "interpreted",
    }  # fmt: skip


WAYS = {
    "artifact, this machine": as_artifact,
    "C library (--emit=static)": as_library,
    "C99 (--emit=c), cc -O3": as_c,
    "blob (--emit=blob)": as_blob,
    "Cortex-M4, board under qemu": on_board("thumbv7em"),
    "Cortex-M3, without floats": on_board("thumbv7m"),
    "browser (WebAssembly)": in_browser,
    "CUDA (PTX), fake driver": on_fake_gpu,
}
COLUMNS = ["file", "code", "weights", "arena", "stack", "time"]


def measure(folder):
    """A row for each way: sizes in bytes, the time of a call, the largest difference to the artifact."""
    inputs = make_inputs(MODEL, 1)
    rows, want = [], None
    for way, run in WAYS.items():
        with tempfile.TemporaryDirectory() as scratch:
            try:
                numbers, facts = run(pathlib.Path(scratch), inputs)
            except pytest.skip.Exception as missing:
                rows.append({"way": way, "missing": str(missing)})
                continue
            if way.startswith("browser"):
                page = pathlib.Path(scratch) / "page/digits.html"
                (folder / "digits.html").write_bytes(page.read_bytes())
        got = np.frombuffer(numbers[0], np.float32)
        want = got if want is None else want
        rows.append({"way": way, "difference": float(np.abs(got - want).max()), **facts})
    return rows


def show(value):
    return f"{value:,}" if isinstance(value, int) else "" if value is None else str(value)


def write_page(folder, rows):
    lines = ["| | " + " | ".join(COLUMNS) + " | difference |", "|---" * (len(COLUMNS) + 2) + "|"]
    body = ""
    for row in rows:
        if "missing" in row:
            cells = [row["missing"], *[""] * len(COLUMNS)]
        else:
            cells = [show(row.get(name)) for name in COLUMNS] + [f"{row['difference']:.1e}"]
        lines.append(f"| {row['way']} | " + " | ".join(cells) + " |")
        body += "<tr><th>" + "<td>".join(map(html.escape, [row["way"], *cells])) + "\n"
    heads = "<th>".join(["", *COLUMNS, "difference"])
    live = (
        "<iframe src=digits.html width=900 height=600></iframe>"
        if (folder / "digits.html").exists()
        else ""
    )
    (folder / "index.html").write_text(
        f"""<!doctype html><meta charset=utf-8><title>One model everywhere</title>
<style>body {{ font: 15px sans-serif; margin: 2em }} td, th {{ padding: 4px 12px; text-align: right }}
th:first-child {{ text-align: left }} iframe {{ border: 1px solid #ccc; margin-top: 2em }}</style>
<h1>One model everywhere</h1>
<p>64, 128, 64, 10 and a softmax, 4 images at a time. Bytes; processor time of a call in one thread; the largest difference to the artifact's
results. qemu counts instructions, no cycles; the fake driver interprets PTX, which says nothing of time.
<table><tr><th>{heads}
{body}</table>
{live}
"""
    )
    return "\n".join(lines)


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/everywhere")
    folder.mkdir(parents=True, exist_ok=True)
    print(write_page(folder, measure(folder)))
    print(f"\n{folder / 'index.html'}")


if __name__ == "__main__":
    main()
