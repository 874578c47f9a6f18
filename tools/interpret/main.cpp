// alula-interpret: runs a program on the reference interpreter.

#include "compiler/driver/registry.h"
#include "tools/interpret/session.h"
#include "tools/options/answer.h"

#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace alula::interpret;

namespace {

/// Every line is a run of its own; what one leaves behind is gone before the
/// next.
bool runBatch(const Arguments &defaults) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(defaults.batch);
  if (!buffer) {
    llvm::errs() << "error: cannot read " << defaults.batch << ": "
                 << buffer.getError().message() << '\n';
    return false;
  }
  llvm::SmallVector<llvm::StringRef> lines;
  (*buffer)->getBuffer().split(lines, '\n', -1, /*KeepEmpty=*/false);
  bool all = true;
  for (llvm::StringRef line : lines) {
    llvm::SmallVector<llvm::StringRef> words;
    line.split(words, '\t', -1, /*KeepEmpty=*/false);
    Arguments arguments = defaults;
    arguments.batch.clear();
    arguments.print = Print::None;
    std::string problems;
    llvm::raw_string_ostream err(problems);
    bool fine = parseArguments(words, arguments, problems) &&
                runSession(arguments, llvm::nulls(), err);
    all &= fine;
    // One line for each run, whatever the messages hold.
    for (char &c : problems)
      if (c == '\n' || c == '\t')
        c = ' ';
    llvm::outs() << (fine ? "PASS\t" : "FAIL\t") << arguments.file;
    if (!fine)
      llvm::outs() << '\t' << problems;
    llvm::outs() << '\n';
    llvm::outs().flush();
  }
  return all;
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  alula::driver::registerPasses();
  llvm::SmallVector<llvm::StringRef> words(argv + 1, argv + argc);
  Arguments arguments;
  std::string error;
  if (auto status = alula::options::answer(getTool(), argc, argv))
    return *status;
  if (!parseArguments(words, arguments, error))
    return alula::options::fail(getTool(), error, alula::options::WrongUsage);
  if (!arguments.batch.empty())
    return runBatch(arguments) ? 0 : 1;
  if (arguments.file.empty())
    return alula::options::fail(getTool(), "no file is given; --help explains",
                                alula::options::WrongUsage);
  if (runSession(arguments, llvm::outs(), llvm::errs()))
    return alula::options::Fine;
  return alula::options::getReadStatus(arguments.file);
}
