"""What JAX's own means show of programs: profiles, optimized programs, dumps."""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def check(source, **variables):
    environment = dict(os.environ, JAX_PLATFORMS="alula,cpu", PYTHONPATH=str(ROOT / "python"))
    result = subprocess.run(
        [sys.executable, "-c", source],
        check=False,
        env={**environment, **variables},
        capture_output=True,
        text=True,
        timeout=2000,
    )
    assert result.returncode == 0, result.stderr[-3000:]
    return result.stdout


STEP = """
import collections, glob, sys, time
import jax, jax.numpy as jnp, numpy as np

def mlp(params, x):
    for w, b in params[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = params[-1]
    return jax.nn.softmax(x @ w + b)

def step(params, x, y):
    loss = lambda p: jnp.mean((mlp(p, x) - y) ** 2)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(loss)(params))

random = np.random.RandomState(0)
sizes = [784, 512, 512, 10]
params = [(random.randn(a, b).astype('f') * 0.1, random.randn(b).astype('f'))
          for a, b in zip(sizes, sizes[1:])]
x = random.randn(1024, 784).astype('f')
y = random.randn(1024, 10).astype('f')
"""

PROFILE = (
    STEP
    + """
params, x, y = jax.device_put((params, x, y))
compiled = jax.jit(step).lower(params, x, y).compile()
params = jax.block_until_ready(compiled(params, x, y))
# Nothing is collected before.
count = 5
start = time.perf_counter()
with jax.profiler.trace(sys.argv[1]):
    begin = time.perf_counter()
    for _ in range(count):
        params = jax.block_until_ready(compiled(params, x, y))
    wall = time.perf_counter() - begin
# Nor afterwards.
params = jax.block_until_ready(compiled(params, x, y))
(path,) = glob.glob(sys.argv[1] + "/**/*.xplane.pb", recursive=True)
planes = {plane.name: plane for plane in jax.profiler.ProfileData.from_file(path).planes}
lines = {line.name: list(line.events) for line in planes["/device:CUSTOM:alula:0"].lines}
modules, kernels = lines["XLA Modules"], lines["XLA Ops"]
assert [event.name for event in modules] == ["jit_step"] * count
names = collections.Counter(event.name for event in kernels)
# One that several layers share runs several times in a step.
assert len(names) > 5 and not any(times % count for times in names.values()), names
# Each kernel is one that the optimized program has.
text = compiled.as_text()
for name in names:
    assert f"%{name}" in text, name
"""
)


def test_a_training_step_in_jax_s_profiler(tmp_path):
    check(
        PROFILE.replace("sys.argv[1]", repr(str(tmp_path / "trace")))
        + """
# Operations, names of the source and what it takes.
by_name = {event.name: dict(event.stats) for event in kernels}
first = next(stats for stats in by_name.values() if "dot_general" in stats["operations"])
assert first["hlo_module"] == "jit_step" and "jit(step)" in first["tf_op"], first
assert first["source"].startswith("<string>:"), first
flops = [stats["flops"] for stats in by_name.values() if "dot_general" in stats["operations"]]
expected = 2 * 1024 * (784 * 512 * 2 + 512 * 512 * 3 + 512 * 10 * 3)
assert abs(sum(flops) / expected - 1) < 0.1, (sum(flops), expected)
assert all(stats["bytes_accessed"] > 0 for stats in by_name.values())
assert all("x" in stats["grid"] for stats in by_name.values())
# Kernels are within their calls, one after the other.
end = 0
for event in kernels:
    assert event.start_ns >= end - 1000, event
    end = event.start_ns + event.duration_ns
    assert any(m.start_ns - 1000 <= event.start_ns and end <= m.start_ns + m.duration_ns + 1000
               for m in modules)
# They add up to the step, but for a step in which a busy machine did something else between two.
parts = [sum(event.duration_ns for event in kernels
             if module.start_ns - 1000 <= event.start_ns <= module.start_ns + module.duration_ns)
         / module.duration_ns for module in modules]
assert 0.9 < max(parts) < 1.001, parts
assert sum(module.duration_ns for module in modules) <= wall * 1e9 * 1.001
"""
    )


def test_the_optimized_program_shows_its_kernels():
    out = check(
        STEP
        + """
compiled = jax.jit(lambda x, w: jnp.tanh(x @ w).sum(1)).lower(x, params[0][0]).compile()
text = compiled.as_text()
assert "ENTRY" in text
# The product is a kernel, tanh and sum are another, and the program calls both.
parts = text.split("\\n\\n")
(product,) = [part for part in parts if part.lstrip().startswith("%main_0")]
(sums,) = [part for part in parts if part.lstrip().startswith("%main_1")]
assert "dot(" in product, product
assert "tanh(" in sums and "reduce(" in sums, sums
entry = text[text.index("ENTRY"):]
sunk = jax.jit(lambda x: (jax.lax.dce_sink(x + 1, prevent_mlir_dce=True), x)[1]).lower(x).compile()
assert "dce_sink" in sunk.as_text() and "add(" in sunk.as_text() and (sunk(x) == x).all()
assert "call(" in entry and "to_apply=%main_0" in entry and "to_apply=%main_1" in entry and "dot(" not in entry, entry
print("fine")
"""
    )
    assert out == "fine\n"


DUMP = """
import os, sys, jax, jax.numpy as jnp
x = jnp.ones((64, 64))
"""


def list_dumps(folder):
    return {path.name.split(".", 2)[2]: path for path in folder.iterdir()}


def test_dump_by_option(tmp_path):
    check(
        DUMP
        + f"""
lowered = jax.jit(lambda x: jnp.tanh(x @ x)).lower(x)
lowered.compile()
lowered.compile(compiler_options={{"alula_dump_to": {str(tmp_path / "dumps")!r}}})(x)
"""
    )
    ((name, folder),) = list_dumps(tmp_path / "dumps").items()
    assert name == "jit__lambda_" or name == "jit__lambda"
    stages = sorted(path.name for path in folder.iterdir())
    assert stages[0] == "01.input.mlir" and stages[-1] == "09.emit.txt", stages
    assert "dispatch.launch" in (folder / "04.dispatch.mlir").read_text()


def test_dump_by_variable(tmp_path):
    folder = tmp_path / "dumps"
    check(
        DUMP
        + """
@jax.jit
def first(x):
    return jnp.sin(x) @ x

@jax.jit
def second(x):
    return jnp.cos(x) @ x

first(x), second(x)
""",
        ALULA_DUMP_TO=str(folder),
    )
    dumps = list_dumps(folder)
    assert {"jit_first", "jit_second"} <= set(dumps), dumps
    assert "stablehlo.cosine" in (dumps["jit_second"] / "01.input.mlir").read_text()


def test_a_folder_that_can_t_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    out = check(
        DUMP
        + f"""
lowered = jax.jit(lambda x: jnp.tanh(x @ x)).lower(x)
try:
    lowered.compile(compiler_options={{"alula_dump_to": {str(tmp_path / "file")!r}}})
except jax.errors.JaxRuntimeError as error:
    print(error)
"""
    )
    assert str(tmp_path / "file") in out, out
