"""Functions of the host that programs call by name."""

import jax.numpy as jnp
import numpy as np
import pytest

import alula
from alula import Program, like

X = np.arange(6, dtype=np.float32).reshape(2, 3)


class Uses(Program):
    _n = jnp.asarray(0)
    _scaled = Program.extern("tests.scaled", result=like({"y": X, "sum": np.float32(0)}))

    def run(self, x=like(X)):
        self._n = self._n + 1
        made = self._scaled(x, self._n)
        return made["y"] + 1, made["sum"]


def test_extern(tmp_path):
    artifact = Program.get_compiled_artifact(Uses())
    with pytest.raises(alula.AlulaError, match="tests.scaled"):
        artifact.load()

    def scaled(x, n):
        assert not x.flags.writeable
        # In the order of the tree's leaves: sum, y.
        return x.sum(), x * n

    alula.register_custom_call("tests.scaled", scaled)
    uses, loaded = Uses(), artifact.load()
    for i in (1, 2):
        for program in (uses, loaded):
            y, total = program.run(X)
            assert (y == X * i + 1).all() and total == 15

    def fails(x, n):
        raise OSError("the disk is full\n")

    alula.register_custom_call("tests.scaled", fails)
    for program in (uses, loaded):
        with pytest.raises(alula.AlulaError, match="'tests.scaled': OSError: the disk is full"):
            program.run(X)
        assert program._n == 2, "a call that fails leaves the state as it was"
    alula.register_custom_call("tests.scaled", lambda x, n: [x])
    with pytest.raises(alula.AlulaError, match="gives 1 results, the program wants 2"):
        uses.run(X)
    alula.register_custom_call("tests.scaled", lambda x, n: [x, x])
    with pytest.raises(alula.AlulaError, match="shape .2, 3., the program wants .."):
        uses.run(X)
    assert repr(Uses._scaled) == "<extern tests.scaled>"
