"""The workers that compile and run programs, and what they survive."""

import os
import pathlib
import sys

import numpy as np
import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = ROOT / os.environ.get("ALULA_BUILD", "build")
sys.path[:0] = [str(HERE), str(HERE.parent / "jax")]

import worker_pool

pytestmark = pytest.mark.skipif(
    not (BUILD / "lib/libalula_compiler.so").exists(), reason="the compiler is not built"
)

ADD = """
func.func @main(%a: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.add %a, %b : tensor<3xf32>
  return %0 : tensor<3xf32>
}
"""


def job(folder: pathlib.Path, text: str, arrays, kinds, **rest) -> dict:
    program = folder / "program.mlir"
    program.write_text(text)
    inputs = []
    for number, (array, kind) in enumerate(zip(arrays, kinds, strict=True)):
        path = folder / f"in{number}.bin"
        path.write_bytes(np.asarray(array).tobytes())
        inputs.append({"type": kind, "file": str(path)})
    return {
        "program": str(program),
        "inputs": inputs,
        "outputs": str(folder / "out"),
        **rest,
    }


def one(task: dict, **rest) -> dict:
    return worker_pool.run([task], BUILD, 1, **rest)[0]


def test_compiles_and_runs(tmp_path):
    values = np.array([1, 2, 3], np.float32)
    answer = one(job(tmp_path, ADD, [values, values], ["3xf32", "3xf32"]))
    assert answer["status"] == "ok"
    assert answer["results"][0]["type"] == "3xf32"
    data = pathlib.Path(answer["results"][0]["file"]).read_bytes()
    assert np.frombuffer(data, np.float32).tolist() == [2, 4, 6]


def test_packed_elements_take_a_byte_each_in_files(tmp_path):
    values = np.array([1, -2, 3], np.int8)
    text = ADD.replace("3xf32", "3xi4")
    answer = one(job(tmp_path, text, [values, values], ["3xi4", "3xi4"]))
    assert answer["status"] == "ok", answer
    data = pathlib.Path(answer["results"][0]["file"]).read_bytes()
    assert np.frombuffer(data, np.int8).tolist() == [2, -4, 6]


def test_only_compiles(tmp_path):
    answer = one(job(tmp_path, ADD, [], [], run=False))
    assert answer["status"] == "ok"
    assert "results" not in answer


def test_tells_the_first_error(tmp_path):
    answer = one(job(tmp_path, ADD.replace("return %0", "return %a, %0"), [], []))
    assert answer["status"] == "compile"
    assert "2" in answer["message"]
    assert answer["location"].endswith(":4:10")


def test_tells_wrong_arguments(tmp_path):
    values = np.array([1, 2], np.float32)
    answer = one(job(tmp_path, ADD, [values, values], ["2xf32", "2xf32"]))
    assert answer["status"] == "run"
    assert answer["message"]


def test_survives_death_and_silence(tmp_path):
    """A worker that is killed at once, by a time limit that nothing can keep."""
    task = job(tmp_path, ADD, [], [], run=False)
    answers = worker_pool.run([task] * 3, BUILD, 1, timeout=0.01)
    assert [answer["status"] for answer in answers] == ["timeout"] * 3
    assert answers[0]["message"] == "more than 0.01 s"
    # Too little memory even to load the libraries.
    answer = one(task, memory=64 << 20)
    assert answer["status"] == "crash"
    assert answer["at"] == "start"
