// Numbers from mpmath, NumPy and the specification.
#include "reference/lane_function.h"

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <limits>

using namespace alula::reference;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

Cell real(double x) {
  Cell cell{};
  cell.re = x;
  return cell;
}

Cell integer(int64_t x) {
  Cell cell{};
  cell.i = x;
  return cell;
}

Cell complex(double re, double im) {
  Cell cell = real(re);
  cell.im = im;
  return cell;
}

Cell run(LaneFunction function, Kind from, Kind to,
         std::initializer_list<Cell> operands, int64_t first = 0,
         int64_t second = 0) {
  const Cell *pointers[3] = {};
  size_t k = 0;
  for (const Cell &operand : operands)
    pointers[k++] = &operand;
  Cell result{};
  function(pointers, &result, 1, {from, to, first, second});
  roundTo(to, &result, 1);
  return result;
}

Cell run(const char *op, Kind kind, std::initializer_list<Cell> operands) {
  LaneFunction function = findLaneFunction(op, kind);
  EXPECT_NE(function, nullptr) << op;
  return function ? run(function, kind, kind, operands) : Cell{};
}

Cell convert(Kind from, Kind to, Cell operand) {
  return run(findConvert(from, to), from, to, {operand});
}

TEST(LaneFunction, DividesIntegersWithoutTraps) {
  EXPECT_EQ(run("divide", Kind::S32, {integer(7), integer(0)}).i, -1);
  EXPECT_EQ(run("divide", Kind::U8, {integer(7), integer(0)}).u, 255u);
  EXPECT_EQ(run("divide", Kind::S64, {integer(INT64_MIN), integer(-1)}).i,
            INT64_MIN);
  EXPECT_EQ(run("divide", Kind::S8, {integer(-128), integer(-1)}).i, -128);
  EXPECT_EQ(run("remainder", Kind::S32, {integer(7), integer(0)}).i, 7);
  EXPECT_EQ(run("remainder", Kind::S64, {integer(INT64_MIN), integer(-1)}).i,
            0);
}

TEST(LaneFunction, ShiftsOutEverything) {
  EXPECT_EQ(run("shift_left", Kind::S8, {integer(1), integer(8)}).i, 0);
  EXPECT_EQ(run("shift_left", Kind::S32, {integer(1), integer(-1)}).i, 0);
  EXPECT_EQ(
      run("shift_right_arithmetic", Kind::S16, {integer(-2), integer(99)}).i,
      -1);
  EXPECT_EQ(
      run("shift_right_logical", Kind::S8, {integer(-1), integer(4)}).i, 15);
}

TEST(LaneFunction, CountsBitsOfTheWidth) {
  EXPECT_EQ(run("popcnt", Kind::S8, {integer(-1)}).i, 8);
  EXPECT_EQ(run("count_leading_zeros", Kind::U4, {integer(1)}).u, 3u);
}

TEST(LaneFunction, TreatsBoolsAsAlgebra) {
  EXPECT_EQ(run("add", Kind::Bool, {integer(1), integer(1)}).u, 1u);
  EXPECT_EQ(run("multiply", Kind::Bool, {integer(1), integer(0)}).u, 0u);
}

TEST(LaneFunction, OrdersZerosAndNan) {
  EXPECT_FALSE(
      std::signbit(run("maximum", Kind::F32, {real(-0.0), real(0.0)}).re));
  EXPECT_TRUE(
      std::signbit(run("minimum", Kind::F32, {real(0.0), real(-0.0)}).re));
  EXPECT_TRUE(std::isnan(
      run("maximum", Kind::F64, {real(std::nan("")), real(1)}).re));
  LaneFunction less = findCompare(Direction::LT, Kind::F32, true);
  EXPECT_EQ(run(less, Kind::F32, Kind::Bool, {real(-0.0), real(0.0)}).u, 1u);
  EXPECT_EQ(
      run(less, Kind::F32, Kind::Bool, {real(inf), real(std::nan(""))}).u,
      1u);
}

TEST(LaneFunction, KeepsDenormals) {
  EXPECT_EQ(run("sqrt", Kind::F64, {real(5e-324)}).re,
            2.2227587494850775e-162);
  EXPECT_EQ(run("multiply", Kind::F32, {real(0x1p-140), real(0.5)}).re,
            0x1p-141);
}

