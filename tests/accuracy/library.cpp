// Compares every function of the library, compiled as kernels are, with MPFR.
//
//   library-accuracy [--log2-count=N] [NAME...]
//
// One table row for each function and type with the largest error in units in
// the last place on each x86-64 level that this machine has. A bound that is
// exceeded is an error. tests/accuracy judges ops as programs have them.

#include "compiler/target/cpu/library.h"
#include "compiler/target/cpu/link_image.h"
#include "compiler/target/cpu/object_code.h"
#include "tests/accuracy/inputs.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <dlfcn.h>
#include <mpfr.h>
#include <mutex>
#include <thread>
#include <unistd.h>

using namespace alula::accuracy;
using namespace alula::cpu;

namespace {
using Exact = void (*)(mpfr_t result, mpfr_t x, mpfr_t y);

struct Row {
  const char *name;
  unsigned operands;
  Exact exact;
  /// Units in the last place that each type may be off.
  double boundF32, boundF64;
};

#define UNARY(FUNCTION)                                                        \
  [](mpfr_t result, mpfr_t x, mpfr_t) { FUNCTION(result, x, MPFR_RNDN); }
#define BINARY(FUNCTION)                                                       \
  [](mpfr_t result, mpfr_t x, mpfr_t y) { FUNCTION(result, x, y, MPFR_RNDN); }

void logistic(mpfr_t result, mpfr_t x, mpfr_t) {
  mpfr_neg(result, x, MPFR_RNDN);
  mpfr_exp(result, result, MPFR_RNDN);
  mpfr_add_ui(result, result, 1, MPFR_RNDN);
  mpfr_ui_div(result, 1, result, MPFR_RNDN);
}

/// MPFR has no sign at rec_sqrt(-0).
void rsqrt(mpfr_t result, mpfr_t x, mpfr_t) {
  if (mpfr_zero_p(x))
    mpfr_set_inf(result, mpfr_signbit(x) ? -1 : 1);
  else
    mpfr_rec_sqrt(result, x, MPFR_RNDN);
}

const Row rows[] = {
    {"exp", 1, UNARY(mpfr_exp), 1, 1},
    {"expm1", 1, UNARY(mpfr_expm1), 1, 1},
    {"log", 1, UNARY(mpfr_log), 1, 1},
    {"log1p", 1, UNARY(mpfr_log1p), 1, 1},
    {"logistic", 1, logistic, 2, 1},
    {"tanh", 1, UNARY(mpfr_tanh), 2, 1},
    {"sin", 1, UNARY(mpfr_sin), 1, 1},
    {"cos", 1, UNARY(mpfr_cos), 1, 1},
    {"tan", 1, UNARY(mpfr_tan), 1, 1},
    {"sqrt", 1, UNARY(mpfr_sqrt), 0.5, 0.5},
    {"rsqrt", 1, rsqrt, 1.5, 1.5},
    {"cbrt", 1, UNARY(mpfr_cbrt), 1, 1},
    {"erf", 1, UNARY(mpfr_erf), 4, 4},
    {"erfc", 1, UNARY(mpfr_erfc), 10, 10},
    {"pow", 2, BINARY(mpfr_pow), 1, 1},
    {"atan2", 2, BINARY(mpfr_atan2), 1, 1},
    {"remainder", 2, BINARY(mpfr_fmod), 0, 0},
};

/// void loop_<function>(in, [in], out, n)
void addLoop(std::string &ir, const std::string &function, const char *type,
             unsigned operands) {
  std::string second = operands == 2 ? std::string(", ") + type : "";
  ir += "declare " + std::string(type) + " @alula_" + function + "(" + type +
        second + ")\n";
  ir += "define void @loop_" + function +
        "(ptr noalias %a, ptr noalias %b, ptr noalias %out, i64 %n) {\n"
        "entry:\n  br label %loop\n"
        "loop:\n  %i = phi i64 [ 0, %entry ], [ %next, %loop ]\n";
  auto load = [&](const std::string &from, const std::string &to) {
    ir += "  %p" + to + " = getelementptr " + type + ", ptr %" + from +
          ", i64 %i\n  %" + to + " = load " + type + ", ptr %p" + to + "\n";
  };
  load("a", "x");
  if (operands == 2)
    load("b", "y");
  ir += std::string("  %r = call ") + type + " @alula_" + function + "(" +
        type + " %x" + (operands == 2 ? second + " %y" : "") + ")\n";
  ir += std::string("  %to = getelementptr ") + type +
        ", ptr %out, i64 %i\n  store " + type +
        " %r, ptr %to\n  %next = add i64 %i, 1\n"
        "  %more = icmp slt i64 %next, %n\n"
        "  br i1 %more, label %loop, label %done\n"
        "done:\n  ret void\n}\n";
}

struct Level {
  std::string name;
  void *image;
  template <typename T>
  void call(const std::string &function, const T *a, const T *b, T *out,
            int64_t n) const {
    auto loop = reinterpret_cast<void (*)(const T *, const T *, T *, int64_t)>(
        dlsym(image, ("loop_" + function).c_str()));
    loop(a, b, out, n);
  }
};

[[noreturn]] void fail(const std::string &message) {
  fprintf(stderr, "library-accuracy: %s\n", message.c_str());
  exit(1);
}

Level makeLevel(const Machine &machine) {
  std::string ir;
  std::vector<std::string> entries;
  for (const Row &row : rows) {
    for (const char *suffix : {"f32", "f64"}) {
      if (!row.boundF64 && row.boundF32 && !strcmp(suffix, "f64"))
        continue;
      std::string function = std::string(row.name) + "_" + suffix;
      addLoop(ir, function, suffix[1] == '3' ? "float" : "double",
              row.operands);
      entries.push_back("loop_" + function);
    }
  }
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(ir, diagnostic, context);
  if (!module)
    fail(diagnostic.getMessage().str());
  auto object = generateObject(*module, machine);
  if (!object)
    fail(llvm::toString(object.takeError()));
  auto undefined = findUndefined(*object);
  if (!undefined)
    fail(llvm::toString(undefined.takeError()));
  std::vector<std::string> objects = {*object};
  auto builtins = getBuiltinsObject(machine, *undefined);
  if (!builtins)
    fail(llvm::toString(builtins.takeError()));
  if (!builtins->empty())
    objects.push_back(*builtins);
  auto image = linkImage(objects, entries, machine);
  if (!image)
    fail(llvm::toString(image.takeError()));
  char path[] = "/tmp/alula-accuracy-XXXXXX";
  int file = mkstemp(path);
  if (file < 0 ||
      write(file, image->data(), image->size()) != ssize_t(image->size()))
    fail("can't write an image");
  close(file);
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  unlink(path);
  if (!handle)
    fail(dlerror());
  return {machine.name, handle};
}

std::vector<Level> makeLevels() {
  Machine host = llvm::cantFail(findMachine("host"));
  std::vector<Level> levels;
  for (const char *name : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    Machine machine = llvm::cantFail(findMachine(name));
    bool fits = machine.target == host.target &&
                llvm::all_of(machine.features, [&](const std::string &f) {
                  return llvm::is_contained(host.features, f);
                });
    if (fits)
      levels.push_back(makeLevel(machine));
  }
  if (levels.empty())
    levels.push_back(makeLevel(host));
  return levels;
}

template <typename T> T fromBits(uint64_t bits) {
  if constexpr (sizeof(T) == 4)
    return std::bit_cast<float>(uint32_t(bits >> 32));
  else
    return std::bit_cast<double>(bits);
}

/// Half of the numbers spread over all codes, half near the sizes that
/// programs have.
template <typename T> T makeInput(uint64_t i, uint64_t salt) {
  uint64_t random = mix(i * 2 + salt);
  if (i & 1)
    return fromBits<T>(random);
  double sign = random & 1 ? -1 : 1;
  double exponent = double((random >> 1) % 24) - 14;
  return T(sign *
           std::ldexp(1 + double(random >> 12) * 0x1p-52, int(exponent)));
}

/// Codes of f32 in equal steps, shaken.
float makeSpreadInput(uint64_t i, unsigned logCount) {
  unsigned rest = 32 - logCount;
  return std::bit_cast<float>(
      uint32_t((i << rest) | (mix(i) & ((uint64_t(1) << rest) - 1))));
}

/// Distance in units in the last place of the exact result.
template <typename T>
long double measure(T computed, mpfr_t exact, int mantissaBits, int smallest) {
  constexpr long double wrong = 1e30L;
  if (mpfr_nan_p(exact))
    return std::isnan(computed) ? 0 : wrong;
  if (std::isnan(computed))
    return wrong;
  if (mpfr_zero_p(exact) || mpfr_inf_p(exact)) {
    T expected = T(mpfr_get_d(exact, MPFR_RNDN));
    return computed == expected &&
                   std::signbit(computed) == std::signbit(expected)
               ? 0
               : wrong;
  }
  int exponent =
      int(std::max<mpfr_exp_t>(mpfr_get_exp(exact) - 1, mpfr_exp_t(smallest)));
  int largest = 2 - smallest;
  if (exponent >= largest)
    // Far beyond: infinity it is.
    return std::isinf(computed) &&
                   std::signbit(computed) == (mpfr_sgn(exact) < 0)
               ? 0
               : wrong;
  long double value = computed;
  if (std::isinf(computed))
    value = std::copysign(std::ldexp(1.0L, largest), value);
  long double reference = mpfr_get_ld(exact, MPFR_RNDN);
  return std::fabs(value - reference) *
         std::ldexp(1.0L, mantissaBits - exponent);
}

struct Worst {
  long double error = -1;
  double x = 0, y = 0, computed = 0;
  void add(long double e, double a, double b, double c) {
    if (e > error)
      *this = {e, a, b, c};
  }
};

/// How one type is walked and judged.
struct Walk {
  const char *type;
  int mantissaBits, smallest;
  uint64_t count;
  unsigned logCount;
};

float roundTo(float x, int mantissaBits, int smallest) {
  if (mantissaBits >= 23 || !std::isfinite(x) || x == 0)
    return x;
  int exponent = std::max(std::ilogb(x), smallest);
  float unit = std::ldexp(1.0f, exponent - mantissaBits);
  float rounded = std::nearbyint(x / unit) * unit;
  return std::fabs(rounded) >= std::ldexp(1.0f, 1 - smallest + 0) * 2
             ? std::copysign(INFINITY, x)
             : rounded;
}

float decodeF16(uint32_t code) {
  uint32_t exponent = code >> 10 & 31, mantissa = code & 1023;
  float size = exponent == 31 ? (mantissa ? NAN : INFINITY)
               : exponent
                   ? std::ldexp(1024.0f + float(mantissa), int(exponent) - 25)
                   : std::ldexp(float(mantissa), -24);
  return code >> 15 ? -size : size;
}

template <typename T>
T pickInput(const Walk &walk, const Row &row, uint64_t i, unsigned operand) {
  if (row.operands == 2) {
    if (i < specialCount * specialCount)
      return T(specials[operand ? i / specialCount : i % specialCount]);
    // Of pow y log x should be small often.
    if (operand == 1 && i % 4 == 0) {
      T x = makeInput<T>(i, 0);
      double limit = sizeof(T) == 4 ? 100 : 740;
      double y =
          limit / std::log(std::fabs(x)) * (double(mix(i + 77)) * 0x1p-63 - 1);
      return T(y);
    }
    return makeInput<T>(i, operand * 0x1234567);
  }
  if constexpr (sizeof(T) == 4) {
    if (!strcmp(walk.type, "f16"))
      return decodeF16(uint32_t(i));
    if (!strcmp(walk.type, "bf16"))
      return std::bit_cast<float>(uint32_t(i) << 16);
    if (i >= walk.count - specialCount)
      return T(specials[walk.count - 1 - i]);
    return makeSpreadInput(i, walk.logCount);
  }
  if (i < specialCount)
    return T(specials[i]);
  return makeInput<T>(i, 0);
}

template <typename T>
std::vector<Worst> judge(const std::vector<Level> &levels, const Row &row,
                         const Walk &walk) {
  std::string function =
      std::string(row.name) + (sizeof(T) == 4 ? "_f32" : "_f64");
  std::vector<Worst> worst(levels.size());
  std::mutex mutex;
  constexpr size_t chunk = 1021;
  unsigned threadCount = std::max(1u, std::thread::hardware_concurrency());
  auto work = [&](unsigned thread) {
    mpfr_t exact, x, y;
    mpfr_init2(exact, sizeof(T) == 4 ? 64 : 100);
    mpfr_init2(x, 64);
    mpfr_init2(y, 64);
    std::vector<T> a(chunk), b(chunk);
    std::vector<std::vector<T>> out(levels.size(), std::vector<T>(chunk));
    std::vector<Worst> mine(levels.size());
    for (uint64_t start = thread * chunk; start < walk.count;
         start += threadCount * chunk) {
      size_t n = std::min<uint64_t>(chunk, walk.count - start);
      for (size_t k = 0; k < n; ++k) {
        a[k] = pickInput<T>(walk, row, start + k, 0);
        b[k] = row.operands == 2 ? pickInput<T>(walk, row, start + k, 1) : 0;
      }
      for (size_t l = 0; l < levels.size(); ++l)
        levels[l].call(function, a.data(), b.data(), out[l].data(), int64_t(n));
      for (size_t k = 0; k < n; ++k) {
        mpfr_set_d(x, a[k], MPFR_RNDN);
        mpfr_set_d(y, b[k], MPFR_RNDN);
        row.exact(exact, x, y);
        for (size_t l = 0; l < levels.size(); ++l) {
          T computed = out[l][k];
          if constexpr (sizeof(T) == 4)
            computed = roundTo(computed, walk.mantissaBits, walk.smallest);
          mine[l].add(
              measure<T>(computed, exact, walk.mantissaBits, walk.smallest),
              a[k], b[k], out[l][k]);
        }
      }
    }
    mpfr_clears(exact, x, y, nullptr);
    mpfr_free_cache();
    std::lock_guard lock(mutex);
    for (size_t l = 0; l < levels.size(); ++l)
      worst[l].add(mine[l].error, mine[l].x, mine[l].y, mine[l].computed);
  };
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < threadCount; ++t)
    threads.emplace_back(work, t);
  for (std::thread &thread : threads)
    thread.join();
  return worst;
}

