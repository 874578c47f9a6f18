"""What the wheels hold, from a build that is there: `./dev test package` makes and
installs them."""

import ctypes
import re
import subprocess
import sys
import tomllib

import numpy as np
import pytest
from program_tools import BUILD, ROOT

import alula

LICENSES = ["LICENSE", "THIRD_PARTY_NOTICES.txt"]
PROJECTS = {"alula": ROOT / "python", "alula-runtime": ROOT / "python" / "runtime"}
RUN = """
import importlib, pkgutil, sys
sys.modules["jax"] = None
import alula, numpy
for module in pkgutil.walk_packages(alula.__path__, "alula."):
    if module.name != "alula.__main__":
        importlib.import_module(module.name)
assert alula.__file__.startswith(sys.argv[1])
assert (alula.load(sys.argv[2]).double(numpy.arange(3, dtype="f4")) == [0, 2, 4]).all()
try:
    alula.compile
except ImportError as error:
    assert "alula.compile needs the compiler: pip install alula" in str(error), error
else:
    raise AssertionError("a compiler in the runtime's package")
"""


def install(component, folder):
    subprocess.run(
        ["cmake", "--install", BUILD, "--component", component, "--prefix", folder, "--strip"],
        check=True,
        capture_output=True,
    )
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_runtime_alone(tmp_path):
    files = install("python_runtime", tmp_path / "site")
    assert "alula/lib/libalula_runtime.so" in files and "alula/py.typed" in files
    assert not {"alula/functions.py", "alula/program/api.py"} & files
    path = alula.export(lambda x: x * 2, np.zeros(3, np.float32), name="double").save(
        tmp_path / "d"
    )
    subprocess.run(
        [sys.executable, "-c", RUN, str(tmp_path / "site"), str(path)],
        env={"PYTHONPATH": str(tmp_path / "site")},
        check=True,
    )


def test_each_module_is_in_one_package(tmp_path):
    runtime = install("python_runtime", tmp_path)
    listed = re.search(
        r"set\(compiler_python ([^)]*)\)", (ROOT / "cmake" / "AlulaPackages.cmake").read_text()
    )[1].split()
    compiler = tuple(f"alula/{path}" for path in listed)
    for path in (ROOT / "python" / "alula").rglob("*.py"):
        name = str(path.relative_to(ROOT / "python"))
        assert (name in runtime) != name.startswith(compiler), name


def test_metadata_agrees():
    """Two packages, one licence, one version: CMake's."""
    projects = {
        name: tomllib.loads((folder / "pyproject.toml").read_text())
        for name, folder in PROJECTS.items()
    }
    version = re.search(r"project\(Alula VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[
        1
    ]
    assert alula.__version__ == version
    for name, data in projects.items():
        project = data["project"]
        assert project["name"] == name
        assert project["license"] == "Apache-2.0 WITH LLVM-exception"
        assert project["license-files"] == LICENSES
        assert project["requires-python"] == ">=3.11"
        assert "version" in project["dynamic"]
        (provider,) = [p for p in data["tool"]["dynamic-metadata"] if p["field"] == "version"]
        source = (PROJECTS[name] / provider["input"]).resolve()
        assert re.search(provider["regex"], source.read_text())["value"] == version
        for file in LICENSES:
            assert (PROJECTS[name] / file).read_bytes() == (ROOT / file).read_bytes()
    (dependencies,) = [
        p["result"]
        for p in projects["alula"]["tool"]["dynamic-metadata"]
        if p["field"] == "dependencies"
    ]
    assert dependencies[0] == "alula-runtime=={project[version]}"
    said = subprocess.run(
        ["git", "grep", "-hoE", r'"alula [0-9]+\.[0-9]+\.[0-9]+"', "--", "*.h", "*.cpp"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    ).stdout.split("\n")  # fmt: skip
    assert {text.strip('"') for text in said if text} <= {f"alula {version}"}


def test_scripts_are_tools():
    scripts = tomllib.loads((ROOT / "python" / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts.pop("alula") == "alula.__main__:main"
    for name in scripts:
        assert (BUILD / "bin" / name).exists(), name
    assert set(scripts.values()) == {"alula.command_line:main"}


def test_a_tool_that_is_missing(monkeypatch):
    from alula import command_line

    monkeypatch.setattr(sys, "argv", ["/usr/bin/alula-nothing"])
    with pytest.raises(SystemExit, match="alula-nothing: not a tool of this package"):
        command_line.main()


def test_licence_of_the_tree(tmp_path):
    text = (ROOT / "LICENSE").read_text()
    assert "Apache License" in text and "LLVM Exceptions" in text
    install("runtime", tmp_path)
    assert {path.name for path in tmp_path.glob("share/doc/*/*")} >= set(LICENSES)


def test_the_compiler_shows_its_header():
    """Each function of alula/compiler.h can be called."""
    header = (ROOT / "include" / "alula" / "compiler.h").read_text()
    names = set(re.findall(r"\b(alula_(?:compile|program_info)\w*)\(", header))
    library = ctypes.CDLL(str(BUILD / "lib" / "libalula_compiler.so"))
    assert len(names) > 10
    assert [name for name in sorted(names) if not hasattr(library, name)] == []
