"""Ctrl-C ends what takes long."""

import _thread
import ctypes
import inspect
import os
import pathlib
import resource
import signal
import subprocess
import sys
import threading
import time

import pytest
from alula.bindings import interruptible
from support import pace

ROOT = pathlib.Path(__file__).resolve().parents[2]
# For what does not end at all: it may be a slow machine that is busy.
LONG = 2000

# What is computed after the signal is judged, since the machine may be busy, and by how fast it
# is; all its cores may compute while the signal is on its way.
PACE = (
    pathlib.Path(pace.__file__).read_text()
    + """
import os, sys
paces = [find()]

def say_ended(computed):
    paces.append(find())
    print("ended", computed / max(paces) / max(1, len(os.sched_getaffinity(0)) / 2))
"""
)

COMPILE = (
    PACE
    + """
import signal, threading
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

computed = []

def interrupt():
    time.sleep(1)
    computed.append(time.process_time())
    os.kill(os.getpid(), signal.SIGINT)

# Who starts the tests in the background has it ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
compiler.compile_program(make(1))
threading.Thread(target=interrupt).start()
try:
    compiler.compile_program(make(3000))
    print("it compiled")
except KeyboardInterrupt:
    say_ended(time.process_time() - computed[0])
# The compiler is as it was.
assert compiler.compile_program(make(1))[0]
"""
)


def run(source):
    return subprocess.run(
        [sys.executable, "-c", source],
        check=False,
        capture_output=True,
        text=True,
        env=dict(os.environ, PYTHONPATH=str(ROOT / "python"), JAX_PLATFORMS="alula,cpu"),
        timeout=LONG,
    )


def check(source):
    """The process says how long it computed after the signal, in seconds of a usual machine."""
    result = run(source)
    assert result.returncode == 0, result.stderr[-3000:]
    said, seconds = result.stdout.split()
    assert said == "ended" and float(seconds) < 1, result.stdout


def test_compile():
    check(COMPILE)


SIGNAL = (
    PACE
    + """
import signal, threading

# Who starts the tests in the background has it ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
sent, computed = [], []

def interrupt(delay):
    time.sleep(delay)
    sent.append(time.monotonic())
    computed.append(time.process_time())
    os.kill(os.getpid(), signal.SIGINT)

def interrupted(delay, function, *arguments):
    threading.Thread(target=interrupt, args=(delay,)).start()
    try:
        function(*arguments)
    except KeyboardInterrupt:
        return
    raise AssertionError("it came to its end")

def find_size(half, call):
    # Of a factorization that takes two seconds on a fast machine too, at least twice `half`.
    start = time.monotonic()
    call()
    growth = (2 / (time.monotonic() - start)) ** (1 / 3)
    return int(half * min(max(growth, 2), 4))
"""
)

# Iterations that are kernels of their own.
LOOP = """
func.func public @main(%count: tensor<i64>, %x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %r:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i64>, tensor<64x64xf32>
    cond {
      %c = stablehlo.compare LT, %i, %count : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %n = stablehlo.add %i, %one : tensor<i64>
      %d = stablehlo.dot_general %y, %x, contracting_dims = [1] x [0]
        : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      %t = stablehlo.tanh %d : tensor<64x64xf32>
      stablehlo.return %n, %t : tensor<i64>, tensor<64x64xf32>
    }
  return %r#1 : tensor<64x64xf32>
}
"""

LOADED = (
    SIGNAL
    + f"""
import numpy as np, alula
from alula.bindings import compiler
program = alula.load(compiler.compile_program({LOOP!r})[0])
x = np.eye(64, dtype=np.float32)
"""
)


def test_loaded_program():
    check(
        LOADED
        + """
interrupted(1, program.main, np.int64(10**12), x)
# The next call is not taken for the one that was meant.
np.testing.assert_allclose(program.main(np.int64(1), x), np.tanh(x), rtol=1e-6)
say_ended(time.process_time() - computed[0])
"""
    )


# A loop of scalars, which is one kernel.
SCALAR_LOOP = """
func.func public @main(%count: tensor<i64>, %x: tensor<f64>) -> tensor<f64> {
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %r:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i64>, tensor<f64>
    cond {
      %c = stablehlo.compare LT, %i, %count : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %n = stablehlo.add %i, %one : tensor<i64>
      %t = stablehlo.sine %y : tensor<f64>
      stablehlo.return %n, %t : tensor<i64>, tensor<f64>
    }
  return %r#1 : tensor<f64>
}
"""


def test_loop_that_is_one_kernel():
    check(
        SIGNAL
        + f"""
import numpy as np, alula
from alula.bindings import compiler
program = alula.load(compiler.compile_program({SCALAR_LOOP!r})[0])
x = np.float64(0.5)
interrupted(1, program.main, np.int64(10**12), x)
np.testing.assert_allclose(program.main(np.int64(2), x), np.sin(np.sin(x)), rtol=1e-15)
say_ended(time.process_time() - computed[0])
"""
    )


