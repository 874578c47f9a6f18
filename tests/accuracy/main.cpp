// Judges every elementwise op as compiled code by MPFR:
//
//   op-accuracy [--log2-count=N] [--markdown=FILE] [OP...]
//
// All codes of f16 and bf16, 2^N of f32 in equal steps, fewer of f64. Each
// result is compared with an estimate in double or better; what may be the
// worst so far, and every 256th, is judged by MPFR, which also checks the
// estimates. An op beyond its bound is an error.

#include "tests/accuracy/inputs.h"
#include "tests/accuracy/program.h"

#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <thread>

using namespace alula::accuracy;

namespace {

/// What no table says.
constexpr const char *products = R"(
## Products and convolutions

No table: what holds follows from how sums are formed, and `compiler/kernel/library/test_product*.py` and `tests/native/test_products.py`
check it. E is the sum of |a b| of the elements that meet, k their number.

- f32, f64: |error| ≤ (k + 1) u E, u = 2^-24 or 2^-53. Computed in bf16, f16 or tf32 only where a product's `algorithm` or `--accuracy` says so.
- bf16: operands are not rounded, each product is exact, sums are f32: |error| ≤ (k + 1) 2^-24 E, before the result is rounded once if it is
  narrower. Where the machine multiplies pairs (`x86-64-v4-bf16`), numbers and sums below 2^-126 count as zero.
- f16 and smaller floats: as f32, of exact operands.
- i8, ui8 with results up to 32 bits: exact modulo 2^bits. Other integers: exact, modulo 2^bits.

The order of a sum depends on shapes and on the kind of machine, not on the number of threads.
)";

constexpr double wrong = 1e30;
/// How far an estimate may be off, in units of f32.
constexpr double slack = 1e-4;

/// How many inputs, of which operand: the codes of one batch.
struct Inputs {
  const Function &function;
  const Type &type;
  unsigned logCount;
  uint64_t count() const {
    if (type.bytes == 2)
      return batch;
    uint64_t spread = uint64_t(1) << logCount;
    if (function.operands == 2)
      spread >>= 4;
    else if (type.bytes == 8)
      spread >>= 7;
    return spread < batch ? batch : spread;
  }

  void fill(uint64_t start, unsigned operand, uint8_t *out) const {
    for (int64_t k = 0; k < batch; ++k) {
      uint64_t i = start + uint64_t(k);
      if (type.bytes == 2) {
        auto code = uint16_t(i);
        memcpy(out + k * 2, &code, 2);
      } else if (type.bytes == 4) {
        auto value = pick<float>(i, operand);
        memcpy(out + k * 4, &value, 4);
      } else {
        auto value = pick<double>(i, operand);
        memcpy(out + k * 8, &value, 8);
      }
    }
  }

private:
  template <typename T> static T fromBits(uint64_t bits) {
    if constexpr (sizeof(T) == 4)
      return std::bit_cast<float>(uint32_t(bits >> 32));
    else
      return std::bit_cast<double>(bits);
  }

  /// Half of the numbers spread over all codes, half near the sizes that
  /// programs have.
  template <typename T> static T makeInput(uint64_t i, uint64_t salt) {
    uint64_t random = mix(i * 2 + salt);
    if (i & 1)
      return fromBits<T>(random);
    double sign = random & 1 ? -1 : 1;
    auto exponent = int((random >> 1) % 24) - 14;
    return T(sign * std::ldexp(1 + double(random >> 12) * 0x1p-52, exponent));
  }

  template <typename T> T pick(uint64_t i, unsigned operand) const {
    if (function.operands == 2) {
      if (i < specialCount * specialCount)
        return T(specials[operand ? i / specialCount : i % specialCount]);
      // Of a power, y log x should be small often.
      if (operand == 1 && i % 4 == 0) {
        double limit = sizeof(T) == 4 ? 100 : 740;
        double x = std::fabs(double(makeInput<T>(i, 0)));
        return T(limit / std::log(x) * (double(mix(i + 77)) * 0x1p-63 - 1));
      }
      return makeInput<T>(i, operand * 0x1234567);
    }
    if (sizeof(T) == 8) {
      if (i < specialCount)
        return T(specials[i]);
      return makeInput<T>(i, 0);
    }
    // Codes in equal steps, shaken.
    if (i >= count() - specialCount)
      return T(specials[count() - 1 - i]);
    unsigned rest = 32 - unsigned(std::countr_zero(count()));
    uint64_t code = (i << rest) | (mix(i) & ((uint64_t(1) << rest) - 1));
    return T(std::bit_cast<float>(uint32_t(code)));
  }
};

/// Distance of a finite number in units in the last place of the exact one;
/// `smallest` is the exponent of the smallest unit.
template <typename T>
double countUnits(const Type &type, double computed, T exact, int exponent,
                  int smallest) {
  exponent = std::max(exponent, smallest);
  T value = computed;
  if (std::isinf(computed))
    value =
        std::copysign(std::ldexp(T(1), 2 - type.smallestExponent), T(computed));
  return double(
      std::ldexp(std::fabs(value - exact), type.mantissaBits - exponent));
}

