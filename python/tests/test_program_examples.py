"""The programs of examples/program, from Python and from C."""

import subprocess
import sys

import jax
import numpy as np
import pytest
from program_tools import BUILD, ROOT

EXAMPLES = ROOT / "examples" / "program"
sys.path.insert(0, str(EXAMPLES))


def build(folder, source, name):
    program = folder / name
    subprocess.run(
        ["cc", "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function"]
        + [f"-I{ROOT / 'include'}", f"-I{folder}", str(source), f"-L{BUILD / 'lib'}"]
        + ["-lalula_runtime", f"-Wl,-rpath,{BUILD / 'lib'}", "-o", str(program)],
        check=True,
    )
    return program


def run(*command):
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=True, timeout=2000
    ).stdout


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    pytest.importorskip("sklearn")
    import digits as example

    folder = tmp_path_factory.mktemp("digits")
    argv, sys.argv = sys.argv, ["digits.py", str(folder)]
    try:
        example.main()
    finally:
        sys.argv = argv
    return folder


def test_training_equals_plain_jax(digits):
    import digits as example

    from alula import safetensors

    images, labels = example.load()
    state = example.init(example.PARAMS)
    step = jax.jit(example.step)
    for batch in example.batches(images, labels):
        _, state = step(state, *batch)
    ours = safetensors.read(digits / "trained.safetensors")
    params = example.get_params(state)
    for layer, (weights, bias) in enumerate(params):
        np.testing.assert_allclose(ours[f"_params.{layer}.0"], weights, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(ours[f"_params.{layer}.1"], bias, rtol=1e-5, atol=1e-5)


def test_training_in_c_is_bit_identical(digits):
    from alula import safetensors

    said = run(build(digits, EXAMPLES / "digits.c", "digits"), digits)
    assert said.startswith("loss 0.1") and int(said.split()[2]) > 330
    ours = b"".join(a.tobytes() for a in safetensors.read(digits / "trained.safetensors").values())
    assert (digits / "state.bin").read_bytes() == ours


def test_state_of_c_in_python(digits):
    """Saved by C, restored in Python: with JAX and without."""
    import digits as example

    import alula
    from alula import Program

    run(build(digits, EXAMPLES / "digits.c", "digits"), digits)
    data = np.fromfile(digits / "state.bin", np.float32)
    model, loaded = example.Digits(), alula.load(digits / "digits.alula")
    state = {}
    for path, info in loaded.globals.items():
        count = int(np.prod(info.shape))
        state[path], data = data[:count].reshape(info.shape), data[count:]
    loaded.load_state_dict(state)
    Program.load_state_dict(model, state)
    images, labels = example.load()
    batch = slice(1440, 1440 + example.BATCH)
    ours = np.asarray(model.predict(images[batch]))
    assert (ours == loaded.predict(images[batch])).all() and (ours == labels[batch]).sum() >= 28


@pytest.fixture(scope="module")
def decoder(tmp_path_factory):
    import decoder as example

    from alula import Program

    folder = tmp_path_factory.mktemp("decoder")
    config = example.Config()
    params = example.random_params(config)
    model = example.make(config, params)()
    Program.get_compiled_artifact(model).save(folder / "decoder.alula")
    Program.write_header(model, folder / "decoder.h")
    expected, _ = example.expected_tokens(config, params, 64)
    return folder, model, expected


def test_decoder_in_python(decoder):
    import decoder as example

    _, model, expected = decoder
    for _ in range(2):
        assert example.decode_tokens(model, 64)[0] == expected
        model.restart()


def test_decoder_in_c(decoder):
    folder, _, expected = decoder
    program = build(folder, EXAMPLES / "decoder.c", "decoder")
    said = run(program, folder / "decoder.alula", 64)
    assert [int(token) for token in said.split()] == expected


def test_cache_is_updated_in_place(decoder):
    folder, *_ = decoder
    text = run(BUILD / "bin" / "alula-inspect", folder / "decoder.alula")
    decode = text.partition("exported function @decode")[2].partition("\n}")[0]
    cache_bytes = 96 * 64 * 4
    copies = [line for line in decode.splitlines() if line.strip().startswith("copy")]
    assert all(int(line.rsplit(",", 1)[1]) < cache_bytes for line in copies)


def test_text_of_the_decoder(decoder):
    """What is printed is the whole program."""
    import alula
    from alula import Program

    folder, model, expected = decoder
    (folder / "printed.mlir").write_text(str(Program.get_mlir_module(model)))
    run(BUILD / "bin" / "alula-compile", folder / "printed.mlir", "-o", folder / "printed.alula")
    printed = alula.load(folder / "printed.alula")
    token, tokens = np.int32(1), []
    for _ in range(16):
        token = printed.decode(token)
        tokens.append(int(token))
    assert tokens == expected[:16]


COUNTING = r"""
#include "alula/runtime.h"
#include <stdio.h>
#include <stdlib.h>

static int count;

static void *allocate(void *user, size_t bytes, size_t alignment) {
  (void)user;
  ++count;
  return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void release(void *user, void *memory, size_t bytes, size_t alignment) {
  (void)user, (void)bytes, (void)alignment;
  free(memory);
}

int main(int argc, char **argv) {
  alula_allocator allocator = {NULL, allocate, release};
  alula_instance_options options = {0};
  alula_instance *instance;
  alula_executable *file;
  alula_buffer *token, *next;
  uint32_t decode;
  int before, i;
  (void)argc;
  options.struct_bytes = sizeof options;
  options.allocator = &allocator;
  if (alula_instance_create(&options, &instance) ||
      alula_executable_load_file(instance, argv[1], NULL, &file) ||
      alula_executable_find_function(file, "decode", &decode) ||
      alula_buffer_create(instance, ALULA_DTYPE_I32, 0, NULL, &token) ||
      alula_buffer_create(instance, ALULA_DTYPE_I32, 0, NULL, &next))
    return 1;
  *(int32_t *)alula_buffer_get_data(token) = 1;
  for (i = 0; i < 64; ++i) {
    if (i == 2)
      before = count;
    if (alula_call(file, decode, NULL, &token, 1, &next, 1))
      return 1;
    *(int32_t *)alula_buffer_get_data(token) = *(int32_t *)alula_buffer_get_data(next);
  }
  printf("%d", count - before);
  return 0;
}
"""


def test_no_allocation_for_a_token(decoder):
    folder, *_ = decoder
    (folder / "counting.c").write_text(COUNTING)
    program = folder / "counting"
    subprocess.run(
        ["cc", "-std=c11", f"-I{ROOT / 'include'}", folder / "counting.c", f"-L{BUILD / 'lib'}"]
        + ["-lalula_runtime", f"-Wl,-rpath,{BUILD / 'lib'}", "-o", program],
        check=True,
    )
    assert run(program, folder / "decoder.alula") == "0"
