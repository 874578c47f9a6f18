"""Trains a model on each backend and prints the losses of all steps as JSON.

    train.py MODEL STEPS BACKEND...

The loop is Python's: each step is one call of a jitted function that is given
its state away, as in everybody's training script."""

import json
import sys

import equinox as eqx
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

BATCH = 32


def shuffled(count: int, steps: int):
    """The indices of each step's examples, each example once an epoch."""
    random = np.random.default_rng(0)
    epochs = steps * BATCH // count + 1
    order = np.concatenate([random.permutation(count) for _ in range(epochs)])
    return order[: steps * BATCH].reshape(steps, BATCH)


class Digits(nn.Module):
    """A small convolutional network: every kind of layer that such have."""

    @nn.compact
    def __call__(self, images, train: bool):
        x = nn.Conv(16, (3, 3))(images)
        x = nn.BatchNorm(use_running_average=not train)(x)
        x = nn.gelu(x)
        x = nn.Conv(32, (3, 3), strides=2)(x)
        x = nn.GroupNorm(num_groups=4)(x)
        x = nn.silu(x)
        x = nn.avg_pool(x, (2, 2), strides=(2, 2))
        x = x.reshape(x.shape[0], -1)
        x = nn.Dropout(0.1, deterministic=not train)(x)
        return nn.Dense(10)(nn.gelu(nn.Dense(64)(x)))


def train_flax(steps: int):
    """Scikit-learn's 1,797 digits; batch statistics, dropout and AdamW."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    images = (digits.images / 16).astype(np.float32)[..., None]
    labels = digits.target.astype(np.int32)
    model = Digits()
    init = jax.jit(model.init, static_argnames="train")
    variables = init(jax.random.key(0), images[:1], train=False)
    schedule = optax.cosine_decay_schedule(1e-3, steps)
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule))

    def loss_of(params, statistics, images, labels, key):
        logits, changed = model.apply(
            {"params": params, "batch_stats": statistics},
            images,
            train=True,
            rngs={"dropout": key},
            mutable=["batch_stats"],
        )
        targets = optax.smooth_labels(jax.nn.one_hot(labels, 10), 0.1)
        loss = optax.softmax_cross_entropy(logits, targets).mean()
        return loss, changed["batch_stats"]

    def step(state, number, images, labels):
        params, statistics, optimizer_state = state
        key = jax.random.fold_in(jax.random.key(1), number)
        (loss, statistics), gradient = jax.value_and_grad(loss_of, has_aux=True)(
            params, statistics, images, labels, key
        )
        updates, optimizer_state = optimizer.update(gradient, optimizer_state, params)
        return (optax.apply_updates(params, updates), statistics, optimizer_state), loss

    step = jax.jit(step, donate_argnums=0)
    state = variables["params"], variables["batch_stats"], optimizer.init(variables["params"])
    for number, chosen in enumerate(shuffled(len(labels), steps)):
        state, loss = step(state, number, images[chosen], labels[chosen])
        yield loss


class Block(eqx.Module):
    """A block of a transformer."""

    attention: eqx.nn.MultiheadAttention
    widen: eqx.nn.Linear
    narrow: eqx.nn.Linear
    norms: list

    def __init__(self, width: int, key):
        keys = jax.random.split(key, 3)
        self.attention = eqx.nn.MultiheadAttention(4, width, key=keys[0])
        self.widen = eqx.nn.Linear(width, 4 * width, key=keys[1])
        self.narrow = eqx.nn.Linear(4 * width, width, key=keys[2])
        self.norms = [eqx.nn.LayerNorm(width), eqx.nn.LayerNorm(width)]

    def __call__(self, x):
        y = jax.vmap(self.norms[0])(x)
        x = x + self.attention(y, y, y, mask=jnp.tril(jnp.ones((len(x), len(x)), bool)))
        y = jax.vmap(self.norms[1])(x)
        return x + jax.vmap(self.narrow)(jax.nn.gelu(jax.vmap(self.widen)(y)))


class Adder(eqx.Module):
    """Reads "12+34=046" character for character and says the next one."""

    tokens: eqx.nn.Embedding
    places: jax.Array
    blocks: list
    norm: eqx.nn.LayerNorm
    head: eqx.nn.Linear

    def __init__(self, symbols: int, length: int, width: int, key):
        keys = jax.random.split(key, 5)
        self.tokens = eqx.nn.Embedding(symbols, width, key=keys[0])
        self.places = 0.1 * jax.random.normal(keys[1], (length, width))
        self.blocks = [Block(width, keys[2]), Block(width, keys[3])]
        self.norm = eqx.nn.LayerNorm(width)
        self.head = eqx.nn.Linear(width, symbols, key=keys[4])

    def __call__(self, text):
        x = jax.vmap(self.tokens)(text) + self.places
        for block in self.blocks:
            x = block(x)
        return jax.vmap(self.head)(jax.vmap(self.norm)(x))


def train_equinox(steps: int):
    """Sums of numbers of two digits."""
    symbols = "0123456789+="
    sums = [f"{a:02}+{b:02}={a + b:03}" for a in range(100) for b in range(100)]
    texts = np.array([[symbols.index(c) for c in text] for text in sums], np.int32)
    length = texts.shape[1] - 1
    model = eqx.filter_jit(Adder)(len(symbols), length, 32, jax.random.key(0))
    optimizer = optax.adam(optax.warmup_cosine_decay_schedule(0.0, 2e-3, steps // 10, steps))

    def loss_of(model, texts):
        logits = jax.vmap(model)(texts[:, :-1])
        return optax.softmax_cross_entropy_with_integer_labels(logits, texts[:, 1:]).mean()

    @eqx.filter_jit(donate="all-except-first")
    def step(texts, model, optimizer_state):
        loss, gradient = eqx.filter_value_and_grad(loss_of)(model, texts)
        updates, optimizer_state = optimizer.update(gradient, optimizer_state, model)
        return eqx.apply_updates(model, updates), optimizer_state, loss

    optimizer_state = optimizer.init(eqx.filter(model, eqx.is_array))
    for chosen in shuffled(len(texts), steps):
        model, optimizer_state, loss = step(texts[chosen], model, optimizer_state)
        yield loss


MODELS = {"flax": train_flax, "equinox": train_equinox}


def train(name: str, steps: int, backend: str) -> list[float]:
    with jax.default_device(jax.devices(backend)[0]):
        # Fetched at the end only: nothing waits for a step in between.
        return [float(loss) for loss in list(MODELS[name](steps))]


if __name__ == "__main__":
    name, steps, *backends = sys.argv[1:]
    print(json.dumps({backend: train(name, int(steps), backend) for backend in backends}))
