"""Models as other frameworks save them, loaded and compared with the frameworks'
own results: ResNet-18, a language model of two layers and an MLP of torch by
torch_xla, torchax, torch-mlir and ONNX; an MLP, a convolutional net and
attention of TensorFlow. Programs for all sizes run at five.

    ./dev test frontends [--torch DIR] [--tensorflow DIR] [--only TEXT] [--keep DIR]

DIR is a virtual environment that has the packages below. Without, one is made
under the build folder: 8 GB for torch, 2 GB for TensorFlow."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import alula
import numpy as np

HERE = Path(__file__).resolve().parent
BUILD = HERE.parents[1] / os.environ.get("ALULA_BUILD", "build")

# Those without their dependencies would bring others of the first ones.
TORCH = [
    ["torch==2.9.1", "torch_xla==2.9.0", "numpy"],
    ["--no-deps", "torchax==0.0.13", "torch-mlir"],
    ["jax==0.10.2", "flatbuffers", "onnx", "onnxscript"],
]
TENSORFLOW = [["tensorflow-cpu==2.21.0"]]
TORCH_FRONT_ENDS = ("torch_xla", "torchax", "torch_mlir", "onnx")
TOLERANCE = 1e-5
# What the front ends themselves can't export.
REFUSED = {
    "torch_xla resnet18 dynamic": "Non-broadcast dimensions must not be dynamic",
    "torch_xla lm dynamic": "Only 1 dimention can be symbolic",
    # A triangle: torch.aten.tril.
    "onnx lm dynamic": "dynamic shaped input is not supported",
}


def prepare(venv, packages):
    """The environment's Python; the stamp says that it is whole."""
    stamp = venv / "installed.txt"
    wanted = json.dumps(packages)
    if not stamp.exists() or stamp.read_text() != wanted:
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
        for each in packages:
            command = [str(venv / "bin" / "pip"), "install", "-q", "--no-cache-dir", *each]
            subprocess.run(command, check=True)
        stamp.write_text(wanted)
    return venv


def export(venv, script, *arguments):
    """Front ends run where they are installed, and nothing of ours with them."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    command = [str(venv / "bin" / "python"), str(HERE / script), *map(str, arguments)]
    ended = subprocess.run(command, check=False, env=environment, capture_output=True, text=True)
    if ended.returncode:
        raise RuntimeError(f"{script} {arguments[1:]}:\n{ended.stderr[-4000:]}")


def compile_file(source):
    """The only function of what alula-compile makes of a file or folder."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "program.alula"
        command = [BUILD / "bin" / "alula-compile", source, "--target=cpu:host", "-o", out]
        ended = subprocess.run(command, check=False, capture_output=True, text=True)
        if ended.returncode:
            raise RuntimeError(ended.stderr[-2000:])
        (function,) = alula.load(out).functions.values()
    return function


def load_torchax(folder):
    """Weights are the leading arguments; int64 is int32 in JAX."""
    arrays = np.load(folder / "weights.npz")
    weights = [arrays[name] for name in arrays.files]
    function = compile_file(folder / "program.mlir.bc")
    return lambda x: function(*weights, x.astype(np.int32) if x.dtype == np.int64 else x)


def load(front_end, path):
    """Each way in which the form can be loaded."""
    if front_end == "torch_xla":
        return {"folder": alula.load_torch_xla(path), "file": compile_file(path)}
    if front_end == "torchax":
        return {"portable artifact": load_torchax(path)}
    return {"text": compile_file(path)}


def compare(function, arrays):
    """The largest difference, and of how many inputs."""
    numbers = np.load(arrays)
    count = len(numbers.files) // 2
    largest = 0.0
    for i in range(count):
        result = function(numbers[f"x{i}"])
        if isinstance(result, (tuple, list)):
            (result,) = result
        want = numbers[f"y{i}"]
        if np.shape(result) != want.shape:
            raise RuntimeError(f"result is {np.shape(result)}, not {want.shape}")
        largest = max(largest, float(np.max(np.abs(np.asarray(result) - want))))
    return largest, count


def check(folder, front_end, arrays, only):
    """Counts of what is right and what is not."""
    passed = failed = 0
    for name, file in json.loads((folder / f"{front_end}.json").read_text()).items():
        title = f"{front_end} {name}"
        if only not in title:
            continue
        if isinstance(file, dict):
            expected = REFUSED.get(title)
            known = expected is not None and expected in file["refused"]
            failed += not known
            print(
                f"{title}: {'' if known else 'FAILED: '}the front end refuses: {file['refused'][:120]}"
            )
            continue
        try:
            for way, function in load(front_end, folder / file).items():
                largest, count = compare(
                    function, folder / f"{name.replace(' ', '_')}_{arrays}.npz"
                )
                right = largest <= TOLERANCE
                passed += right
                failed += not right
                verdict = "" if right else "FAILED: "
                print(
                    f"{title} ({way}): {verdict}{count} sizes, differs by {largest:.1e} at most",
                    flush=True,
                )
        except Exception as error:  # The other models are to be seen too.
            failed += 1
            print(f"{title}: FAILED: {type(error).__name__}: {error}", flush=True)
    return passed, failed


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--torch", type=Path)
    parser.add_argument("--tensorflow", type=Path)
    parser.add_argument("--only", default="", help="of rows whose title has this text")
    parser.add_argument("--keep", type=Path, help="exports go here, and are taken from here")
    options = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        venvs = BUILD / "frontend_venvs"
        for front_end in (*TORCH_FRONT_ENDS, "tensorflow"):
            if options.only and options.only.split()[0] not in front_end:
                continue
            is_torch = front_end in TORCH_FRONT_ENDS
            if not (folder / f"{front_end}.json").exists():
                if is_torch:
                    venv = options.torch or prepare(venvs / "torch", TORCH)
                    if not (folder / "reference.json").exists():
                        export(venv, "export_torch.py", folder, "reference")
                    export(venv, "export_torch.py", folder, front_end)
                else:
                    venv = options.tensorflow or prepare(venvs / "tensorflow", TENSORFLOW)
                    export(venv, "export_tensorflow.py", folder)
            arrays = "reference" if is_torch else "tensorflow"
            counts = check(folder, front_end, arrays, options.only)
            passed, failed = passed + counts[0], failed + counts[1]
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