# Calls of the library that take seconds: operation, its size n, flags, results.
FACTORIZATIONS = [
    ("stablehlo.cholesky", 5000, "lower = true", "f nn"),
    ("stablehlo.triangular_solve", 4000, "", "f nn"),
    ("alula.lu", 4500, "", "f nn, i n, i n"),
    ("alula.geqrf", 4000, "", "f nn, f n"),
    ("alula.geqp3", 3000, "", "f nn, i n, f n"),
    ("alula.householder_product", 4000, "", "f nn"),
    ("alula.eigh", 2500, "lower = true", "f nn, f n"),
    ("alula.tridiagonal", 4000, "lower = true", "f nn, f n, f e, f e"),
    ("alula.svd", 2000, "full_matrices = false, compute_uv = true", "f n, f nn, f nn"),
    ("alula.hessenberg", 2500, "", "f nn, f e"),
    ("alula.schur", 2500, "vectors = true", "f nn, f nn"),
    ("alula.eig", 3000, "left = true, right = true", "c n, c nn, c nn"),
]


def make_factorization(name, n, flags):
    """A program of one call on an n by n matrix."""
    results = next(row[3] for row in FACTORIZATIONS if row[0] == name)
    sizes = {"n": f"{n}x", "nn": f"{n}x{n}x", "e": f"{n - 1}x"}
    elements = {"f": "f32", "i": "i32", "c": "complex<f32>"}
    types = [
        f"tensor<{sizes[size]}{elements[element]}>"
        for element, size in (result.split() for result in results.split(", "))
    ]
    matrix, row = f"tensor<{n}x{n}xf32>", f"tensor<{n}xf32>"
    operands, given = ["%a"], [matrix]
    if name == "alula.geqp3":
        operands, given = ["%a", "%free"], [matrix, f"tensor<{n}xi32>"]
    elif name == "alula.householder_product":
        operands, given = ["%a", "%taus"], [matrix, row]
    if name == "stablehlo.triangular_solve":
        call = (
            '%r = "stablehlo.triangular_solve"(%a, %a) <{left_side = true, lower = true, '
            "unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : "
            f"({matrix}, {matrix}) -> {matrix}"
        )
    elif name == "stablehlo.cholesky":
        call = f"%r = stablehlo.cholesky %a, {flags} : {matrix}"
    else:
        config = f" {{mhlo.backend_config = {{{flags}}}}}" if flags else ""
        call = (
            f"%r:{len(types)} = stablehlo.custom_call @{name}({', '.join(operands)}){config} : "
            f"({', '.join(given)}) -> ({', '.join(types)})"
        )
    returned = ["%r"] if len(types) == 1 else [f"%r#{i}" for i in range(len(types))]
    return f"""
func.func public @main(%a: {matrix}) -> ({", ".join(types)}) {{
  %free = stablehlo.constant dense<0> : tensor<{n}xi32>
  %taus = stablehlo.constant dense<1.0> : {row}
  {call}
  return {", ".join(returned)} : {", ".join(types)}
}}
"""


@pytest.mark.parametrize("row", FACTORIZATIONS, ids=[row[0] for row in FACTORIZATIONS])
def test_factorization(row):
    name, n, flags, _ = row
    check(
        SIGNAL
        + f"""
import numpy as np, alula
from alula.bindings import compiler
FACTORIZATIONS = {[row]!r}

{inspect.getsource(make_factorization)}
def prepare(n):
    text = make_factorization({name!r}, n, {flags!r})
    program = alula.load(compiler.compile_program(text)[0])
    # Symmetric and positive definite; nothing that converges at once.
    a = np.random.default_rng(0).random((n, n), np.float32)
    return program, a + a.T + n * np.eye(n, dtype=np.float32)

program, a = prepare({n // 2})
program, a = prepare(find_size({n // 2}, lambda: program.main(a)))
interrupted(0.3, program.main, a)
say_ended(time.process_time() - computed[0])
"""
    )


