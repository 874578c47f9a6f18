"""What hooks do, and how they fail: G8, and the stages that call them."""

import os
import resource
import signal
import subprocess
import time
from pathlib import Path

import pytest
from plugin_runs import DIFFERENCE, PROGRAM, SUM, build, compute, fail, probe, succeed
from support.tool_runs import BIN


def get_folder(text):
    return Path(text.split("rerun.sh, lie in ")[1].split()[0])


def test_g08_a_pass_fails(probe_m, plain):
    load = f"--load-plugin={probe_m}"
    text = fail("plug-stage", PROGRAM, load, "--probe-m-do=fail", status=1)
    assert "plugin 'probe-m', stage preprocess: a pass has failed" in text
    text = fail("plug-stage", PROGRAM, f"--load-plugin={plain}", "--probe-do=fail", status=1)
    assert "plugin 'probe', stage preprocess: it does not like it" in text


def test_g08_invalid_programs_are_dumped(probe_m, plain):
    text = fail("plug-stage", PROGRAM, f"--load-plugin={probe_m}", "--probe-m-do=break", status=1)
    assert "it leaves an invalid program" in text
    folder = get_folder(text)
    assert "stablehlo.add" in (folder / "before.mlir").read_text()
    assert (folder / "after.mlir").read_text() != (folder / "before.mlir").read_text()
    text = fail("plug-stage", PROGRAM, f"--load-plugin={plain}", "--probe-do=garbage", status=1)
    assert "its reply is no program" in text
    assert (get_folder(text) / "after.mlir").read_text() == "this is no program"


@pytest.mark.parametrize("kind", ["plain", "probe_m"])
def test_g08_a_hook_aborts(kind, request):
    library = request.getfixturevalue(kind)
    flag = "--probe-m-do=abort" if kind == "probe_m" else "--probe-do=abort"
    text = fail("plug-crash", PROGRAM, f"--load-plugin={library}", flag, status=70)
    plugin = "probe-m" if kind == "probe_m" else "probe"
    assert f"crash in plugin {plugin}, stage preprocess: aborted (signal 6)" in text
    # The reproducer does the same.
    folder = get_folder(text)
    assert "stablehlo.add" in (folder / "before.mlir").read_text()
    again = subprocess.run([folder / "rerun.sh"], capture_output=True, text=True)
    assert again.returncode == 70 and "[plug-crash]" in again.stderr


def test_g08_a_hook_throws(here):
    (here / "p.cpp").write_text(
        '#include "alula/plugin.h"\n#include <stdexcept>\n'
        "static int32_t rewrite(void *, const alula_stage *, const void *, size_t,\n"
        '                       alula_bytes *, char **) { throw std::runtime_error("no"); }\n'
        'static const char *const stages[] = {"preprocess"};\n'
        "static const alula_hooks hooks = {sizeof hooks, 0, stages, 1, nullptr, nullptr, nullptr,\n"
        "                                  rewrite, nullptr, 0};\n"
        'static const alula_plugin table = {sizeof table, 1, 0, ALULA_TIER_C, "thrower", "1",\n'
        '  "", nullptr, nullptr, 0, nullptr, 0, nullptr, 0, nullptr, nullptr, &hooks};\n'
        "const alula_plugin *alula_plugin_query(uint16_t, uint16_t) { return &table; }\n"
    )
    library = build(here / "p.so", here / "p.cpp", "-fexceptions")
    text = fail("plug-crash", PROGRAM, f"--load-plugin={library}", status=70)
    assert "crash in plugin thrower, stage preprocess: aborted (signal 6)" in text


