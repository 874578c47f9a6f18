"""Plugins of the compiler from outside, check by check: G3 to G18. G1, G2, G9
and G13 to G15 are in test_plugin_samples.py."""

import json
import os
import platform
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from plugin_runs import (
    BIN,
    BUILD,
    DIFFERENCE,
    INPUTS,
    LLVM,
    PROGRAM,
    ROOT,
    SUM,
    SWAPPED,
    build,
    build_m,
    compute,
    fail,
    probe,
    run,
    succeed,
)


def test_g03_garbage_file(here):
    (here / "garbage.so").write_text("not a library")
    text = fail("plug-open", PROGRAM, f"--load-plugin={here}/garbage.so")
    assert "is no ELF file" in text
    assert "is a folder" in fail("plug-open", PROGRAM, f"--load-plugin={here}")


def test_g03_missing_file(here):
    text = fail("plug-open", PROGRAM, "--load-plugin=nowhere.so")
    assert "nowhere.so: No such file or directory" in text
    # Unless it need not be there.
    assert compute("--load-plugin=nowhere.so?required=0", folder=here) == SUM
    assert "left out" in succeed("--load-plugin=nowhere.so?required=0", "--list-plugins")
    fail("plug-open", PROGRAM, "--load-plugin=nowhere.so?required=maybe")


def test_g03_missing_library_is_named(here):
    build(here / "libneeded.so", INPUTS / "probe.c")
    library = build(
        here / "p.so", INPUTS / "probe.c", f"-L{here}", "-Wl,--no-as-needed", "-lneeded"
    )
    (here / "libneeded.so").unlink()
    assert "libneeded.so" in fail("plug-open", PROGRAM, f"--load-plugin={library}")


def test_g03_other_machine(here):
    library = here / "other.so"
    other = "x86_64" if platform.machine() == "aarch64" else "aarch64"
    subprocess.run(
        ["clang-19", f"--target={other}-linux-gnu", "-shared", "-nostdlib", "-fuse-ld=lld-19"]
        + ["-x", "c", "/dev/null", "-o", library],
        check=True,
    )
    assert "is for another machine" in fail("plug-open", PROGRAM, f"--load-plugin={library}")


def test_g03_no_entry(here):
    library = build(here / "p.so", INPUTS / "probe.c", "-DALULA_PLUGIN_STATIC=other")
    assert "has no function alula_plugin_query" in fail(
        "plug-no-entry", PROGRAM, f"--load-plugin={library}"
    )
    (here / "passes.c").write_text(
        "struct info { unsigned version; const char *name, *v; void (*f)(void); };\n"
        "static void none(void) {}\n"
        '__attribute__((visibility("default"))) struct info mlirGetPassPluginInfo(void) {\n'
        '  return (struct info){VERSION, "theirs", "1", none};\n}\n'
    )
    library = build(here / "passes.so", here / "passes.c", "-DVERSION=1")
    assert "--load-mlir-plugin takes it" in fail(
        "plug-no-entry", PROGRAM, f"--load-plugin={library}"
    )
    assert "theirs" in succeed(f"--load-mlir-plugin={library}", "--list-plugins")
    library = build(here / "newer.so", here / "passes.c", "-DVERSION=99")
    assert "version 99 of MLIR's" in fail("plug-abi", f"--load-mlir-plugin={library}")


def test_g03_abi_99(probes):
    library = probe(probes, "abi99", MAJOR=99)
    assert "speaks version 99.0 of the interface, we 1.0" in fail(
        "plug-abi", PROGRAM, f"--load-plugin={library}"
    )


def test_g03_other_build_key(probes):
    library = probe(probes, "key", TIER=2, KEY="llvm=18.1.0;mlir=18.1.0")
    text = fail("plug-build-key", PROGRAM, f"--load-plugin={library}")
    assert "its 'llvm=18.1.0', ours 'llvm=19.1.7'" in text
    assert "its key is llvm=18.1.0;mlir=18.1.0, ours is llvm=19.1.7;" in text


def test_g03_own_static_mlir(here):
    if not (LLVM / "lib/libMLIRPass.a").exists():
        pytest.skip("no static MLIR is installed")
    static = ["-Wl,--start-group"]
    static += [str(LLVM / f"lib/libMLIR{n}.a") for n in ("Pass", "IR", "Support", "Analysis")]
    static += ["-Wl,--end-group", f"-L{LLVM}/lib", "-lLLVM", "-Wl,--unresolved-symbols=ignore-all"]
    source = here / "p.cpp"
    source.write_text(
        '#include "alula/plugin.hpp"\n'
        'struct P : alula::Plugin { static constexpr const char *id = "p"; };\n'
        "ALULA_PLUGIN(P)\n"
    )
    hidden = ["-Wl,-Bsymbolic", "-Wl,--exclude-libs,ALL"]
    library = build(here / "hidden.so", source, *static, *hidden)
    assert "carries an MLIR of its own" in fail(
        "plug-two-mlirs", PROGRAM, f"--load-plugin={library}"
    )
    library = build(here / "shown.so", source, *static, "-Wl,-Bsymbolic")
    assert "hide them" in fail("plug-two-mlirs", PROGRAM, f"--load-plugin={library}")


