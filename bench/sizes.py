"""Functions whose sizes only calls know, beside those that were compiled for them and jax.jit.

./dev bench sizes [--rounds N] [--only TEXT] [--sizes N,...]

A network of three layers, an attention block, convolutions, reductions. Processor time: of the first
call of the network with a size that is new; of later calls, by the code for all sizes and by that which
is compiled in the background, each to a program that was compiled for the size, medians of ratios of
neighbours in time ("again" is the same program once more: what ratios are worth); and what 100 random
sizes leave."""

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
    parser.add_argument("--only", default="", help="programs whose names have this text")
    parser.add_argument("--sizes", default="1,17,128,509,2048", help="default: %(default)s")
    return parser.parse_args(argv)


def make_network():
    import jax
    import jax.numpy as jnp

    layers = [make_weight(i, WIDTH, WIDTH) for i in range(3)]

    def network(x):
        for layer in layers:
            x = jax.nn.gelu(x @ layer)
        return jax.nn.softmax(x) - jnp.mean(x)

    return network, (WIDTH,)


def make_attention():
    import jax
    import jax.numpy as jnp

    heads, size = 4, 32
    q, k, v, out = (make_weight(i, 128, 128) for i in range(4))

    def attention(x):
        def divide(weight):
            return (x @ weight).reshape(-1, heads, size).transpose(1, 0, 2)

        scores = divide(q) @ divide(k).transpose(0, 2, 1) / size**0.5
        mixed = jax.nn.softmax(scores) @ divide(v)
        y = x + mixed.transpose(1, 0, 2).reshape(-1, 128) @ out
        centred = y - jnp.mean(y, 1, keepdims=True)
        return centred * jax.lax.rsqrt(jnp.mean(centred**2, 1, keepdims=True) + 1e-5)

    return attention, (128,)


def make_convolutions():
    import jax

    first = make_weight(0, 9 * 4, 32).reshape(3, 3, 4, 32)
    second = make_weight(1, 9 * 32, 16).reshape(3, 3, 32, 16)

    def convolve(x):
        for kernel in (first, second):
            x = jax.lax.conv_general_dilated(
                x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
            x = jax.nn.relu(x)
        return x.mean((1, 2))

    return convolve, (16, 16, 4)


def make_reductions():
    import jax.numpy as jnp

    def reduce(x):
        centred = x - x.mean(0)
        return x.max(1), jnp.sqrt((centred**2).sum(0)), jnp.cumsum(x.sum(1)), jnp.argmax(x, 1)

    return reduce, (200,)


PROGRAMS = {
    "network": make_network,
    "attention": make_attention,
    "convolutions": make_convolutions,
    "reductions": make_reductions,
}


def make_weight(seed, rows, columns):
    import numpy as np

    return (np.random.default_rng(seed).standard_normal((rows, columns)) / rows**0.5).astype("f4")


def make_input(rows, inner=(WIDTH,)):
    import numpy as np

    return np.random.default_rng(rows).standard_normal((rows, *inner)).astype(np.float32)


def compile_dynamic(function, inner, **options):
    import alula
    import jax
    import numpy as np

    shape = jax.export.symbolic_shape(", ".join(["rows", *map(str, inner)]))
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


def run_program(name, options):
    """Prints a line for each size; gives what was compiled."""
    import alula
    from alula.program import specialize

    function, inner = PROGRAMS[name]()
    dynamic = compile_dynamic(function, inner, specialize_after=0)
    special = compile_dynamic(function, inner)
    for rows in map(int, options.sizes.split(",")):
        x = make_input(rows, inner)
        static, again = alula.compile(function, x), alula.compile(function, x)
        for _ in range(special._info.specialize_after + 1):
            special(x)
        specialize.wait()
        assert ((rows, *inner),) in special.specialized
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
        print(f"{name:12} {rows:8} {min(times['static']) * 1e6:12.1f}", *shown, flush=True)
    return special


def show_new_sizes():
    import alula  # noqa: F401
    import jax
    import numpy as np
    from alula.program import specialize

    function, inner = make_network()
    dynamic = compile_dynamic(function, inner, specialize_after=0)
    jitted = jax.jit(function)
    dynamic(make_input(1)), jitted(make_input(1))
    sizes = np.random.default_rng(2).permutation(np.arange(2, 400))
    new = measure_first(lambda x: np.asarray(dynamic(x)), sizes[:20])
    theirs = measure_first(lambda x: np.asarray(jitted(x)), sizes[:20])
    print(f"a size that is new: {new:.2f} ms; jax.jit {theirs:.0f} ms", flush=True)
    special = compile_dynamic(function, inner)
    for rows in sizes[:100]:
        special(make_input(int(rows)))
    specialize.wait()
    print(f"100 random sizes: {len(special.specialized)} compiled")


def show_memory(special):
    (traced,) = special._info.traced.values()
    held, count = traced.specializer.bytes / 1024, len(special.specialized)
    print(f"copies for {count} sizes have {held:.0f} KiB", flush=True)


def main() -> int:
    options = parse()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-1:])
    os.environ["JAX_PLATFORMS"] = "cpu"
    if options.only in "network":
        show_new_sizes()
    names = ("again", "any size", "special")
    shown = (f"{name:>10}" for name in names)
    print(f"{'':12} {'rows':>8} {'static, us':>12}", *shown, flush=True)
    for name in PROGRAMS:
        if options.only in name:
            show_memory(run_program(name, options))
    return 0


if __name__ == "__main__":
    sys.exit(main())
