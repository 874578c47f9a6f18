#include "compiler/driver/watch.h"

#include "dialect/dispatch/ops.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace alula::driver;

Watch::Watch(MLIRContext *context, const CompileOptions &options)
    : context(context), options(options),
      // What fails because work was skipped is nobody's error.
      silence(context,
              [this](Diagnostic &) { return success(isCancelled()); }) {
  if (!options.onProgress && !options.isCancelled)
    return;
  // MLIR asks before every pass and every rewrite whether it should be done.
  context->registerActionHandler(
      [this](function_ref<void()> run, const tracing::Action &action) {
        if (isCancelled())
          return;
        if (auto *pass = dyn_cast<PassExecutionAction>(&action))
          if (StringRef name = pass->getPass().getArgument(); !name.empty())
            report(name);
        run();
      });
}

Watch::~Watch() { context->registerActionHandler(nullptr); }

bool Watch::isCancelled() const {
  return options.isCancelled && options.isCancelled();
}

void Watch::beginRoom(Room next) {
  room = next;
  start = std::chrono::steady_clock::now();
  report("");
}

void Watch::report(StringRef step, unsigned done, unsigned total) {
  if (options.onProgress)
    options.onProgress({room, step, done, total});
}

LogicalResult Watch::endRoom(ModuleOp module) {
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  if (options.onTime)
    options.onTime(room, seconds.count());
  if (options.dumpDirectory.empty() || room == Room::Emit)
    return success();
  // Images are no text: they have files of their own.
  SmallVector<std::pair<dispatch::VariantOp, StringAttr>> images;
  for (auto variant : module.getOps<dispatch::VariantOp>()) {
    StringAttr image = variant.getImageAttr();
    if (failed(dump(variant.getLoc(), "." + variant.getSymName().str() + ".elf",
                    image.getValue())))
      return failure();
    images.emplace_back(variant, image);
    variant.setImage("");
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  OpPrintingFlags flags;
  flags.elideLargeElementsAttrs(64).useLocalScope();
  module->print(os, flags);
  for (auto &[variant, image] : images)
    variant.setImageAttr(image);
  if (text == lastDump)
    return success();
  lastDump = text;
  return dump(module.getLoc(), ".mlir", text);
}

LogicalResult Watch::dump(Location location, StringRef suffix, StringRef text) {
  if (options.dumpDirectory.empty())
    return success();
  std::error_code error =
      llvm::sys::fs::create_directories(options.dumpDirectory);
  std::string name = llvm::formatv("{0,0+2}-{1}{2}", unsigned(room) + 1,
                                   getRoomName(room), suffix);
  llvm::SmallString<128> path(options.dumpDirectory);
  llvm::sys::path::append(path, name);
  if (!error) {
    llvm::raw_fd_ostream os(path, error);
    if (!error) {
      os << text;
      os.close();
      error = os.error();
      os.clear_error();
    }
  }
  if (error)
    return emitError(location) << "'builtin.module': can't write " << path
                               << ": " << error.message();
  return success();
}
