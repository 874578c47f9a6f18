// Rewrites the kernels of an executable from StableHLO to loops over buffers.
//   func @k(%a: tensor<4xf32>) -> tensor<4xf32> { stablehlo.add … }
//   →  func @k(%a: memref<f32>, %out: memref<f32>) { scf.parallel … }
// Parameters: the bindings' first elements; the sizes that only the host knows,
// dynamic dimensions of arguments, then of results; other numbers of the host,
// which are the source's arguments of type index; the scratch memory comes
// with `kernel-assign-scratch`. What has no lowering is an error at its op.
// What loops and memory are, the target says. How, the plan says; a kernel
// without one is given the usual one first.

#include "compiler/kernel/import_calls.h"
#include "compiler/kernel/lowering.h"
#include "compiler/kernel/passes.h"
#include "compiler/kernel/plan/plan.h"
#include "dialect/chlo/ops.h"
#include "dialect/dispatch/in_place.h"
#include "dialect/dispatch/ops.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Support/DebugStringHelper.h"

namespace alula::kernel {
#define GEN_PASS_DEF_CONVERTSTABLEHLOTOLOOPS
#include "compiler/kernel/passes.h.inc"
} // namespace alula::kernel

using namespace mlir;
using namespace alula::kernel;

namespace {
int64_t countDynamicDims(TypeRange types) {
  int64_t count = 0;
  for (Type type : types)
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      count += tensor.getNumDynamicDims();
  return count;
}

bool isTensor(Value value) { return isa<RankedTensorType>(value.getType()); }

LogicalResult checkTypes(func::FuncOp function) {
  for (TypeRange types : {TypeRange(function.getArgumentTypes()),
                          TypeRange(function.getResultTypes())})
    for (Type type : types) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (type.isIndex())
        continue;
      if (!tensor || !getMemoryType(tensor.getElementType()))
        // The op that has such a value says more than its kernel.
        for (Operation &op : function.front())
          if (llvm::is_contained(op.getOperandTypes(), type) ||
              llvm::is_contained(op.getResultTypes(), type))
            return op.emitError()
                   << "'" << op.getName().getStringRef()
                   << "': no native code: for values of type " << type;
    }
  return success();
}

class KernelConverter {
public:
  KernelConverter(func::FuncOp source, const TargetKernels &kernels)
      : source(source), kernels(kernels) {}

  LogicalResult convert() {
    if (failed(checkTypes(source)))
      return failure();
    if (!isPlanned(source))
      planKernel(source);
    func::FuncOp target = createTarget();
    Lowering lowering(target, kernels);
    Block &body = source.front();
    auto parameters = target.getArguments();
    ValueRange bindings = parameters.take_front(numBindings);
    ValueRange sizes = parameters.drop_front(numBindings);

    SmallVector<Value> outputs;
    for (BlockArgument argument : body.getArguments())
      if (isTensor(argument)) {
        Value memory = view(lowering, argument, bindings, sizes);
        if (getPacking(getElementType(argument)) > 1)
          lowering.setPacked(argument, memory);
        else
          lowering.setBuffer(argument, memory);
      }
    for (auto [number, result] :
         llvm::enumerate(body.getTerminator()->getOperands())) {
      if (auto input = getInPlaceInput(number)) {
        takeShape(lowering, result, sizes);
        outputs.push_back(lowering.getBinding(body.getArgument(*input)));
      } else {
        outputs.push_back(view(lowering, result, bindings, sizes));
        if (getPacking(getElementType(result)) > 1)
          lowering.setPackedResult(outputs.back());
      }
    }
    for (auto [argument, number] :
         llvm::zip_equal(llvm::make_filter_range(
                             body.getArguments(),
                             [](Value value) { return !isTensor(value); }),
                         sizes))
      lowering.setScalar(argument, number);
    lowering.lowerBlockInto(body, outputs);
    lowering.b.create<func::ReturnOp>();
    bool hasFailed = lowering.hasFailed();
    source.erase();
    return success(!hasFailed);
  }

private:
  func::FuncOp createTarget() {
    OpBuilder builder(source);
    SmallVector<Type> types;
    auto addBinding = [&](Type type) {
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        types.push_back(
            MemRefType::get({}, getMemoryType(tensor.getElementType())));
    };
    for (Type type : source.getArgumentTypes())
      addBinding(type);
    for (auto [number, type] : llvm::enumerate(source.getResultTypes()))
      if (!getInPlaceInput(number))
        addBinding(type);
    numBindings = static_cast<unsigned>(types.size());
    int64_t numConstants = countDynamicDims(source.getArgumentTypes()) +
                           countDynamicDims(source.getResultTypes()) +
                           llvm::count_if(source.getArgumentTypes(),
                                          llvm::IsaPred<IndexType>);
    types.append(static_cast<size_t>(numConstants), builder.getIndexType());
    std::string name = source.getSymName().str();
    source.setSymName(name + ".stablehlo");
    auto target = builder.create<func::FuncOp>(
        source.getLoc(), name, builder.getFunctionType(types, {}));
    target->setAttr("kernel.bindings", builder.getI64IntegerAttr(numBindings));
    target->setAttr("kernel.constants",
                    builder.getI64IntegerAttr(numConstants));
    // Of the plan what is still to be read.
    target->setAttr(alula::plan::gridName,
                    source->getAttr(alula::plan::gridName));
    target.addEntryBlock();
    return target;
  }

