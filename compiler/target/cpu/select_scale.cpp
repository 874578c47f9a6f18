//   %y = call float @alula_scale_f32(float %x, float %n, i32 %integer)
//   →  call <4 x float> @llvm.x86.avx512.mask.scalef.ss(…)
//   %y = call <16 x float> @alula_scale_f32.16(%x, %n, %integer)
//   →  call <16 x float> @llvm.x86.avx512.mask.scalef.ps.512(%x, %n, …)
// What becomes zero is masked: Intel's processors take 100 times as long where
// the instruction underflows, as in every masked softmax.

#include "compiler/target/cpu/select_scale.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/VFABIDemangler.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace alula::cpu;

namespace {
struct Scale {
  const char *name;
  unsigned bits;
  /// For a smaller n numbers below 2 become zero.
  double leastExponent;
  llvm::Intrinsic::ID scalar;
  /// Of 128, 256 and 512 bits.
  llvm::Intrinsic::ID vectors[3];
};

using namespace llvm::Intrinsic;
const Scale scales[] = {
    {"alula_scale_f32",
     32,
     -150,
     x86_avx512_mask_scalef_ss,
     {x86_avx512_mask_scalef_ps_128, x86_avx512_mask_scalef_ps_256,
      x86_avx512_mask_scalef_ps_512}},
    {"alula_scale_f64",
     64,
     -1075,
     x86_avx512_mask_scalef_sd,
     {x86_avx512_mask_scalef_pd_128, x86_avx512_mask_scalef_pd_256,
      x86_avx512_mask_scalef_pd_512}}};

constexpr unsigned widths[] = {128, 256, 512};

std::string getVectorName(const Scale &scale, unsigned width) {
  return std::string(scale.name) + "." + std::to_string(width / scale.bits);
}

void markPure(llvm::Function &function) {
  function.setDoesNotAccessMemory();
  function.setDoesNotThrow();
  function.setWillReturn();
  function.setDoesNotFreeMemory();
}

/// Replaces a call by the instruction for vectors of `width` bits, 0 for one
/// number.
void select(llvm::CallInst *call, const Scale &scale, unsigned width) {
  llvm::IRBuilder<> b(call);
  llvm::Value *x = call->getArgOperand(0), *n = call->getArgOperand(1);
  llvm::Type *type = call->getType();
  constexpr int asTheModeSays = 4;
  // A NaN stays one.
  llvm::Value *isLarge =
      b.CreateFCmpUGE(n, llvm::ConstantFP::get(type, scale.leastExponent));
  llvm::Value *result;
  if (width) {
    unsigned lanes = width / scale.bits, maskBits = std::max(lanes, 8u);
    llvm::Value *mask = b.CreateBitCast(isLarge, b.getIntNTy(lanes));
    llvm::SmallVector<llvm::Value *> arguments{
        x, n, llvm::Constant::getNullValue(type),
        b.CreateZExt(mask, b.getIntNTy(maskBits))};
    if (width == 512)
      arguments.push_back(b.getInt32(asTheModeSays));
    result = b.CreateIntrinsic(scale.vectors[width == 128   ? 0
                                             : width == 256 ? 1
                                                            : 2],
                               {}, arguments);
  } else {
    auto *vector = llvm::FixedVectorType::get(type, 128 / scale.bits);
    llvm::Value *any = llvm::PoisonValue::get(vector);
    result = b.CreateIntrinsic(scale.scalar, {},
                               {b.CreateInsertElement(any, x, uint64_t(0)),
                                b.CreateInsertElement(any, n, uint64_t(0)),
                                llvm::Constant::getNullValue(vector),
                                b.CreateZExt(isLarge, b.getInt8Ty()),
                                b.getInt32(asTheModeSays)});
    result = b.CreateExtractElement(result, uint64_t(0));
  }
  call->replaceAllUsesWith(result);
  // What the integer was made for is gone with it.
  llvm::RecursivelyDeleteTriviallyDeadInstructions(call);
}

void selectAll(llvm::Module &module, const std::string &name,
               const Scale &scale, unsigned width) {
  llvm::Function *function = module.getFunction(name);
  if (!function || !function->isDeclaration())
    return;
  // The list of what is used was one.
  function->removeDeadConstantUsers();
  for (llvm::User *user : llvm::make_early_inc_range(function->users()))
    select(llvm::cast<llvm::CallInst>(user), scale, width);
  function->eraseFromParent();
}
} // namespace

void alula::cpu::declareScale(llvm::Module &module, const Machine &machine) {
  bool isSelected = machine.facts.hasScale;
  for (const Scale &scale : scales) {
    llvm::Function *function = module.getFunction(scale.name);
    if (!function || function->isDeclaration())
      continue;
    if (!isSelected) {
      function->addFnAttr(llvm::Attribute::AlwaysInline);
      continue;
    }
    function->deleteBody();
    markPure(*function);
    llvm::SmallVector<std::string> variants;
    for (unsigned width : widths) {
      unsigned lanes = width / scale.bits;
      llvm::SmallVector<llvm::Type *> types;
      for (llvm::Type *type : function->getFunctionType()->params())
        types.push_back(llvm::FixedVectorType::get(type, lanes));
      std::string name = getVectorName(scale, width);
      auto *vector = llvm::Function::Create(
          llvm::FunctionType::get(types[0], types, false),
          llvm::GlobalValue::ExternalLinkage, name, module);
      markPure(*vector);
      // It has no callers yet.
      llvm::appendToCompilerUsed(module, vector);
      variants.push_back("_ZGV_LLVM_N" + std::to_string(lanes) + "vvv_" +
                         scale.name + "(" + name + ")");
    }
    // Loops are not vectorized with what might not be what its name says.
    function->removeFnAttr(llvm::Attribute::NoBuiltin);
    for (llvm::User *user : function->users())
      if (auto *call = llvm::dyn_cast<llvm::CallInst>(user)) {
        call->removeFnAttr(llvm::Attribute::NoBuiltin);
        llvm::VFABI::setVectorVariantNames(call, variants);
      }
  }
}

void alula::cpu::selectScale(llvm::Module &module) {
  llvm::removeFromUsedLists(module, [](llvm::Constant *value) {
    return value->getName().starts_with("alula_scale_");
  });
  for (const Scale &scale : scales) {
    selectAll(module, scale.name, scale, 0);
    for (unsigned width : widths)
      selectAll(module, getVectorName(scale, width), scale, width);
  }
}
