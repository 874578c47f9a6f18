// alula-compile-reduce: makes a program smaller while a script still finds in
// it what it looks for. MLIR's mlir-reduce with our dialects.

#include "compiler/driver/registry.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

static const char help[] =
    R"(usage: alula-compile-reduce FILE --test=SCRIPT [-o FILE] [--passes]

Writes a smaller program for which SCRIPT, which gets its file, still exits with
status 1; a script that no longer finds what it looks for exits with 0.

  --passes  drop what is not used too, as canonicalizing does
)";

static int fail(const llvm::Twine &text) {
  llvm::errs() << "alula-compile-reduce: error: " << text << "\n";
  return 2;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  std::vector<std::string> words = {argv[0]};
  std::string test;
  bool simplifies = false;
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef word = argv[i];
    if (word == "--help") {
      llvm::outs() << help;
      return 0;
    }
    if (word.consume_front("--test="))
      test = word.str();
    else if (word == "--passes")
      simplifies = true;
    else
      words.push_back(word.str());
  }
  if (test.empty())
    return fail("--test=SCRIPT is missing; --help explains");
  if (test.find_first_of(" '{}") != std::string::npos)
    return fail("--test: the path must have no blanks, quotes or braces: is '" +
                test + "'");
  if (!llvm::sys::fs::can_execute(test))
    return fail("--test: can't be run: '" + test + "'");
  // A name without a slash is looked for elsewhere.
  if (test.find('/') == std::string::npos)
    test = "./" + test;
  if (simplifies)
    words.push_back("--opt-reduction-pass=opt-pass=canonicalize,symbol-dce "
                    "test=" +
                    test);
  words.push_back("--reduction-tree=traversal-mode=0 test=" + test);

  std::vector<char *> pointers;
  for (std::string &word : words)
    pointers.push_back(word.data());
  pointers.push_back(nullptr);
  mlir::DialectRegistry registry;
  alula::driver::registerDialects(registry);
  alula::driver::registerPasses();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  return failed(mlir::mlirReduceMain(static_cast<int>(words.size()),
                                     pointers.data(), context));
}
