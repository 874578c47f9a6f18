"""Ctrl-C ends what takes long."""

import _thread
import ctypes
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import pytest
from alula.bindings import interruptible

COMPILE = """
import os, signal, threading, time
from alula.bindings import compiler

def make(count):
    # Kernels of their own, each with a loop that is vectorized.
    ops, results = [], []
    for i in range(count):
        n = 64 + i
        ops.append(f"%s{i} = stablehlo.slice %x [0:{n}] : (tensor<5000xf32>) -> tensor<{n}xf32>")
        ops.append(f"%t{i} = stablehlo.sine %s{i} : tensor<{n}xf32>")
        ops.append(f"%r{i} = stablehlo.reduce(%t{i} init: %z) applies stablehlo.add across "
                   f"dimensions = [0] : (tensor<{n}xf32>, tensor<f32>) -> tensor<f32>")
        results.append(f"%r{i}")
    types = ", ".join(["tensor<f32>"] * count)
    return (
        f"func.func public @main(%x: tensor<5000xf32>) -> ({types}) {{\\n"
        "%z = stablehlo.constant dense<0.0> : tensor<f32>\\n" + "\\n".join(ops)
        + f"\\nreturn {', '.join(results)} : {types}\\n}}"
    )

sent = []

def interrupt():
    time.sleep(1)
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)

# Who starts the tests in the background has it ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
compiler.compile_program(make(1))
threading.Thread(target=interrupt).start()
try:
    compiler.compile_program(make(3000))
    print("it compiled")
except KeyboardInterrupt:
    print(f"ended {time.monotonic() - sent[0]:.3f}")
# The compiler is as it was.
assert compiler.compile_program(make(1))[0]
"""


def test_compile():
    environment = dict(os.environ, PYTHONPATH=str(pathlib.Path(__file__).resolve().parents[1]))
    result = subprocess.run(
        [sys.executable, "-c", COMPILE],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
    )
    assert result.returncode == 0, result.stderr
    said, seconds = result.stdout.split()
    assert said == "ended" and float(seconds) < 1


def wait_for(address):
    flag = ctypes.c_int.from_address(address)
    while not flag.value:
        time.sleep(0.01)
    return "cancelled"


def test_main_thread_is_interrupted():
    cancel = interruptible.Cancel()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        interruptible.call(wait_for, (cancel.address,), cancel)
    signal.signal(signal.SIGINT, before)
    assert time.monotonic() - start < 1.2


def test_results_and_errors_come_through():
    cancel = interruptible.Cancel()
    assert interruptible.call(divmod, (7, 2), cancel) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        interruptible.call(divmod, (7, 0), cancel)


def test_other_threads_call_themselves():
    seen = []
    cancel = interruptible.Cancel()

    def work():
        seen.append(interruptible.call(_thread.get_ident, (), cancel))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [thread.ident]
