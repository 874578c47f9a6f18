"""Writes a wheel: the package, the runtime, and with --compiler the compiler and
the plugin for JAX too.

  make_wheel.py FOLDER [--build=build] [--compiler]
"""

import argparse
import base64
import hashlib
import pathlib
import platform
import re
import subprocess
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "python" / "alula"
LICENSE = "Apache-2.0 WITH LLVM-exception"
# Files of the source tree that go with every package.
LICENSES = ["LICENSE", "THIRD_PARTY_NOTICES.txt"]


def version():
    return re.search(r'__version__ = "(.*)"', (PACKAGE / "__init__.py").read_text())[1]


def stripped(library):
    """The bytes of a library without debug information."""
    with tempfile.NamedTemporaryFile(suffix=".so") as file:
        subprocess.run(["strip", "--strip-unneeded", "-o", file.name, library], check=True)
        return pathlib.Path(file.name).read_bytes()


def files(build, with_compiler):
    """Path in the wheel -> bytes."""
    found = {}
    packages = [PACKAGE]
    libraries = {"alula/libalula_runtime.so": "libalula_runtime.so"}
    if with_compiler:
        packages.append(ROOT / "python" / "jax_plugins" / "alula")
        libraries["alula/libalula_compiler.so"] = "libalula_compiler.so"
        libraries["jax_plugins/alula/pjrt_plugin_alula.so"] = "pjrt_plugin_alula.so"
    for package in packages:
        for path in sorted(package.rglob("*")):
            if path.suffix in (".py", ".pyi", ".typed") or path.name == "py.typed":
                found[str(path.relative_to(ROOT / "python"))] = path.read_bytes()
    for name, library in libraries.items():
        found[name] = stripped(build / "lib" / library)
    return found


def write(folder, build, with_compiler=False):
    name = "alula" if with_compiler else "alula_runtime"
    tag = f"py3-none-linux_{platform.machine()}"
    info = f"{name}-{version()}.dist-info"
    content = files(build, with_compiler)
    requires = "Requires-Dist: jax>=0.10\n" if with_compiler else ""
    for file in LICENSES:
        content[f"{info}/licenses/{file}"] = (ROOT / file).read_bytes()
    licenses = "".join(f"License-File: {file}\n" for file in LICENSES)
    content[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.4\nName: {name.replace('_', '-')}\nVersion: {version()}\n"
        "Summary: Programs of JAX, compiled ahead of time into one file\n"
        f"License-Expression: {LICENSE}\n{licenses}"
        f"Requires-Python: >=3.10\nRequires-Dist: numpy\n{requires}"
    ).encode()
    content[f"{info}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: alula\nRoot-Is-Purelib: false\nTag: {tag}\n"
    ).encode()
    rows = [f"{path},sha256={digest(data)},{len(data)}\n" for path, data in content.items()]
    content[f"{info}/RECORD"] = ("".join(rows) + f"{info}/RECORD,,\n").encode()
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{name}-{version()}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as file:
        for path, data in content.items():
            # Equal contents make equal wheels.
            file.writestr(zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    return wheel


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--compiler", action="store_true")
    arguments = parser.parse_args()
    wheel = write(arguments.folder, arguments.build, arguments.compiler)
    print(f"{wheel}: {wheel.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
