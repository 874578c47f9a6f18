"""The C header of an artifact: accepted by C and C++, and what it calls."""

import re
import subprocess

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from program_tools import BUILD, ROOT

from alula import Program, header, like

MAIN = r"""
#include "counter.h"
#include <stdio.h>
#include <stdlib.h>

static void check(alula_error *error) {
  if (!error)
    return;
  printf("%s\n", alula_error_get_message(error));
  exit(1);
}

int main(int count, char **arguments) {
  alula_instance *instance;
  counter program;
  float x[6] = {1, 2, 3, 4, 5, 6}, first;
  int32_t number = 0;
  alula_buffer *y;
  int i;
  (void)count;
  check(alula_instance_create(NULL, &instance));
  check(counter_load(instance, arguments[1], &program));
  for (i = 0; i < 3; ++i) {
    check(counter_run(&program, x, 3, 2.5f, &y, &number));
    printf("%d %g\n", number, ((float *)alula_buffer_get_data(y))[5]);
    alula_buffer_release(y);
  }
  check(counter_first(&program, &first));
  check(alula_global_get(program.executable, program.state, COUNTER_N, &number, 4));
  printf("%d %g\n", number, first);
  check(counter_run(&program, x, 9, 2.5f, &y, &number));
  return 0;
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    b = jax.export.symbolic_shape("b,2", constraints=["b<=5"])

    class Counter(Program):
        _n = jnp.asarray(0)
        _w = jnp.arange(4.0)

        def run(self, x=like(jax.ShapeDtypeStruct(b, jnp.float32)), double=like(np.float32(0))):
            self._n = self._n + 1
            return {"y": x * double + self._w[1], "count": self._n}["y"], self._n

        def first(self):
            return self._w[2]

    folder = tmp_path_factory.mktemp("header")
    counter = Counter()
    Program.get_compiled_artifact(counter).save(folder / "counter.alula")
    Program.write_header(counter, folder / "counter.h")
    return folder


@pytest.mark.parametrize("language", [["c", "-std=c11"], ["c++", "-std=c++17"]])
def test_warnings(folder, language):
    source = '#include "counter.h"\nint main(void) { return 0; }\n'
    subprocess.run(
        ["cc", "-x", *language, "-Wall", "-Wextra", "-Werror", "-Wno-unused-function"]
        + ["-fsyntax-only", f"-I{ROOT / 'include'}", f"-I{folder}", "-"],
        input=source,
        text=True,
        check=True,
    )


def build(folder, source, name):
    (folder / f"{name}.c").write_text(source)
    program = folder / name
    subprocess.run(
        ["cc", "-std=c11", "-O1", f"-I{ROOT / 'include'}", f"-I{folder}", folder / f"{name}.c"]
        + [f"-L{BUILD / 'lib'}", "-lalula_runtime", f"-Wl,-rpath,{BUILD / 'lib'}", "-o", program],
        check=True,
    )
    return program


def test_run(folder):
    result = subprocess.run(
        [build(folder, MAIN, "main"), folder / "counter.alula"], capture_output=True, text=True
    )
    lines = result.stdout.splitlines()
    assert lines[:4] == ["1 16", "2 16", "3 16", "3 2"]
    assert result.returncode == 1 and "b" in lines[4]


def test_header_of_another_artifact(folder):
    Program.get_compiled_artifact(Program.create_from_dict("Other", {"f": lambda self: 1})()).save(
        folder / "other.alula"
    )
    result = subprocess.run(
        [build(folder, MAIN, "main"), folder / "other.alula"], capture_output=True, text=True
    )
    assert result.stdout == "the artifact is not the header's\n"


def test_identifiers():
    wanted = ["params_x", "a_b", "value_3", "int_", "value", "value"]
    given = ["_params.x", "a-b", "3", "int", "\u00e9", ""]
    assert [header.identifier(text) for text in given] == wanted


PRINTS = r"""
#include "talk.h"
#include <stdlib.h>
int main(int argc, char **argv) {
  alula_instance *instance;
  talk program;
  (void)argc;
  if (alula_instance_create(NULL, &instance) || talk_load(instance, argv[1], &program) ||
      talk_say(&program))
    return 1;
  return 0;
}
"""


def test_prints(tmp_path, capsys):
    class Talk(Program):
        _n = jnp.asarray([[1, -2], [3, 4]])

        def say(self):
            Program.print("n is {} and {{}}", self._n)
            Program.print("{}: {} {}", jnp.asarray(True), jnp.float32(0.5), jnp.bfloat16(1.5))

    talk = Talk()
    Program.get_compiled_artifact(talk).save(tmp_path / "talk.alula")
    Program.write_header(talk, tmp_path / "talk.h")
    said = subprocess.run(
        [build(tmp_path, PRINTS, "talk"), tmp_path / "talk.alula"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert said == "n is [[1 -2] [3 4]] and {}\nTrue: 0.5 1.5\n"
    talk.say()
    # NumPy aligns columns.
    assert re.sub(r"\s", "", capsys.readouterr().out) == re.sub(r"\s", "", said)
