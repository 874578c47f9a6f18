"""Times code that is not compiled as a whole: 500 different small jnp calls,
each a program of its own.

  eager_script.py [PLATFORM...]     default: alula cpu

Each platform gets a process of its own and runs the calls twice: the first time
compiles them, the second finds them compiled."""

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
UNARY = """abs sin cos tan exp expm1 log1p sqrt square sign floor ceil tanh arctan negative cumsum
sum prod max min mean std var argmax argmin sort argsort isnan isfinite ravel flip any all
atleast_2d diff nan_to_num""".split()
BINARY = """add subtract multiply true_divide maximum minimum power arctan2 hypot floor_divide mod equal
less greater logical_and logical_or where inner outer copysign nextafter logaddexp""".split()
SHAPES = [(3,), (7,), (2, 3), (4, 4), (5, 1), (2, 3, 4), (16,), (8, 2)]


def make_calls():
    import jax.numpy as jnp

    calls = []
    for shape in SHAPES:
        x = jnp.linspace(0.5, 1.5, int(jnp.prod(jnp.array(shape)))).reshape(shape)
        for name in UNARY:
            calls.append((getattr(jnp, name), (x,)))
        for name in BINARY:
            arguments = (x > 1, x, -x) if name == "where" else (x, x)
            calls.append((getattr(jnp, name), arguments))
    for size in range(2, 40):
        x = jnp.arange(float(size))
        calls += [(lambda x: x[1:] * 2, (x,)), (lambda x: x.at[0].set(1), (x,))]
    return calls[:500]


def run():
    import jax

    import jax.numpy as jnp

    calls = make_calls()
    (jnp.ones(3) + 1).block_until_ready()
    jax.clear_caches()
    seconds = []
    for _ in range(2):
        start = time.perf_counter()
        for function, arguments in calls:
            result = function(*arguments)
        jax.block_until_ready(result)
        seconds.append(time.perf_counter() - start)
    print(f"{jax.default_backend():6} {len(calls)} calls: first {seconds[0]:7.3f} s")
    print(f"{jax.default_backend():6} {len(calls)} calls: again {seconds[1]:7.3f} s", flush=True)


def main():
    if sys.argv[1:2] == ["--run"]:
        return run()
    for platform in sys.argv[1:] or ["alula", "cpu"]:
        environment = dict(
            os.environ,
            JAX_PLATFORMS="alula,cpu" if platform == "alula" else platform,
            PYTHONPATH=str(ROOT / "python"),
        )
        subprocess.run([sys.executable, __file__, "--run"], env=environment, check=True)


if __name__ == "__main__":
    main()
