// Calls of functions that are not ours (see `dispatch.import`).
//   %r = func.call @f(%a, %n) : (tensor<8xf32>, index) -> tensor<8xf32>
//   →  llvm.call @f(%pointer_of_a, %n, %pointer_of_r) : (ptr, i64, ptr)
// Each memory is a pointer to its first element, those of results come last.
// Bodies that a tool has lowered may call with memrefs.

#include "compiler/kernel/import_calls.h"

#include "compiler/kernel/emitters.h"
#include "compiler/kernel/lowering.h"
#include "dialect/dispatch/imports.h"
#include "dialect/dispatch/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using alula::dispatch::HasImportOp;

namespace {
constexpr StringLiteral suffix = ".declared";

Type getPassedType(Type type) {
  MLIRContext *context = type.getContext();
  if (isa<ShapedType>(type))
    return LLVM::LLVMPointerType::get(context);
  return type.isIndex() ? Type(IntegerType::get(context, 64)) : type;
}

/// The function that is called in the end.
LLVM::LLVMFuncOp getCallee(func::FuncOp declaration) {
  auto module = declaration->getParentOfType<ModuleOp>();
  StringRef name = declaration.getSymName().drop_back(suffix.size());
  if (auto callee = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return callee;
  MLIRContext *context = module.getContext();
  SmallVector<Type> types;
  Type result = LLVM::LLVMVoidType::get(context);
  for (Type type : declaration.getArgumentTypes())
    types.push_back(getPassedType(type));
  for (Type type : declaration.getResultTypes())
    if (isa<ShapedType>(type))
      types.push_back(getPassedType(type));
    else
      result = getPassedType(type);
  auto callee =
      OpBuilder::atBlockEnd(module.getBody())
          .create<LLVM::LLVMFuncOp>(declaration.getLoc(), name,
                                    LLVM::LLVMFunctionType::get(result, types));
  callee->setAttr(alula::dispatch::importAttributeName,
                  declaration->getAttr(alula::dispatch::importAttributeName));
  return callee;
}

func::FuncOp findDeclaration(Operation *op, StringRef symbol) {
  if (!symbol.ends_with(suffix))
    return {};
  return op->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>(symbol);
}

Value isThere(OpBuilder &builder, Location location, func::FuncOp declaration) {
  Value address =
      builder.create<LLVM::AddressOfOp>(location, getCallee(declaration));
  Value null = builder.create<LLVM::ZeroOp>(location, address.getType());
  return builder.create<LLVM::ICmpOp>(location, LLVM::ICmpPredicate::ne,
                                      address, null);
}

/// The first element of a buffer, wherever in its memory that lies.
Value getFirstElement(OpBuilder &builder, Location location, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  auto metadata =
      builder.create<memref::ExtractStridedMetadataOp>(location, buffer);
  Value address = builder.create<memref::ExtractAlignedPointerAsIndexOp>(
      location, metadata.getBaseBuffer());
  Value bytes = builder.create<arith::ConstantIndexOp>(
      location, (type.getElementTypeBitWidth() + 7) / 8);
  Value shift =
      builder.create<arith::MulIOp>(location, metadata.getOffset(), bytes);
  Value moved = builder.create<arith::AddIOp>(location, address, shift);
  return builder.create<LLVM::IntToPtrOp>(
      location, LLVM::LLVMPointerType::get(builder.getContext()),
      builder.create<arith::IndexCastOp>(location, builder.getI64Type(),
                                         moved));
}

void lowerBufferCall(func::CallOp call, func::FuncOp declaration) {
  OpBuilder builder(call);
  Location location = call.getLoc();
  SmallVector<Value> operands;
  for (Value operand : call.getOperands()) {
    if (isa<MemRefType>(operand.getType()))
      operand = getFirstElement(builder, location, operand);
    else if (operand.getType().isIndex())
      operand = builder.create<arith::IndexCastOp>(
          location, builder.getI64Type(), operand);
    operands.push_back(operand);
  }
  auto lowered =
      builder.create<LLVM::CallOp>(location, getCallee(declaration), operands);
  for (auto [old, result] :
       llvm::zip_equal(call.getResults(), lowered.getResults())) {
    Value value = result;
    if (old.getType().isIndex())
      value =
          builder.create<arith::IndexCastOp>(location, old.getType(), value);
    old.replaceAllUsesWith(value);
  }
  call.erase();
}
} // namespace

LogicalResult alula::kernel::beginImports(ModuleOp bodies) {
  llvm::StringMap<FlatSymbolRefAttr> renamed;
  for (auto function : bodies.getOps<func::FuncOp>()) {
    if (!function.isExternal() || !alula::dispatch::getImportKind(function))
      continue;
    auto isScalar = [](Type type) { return !isa<ShapedType>(type); };
    bool isMixed = !llvm::all_of(function.getResultTypes(), isScalar) &&
                   llvm::any_of(function.getResultTypes(), isScalar);
    if (isMixed ||
        (function.getNumResults() > 1 &&
         isScalar(function.getResultTypes().front())) ||
        llvm::any_of(function.getResultTypes(), llvm::IsaPred<MemRefType>))
      return function.emitError()
             << "'func.func': an import must return tensors or one number: @"
             << function.getSymName();
    std::string name = function.getSymName().str();
    function.setSymName(name + suffix.str());
    renamed[name] = FlatSymbolRefAttr::get(function);
  }
  if (renamed.empty())
    return success();
  bodies.walk([&](Operation *op) {
    if (auto call = dyn_cast<func::CallOp>(op)) {
      auto found = renamed.find(call.getCallee());
      if (found != renamed.end())
        call.setCalleeAttr(found->second);
    } else if (auto has = dyn_cast<HasImportOp>(op)) {
      auto found = renamed.find(has.getImport());
      if (found != renamed.end())
        has.setImportAttr(found->second);
    }
  });
  return success();
}

void alula::kernel::endImports(ModuleOp bodies) {
  SmallVector<func::FuncOp> declarations;
  for (auto function : bodies.getOps<func::FuncOp>())
    if (function.isExternal() && alula::dispatch::getImportKind(function))
      declarations.push_back(function);
  if (declarations.empty())
    return;
  bodies.walk([&](func::CallOp call) {
    if (func::FuncOp declaration = findDeclaration(call, call.getCallee()))
      lowerBufferCall(call, declaration);
  });
  bodies.walk([&](HasImportOp has) {
    OpBuilder builder(has);
    if (func::FuncOp declaration = findDeclaration(has, has.getImport())) {
      has.replaceAllUsesWith(isThere(builder, has.getLoc(), declaration));
      has.erase();
    }
  });
  for (func::FuncOp declaration : declarations) {
    // Even without a call: the artifact's imports are found by it.
    (void)getCallee(declaration);
    declaration.erase();
  }
}

bool alula::kernel::isImportOp(Operation *op) {
  if (auto call = dyn_cast<func::CallOp>(op))
    return bool(findDeclaration(op, call.getCallee()));
  if (auto has = dyn_cast<HasImportOp>(op))
    return bool(findDeclaration(op, has.getImport()));
  return false;
}

void alula::kernel::emitImport(Operation *op, Lowering &lowering) {
  if (auto has = dyn_cast<HasImportOp>(op))
    return lowering.setScalar(has.getResult(),
                              isThere(lowering.b, lowering.b.getLoc(),
                                      findDeclaration(op, has.getImport())));
  auto call = cast<func::CallOp>(op);
  SmallVector<Value> operands;
  for (Value operand : call.getOperands())
    if (isa<RankedTensorType>(operand.getType()))
      operands.push_back(lowering.getPointer(lowering.getBuffer(operand)));
    else
      operands.push_back(lowering.b.create<arith::IndexCastOp>(
          lowering.b.getI64Type(), lowering.getScalar(operand)));
  for (OpResult result : call.getResults())
    operands.push_back(lowering.getPointer(lowering.createResult(result)));
  lowering.b.create<LLVM::CallOp>(
      getCallee(findDeclaration(op, call.getCallee())), operands);
}

void alula::kernel::emitIndexConstant(Operation *op, Lowering &lowering) {
  auto constant = cast<arith::ConstantIndexOp>(op);
  lowering.setScalar(constant.getResult(), lowering.index(constant.value()));
}