/// Nanoseconds for each element of a loop over a few thousand.
template <typename T> double time(const Level &level, const Row &row) {
  constexpr size_t n = 4096;
  std::vector<T> a(n), b(n), out(n);
  for (size_t i = 0; i < n; ++i) {
    a[i] = T(0.1 + double(mix(i)) * 0x1p-61);
    b[i] = T(0.1 + double(mix(i + n)) * 0x1p-62);
  }
  std::string function =
      std::string(row.name) + (sizeof(T) == 4 ? "_f32" : "_f64");
  double best = 1e9;
  for (int round = 0; round < 20; ++round) {
    auto start = std::chrono::steady_clock::now();
    level.call(function, a.data(), b.data(), out.data(), n);
    std::chrono::duration<double, std::nano> spent =
        std::chrono::steady_clock::now() - start;
    best = std::min(best, spent.count() / n);
  }
  return best;
}

struct Options {
  unsigned logCount = 20;
  std::vector<std::string> names;
};

Options parse(int count, char **arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    std::string argument = arguments[i];
    if (argument.starts_with("--log2-count="))
      options.logCount = unsigned(std::stoul(argument.substr(13)));
    else if (argument.starts_with("--"))
      fail("no such option: " + argument);
    else
      options.names.push_back(argument);
  }
  return options;
}

