"""Trains two small models with torch_xla on Alula and with torch on the CPU
and prints the losses of all steps as JSON.

    train.py PLUGIN STEPS

torch_xla is as it comes from PyPI; of Alula it gets the plugin's path."""

import json
import os
import sys

os.environ["PJRT_DEVICE"] = "ALULA"
os.environ["XLA_STABLEHLO_COMPILE"] = "1"

import numpy as np
import torch
import torch_xla
from torch import nn
from torch_xla.experimental import plugins

BATCH, CLASSES = 32, 10


class Alula(plugins.DevicePlugin):
    def library_path(self):
        return sys.argv[1]


def make_mlp():
    return nn.Sequential(
        nn.Flatten(),
        nn.Linear(64, 128),
        nn.LayerNorm(128),
        nn.GELU(),
        nn.Linear(128, 64),
        nn.Tanh(),
        nn.Linear(64, CLASSES),
    )


def make_cnn():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.BatchNorm2d(16),
        nn.SiLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3),
        nn.GELU(),
        nn.AvgPool2d(2),
        nn.Flatten(),
        nn.Linear(32, CLASSES),
    )


def make_batches(steps):
    """Pictures of ten kinds under noise."""
    random = np.random.default_rng(0)
    kinds = random.standard_normal((CLASSES, 1, 8, 8))
    for _ in range(steps):
        labels = random.integers(CLASSES, size=BATCH)
        noise = random.standard_normal((BATCH, 1, 8, 8))
        yield (
            torch.tensor(kinds[labels] + noise, dtype=torch.float32),
            torch.tensor(labels, dtype=torch.int64),
        )


def train(make_model, make_optimizer, steps, device):
    torch.manual_seed(0)
    model = make_model().to(device).train()
    optimizer = make_optimizer(model.parameters())
    loss_of = nn.CrossEntropyLoss(label_smoothing=0.1)
    losses = []
    for images, labels in make_batches(steps):
        optimizer.zero_grad()
        loss = loss_of(model(images.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()
        if device.type == "xla":
            torch_xla.sync()
        losses.append(loss.detach())
    return [float(loss.cpu()) for loss in losses]


def adam(parameters):
    return torch.optim.Adam(parameters, lr=1e-3)


def momentum(parameters):
    return torch.optim.SGD(parameters, lr=0.02, momentum=0.9, weight_decay=1e-4)


if __name__ == "__main__":
    plugins.use_dynamic_plugins()
    plugins.register_plugin("ALULA", Alula())
    steps = int(sys.argv[2])
    devices = {"alula": torch_xla.device(), "cpu": torch.device("cpu")}
    models = {"mlp": (make_mlp, adam), "cnn": (make_cnn, momentum)}
    print(
        json.dumps(
            {
                name: {key: train(*model, steps, device) for key, device in devices.items()}
                for name, model in models.items()
            }
        )
    )