TEST(LaneFunction, ConvertsWithOneRounding) {
  // 2^53 + 2^29 + 1 lies just above a tie of f32: through a double it would
  // round down.
  EXPECT_EQ(convert(Kind::S64, Kind::F32, integer(9007199791611905)).re,
            9007200328482816.0);
  EXPECT_EQ(convert(Kind::F32, Kind::S8, real(300)).i, 127);
  EXPECT_EQ(convert(Kind::F32, Kind::U8, real(-1)).u, 0u);
  EXPECT_EQ(convert(Kind::F64, Kind::S64, real(inf)).i, INT64_MAX);
  EXPECT_EQ(convert(Kind::F32, Kind::S32, real(std::nan(""))).i, 0);
  EXPECT_EQ(convert(Kind::F32, Kind::Bool, real(std::nan(""))).u, 1u);
  EXPECT_EQ(convert(Kind::C64, Kind::F32, complex(2, 3)).re, 2);
}

TEST(LaneFunction, ReducesPrecision) {
  LaneFunction reduce = getReducePrecision();
  auto to = [&](double x, int64_t exponent, int64_t mantissa) {
    return run(reduce, Kind::F32, Kind::F32, {real(x)}, exponent, mantissa).re;
  };
  EXPECT_EQ(to(65505, 5, 10), 65504);
  EXPECT_EQ(to(65520, 5, 10), inf);
  EXPECT_EQ(to(1e-8, 5, 10), 0);
  EXPECT_EQ(to(1.0f / 3, 8, 7), 0.333984375);
  EXPECT_EQ(to(0x1p-149, 8, 23), 0x1p-149);
}

void expectComplex(Cell actual, double re, double im) {
  EXPECT_NEAR(actual.re, re, 1e-15 * std::fabs(re));
  EXPECT_NEAR(actual.im, im, 1e-15 * std::fabs(im));
}

TEST(LaneFunction, ComputesComplexFunctions) {
  struct Row {
    const char *op;
    double re, im;
  };
  // mpmath at 0.5 - 1.25i.
  const Row rows[] = {
      {"exponential", 0.5198786860084936, -1.5646111274988195},
      {"log", 0.2973535538733464, -1.1902899496825317},
      {"sqrt", 0.9608046632337985, -0.6504964265019547},
      {"sine", 0.9053586344209572, -1.4058162504314682},
      {"cosine", 1.6572478640539148, 0.7680009178735728},
      {"tan", 0.12610856648423438, -0.9067248043194309},
      {"tanh", 1.583963548284424, -0.8066346988510736},
      {"log_plus_one", 0.669142570966765, -0.6947382761967031},
      {"exponential_minus_one", -0.4801213139915063, -1.5646111274988195},
  };
  for (const Row &row : rows) {
    SCOPED_TRACE(row.op);
    expectComplex(run(row.op, Kind::C128, {complex(0.5, -1.25)}), row.re,
                  row.im);
  }
  // Near the pole |1 + z|^2 is below what is left of -1.
  expectComplex(run("log_plus_one", Kind::C128, {complex(-1, 0x1p-31)}),
                -21.487562597358306, 1.5707963267948966);
  expectComplex(
      run("power", Kind::C128, {complex(0.5, -1.25), complex(1.5, 0.25)}),
      -0.29415429721433822, -2.08283153851470055);
}

TEST(LaneFunction, DoesNotOverflowOnTheWay) {
  LaneFunction abs = findLaneFunction("abs", Kind::C128);
  EXPECT_EQ(run(abs, Kind::C128, Kind::F64, {complex(1e200, 1e200)}).re,
            1.414213562373095e+200);
}

TEST(LaneFunction, HasNoMeaningOnSomeKinds) {
  EXPECT_EQ(findLaneFunction("sine", Kind::S32), nullptr);
  EXPECT_EQ(findLaneFunction("and", Kind::F32), nullptr);
  EXPECT_EQ(findLaneFunction("no_such_op", Kind::F32), nullptr);
}

} // namespace
