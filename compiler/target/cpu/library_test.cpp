// Kernels given as LLVM text: what they call is found in the library, and
// their images stand alone.

#include "compiler/target/cpu/library.h"
#include "compiler/target/cpu/link_image.h"
#include "compiler/target/cpu/object_code.h"
#include "compiler/target/cpu/verify_image.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <random>
#include <unistd.h>

using namespace alula::cpu;

namespace {
/// out[i] = exp(in[i]), eight at a time as far as the compiler likes.
constexpr const char *loopOverExp = R"(
declare float @alula_exp_f32(float)
define void @kernel(ptr noalias %in, ptr noalias %out, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %from = getelementptr float, ptr %in, i64 %i
  %x = load float, ptr %from
  %y = call float @alula_exp_f32(float %x)
  %to = getelementptr float, ptr %out, i64 %i
  store float %y, ptr %to
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
})";

/// out[i][j] = bf16(in[i][j]), 8 times 128 of them.
constexpr const char *smallNest = R"(
define void @kernel(ptr noalias %in, ptr noalias %out) {
entry:
  br label %rows
rows:
  %i = phi i64 [ 0, %entry ], [ %i.next, %row.done ]
  br label %columns
columns:
  %j = phi i64 [ 0, %rows ], [ %j.next, %columns ]
  %row = mul nuw nsw i64 %i, 128
  %at = add nuw nsw i64 %row, %j
  %from = getelementptr float, ptr %in, i64 %at
  %x = load float, ptr %from
  %y = fptrunc float %x to bfloat
  %to = getelementptr bfloat, ptr %out, i64 %at
  store bfloat %y, ptr %to
  %j.next = add nuw nsw i64 %j, 1
  %more = icmp ult i64 %j.next, 128
  br i1 %more, label %columns, label %row.done
row.done:
  %i.next = add nuw nsw i64 %i, 1
  %more.rows = icmp ult i64 %i.next, 8
  br i1 %more.rows, label %rows, label %done
done:
  ret void
})";

/// out[i] = bf16(f16 in[i])
constexpr const char *loopOverHalves = R"(
define void @kernel(ptr noalias %in, ptr noalias %out, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %from = getelementptr half, ptr %in, i64 %i
  %half = load half, ptr %from
  %x = fpext half %half to double
  %again = fptrunc double %x to half
  %y = fpext half %again to float
  %brain = fptrunc float %y to bfloat
  %z = fpext bfloat %brain to float
  %last = fptrunc float %z to bfloat
  %to = getelementptr bfloat, ptr %out, i64 %i
  store bfloat %last, ptr %to
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
})";

constexpr const char *callsMemory = R"(
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
define void @kernel(ptr %out, i64 %n) {
  call void @llvm.memset.p0.i64(ptr %out, i8 7, i64 %n, i1 false)
  ret void
})";

constexpr const char *callsTransform = R"(
declare void @alula_fft_f32(ptr, ptr, ptr, i64, ptr)
define void @kernel(ptr %p, i64 %n) {
  call void @alula_fft_f32(ptr %p, ptr %p, ptr %p, i64 %n, ptr %p)
  ret void
})";

/// out = min(in, 4), as the optimizer leaves it.
constexpr const char *lesserHalves = R"(
define void @kernel(ptr noalias %in, ptr noalias %out) {
  %x = load <32 x half>, ptr %in
  %less = fcmp olt <32 x half> %x, splat (half 4.0)
  %y = select <32 x i1> %less, <32 x half> %x, <32 x half> splat (half 4.0)
  store <32 x half> %y, ptr %out
  ret void
})";

constexpr const char *callsNothingKnown = R"(
declare float @alula_no_such_function(float)
define float @kernel(float %x) {
  %y = call float @alula_no_such_function(float %x)
  ret float %y
})";

const char *const everyMachine[] = {"x86-64",    "x86-64-v2", "x86-64-v3",
                                    "x86-64-v4", "aarch64",   "riscv64"};

llvm::Expected<std::string> compile(const char *text, const Machine &machine) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(text, diagnostic, context);
  if (!module)
    return llvm::createStringError(diagnostic.getMessage());
  return generateObject(*module, machine);
}

