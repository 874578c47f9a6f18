"""JAX runs on Alula through the PJRT plugin. Each test is a process of its own:
JAX chooses its backends once."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


# "afar": memory that the host can't reach, for tests.
on_each_device = pytest.mark.parametrize("device", ["cpu", "afar"])


def run(source, **settings):
    environment = dict(os.environ, JAX_PLATFORMS="alula,cpu", PYTHONPATH=str(ROOT / "python"))
    environment |= settings
    return subprocess.run(
        [sys.executable, "-c", source],
        env=environment,
        capture_output=True,
        text=True,
        timeout=2000,
    )


def check(source, device="cpu", count=1):
    result = run(source, ALULA_DEVICE=device, ALULA_NUM_DEVICES=str(count))
    assert result.returncode == 0, result.stderr[-3000:]
    return result.stdout


MLP = """
import jax, jax.numpy as jnp, numpy as np

def mlp(params, x):
    for w, b in params[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = params[-1]
    return jax.nn.softmax(x @ w + b)

random = np.random.RandomState(0)
params = [(random.randn(a, b).astype('f'), random.randn(b).astype('f'))
          for a, b in [(64, 33), (33, 17), (17, 10)]]
x = random.randn(5, 64).astype('f')
"""


@on_each_device
def test_an_mlp_agrees_with_xla(device):
    check(
        MLP
        + """
ours = jax.jit(mlp)(params, x)
assert {d.platform for d in ours.devices()} == {'alula'}, ours.devices()
with jax.default_device(jax.devices('cpu')[0]):
    theirs = jax.jit(mlp)(params, x)
np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-5, atol=1e-6)
""",
        device,
    )


@on_each_device
def test_a_training_step_agrees_with_xla(device):
    check(
        MLP
        + """
def step(params, x, y):
    loss = lambda p: jnp.mean((mlp(p, x) - y) ** 2)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(loss)(params))

y = random.rand(5, 10).astype('f')
ours = jax.jit(step)(params, x, y)
with jax.default_device(jax.devices('cpu')[0]):
    theirs = jax.jit(step)(params, x, y)
for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs)):
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-4, atol=1e-6)
""",
        device,
    )


@on_each_device
def test_host_arrays_of_any_strides_arrive(device):
    check(
        """
import jax, numpy as np
base = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
for view in (base, base.transpose(2, 0, 1), base[:, ::2], base[..., ::-1], np.asfortranarray(base)):
    np.testing.assert_array_equal(np.asarray(jax.device_put(view)), view)
    np.testing.assert_array_equal(np.asarray(jax.jit(lambda a: a + 1)(view)), view + 1)
""",
        device,
    )


@on_each_device
def test_eight_devices(device):
    check(
        """
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P

devices = jax.devices()
assert len(devices) == 8
x = np.arange(8 * 6, dtype='f').reshape(8, 6)
weights = np.linspace(-1, 1, 6 * 6, dtype='f').reshape(6, 6)
f = lambda a: jnp.tanh(a @ weights)
with jax.default_device(jax.devices('cpu')[0]):
    wanted = np.asarray(f(x))
# One program on all; then on each alone, from where its argument is.
np.testing.assert_allclose(jax.pmap(f)(x), wanted, rtol=1e-5, atol=1e-6)
g = jax.jit(f)
for i, one in enumerate(devices):
    y = g(jax.device_put(x[i], one))
    assert y.devices() == {one}
    np.testing.assert_allclose(y, wanted[i], rtol=1e-5, atol=1e-6)
    # From one to the next.
    there = jax.device_put(y, devices[(i + 1) % 8])
    np.testing.assert_array_equal(there, y)
# They meet, and give their memory away.
total = jax.pmap(lambda a: jax.lax.psum(a, 'i'), axis_name='i')(x)
np.testing.assert_allclose(total, np.broadcast_to(x.sum(0), x.shape))
mesh = jax.make_mesh((8,), ('a',))
over = NamedSharding(mesh, P('a'))
add = jax.jit(lambda a: a * 2, in_shardings=over, out_shardings=over, donate_argnums=0)
z = jax.device_put(x, over)
for turn in range(1, 5):
    last, z = z, add(z)
    assert last.is_deleted()
np.testing.assert_array_equal(z, x * 16)
""",
        device,
        8,
    )


def test_a_program_that_cannot_be_compiled_is_an_exception_with_op_and_line():
    result = run(
        """
import jax, jax.numpy as jnp
try:
    call = jax.ffi.ffi_call('no_such_function', jax.ShapeDtypeStruct((4,), 'f'))
    jax.jit(lambda x: call(x))(jnp.ones(4, 'f'))
except jax.errors.JaxRuntimeError as error:
    print(error)
"""
    )
    assert result.returncode == 0, result.stderr[-3000:]
    assert "'stablehlo.custom_call'" in result.stdout
    assert "no_such_function" in result.stdout
    assert '"<string>":5' in result.stdout


def test_a_deleted_buffer_is_an_exception():
    result = run(
        """
import jax, jax.numpy as jnp
x = jnp.ones(4) + 1
x.delete()
try:
    (x + 1).block_until_ready()
except RuntimeError as error:
    print('deleted' in str(error))
"""
    )
    assert result.stdout.strip() == "True", result.stderr[-3000:]


def test_the_environment_that_the_build_leaves_has_both(tmp_path):
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    source = "import alula, jax; print(jax.numpy.arange(3).devices().pop().platform)"
    ended = subprocess.run(
        [ROOT / ".venv" / "bin" / "python", "-c", source],
        env=environment | {"JAX_PLATFORMS": "alula,cpu"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=2000,
    )
    assert ended.stdout.strip() == "alula", ended.stderr[-3000:]
