#include "compiler/dispatch/work.h"

#include "dialect/chlo/functions.h"
#include "dialect/stablehlo/ops.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace {
constexpr int64_t large = int64_t(1) << 40;

int64_t multiply(int64_t a, int64_t b) {
  int64_t product = 0;
  return llvm::MulOverflow(a, b, product) ? large : std::min(product, large);
}

int64_t countElements(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return 0;
  int64_t count = 1;
  for (int64_t size : tensor.getShape())
    count = ShapedType::isDynamic(size) ? large : multiply(count, size);
  return count;
}

int64_t countAll(TypeRange types) {
  int64_t count = 0;
  for (Type type : types)
    count = std::max(count, countElements(type));
  return count;
}

/// Steps for each element of the largest operand or result.
int64_t getStepsPerElement(Operation *op) {
  if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op)) {
    int64_t steps = 1;
    auto lhs = cast<RankedTensorType>(dot.getLhs().getType());
    for (int64_t dim :
         dot.getDotDimensionNumbers().getLhsContractingDimensions())
      steps = multiply(steps, lhs.isDynamicDim(static_cast<unsigned>(dim))
                                  ? large
                                  : lhs.getDimSize(static_cast<unsigned>(dim)));
    return steps;
  }
  if (auto convolution = dyn_cast<stablehlo::ConvolutionOp>(op)) {
    int64_t outputs = countElements(convolution.getType());
    return multiply(countElements(convolution.getRhs().getType()),
                    outputs ? 1 : 0);
  }
  if (auto window = dyn_cast<stablehlo::ReduceWindowOp>(op)) {
    int64_t steps = 1;
    for (int64_t size : window.getWindowDimensions())
      steps = multiply(steps, size);
    return steps;
  }
  if (isa<stablehlo::SortOp, stablehlo::FftOp, stablehlo::SelectAndScatterOp>(
          op))
    return 32;
  if (isa<stablehlo::CholeskyOp, stablehlo::TriangularSolveOp>(op)) {
    auto matrix = cast<RankedTensorType>(op->getOperand(0).getType());
    int64_t size = matrix.getShape().back();
    return ShapedType::isDynamic(size) ? large : size;
  }
  if (isa<stablehlo::ExpOp, stablehlo::LogOp, stablehlo::TanhOp,
          stablehlo::PowOp, stablehlo::SineOp, stablehlo::CosineOp,
          stablehlo::Expm1Op, stablehlo::Log1pOp, stablehlo::LogisticOp,
          stablehlo::Atan2Op, stablehlo::CbrtOp, stablehlo::TanOp,
          stablehlo::RngBitGeneratorOp>(op) ||
      chlo::isNamedFunction(op))
    return 8;
  return 1;
}
} // namespace

int64_t alula::dispatch::estimateWork(Operation *op) {
  if (op->hasTrait<mlir::OpTrait::ConstantLike>() ||
      op->hasTrait<mlir::OpTrait::IsTerminator>())
    return 0;
  if (isa<stablehlo::WhileOp, stablehlo::IfOp, stablehlo::CaseOp>(op)) {
    int64_t work = 1;
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Operation &inner : block)
          work = std::min(large, work + estimateWork(&inner));
    return work;
  }
  int64_t elements = std::max(countAll(op->getOperandTypes()),
                              countAll(op->getResultTypes()));
  // A slice of something large is small.
  if (isa<stablehlo::SliceOp, stablehlo::DynamicSliceOp, stablehlo::GatherOp,
          stablehlo::DotGeneralOp, stablehlo::ConvolutionOp>(op))
    elements = countAll(op->getResultTypes());
  // In place.
  if (auto update = dyn_cast<stablehlo::DynamicUpdateSliceOp>(op))
    elements = countElements(update.getUpdate().getType());
  return multiply(std::max<int64_t>(elements, 1), getStepsPerElement(op));
}

bool alula::dispatch::isSmallWork(int64_t work, const MachineFacts &machine) {
  return work <= machine.launchSteps;
}
