// A plugin of tier M for tests: its pass fails, breaks the program, crashes or
// does not end.

#include "alula/plugin.hpp"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/Pass/Pass.h"

#ifndef ID
#define ID "probe-m"
#endif
#ifndef DIALECT
#define DIALECT "probe"
#endif

using namespace mlir;

namespace {
struct ProbeDialect : Dialect {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ProbeDialect)
  explicit ProbeDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<ProbeDialect>()) {}
  static StringRef getDialectNamespace() { return DIALECT; }
};

struct ProbePass : PassWrapper<ProbePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ProbePass)
  explicit ProbePass(std::string what) : what(std::move(what)) {}
  StringRef getArgument() const override { return ID "-pass"; }
  void runOnOperation() override {
    if (what == "fail")
      signalPassFailure();
    if (what == "abort")
      abort();
    while (what == "loop")
      ;
    if (what == "break")
      getOperation().walk([](Operation *op) {
        if (op->getName().getStringRef() == "stablehlo.add")
          op->eraseOperand(1);
      });
  }
  std::string what;
};

struct Probe : alula::Plugin {
  static constexpr const char *id = ID;
  static constexpr const char *stages[] = {"preprocess"};
  static constexpr alula_option options[] = {
      alula::makeOption(ALULA_OPTION_STRING, "do", "", "what to do")};
  explicit Probe(const char *const *values) : what(values[0]) {}
  static void addDialects(DialectRegistry &registry) {
    registry.insert<ProbeDialect>();
  }
  static void registerPasses() {
    registerPass([] { return std::make_unique<ProbePass>(""); });
  }
  void addPasses(StringRef, OpPassManager &passes) {
    passes.addPass(std::make_unique<ProbePass>(what));
  }
  std::string what;
};

#ifdef COMMAND_LINE_OPTION
llvm::cl::opt<bool> option(COMMAND_LINE_OPTION);
#endif
} // namespace

ALULA_PLUGIN(Probe)
