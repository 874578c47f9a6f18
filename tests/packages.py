"""Installs the packages of dist/ as strangers do: in clean root folders, which have
neither LLVM nor this source tree, and uses them.

    ./dev test package [ROOT...]

A root is what mmdebstrap makes of a distribution; it is kept in build/package-roots."""

import email
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
KEPT = ROOT / "build" / "package-roots"
VENV = ROOT / "build" / "package-venv"
INSIDE = "python3,python3-venv,g++,cmake,make,pkg-config"
UBUNTU_KEYS = Path("/usr/share/keyrings/ubuntu-archive-keyring.gpg")
# Name -> suite and mirror. glibc 2.36, and a newer one.
ROOTS = {"debian-12": ("bookworm", "http://deb.debian.org/debian")}
if UBUNTU_KEYS.exists():
    ROOTS["ubuntu-24.04"] = ("noble", "http://archive.ubuntu.com/ubuntu")
else:
    ROOTS["debian-13"] = ("trixie", "http://deb.debian.org/debian")

COMPILER, RUNTIME = "alula", "alula_runtime"
MOST_BYTES = {COMPILER: 60_000_000, RUNTIME: 200_000}
# What the C library brings; the last one is the loader.
C_LIBRARY = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}
NEEDED = {"pjrt_plugin_alula.so": C_LIBRARY | {"libalula_compiler.so"}}
EXPORTED = {
    "libalula_compiler.so": r"alula_(compile|program_info|private)_?",
    "libalula_runtime.so": r"alula_",
    "libalula_cuda.so.0": r"alula_driver_query$",
    "libalula_nccl.so.0": r"alula_nccl_query$",
    "libalula_cublaslt.so.0": r"alula_cuda_library_query$",
    "libalula_cudnn.so.0": r"alula_cuda_library_query$",
    "alula_calls.abi3.so": r"PyInit_alula_calls$",
    "pjrt_plugin_alula.so": r"(GetPjrtApi|XLA_FFI_GetApi)$",
}
TOOLS = ["bench", "compile", "compile-reduce", "inspect", "interpret", "opt", "run"]

DEB_FOLDER = "$(dirname $(dpkg -L alula | grep libalula_runtime.so$))"
# What is loaded when it is asked for: a device, or an engine for processes.
ON_DEMAND = """
#include <alula/runtime.h>
#include <stdio.h>
#include <string.h>
int main(int count, char **words) {
  const char *name = words[count - 1];
  alula_processes_options engine = {.struct_bytes = sizeof engine, .engine = name};
  alula_instance_options device = {.struct_bytes = sizeof device, .device = name};
  alula_processes *processes;
  alula_instance *instance;
  alula_error *error = strcmp(name, "cuda") ? alula_processes_connect(&engine, &processes)
                                            : alula_instance_create(&device, &instance);
  puts(error ? alula_error_get_message(error) : "there it is");
}
"""

ADD = """func.func public @add(%x: tensor<2x2xf32>, %y: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %sum = stablehlo.add %x, %y : tensor<2x2xf32>
  return %sum : tensor<2x2xf32>
}
"""
RUNTIME_ONLY = """
import importlib, pkgutil, sys
import numpy
import alula
assert not {"jax", "jaxlib"} & set(sys.modules)
for module in pkgutil.walk_packages(alula.__path__, "alula."):
    if module.name != "alula.__main__":
        importlib.import_module(module.name)
counter = alula.load("counter.alula")
first, second = (counter.add(numpy.ones(3, "f4")) for _ in range(2))
assert (second == first + 1).all(), (first, second)
try:
    alula.compile
except ImportError as error:
    print(error)
else:
    raise AssertionError("alula.compile without the compiler")
"""


def say(*command, **options):
    return subprocess.run(
        [str(word) for word in command], check=True, capture_output=True, text=True, **options
    ).stdout


def find(pattern):
    (path,) = DIST.glob(pattern)
    return path