def test_g04_options_stand_before_or_after_the_plugin(swap, here):
    load = f"--load-plugin={swap}"
    for words in (
        ["--swap-mul-add", load],
        [load, "--swap-mul-add=true"],
        ["--plugin-opt=swap:mul-add=true", load],
        [load, "--plugin-opt", "swap:mul-add"],
    ):
        assert compute(*words, folder=here) == SWAPPED
    (here / "flags").write_text(f"{load} --swap-mul-add")
    assert compute(f"@{here}/flags", folder=here) == SWAPPED
    text = succeed("--help", load)
    assert "--swap-mul-add" in text and "(a + b) * c instead" in text


def test_g04_wrong_options(plain, swap):
    load = f"--load-plugin={plain}"
    for flag, why in {
        "--probe-count=10": "must be at most 9: is 10",
        "--probe-count=0": "must be at least 1: is 0",
        "--probe-count=many": "must be a number of type uint: is 'many'",
        "--probe-part=1.5": "must be at most 1: is 1.5",
        "--probe-do=dance": "must be one of nothing, fail",
        "--plugin-opt=probe:size=3": "has no such option; it has do, count, part",
        "--plugin-opt=other:size=3": "no plugin 'other' is loaded",
        "--plugin-opt=probe": "wants ID:NAME=VALUE",
        "--plugin=other": "no plugin 'other' is loaded; there is probe",
    }.items():
        assert why in fail("plug-option", PROGRAM, load, flag)
    text = fail("plug-option", PROGRAM, load, "--plugin=-probe", "--probe-count=2")
    assert "is not active: --plugin=probe" in text
    assert "plugin 'probe': no licence" in fail("plug-create", PROGRAM, load, "--probe-do=refuse")


def test_g05_two_plugins_clash(plain, probes, probe_m, here):
    same = probe(here, "same")
    text = fail("plug-duplicate", PROGRAM, f"--load-plugin={plain}", f"--load-plugin={same}")
    assert str(plain) in text and str(same) in text
    # --probe-a-do: option `a-do` of `probe`, option `do` of `probe-a`.
    one = probe(here, "one", OPTION="a-do")
    other = probe(here, "other", ID="probe-a")
    text = fail("plug-duplicate", PROGRAM, f"--load-plugin={one}", f"--load-plugin={other}")
    assert "there is another flag --probe-a-do" in text
    # --dump-stages-to is ours.
    ours = probe(here, "ours", ID="dump", OPTION="stages-to")
    assert "there is another flag --dump-stages-to" in fail(
        "plug-duplicate", PROGRAM, f"--load-plugin={ours}"
    )
    dialect = build_m(here / "d.so", INPUTS / "probe_m.cpp", '-DID="d"', '-DDIALECT="arith"')
    assert "there is another dialect 'arith'" in fail(
        "plug-duplicate", PROGRAM, f"--load-plugin={dialect}"
    )
    link = here / "link.so"
    link.symlink_to(plain)
    flags = [f"--load-plugin={plain}", f"--load-plugin={plain}", f"--load-plugin={link}"]
    assert compute(*flags, folder=here) == SUM
    # A flag wins over a folder.
    folder = here / "folder"
    folder.mkdir()
    shutil.copy(plain, folder)
    text = succeed(f"--load-plugin={plain}", f"--plugin-dir={folder}", "--list-plugins")
    assert text.count("probe 2.5") == 1 and f"left out: {folder}" in text


def test_g05_options_of_llvms_kind(here):
    for name, tag in {"of-its-own": "plug-option", "print-after-all": "plug-duplicate"}.items():
        library = build_m(
            here / f"{name}.so", INPUTS / "probe_m.cpp", f'-DCOMMAND_LINE_OPTION="{name}"'
        )
        text = fail(tag, PROGRAM, f"--load-plugin={library}")
        assert "options belong in the plugin's table" in text


def test_g06_versions(probes, here):
    newer = probe(probes, "newer", MINOR=3)
    assert compute(f"--load-plugin={newer}", "--probe-do=subtract", folder=here) == DIFFERENCE
    strict = probe(probes, "strict", MAJOR=2, STRICT=1)
    assert "speaks no version of the interface that we do, which is 1.0" in fail(
        "plug-abi", PROGRAM, f"--load-plugin={strict}"
    )
    # Newer hosts, and more of G7: compiler/plugin/table_test.cpp.


