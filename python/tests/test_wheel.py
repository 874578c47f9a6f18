"""The wheel that only runs programs: small, and without JAX."""

import subprocess
import sys
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
