"""torch.compile, and torch's eager mode where the row is one; whoever has torch measures it."""

import importlib.util
import time

import jax
import numpy as np

from bench.peers import Unable


class InTorch:
    def __init__(self, case, threads):
        if not case.torch:
            raise Unable("not written in torch")
        if not importlib.util.find_spec("torch"):
            raise Unable("not installed")
        import torch

        torch.set_num_threads(threads)

        def to_tensor(value):
            return torch.from_numpy(np.array(value))

        self.inputs = [to_tensor(value) for value in case.inputs]
        params = jax.tree.map(to_tensor, case.params)

        def function(*inputs):
            return case.torch(torch, params, *inputs)

        self.run, self.facts = function, {}
        if not case.eager:
            start = time.perf_counter()
            self.run = torch.compile(function)
            self.run(*self.inputs)
            self.facts = {"compile_ms": (time.perf_counter() - start) * 1e3}

    def results(self):
        found = self.run(*self.inputs)
        found = found if isinstance(found, tuple) else (found,)
        return [value.detach().numpy() for value in found]

    def call(self):
        self.run(*self.inputs)
