// Gives each kernel the entry that the runtime calls.
//   llvm.func @k(%in: ptr, %out: ptr)
//   →  llvm.func @k(%args: ptr, %x: i32, %y: i32, %z: i32) -> i32
// whose body loads the bindings, then the constants, which are integers, then
// the scratch if there is one more pointer, and calls the old one. A function
// with `kernel.workgroup` gets %x after its constants. Relies on: the caller of
// the pass has put the number of bindings on the function as `cpu.bindings`,
// and the place of an import among those of the artifact on it as `cpu.import`.
//
// A body that asks for the flag of a cancelled call (library/cancel_flag.h)
// gets it as its last argument, and a kernel with such a body tells that it may
// have ended early. The flag of a caller that has none, or knows of none, is 0.
//
// A function with `cpu.direct` is called as it is, by a host that is machine
// code too: it gets a name of its own kind, and nobody cancels it. In such a
// host a call of alula.fail_unless(%condition, %code) ends the function.
//
// What an import gets is one struct, so that whoever gives it needs no more
// than a table of names:
//   llvm.call @f(%a, %n)  →  %args.imports[i].function(&{%a, %n}, context,
//   null)

#include "compiler/target/cpu/passes.h"

#include "alula/kernel_abi.h"
#include "compiler/kernel/library/cancel_flag.h"
#include "dialect/dispatch/direct_host.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

#include <cstddef>

namespace alula::cpu {
#define GEN_PASS_DEF_MATERIALIZEENTRIES
#include "compiler/target/cpu/passes.h.inc"
} // namespace alula::cpu

using namespace mlir;

namespace {
/// No binding that is written shares memory with another one; others write the
/// flag. LLVM's analysis of it takes cubic time in their number.
void markDistinct(LLVM::LLVMFuncOp body, unsigned cancelNumber) {
  constexpr unsigned maxDistinct = 64;
  if (body.getNumArguments() > maxDistinct)
    return;
  for (unsigned i = 0; i < body.getNumArguments(); ++i)
    if (isa<LLVM::LLVMPointerType>(body.getArgument(i).getType()) &&
        i != cancelNumber)
      body.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                      UnitAttr::get(body.getContext()));
}

class EntryBuilder {
public:
  explicit EntryBuilder(LLVM::LLVMFuncOp body)
      : body(body), builder(body), location(body.getLoc()),
        pointer(LLVM::LLVMPointerType::get(body.getContext())) {}

