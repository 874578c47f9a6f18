#pragma once

#include "dialect/dispatch/machine.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace alula::cpu {

/// What the code generator asks of a machine, besides what all rooms may.
/// Unlike features these mean the same on every instruction set.
struct Facts : dispatch::MachineFacts {
  /// Vectors of so many bytes are as fast as narrower ones.
  int64_t fastVectorBytes = 0;
  /// Iterations of a loop of inlined math functions that are in flight at once:
  /// as many as the registers have room for, with the constants.
  unsigned interleave = 2;
  /// Multiplies and adds with one rounding.
  bool hasFma = false;
  /// Every vector operation may leave lanes out.
  bool hasMasks = false;
  /// Multiplies by powers of two in one instruction.
  bool hasScale = false;
  /// Divides a vector of f32 in the time of ten products of such.
  bool dividesSlowly = false;
  /// Converts between f16 and f32.
  bool hasF16Conversions = false;
  /// LLVM's code for all conversions to f16 and bf16 is good.
  bool hasSmallFloatConversions = false;
  /// LLVM vectorizes the largest of many numbers where NaN wins, or there is
  /// nothing to vectorize with.
  bool hasExtremes = false;
  /// Vectors of f16 are compared, rounded and chosen from as such.
  bool comparesHalves = false;
  /// Vectors of floats become saturated integers as such, or there are none.
  bool saturatesVectors = false;
  /// LLVM selects between vectors of bits as it should.
  bool selectsBits = false;
  /// Multiplies matrices of two rows and two columns, of bf16 and of bytes.
  bool hasMatrixProducts = false;
  /// LLVM's code without optimization is good enough for what only calls.
  bool hasQuickCode = false;
  /// Has instructions for floats; others call functions for them.
  bool hasFloats = true;
  /// There is no runtime for it: code is linked to a place that is known, and
  /// is to be small.
  bool isBare = false;
  /// What is made of it is text, for a compiler that knows the machine.
  bool isText = false;
};

/// A kind of machine to make code for.
struct Machine {
  std::string name; ///< "x86-64-v3", what people call the variant.
  std::string
      target; ///< "x86_64", the artifact's word for the instruction set.
  std::string triple;
  std::string cpu;   ///< What LLVM may use; never more than `features` say.
  std::string extra; ///< What it may use besides, in LLVM's words.
  std::string abi;   ///< LLVM's name of the calling convention; empty: its own.
  std::string layout; ///< Of memory, in LLVM's words; empty: its own.
  std::string tune; ///< What LLVM schedules for; does not limit where it runs.
  /// What the runtime has to find before it runs the code.
  std::vector<std::string> features;
  Facts facts;
  /// Code of a bare machine runs wherever it is put.
  bool isMovable = false;
};

/// The machine that `text` names: `host` or one of the table, such as
/// `x86-64-v3`, `aarch64`, `riscv64`. `host` is the highest level that this
/// machine has, tuned for it.
llvm::Expected<Machine> findMachine(llvm::StringRef text);

/// What is assumed of a processor that nothing is known of but that it is one:
/// the row that all CPUs begin with, and the machine of tools that are not told
/// for which one they work.
const Facts &getPortableFacts();

/// What a file is made for that will be run who knows where: the levels of this
/// machine's instruction set that are common, best first.
std::vector<std::string> listPortable();

/// Further levels of this machine's instruction set, of which each multiplies
/// bytes some four times as fast as the best of `listPortable` that fits the
/// same processors. Other programs don't gain by them.
std::vector<std::string> listByteLevels();

/// Where a machine stands among all: of two with one instruction set, the lower
/// number is the better machine. None if there is no such machine.
std::optional<unsigned> getRank(const Machine &machine);

} // namespace alula::cpu
