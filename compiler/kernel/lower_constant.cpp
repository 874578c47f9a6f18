// Constants inside kernels: one number, or a few in the code's own data.

#include "compiler/kernel/element/generators.h"
#include "compiler/kernel/emitters.h"
#include "compiler/kernel/lowering.h"

#include "dialect/newer/attributes.h"
#include "dialect/stablehlo/ops.h"

using namespace mlir;
using namespace alula::kernel;

namespace {
bool isSplat(Attribute value) {
  if (auto bridged = dyn_cast<alula::newer::DenseBridgedAttr>(value))
    return bridged.isSplat();
  auto dense = dyn_cast<DenseElementsAttr>(value);
  return dense && dense.isSplat();
}

/// The elements as they are in memory; null for what the data of code can't
/// hold.
DenseElementsAttr getMemory(Attribute value, RankedTensorType type) {
  Type memory = getMemoryType(type.getElementType());
  auto memoryType = type.clone(memory);
  if (auto bridged = dyn_cast<alula::newer::DenseBridgedAttr>(value))
    return bridged.getCodes().reshape(memoryType);
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (!dense || isa<ComplexType>(memory))
    return {};
  if (isa<IntegerType>(type.getElementType()) &&
      type.getElementTypeBitWidth() < 8) {
    bool isSigned =
        getElementKind(type.getElementType()) == ElementKind::Signed;
    return dense.mapValues(memory, [&](const APInt &number) {
      return isSigned ? number.sext(8) : number.zext(8);
    });
  }
  return dense.bitcast(memory).reshape(memoryType);
}
} // namespace

void alula::kernel::emitConstant(Operation *op, Lowering &lowering) {
  auto constant = cast<stablehlo::ConstantOp>(op);
  auto type = cast<RankedTensorType>(constant.getType());
  if (isSplat(constant.getValue())) {
    if (type.getRank() == 0)
      return lowering.setScalar(
          constant.getResult(),
          generateConstant(cast<OpResult>(constant.getResult()), {}, lowering));
    return lowering.setInlined(constant.getResult());
  }
  if (!type.getNumElements())
    return lowering.setInlined(constant.getResult());
  DenseElementsAttr memory = getMemory(constant.getValue(), type);
  if (!memory)
    return lowering.decline(op, "for a constant of type " + debugString(type) +
                                    " in a kernel");
  lowering.setBuffer(constant.getResult(),
                     lowering.createData(getBufferType(type), memory));
}
