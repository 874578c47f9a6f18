"""The wheel that only runs programs: small, and without JAX."""

import email
import subprocess
import sys
import tomllib
import zipfile

import numpy as np
from program_tools import BUILD, ROOT

import alula

sys.path.insert(0, str(ROOT / "python"))
import make_wheel  # noqa: E402

RUN = """
import sys
sys.modules["jax"] = None
import alula, numpy
assert alula.__file__.startswith(sys.argv[1])
assert (alula.load(sys.argv[2]).double(numpy.arange(3, dtype="f4")) == [0, 2, 4]).all()
"""


def test_runtime_wheel(tmp_path):
    wheel = make_wheel.write(tmp_path, BUILD)
    assert wheel.stat().st_size < 2e6
    assert wheel.read_bytes() == make_wheel.write(tmp_path / "again", BUILD).read_bytes()
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    path = alula.export(lambda x: x * 2, np.zeros(3, np.float32), name="double").save(
        tmp_path / "d"
    )
    subprocess.run(
        [sys.executable, "-c", RUN, str(tmp_path / "site"), str(path)],
        env={"PYTHONPATH": str(tmp_path / "site")},
        check=True,
    )


def test_licence(tmp_path):
    """Every package says its licence, the same one, and has the texts."""
    text = (ROOT / "LICENSE").read_text()
    assert "Apache License" in text and "LLVM Exceptions" in text
    wheel = zipfile.ZipFile(make_wheel.write(tmp_path, BUILD))
    info = "alula_runtime-" + make_wheel.version() + ".dist-info"
    metadata = email.message_from_bytes(wheel.read(f"{info}/METADATA"))
    project = tomllib.loads((ROOT / "python" / "pyproject.toml").read_text())["project"]
    assert metadata["License-Expression"] == project["license"] == make_wheel.LICENSE
    assert metadata.get_all("License-File") == project["license-files"] == make_wheel.LICENSES
    for name in make_wheel.LICENSES:
        expected = (ROOT / name).read_bytes()
        assert wheel.read(f"{info}/licenses/{name}") == expected
        assert (ROOT / "python" / name).read_bytes() == expected
    root = tmp_path / "installed"
    subprocess.run(
        ["cmake", "--install", BUILD, "--component", "runtime", "--prefix", root],
        check=True,
        capture_output=True,
    )
    assert {path.name for path in root.glob("share/doc/*/*")} >= set(make_wheel.LICENSES)