@pytest.mark.parametrize("kind", ["plain", "probe_m"])
def test_g08_a_loop_is_interrupted(kind, request):
    library = request.getfixturevalue(kind)
    flag = "--probe-m-do=loop" if kind == "probe_m" else "--probe-do=loop"
    command = [BIN / "alula-compile", PROGRAM, f"--load-plugin={library}"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    usual = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    process = subprocess.Popen([*command, flag], stderr=subprocess.PIPE)
    stat = Path(f"/proc/{process.pid}/stat")
    # Until it has used much more than all else takes: then it loops.
    ticks = (0.5 + 3 * usual) * os.sysconf("SC_CLK_TCK")
    until = time.monotonic() + 600
    while time.monotonic() < until:
        if sum(map(int, stat.read_text().rsplit(")")[1].split()[11:13])) > ticks:
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, text = process.communicate(timeout=600)
    assert process.returncode == 130
    assert b"interrupted in plugin probe" in text and b"stage preprocess" in text


def test_g08_isolated_hooks(plain, probe_m, here):
    load = [f"--load-plugin={plain}", "--plugin-isolate=probe"]
    assert compute(*load, "--probe-do=subtract", folder=here) == DIFFERENCE
    assert compute(*load, folder=here) == SUM
    for what, why in {
        "abort": "plugin 'probe', stage preprocess: its process ended with status 70: "
        "crash in plugin probe, stage preprocess: aborted",
        "fail": "stage preprocess: it does not like it",
        "garbage": "its reply is no program",
    }.items():
        assert why in fail("plug-stage", PROGRAM, *load, f"--probe-do={what}", status=1)
    start = time.monotonic()
    text = fail("plug-stage", PROGRAM, *load, "--probe-do=loop", "--plugin-timeout=1", status=1)
    assert "its process took longer than --plugin-timeout allows" in text
    assert time.monotonic() - start < 600
    assert "only a library of tier C" in fail(
        "plug-option", PROGRAM, f"--load-plugin={probe_m}", "--plugin-isolate=probe-m"
    )


def test_executable_preprocess_gets_one_executable(here):
    library = probe(here, STAGES="executable.preprocess")
    text = succeed(
        PROGRAM, "--compile-to=dispatch", f"--load-plugin={library}", "--probe-do=subtract"
    )
    assert "stablehlo.subtract" in text
    assert compute(f"--load-plugin={library}", "--probe-do=subtract", folder=here) == DIFFERENCE


@pytest.mark.parametrize(
    "stage",
    ["input.pipeline", "global-opt.begin", "global-opt.end", "formation.match", "formation.end"],
)
def test_stages_get_the_program(stage, here):
    library = probe(here, STAGES=stage)
    assert compute(f"--load-plugin={library}", "--probe-do=subtract", folder=here) == DIFFERENCE


def test_a_barrier_vetoes_evaluation(here):
    program = here / "p.mlir"
    program.write_text(
        "func.func @main() -> tensor<4xf32> {\n"
        "  %c = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>\n"
        "  %k = stablehlo.abs %c : tensor<4xf32>\n"
        "  %0 = stablehlo.add %k, %c : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n"
    )
    library = probe(here, STAGES="global-opt.begin")
    flags = [f"--load-plugin={library}", "--compile-to=optimize"]
    assert "stablehlo.add" not in succeed(program, *flags)
    assert "stablehlo.add" in succeed(program, *flags, "--probe-do=barrier")


UNITS = """
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {{
  %c = stablehlo.constant dense<3.0> : tensor<4xf32>
  %x = stablehlo.negate %a : tensor<4xf32>
  %0 = stablehlo.multiply %x, %c {{dispatch.unit = "claimed"}} : tensor<4xf32>
  %1 = stablehlo.tanh %{between} : tensor<4xf32>
  %2 = stablehlo.add %0, %x {{dispatch.unit = "claimed"}} : tensor<4xf32>
  %3 = stablehlo.subtract %2, %1 : tensor<4xf32>
  return %3 : tensor<4xf32>
}}
"""


def test_claimed_ops_are_one_kernel(here):
    program = here / "units.mlir"
    program.write_text(UNITS.format(between="x"))
    flags = ["--compile-from=partition"]
    text = succeed(program, *flags, "--compile-to=dispatch")
    _, kernel = text.split("dispatch.executable @claimed")
    kernel = kernel.split("dispatch.executable")[0]
    for op in ("constant", "multiply", "add"):
        assert f"stablehlo.{op}" in kernel
    for op in ("negate", "tanh", "subtract"):
        assert f"stablehlo.{op}" not in kernel and f"stablehlo.{op}" in text
    assert text.count("dispatch.executable @") > 1 and "dispatch.unit" not in text
    succeed(program, *flags, "-o", here / "a")
    # -0.5 * 3 - 0.5 - tanh(-0.5)
    result = succeed(here / "a", "--input=4xf32=0.5", tool="alula-run")
    assert abs(float(result.split("=")[1].split(",")[0]) - -1.5378828) < 1e-6


def test_what_cannot_be_claimed(here):
    program = here / "units.mlir"
    for text, why in {
        UNITS.format(
            between="0"
        ): "unit 'claimed': stablehlo.tanh stands between its ops and uses one",
        UNITS.format(between="x").replace('"claimed"', "7"): "must be a name",
        UNITS.format(between="x")
        .replace("tensor<4xf32>", "tensor<?xf32>")
        .replace(
            "stablehlo.constant dense<3.0> : tensor<?xf32>", "stablehlo.abs %a : tensor<?xf32>"
        ): "only tensors of static shape go in and out: is",
    }.items():
        program.write_text(text)
        said = fail("plug-stage", program, "--compile-from=partition", status=1)
        assert "stage formation.match" in said and why in said


def test_what_artifact_end_leaves_is_an_artifact(here):
    library = probe(here, STAGES="artifact.end")
    text = fail("plug-stage", PROGRAM, f"--load-plugin={library}", "--probe-do=garbage", status=1)
    assert "stage artifact.end: what it leaves is no artifact" in text
    assert compute(f"--load-plugin={library}", folder=here) == SUM


def test_input_detect_reads_other_forms(here):
    (here / "p.c").write_text(
        '#include "alula/plugin.h"\n#include <string.h>\n'
        "static int32_t rewrite(void *self, const alula_stage *stage, const void *in, size_t n,\n"
        "                       alula_bytes *reply, char **error) {\n"
        '  static const char text[] = "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\\n"\n'
        '    "%0 = stablehlo.negate %a : tensor<4xf32>\\n return %0 : tensor<4xf32>\\n}\\n";\n'
        '  if (n < 3 || memcmp(in, "NEG", 3) != 0) return 0;\n'
        "  reply->data = memcpy(stage->host->allocate(sizeof text), text, sizeof text);\n"
        "  reply->size = sizeof text - 1;\n  return 0;\n}\n"
        'static const char *const stages[] = {"input.detect"};\n'
        "static const alula_hooks hooks = {.struct_size = sizeof hooks, .stages = stages,\n"
        "  .n_stages = 1, .rewrite = rewrite};\n"
        "static const alula_plugin table = {.struct_size = sizeof table, .abi_major = 1,\n"
        '  .tier = 1, .id = "neg", .activation = ALULA_ACTIVE_DEFAULT, .hooks = &hooks};\n'
        "const alula_plugin *alula_plugin_query(uint16_t a, uint16_t b) { return &table; }\n"
    )
    library = build(here / "p.so", here / "p.c")
    (here / "program.neg").write_text("NEG")
    flags = [f"--load-plugin={library}", "-o", here / "a"]
    succeed(here / "program.neg", *flags)
    assert succeed(here / "a", "--input=4xf32=2", tool="alula-run") == "4xf32=-2,-2,-2,-2\n"
    assert compute(f"--load-plugin={library}", folder=here) == SUM