/// Functions of numbers that LLVM calls by name where there is no instruction.
std::string makeBuiltinCalls() {
  std::string ir;
  struct Type {
    const char *ir, *suffix;
  };
  for (auto [type, suffix] : {Type{"float", "f32"}, Type{"double", "f64"}}) {
    std::string t = type, s = suffix;
    for (std::string name :
         {"floor", "ceil", "trunc", "rint", "nearbyint", "round", "roundeven"})
      ir += "declare " + t + " @llvm." + name + "." + s + "(" + t +
            ")\ndefine " + t + " @" + name + "_" + s + "(" + t +
            " %x) {\n  %r = call " + t + " @llvm." + name + "." + s + "(" + t +
            " %x)\n  ret " + t + " %r\n}\n";
    ir += "declare " + t + " @llvm.fma." + s + "(" + t + ", " + t + ", " + t +
          ")\ndefine " + t + " @fma_" + s + "(" + t + " %x, " + t + " %y, " +
          t + " %z) {\n  %r = call " + t + " @llvm.fma." + s + "(" + t +
          " %x, " + t + " %y, " + t + " %z)\n  ret " + t + " %r\n}\n";
    ir += "define " + t + " @rem_" + s + "(" + t + " %x, " + t +
          " %y) {\n  %r = frem " + t + " %x, %y\n  ret " + t + " %r\n}\n";
    for (std::string small : {"half", "bfloat"})
      ir += "define i32 @" + small + "_" + s + "(" + t +
            " %x) {\n  %h = fptrunc " + t + " %x to " + small +
            "\n  %b = bitcast " + small +
            " %h to i16\n  %r = zext i16 %b to i32\n  ret i32 %r\n}\n";
  }
  return ir + R"(
define float @widen(i32 %x) {
  %c = trunc i32 %x to i16
  %h = bitcast i16 %c to half
  %r = fpext half %h to float
  ret float %r
}
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
define void @copy(ptr %to, ptr %from, i64 %n) {
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %n, i1 false)
  ret void
}
define void @move(ptr %to, ptr %from, i64 %n) {
  call void @llvm.memmove.p0.p0.i64(ptr %to, ptr %from, i64 %n, i1 false)
  ret void
})";
}

std::vector<std::string> getBuiltinEntries() {
  std::vector<std::string> entries = {"widen", "copy", "move"};
  for (std::string suffix : {"_f32", "_f64"})
    for (std::string name :
         {"floor", "ceil", "trunc", "rint", "nearbyint", "round", "roundeven",
          "fma", "rem", "half", "bfloat"})
      entries.push_back(name + suffix);
  return entries;
}

llvm::Expected<std::string> makeBuiltinImage(const Machine &machine);

std::string toText(llvm::Error error) {
  return llvm::toString(std::move(error));
}
} // namespace

TEST(Library, InlinesWhatKernelsCall) {
  for (const char *name : everyMachine) {
    Machine machine = llvm::cantFail(findMachine(name));
    auto object = compile(loopOverExp, machine);
    ASSERT_TRUE(bool(object)) << toText(object.takeError());
    auto undefined = findUndefined(*object);
    ASSERT_TRUE(bool(undefined)) << toText(undefined.takeError());
    EXPECT_TRUE(undefined->empty()) << name;
    auto image = linkImage({*object}, {"kernel"}, machine);
    EXPECT_TRUE(bool(image)) << toText(image.takeError());
  }
}

namespace {
/// Counts the loops that LLVM says it vectorized.
struct VectorizedLoops : llvm::DiagnosticHandler {
  unsigned &count;
  explicit VectorizedLoops(unsigned &count) : count(count) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    count += info.getKind() == llvm::DK_OptimizationRemark;
    return true;
  }
  bool isPassedOptRemarkEnabled(llvm::StringRef pass) const override {
    return pass == "loop-vectorize";
  }
  bool isAnyRemarkEnabled() const override { return true; }
};

