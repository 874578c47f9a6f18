"""Saves ResNet-18, a language model of two layers and an MLP as one front end of
torch does, with inputs and torch's own outputs.

    export_torch.py FOLDER FRONT_END

FRONT_END is `reference` (inputs and outputs), `torch_xla`, `torchax`,
`torch_mlir` or `onnx`. Weights are random, the same in each run. FRONT_END.json
in the folder says what was made; what the front end refuses stands there with
its reason."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.export import Dim
from torch.nn import functional


class ResidualBlock(nn.Module):
    def __init__(self, channels, out, stride):
        super().__init__()
        self.first = nn.Conv2d(channels, out, 3, stride, 1, bias=False)
        self.first_norm = nn.BatchNorm2d(out)
        self.second = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.second_norm = nn.BatchNorm2d(out)
        self.shortcut = nn.Identity()
        if stride != 1 or channels != out:
            self.shortcut = nn.Sequential(
                nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out)
            )

    def forward(self, x):
        y = functional.relu(self.first_norm(self.first(x)))
        return functional.relu(self.second_norm(self.second(y)) + self.shortcut(x))


class ResNet18(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 64, 7, 2, 3, bias=False),
            nn.BatchNorm2d(64),
            nn.ReLU(),
            nn.MaxPool2d(3, 2, 1),
        )
        blocks, channels = [], 64
        for out, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
            blocks += [ResidualBlock(channels, out, stride), ResidualBlock(out, out, 1)]
            channels = out
        self.body = nn.Sequential(*blocks)
        self.head = nn.Linear(512, 1000)

    def forward(self, x):
        return self.head(self.body(self.stem(x)).mean((2, 3)))


class TransformerBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.projections = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.mlp_norm = nn.LayerNorm(width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (
            each.reshape(batch, length, self.heads, width // self.heads).transpose(1, 2)
            for each in self.projections(self.norm(x)).chunk(3, -1)
        )
        attended = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.mlp_norm(x))


class LanguageModel(nn.Module):
    def __init__(self, words=1000, width=128, heads=4, layers=2, length=64):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.places = nn.Embedding(length, width)
        self.blocks = nn.ModuleList(TransformerBlock(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)

    def forward(self, text):
        x = self.words(text) + self.places(torch.arange(text.shape[1]))[None]
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def make_mlp():
    return nn.Sequential(
        nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.GELU(), nn.Linear(128, 10)
    )


def draw(generator, *shape):
    return torch.randn(shape, generator=generator)


def draw_words(generator, *shape):
    return torch.randint(0, 1000, shape, generator=generator)


class Model:
    def __init__(self, make, draw, static, sizes, symbols):
        self.make, self.draw, self.static, self.sizes = make, draw, static, sizes
        # A letter for each dimension that is open; None for the others.
        self.symbols = symbols

    @property
    def dims(self):
        # 0 and 1 are sizes that some exporters treat as cases of their own.
        dims = {"b": Dim("b"), "t": Dim("t", min=2, max=64)}
        return ({i: dims[name] for i, name in enumerate(self.symbols) if name},)


MODELS = {
    "mlp": Model(make_mlp, draw, (4, 64), [(n, 64) for n in (1, 2, 3, 7, 33)], ["b", None]),
    "resnet18": Model(
        ResNet18, draw, (2, 3, 64, 64), [(n, 3, 64, 64) for n in range(1, 6)], ["b"] + 3 * [None]
    ),
    "lm": Model(
        LanguageModel,
        draw_words,
        (2, 32),
        [(1, 5), (2, 2), (3, 17), (2, 64), (4, 31)],
        ["b", "t"],
    ),
}


def make(name):
    torch.manual_seed(0)
    return MODELS[name].make().eval()


def get_example(name):
    return MODELS[name].draw(torch.Generator().manual_seed(1), *MODELS[name].static)


def export(name, is_dynamic):
    dims = MODELS[name].dims if is_dynamic else None
    return torch.export.export(make(name), (get_example(name),), dynamic_shapes=dims)


def save_reference(name, is_dynamic, path):
    model, generator = make(name), torch.Generator().manual_seed(2)
    inputs = [get_example(name)]
    if is_dynamic:
        inputs = [MODELS[name].draw(generator, *shape) for shape in MODELS[name].sizes]
    arrays = {}
    for i, x in enumerate(inputs):
        arrays[f"x{i}"] = x.numpy()
        arrays[f"y{i}"] = model(x).numpy()
    np.savez(path, **arrays)


def save_torch_xla(name, is_dynamic, path):
    os.environ["PJRT_DEVICE"] = "CPU"
    os.environ["EXPERIMENTAL_XLA_UNBOUNDED_DYNAMISM"] = "1" if is_dynamic else "0"
    from torch_xla import stablehlo

    stablehlo.exported_program_to_stablehlo(export(name, is_dynamic)).save(str(path))


def save_torchax(name, is_dynamic, path):
    """The weights, and what jax.export makes of torchax's function of them."""
    import jax
    import torchax.export

    weights, function = torchax.export.exported_program_to_jax(export(name, is_dynamic))
    example = get_example(name).numpy()
    shape = example.shape
    if is_dynamic:
        sizes = (letter or str(size) for letter, size in zip(MODELS[name].symbols, shape))
        scope = jax.export.SymbolicScope(["t<=64"] if "t" in MODELS[name].symbols else [])
        shape = jax.export.symbolic_shape(",".join(sizes), scope=scope)
    # int64 is int32 in JAX.
    kind = jax.dtypes.canonicalize_dtype(example.dtype)
    specs = [jax.ShapeDtypeStruct(each.shape, each.dtype) for each in weights]
    exported = jax.export.export(jax.jit(function), platforms=["cpu"])(
        specs, (jax.ShapeDtypeStruct(shape, kind),)
    )
    path.mkdir()
    (path / "program.mlir.bc").write_bytes(exported.mlir_module_serialized)
    # What is not read, such as counters of batches, is no argument of the program.
    kept = [weights[i] for i in exported.module_kept_var_idx if i < len(weights)]
    np.savez(path / "weights.npz", *(np.asarray(each) for each in kept))


