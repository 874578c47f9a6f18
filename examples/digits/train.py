"""Trains an MLP on scikit-learn's digits with JAX and writes what the C program
needs: the model as StableHLO, the test images and their labels.

  train.py FOLDER
"""

import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np
from sklearn.datasets import load_digits

BATCH = 32


def predict(params, images):
    """Logits of a batch."""
    for weights, bias in params[:-1]:
        images = jax.nn.relu(images @ weights + bias)
    weights, bias = params[-1]
    return images @ weights + bias


def loss(params, images, labels):
    logits = jax.nn.log_softmax(predict(params, images))
    return -jnp.mean(jnp.take_along_axis(logits, labels[:, None], axis=1))


@jax.jit
def step(params, images, labels):
    gradients = jax.grad(loss)(params, images, labels)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients)


def classify(params, images):
    """The most likely digit of each image."""
    probabilities = jax.nn.softmax(predict(params, images))
    return probabilities, probabilities.max(axis=1)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    digits = load_digits()
    images = (digits.data / 16).astype(np.float32)
    labels = digits.target.astype(np.int32)
    random = np.random.RandomState(0)
    order = random.permutation(len(images))
    images, labels = images[order], labels[order]
    train, test = slice(0, 1440), slice(1440, 1440 + 11 * BATCH)

    sizes = [64, 128, 64, 10]
    params = [
        (random.randn(a, b).astype(np.float32) * np.sqrt(2 / a), np.zeros(b, np.float32))
        for a, b in zip(sizes, sizes[1:])
    ]
    for _ in range(400):
        batch = random.randint(0, 1440, 128)
        params = step(params, images[train][batch], labels[train][batch])

    shape = jax.ShapeDtypeStruct((BATCH, 64), np.float32)
    model = jax.jit(lambda x: classify(params, x)).lower(shape)
    (folder / "model.mlir").write_text(model.as_text())
    images[test].tofile(folder / "images.f32")
    labels[test].tofile(folder / "labels.i32")
    guess = np.argmax(np.asarray(predict(params, images[test])), axis=1)
    print(f"JAX classifies {np.mean(guess == labels[test]):.2%} of {len(guess)} images correctly")


if __name__ == "__main__":
    main()