bool vectorizes(const std::string &function, const std::string &from,
                const std::string &to, const Machine &machine) {
  std::string ir = loopOverExp;
  auto replace = [&](const std::string &old, const std::string &text) {
    for (size_t at = 0; (at = ir.find(old, at)) != std::string::npos;
         at += text.size())
      ir.replace(at, old.size(), text);
  };
  replace("float", "FROM");
  replace("declare FROM @alula_exp_f32", "declare TO @alula_exp_f32");
  replace("call FROM", "call TO");
  replace("store FROM", "store TO");
  replace("getelementptr FROM, ptr %out", "getelementptr TO, ptr %out");
  replace("alula_exp_f32", "alula_" + function);
  replace("FROM", from);
  replace("TO", to);
  unsigned count = 0;
  llvm::LLVMContext context;
  context.setDiagnosticHandler(std::make_unique<VectorizedLoops>(count));
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(ir, diagnostic, context);
  EXPECT_TRUE(bool(module)) << diagnostic.getMessage().str();
  auto object = generateObject(*module, machine);
  EXPECT_TRUE(bool(object)) << toText(object.takeError());
  return count != 0;
}
} // namespace

TEST(Library, LetsLoopsVectorize) {
  for (const char *name : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    Machine machine = llvm::cantFail(findMachine(name));
    for (const char *function :
         {"exp", "expm1", "log", "log1p", "logistic", "tanh", "sin", "cos",
          "tan", "sqrt", "rsqrt", "cbrt", "erf", "erfc"})
      EXPECT_TRUE(
          vectorizes(std::string(function) + "_f32", "float", "float", machine))
          << function << " on " << name;
    for (const char *function : {"exp", "expm1", "log", "log1p", "logistic",
                                 "tanh", "sqrt", "rsqrt", "cbrt"})
      EXPECT_TRUE(vectorizes(std::string(function) + "_f64", "double", "double",
                             machine))
          << function << " of f64 on " << name;
    for (const char *type :
         {"f16", "bf16", "f8e4m3fn", "f8e5m2", "f8e8m0fnu", "f4e2m1fn"}) {
      EXPECT_TRUE(
          vectorizes(std::string("encode_") + type, "float", "i32", machine))
          << type << " on " << name;
      EXPECT_TRUE(
          vectorizes(std::string("decode_") + type, "i32", "float", machine))
          << type << " on " << name;
    }
  }
}

namespace {
llvm::Expected<std::string> makeForm(const std::string &wanted,
                                     const std::string &ir,
                                     const Machine &machine) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(ir, diagnostic, context);
  std::string found;
  auto object = generateObject(
      *module, machine, {}, [&](llvm::StringRef form, llvm::StringRef text) {
        if (form == wanted)
          found = text.str();
      });
  if (!object)
    return object.takeError();
  return found;
}
} // namespace

TEST(Library, ScalesByOneInstructionWhereThereIsOne) {
  std::string ofDoubles = loopOverExp;
  for (size_t at; (at = ofDoubles.find("float")) != std::string::npos;)
    ofDoubles.replace(at, 5, "double");
  ofDoubles.replace(ofDoubles.find("exp_f32"), 7, "exp_f64");
  ofDoubles.replace(ofDoubles.find("exp_f32"), 7, "exp_f64");
  for (const char *name : everyMachine) {
    Machine machine = llvm::cantFail(findMachine(name));
    bool hasOne = llvm::is_contained(machine.features, "avx512vl");
    for (const std::string &ir : {std::string(loopOverExp), ofDoubles}) {
      auto assembly = makeForm(".s", ir, machine);
      ASSERT_TRUE(bool(assembly)) << toText(assembly.takeError());
      llvm::StringRef text = *assembly;
      const char *suffix = ir == ofDoubles ? "d" : "s";
      // In the vectors and in what is left over.
      EXPECT_EQ(text.contains(std::string("vscalefp") + suffix),
                hasOne)
          << name;
      EXPECT_EQ(text.contains(std::string("vscalefs") + suffix), hasOne)
          << name;
      EXPECT_FALSE(text.contains("alula_scale")) << name;
    }
  }
}

TEST(Library, LoopsHaveTwoChainsOfInstructions) {
  Machine machine = llvm::cantFail(findMachine("x86-64-v3"));
  auto optimized = makeForm(".opt.ll", loopOverExp, machine);
  ASSERT_TRUE(bool(optimized)) << toText(optimized.takeError());
  EXPECT_EQ(llvm::StringRef(*optimized).count("load <8 x float>"), 2u);
}

TEST(SmallFloats, AreConvertedWithoutCalls) {
  for (const char *name : everyMachine) {
    Machine machine = llvm::cantFail(findMachine(name));
    auto object = compile(loopOverHalves, machine);
    ASSERT_TRUE(bool(object)) << toText(object.takeError());
    auto undefined = findUndefined(*object);
    ASSERT_TRUE(bool(undefined)) << toText(undefined.takeError());
    EXPECT_TRUE(undefined->empty()) << name << ": " << undefined->front();
  }
}

