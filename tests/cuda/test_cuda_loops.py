"""Loops and branches that a device decides: one graph with conditions, on the
driver that interprets kernels, to what NumPy computes."""

import ctypes
import pathlib
import sys

import fake_gpu
import numpy as np
import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "jax"), str(HERE.parent / "native")]

import alula_library

pytestmark = fake_gpu.needs_build

# The matrix changes its memory in each round, so that the number of rounds shows.
POWERS = """
func.func @main(%n: tensor<f32>, %x: tensor<32x32xf32>) -> (tensor<f32>, tensor<32x32xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %r:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<f32>, tensor<32x32xf32>
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %b = stablehlo.dot_general %a, %x, contracting_dims = [1] x [0] : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
      %t = stablehlo.tanh %b : tensor<32x32xf32>
      %j = stablehlo.add %i, %one : tensor<f32>
      stablehlo.return %j, %t : tensor<f32>, tensor<32x32xf32>
    }
  %s = stablehlo.add %r#1, %x : tensor<32x32xf32>
  return %r#0, %s : tensor<f32>, tensor<32x32xf32>
}
"""
# Ends when the sum is small enough; inside, each time, a loop of its own.
NESTED = """
func.func @main(%n: tensor<f32>, %x: tensor<32x32xf32>) -> (tensor<f32>, tensor<32x32xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %two = stablehlo.constant dense<2.0> : tensor<f32>
  %r:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<f32>, tensor<32x32xf32>
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %q:2 = stablehlo.while(%k = %zero, %b = %a) : tensor<f32>, tensor<32x32xf32>
        cond {
          %c = stablehlo.compare LT, %k, %i : (tensor<f32>, tensor<f32>) -> tensor<i1>
          stablehlo.return %c : tensor<i1>
        } do {
          %p = stablehlo.dot_general %b, %x, contracting_dims = [1] x [0] : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
          %t = stablehlo.tanh %p : tensor<32x32xf32>
          %l = stablehlo.add %k, %one : tensor<f32>
          stablehlo.return %l, %t : tensor<f32>, tensor<32x32xf32>
        }
      %p = stablehlo.dot_general %q#1, %x, contracting_dims = [0] x [0] : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
      %t = stablehlo.tanh %p : tensor<32x32xf32>
      %j = stablehlo.add %i, %one : tensor<f32>
      stablehlo.return %j, %t : tensor<f32>, tensor<32x32xf32>
    }
  return %r#0, %r#1 : tensor<f32>, tensor<32x32xf32>
}
"""

# The first branch writes where the index was.
BRANCHES = """
func.func @main(%n: tensor<f32>, %x: tensor<32x32xf32>) -> (tensor<f32>, tensor<32x32xf32>) {
  %i = stablehlo.convert %n : (tensor<f32>) -> tensor<i32>
  %r = "stablehlo.case"(%i) ({
    %p = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %t = stablehlo.tanh %p : tensor<32x32xf32>
    %q = stablehlo.dot_general %t, %x, contracting_dims = [1] x [0] : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %u = stablehlo.dot_general %q, %t, contracting_dims = [1] x [0] : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    stablehlo.return %u : tensor<32x32xf32>
  }, {
    stablehlo.return %x : tensor<32x32xf32>
  }, {
    %p = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %q = stablehlo.dot_general %p, %x, contracting_dims = [0] x [0] : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    stablehlo.return %q : tensor<32x32xf32>
  }) : (tensor<i32>) -> tensor<32x32xf32>
  %s = stablehlo.add %r, %x : tensor<32x32xf32>
  %m = stablehlo.abs %n : tensor<f32>
  return %m, %s : tensor<f32>, tensor<32x32xf32>
}
"""
# In each round another branch, one of which has a loop; the predicate is an i1.
BRANCHES_IN_ROUNDS = """
func.func @main(%n: tensor<f32>, %x: tensor<32x32xf32>) -> (tensor<f32>, tensor<32x32xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %two = stablehlo.constant dense<2.0> : tensor<f32>
  %r:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<f32>, tensor<32x32xf32>
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %m = stablehlo.remainder %i, %two : tensor<f32>
      %even = stablehlo.compare EQ, %m, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %b = "stablehlo.if"(%even) ({
        %p = stablehlo.dot_general %a, %x, contracting_dims = [1] x [0] : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
        %t = stablehlo.tanh %p : tensor<32x32xf32>
        %q = stablehlo.dot_general %t, %x, contracting_dims = [1] x [0] : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
        stablehlo.return %q : tensor<32x32xf32>
      }, {
        %q:2 = stablehlo.while(%k = %zero, %b = %a) : tensor<f32>, tensor<32x32xf32>
          cond {
            %c = stablehlo.compare LT, %k, %i : (tensor<f32>, tensor<f32>) -> tensor<i1>
            stablehlo.return %c : tensor<i1>
          } do {
            %p = stablehlo.dot_general %b, %x, contracting_dims = [0] x [0] : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
            %t = stablehlo.tanh %p : tensor<32x32xf32>
            %l = stablehlo.add %k, %one : tensor<f32>
            stablehlo.return %l, %t : tensor<f32>, tensor<32x32xf32>
          }
        stablehlo.return %q#1 : tensor<32x32xf32>
      }) : (tensor<i1>) -> tensor<32x32xf32>
      %j = stablehlo.add %i, %one : tensor<f32>
      stablehlo.return %j, %b : tensor<f32>, tensor<32x32xf32>
    }
  return %r#0, %r#1 : tensor<f32>, tensor<32x32xf32>
}
"""