def check_wheel(name):
    wheel = find(f"{name}-[0-9]*.whl")
    size = wheel.stat().st_size
    yield f"{wheel.name}: {size:,} bytes, at most {MOST_BYTES[name]:,}", size <= MOST_BYTES[name]
    shown = say(VENV / "bin" / "auditwheel", "show", wheel)
    tag = re.search(r'platform\s+tag:\s+"(manylinux_\w+)"', shown)
    yield f"auditwheel: {tag and tag[1]}", bool(tag) and tag[1] in wheel.name
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(wheel).extractall(folder)
        (information,) = Path(folder).glob("*.dist-info")
        metadata = email.message_from_string((information / "METADATA").read_text())
        texts = {path.name for path in (information / "licenses").iterdir()}
        yield (
            f"{metadata['Name']} {metadata['Version']}, {metadata['License-Expression']}, "
            f"Python {metadata['Requires-Python']}, {metadata.get_all('Requires-Dist')}",
            texts == {"LICENSE", "THIRD_PARTY_NOTICES.txt"},
        )
        files = [path for path in Path(folder).rglob("*") if path.is_file()]
        programs = [path for path in files if path.read_bytes()[:4] == b"\x7fELF"]
        large = [path.name for path in programs if path.stat().st_size > 5_000_000]
        expected = ["libalula_compiler.so"] if name == COMPILER else []
        yield f"LLVM is in {large or 'nothing'}", large == expected
        for path in programs:
            yield from check_program(path)


def check_program(path):
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", say("readelf", "-dW", path)))
    ours = {"libalula_compiler.so"} if path.parent.name == "bin" else set()
    most = NEEDED.get(path.name, C_LIBRARY | ours)
    yield f"{path.name} needs {', '.join(sorted(needed))}", needed <= most
    kept = re.findall(r"\s\.(debug_\w+|symtab)\s", say("readelf", "-SW", path))
    yield f"{path.name} is stripped of all but {kept or 'its code'}", not kept
    pattern = EXPORTED.get(path.name)
    if pattern:
        symbols = {
            line.split()[-1].split("@")[0]
            for line in say("nm", "-D", "--defined-only", path).splitlines()
        }
        strange = [symbol for symbol in symbols if not re.match(pattern, symbol)]
        yield f"{path.name} exports {len(symbols)} names, {strange or 'all its own'}", not strange


class Root:
    """A clean root folder, and commands in it."""

    def __init__(self, name, folder):
        self.name, self.folder = name, folder
        suite, mirror = ROOTS[name]
        kept = KEPT / f"{name}.tar"
        if not kept.exists():
            print(f"making {name} with mmdebstrap", flush=True)
            KEPT.mkdir(parents=True, exist_ok=True)
            made = kept.with_suffix(".making.tar")
            keys = [f"--keyring={UBUNTU_KEYS}"] if "ubuntu" in mirror else []
            components = ["--components=main,universe"] if keys else []
            say(
                "mmdebstrap", "--variant=apt", "--dpkgopt=force-unsafe-io", f"--include={INSIDE}", *keys, *components,
                suite, made, mirror,
            )  # fmt: skip
            made.rename(kept)
        say("tar", "xf", kept, "-C", folder, "--exclude=./dev/*")

    def run(self, script, **options):
        """What a shell in the root prints; its own mounts end with it."""
        inside = (
            f"mount --rbind /dev {self.folder}/dev && mount -t proc proc {self.folder}/proc && "
            f"exec chroot {self.folder} /usr/bin/env -i HOME=/root LANG=C.UTF-8 "
            'PATH=/usr/sbin:/usr/bin:/sbin:/bin bash -euc "$1"'
        )
        ended = subprocess.run(
            ["unshare", "--mount", "--pid", "--fork", "bash", "-c", inside, "bash", script],
            check=False, capture_output=True, text=True, **options,
        )  # fmt: skip
        if ended.returncode:
            raise RuntimeError(f"{script}\n{ended.stdout[-2000:]}{ended.stderr[-4000:]}")
        return ended.stdout

    def write(self, path, content):
        path = self.folder / path.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def readme_programs():
    text = (ROOT / "README.md").read_text()
    return [block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL)]


def download_wheels(root):
    """What the wheels depend on, for the root's Python: it has no network."""
    version = root.run("python3 -c 'import sys; print(\"%d.%d\" % sys.version_info[:2])'").strip()
    folder = KEPT / f"wheels-{version}"
    say(
        VENV / "bin" / "python", "-m", "pip", "download", "-q", "--disable-pip-version-check",
        "--only-binary=:all:", f"--python-version={version}", f"--find-links={DIST}",
        f"--dest={folder}", find(f"{COMPILER}-[0-9]*.whl"),
    )  # fmt: skip
    for wheel in folder.glob("*.whl"):
        if not wheel.name.startswith("alula"):
            root.write(f"/wheels/{wheel.name}", wheel.read_bytes())
    for wheel in DIST.glob("*.whl"):
        root.write(f"/wheels/{wheel.name}", wheel.read_bytes())
    return version