TEST(Loops, OfANestAreNotAllUnrolled) {
  for (const char *name : everyMachine) {
    Machine machine = llvm::cantFail(findMachine(name));
    auto object = compile(smallNest, machine);
    ASSERT_TRUE(bool(object)) << toText(object.takeError());
    EXPECT_LT(object->size(), 3500u) << name;
  }
}

TEST(SmallFloats, AreComparedInVectors) {
  Machine machine = llvm::cantFail(findMachine("x86-64-v4"));
  auto object = compile(lesserHalves, machine);
  ASSERT_TRUE(bool(object)) << toText(object.takeError());
  // Number by number it is more than twice as much.
  EXPECT_LT(object->size(), 1200u);
}

TEST(Library, GivesTheSameBytesTwice) {
  Machine machine = llvm::cantFail(findMachine("x86-64-v3"));
  EXPECT_EQ(llvm::cantFail(compile(loopOverExp, machine)),
            llvm::cantFail(compile(loopOverExp, machine)));
}

TEST(Routines, AreObjectsOfTheirOwn) {
  for (const char *name : everyMachine) {
    Machine machine = llvm::cantFail(findMachine(name));
    auto object = compile(callsTransform, machine);
    ASSERT_TRUE(bool(object)) << toText(object.takeError());
    EXPECT_EQ(llvm::cantFail(findUndefined(*object)),
              std::vector<std::string>{"alula_fft_f32"});
    auto routine = getRoutineObject(machine, "alula_fft_f32");
    ASSERT_TRUE(bool(routine)) << toText(routine.takeError());
    auto builtins =
        getBuiltinsObject(machine, llvm::cantFail(findUndefined(*routine)));
    ASSERT_TRUE(bool(builtins)) << toText(builtins.takeError());
    std::vector<std::string> objects = {*object, *routine};
    if (!builtins->empty())
      objects.push_back(*builtins);
    auto image = linkImage(objects, {"kernel"}, machine);
    ASSERT_TRUE(bool(image)) << name << ": " << toText(image.takeError());
  }
}

namespace {
/// Whether code has an instruction of AVX-512 with this prefix and this code in
/// the map 0F38.
bool hasInstruction(llvm::StringRef code, unsigned prefix, unsigned number) {
  auto at = [&](size_t i) { return static_cast<unsigned char>(code[i]); };
  for (size_t i = 0; i + 5 < code.size(); ++i)
    if (at(i) == 0x62 && (at(i + 1) & 7) == 2 &&
        (at(i + 2) & 0x87) == (4 | prefix) && at(i + 4) == number)
      return true;
  return false;
}
} // namespace

TEST(Routines, HaveDotInstructionsWhereTheMachineDoes) {
  unsigned count = 0;
  for (const char *name :
       {"x86-64-v4-bf16", "x86-64-v4-vnni", "x86-64-v4", "x86-64-v3",
        "x86-64-v2", "x86-64", "aarch64", "riscv64"}) {
    Machine machine = llvm::cantFail(findMachine(name));
    auto has = [&](const char *feature) {
      return llvm::is_contained(machine.features, feature);
    };
    auto pairs = getRoutineObject(machine, "alula_product_bf16");
    ASSERT_TRUE(bool(pairs)) << toText(pairs.takeError());
    ASSERT_NE(*pairs, "");
    EXPECT_EQ(hasInstruction(*pairs, 2, 0x52), has("avx512bf16")) << name;
    for (const char *routine : {"alula_product_i8", "alula_product_ui8"}) {
      auto fours = getRoutineObject(machine, routine);
      ASSERT_TRUE(bool(fours)) << toText(fours.takeError());
      ASSERT_NE(*fours, "");
      EXPECT_EQ(hasInstruction(*fours, 1, 0x50), has("avx512vnni")) << name;
      count += has("avx512vnni");
    }
  }
  EXPECT_EQ(count, 4u);
}

