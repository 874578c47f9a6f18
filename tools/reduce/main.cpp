// alula-compile-reduce: makes a program smaller while a script still finds in
// it what it looks for.

#include "compiler/driver/program.h"
#include "compiler/driver/registry.h"
#include "compiler/driver/stages_file.h"
#include "dialect/newer/source.h"
#include "tools/flags/listing.h"
#include "tools/options/answer.h"
#include "tools/reduce/reducer.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
namespace cl = llvm::cl;

namespace {
constexpr alula::options::Option rows[] = {
    {"o", "file", "What is reduced", "where to write, - is stdout"},
    {"test", "script", "What is reduced",
     "gets a program's file; exits with 0 if there is nothing in it that is "
     "looked for, with anything else if there is"},
};

struct Options {
  cl::opt<std::string> input{cl::Positional, cl::init("-"),
                             cl::desc("<input file>")};
  alula::tools::Own<std::string> output{rows[0], cl::init("-")};
  alula::tools::Own<std::string> test{rows[1]};
};

alula::options::Tool makeTool() {
  alula::options::Tool tool = {
      "alula-compile-reduce",
      {"FILE.mlir --test=SCRIPT -o SMALL.mlir"},
      "make a StableHLO program smaller",
      "Makes a program smaller as long as a script still finds in it what it\n"
      "looks for.",
      "",
      {std::begin(rows), std::end(rows)},
      {},
      {},
      {}};
  tool.llvm = LLVM_VERSION_STRING;
  tool.hasHiddenHelp = true;
  return tool;
}

int fail(const llvm::Twine &text, int status = 1) {
  llvm::errs() << "alula-compile-reduce: error: " << text << "\n";
  return status;
}
} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  Options options;
  const alula::options::Tool tool = makeTool();
  if (auto status = alula::options::answer(tool, argc, argv))
    return *status;
  if (!alula::tools::parseCommandLine(tool, {argv, argv + argc}))
    return alula::options::WrongUsage;
  if (options.test.empty())
    return fail("no --test is given; --help explains",
                alula::options::WrongUsage);
  llvm::SmallString<128> test(options.test.getValue());
  if (!llvm::sys::fs::can_execute(test))
    return fail("--test: can't be run: '" + test + "'", 2);
  llvm::sys::fs::make_absolute(test);

  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(options.input);
  if (!buffer)
    return fail("'" + options.input + "': " + buffer.getError().message(),
                alula::options::NoFile);
  DialectRegistry registry;
  alula::driver::registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler printer(sources, &context);
  auto module = alula::driver::readProgram(std::move(*buffer), &context);
  if (!module)
    return 1;

  llvm::SmallString<128> file;
  if (std::error_code code =
          llvm::sys::fs::createTemporaryFile("alula-reduce", "mlir", file))
    return fail("can't make a file: " + code.message());
  llvm::FileRemover remover(file);
  std::string problem;
  unsigned tries = 0;
  auto isInteresting = [&](ModuleOp each) {
    if (!problem.empty())
      return false;
    std::error_code code;
    llvm::raw_fd_ostream os(file, code);
    if (!code) {
      alula::newer::printOperation(each, os,
                                   OpPrintingFlags().enableDebugInfo());
      os.close();
      code = os.error();
      os.clear_error();
    }
    if (code) {
      problem = ("can't write '" + file + "': " + code.message()).str();
      return false;
    }
    ++tries;
    // A crash of the script is something that it has found.
    return llvm::sys::ExecuteAndWait(test, {test, file}, std::nullopt, {}, 0, 0,
                                     &problem) != 0 &&
           problem.empty();
  };
  if (!isInteresting(*module))
    return fail(problem.empty() ? "--test finds nothing in the program as it is"
                                : problem);
  module = alula::reduce::reduceProgram(std::move(module), isInteresting);
  if (!problem.empty())
    return fail(problem);
  if (llvm::Error error =
          alula::driver::writeWhole(options.output, [&](llvm::raw_ostream &os) {
            alula::newer::printOperation(*module, os);
          }))
    return fail("can't write " + toString(std::move(error)),
                alula::options::NoFile);
  llvm::errs() << "alula-compile-reduce: " << tries << " programs tried\n";
  return 0;
}