def test_short_call_comes_to_its_end():
    # A signal that comes when it has less than the patience to go on, which here is as long as it
    # takes, and who was told of signals before is told.
    check(
        LOADED
        + """
import socket, types
ours, theirs = socket.socketpair()
theirs.setblocking(False)
signal.set_wakeup_fd(theirs.fileno())
start = time.process_time()
program.main(np.int64(20000), x)
count = int(20000 * 0.3 / (time.process_time() - start))
from alula.bindings import interruptible
over, ended = threading.Event(), []
assert interruptible.PATIENCE == 0.3
interruptible.time = types.SimpleNamespace(sleep=lambda seconds: over.wait())
end_later = interruptible.Watch._end_later

def keep(watch, calls):
    class Calls:
        cancel = lambda serial: ended.append(watch._calls.cancel(serial))
    end_later(type("Watch", (), {"_calls": Calls}), calls)

interruptible.Watch._end_later = keep
from alula.bindings import runtime
calls = runtime.calls()

def interrupt_in_call():
    while not calls.get_watched():
        time.sleep(0.001)
    computed.append(time.process_time())
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt_in_call).start()
try:
    program.main(np.int64(count), x)
except KeyboardInterrupt:
    over.set()
# Who was to end it came when it had ended.
while not ended:
    time.sleep(0.01)
assert ended == [False], ended
assert ours.recv(16) == bytes([signal.SIGINT])
assert signal.set_wakeup_fd(-1) == theirs.fileno()
print("ended", 0)
"""
    )


JIT = (
    SIGNAL
    + """
import jax, jax.numpy as jnp, numpy as np
x = np.eye(64, dtype=np.float32)
y = np.zeros(3000, np.float32)

@jax.jit
def long(count, x):
    step = lambda s: (s[0] + 1, jnp.tanh(s[1] @ x))
    return jax.lax.while_loop(lambda s: s[0] < count, step, (0, x))[1]

def many(x, count):
    # Kernels of their own, each with a loop that is vectorized.
    return [jnp.sum(jnp.sin(x[: 64 + i])) for i in range(count)]

def count_running():
    '''Threads that compute, but for this one.'''
    def read():
        return {task: sum(map(int, open(f"/proc/self/task/{task}/stat").read().rsplit(")")[1]
                .split()[11:13])) for task in os.listdir("/proc/self/task")}
    before = read()
    time.sleep(0.1)
    return sum(ticks > before.get(task, 0) for task, ticks in read().items()
               if int(task) != os.getpid())

jax.block_until_ready(long(3, x))
"""
)


def test_jit_compilation():
    check(
        JIT
        + """
# Much longer than until the signal on any machine.
lowered = jax.jit(many, static_argnums=1).lower(y, 2000)
interrupted(1, lowered.compile)
# jaxlib compiles on a thread of its own, and would go on there.
while count_running():
    assert time.monotonic() - sent[0] < 1000
seconds = time.process_time() - computed[0]
# Client and caches are as they were.
jax.block_until_ready(long(3, x))
assert len(jax.jit(many, static_argnums=1)(y, 3)) == 3
say_ended(seconds)
"""
    )


def test_jit_compilation_that_was_ended_is_done_afterwards():
    check(
        JIT
        + """
lowered = jax.jit(many, static_argnums=1).lower(y, 400)
interrupted(0.1, lowered.compile)
seconds = time.process_time() - computed[0]
assert len(lowered.compile()(y)) == 400
say_ended(seconds)
"""
    )


