// A program for tests only:
//
//   vhlo-test-tool read FILE…          reads each, one line for each
//   vhlo-test-tool print FILE…         prints the modules as text
//   vhlo-test-tool debug FILE…         the same with locations
//   vhlo-test-tool lowest FILE…        the lowest version for each
//   vhlo-test-tool write VERSION FILE… writes FILE.VERSION.bc for each
//   vhlo-test-tool roundtrip FILE…     writes each at the lowest version that
//                                      can say it and at the newest, reads the
//                                      bytes back and compares
//
//   vhlo-test-tool same FILE FILE      compares what the portable form makes of
//                                      two files, locations aside
//
// FILE is a portable artifact or text. With --raw first, nothing is verified
// and text is in the generic form.

#include "dialect/newer/source.h"
#include "dialect/stablehlo/ops.h"
#include "dialect/vhlo/reader.h"
#include "dialect/vhlo/writer.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace alula;

/// Set by --raw.
static bool isRaw = false;

static OwningOpRef<ModuleOp> readAny(StringRef path, MLIRContext &context,
                                     bool &isPortable) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path);
  if (!buffer) {
    llvm::errs() << path << ": " << buffer.getError().message() << "\n";
    return {};
  }
  StringRef bytes = (*buffer)->getBuffer();
  isPortable = vhlo::isPortableArtifact(bytes);
  if (isPortable)
    return vhlo::readPortable(bytes, &context, path, !isRaw);
  return newer::parseSource(bytes, &context, path, !isRaw);
}

static std::string print(ModuleOp module, bool withLocations) {
  std::string text;
  llvm::raw_string_ostream os(text);
  OpPrintingFlags flags;
  if (withLocations)
    flags.enableDebugInfo();
  if (isRaw)
    flags.printGenericOpForm().assumeVerified();
  newer::printOperation(module, os, flags);
  return text;
}

static bool comesBack(ModuleOp module, vhlo::Version version, StringRef path) {
  vhlo::WriteOptions options;
  options.target = version;
  options.allowOtherDialects = true;
  std::string bytes;
  if (failed(vhlo::writePortable(module, options, bytes)))
    return false;
  OwningOpRef<ModuleOp> back =
      vhlo::readPortable(bytes, module.getContext(), path, !isRaw);
  if (!back)
    return false;
  std::string again;
  if (failed(vhlo::writePortable(*back, options, again)) || again != bytes) {
    llvm::errs() << path << ": " << version.str() << ": other bytes\n";
    return false;
  }
  if (print(module, /*withLocations=*/true) ==
      print(*back, /*withLocations=*/true))
    return true;
  llvm::errs() << path << ": " << version.str() << ": differs\n";
  return false;
}

/// What the portable form makes of a module: defaults are left out, and
/// functions end in func.return.
static OwningOpRef<ModuleOp> normalize(ModuleOp module, StringRef path) {
  vhlo::WriteOptions options;
  options.allowOtherDialects = true;
  std::string bytes;
  if (failed(vhlo::writePortable(module, options, bytes)))
    return {};
  return vhlo::readPortable(bytes, module.getContext(), path, !isRaw);
}

static bool run(StringRef command, StringRef path, StringRef version) {
  MLIRContext context;
  context.loadDialect<func::FuncDialect, stablehlo::StablehloDialect>();
  bool isPortable = false;
  OwningOpRef<ModuleOp> module = readAny(path, context, isPortable);
  if (!module)
    return false;
  if (command == "read") {
    llvm::outs() << path << ": good\n";
    return true;
  }
  if (command == "write") {
    vhlo::WriteOptions options;
    options.target = *vhlo::Version::parse(std::string_view(version));
    options.allowOtherDialects = true;
    std::string bytes;
    if (failed(vhlo::writePortable(*module, options, bytes)))
      return false;
    std::error_code status;
    llvm::raw_fd_ostream os((path + "." + version + ".bc").str(), status);
    os << bytes;
    return !status;
  }
  if (command == "lowest" || command == "roundtrip") {
    FailureOr<vhlo::Version> lowest =
        vhlo::lowestVersion(*module, /*allowOtherDialects=*/true);
    if (failed(lowest))
      return false;
    if (command == "lowest") {
      llvm::outs() << path << ": " << lowest->str() << "\n";
      return true;
    }
    if (!isPortable && !(module = normalize(*module, path)))
      return false;
    return comesBack(*module, *lowest, path) &&
           comesBack(*module, vhlo::Version::current(), path);
  }
  llvm::outs() << print(*module, command == "debug");
  return true;
}

/// The portable form of a file as text; empty if there is none.
static std::string portableText(StringRef path) {
  MLIRContext context;
  context.loadDialect<func::FuncDialect, stablehlo::StablehloDialect>();
  bool isPortable = false;
  OwningOpRef<ModuleOp> module = readAny(path, context, isPortable);
  if (module)
    module = normalize(*module, path);
  return module ? print(*module, /*withLocations=*/false) : "";
}

int main(int argc, char **argv) {
  SmallVector<StringRef> arguments(argv + 1, argv + argc);
  StringRef version;
  if (!arguments.empty() && arguments[0] == "--raw") {
    isRaw = true;
    arguments.erase(arguments.begin());
  }
  if (arguments.size() > 2 && arguments[0] == "write") {
    version = arguments[1];
    arguments.erase(arguments.begin() + 1);
    if (!vhlo::Version::parse(std::string_view(version))) {
      llvm::errs() << "not a version: " << version << "\n";
      return 2;
    }
  }
  if (arguments.size() < 2) {
    llvm::errs() << "usage: vhlo-test-tool read|print|debug|lowest|roundtrip "
                    "FILE…, or write VERSION FILE…\n";
    return 2;
  }
  if (arguments[0] == "same") {
    std::string first = portableText(arguments[1]);
    return arguments.size() == 3 && !first.empty() &&
                   portableText(arguments[2]) == first
               ? 0
               : 1;
  }
  size_t numBad = 0;
  for (StringRef path : ArrayRef(arguments).drop_front())
    numBad += !run(arguments[0], path, version);
  if (arguments[0] == "roundtrip")
    llvm::outs() << arguments.size() - 1 - numBad << " of "
                 << arguments.size() - 1 << " come back equal\n";
  return numBad == 0 ? 0 : 1;
}
