// Every command, on every device.

#include "runtime/conformance/suite.h"

using namespace alula;
using namespace alula::runtime;

namespace {

using Commands = Conformance;
INSTANTIATE_TEST_SUITE_P(Device, Commands, getDevices(),
                         [](const auto &info) { return info.param; });

TEST_P(Commands, DispatchWithConstantsAndArena) {
  KernelFile file;
  uint32_t type = file.addType(ALULA_DTYPE_F32, {1000});
  std::vector<float> ones(1000, 1);
  uint32_t constant = file.addConstant(ones.data(), 4000);
  FunctionWriter &f = file.addFunction("main");
  f.addArgument("x", type);
  f.addResult("y", type);
  f.setArenaBytes(4032);
  uint32_t x = f.argument(0), y = f.result(0), one = f.constant(constant),
           t = f.arena(0, 4000);
  Operand n = f.immediate(1000), parts = f.immediate(7), i1 = f.immediate(1);
  f.dispatch(file.addF32, parts, i1, i1, {x, one, t}, {n});
  f.dispatch(file.addF32, i1, i1, i1, {t, x, y}, {n});
  // An empty grid runs nothing.
  f.dispatch(file.addF32, f.immediate(0), i1, i1, {x, x, y}, {n});
  Executable model = load(file);
  std::vector<float> in(1000), expected(1000);
  for (size_t i = 0; i < 1000; ++i) {
    in[i] = float(i);
    expected[i] = float(2 * i + 1);
  }
  auto results = run(model, {makeF32(in)});
  ASSERT_EQ(results.size(), 1u) << error.message();
  EXPECT_EQ(results[0].dims(), std::vector<int64_t>{1000});
  if (computes()) {
    EXPECT_EQ(get<float>(results[0]), expected);
  }
}

TEST_P(Commands, GridScratchAndReadOnlyData) {
  KernelFile file;
  uint32_t type = file.addType(ALULA_DTYPE_I32, {5, 3, 2});
  FunctionWriter &f = file.addFunction("main");
  f.addResult("y", type);
  uint32_t y = f.result(0);
  f.dispatch(file.markGrid, f.immediate(2), f.immediate(3), f.immediate(5),
             {y});
  f.dispatch(file.lookUp, f.immediate(1), f.immediate(1), f.immediate(1), {y});
  Executable model = load(file);
  for (int repeat = 0; repeat < 200; ++repeat) {
    auto results = run(model, {});
    ASSERT_EQ(results.size(), 1u) << error.message();
    std::vector<int32_t> squares = get<int32_t>(results[0]);
    for (size_t i = 0; computes() && i < 30; ++i)
      ASSERT_EQ(squares[i], int32_t(((i + 1) & 7) * ((i + 1) & 7)));
  }
}

TEST_P(Commands, Integers) {
  struct Case {
    alula_operator op;
    int64_t a, b, result;
  };
  const Case cases[] = {
      {ALULA_OPERATOR_MOVE, 7, 9, 7},     {ALULA_OPERATOR_ADD, 7, -9, -2},
      {ALULA_OPERATOR_SUB, 7, 9, -2},     {ALULA_OPERATOR_MUL, -7, 9, -63},
      {ALULA_OPERATOR_DIV, 7, 2, 3},      {ALULA_OPERATOR_DIV, -7, 2, -4},
      {ALULA_OPERATOR_DIV, 7, -2, -4},    {ALULA_OPERATOR_DIV, -7, -2, 3},
      {ALULA_OPERATOR_CEIL_DIV, 7, 2, 4}, {ALULA_OPERATOR_CEIL_DIV, -7, 2, -3},
      {ALULA_OPERATOR_CEIL_DIV, 8, 2, 4}, {ALULA_OPERATOR_CEIL_DIV, -7, -2, 4},
      {ALULA_OPERATOR_REM, 7, 2, 1},      {ALULA_OPERATOR_REM, -7, 2, 1},
      {ALULA_OPERATOR_REM, 7, -2, -1},    {ALULA_OPERATOR_REM, -8, 2, 0},
      {ALULA_OPERATOR_MIN, 3, -4, -4},    {ALULA_OPERATOR_MAX, 3, -4, 3},
      {ALULA_OPERATOR_AND, 6, 3, 2},      {ALULA_OPERATOR_OR, 6, 3, 7},
      {ALULA_OPERATOR_XOR, 6, 3, 5},      {ALULA_OPERATOR_SHL, -3, 4, -48},
      {ALULA_OPERATOR_SHR, -48, 4, -3},   {ALULA_OPERATOR_EQ, 3, 3, 1},
      {ALULA_OPERATOR_NE, 3, 3, 0},       {ALULA_OPERATOR_LT, -3, 3, 1},
      {ALULA_OPERATOR_LE, 3, 3, 1},       {ALULA_OPERATOR_GT, -3, 3, 0},
      {ALULA_OPERATOR_GE, 3, 3, 1},
  };
  constexpr int64_t count = sizeof cases / sizeof *cases;
  ArtifactWriter file;
  FunctionWriter &f = file.addFunction("main");
  f.addResult("y", file.addType(ALULA_DTYPE_I64, {count}));
  uint32_t y = f.result(0);
  std::vector<int64_t> expected;
  for (int64_t i = 0; i < count; ++i) {
    Operand r = f.compute(cases[i].op, f.immediate(cases[i].a),
                          f.immediate(cases[i].b));
    f.store(ALULA_DTYPE_I64, y, f.immediate(8 * i), r);
    expected.push_back(cases[i].result);
  }
  auto results = run(load(file), {});
  ASSERT_EQ(results.size(), 1u) << error.message();
  EXPECT_EQ(get<int64_t>(results[0]), expected);
}

TEST_P(Commands, IntegerErrors) {
  auto fails = [&](alula_operator op, int64_t a, int64_t b) {
    ArtifactWriter file;
    FunctionWriter &f = file.addFunction("main");
    f.compute(op, f.immediate(a), f.immediate(b));
    run(load(file), {});
    EXPECT_EQ(error.code(), ALULA_STATUS_OUT_OF_RANGE);
    return std::string(error.message());
  };
  EXPECT_EQ(fails(ALULA_OPERATOR_MUL, INT64_MAX, 2),
            "function 'main': mul of 9223372036854775807 and 2 has no result");
  EXPECT_EQ(fails(ALULA_OPERATOR_DIV, 1, 0),
            "function 'main': div of 1 and 0 has no result");
  fails(ALULA_OPERATOR_ADD, INT64_MAX, 1);
  fails(ALULA_OPERATOR_SUB, INT64_MIN, 1);
  fails(ALULA_OPERATOR_DIV, INT64_MIN, -1);
  fails(ALULA_OPERATOR_REM, INT64_MIN, -1);
  fails(ALULA_OPERATOR_SHL, 1, 64);
  fails(ALULA_OPERATOR_SHL, 1, 63);
  fails(ALULA_OPERATOR_SHR, 1, -1);
}

TEST_P(Commands, LoadAndStoreEveryIntegerType) {
  ArtifactWriter file;
  uint32_t i64 = file.addType(ALULA_DTYPE_I64, {14});
  FunctionWriter &f = file.addFunction("main");
  f.addArgument("x", file.addType(ALULA_DTYPE_UI8, {8}));
  f.addResult("y", i64);
  uint32_t x = f.argument(0), y = f.result(0);
  int64_t at = 0;
  std::vector<int64_t> expected;
  auto load1 = [&](alula_dtype type, int64_t value) {
    f.store(ALULA_DTYPE_I64, y, f.immediate(at),
            f.load(type, x, f.immediate(0)));
    at += 8;
    expected.push_back(value);
  };
  load1(ALULA_DTYPE_I1, 0xFE);
  load1(ALULA_DTYPE_I2, -2);
  load1(ALULA_DTYPE_I4, -2);
  load1(ALULA_DTYPE_I8, -2);
  load1(ALULA_DTYPE_UI8, 0xFE);
  load1(ALULA_DTYPE_I16, -2);
  load1(ALULA_DTYPE_UI16, 0xFFFE);
  load1(ALULA_DTYPE_I32, -2);
  load1(ALULA_DTYPE_UI32, 0xFFFFFFFE);
  load1(ALULA_DTYPE_I64, -2);
  f.store(ALULA_DTYPE_I16, y, f.immediate(at), f.immediate(-3));
  f.fill(y, f.immediate(at + 2), f.immediate(6), 2, f.immediate(0x1234));
  f.fill(y, f.immediate(at + 8), f.immediate(12), 4, f.immediate(0x01020304));
  f.fill(y, f.immediate(at + 20), f.immediate(4), 1, f.immediate(7));
  f.fill(y, f.immediate(at + 24), f.immediate(8), 8, f.immediate(-9));
  expected.insert(expected.end(), {0x123412341234FFFD, 0x0102030401020304,
                                   0x0707070701020304, -9});
  Executable model = load(file);
  auto results =
      run(model, {make<uint8_t>(ALULA_DTYPE_UI8, {8},
                                {254, 255, 255, 255, 255, 255, 255, 255})});
  ASSERT_EQ(results.size(), 1u) << error.message();
  EXPECT_EQ(get<int64_t>(results[0]), expected);
}

/// f(n) = sum of the even numbers below n, by a while loop with branches.
TEST_P(Commands, ControlFlow) {
  ArtifactWriter file;
  uint32_t type = file.addType(ALULA_DTYPE_I64, {2});
  FunctionWriter &f = file.addFunction("main");
  f.addArgument("n", type);
  f.addResult("y", type);
  Operand zero = f.immediate(0), one = f.immediate(1);
  Operand n = f.load(ALULA_DTYPE_I64, f.argument(0), zero);
  Operand i = f.newRegister(), sum = f.newRegister(), go = f.newRegister();
  uint32_t test = f.newBlock(), body = f.newBlock();
  f.loop(test, go, body);
  f.setBlock(test);
  f.compute(go, ALULA_OPERATOR_LT, i, n);
  f.setBlock(body);
  uint32_t even = f.newBlock(), odd = f.newBlock();
  f.branch(f.compute(ALULA_OPERATOR_AND, i, one), odd, even);
  f.compute(i, ALULA_OPERATOR_ADD, i, one);
  f.setBlock(even);
  f.compute(sum, ALULA_OPERATOR_ADD, sum, i);
  f.setBlock(0);
  uint32_t a = f.newBlock(), b = f.newBlock(), c = f.newBlock();
  Operand which = f.newRegister();
  f.branch(n, {a, b, c});
  f.setBlock(a);
  f.move(which, f.immediate(10));
  f.setBlock(b);
  f.move(which, f.immediate(11));
  f.setBlock(c);
  f.move(which, f.immediate(12));
  f.setBlock(0);
  uint32_t y = f.result(0);
  f.store(ALULA_DTYPE_I64, y, zero, sum);
  f.store(ALULA_DTYPE_I64, y, f.immediate(8),
          f.select(f.compute(ALULA_OPERATOR_GT, n, f.immediate(50)),
                   f.immediate(99), which));
  Executable model = load(file);
  struct Case {
    int64_t n, sum, which;
  };
  for (Case test1 :
       {Case{0, 0, 10}, Case{1, 0, 11}, Case{2, 0, 12}, Case{-5, 0, 12},
        Case{10, 20, 12}, Case{1001, 250500, 99}}) {
    auto results = run(model, {makeI64({test1.n, 0})});
    ASSERT_EQ(results.size(), 1u) << error.message();
    EXPECT_EQ(get<int64_t>(results[0]),
              (std::vector<int64_t>{test1.sum, test1.which}));
  }
}

TEST_P(Commands, SwapViewCopyAllocFree) {
  ArtifactWriter file;
  uint32_t type = file.addType(ALULA_DTYPE_I64, {4});
  FunctionWriter &f = file.addFunction("main");
  f.addArgument("x", type);
  f.addResult("y", type);
  f.setArenaBytes(64);
  uint32_t x = f.argument(0), y = f.result(0), a = f.arena(0, 32),
           m = f.local(), v = f.local(), r = f.local(/*readOnly=*/true);
  Operand zero = f.immediate(0), size = f.immediate(32), half = f.immediate(16);
  f.alloc(m, size);
  f.copy(m, zero, x, zero, size);
  f.fill(a, zero, size, 8, f.immediate(5));
  f.swap(a, m); // a: x, m: fives
  f.view(v, a, half, half);
  f.store(ALULA_DTYPE_I64, v, zero, f.immediate(77));
  f.view(r, x, f.immediate(8), f.immediate(8));
  f.copy(y, zero, a, zero, size);
  f.copy(y, f.immediate(8), m, zero, f.immediate(8));
  f.copy(y, zero, r, zero, f.immediate(8));
  // Overlapping: elements 2, 3 to 1, 2 would be 77, 4.
  f.free(m);
  Executable model = load(file);
  auto results = run(model, {makeI64({1, 2, 3, 4})});
  ASSERT_EQ(results.size(), 1u) << error.message();
  EXPECT_EQ(get<int64_t>(results[0]), (std::vector<int64_t>{2, 5, 77, 4}));
}

TEST_P(Commands, RunTimeBounds) {
  auto fails = [&](auto build) {
    ArtifactWriter file;
    uint32_t type = file.addType(ALULA_DTYPE_I64, {4});
    FunctionWriter &f = file.addFunction("main");
    f.addArgument("x", type);
    f.addResult("y", type);
    uint32_t x = f.argument(0), y = f.result(0), local = f.local();
    build(f, x, y, local);
    std::vector<Buffer> none = run(load(file), {makeI64({1, 2, 3, 4})});
    EXPECT_TRUE(none.empty());
    return std::string(error.message());
  };
  using F = FunctionWriter &;
  using U = uint32_t;
  EXPECT_EQ(fails([](F f, U x, U, U) {
              f.load(ALULA_DTYPE_I64, x, f.immediate(25));
            }),
            "function 'main': load: 8 bytes at 25 are outside slot 0 of 32 "
            "bytes");
  EXPECT_EQ(fails([](F f, U, U y, U) {
              f.store(ALULA_DTYPE_I8, y, f.immediate(-1), f.immediate(0));
            }),
            "function 'main': store: 1 bytes at -1 are outside slot 1 of 32 "
            "bytes");
  EXPECT_EQ(fails([](F f, U x, U y, U) {
              f.copy(y, f.immediate(1), x, f.immediate(0), f.immediate(32));
            }),
            "function 'main': copy: 32 bytes at 1 are outside slot 1 of 32 "
            "bytes");
  EXPECT_EQ(fails([](F f, U, U y, U) {
              f.fill(y, f.immediate(0), f.immediate(INT64_MAX), 8,
                     f.immediate(0));
            }),
            "function 'main': fill: 9223372036854775807 bytes at 0 are outside "
            "slot 1 of 32 bytes");
  EXPECT_EQ(fails([](F f, U, U y, U) {
              f.fill(y, f.immediate(0), f.immediate(7), 2, f.immediate(1));
            }),
            "function 'main': fill: 7 bytes are no multiple of 2");
  EXPECT_EQ(fails([](F f, U, U y, U l) {
              f.view(l, y, f.immediate(32), f.immediate(1));
            }),
            "function 'main': view: 1 bytes at 32 are outside slot 1 of 32 "
            "bytes");
  EXPECT_EQ(fails([](F f, U x, U, U l) {
              f.copy(l, f.immediate(0), x, f.immediate(0), f.immediate(0));
            }),
            "function 'main': copy: slot 2 has no storage yet");
  EXPECT_EQ(fails([](F f, U, U, U l) { f.alloc(l, f.immediate(-1)); }),
            "function 'main': alloc of -1 bytes");
  EXPECT_EQ(
      fails([](F f, U, U, U l) { f.alloc(l, f.immediate(int64_t(1) << 60)); }),
      "out of memory: 1152921504606846976 bytes for a buffer");
  EXPECT_EQ(fails([](F f, U, U, U) {
              f.assertThat(f.immediate(0), "{0} is not {1}, {2}",
                           {f.immediate(3), f.immediate(-4)});
            }),
            "3 is not -4, {2}");
}

TEST_P(Commands, DispatchesTogether) {
  KernelFile file;
  uint32_t type = file.addType(ALULA_DTYPE_F32, {1000});
  uint32_t marks = file.addType(ALULA_DTYPE_I32, {30});
  uint32_t number = file.addType(ALULA_DTYPE_I64, {1});
  FunctionWriter &f = file.addFunction("main");
  f.addArgument("x", type);
  f.addArgument("groups", number);
  for (int i = 0; i < 3; ++i)
    f.addResult("y" + std::to_string(i), type);
  f.addResult("marks", marks);
  uint32_t x = f.argument(0), y[] = {f.result(0), f.result(1), f.result(2)};
  uint32_t grid = f.result(3);
  Operand groups = f.load(ALULA_DTYPE_I64, f.argument(1), f.immediate(0));
  Operand one = f.immediate(1);
  // Different lengths, grids and kernels; some may be empty.
  f.fill(y[2], f.immediate(0), f.immediate(4000), 4, f.immediate(0));
  f.together(4);
  f.dispatch(file.addF32, one, one, one, {x, x, y[0]}, {f.immediate(1000)});
  f.dispatch(file.markGrid, f.immediate(2), f.immediate(3), f.immediate(5),
             {grid});
  f.dispatch(file.addF32, groups, one, one, {x, x, y[2]}, {f.immediate(1000)});
  f.dispatch(file.addF32, f.immediate(7), one, one, {x, x, y[1]},
             {f.immediate(1000)});
  f.together(2);
  f.dispatch(file.addF32, groups, one, one, {x, y[0], y[1]},
             {f.immediate(500)});
  f.dispatch(file.lookUp, groups, one, one, {grid});
  Executable model = load(file);
  std::vector<float> in(1000);
  for (size_t i = 0; i < 1000; ++i)
    in[i] = float(i);
  for (int64_t count : {0, 1}) {
    auto results = run(model, {makeF32(in), makeI64({count})});
    ASSERT_EQ(results.size(), 4u) << error.message();
    if (!computes())
      continue;
    for (size_t i = 0; i < 1000; ++i) {
      ASSERT_EQ(get<float>(results[0])[i], 2 * in[i]);
      ASSERT_EQ(get<float>(results[1])[i], (i < 500 && count ? 3 : 2) * in[i]);
      ASSERT_EQ(get<float>(results[2])[i], count ? 2 * in[i] : 0);
    }
    for (int32_t i = 0; i < 30; ++i)
      ASSERT_EQ(get<int32_t>(results[3])[size_t(i)],
                count ? ((i + 1) & 7) * ((i + 1) & 7) : i + 1);
  }
  run(model, {makeF32(in), makeI64({-1})});
  EXPECT_STREQ(error.message(), "function 'main': dispatch of 'add_f32': "
                                "wrong grid (-1, 1, 1)");
}

TEST_P(Commands, ErrorsOfDispatchesTogether) {
  KernelFile file;
  FunctionWriter &f = file.addFunction("main");
  f.addResult("y", file.addType(ALULA_DTYPE_I32, {30}));
  Operand one = f.immediate(1), many = f.immediate(30);
  f.together(3);
  f.dispatch(file.markGrid, many, one, one, {f.result(0)});
  f.dispatch(file.failWith, many, one, one, {}, {f.immediate(0)});
  f.dispatch(file.failWith, many, one, one, {}, {f.immediate(-3)});
  Executable model = load(file);
  run(model, {});
  EXPECT_STREQ(error.message(),
               computes()
                   ? "function 'main': kernel 'fail_with' failed with code -3"
                   : "");
}

TEST_P(Commands, DispatchErrors) {
  KernelFile file;
  FunctionWriter &f = file.addFunction("main");
  f.addArgument("n", file.addType(ALULA_DTYPE_I64, {1}));
  Operand n = f.load(ALULA_DTYPE_I64, f.argument(0), f.immediate(0));
  f.dispatch(file.failWith, n, f.immediate(1), f.immediate(1), {},
             {f.immediate(-3)});
  Executable model = load(file);
  run(model, {makeI64({-1})});
  EXPECT_STREQ(error.message(), "function 'main': dispatch of 'fail_with': "
                                "wrong grid (-1, 1, 1)");
  for (int64_t n1 : {1, 20}) {
    run(model, {makeI64({n1})});
    EXPECT_STREQ(error.message(),
                 computes()
                     ? "function 'main': kernel 'fail_with' failed with code -3"
                     : "");
  }
}

TEST_P(Commands, DynamicShapes) {
  // y = x + x for any number of rows; the caller computes the shape.
  KernelFile file;
  uint32_t type = file.addType(ALULA_DTYPE_F32, {Dim::dynamic("b", 1, 100), 4});
  FunctionWriter &inner = file.addFunction("double", /*exported=*/false);
  inner.addArgument("x", type);
  inner.addResult("y", type);
  Operand rows = inner.argumentDim(0, 0);
  inner.bindResult(0, {rows});
  Operand n = inner.compute(ALULA_OPERATOR_MUL, rows, inner.argumentDim(0, 1));
  uint32_t x = inner.argument(0);
  inner.dispatch(file.addF32, rows, inner.immediate(1), inner.immediate(1),
                 {x, x, inner.result(0)}, {n});
  FunctionWriter &f = file.addFunction("main");
  f.addArgument("x", type);
  f.addArgument("z", type);
  f.addResult("y", type);
  uint32_t t = f.local(), in = f.argument(0);
  Operand b = f.argumentDim(0, 0), got = f.newRegister();
  f.call(inner.getIndex(), {in}, {t}, {b}, {got});
  f.bindResult(0, {got});
  f.copy(f.result(0), f.immediate(0), t, f.immediate(0),
         f.compute(ALULA_OPERATOR_MUL, got, f.immediate(16)));
  Executable model = load(file);
  for (int64_t size : {1, 3, 2, 100}) {
    std::vector<float> data(size_t(size) * 4, 1.5f);
    Buffer a = make(ALULA_DTYPE_F32, {size, 4}, data);
    auto results = run(model, {a, a});
    ASSERT_EQ(results.size(), 1u) << error.message();
    EXPECT_EQ(results[0].dims(), (std::vector<int64_t>{size, 4}));
    for (float &value : data)
      value *= 2;
    if (computes()) {
      EXPECT_EQ(get<float>(results[0]), data);
    }
  }
  Buffer two = make<float>(ALULA_DTYPE_F32, {2, 4}, std::vector<float>(8));
  Buffer three = make<float>(ALULA_DTYPE_F32, {3, 4}, std::vector<float>(12));
  run(model, {two, three});
  EXPECT_STREQ(error.message(), "argument 1 'z': dimension 0 'b' is 3, but "
                                "argument 0 'x' has 2");
  Buffer zero = make<float>(ALULA_DTYPE_F32, {0, 4}, {});
  run(model, {zero, zero});
  EXPECT_STREQ(error.message(),
               "argument 0 'x': dimension 0 is 0, not 1 to 100");
  // Given storage must be of the shape that comes out.
  alula_buffer *arguments[] = {two.get(), two.get()}, *result = three.get();
  error.take(alula_call(model.get(), 0, nullptr, arguments, 2, &result, 1));
  EXPECT_STREQ(error.message(), "result 0 'y': dimension 0 'b' is 3, but "
                                "argument 0 'x' has 2");
  Buffer given = make<float>(ALULA_DTYPE_F32, {2, 4}, std::vector<float>(8));
  result = given.get();
  EXPECT_TRUE(
      error.take(alula_call(model.get(), 0, nullptr, arguments, 2, &result, 1)))
      << error.message();
}

TEST_P(Commands, ViewsEndWithWhatTheyShow) {
  // The last of `steps` reads a view whose memory is gone.
  auto fails = [&](auto steps) {
    ArtifactWriter file;
    uint32_t dynamic = file.addType(ALULA_DTYPE_UI8, {Dim::dynamic()});
    FunctionWriter &make = file.addFunction("make", /*exported=*/false);
    make.addResult("y", dynamic);
    make.bindResult(0, {make.immediate(64)});
    FunctionWriter &f = file.addFunction("main");
    f.addResult("y", file.addType(ALULA_DTYPE_I64, {8}));
    uint32_t a = f.local(), b = f.local(), view = f.local(), y = f.result(0);
    Operand zero = f.immediate(0), size = f.immediate(64);
    f.alloc(a, size);
    f.view(view, a, f.immediate(8), f.immediate(16));
    steps(f, a, b, view);
    f.copy(y, zero, view, zero, f.immediate(8));
    EXPECT_TRUE(run(load(file), {}).empty());
    return std::string(error.message());
  };
  using F = FunctionWriter &;
  using U = uint32_t;
  const char *gone = "function 'main': copy: slot 2 has no storage any more";
  EXPECT_EQ(fails([](F f, U a, U, U) { f.free(a); }), gone);
  EXPECT_EQ(fails([](F f, U a, U, U) { f.alloc(a, f.immediate(64)); }), gone);
  EXPECT_EQ(fails([](F f, U a, U, U) { f.alloc(a, f.immediate(9)); }), gone);
  EXPECT_EQ(fails([](F f, U a, U b, U) {
              f.swap(a, b);
              f.free(b);
            }),
            gone);
  EXPECT_EQ(fails([](F f, U a, U b, U) {
              f.view(b, a, f.immediate(0), f.immediate(64));
              f.view(a, b, f.immediate(0), f.immediate(8));
            }),
            gone);
  EXPECT_EQ(fails([](F f, U a, U, U view) {
              f.view(a, view, f.immediate(0), f.immediate(8));
            }),
            gone);
  EXPECT_EQ(
      fails([](F f, U a, U, U) { f.call(0, {}, {a}, {}, {f.newRegister()}); }),
      gone);
  EXPECT_EQ(fails([](F f, U a, U b, U view) {
              f.view(b, view, f.immediate(0), f.immediate(8));
              f.free(a);
              f.alloc(a, f.immediate(64));
              f.copy(a, f.immediate(0), b, f.immediate(0), f.immediate(8));
            }),
            "function 'main': copy: slot 1 has no storage any more");
  EXPECT_EQ(fails([](F f, U, U, U view) { f.free(view); }),
            "function 'main': copy: slot 2 has no storage yet");
}

TEST_P(Commands, ViewsFollowWhatMoves) {
  ArtifactWriter file;
  FunctionWriter &f = file.addFunction("main");
  f.addArgument("x", file.addType(ALULA_DTYPE_I64, {4}));
  f.addResult("y", file.addType(ALULA_DTYPE_I64, {2}));
  uint32_t a = f.local(), b = f.local(), view = f.local(), x = f.argument(0);
  Operand zero = f.immediate(0), size = f.immediate(32), two = f.immediate(16);
  f.alloc(a, size);
  f.copy(a, zero, x, zero, size);
  f.view(view, a, f.immediate(8), two);
  f.swap(a, b);
  // It owned nothing, and narrowing the owner keeps the memory.
  f.free(a);
  f.view(b, b, zero, f.immediate(8));
  f.copy(f.result(0), zero, view, zero, two);
  auto results = run(load(file), {makeI64({1, 2, 3, 4})});
  ASSERT_EQ(results.size(), 1u) << error.message();
  EXPECT_EQ(get<int64_t>(results[0]), (std::vector<int64_t>{2, 3}));
}

TEST_P(Commands, GivenResultOfAnotherSizeThanItsArgument) {
  ArtifactWriter file;
  uint32_t type = file.addType(ALULA_DTYPE_I64, {Dim::dynamic()});
  FunctionWriter &f = file.addFunction("main");
  f.addArgument("x", type);
  f.addResult("y", type, 0);
  Executable model = load(file);
  Buffer two = makeI64({1, 2}), three = makeI64({0, 0, 0}),
         same = makeI64({0, 0});
  alula_buffer *argument = two.get(), *result = three.get();
  error.take(alula_call(model.get(), 0, nullptr, &argument, 1, &result, 1));
  EXPECT_STREQ(error.message(), "result 0 'y': dimension 0 is 3, but argument "
                                "0, which it takes over, has 2");
  result = same.get();
  EXPECT_TRUE(
      error.take(alula_call(model.get(), 0, nullptr, &argument, 1, &result, 1)))
      << error.message();
  EXPECT_EQ(get<int64_t>(same), (std::vector<int64_t>{1, 2}));
}

TEST_P(Commands, ResultThatIsBoundTwice) {
  // A view of the first storage would outlive it.
  ArtifactWriter file;
  FunctionWriter &f = file.addFunction("main");
  f.addResult("y", file.addType(ALULA_DTYPE_UI8, {Dim::dynamic()}));
  uint32_t y = f.result(0), view = f.local();
  Operand zero = f.immediate(0), first = f.immediate(20000);
  f.bindResult(0, {first});
  f.view(view, y, zero, first);
  f.bindResult(0, {f.immediate(30000)});
  f.fill(view, zero, first, 1, zero);
  Diagnostic diagnostic;
  EXPECT_EQ(static_cast<ArtifactWriter &>(file).finish(diagnostic), "");
  EXPECT_STREQ(diagnostic.text, "function 0 'main': result 0 is bound twice");
}

} // namespace
