"""Large constants and full disks: D11, D12."""

import os
import resource
import signal
import struct
import subprocess

import pytest
from stage_programs import COMPILE, MLP, TARGET, fail, run, succeed
from support.tool_runs import BIN

# ALULA_TEST_RESOURCE_BYTES=1073741824 is the whole check, which takes some 5 GB of disk.
BYTES = int(os.environ.get("ALULA_TEST_RESOURCE_BYTES", 64 << 20))


def measure(*words, cwd):
    """The most memory that a run has taken."""
    process = subprocess.Popen([COMPILE, *words], cwd=cwd, stderr=subprocess.PIPE)
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, said.decode(errors="replace")[:2000]
    return usage.ru_maxrss * 1024


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A program with one large resource, as bytecode."""
    folder = tmp_path_factory.mktemp("large")
    count = BYTES // 4
    text = f"""func.func @main(%i: tensor<i32>) -> tensor<1xf32> {{
  %w = stablehlo.constant dense_resource<weights> : tensor<{count}xf32>
  %0 = stablehlo.dynamic_slice %w, %i, sizes = [1] : (tensor<{count}xf32>, tensor<i32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}}
{{-# dialect_resources: {{ builtin: {{ weights: "0x04000000"""
    with open(folder / "large.mlir", "w") as file:
        file.write(text)
        block = 1 << 18
        for first in range(0, count, block):
            numbers = range(first, min(first + block, count))
            file.write(struct.pack(f"<{len(numbers)}f", *(i % 8388608 for i in numbers)).hex())
        file.write('" } } #-}\n')
    succeed(
        "large.mlir",
        "-o",
        "large.mlirbc",
        "--emit=bytecode",
        program=BIN / "alula-opt",
        cwd=folder,
        timeout=2000,
    )
    (folder / "large.mlir").unlink()
    return folder


def test_d11_large_resource(large):
    base = measure("--print-stages", "-o", "/dev/null", cwd=large)
    succeed("large.mlirbc", TARGET, "-o", "a.alula", cwd=large, timeout=2000)
    for stage in ["input", "dispatch", "schedule", "target"]:
        taken = measure(
            "large.mlirbc",
            TARGET,
            f"--compile-to={stage}",
            "--emit-bytecode",
            "-o",
            "d.mlirbc",
            cwd=large,
        )
        assert os.path.getsize(large / "d.mlirbc") < 1.1 * BYTES
        assert taken - base < 3 * BYTES, stage
        measure("d.mlirbc", "-o", "b.alula", cwd=large)
        assert subprocess.run(["cmp", "a.alula", "b.alula"], cwd=large).returncode == 0, stage
    out = succeed("b.alula", "--input=i32=12345", program=BIN / "alula-run", cwd=large)
    assert b"12345" in out


def test_d11_memory_of_going_on(large):
    base = measure("--print-stages", "-o", "/dev/null", cwd=large)
    measure(
        "large.mlirbc",
        TARGET,
        "--compile-to=target",
        "--emit-bytecode",
        "-o",
        "d.mlirbc",
        cwd=large,
    )
    taken = measure(
        "d.mlirbc", "--compile-to=target", "--emit-bytecode", "-o", "e.mlirbc", cwd=large
    )
    assert taken - base < 3 * BYTES
    assert subprocess.run(["cmp", "d.mlirbc", "e.mlirbc"], cwd=large).returncode == 0


@pytest.fixture
def program(tmp_path):
    (tmp_path / "p.mlir").write_text(MLP)
    return tmp_path


DUMPS = [
    "--dump-stages-to",
    "--dump-executables-to",
    "--dump-executable-sources-to",
    "--dump-executable-configs-to",
    "--dump-executable-benchmarks-to",
    "--dump-executable-intermediates-to",
    "--dump-executable-binaries-to",
]


@pytest.mark.parametrize("flag", DUMPS)
def test_d12_folder_that_cant_be_written(flag, program):
    for folder in ["/proc/nowhere", "p.mlir"]:
        said = fail("p.mlir", TARGET, f"{flag}={folder}", "-o", "a.alula", cwd=program, status=1)
        assert "error: 'builtin.module': can't write '" in said
        assert not (program / "a.alula").exists()


def limit_files():
    """Writing more is an error, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))


@pytest.mark.parametrize("flag", DUMPS)
def test_d12_full_disk(flag, program):
    result = run(
        "p.mlir", TARGET, f"{flag}=x", "-o", "a.alula", cwd=program, preexec_fn=limit_files
    )
    assert result.returncode == 1
    assert b"error: 'builtin.module': can't write '" in result.stderr
    assert not (program / "a.alula").exists()
    # What is there is whole, and nothing else is.
    for file in (program / "x").iterdir() if (program / "x").exists() else []:
        assert file.stat().st_size < 1000 and "temp" not in file.name, file


def test_d12_full_disk_for_the_result(program):
    result = run(
        "p.mlir", TARGET, "--compile-to=kernel", "-o", "d.mlir", cwd=program, preexec_fn=limit_files
    )
    assert result.returncode == 3 and b"can't write 'd.mlir'" in result.stderr
    assert {file.name for file in program.iterdir()} == {"p.mlir"}
    result = run("p.mlir", TARGET, "--compile-to=kernel", "-o", "/dev/full", cwd=program)
    assert (
        result.returncode == 3
        and b"can't write '/dev/full': No space left on device" in result.stderr
    )


def test_an_old_dump_stays_if_the_new_one_fails(program):
    succeed("p.mlir", TARGET, "--compile-to=kernel", "-o", "d.mlir", cwd=program)
    before = (program / "d.mlir").read_bytes()
    run(
        "p.mlir", TARGET, "--compile-to=target", "-o", "d.mlir", cwd=program, preexec_fn=limit_files
    )
    assert (program / "d.mlir").read_bytes() == before
