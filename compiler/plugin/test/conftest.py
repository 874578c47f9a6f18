import subprocess

import pytest
from plugin_runs import INPUTS, build_m, build_sample, probe
from support.tool_runs import BUILD


@pytest.fixture(scope="session")
def package(tmp_path_factory):
    """The package alone: neither sources nor build folder."""
    folder = tmp_path_factory.mktemp("package")
    for component in ("runtime", "tools"):
        subprocess.run(
            ["cmake", "--install", BUILD, "--component", component, "--prefix", folder],
            check=True,
            capture_output=True,
        )
    return folder


@pytest.fixture(scope="session")
def swap(package, tmp_path_factory):
    folder = tmp_path_factory.mktemp("swap")
    return build_sample("pass", package, folder) / "alula-plugin-swap.so"


@pytest.fixture(scope="session")
def toy(package, tmp_path_factory):
    return build_sample("target", package, tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="session")
def kernels(package, tmp_path_factory):
    return build_sample("kernels", package, tmp_path_factory.mktemp("kernels"))


@pytest.fixture(scope="session")
def probes(tmp_path_factory):
    return tmp_path_factory.mktemp("probes")


@pytest.fixture(scope="session")
def plain(probes):
    return probe(probes)


@pytest.fixture(scope="session")
def probe_m(probes):
    return build_m(probes / "alula-plugin-probe-m.so", INPUTS / "probe_m.cpp")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """What is left behind by failures lies here."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path
