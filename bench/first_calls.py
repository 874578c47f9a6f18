"""First calls of fresh processes, here and on XLA:CPU.

The time from the call of a function that JAX traces, lowers and compiles to its result. What comes with the first
compilation of a process, whatever it is, is not counted, nor is the import of SciPy, whose LAPACK XLA:CPU calls."""

import os
import subprocess
import sys

PROCESS = """
import sys, time
import jax, numpy as np, scipy.linalg
jax.config.update("jax_enable_x64", True)
from bench.{module} import make_first
function, inputs = make_first(sys.argv[1])
inputs = jax.device_put(inputs)
jax.block_until_ready(jax.jit(lambda x: x * 2)(jax.device_put(np.ones(3))))
start = time.perf_counter()
jax.block_until_ready(jax.jit(function)(*inputs))
print((time.perf_counter() - start) * 1e3)
"""


def measure_first(module, name, rounds):
    """The least milliseconds of each platform, which take turns. `module` of bench makes the function and its inputs
    of a name."""
    times = {}
    for _ in range(rounds):
        for platform in ("alula", "cpu"):
            done = subprocess.run(
                [sys.executable, "-c", PROCESS.format(module=module), name],
                env=os.environ | {"JAX_PLATFORMS": platform},
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
            times.setdefault(platform, []).append(float(done.stdout))
    return {platform: min(each) for platform, each in times.items()}


def print_first(module, names, rounds):
    print(f"{'':32} {'alula':>8} {'xla':>8}   ms, least of {rounds}", flush=True)
    for name in names:
        first = measure_first(module, name, rounds)
        print(f"{name:32} {first['alula']:8.1f} {first['cpu']:8.1f}", flush=True)
