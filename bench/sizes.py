"""A function whose sizes only calls know, beside one that was compiled for them and jax.jit.

./dev bench sizes [--rounds N]

A network of three layers. Processor time: of the first call with a size that is new; of later ones, by
the code for all sizes and by that which is compiled in the background, each to a program that was
compiled for the size, medians of ratios of neighbours in time ("again" is the same program once more:
what ratios are worth); and what 100 random sizes leave."""

import argparse
import functools
import os
import statistics
import sys
import time

from bench.turns import measure

WIDTH = 256


def parse(argv=None):
    parser = argparse.ArgumentParser(prog="./dev bench sizes", description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15, help="default: %(default)s")
    return parser.parse_args(argv)


def make_function():
    import jax
    import jax.numpy as jnp
    import numpy as np

    random = np.random.default_rng(0)
    layers = [
        random.standard_normal((WIDTH, WIDTH)).astype(np.float32) / WIDTH**0.5 for _ in range(3)
    ]

    def network(x):
        for layer in layers:
            x = jax.nn.gelu(x @ layer)
        return jax.nn.softmax(x) - jnp.mean(x)

    return network


def make_input(rows):
    import numpy as np

    return np.random.default_rng(rows).standard_normal((rows, WIDTH)).astype(np.float32)


def compile_dynamic(function, **options):
    import alula
    import jax
    import numpy as np

    shape = jax.export.symbolic_shape(f"rows, {WIDTH}")
    return alula.compile(function, jax.ShapeDtypeStruct(shape, np.float32), **options)


def measure_first(call, sizes):
    """Milliseconds of the first calls with each of some sizes, the median."""
    times = []
    for rows in sizes:
        x = make_input(rows)
        start = time.process_time()
        call(x)
        times.append((time.process_time() - start) * 1e3)
    return statistics.median(times)


def main() -> int:
    options = parse()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-1:])
    os.environ["JAX_PLATFORMS"] = "cpu"
    import alula
    import jax
    import numpy as np
    from alula.program import specialize

    function = make_function()
    dynamic = compile_dynamic(function, specialize_after=0)
    special = compile_dynamic(function)
    jitted = jax.jit(function)
    dynamic(make_input(1)), jitted(make_input(1))
    sizes = np.random.default_rng(2).permutation(np.arange(2, 400))
    new = measure_first(lambda x: np.asarray(dynamic(x)), sizes[:20])
    theirs = measure_first(lambda x: np.asarray(jitted(x)), sizes[:20])
    print(f"a size that is new: {new:.2f} ms; jax.jit {theirs:.0f} ms", flush=True)
    names = ("again", "any size", "special")
    print(f"{'rows':>8} {'static, us':>12}", *(f"{name:>10}" for name in names), flush=True)
    for rows in (1, 17, 128):
        x = make_input(rows)
        static, again = alula.compile(function, x), alula.compile(function, x)
        for _ in range(special._info.specialize_after + 1):
            special(x)
        specialize.wait()
        assert ((rows, WIDTH),) in special.specialized
        peers = {
            name: functools.partial(f, x)
            for name, f in {
                "static": static,
                "again": again,
                "any": dynamic,
                "special": special,
            }.items()
        }
        times = measure(peers, options.rounds, warm=3)
        ratios = [
            statistics.median(a / b for a, b in zip(times[name], times["static"], strict=True))
            for name in ("again", "any", "special")
        ]
        shown = (f"{ratio:10.2f}" for ratio in ratios)
        print(f"{rows:8} {min(times['static']) * 1e6:12.1f}", *shown, flush=True)
    before = len(special.specialized)
    for rows in sizes[:100]:
        special(make_input(int(rows)))
    specialize.wait()
    made = len(special.specialized) - before
    (traced,) = special._info.traced.values()
    held = traced.specializer.bytes / 1024
    print(f"100 random sizes: {made} compiled; copies for {before} sizes have {held:.0f} KiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
