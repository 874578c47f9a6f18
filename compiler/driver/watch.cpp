#include "compiler/driver/watch.h"

#include "compiler/driver/stages_dump.h"
#include "compiler/driver/stages_file.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/FormatVariadic.h"
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
  if (room == Room::Emit)
    return success();
  return dump(module.getLoc(), options.dumps.bytecode ? ".mlirbc" : ".mlir",
              [&](llvm::raw_ostream &os) {
                writeStage(module, room, options, makeName(".mlir"), os);
              });
}

std::string Watch::makeName(StringRef suffix) const {
  return llvm::formatv("{0,0+2}.{1}{2}", unsigned(room) + 1, getRoomName(room),
                       suffix);
}

LogicalResult
Watch::dump(Location location, StringRef suffix,
            llvm::function_ref<void(llvm::raw_ostream &)> write) {
  if (options.dumps.stages.empty())
    return success();
  if (llvm::Error error = writeWholeInFolder(options.dumps.stages,
                                             makeName(suffix), write))
    return emitError(location) << "'builtin.module': can't write "
                               << toString(std::move(error));
  return success();
}
