// The batch mode that tests of whole corpora use: a process for each program
// would spend its time starting.

#include "tools/opt/round_trip.h"

#include "compiler/driver/program.h"
#include "dialect/newer/source.h"
#include "dialect/vhlo/writer.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using alula::vhlo::Version;

namespace {
/// What a job's answer says when it fails.
struct Problem {
  std::string step, message;
};

class RoundTrip {
public:
  explicit RoundTrip(const DialectRegistry &registry)
      : context(registry, MLIRContext::Threading::DISABLED),
        handler(&context, [this](Diagnostic &diagnostic) {
          if (firstMessage.empty())
            firstMessage = diagnostic.str();
          return success();
        }) {}

  /// The lowest version, or the problem.
  std::optional<Problem> run(StringRef file, StringRef prefix,
                             StringRef version, std::string &lowest) {
    std::string error;
    auto buffer = openInputFile(file, &error);
    if (!buffer)
      return Problem{"open", error};
    OwningOpRef<ModuleOp> program =
        alula::driver::readProgram(std::move(buffer), &context);
    if (!program)
      return fail("read");

    if (auto problem = throughText(*program))
      return problem;
    auto own = Version::parse(version.str());
    if (!own)
      return Problem{"version", "no such version: " + version.str()};
    // A portable artifact has a value for every attribute, so what comes back
    // lacks those that text spells out although they are the default. From
    // then on nothing may change.
    std::string ignored;
    OwningOpRef<ModuleOp> normal;
    if (auto problem = readBack(*program, Version::current(), ignored, normal))
      return problem;
    FailureOr<Version> least =
        alula::vhlo::lowestVersion(*program, /*allowOtherDialects=*/true);
    if (failed(least))
      return fail("lowest");
    Version first = std::max(*least, Version{1, 0, 0});
    lowest = first.str();
    if (auto problem = throughPortable(*normal, first, prefix + ".lowest"))
      return problem;
    if (auto problem =
            throughPortable(*normal, std::max(first, *own), prefix + ".own"))
      return problem;
    return throughPortable(*normal, Version::current(), "");
  }

private:
  Problem fail(StringRef step) { return {step.str(), firstMessage}; }

  std::optional<Problem> compare(ModuleOp a, ModuleOp b, StringRef step,
                                 OperationEquivalence::Flags flags) {
    if (OperationEquivalence::isEquivalentTo(a, b, flags))
      return std::nullopt;
    return Problem{step.str(), "not the same program"};
  }

  std::optional<Problem> throughText(ModuleOp program) {
    // Compact forms have no place for the locations inside a region, the
    // generic form does.
    OpPrintingFlags flags = OpPrintingFlags().enableDebugInfo();
    if (auto problem =
            throughText(program, flags, OperationEquivalence::IgnoreLocations))
      return problem;
    return throughText(program, flags.printGenericOpForm(),
                       OperationEquivalence::None);
  }

  std::optional<Problem> throughText(ModuleOp program, OpPrintingFlags flags,
                                     OperationEquivalence::Flags equality) {
    std::string text;
    llvm::raw_string_ostream os(text);
    alula::newer::printOperation(program, os, flags);
    OwningOpRef<ModuleOp> again =
        alula::newer::parseSource(text, &context, "printed");
    if (!again)
      return fail("parse again");
    return compare(program, *again, "parse again", equality);
  }

  std::optional<Problem> readBack(ModuleOp program, Version version,
                                  std::string &bytes,
                                  OwningOpRef<ModuleOp> &again) {
    alula::vhlo::WriteOptions options{version, /*allowOtherDialects=*/true};
    if (failed(alula::vhlo::writePortable(program, options, bytes)))
      return fail("write " + version.str());
    again = alula::driver::readProgram(
        llvm::MemoryBuffer::getMemBufferCopy(bytes, "written"), &context);
    if (!again)
      return fail("read " + version.str());
    return std::nullopt;
  }

  std::optional<Problem> throughPortable(ModuleOp program, Version version,
                                         const Twine &path) {
    std::string bytes, name = path.str();
    OwningOpRef<ModuleOp> again;
    if (auto problem = readBack(program, version, bytes, again))
      return problem;
    if (!name.empty()) {
      std::error_code error;
      llvm::raw_fd_ostream(name, error) << bytes;
      if (error)
        return Problem{"write " + version.str(), error.message()};
    }
    return compare(program, *again, "read " + version.str(),
                   OperationEquivalence::None);
  }

  MLIRContext context;
  std::string firstMessage;
  ScopedDiagnosticHandler handler;
};

/// A message on one line, without tabs.
std::string flatten(StringRef text) {
  std::string flat;
  for (char c : text)
    flat += llvm::isPrint(c) ? c : ' ';
  return flat;
}
} // namespace

int alula::opt::runRoundTrips(StringRef listFile,
                              const DialectRegistry &registry) {
  std::string error;
  auto list = openInputFile(listFile, &error);
  if (!list) {
    llvm::errs() << "alula-opt: " << error << "\n";
    return 1;
  }
  SmallVector<StringRef> lines;
  list->getBuffer().split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    SmallVector<StringRef> fields;
    line.split(fields, '\t');
    if (fields.size() != 3) {
      llvm::errs() << "alula-opt: a job is FILE, PREFIX and VERSION: " << line
                   << "\n";
      return 1;
    }
    std::string lowest;
    auto problem =
        RoundTrip(registry).run(fields[0], fields[1], fields[2], lowest);
    if (problem)
      llvm::outs() << "fail\t" << problem->step << "\t"
                   << flatten(problem->message) << "\n";
    else
      llvm::outs() << "ok\t" << lowest << "\n";
    llvm::outs().flush();
  }
  return 0;
}