TEST(Routines, AreNoScalarFunctions) {
  Machine machine = llvm::cantFail(findMachine("x86-64-v3"));
  EXPECT_EQ(llvm::cantFail(getRoutineObject(machine, "alula_exp_f32")), "");
  EXPECT_EQ(llvm::cantFail(getRoutineObject(machine, "alula_no_such")), "");
}

TEST(Builtins, AreLinkedWithoutWhatIsNotCalled) {
  for (const char *name : everyMachine) {
    Machine machine = llvm::cantFail(findMachine(name));
    auto object = compile(callsMemory, machine);
    ASSERT_TRUE(bool(object)) << toText(object.takeError());
    auto undefined = findUndefined(*object);
    ASSERT_TRUE(bool(undefined)) << toText(undefined.takeError());
    EXPECT_EQ(*undefined, std::vector<std::string>{"memset"}) << name;
    auto builtins = getBuiltinsObject(machine, *undefined);
    ASSERT_TRUE(bool(builtins)) << toText(builtins.takeError());
    auto image = linkImage({*object, *builtins}, {"kernel"}, machine);
    ASSERT_TRUE(bool(image)) << name << ": " << toText(image.takeError());
    EXPECT_LT(image->size(), 4096u) << name;
  }
}

namespace {
llvm::Expected<std::string> makeBuiltinImage(const Machine &machine) {
  auto object = compile(makeBuiltinCalls().c_str(), machine);
  if (!object)
    return object.takeError();
  auto undefined = findUndefined(*object);
  if (!undefined)
    return undefined.takeError();
  auto builtins = getBuiltinsObject(machine, *undefined);
  if (!builtins)
    return builtins.takeError();
  return linkImage({*object, *builtins}, getBuiltinEntries(), machine);
}

TEST(Image, IsWhatArtifactsCarry) {
  auto image = makeBuiltinImage(llvm::cantFail(findMachine("x86-64")));
  ASSERT_TRUE(bool(image)) << toText(image.takeError());
  std::vector<std::string> entries = getBuiltinEntries();
  EXPECT_EQ(toText(verifyImage(*image, entries)), "");
  EXPECT_EQ(toText(verifyImage(*image, {"other"})),
            "image of kernels: has no function 'other'");
  EXPECT_NE(toText(verifyImage("garbage", entries)), "");
  EXPECT_NE(toText(verifyImage(image->substr(0, 100), entries)), "");

  using namespace llvm::ELF;
  auto *header = reinterpret_cast<Elf64_Ehdr *>(image->data());
  auto *segments = reinterpret_cast<Elf64_Phdr *>(image->data() + header->e_phoff);
  auto change = [&](auto isWanted, auto &&apply) {
    std::string copy = *image;
    auto *changed = reinterpret_cast<Elf64_Phdr *>(copy.data() + header->e_phoff);
    for (unsigned i = 0; i < header->e_phnum; ++i)
      if (isWanted(segments[i]))
        apply(copy, changed[i]);
    return toText(verifyImage(copy, entries));
  };
  auto isDynamic = [](Elf64_Phdr &s) { return s.p_type == PT_DYNAMIC; };
  EXPECT_EQ(change([](Elf64_Phdr &s) { return s.p_type == PT_LOAD; },
                   [](std::string &, Elf64_Phdr &s) {
                     s.p_flags = PF_R | PF_W | PF_X;
                   }),
            "image of kernels: has memory that is written and run");
  EXPECT_EQ(change(isDynamic,
                   [](std::string &, Elf64_Phdr &s) { s.p_type = PT_INTERP; }),
            "image of kernels: wants a loader of its own");
  EXPECT_EQ(change(isDynamic,
                   [](std::string &copy, Elf64_Phdr &s) {
                     // The tag of the first entry.
                     Elf64_Sxword needed = DT_NEEDED;
                     memcpy(copy.data() + s.p_offset, &needed, sizeof needed);
                   }),
            "image of kernels: needs another library");

  std::string missing = *image;
  auto *sections =
      reinterpret_cast<Elf64_Shdr *>(missing.data() + header->e_shoff);
  for (unsigned i = 0; i < header->e_shnum; ++i)
    if (sections[i].sh_type == SHT_DYNSYM)
      reinterpret_cast<Elf64_Sym *>(missing.data() + sections[i].sh_offset)[1]
          .st_shndx = SHN_UNDEF;
  EXPECT_EQ(toText(verifyImage(missing, entries)).rfind("image of kernels: needs '", 0),
            0u);
}

/// The builtins as kernels of the oldest machine call them.
class OldMachine : public ::testing::Test {
protected:
  void SetUp() override {
#ifndef __x86_64__
    GTEST_SKIP() << "the images are for x86-64";
#endif
    auto image = makeBuiltinImage(llvm::cantFail(findMachine("x86-64")));
    ASSERT_TRUE(bool(image)) << toText(image.takeError());
    std::string path = ::testing::TempDir() + "alula-builtins-XXXXXX";
    int file = mkstemp(path.data());
    ASSERT_EQ(write(file, image->data(), image->size()),
              ssize_t(image->size()));
    close(file);
    handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    unlink(path.c_str());
    ASSERT_TRUE(handle) << dlerror();
  }
  void TearDown() override {
    if (handle)
      dlclose(handle);
  }
  template <typename F> F *find(const std::string &name) {
    return reinterpret_cast<F *>(dlsym(handle, name.c_str()));
  }
  void *handle = nullptr;
  std::mt19937_64 random;

