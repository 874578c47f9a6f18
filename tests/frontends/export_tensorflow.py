"""Saves an MLP, a convolutional net and attention as StableHLO text by way of
TensorFlow's converter: functions with constants inside, for one shape and with
None in it, and a SavedModel, whose variables are globals.

    export_tensorflow.py FOLDER

`tensorflow.json` in the folder says what was made."""

import json
import os
import sys
from pathlib import Path

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

PIPELINE = "tf-lower-to-mlprogram-and-hlo"


def weights(seed, *shape):
    random = np.random.RandomState(seed)
    return tf.Variable((random.randn(*shape) / np.sqrt(shape[-2])).astype(np.float32))


class Mlp(tf.Module):
    shape = (4, 64)
    open_shape = (None, 64)
    sizes = tuple((n, 64) for n in (1, 2, 3, 7, 33))

    def __init__(self):
        self.first, self.second = weights(0, 64, 128), weights(1, 128, 10)
        self.bias = tf.Variable(np.linspace(-1, 1, 128, dtype=np.float32))

    def compute(self, x):
        return tf.nn.softmax(tf.nn.relu(x @ self.first + self.bias) @ self.second)


class Convolutional(tf.Module):
    shape = (2, 16, 16, 3)
    open_shape = (None, 16, 16, 3)
    sizes = tuple((n, 16, 16, 3) for n in range(1, 6))

    def __init__(self):
        self.kernel, self.head = weights(2, 3, 3, 3, 8), weights(3, 8, 10)

    def compute(self, x):
        y = tf.nn.relu(tf.nn.conv2d(x, self.kernel, 2, "SAME"))
        y = tf.nn.max_pool2d(y, 2, 2, "VALID")
        return tf.reduce_mean(y, [1, 2]) @ self.head


class Attention(tf.Module):
    shape = (2, 5, 16)
    open_shape = (None, None, 16)
    sizes = ((1, 1, 16), (2, 3, 16), (1, 17, 16), (3, 8, 16), (5, 2, 16))

    def __init__(self):
        self.projections = weights(4, 3, 16, 16)

    def compute(self, x):
        q, k, v = (x @ self.projections[i] for i in range(3))
        weights = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / 4.0)
        return weights @ v / tf.cast(tf.shape(x)[1], tf.float32)


def save_arrays(model, shapes, path):
    random, arrays = np.random.RandomState(7), {}
    for i, shape in enumerate(shapes):
        x = random.randn(*shape).astype(np.float32)
        arrays[f"x{i}"], arrays[f"y{i}"] = x, model.compute(tf.constant(x)).numpy()
    np.savez(path, **arrays)


def convert(text, path):
    path.write_text(tf.mlir.experimental.run_pass_pipeline(text, PIPELINE, False))


def main():
    folder, made = Path(sys.argv[1]), {}
    for make in (Mlp, Convolutional, Attention):
        name, model = make.__name__.lower(), make()
        for form, shape, sizes in (
            ("static", make.shape, [make.shape]),
            ("dynamic", make.open_shape, make.sizes),
        ):
            function = tf.function(model.compute).get_concrete_function(
                tf.TensorSpec(shape, tf.float32)
            )
            text = tf.mlir.experimental.convert_function(
                convert_variables_to_constants_v2(function)
            )
            file = f"{name}_{form}_tensorflow.mlir"
            convert(text, folder / file)
            save_arrays(model, sizes, folder / f"{name}_{form}_tensorflow.npz")
            made[f"{name} {form}"] = file
        model.__call__ = tf.function(
            model.compute, input_signature=[tf.TensorSpec(make.open_shape, tf.float32)]
        )
        saved = str(folder / f"{name}_saved")
        tf.saved_model.save(model, saved)
        file = f"{name}_variables_tensorflow.mlir"
        convert(tf.mlir.experimental.convert_saved_model(saved, "__call__", False), folder / file)
        save_arrays(model, make.sizes, folder / f"{name}_variables_tensorflow.npz")
        made[f"{name} variables"] = file
    (folder / "tensorflow.json").write_text(json.dumps(made))


if __name__ == "__main__":
    main()