  void build(unsigned numBindings) {
    std::string name = body.getSymName().str();
    body.setSymName(name + ".body");
    body.setLinkage(LLVM::Linkage::Internal);
    bool hasImports = body->hasAttr("cpu.imports");
    unsigned numOwn = body.getNumArguments() - (hasImports ? 2 : 0);
    // Others write the flag.
    unsigned cancelNumber =
        body->hasAttr("cpu.cancel") ? --numOwn : body.getNumArguments();
    markDistinct(body, cancelNumber);
    body.setPassthroughAttr(
        builder.getArrayAttr({builder.getStringAttr("alwaysinline")}));

    Type i32 = builder.getI32Type();
    auto entry = builder.create<LLVM::LLVMFuncOp>(
        location, name,
        LLVM::LLVMFunctionType::get(i32, {pointer, i32, i32, i32}));
    Block *block = entry.addEntryBlock(builder);
    builder.setInsertionPointToStart(block);
    Value args = block->getArgument(0);
    Value bindings =
        loadField(args, offsetof(alula_kernel_args, bindings), pointer);
    Value constants =
        loadField(args, offsetof(alula_kernel_args, constants), pointer);
    SmallVector<Value> operands;
    auto isInteger = [](Type type) { return isa<IntegerType>(type); };
    auto numConstants =
        static_cast<size_t>(llvm::count_if(body.getArgumentTypes(), isInteger));
    Value cancel;
    if (body->hasAttr("cpu.cancel"))
      cancel = loadCancelFlag(args);
    // Where imports say that they have failed.
    Value code;
    if (hasImports) {
      Value one = builder.create<LLVM::ConstantOp>(location, i32, 1);
      code = builder.create<LLVM::AllocaOp>(location, pointer, i32, one);
      builder.create<LLVM::StoreOp>(
          location, builder.create<LLVM::ConstantOp>(location, i32, 0), code);
    }
    bool hasWorkgroup = body->hasAttr("kernel.workgroup");
    if (hasWorkgroup)
      --numConstants;
    size_t nextConstant = 0;
    for (BlockArgument argument : body.getArguments()) {
      Type type = argument.getType();
      unsigned numGiven = numOwn + (cancel ? 1 : 0);
      if (cancel && argument.getArgNumber() == numOwn)
        operands.push_back(cancel);
      else if (argument.getArgNumber() == numGiven)
        operands.push_back(
            loadField(args, offsetof(alula_kernel_args, imports), type));
      else if (argument.getArgNumber() > numGiven)
        operands.push_back(code);
      else if (argument.getArgNumber() < numBindings)
        operands.push_back(loadField(
            bindings, argument.getArgNumber() * sizeof(void *), type));
      else if (type == pointer)
        operands.push_back(
            loadField(args, offsetof(alula_kernel_args, scratch), type));
      else if (nextConstant < numConstants)
        operands.push_back(
            loadField(constants, nextConstant++ * sizeof(int64_t), type));
      else
        operands.push_back(builder.create<LLVM::ZExtOp>(location, type,
                                                        block->getArgument(1)));
    }
    builder.create<LLVM::CallOp>(location, body, operands);
    Value result =
        hasImports
            ? builder.create<LLVM::LoadOp>(location, i32, code).getResult()
            : builder.create<LLVM::ConstantOp>(location, i32, 0).getResult();
    if (cancel)
      result = tellCancelled(cancel, result);
    builder.create<LLVM::ReturnOp>(location, result);
  }

private:
  /// A pointer to the caller's flag, or to a 0. The blocks that follow begin
  /// where the builder is then.
  Value loadCancelFlag(Value args) {
    Type i32 = builder.getI32Type();
    constexpr size_t offset = offsetof(alula_kernel_args, cancel);
    Value one = makeInteger(1), zero = makeInteger(0);
    Value none = builder.create<LLVM::AllocaOp>(location, pointer, i32, one);
    builder.create<LLVM::StoreOp>(location, zero, none);
    Value bytes =
        loadField(args, offsetof(alula_kernel_args, struct_bytes), i32);
    Value knows = builder.create<LLVM::ICmpOp>(
        location, LLVM::ICmpPredicate::uge, bytes,
        makeInteger(static_cast<int32_t>(offset + sizeof(void *))));
    Block *before = builder.getBlock();
    Block *rest = before->splitBlock(builder.getInsertionPoint());
    Value flag = rest->addArgument(pointer, location);
    Block *given = builder.createBlock(rest);
    Value field = loadField(args, offset, pointer);
    Value null = builder.create<LLVM::ZeroOp>(location, pointer);
    Value isNull = builder.create<LLVM::ICmpOp>(
        location, LLVM::ICmpPredicate::eq, field, null);
    Value chosen =
        builder.create<LLVM::SelectOp>(location, isNull, none, field);
    builder.create<LLVM::BrOp>(location, chosen, rest);
    builder.setInsertionPointToEnd(before);
    builder.create<LLVM::CondBrOp>(location, knows, given, ValueRange(), rest,
                                   ValueRange(none));
    builder.setInsertionPointToStart(rest);
    return flag;
  }

  /// ALULA_KERNEL_CANCELLED in place of a 0 if the flag is set now.
  Value tellCancelled(Value cancel, Value code) {
    Value seen = builder.create<LLVM::LoadOp>(location, builder.getI32Type(),
                                              cancel, /*alignment=*/4,
                                              /*isVolatile=*/true);
    auto isZero = [&](Value value) {
      return builder.create<LLVM::ICmpOp>(location, LLVM::ICmpPredicate::eq,
                                          value, makeInteger(0));
    };
    Value told = builder.create<LLVM::SelectOp>(
        location, isZero(seen), code, makeInteger(ALULA_KERNEL_CANCELLED));
    return builder.create<LLVM::SelectOp>(location, isZero(code), told, code);
  }

  Value makeInteger(int32_t value) {
    return builder.create<LLVM::ConstantOp>(location, builder.getI32Type(),
                                            value);
  }

  Value loadField(Value base, size_t offset, Type type) {
    Value address = builder.create<LLVM::GEPOp>(
        location, pointer, builder.getI8Type(), base,
        LLVM::GEPArg(static_cast<int32_t>(offset)));
    return builder.create<LLVM::LoadOp>(location, type, address);
  }