  /// The argument that a result is computed in the memory of.
  std::optional<unsigned> getInPlaceInput(size_t result) {
    auto inPlace =
        source->getAttrOfType<DenseI64ArrayAttr>(alula::dispatch::inPlaceName);
    if (!inPlace || inPlace[result] < 0)
      return std::nullopt;
    return static_cast<unsigned>(inPlace[result]);
  }

  /// The next sizes are those of a tensor.
  static void takeShape(Lowering &lowering, Value tensor, ValueRange &sizes) {
    auto type = cast<RankedTensorType>(tensor.getType());
    if (!type.hasStaticShape()) {
      SmallVector<Value> shape;
      for (int64_t size : type.getShape()) {
        bool isDynamic = ShapedType::isDynamic(size);
        shape.push_back(isDynamic ? sizes.front() : lowering.index(size));
        sizes = sizes.drop_front(isDynamic);
      }
      lowering.setShape(tensor, shape);
    }
  }

  /// The next binding with the shape of a tensor; its bytes if it is packed.
  static Value view(Lowering &lowering, Value tensor, ValueRange &bindings,
                    ValueRange &sizes) {
    takeShape(lowering, tensor, sizes);
    Value binding = bindings.front();
    bindings = bindings.drop_front();
    SmallVector<Value> shape = lowering.getShape(tensor);
    if (int64_t packing = getPacking(getElementType(tensor)); packing > 1)
      return lowering.createView(
          binding,
          lowering.ceilDiv(lowering.product(shape), lowering.index(packing)));
    return shape.empty() ? binding : lowering.createView(binding, shape);
  }

  func::FuncOp source;
  const TargetKernels &kernels;
  unsigned numBindings = 0;
};

struct ConvertStablehloToLoops
    : public alula::kernel::impl::ConvertStablehloToLoopsBase<
          ConvertStablehloToLoops> {
  void runOnOperation() override {
    ModuleOp module = getOperation().getInnerModule();
    const TargetKernels *kernels = findTargetKernels(getOperation());
    if (!kernels || failed(beginImports(module)))
      return signalPassFailure();
    // A tool may have made the loops already.
    auto isLowered = [](func::FuncOp function) {
      return llvm::any_of(function.getArgumentTypes(),
                          llvm::IsaPred<MemRefType>);
    };
    for (auto function : llvm::to_vector(module.getOps<func::FuncOp>()))
      if (!function.isExternal() && !isLowered(function) &&
          failed(KernelConverter(function, *kernels).convert()))
        return signalPassFailure();
    endImports(module);
  }
};
} // namespace