double judgeExactly(const Type &type, double computed, mpfr_t exact,
                    int smallest) {
  if (mpfr_nan_p(exact) || std::isnan(computed))
    return mpfr_nan_p(exact) && std::isnan(computed) ? 0 : wrong;
  int largest = 2 - type.smallestExponent;
  bool isSpecial = mpfr_zero_p(exact) || mpfr_inf_p(exact) ||
                   mpfr_get_exp(exact) - 1 >= largest;
  if (isSpecial) {
    double expected = mpfr_zero_p(exact) ? 0 : INFINITY;
    bool isSame = std::fabs(computed) == expected &&
                  std::signbit(computed) == (mpfr_signbit(exact) != 0);
    return isSame ? 0 : wrong;
  }
  return countUnits<long double>(type, computed, mpfr_get_ld(exact, MPFR_RNDN),
                                 int(mpfr_get_exp(exact) - 1), smallest);
}

/// The same by an estimate; false if MPFR has to decide.
bool judgeQuickly(const Type &type, double computed, double estimate,
                  int smallest, double &units) {
  units = 0;
  if (std::isnan(estimate))
    return std::isnan(computed);
  if (estimate == 0 || std::isinf(estimate))
    return computed == estimate &&
           std::signbit(computed) == std::signbit(estimate);
  if (std::isnan(computed))
    return false;
  int exponent = std::ilogb(estimate);
  int largest = 2 - type.smallestExponent;
  if (exponent >= largest)
    return std::isinf(computed) &&
           std::signbit(computed) == std::signbit(estimate);
  units = countUnits<double>(type, computed, estimate, exponent, smallest);
  return true;
}

struct Worst {
  double units = -1, x = 0, y = 0, computed = 0;
  void add(const Worst &other) {
    if (other.units > units)
      *this = other;
  }
};

std::vector<Worst> judge(const Program &program, const Inputs &inputs,
                         size_t levels) {
  const Function &function = inputs.function;
  const Type &type = inputs.type;
  bool hasEstimate = function.estimate && type.bytes < 8;
  std::vector<Worst> worst(levels);
  std::atomic<uint64_t> next{0};
  std::mutex mutex;
  auto work = [&] {
    mpfr_t exact, x, y;
    mpfr_init2(exact, type.bytes == 8 ? 100 : 64);
    mpfr_init2(x, 64);
    mpfr_init2(y, 64);
    std::vector<uint8_t> memory(size_t(batch) * 8 * (2 + levels));
    uint8_t *in[2] = {memory.data(), memory.data() + batch * 8};
    std::vector<uint8_t *> out;
    for (size_t l = 0; l < levels; ++l)
      out.push_back(in[1] + size_t(batch) * 8 * (l + 1));
    std::vector<Worst> mine(levels);
    uint64_t start;
    while ((start = next.fetch_add(batch)) < inputs.count()) {
      for (unsigned i = 0; i < function.operands; ++i)
        inputs.fill(start, i, in[i]);
      for (size_t l = 0; l < levels; ++l)
        program.call(l, in, out[l]);
      for (int64_t k = 0; k < batch; ++k) {
        double a = decode(type, in[0] + k * type.bytes);
        double b =
            function.operands == 2 ? decode(type, in[1] + k * type.bytes) : 0;
        double estimate = 0;
        bool isSure = hasEstimate && function.estimate(a, estimate);
        int smallest =
            function.hasNegativeRoots && a < 0 ? 0 : type.smallestExponent;
        bool isExact = false, isSample = k % 256 == 0;
        for (size_t l = 0; l < levels; ++l) {
          double computed = decode(type, out[l] + k * type.bytes), units = 0;
          bool isQuick =
              isSure && judgeQuickly(type, computed, estimate, smallest, units);
          if (isQuick && !isSample &&
              (units < slack || units < mine[l].units - slack))
            continue;
          if (!isExact) {
            mpfr_set_d(x, a, MPFR_RNDN);
            mpfr_set_d(y, b, MPFR_RNDN);
            function.exact(exact, x, y);
            isExact = true;
          }
          double exactUnits = judgeExactly(type, computed, exact, smallest);
          if (isQuick && std::fabs(exactUnits - units) > slack / 2)
            fail(std::string(function.op) + ": the estimate at " +
                 std::to_string(a) + " is off by " +
                 std::to_string(exactUnits - units) + " units");
          mine[l].add({exactUnits, a, b, computed});
        }
      }
    }
    mpfr_clears(exact, x, y, nullptr);
    mpfr_free_cache();
    std::lock_guard lock(mutex);
    for (size_t l = 0; l < levels; ++l)
      worst[l].add(mine[l]);
  };
  std::vector<std::thread> threads;
  for (unsigned t = std::max(1u, std::thread::hardware_concurrency()); t; --t)
    threads.emplace_back(work);
  for (std::thread &thread : threads)
    thread.join();
  return worst;
}