def test_g07_small_tables(probes, here):
    library = build(
        probes / "small.so", INPUTS / "probe.c", "-DSIZE=offsetof(alula_plugin,version)"
    )
    (plugin,) = json.loads(succeed(f"--load-plugin={library}", "--list-plugins=json"))["plugins"]
    assert plugin["version"] == "" and plugin["options"] == [] and plugin["stages"] == []
    assert compute(f"--load-plugin={library}", folder=here) == SUM
    library = build(probes / "tiny.so", INPUTS / "probe.c", "-DSIZE=8")
    assert "its table has 8 bytes" in fail("plug-abi", PROGRAM, f"--load-plugin={library}")


def test_g07_tables_under_address_sanitizer(here):
    names = ("build_key", "hook", "options", "plugin", "table", "table_test")
    command = ["clang++-19", "-std=c++20", "-O1", "-fsanitize=address,undefined"]
    command += ["-fno-exceptions", "-I", ROOT, "-I", ROOT / "include", "-I", BUILD / "include"]
    command += ["-isystem", LLVM / "include", *[ROOT / f"compiler/plugin/{n}.cpp" for n in names]]
    command += [
        f"-L{LLVM}/lib",
        f"-Wl,-rpath,{LLVM}/lib",
        "-lMLIR",
        "-lLLVM",
        "-lgtest",
        "-lgtest_main",
        "-o",
        "tables",
    ]
    subprocess.run(command, check=True, cwd=here, timeout=300)
    environment = dict(os.environ, ASAN_OPTIONS="detect_leaks=0:detect_container_overflow=0")
    result = subprocess.run([here / "tables"], capture_output=True, text=True, env=environment)
    assert result.returncode == 0, result.stdout + result.stderr


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
    process = subprocess.Popen(
        [BIN / "alula-compile", PROGRAM, f"--load-plugin={library}", flag], stderr=subprocess.PIPE
    )
    stat = Path(f"/proc/{process.pid}/stat")
    # Until it has used a second: then it loops.
    for _ in range(600):
        if sum(map(int, stat.read_text().rsplit(")")[1].split()[11:13])) > 100:
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, text = process.communicate(timeout=10)
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
    assert time.monotonic() - start < 30
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


def test_dumps_say_which_plugins_took_part(swap, here):
    flags = [f"--load-plugin={swap}", "--swap-mul-add"]
    succeed(PROGRAM, "--compile-to=optimize", *flags, "-o", here / "o.mlir")
    succeed(PROGRAM, "-o", here / "straight", *flags)
    succeed(here / "o.mlir", "-o", here / "resumed", flags[0])
    assert (here / "straight").read_bytes() == (here / "resumed").read_bytes()
    assert "with plugin swap 1.0, which does not take part now" in fail(
        "stage-plugin", here / "o.mlir"
    )


def test_g10_a_default_plugin_changes_nothing(probes, here):
    library = probe(probes, "default", ACTIVATION=1, STAGES="target.link")
    succeed(PROGRAM, "-o", here / "without")
    environment = {"ALULA_PLUGIN_PATH": str(library)}
    succeed(PROGRAM, "-o", here / "with", environment=environment)
    assert (here / "without").read_bytes() == (here / "with").read_bytes()
    assert ", active" in succeed("--list-plugins", environment=environment)
    assert "not active" in succeed("--list-plugins", "--plugin=-probe", environment=environment)
    greedy = probe(probes, "greedy", ACTIVATION=1)
    assert "may not take part in stage 'preprocess'" in fail(
        "plug-abi", PROGRAM, f"--load-plugin={greedy}"
    )


def test_g11_order_is_that_of_after(here):
    after = {"e": ["b"], "c": ["e"], "a": ["c", "d"], "b": [], "d": []}
    built = []
    for name, needs in after.items():
        macros = [f'-DID="{name}"']
        if needs:
            macros.append("-DAFTER=" + ",".join(f'"{need}"' for need in needs))
        built.append(build(here / f"{name}.so", INPUTS / "probe.c", *macros))
    orders = set()
    shuffle = random.Random(5)
    for i in range(20):
        folder = here / f"folder{i}"
        folder.mkdir(mode=0o755)
        names = list("12345")
        shuffle.shuffle(names)
        for library, name in zip(built, names):
            shutil.copy(library, folder / f"alula-plugin-{name}.so")
        flags = [f"--plugin={name}" for name in after] + [f"--{name}-do=say" for name in after]
        shuffle.shuffle(flags)
        result = run(PROGRAM, f"--plugin-dir={folder}", *flags, "-o", os.devnull)
        assert result.returncode == 0, result.stderr
        orders.add(result.stderr)
    said = [line.removeprefix("remark: ") for line in orders.pop().splitlines()]
    assert not orders and said == ["b", "d", "e", "c", "a"]