  LLVM::LLVMFuncOp body;
  OpBuilder builder;
  Location location;
  Type pointer;
};

/// A body that calls imports gets their table as an argument.
class ImportRewriter {
public:
  explicit ImportRewriter(LLVM::LLVMFuncOp body)
      : body(body), builder(body.getContext()),
        pointer(LLVM::LLVMPointerType::get(body.getContext())) {}

  LogicalResult run() {
    SmallVector<LLVM::CallOp> calls;
    SmallVector<LLVM::AddressOfOp> addresses;
    body.walk([&](Operation *op) {
      if (auto call = dyn_cast<LLVM::CallOp>(op);
          call && call.getCallee() && findIndex(*call.getCallee()))
        calls.push_back(call);
      if (auto address = dyn_cast<LLVM::AddressOfOp>(op);
          address && findIndex(address.getGlobalName()))
        addresses.push_back(address);
    });
    if (calls.empty() && addresses.empty())
      return success();
    imports = body.front().addArgument(pointer, body.getLoc());
    code = body.front().addArgument(pointer, body.getLoc());
    body.setFunctionType(LLVM::LLVMFunctionType::get(
        body.getFunctionType().getReturnType(),
        llvm::to_vector(body.front().getArgumentTypes())));
    body->setAttr("cpu.imports", builder.getUnitAttr());
    for (LLVM::AddressOfOp address : addresses) {
      builder.setInsertionPoint(address);
      address.replaceAllUsesWith(load(address.getLoc(),
                                      *findIndex(address.getGlobalName()),
                                      offsetof(alula_import, function)));
      address.erase();
    }
    for (LLVM::CallOp call : calls)
      if (failed(rewrite(call)))
        return failure();
    return success();
  }

private:
  std::optional<int64_t> findIndex(StringRef name) {
    auto callee =
        body->getParentOfType<ModuleOp>().lookupSymbol<LLVM::LLVMFuncOp>(name);
    auto index =
        callee ? callee->getAttrOfType<IntegerAttr>("cpu.import") : nullptr;
    return index ? std::optional(index.getInt()) : std::nullopt;
  }

  Value load(Location location, int64_t index, size_t offset) {
    Value address = builder.create<LLVM::GEPOp>(
        location, pointer, builder.getI8Type(), imports,
        LLVM::GEPArg(static_cast<int32_t>(
            index * static_cast<int64_t>(sizeof(alula_import)) +
            static_cast<int64_t>(offset))));
    return builder.create<LLVM::LoadOp>(location, pointer, address);
  }

  LogicalResult rewrite(LLVM::CallOp call) {
    Location location = call.getLoc();
    if (call.getNumResults())
      return call.emitError() << "'func.func': a dynamic import must return "
                                 "tensors or nothing: @"
                              << *call.getCallee();
    int64_t index = *findIndex(*call.getCallee());
    builder.setInsertionPointToStart(&body.front());
    Type i32 = builder.getI32Type();
    auto type = LLVM::LLVMStructType::getLiteral(
        body.getContext(), llvm::to_vector(call.getOperandTypes()));
    Value one = builder.create<LLVM::ConstantOp>(location, i32, 1);
    Value params = builder.create<LLVM::AllocaOp>(location, pointer, type, one);
    builder.setInsertionPoint(call);
    for (auto [i, operand] : llvm::enumerate(call.getOperands())) {
      Value field = builder.create<LLVM::GEPOp>(
          location, pointer, type, params,
          ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(i)});
      builder.create<LLVM::StoreOp>(location, operand, field);
    }
    Value function = load(location, index, offsetof(alula_import, function));
    Value context = load(location, index, offsetof(alula_import, context));
    Value null = builder.create<LLVM::ZeroOp>(location, pointer);
    auto calleeType =
        LLVM::LLVMFunctionType::get(i32, {pointer, pointer, pointer});
    Value result =
        builder
            .create<LLVM::CallOp>(location, calleeType,
                                  ValueRange{function, params, context, null})
            .getResult();
    Value before = builder.create<LLVM::LoadOp>(location, i32, code);
    Value zero = builder.create<LLVM::ConstantOp>(location, i32, 0);
    Value isGood = builder.create<LLVM::ICmpOp>(
        location, LLVM::ICmpPredicate::eq, before, zero);
    builder.create<LLVM::StoreOp>(
        location,
        builder.create<LLVM::SelectOp>(location, isGood, result, before), code);
    call.erase();
    return success();
  }

  LLVM::LLVMFuncOp body;
  OpBuilder builder;
  Type pointer;
  Value imports, code;
};

