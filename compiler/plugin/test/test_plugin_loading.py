"""What becomes a plugin and what is refused: G3 to G7, G16, G18."""

import json
import os
import platform
import shutil
import subprocess

import pytest
from plugin_runs import (
    DIFFERENCE,
    INPUTS,
    LLVM,
    PROGRAM,
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
from support.tool_runs import BUILD, ROOT


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
    subprocess.run(command, check=True, cwd=here, timeout=2000)
    environment = dict(os.environ, ASAN_OPTIONS="detect_leaks=0:detect_container_overflow=0")
    result = subprocess.run([here / "tables"], capture_output=True, text=True, env=environment)
    assert result.returncode == 0, result.stdout + result.stderr


def test_g16_sanitized_plugins_are_refused(here):
    library = build(here / "p.so", INPUTS / "probe.c", "-fsanitize=address", "-shared-libsan")
    text = fail("plug-open", PROGRAM, f"--load-plugin={library}")
    assert "is built with AddressSanitizer, and this program is not" in text


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