def test_g11_order_that_cannot_be(here):
    one = build(here / "one.so", INPUTS / "probe.c", '-DID="one"', '-DAFTER="other"')
    other = build(here / "other.so", INPUTS / "probe.c", '-DID="other"', '-DAFTER="one"')
    load = [f"--load-plugin={one}", f"--load-plugin={other}"]
    text = fail("plug-cycle", PROGRAM, *load)
    assert "one, other" in text
    text = fail("plug-missing-dep", PROGRAM, load[0])
    assert "plugin 'one' needs 'other', which is not loaded" in text
    text = fail("plug-missing-dep", PROGRAM, *load, "--plugin=-other")
    assert "which is not active: --plugin=other" in text


def test_g12_sessions_in_parallel(here):
    sources = [
        ROOT / f"compiler/plugin/{name}.cpp" for name in ("hook", "options", "plugin", "session")
    ]
    command = ["clang++-19", "-std=c++20", "-O1", "-g", "-fsanitize=thread", "-fno-exceptions"]
    command += ["-I", ROOT, "-I", ROOT / "include", "-isystem", LLVM / "include"]
    command += [
        INPUTS / "session_threads.cpp",
        *sources,
        f"-L{LLVM}/lib",
        "-lLLVM",
        "-o",
        "threads",
    ]
    subprocess.run(command, check=True, cwd=here, timeout=300)
    result = subprocess.run([here / "threads"], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    assert result.stdout == "0 wrong, 0 alive\n" and "ThreadSanitizer" not in result.stderr


def test_g16_sanitized_plugins_are_refused(here):
    library = build(here / "p.so", INPUTS / "probe.c", "-fsanitize=address", "-shared-libsan")
    text = fail("plug-open", PROGRAM, f"--load-plugin={library}")
    assert "is built with AddressSanitizer, and this program is not" in text


def test_g17_the_pass_runner_sees_the_same(swap, here):
    load = f"--load-plugin={swap}"
    formed = succeed(load, "--form-mul-add", PROGRAM, tool="alula-opt")
    assert "swap.mul_add" in formed
    (here / "formed.mlir").write_text(formed)
    lowered = succeed(load, "--lower-mul-add=swapped", here / "formed.mlir", tool="alula-opt")
    assert "swap.mul_add" not in lowered and "stablehlo.add %arg0, %arg1" in lowered
    for tool in ("alula-opt", "alula-compile"):
        result = run(here / "formed.mlir", tool=tool)
        assert result.returncode == 1 and "swap" in result.stderr
    # By name in the compiler's own pipelines too.
    step = "--preprocess-executables-with=builtin.module(form-mul-add,lower-mul-add{swapped})"
    assert compute(load, step, folder=here) == SWAPPED
    assert "alula-opt: error: [plug-open]" in fail(
        "plug-open", "--load-plugin=nowhere.so", PROGRAM, tool="alula-opt"
    )


def test_g18_a_private_llvm(here):
    libraries = [LLVM / f"lib/libLLVM{name}.a" for name in ("Support", "Demangle")]
    if not all(library.exists() for library in libraries):
        pytest.skip("no static LLVM is installed")
    flags = [*libraries, "-lz", "-lzstd", "-ltinfo", "-Wl,-Bsymbolic"]
    source = INPUTS / "private_llvm.cpp"
    hidden = build(here / "hidden.so", source, *flags, "-Wl,--exclude-libs,ALL")
    result = run(PROGRAM, f"--load-plugin={hidden}", "-o", os.devnull)
    assert result.returncode == 0, result.stderr
    assert "hashed by a private LLVM" in result.stderr
    shown = build(here / "shown.so", source, *flags)
    text = fail("plug-two-mlirs", PROGRAM, f"--load-plugin={shown}")
    assert "carries an LLVM or MLIR of its own" in text and "--exclude-libs,ALL" in text


def test_folders_that_everybody_may_write_are_refused(plain, here):
    folder = here / "loose"
    folder.mkdir()
    shutil.copy(plain, folder)
    folder.chmod(0o777)
    text = fail("plug-open", PROGRAM, f"--plugin-dir={folder}")
    assert "everybody may write it" in text
    folder.chmod(0o755)
    (folder / plain.name).chmod(0o777)
    text = fail("plug-open", PROGRAM, f"--plugin-dir={folder}")
    assert f"{plain.name}: everybody may write it" in text
    (folder / plain.name).chmod(0o755)
    (folder / "other.so").write_text("not looked at")
    assert "probe 2.5" in succeed(f"--plugin-dir={folder}", "--list-plugins")
    assert "No such file" in fail("plug-open", PROGRAM, "--plugin-dir=nowhere")
