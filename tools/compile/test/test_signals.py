"""A signal ends the compiler, whatever it is doing."""

import os
import pathlib
import resource
import signal
import subprocess
import time

import pytest
from support import pace

ROOT = pathlib.Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_long_program_is_being_read(tmp_path, number):
    lines = "".join(f"%{i + 1} = stablehlo.add %{i}, %x : tensor<4xf32>\n" for i in range(300_000))
    program = tmp_path / "long.mlir"
    program.write_text(
        "func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
        "%0 = stablehlo.add %x, %x : tensor<4xf32>\n"
        f"{lines}return %300000 : tensor<4xf32>\n}}\n"
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    child = subprocess.Popen(
        [ROOT / "build/bin/alula-compile", program, "-o", tmp_path / "long.alula"],
        stderr=subprocess.PIPE,
    )
    time.sleep(1)
    assert child.poll() is None
    # What it computes after the signal, since the machine may be busy.
    fields = pathlib.Path(f"/proc/{child.pid}/stat").read_text().rsplit(")", 1)[1].split()
    computed = int(fields[11]) / os.sysconf("SC_CLK_TCK")
    child.send_signal(number)
    code = child.wait(timeout=600)
    after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    assert after - before - computed < pace.find()
    assert code in (-number, 128 + number)
    assert not (tmp_path / "long.alula").exists()