/// Gives a body that asks for the flag one more argument.
void addCancelFlag(LLVM::LLVMFuncOp body) {
  SmallVector<LLVM::CallOp> calls;
  body.walk([&](LLVM::CallOp call) {
    if (call.getCallee() == StringRef(ALULA_CANCEL_FLAG))
      calls.push_back(call);
  });
  if (calls.empty())
    return;
  Value flag = body.front().addArgument(
      LLVM::LLVMPointerType::get(body.getContext()), body.getLoc());
  body.setFunctionType(LLVM::LLVMFunctionType::get(
      body.getFunctionType().getReturnType(),
      llvm::to_vector(body.front().getArgumentTypes())));
  body->setAttr("cpu.cancel", UnitAttr::get(body.getContext()));
  for (LLVM::CallOp call : calls) {
    call.getResult().replaceAllUsesWith(flag);
    call.erase();
  }
}

/// A kernel of a host that calls it directly.
LogicalResult makeDirect(LLVM::LLVMFuncOp body) {
  OpBuilder builder(body);
  auto module = body->getParentOfType<ModuleOp>();
  WalkResult result = body.walk([&](LLVM::CallOp call) {
    auto name = call.getCallee();
    auto callee = name ? module.lookupSymbol<LLVM::LLVMFuncOp>(*name) : nullptr;
    if (callee && callee->hasAttr("cpu.import")) {
      call.emitError() << "'func.func': a dynamic import needs a runtime, "
                          "which static code has not: @"
                       << *name;
      return WalkResult::interrupt();
    }
    if (name == StringRef(ALULA_CANCEL_FLAG)) {
      // One that is never set.
      builder.setInsertionPointToStart(&body.front());
      Type i32 = builder.getI32Type();
      Location location = call.getLoc();
      Value one = builder.create<LLVM::ConstantOp>(location, i32, 1);
      Value flag = builder.create<LLVM::AllocaOp>(
          location, call.getResult().getType(), i32, one);
      builder.create<LLVM::StoreOp>(
          location, builder.create<LLVM::ConstantOp>(location, i32, 0), flag);
      call.getResult().replaceAllUsesWith(flag);
      call.erase();
    }
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  markDistinct(body, body.getNumArguments());
  body.setSymName((alula::dispatch::kernelPrefix + body.getSymName()).str());
  body->removeAttr("cpu.direct");
  return success();
}

/// Calls of alula.fail_unless become ends of their functions.
void endByCodes(LLVM::LLVMFuncOp fail) {
  auto module = fail->getParentOfType<ModuleOp>();
  SmallVector<LLVM::CallOp> calls;
  module.walk([&](LLVM::CallOp call) {
    if (call.getCallee() == fail.getSymName())
      calls.push_back(call);
  });
  OpBuilder builder(module.getContext());
  for (LLVM::CallOp call : calls) {
    Location location = call.getLoc();
    Value condition = call.getOperand(0), code = call.getOperand(1);
    Block *before = call->getBlock();
    Block *rest = before->splitBlock(call->getNextNode());
    Block *end = builder.createBlock(rest);
    builder.create<LLVM::ReturnOp>(location, code);
    builder.setInsertionPoint(call);
    builder.create<LLVM::CondBrOp>(location, condition, rest, ValueRange(), end,
                                   ValueRange());
    call.erase();
  }
  fail.erase();
}

struct MaterializeEntries
    : public alula::cpu::impl::MaterializeEntriesBase<MaterializeEntries> {
  void runOnOperation() override {
    if (auto fail = getOperation().lookupSymbol<LLVM::LLVMFuncOp>(
            alula::dispatch::failUnless))
      endByCodes(fail);
    for (auto function :
         llvm::to_vector(getOperation().getOps<LLVM::LLVMFuncOp>()))
      if (function->hasAttr("cpu.direct")) {
        if (failed(makeDirect(function)))
          return signalPassFailure();
      } else if (auto bindings =
                     function->getAttrOfType<IntegerAttr>("cpu.bindings")) {
        function->removeAttr("cpu.bindings");
        addCancelFlag(function);
        if (failed(ImportRewriter(function).run()))
          return signalPassFailure();
        EntryBuilder(function).build(static_cast<unsigned>(bindings.getInt()));
      }
  }
};
} // namespace