std::string format(const char *text, double value) {
  char buffer[64];
  snprintf(buffer, sizeof buffer, text, value);
  return buffer;
}
} // namespace

int main(int count, char **arguments) {
  Options options = parse(count, arguments);
  std::vector<Level> levels = makeLevels();
  std::string table = "| function | type | inputs | bound |";
  std::string line = "|---|---|---|---|";
  for (const Level &level : levels) {
    table += " " + level.name + " | ns |";
    line += "---|---|";
  }
  table += "\n" + line + "\n";
  unsigned failures = 0, passes = 0;
  uint64_t spread = uint64_t(1) << options.logCount;
  const Walk walks[] = {
      {"f16", 10, -14, 1 << 16, 16},
      {"bf16", 7, -126, 1 << 16, 16},
      {"f32", 23, -126, spread, options.logCount},
      {"f64", 52, -1022, std::max<uint64_t>(spread >> 3, 4096),
       options.logCount},
  };
  for (const Row &row : rows) {
    if (!options.names.empty() && !llvm::is_contained(options.names, row.name))
      continue;
    for (const Walk &walk : walks) {
      bool isWide = !strcmp(walk.type, "f64");
      bool isSmall = walk.logCount == 16 && walk.count == 1 << 16 && !isWide &&
                     strcmp(walk.type, "f32") != 0;
      if ((isSmall && row.operands == 2) ||
          (isWide && row.boundF64 == 0 && row.operands == 1))
        continue;
      auto worst = isWide ? judge<double>(levels, row, walk)
                          : judge<float>(levels, row, walk);
      // One rounding more.
      double bound = isWide    ? row.boundF64
                     : isSmall ? std::min(1.0, 0.5 + row.boundF32 / 8)
                               : row.boundF32;
      table += std::string("| ") + row.name + " | " + walk.type + " | " +
               std::to_string(walk.count) + " | " + format("%g", bound) + " |";
      for (size_t l = 0; l < levels.size(); ++l) {
        double error = double(worst[l].error);
        double ns =
            isWide ? time<double>(levels[l], row) : time<float>(levels[l], row);
        table += format(" %.3f |", error) +
                 (isSmall ? std::string(" |") : format(" %.2f |", ns));
        if (error <= bound) {
          ++passes;
          continue;
        }
        ++failures;
        printf("%s %s on %s: %g units at %a, %a: %a\n", row.name, walk.type,
               levels[l].name.c_str(), error, worst[l].x, worst[l].y,
               worst[l].computed);
      }
      table += "\n";
    }
  }
  printf("%s%u within their bounds, %u beyond\n", table.c_str(), passes,
         failures);
  return failures != 0;
}
