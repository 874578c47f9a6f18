"""XLA:CPU, or Alula's plugin, through JAX."""

import time

import jax
import numpy as np


class InJax:
    """Calls return arrays on the device; each waits for its own."""

    def __init__(self, case, threads, platform):
        self.device = jax.devices(platform)[0]
        # What comes with the first compilation of a process is not counted.
        jax.block_until_ready(jax.jit(lambda x: x * 2)(jax.device_put(np.ones(3), self.device)))
        self.inputs = [jax.device_put(value, self.device) for value in case.inputs]
        lowered = jax.jit(case.closed()).lower(*self.inputs)
        start = time.perf_counter()
        compiled = lowered.compile()
        self.facts = {"compile_ms": (time.perf_counter() - start) * 1e3}
        try:
            self.facts["artifact_bytes"] = len(compiled.runtime_executable().serialize())
        except (AttributeError, jax.errors.JaxRuntimeError):
            pass
        # Not the compiled object: jit's own dispatch is the faster one.
        self.run = jax.jit(case.closed())

    def results(self):
        return [np.asarray(r) for r in jax.tree.leaves(self.run(*self.inputs))]

    def call(self):
        jax.block_until_ready(self.run(*self.inputs))