@pytest.mark.parametrize(
    "handler, code",
    [("signal.default_int_handler", -signal.SIGINT), ("lambda *_: sys.exit(3)", 3)],
    ids=["KeyboardInterrupt", "a handler that exits"],
)
@pytest.mark.parametrize("delay", [0.02, 1])
def test_end_of_the_process_during_a_jit_compilation(delay, handler, code):
    """JAX destroys its devices, then waits for who compiles, and makes an executable for them."""
    program = (
        JIT
        + f"""
lowered = jax.jit(many, static_argnums=1).lower(y, 2000)
signal.signal(signal.SIGINT, {handler})

def interrupt_now():
    time.sleep({delay})
    print(time.process_time(), flush=True)
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt_now).start()
lowered.compile()
print("it compiled")
"""
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = run(program)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert result.returncode == code, result.stderr[-3000:]
    assert ("KeyboardInterrupt" in result.stderr) == (code < 0)
    computed = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    # Python and JAX end too; the compilation takes several seconds.
    assert computed - float(result.stdout) < 3 * pace.find()


def test_programs_compile_until_jax_ends():
    check(
        JIT
        + """
import atexit

def compile_late():
    assert jax.jit(lambda x: x + 41)(1) == 42
    say_ended(0)

atexit.register(compile_late)
"""
    )


def test_jit_run():
    check(
        JIT
        + """
interrupted(1, lambda: jax.block_until_ready(long(10**9, x)))
# The device is free again, and what comes next is not ended.
np.testing.assert_allclose(np.asarray(long(1, x)), np.tanh(x), rtol=1e-6)
say_ended(time.process_time() - computed[0])
"""
    )


def test_jit_run_of_one_kernel():
    check(
        JIT
        + """
@jax.jit
def scalars(count, y):
    return jax.lax.while_loop(lambda s: s[0] < count, lambda s: (s[0] + 1, jnp.sin(s[1])), (0, y))

interrupted(1, lambda: jax.block_until_ready(scalars(2 * 10**9, np.float32(0.5))))
np.testing.assert_allclose(scalars(1, np.float32(0.5))[1], np.sin(np.float32(0.5)), rtol=1e-6)
say_ended(time.process_time() - computed[0])
"""
    )


@pytest.mark.parametrize("name, n", [("cholesky", 5000), ("qr", 3000), ("eigh", 2000)])
def test_jit_run_of_a_factorization(name, n):
    check(
        JIT
        + f"""
def prepare(n):
    a = np.random.default_rng(0).random((n, n), np.float32)
    a = a + a.T + n * np.eye(n, dtype=np.float32)
    compiled = jax.jit(jnp.linalg.{name}).lower(a).compile()
    a = jax.block_until_ready(jnp.asarray(a))
    return lambda: jax.block_until_ready(compiled(a))

call = prepare(find_size({n // 2}, prepare({n // 2})))
interrupted(0.3, call)
np.testing.assert_allclose(np.asarray(long(1, x)), np.tanh(x), rtol=1e-6)
say_ended(time.process_time() - computed[0])
"""
    )


def test_handlers_of_others_decide_for_themselves():
    check(
        JIT
        + """
heard = []
mine = lambda *_: heard.append(time.monotonic())
signal.signal(signal.SIGINT, mine)
# Long enough to run on for longer than anything that is ended.
count = 100_000
while True:
    heard.clear()
    thread = threading.Thread(target=interrupt, args=(0.2,))
    thread.start()
    result = np.asarray(long(count, x))
    end = time.monotonic()
    thread.join()
    assert np.isfinite(result).all()
    if end - sent[-1] > 0.6:
        break
    count *= 3
assert len(heard) == 1
assert signal.getsignal(signal.SIGINT) is mine
print("ended", 0)
"""
    )


# Bits of /proc/self/status: SIGINT is ignored, SIGINT has a handler.
IGNORED = (
    JIT
    + """
def read():
    lines = [line.split() for line in open("/proc/self/status")]
    bits = {line[0]: int(line[1], 16) >> 1 & 1 for line in lines if line[0].startswith("Sig")
            and "/" not in line[1]}
    return bits["SigIgn:"], bits["SigCgt:"]

signal.signal(signal.SIGINT, signal.SIG_IGN)
y = long(30000, x)
assert read() == (1, 0), read()
jax.block_until_ready(y)
assert read() == (1, 0), read()
print("ended", 0)
"""
)


def test_nothing_is_installed_where_it_is_ignored():
    check(IGNORED)


def read_user_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) / os.sysconf("SC_CLK_TCK")


def catches_interrupts(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    caught = next(line for line in status.splitlines() if line.startswith("SigCgt:"))
    return int(caught.split()[1], 16) >> (signal.SIGINT - 1) & 1


@pytest.mark.parametrize("program", [LOOP, SCALAR_LOOP], ids=["of kernels", "that is one kernel"])
def test_alula_run(tmp_path, program):
    artifact = tmp_path / "long.alu"
    (tmp_path / "long.mlir").write_text(program)
    tools = ROOT / "build/bin"
    subprocess.run(
        [tools / "alula-compile", tmp_path / "long.mlir", "-o", artifact, "--target=cpu:host"],
        check=True,
        timeout=LONG,
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    process = subprocess.Popen(
        [tools / "alula-run", artifact, "--input=i64=1000000000000", "--random"],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    # It has a handler, and has run for a while.
    while not catches_interrupts(process.pid):
        time.sleep(0.01)
    begun = read_user_seconds(process.pid)
    while read_user_seconds(process.pid) < begun + 0.5:
        time.sleep(0.01)
    computed = read_user_seconds(process.pid)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=LONG)
    after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    assert after - before - computed < pace.find()
    assert process.returncode == -signal.SIGINT and said == "alula-run: interrupted\n"


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
    # It ends if it is told to.
    with pytest.raises(KeyboardInterrupt):
        interruptible.call(wait_for, (cancel.address,), cancel)
    signal.signal(signal.SIGINT, before)


def test_results_and_errors_come_through():
    cancel = interruptible.Cancel()
    assert interruptible.call(divmod, (7, 2), cancel) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        interruptible.call(divmod, (7, 0), cancel)


def test_what_does_not_end_when_told_is_waited_for():
    # It uses the arguments; what is destroyed at the end of the process too.
    cancel, ended = interruptible.Cancel(), []

    def work():
        wait_for(cancel.address)
        time.sleep(0.5)
        ended.append(True)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        interruptible.call(work, (), cancel)
    assert ended
    signal.signal(signal.SIGINT, before)


def test_other_threads_call_themselves():
    seen = []
    cancel = interruptible.Cancel()

    def work():
        seen.append(interruptible.call(_thread.get_ident, (), cancel))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [thread.ident]
