"""Programs that nobody has thought of give what XLA gives, bit by bit."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import numpy as np
import pytest
from jax import numpy as jnp

import jax_functions
import random_programs

pytestmark = jax_functions.needs_build
tools = jax_functions.tools

FIRST = int(os.environ.get("ALULA_RANDOM_FIRST", "0"))
COUNT = int(os.environ.get("ALULA_RANDOM_COUNT", "60"))


def is_same(results, others):
    return all(np.array_equal(a, np.asarray(b)) for a, b in zip(results, others, strict=True))


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_random_program(tools, seed):
    maker = random_programs.Maker(seed)
    arguments = maker.arguments()
    got = jax_functions.run(tools, maker, arguments, jax_functions.TARGETS[seed % 3])
    # XLA too goes wrong where it fuses; one op after the other it does not.
    if not is_same(got, jax.jit(maker)(*arguments)):
        assert is_same(got, maker(*map(jnp.asarray, arguments)))