def use_wheels(root):
    version = download_wheels(root)
    install = "python3 -m venv /{0} && /{0}/bin/pip install -q --no-index --find-links=/wheels {1}"
    root.run(install.format("full", "alula"))
    said = root.run("cd /tmp && /full/bin/python -m alula")
    yield f"pip install alula, Python {version}: {said.splitlines()[0]}", "missing" not in said
    for tool in TOOLS:
        said = root.run(f"/full/bin/alula-{tool} --help")
        yield f"alula-{tool} --help", len(said) > 100
    model, counter = readme_programs()[:2]
    root.write("/user/model.py", model)
    root.write("/user/counter.py", counter)
    root.write("/user/add.mlir", ADD)
    said = root.run("cd /user && JAX_PLATFORMS=alula,cpu /full/bin/python model.py")
    yield (
        f"README's model.py: {' '.join(said.split())}",
        "0.7615" in said and "alula" in said.lower(),
    )
    root.run("cd /user && /full/bin/python counter.py")
    yield "README's program with state", (root.folder / "user/counter.alula").exists()
    said = root.run(
        "cd /user && /full/bin/alula-compile add.mlir -o add.alula && /full/bin/alula-run add.alula "
        "--input=2x2xf32=1,2,3,4 --input=2x2xf32=10,20,30,40 --output=-"
    )
    yield "alula-compile and alula-run", "44" in said
    said = root.run("cd /user && /full/bin/alula-opt add.mlir && /full/bin/alula-inspect add.alula")
    yield "alula-opt and alula-inspect", "stablehlo.add" in said
    root.run(install.format("small", "alula-runtime"))
    root.write("/user/small.py", RUNTIME_ONLY)
    said = root.run("cd /user && /small/bin/python small.py")
    yield f"alula-runtime alone: {said.strip()}", "pip install alula" in said
    listed = root.run("/small/bin/pip list --format=freeze").split()
    yield f"which brings {', '.join(listed)}", not any("jax" in word for word in listed)


HELLO = "11 22 33 44"


def use_on_demand(root, flags, folder):
    """Nobody has GPUs, Gloo or MPI here: each says what it lacks."""
    root.write("/user/demand.c", ON_DEMAND)
    root.run(f"cd /user && cc demand.c {flags} -o demand")
    wanted = {
        "cuda": "there is no driver of NVIDIA: libcuda.so.1: ",
        "gloo": "libgloo.so.0: cannot open shared object file",
        "openmpi": "libmpi.so.40: cannot open shared object file",
        "pigeons": "there is no engine 'pigeons' for processes: libalula_collectives_pigeons.so",
    }
    for name, text in wanted.items():
        said = root.run(f"/user/demand {name}")
        yield f"{name} on demand: {said.strip()}", text in said
    said = root.run(f"/user/demand gloo; cd {folder} && mv libalula_collectives_gloo.so gone")
    yield "what Gloo needs is named", "it needs Debian's libgloo0" in said
    said = root.run(f"/user/demand gloo; cd {folder} && mv gone libalula_collectives_gloo.so")
    yield "without its engine", "packages for C and for Debian have it" in said


