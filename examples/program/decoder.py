"""A decoder-only transformer with random weights whose key-value cache lives in
globals: a call takes one token, writes its keys and values in place, and gives
the next one.

  decoder.py FOLDER [TOKENS] [--gpt2-small] [--compare]

--gpt2-small takes the size of GPT-2's smallest model; --compare decodes with
plain JAX too.
"""

import dataclasses
import pathlib
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

from alula import Program


@dataclasses.dataclass(frozen=True)
class Config:
    vocabulary: int = 512
    width: int = 64
    heads: int = 4
    layers: int = 2
    context: int = 96


GPT2_SMALL = Config(vocabulary=50257, width=768, heads=12, layers=12, context=128)


def random_params(config, seed=0):
    random = np.random.default_rng(seed)

    def draw(*shape):
        scale = 1 / np.sqrt(shape[0]) if len(shape) > 1 else 1
        return jnp.asarray(random.standard_normal(shape, np.float32) * np.float32(scale))

    w = config.width
    layer = {"qkv": (w, 3 * w), "out": (w, w), "up": (w, 4 * w), "down": (4 * w, w)}
    return {
        "tokens": draw(config.vocabulary, w),
        "places": draw(config.context, w) * 0.1,
        "layers": [{k: draw(*s) for k, s in layer.items()} for _ in range(config.layers)],
    }


def normalize(x):
    x = x - x.mean()
    return x * jax.lax.rsqrt((x * x).mean() + 1e-5)


def empty_cache(config):
    shape = (config.context, config.heads, config.width // config.heads)
    # Each a value of its own: globals are told apart by identity.
    return [(jnp.zeros(shape), jnp.zeros(shape)) for _ in range(config.layers)]


def decode_step(config, params, cache, place, token):
    """The next token, and the cache with this one in it."""
    x = params["tokens"][token] + params["places"][place]
    mask = jnp.where(jnp.arange(config.context) <= place, 0.0, -jnp.inf)
    made = []
    for layer, (keys, values) in zip(params["layers"], cache):
        q, k, v = jnp.split(normalize(x) @ layer["qkv"], 3)
        q, k, v = (part.reshape(config.heads, -1) for part in (q, k, v))
        keys = jax.lax.dynamic_update_slice(keys, k[None], (place, 0, 0))
        values = jax.lax.dynamic_update_slice(values, v[None], (place, 0, 0))
        made.append((keys, values))
        scores = jnp.einsum("hd,thd->ht", q, keys) / np.sqrt(q.shape[-1]) + mask
        mixed = jnp.einsum("ht,thd->hd", jax.nn.softmax(scores), values)
        x = x + mixed.reshape(-1) @ layer["out"]
        x = x + jax.nn.gelu(normalize(x) @ layer["up"]) @ layer["down"]
    best = jnp.argmax(params["tokens"] @ normalize(x)).astype(jnp.int32)
    return best, made


def make(config, params):
    class Decoder(Program):
        _params = Program.export_global(params, initialize=True, mutable=False)
        _cache = empty_cache(config)
        _place = jnp.asarray(0)

        def decode(self, token=Program.like(np.int32(0))):
            """Takes a token, gives the next one."""
            best, self._cache = decode_step(config, self._params, self._cache, self._place, token)
            self._place = self._place + 1
            return best

        def restart(self):
            self._place = 0

    return Decoder


def expected_tokens(config, params, count, first=1):
    """By plain JAX; and the seconds of a token."""
    step = jax.jit(lambda *a: decode_step(config, params, *a), donate_argnums=0)
    cache, token, tokens, start = empty_cache(config), jnp.int32(first), [], None
    for place in range(count):
        token, cache = step(cache, jnp.int32(place), token)
        tokens.append(int(token))
        if place == 3:
            start = time.perf_counter()
    return tokens, (time.perf_counter() - start) / (count - 4)


def decode_tokens(model, count, first=1):
    token, tokens, start = np.int32(first), [], None
    for place in range(count):
        token = model.decode(token)
        tokens.append(int(token))
        if place == 3:
            start = time.perf_counter()
    return tokens, (time.perf_counter() - start) / (count - 4)


def main():
    given = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    folder = pathlib.Path(given[0])
    count = int(given[1]) if len(given) > 1 else 64
    folder.mkdir(parents=True, exist_ok=True)
    config = GPT2_SMALL if "--gpt2-small" in sys.argv else Config()
    params = random_params(config)
    model = make(config, params)()
    Program.get_compiled_artifact(model).save(folder / "decoder.alula")
    Program.write_header(model, folder / "decoder.h")
    tokens, seconds = decode_tokens(model, count)
    print(*tokens)
    print(f"{seconds * 1e3:.3f} ms for each token", file=sys.stderr)
    if "--compare" in sys.argv:
        expected, _ = expected_tokens(config, params, count)
        if tokens != expected:
            sys.exit(f"the tokens differ: JAX gives {expected}")
        ours, theirs = compare_times(config, params, model, count)
        print(f"{ours * 1e3:.3f} ms, in plain JAX {theirs * 1e3:.3f} ms", file=sys.stderr)


def compare_times(config, params, model, count):
    """Medians of a token's seconds, taken in turns."""
    step = jax.jit(lambda *a: decode_step(config, params, *a), donate_argnums=0)
    cache, token, ours, theirs = empty_cache(config), jnp.int32(1), [], []
    model.restart()
    for place in range(count):
        begin = time.perf_counter()
        int(model.decode(np.int32(1)))
        middle = time.perf_counter()
        token, cache = step(cache, jnp.int32(place), jnp.int32(1))
        int(token)
        ours.append(middle - begin)
        theirs.append(time.perf_counter() - middle)
    return np.median(ours[4:]), np.median(theirs[4:])


if __name__ == "__main__":
    main()