def powers(n, x):
    a = x.astype(np.float64)
    for _ in range(n):
        a = np.tanh(a @ x)
    return a + x


def nested(n, x):
    a = x.astype(np.float64)
    for i in range(n):
        for _ in range(i):
            a = np.tanh(a @ x)
        a = np.tanh(a.T @ x)
    return a


def branches(n, x):
    a = x.astype(np.float64)
    if n == 0:
        t = np.tanh(a @ a)
        return t @ a @ t + a
    return (a if n == 1 else (a.T @ a).T @ a) + a


def branches_in_rounds(n, x):
    a = x.astype(np.float64)
    for i in range(n):
        if i % 2 == 0:
            a = np.tanh(a @ x) @ x
        else:
            for _ in range(i):
                a = np.tanh(a.T @ x)
    return a


ALL = pytest.mark.parametrize(
    "program, expected",
    [(POWERS, powers), (NESTED, nested), (BRANCHES_IN_ROUNDS, branches_in_rounds)],
    ids=["powers", "nested", "branches"],
)


@pytest.fixture(scope="module")
def fake():
    fake_gpu.load()
    library = ctypes.CDLL(str(fake_gpu.LIBRARY))
    library.fakeCudaCount.restype = ctypes.c_uint64
    return library


@pytest.fixture
def load(fake):
    """Programs, each with an instance of its own, whose streams have no graphs yet."""
    compiler = alula_library.Compiler(fake_gpu.BUILD)
    loaded = []

    def load(program):
        runtime = alula_library.Runtime(fake_gpu.BUILD, device="cuda")
        loaded.append(runtime.load(compiler.compile(program.encode(), ["cuda:sm_80"])))
        return loaded[-1]

    yield load
    for executable in loaded:
        executable.destroy()


def call(executable, n, x):
    runtime = executable.runtime
    arguments = [runtime.new_buffer(np.float32(n), "f32"), runtime.new_buffer(x, "f32")]
    results = executable.call(executable.find("main"), arguments)
    return [result.array() for result in results]


def draw(seed=0):
    return np.random.default_rng(seed).normal(size=(32, 32)).astype(np.float32) * 0.15


def count(fake, what):
    return fake.fakeCudaCount(what.encode())


@pytest.mark.parametrize("rounds", [0, 1, 2, 3, 8])
@ALL
def test_a_loop_is_one_launch(fake, load, program, expected, rounds):
    executable, x = load(program), draw()
    before = count(fake, "graph launches")
    i, a = call(executable, rounds, x)
    assert count(fake, "graph launches") == before + 1
    assert i == rounds
    np.testing.assert_allclose(a, expected(rounds, x), atol=1e-5)


def test_arguments_are_changed(fake, load):
    executable = load(POWERS)
    for seed, rounds in enumerate([2, 3, 0, 5]):
        launched, changed = count(fake, "graph launches"), count(fake, "changed nodes")
        x = draw(seed)
        i, a = call(executable, rounds, x)
        assert i == rounds
        np.testing.assert_allclose(a, powers(rounds, x), atol=1e-5)
        assert count(fake, "graph launches") == launched + 1
        assert (count(fake, "changed nodes") > changed) == (seed > 0)


@pytest.mark.parametrize(
    "function", ["GraphConditionalHandleCreate", "GraphAddNode", "GraphInstantiateWithFlags"]
)
@ALL
def test_the_host_decides_where_cuda_does_not(fake, load, program, expected, function):
    executable = load(program)
    for rounds in [3, 4, 0, 1]:
        fake.fakeCudaFailNext(function.encode(), 801)
        before, x = count(fake, "graph launches"), draw(rounds)
        i, a = call(executable, rounds, x)
        assert i == rounds
        np.testing.assert_allclose(a, expected(rounds, x), atol=1e-5)
        assert count(fake, "graph launches") == before
    # The next time it is tried again.
    call(executable, 2, x)
    assert count(fake, "graph launches") == before + 1


def test_branches_are_one_launch(fake, load):
    executable = load(BRANCHES)
    for seed, number in enumerate([-1, 0, 1, 2, 3, 0]):
        x, before = draw(seed), count(fake, "graph launches")
        i, a = call(executable, number, x)
        assert i == abs(number)
        np.testing.assert_allclose(a, branches(number, x), atol=1e-5)
        # The host chooses at the first call: what comes once is no graph.
        assert count(fake, "graph launches") == before + (seed > 0)


def test_the_host_chooses_where_cuda_does_not(fake, load):
    executable = load(BRANCHES)
    call(executable, 1, draw())
    for seed, number in enumerate([-1, 0, 1, 2, 3, 0]):
        fake.fakeCudaFailNext(b"GraphAddNode", 801)
        x, before = draw(seed), count(fake, "graph launches")
        _, a = call(executable, number, x)
        np.testing.assert_allclose(a, branches(number, x), atol=1e-5)
        assert count(fake, "graph launches") == before
