//   fptrunc float %x to bfloat  →  bitcast (trunc (@alula_encode_bf16(%x)))
//   fpext bfloat %x to float    →  bitcast (shl (zext (bitcast %x)), 16)

#include "compiler/target/cpu/convert_small_floats.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace alula::cpu;

namespace {
class Converter {
public:
  Converter(llvm::Module &module, const Machine &machine)
      : module(module), facts(machine.facts) {}

  void run() {
    llvm::SmallVector<llvm::CastInst *> casts;
    for (llvm::Function &function : module)
      for (llvm::BasicBlock &block : function)
        for (llvm::Instruction &instruction : block)
          if (llvm::isa<llvm::FPTruncInst, llvm::FPExtInst>(instruction))
            casts.push_back(llvm::cast<llvm::CastInst>(&instruction));
    for (llvm::CastInst *cast : casts) {
      llvm::IRBuilder<> b(cast);
      llvm::Value *result = llvm::isa<llvm::FPTruncInst>(cast)
                                ? narrow(b, *cast)
                                : widen(b, *cast);
      if (!result)
        continue;
      cast->replaceAllUsesWith(result);
      cast->eraseFromParent();
    }
  }

private:
  /// Null if the machine does it.
  llvm::Value *narrow(llvm::IRBuilder<> &b, llvm::CastInst &cast) {
    llvm::Value *x = cast.getOperand(0);
    llvm::Type *to = cast.getType(), *from = x->getType();
    if (facts.hasSmallFloatConversions ||
        (!to->isHalfTy() && !to->isBFloatTy()) ||
        (!from->isFloatTy() && !from->isDoubleTy()))
      return nullptr;
    if (to->isHalfTy() && from->isFloatTy() && facts.hasF16Conversions)
      return nullptr;
    std::string name =
        to->isHalfTy() ? "alula_encode_f16" : "alula_encode_bf16";
    llvm::Value *code = b.CreateCall(
        module.getOrInsertFunction(name + (from->isDoubleTy() ? "_f64" : ""),
                                   b.getInt32Ty(), from),
        x);
    return b.CreateBitCast(b.CreateTrunc(code, b.getInt16Ty()), to);
  }

  llvm::Value *widen(llvm::IRBuilder<> &b, llvm::CastInst &cast) {
    llvm::Value *x = cast.getOperand(0), *wide = nullptr;
    llvm::Type *from = x->getType();
    if (from->isBFloatTy()) {
      llvm::Value *code =
          b.CreateZExt(b.CreateBitCast(x, b.getInt16Ty()), b.getInt32Ty());
      wide = b.CreateBitCast(b.CreateShl(code, 16), b.getFloatTy());
    } else if (from->isHalfTy() && !facts.hasF16Conversions) {
      llvm::Value *code =
          b.CreateZExt(b.CreateBitCast(x, b.getInt16Ty()), b.getInt32Ty());
      wide =
          b.CreateCall(module.getOrInsertFunction(
                           "alula_decode_f16", b.getFloatTy(), b.getInt32Ty()),
                       code);
    }
    if (!wide || cast.getType()->isFloatTy())
      return wide;
    return b.CreateFPExt(wide, cast.getType());
  }

  llvm::Module &module;
  const Facts &facts;
};
} // namespace

void alula::cpu::convertSmallFloats(llvm::Module &module,
                                    const Machine &machine) {
  Converter(module, machine).run();
}
