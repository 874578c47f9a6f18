"""Finds every text test: *.mlir and *.test in the test/ folders."""

import os

import lit.formats

config.name = "alula"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "build", ".venv", "goldens"]
config.test_source_root = os.path.dirname(__file__)
build = lit_config.params.get("build", os.path.join(config.test_source_root, "build"))
config.test_exec_root = os.path.join(build, "lit-output")
path = [os.path.join(build, "bin"), os.path.join(build, "tests"), "/usr/lib/llvm-19/bin"]
config.environment["PATH"] = os.pathsep.join(path + [config.environment["PATH"]])
config.substitutions.append(("%build", build))
config.substitutions.append(("%python", lit_config.params.get("python", "python3")))
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
