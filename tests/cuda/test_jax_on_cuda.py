"""Runs cuda_snippets.py where JAX's platform is `alula_cuda` on the driver that
interprets PTX, and shows each of its tests here."""

import ast
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import fake_gpu
import pytest

pytestmark = [fake_gpu.needs_build, fake_gpu.needs_plugin]
FILE = pathlib.Path(__file__).with_name("cuda_snippets.py")
NAMES = [
    node.name
    for node in ast.parse(FILE.read_text()).body
    if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
]


def run(command, **environment):
    return subprocess.run(
        [sys.executable, *command],
        env=fake_gpu.environment_of_jax() | environment,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    report = tmp_path_factory.mktemp("cuda") / "report.xml"
    command = ["-m", "pytest", "-q", "-p", "no:cacheprovider", FILE, "--junitxml", report]
    # JAX gives operands of callbacks to its CPU backend.
    ended = run(command, JAX_PLATFORMS="alula_cuda,cpu")
    if not report.exists():
        pytest.fail(ended.stdout[-3000:] + ended.stderr[-3000:])
    found = ElementTree.parse(report).getroot().iter("testcase")
    return {case.get("name"): case for case in found}


@pytest.mark.parametrize("name", NAMES)
def test_cuda_snippet(cases, name):
    problem = cases[name].find("failure")
    if problem is None:
        problem = cases[name].find("error")
    assert problem is None, problem.text


def test_beside_the_cpu():
    """Two platforms of one library in one process."""
    ended = run(
        [
            "-c",
            "import jax, jax.numpy as jnp\n"
            "x = jax.device_put(jnp.arange(5), jax.devices('alula')[0])\n"
            "y = jax.device_put(x + 1, jax.devices('alula_cuda')[1])\n"
            "print((y * 2).tolist(), jax.default_backend(), (y * 2).devices())\n",
        ],
        JAX_PLATFORMS="alula_cuda,alula",
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    assert ended.stdout.strip() == "[2, 4, 6, 8, 10] alula_cuda {AlulaDevice(id=1)}"


WHAT_FOR = """
import jax, jax.numpy as jnp
from jax.experimental import serialize_executable
x = jnp.ones((128, 256), jnp.bfloat16)
compiled = jax.jit(lambda x: x @ x.T).lower(x).compile()
assert float(compiled(x)[0, 0]) == 256
print(b"sm_90a" in serialize_executable.serialize(compiled)[0])
"""


@pytest.mark.parametrize("chip", ["80", "90", "100"])
def test_compiles_for_the_chip(chip):
    """What only sm_90 has is used there; other chips run what all later ones do."""
    ended = run(["-c", WHAT_FOR], JAX_PLATFORMS="alula_cuda,cpu", FAKE_CUDA_CHIP=chip)
    assert ended.returncode == 0, ended.stderr[-2000:]
    assert ended.stdout.strip() == str(chip == "90")


def test_no_driver():
    """Who asks for GPUs where none is is told so."""
    ended = run(
        ["-c", "import jax; jax.devices()"],
        JAX_PLATFORMS="alula_cuda",
        LD_LIBRARY_PATH="",
    )
    assert ended.returncode != 0
    if "there is no driver of NVIDIA" not in ended.stderr:
        pytest.skip("this machine has a driver of NVIDIA")


def test_nobody_asked():
    """The other platform alone looks for no GPU."""
    ended = run(["-c", "import jax; print(jax.devices())"], JAX_PLATFORMS="alula")
    assert ended.returncode == 0, ended.stderr[-2000:]
    assert "alula_cuda" not in ended.stdout
