// Gives each kernel the entry that the runtime calls.
//   llvm.func @k(%in: ptr, %out: ptr)
//   →  llvm.func @k(%args: ptr, %x: i32, %y: i32, %z: i32) -> i32
// whose body loads the bindings, then the constants, which are integers, then the
// scratch if there is one more pointer, and calls the old one. A function with
// `kernel.workgroup` gets %x after its constants. Relies on: the caller of the
// pass has put the number of bindings on the function as `cpu.bindings`.

#include "compiler/target/cpu/passes.h"

#include "alula/kernel_abi.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

#include <cstddef>

namespace alula::cpu {
#define GEN_PASS_DEF_MATERIALIZEENTRIES
#include "compiler/target/cpu/passes.h.inc"
} // namespace alula::cpu

using namespace mlir;

namespace {
class EntryBuilder {
public:
  explicit EntryBuilder(LLVM::LLVMFuncOp body)
      : body(body), builder(body), location(body.getLoc()),
        pointer(LLVM::LLVMPointerType::get(body.getContext())) {}

  void build(unsigned numBindings) {
    std::string name = body.getSymName().str();
    body.setSymName(name + ".body");
    body.setLinkage(LLVM::Linkage::Internal);
    // No binding that is written shares memory with another one.
    for (unsigned i = 0; i < body.getNumArguments(); ++i)
      if (body.getArgument(i).getType() == pointer)
        body.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                        builder.getUnitAttr());
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
    auto numConstants = static_cast<size_t>(
        llvm::count_if(body.getArgumentTypes(), isInteger));
    bool hasWorkgroup = body->hasAttr("kernel.workgroup");
    if (hasWorkgroup)
      --numConstants;
    size_t nextConstant = 0;
    for (BlockArgument argument : body.getArguments()) {
      Type type = argument.getType();
      if (argument.getArgNumber() < numBindings)
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
    Value zero = builder.create<LLVM::ConstantOp>(location, i32, 0);
    builder.create<LLVM::ReturnOp>(location, zero);
  }

private:
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

struct MaterializeEntries
    : public alula::cpu::impl::MaterializeEntriesBase<MaterializeEntries> {
  void runOnOperation() override {
    for (auto function :
         llvm::to_vector(getOperation().getOps<LLVM::LLVMFuncOp>()))
      if (auto bindings =
              function->getAttrOfType<IntegerAttr>("cpu.bindings")) {
        function->removeAttr("cpu.bindings");
        EntryBuilder(function).build(
            static_cast<unsigned>(bindings.getInt()));
      }
  }
};
} // namespace