  /// Any code, or a number of ordinary size, or next to another one's size.
  double draw(double near = 1) {
    uint64_t bits = random();
    switch (bits % 3) {
    case 0:
      return std::bit_cast<double>(random());
    case 1:
      return std::ldexp(double(int64_t(random())) * 0x1p-60,
                        int(random() % 60) - 30);
    default:
      return near * (double(int64_t(random())) * 0x1p-62);
    }
  }
};

template <typename T> bool isSame(T a, T b) {
  return (std::isnan(a) && std::isnan(b)) ||
         (a == b && std::signbit(a) == std::signbit(b));
}
} // namespace

TEST(Builtins, HoldAllThatIsCalled) {
  for (const char *name : everyMachine) {
    auto image = makeBuiltinImage(llvm::cantFail(findMachine(name)));
    EXPECT_TRUE(bool(image)) << name << ": " << toText(image.takeError());
  }
}

TEST_F(OldMachine, RoundsToIntegers) {
  using F64 = double(double);
  using F32 = float(float);
  struct {
    const char *name;
    F64 *expected64;
    F32 *expected32;
  } rows[] = {{"floor", std::floor, std::floor},
              {"ceil", std::ceil, std::ceil},
              {"trunc", std::trunc, std::trunc},
              {"rint", std::rint, std::rint},
              {"nearbyint", std::nearbyint, std::nearbyint},
              {"round", std::round, std::round},
              {"roundeven", std::nearbyint, std::nearbyint}};
  std::vector<double> inputs = {
      0.0,       -0.0,      0.5,          -0.5,
      1.5,       2.5,       -2.5,         INFINITY,
      -INFINITY, NAN,       0x1p52 + 0.5, 0x1.fffffffffffffp51,
      0x1p23,    8388607.5, -8388607.5,   0.49999999999999994};
  for (int i = 0; i < 20000; ++i)
    inputs.push_back(draw());
  for (auto [name, expected64, expected32] : rows) {
    auto *f64 = find<F64>(std::string(name) + "_f64");
    auto *f32 = find<F32>(std::string(name) + "_f32");
    for (double x : inputs) {
      ASSERT_TRUE(isSame(f64(x), expected64(x))) << name << " of " << x;
      ASSERT_TRUE(isSame(f32(float(x)), expected32(float(x))))
          << name << " of " << float(x);
    }
  }
}

TEST_F(OldMachine, MultipliesAndAddsWithOneRounding) {
  auto *f64 = find<double(double, double, double)>("fma_f64");
  auto *f32 = find<float(float, float, float)>("fma_f32");
  for (int i = 0; i < 300000; ++i) {
    double x = draw(), y = draw(), z = draw(x * y);
    // Half of the time what is left of the product.
    if (i & 1)
      z = -x * y * (1 + double(random() % 5 - 2) * 0x1p-52);
    ASSERT_TRUE(isSame(f64(x, y, z), std::fma(x, y, z)))
        << std::hexfloat << x << " " << y << " " << z << ": " << f64(x, y, z)
        << " for " << std::fma(x, y, z);
    float a = float(x), b = float(y), c = float(z);
    ASSERT_TRUE(isSame(f32(a, b, c), std::fma(a, b, c)))
        << std::hexfloat << a << " " << b << " " << c;
  }
  // Results that are denormal, on a tie, and just beyond the largest.
  for (int i = 0; i < 300000; ++i) {
    double x = std::ldexp(double(random() % 64 + 1), -540);
    double y = std::ldexp(double(int64_t(random())), -600 + int(random() % 80));
    double z = std::bit_cast<double>(random() >> (10 + random() % 50));
    ASSERT_TRUE(isSame(f64(x, y, z), std::fma(x, y, z)))
        << std::hexfloat << x << " " << y << " " << z << ": " << f64(x, y, z)
        << " for " << std::fma(x, y, z);
    x = std::ldexp(x, 1000), y = std::ldexp(y, 1080), z = draw(0x1p1023);
    ASSERT_TRUE(isSame(f64(x, y, z), std::fma(x, y, z)))
        << std::hexfloat << x << " " << y << " " << z;
  }
}

