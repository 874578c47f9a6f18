// Checks the exit of the kernel room: each entry has a function that takes
// buffers and sizes, computes by loops, allocates nothing, and calls nobody but
// the kernel library. What a tool has lowered to LLVM's dialect was checked when
// it came.

#include "compiler/kernel/passes.h"
#include "dialect/dispatch/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace alula::kernel {
#define GEN_PASS_DEF_VERIFYKERNELOUTPUT
#include "compiler/kernel/passes.h.inc"
} // namespace alula::kernel

using namespace mlir;
using alula::dispatch::EntryOp;

namespace {
StringRef getProblem(Operation *op) {
  if (auto function = dyn_cast<func::FuncOp>(op)) {
    if (function.isExternal())
      return function.getSymName().starts_with("alula_")
                 ? ""
                 : "what a kernel calls must be of its library";
    return function.getNumResults() == 0 &&
                   llvm::all_of(function.getArgumentTypes(),
                                llvm::IsaPred<MemRefType, IndexType>)
               ? ""
               : "a kernel must take buffers and sizes and return nothing";
  }
  if (isa<memref::AllocOp>(op))
    return "temporaries must be in the scratch";
  if (isa<ModuleOp>(op) ||
      isa<arith::ArithDialect, complex::ComplexDialect, func::FuncDialect,
          LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect,
          scf::SCFDialect>(op->getDialect()))
    return "";
  return "kernels must be loops over buffers";
}

struct VerifyKernelOutput
    : public alula::kernel::impl::VerifyKernelOutputBase<VerifyKernelOutput> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    ModuleOp inner = getOperation().getInnerModule();
    for (auto entry : getOperation().getBody().getOps<EntryOp>()) {
      auto function =
          inner.lookupSymbol<FunctionOpInterface>(entry.getSymName());
      if (!function || function.isExternal()) {
        entry.emitError() << "'dispatch.entry': has no body: @"
                          << entry.getSymName();
        return signalPassFailure();
      }
    }
    WalkResult result = inner.walk([](Operation *op) {
      StringRef problem = getProblem(op);
      if (problem.empty())
        return WalkResult::advance();
      op->emitError() << "'" << op->getName().getStringRef()
                      << "': " << problem;
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