def save_torch_mlir(name, is_dynamic, path):
    from torch_mlir import fx

    dims = {"dynamic_shapes": MODELS[name].dims} if is_dynamic else {}
    module = fx.export_and_import(make(name), get_example(name), output_type="stablehlo", **dims)
    path.write_text(module.operation.get_asm())


def save_onnx(name, is_dynamic, path):
    """ONNX, which torch-mlir's tools say in StableHLO."""
    dims = {"dynamic_shapes": MODELS[name].dims} if is_dynamic else {}
    model, imported = path.with_suffix(".onnx"), path.with_suffix(".torch")
    torch.onnx.export(
        make(name), (get_example(name),), str(model), dynamo=True, external_data=False, **dims
    )
    tools = Path(sys.executable).parent
    passes = "torch-onnx-to-torch-backend-pipeline,torch-backend-to-stablehlo-backend-pipeline"
    for command in (
        [tools / "torch-mlir-import-onnx", model, "-o", imported],
        [
            tools / "torch-mlir-opt",
            f"--pass-pipeline=builtin.module({passes})",
            imported,
            "-o",
            path,
        ],
    ):
        ended = subprocess.run(command, check=False, capture_output=True, text=True)
        if ended.returncode:
            raise RuntimeError(f"{command[0].name}: {ended.stderr[:500]}")


FRONT_ENDS = {
    "reference": (save_reference, ".npz"),
    "torch_xla": (save_torch_xla, ""),
    "torchax": (save_torchax, ""),
    "torch_mlir": (save_torch_mlir, ".mlir"),
    "onnx": (save_onnx, ".mlir"),
}


def main():
    folder, front_end = Path(sys.argv[1]), sys.argv[2]
    save, ending = FRONT_ENDS[front_end]
    made = {}
    for name in MODELS:
        for form in ("static", "dynamic"):
            path = folder / f"{name}_{form}_{front_end}{ending}"
            try:
                with torch.no_grad():
                    save(name, form == "dynamic", path)
                made[f"{name} {form}"] = path.name
            except Exception as error:  # What a front end says is to be told.
                made[f"{name} {form}"] = {"refused": f"{type(error).__name__}: {error}"[:3000]}
    (folder / f"{front_end}.json").write_text(json.dumps(made))


if __name__ == "__main__":
    main()