TEST_F(OldMachine, HasRemaindersWithoutError) {
  auto *f64 = find<double(double, double)>("rem_f64");
  auto *f32 = find<float(float, float)>("rem_f32");
  for (int i = 0; i < 100000; ++i) {
    double x = draw(), y = draw(x);
    ASSERT_TRUE(isSame(f64(x, y), std::fmod(x, y))) << x << " " << y;
    ASSERT_TRUE(isSame(f32(float(x), float(y)), std::fmod(float(x), float(y))))
        << x << " " << y;
  }
}

TEST_F(OldMachine, RoundsToHalvesOnce) {
  auto *f64 = find<int(double)>("half_f64");
  auto *f32 = find<int(float)>("half_f32");
  auto *widen = find<float(int)>("widen");
  auto *brain64 = find<int(double)>("bfloat_f64");
  auto *brain32 = find<int(float)>("bfloat_f32");
  for (int code = 0; code < 1 << 16; ++code) {
    float x = widen(code);
    if (std::isnan(x))
      continue;
    ASSERT_EQ(f32(x), code);
    ASSERT_EQ(f64(x), code);
    float brain = std::bit_cast<float>(uint32_t(code) << 16);
    if (std::isnan(brain))
      continue;
    ASSERT_EQ(brain32(brain), code);
    ASSERT_EQ(brain64(brain), code);
  }
  // Next to the middle of 1 and the number after it: f32 is blind there.
  EXPECT_EQ(f64(1 + 0x1p-11), 0x3c00);
  EXPECT_EQ(f64(1 + 0x1p-11 + 0x1p-40), 0x3c01);
  EXPECT_EQ(f64(0x1p-25), 0);
  EXPECT_EQ(f64(0x1p-25 + 0x1p-70), 1);
  EXPECT_EQ(f64(65519.99), 0x7bff);
  EXPECT_EQ(f64(65520), 0x7c00);
  EXPECT_EQ(brain64(1 + 0x1p-8 + 0x1p-40), 0x3f81);
  EXPECT_EQ(brain64(1 + 0x1p-8), 0x3f80);
}

TEST_F(OldMachine, MovesMemory) {
  auto *copy = find<void(char *, const char *, int64_t)>("copy");
  auto *move = find<void(char *, const char *, int64_t)>("move");
  for (int64_t size : {0, 1, 7, 31, 64, 1000}) {
    for (int64_t shift : {-9, -1, 0, 1, 9}) {
      std::vector<char> bytes(1100), expected;
      for (char &byte : bytes)
        byte = char(random());
      expected = bytes;
      std::memmove(&expected[50 + shift], &expected[50], size_t(size));
      std::vector<char> copied(bytes.size());
      copy(copied.data(), bytes.data(), int64_t(bytes.size()));
      ASSERT_EQ(copied, bytes);
      move(&bytes[size_t(50 + shift)], &bytes[50], size);
      ASSERT_EQ(bytes, expected);
    }
  }
}

TEST(Library, NamesAFunctionThatItLacks) {
  Machine machine = llvm::cantFail(findMachine("x86-64-v2"));
  auto object = compile(callsNothingKnown, machine);
  ASSERT_TRUE(bool(object)) << toText(object.takeError());
  auto image = linkImage({*object}, {"kernel"}, machine);
  ASSERT_FALSE(bool(image));
  EXPECT_NE(toText(image.takeError()).find("alula_no_such_function"),
            std::string::npos);
}
