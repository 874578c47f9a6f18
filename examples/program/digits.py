"""Trains a classifier of digits where it runs: `update` changes globals that
`predict` reads. Writes what digits.c needs to do the same without Python.

  digits.py FOLDER
"""

import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.example_libraries import optimizers
from sklearn.datasets import load_digits

from alula import Program

BATCH = 32
STEPS = 500


def load():
    digits = load_digits()
    order = np.random.RandomState(0).permutation(len(digits.data))
    images = (digits.data[order] / 16).astype(np.float32)
    return images, digits.target[order].astype(np.int32)


def initial_params(seed=0):
    random = np.random.RandomState(seed)
    sizes = [64, 48, 10]
    return [
        (
            jnp.asarray(random.randn(a, b) * np.sqrt(2 / a), jnp.float32),
            jnp.asarray(np.zeros(b), jnp.float32),
        )
        for a, b in zip(sizes, sizes[1:])
    ]


def logits(params, images):
    for weights, bias in params[:-1]:
        images = jax.nn.relu(images @ weights + bias)
    weights, bias = params[-1]
    return images @ weights + bias


def loss(params, images, labels):
    chosen = jax.nn.log_softmax(logits(params, images))
    return -jnp.mean(jnp.take_along_axis(chosen, labels[:, None], axis=1))


init, update_state, get_params = optimizers.momentum(0.05, mass=0.9)
PARAMS = initial_params()
IMAGES = jax.ShapeDtypeStruct((BATCH, 64), jnp.float32)
LABELS = jax.ShapeDtypeStruct((BATCH,), jnp.int32)


def step(state, images, labels):
    value, gradients = jax.value_and_grad(loss)(get_params(state), images, labels)
    return value, update_state(0, gradients, state)


class Digits(Program):
    # The optimizer keeps the same arrays: these two share their globals.
    _params = PARAMS
    _opt_state = init(PARAMS)

    def update(self, images=IMAGES, labels=LABELS):
        """One step of training; gives the loss before it."""
        value, self._opt_state = step(self._opt_state, images, labels)
        return value

    def predict(self, images=IMAGES):
        """The most likely digit of each image."""
        return jnp.argmax(logits(self._params, images), axis=1).astype(jnp.int32)


def batches(images, labels, steps=STEPS):
    for i in range(steps):
        begin = i % (1440 // BATCH) * BATCH
        yield images[begin : begin + BATCH], labels[begin : begin + BATCH]


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    images, labels = load()
    model = Digits()
    Program.get_compiled_artifact(model).save(folder / "digits.alula")
    Program.write_header(model, folder / "digits.h")
    images.tofile(folder / "images.f32")
    labels.tofile(folder / "labels.i32")
    for batch in batches(images, labels):
        value = model.update(*batch)
    right = 0
    for begin in range(1440, 1440 + 11 * BATCH, BATCH):
        digits = model.predict(images[begin : begin + BATCH])
        right += int((np.asarray(digits) == labels[begin : begin + BATCH]).sum())
    print(f"loss {value:.6f}, {right} of {11 * BATCH} digits are right")
    Program.save_state(model, folder / "trained.safetensors")


if __name__ == "__main__":
    main()