def use_tarball(root):
    tarball = find("alula-runtime-*.tar.gz")
    root.write("/user/runtime.tar.gz", tarball.read_bytes())
    for path in (ROOT / "examples" / "hello").iterdir():
        root.write(f"/user/hello/{path.name}", path.read_bytes())
    root.run("mkdir /opt/alula && tar xf /user/runtime.tar.gz -C /opt/alula --strip-components=1")
    for shared in ("ON", "OFF"):
        said = root.run(
            f"cd /user && cmake -S hello -B b{shared} -DCMAKE_PREFIX_PATH=/opt/alula "
            f"-DBUILD_SHARED_LIBS={shared} >/dev/null && cmake --build b{shared} >/dev/null && "
            f"b{shared}/hello-c add.alula && b{shared}/hello-cpp add.alula"
        )
        yield f"find_package, BUILD_SHARED_LIBS={shared}", said.count(HELLO) == 2
    pkg = "PKG_CONFIG_PATH=/opt/alula/lib/pkgconfig pkg-config"
    said = root.run(
        f"cd /user && cc hello/hello.c $({pkg} --cflags --libs alula) -Wl,-rpath,/opt/alula/lib "
        "-o hello-pc && ./hello-pc add.alula && "
        f"cc hello/hello.c $({pkg} --cflags alula) -static /opt/alula/lib/libalula_runtime.a "
        "-lpthread -o hello-static && ./hello-static add.alula"
    )
    yield "pkg-config, shared and static", said.count(HELLO) == 2
    yield from use_on_demand(
        root, f"$({pkg} --cflags --libs alula) -Wl,-rpath,/opt/alula/lib", "/opt/alula/lib"
    )
    said = root.run("ls /opt/alula/share/doc/*")
    yield "licence and notices", {"LICENSE", "THIRD_PARTY_NOTICES.txt"} <= set(said.split())


def use_deb(root):
    deb = find("alula_*.deb")
    root.write("/user/alula.deb", deb.read_bytes())
    said = root.run("dpkg -i /user/alula.deb 2>&1 && dpkg -s alula")
    yield f"dpkg -i {deb.name}, {deb.stat().st_size:,} bytes", "ok installed" in said
    said = root.run(
        "cd /user && rm add.alula && alula-compile add.mlir -o add.alula && alula-run add.alula "
        "--input=2x2xf32=1,2,3,4 --input=2x2xf32=10,20,30,40 --output=- && alula-opt add.mlir && "
        "alula-inspect add.alula"
    )
    yield "its tools", "44" in said and "stablehlo.add" in said
    said = root.run(
        "cd /user && cc hello/hello.c $(pkg-config --cflags --libs alula) -o hello-deb && "
        "./hello-deb add.alula && cmake -S hello -B bdeb >/dev/null && "
        "cmake --build bdeb >/dev/null && bdeb/hello-compile"
    )
    yield "programs against it, one that compiles", HELLO in said and "1 4 9 16" in said
    lacking = root.run(
        "for file in $(dpkg -L alula); do [ -f $file ] && ldd $file 2>/dev/null | "
        "grep -q 'not found' && echo $file; done; true"
    ).split()
    yield (
        f"only engines lack libraries: {[Path(file).name for file in lacking]}",
        all("libalula_collectives_" in file for file in lacking),
    )
    yield from use_on_demand(root, "$(pkg-config --cflags --libs alula)", DEB_FOLDER)
    pages = root.run("cat /usr/share/man/man1/alula-*.1")
    yield "a manual page of each tool", pages.count(".SH NAME") == len(TOOLS)
    root.run("bash -n /usr/share/bash-completion/completions/alula-*")
    root.run("dpkg -r alula")
    left = root.run("find /usr -name '*alula*'").split()
    yield f"dpkg -r leaves {left or 'nothing'}", not left


def no_llvm(root):
    found = root.run(
        "find / -xdev -name 'libLLVM*' -o -xdev -name 'libMLIR*' -o -xdev -name 'liblld*'"
    )
    glibc = root.run("ldd --version | head -1").strip()
    yield f"{root.name}: {glibc}, LLVM: {found.split() or 'none'}", not found.strip()


def main(names):
    if os.geteuid():
        # As root of a namespace of its own.
        os.execvp(
            "unshare",
            [
                "unshare",
                "--map-root-user",
                "--map-auto",
                "--mount",
                sys.executable,
                __file__,
                *names,
            ],
        )
    passed = failed = 0

    def count(checks):
        nonlocal passed, failed
        try:
            for text, is_right in checks:
                print("  " if is_right else "FAILED ", text, flush=True)
                passed += bool(is_right)
                failed += not is_right
        except (RuntimeError, subprocess.CalledProcessError) as error:
            print("FAILED ", error, getattr(error, "stderr", ""), flush=True)
            failed += 1

    for name in (COMPILER, RUNTIME):
        count(check_wheel(name))
    for name in names or ROOTS:
        with tempfile.TemporaryDirectory(prefix="alula-root-", dir=KEPT.parent) as folder:
            root = Root(name, Path(folder))
            for checks in (no_llvm, use_wheels, use_tarball, use_deb):
                count(checks(root))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