/// Nanoseconds for each element of a batch between 0.1 and 0.9.
double measureTime(const Program &program, const Type &type, size_t level) {
  std::vector<uint8_t> memory(size_t(batch) * 8 * 3);
  uint8_t *in[2] = {memory.data(), memory.data() + batch * 8};
  for (int64_t k = 0; k < batch; ++k)
    for (unsigned i = 0; i < 2; ++i) {
      double value =
          0.1 + double(mix(uint64_t(k * 2 + i)) >> 11) * 0.8 * 0x1p-53;
      auto narrow = float(value);
      memcpy(in[i] + k * type.bytes,
             type.bytes == 8 ? static_cast<void *>(&value) : &narrow,
             type.bytes);
    }
  double best = 1e9;
  for (int round = 0; round < 7; ++round) {
    auto start = std::chrono::steady_clock::now();
    program.call(level, in, in[1] + batch * 8);
    std::chrono::duration<double, std::nano> spent =
        std::chrono::steady_clock::now() - start;
    best = std::min(best, spent.count() / double(batch));
  }
  return best;
}

std::string format(const char *text, double value) {
  char buffer[64];
  snprintf(buffer, sizeof buffer, text, value);
  return buffer;
}

double getBound(const Function &function, const Type &type) {
  return type.bytes == 2   ? function.boundNarrow
         : type.bytes == 4 ? function.boundF32
                           : function.boundF64;
}

} // namespace

int main(int count, char **arguments) {
  unsigned logCount = 16;
  std::string markdown;
  std::vector<std::string> names;
  for (int i = 1; i < count; ++i) {
    std::string argument = arguments[i];
    if (argument.starts_with("--log2-count="))
      logCount = unsigned(strtoul(argument.c_str() + 13, nullptr, 10));
    else if (argument.starts_with("--markdown="))
      markdown = argument.substr(11);
    else if (argument.starts_with("--"))
      fail("no such option: " + argument);
    else
      names.push_back(argument);
  }
  if (logCount < 16 || logCount > 32)
    fail("--log2-count is 16 to 32");
  alula_instance_options options = {};
  options.struct_bytes = sizeof options;
  // The threads are ours.
  options.thread_count = 1;
  alula_instance *instance = nullptr;
  if (alula_instance_create(&options, &instance))
    fail("no instance");
  std::vector<std::string> levels = findLevels(instance);
  std::string table = "| op | type | inputs | bound |";
  std::string line = "|---|---|---|---|";
  for (const std::string &level : levels) {
    table += " " + level + " | ns |";
    line += "---|---|";
  }
  table += "\n" + line + "\n";
  fputs(table.c_str(), stdout);
  unsigned failures = 0, passes = 0;
  for (const Function &function : getFunctions()) {
    bool isWanted = names.empty();
    for (const std::string &name : names)
      isWanted |= std::string(function.op).ends_with("." + name);
    if (!isWanted)
      continue;
    for (const Type &type : types) {
      if (type.bytes == 2 && function.operands == 2)
        continue;
      Program program(instance, function, type, levels);
      Inputs inputs{function, type, logCount};
      double bound = getBound(function, type);
      std::vector<Worst> worst = judge(program, inputs, levels.size());
      std::string row = std::string("| ") + function.op + " | " + type.name +
                        " | " + std::to_string(inputs.count()) + " | " +
                        format("%g", bound) + " |";
      for (size_t l = 0; l < levels.size(); ++l) {
        row +=
            format(worst[l].units < 1e9 ? " %.3f |" : " %g |", worst[l].units);
        row += type.bytes == 2 || logCount < 20
                   ? " |"
                   : format(" %.2f |", measureTime(program, type, l));
        if (worst[l].units <= bound) {
          ++passes;
          continue;
        }
        ++failures;
        fprintf(stderr, "%s %s on %s: %g units at %a, %a: %a\n", function.op,
                type.name, levels[l].c_str(), worst[l].units, worst[l].x,
                worst[l].y, worst[l].computed);
      }
      puts(row.c_str());
      fflush(stdout);
      table += row + "\n";
    }
  }
  printf("%u within their bounds, %u beyond\n", passes, failures);
  if (!markdown.empty())
    std::ofstream(markdown)
        << "# Accuracy of elementwise ops\n\nLargest errors in units in the "
           "last place against MPFR, of programs of one op as the compiler "
           "makes them:\nf16 and bf16 with all their codes, f32 with codes in "
           "equal steps. Of negative arguments of lgamma and\ndigamma, whose "
           "roots no formula meets, the unit is at least that of 1. ns is the "
           "time for one element\nbetween 0.1 and 0.9, one thread. Written by "
           "`./dev test accuracy`.\n\n"
        << table << products;
  alula_instance_destroy(instance);
  return failures != 0;
}
