"""The text of programs, compiled by another compiler: the same numbers."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from test_program_examples import EXAMPLES  # noqa: F401

from alula import Program, like

compiler = pytest.importorskip("iree.compiler")
runtime = pytest.importorskip("iree.runtime")

X = jnp.ones((3, 4)) * 4


def load(program):
    name = Program.get_info(program).name
    code = compiler.compile_str(
        str(Program.get_mlir_module(program)),
        target_backends=["llvm-cpu"],
        input_type="stablehlo",
        extra_args=["--iree-llvmcpu-target-cpu=generic"],
    )
    context = runtime.SystemContext(config=runtime.Config("local-sync"))
    context.add_vm_module(runtime.VmModule.copy_buffer(context.instance, code))
    return getattr(context.modules, name)


class Trivial(Program):
    _params = {"x": X, "b": jnp.ones((3, 4))}
    _x = _params["x"]
    _wide = np.random.RandomState(0).rand(24, 24).astype(np.float32)

    def get_params(self):
        return self._params

    def run(self, multiplier=like(X)):
        self._x = self._linear(multiplier, self._params["x"], self._params["b"])
        return self._x

    def mix(self, x=like(jnp.ones(24))):
        return self._wide @ x

    @Program.kernel
    def _linear(m, x, b):
        return m * x + b


class Cache(Program):
    _rows = jnp.zeros((5, 2))
    _count = jnp.asarray(0)

    def put(self, row=like(jnp.ones(2))):
        self._rows = jax.lax.dynamic_update_slice(self._rows, row[None], (self._count, 0))
        self._count = self._count + 1
        return self._rows


def check(program, other, function, *arguments):
    ours = jax.tree.leaves(getattr(program, function)(*arguments))
    theirs = getattr(other, function)(*map(np.asarray, arguments))
    theirs = theirs if isinstance(theirs, (list, tuple)) else [theirs]
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b.to_host(), rtol=1e-5, atol=1e-6)


def test_trivial():
    program = Trivial()
    other = load(program)
    for factor in (1, 3):
        check(program, other, "run", np.full((3, 4), factor, np.float32))
        check(program, other, "get_params")
    check(program, other, "mix", np.arange(24, dtype=np.float32))


def test_cache():
    program = Cache()
    other = load(program)
    for i in range(4):
        check(program, other, "put", np.full(2, i, np.float32))


def test_digits():
    pytest.importorskip("sklearn")
    import digits

    program = digits.Digits()
    other = load(program)
    images, labels = digits.load()
    for batch in digits.batches(images, labels, 20):
        check(program, other, "update", *batch)
    check(program, other, "predict", images[:32])


def test_decoder(monkeypatch):
    import decoder

    config = decoder.Config()
    shape = (config.context, config.heads, config.width // config.heads)

    # The other compiler lets globals that start alike share their memory, and
    # updates it in place: each starts with a number of its own.
    def make_cache(_):
        return [
            tuple(jnp.full(shape, 1e-3 * (2 * layer + i)) for i in range(2))
            for layer in range(config.layers)
        ]

    monkeypatch.setattr(decoder, "empty_cache", make_cache)
    program = decoder.make(config, decoder.random_params(config))()
    other = load(program)
    token = np.int32(1)
    for _ in range(8):
        ours = np.int32(program.decode(token))
        assert ours == other.decode(token).to_host()
        token = ours
