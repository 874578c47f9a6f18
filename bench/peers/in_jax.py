"""XLA:CPU, or Alula's plugin, through JAX."""

import itertools
import time

import jax
import numpy as np


def make_call(case, device):
    """A function of nothing that calls once, and returns results on the device."""
    function = (lambda *given: case.function({}, *given)) if case.eager else jax.jit(case.closed())
    if case.fresh:
        numbers = itertools.count(1)
        return lambda: function(*jax.device_put(case.fresh(next(numbers)), device))
    inputs = [jax.device_put(value, device) for value in case.inputs]
    return lambda: function(*inputs)


class InJax:
    """Calls return arrays on the device; each waits for its own."""

    def __init__(self, case, threads, platform):
        device = jax.devices(platform)[0]
        # What comes with the first compilation of a process is not counted.
        jax.block_until_ready(jax.jit(lambda x: x * 2)(jax.device_put(np.ones(3), device)))
        self.inputs = [jax.device_put(value, device) for value in case.inputs]
        lowered = jax.jit(case.closed()).lower(*self.inputs)
        start = time.perf_counter()
        compiled = lowered.compile()
        self.facts = {"compile_ms": (time.perf_counter() - start) * 1e3}
        try:
            self.facts["artifact_bytes"] = len(compiled.runtime_executable().serialize())
        except (AttributeError, jax.errors.JaxRuntimeError):
            pass
        self.case = case
        # Not the compiled object: jit's own dispatch is the faster one.
        self.run = make_call(case, device)

    def results(self):
        case = self.case
        run = jax.jit(case.closed()) if case.fresh else lambda *_: self.run()
        return [np.asarray(r) for r in jax.tree.leaves(run(*self.inputs))]

    def call(self):
        jax.block_until_ready(self.run())
