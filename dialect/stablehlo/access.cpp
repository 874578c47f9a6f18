// The table of how ops read their operands, and what is asked of it.

#include "dialect/stablehlo/access.h"

#include "dialect/stablehlo/ops.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::stablehlo;

MLIR_DEFINE_EXPLICIT_TYPE_ID(mlir::stablehlo::AccessInterface)

namespace {
AccessInterface::Table makeTable() {
  using enum Access;
  AccessTableBuilder t;
  auto rest = AccessTableBuilder::rest;
  auto perResult = AccessTableBuilder::perResult;

  // Elementwise.
  t.add<RealOp, ImagOp, ComplexOp>({rest(Elementwise)});
  t.add<ConvertOp>({{Elementwise}}, Cost::Convert);
  t.add<AbsOp, NegOp, NotOp, AddOp, SubtractOp, MulOp, AndOp, OrOp, XorOp,
        ShiftLeftOp, ShiftRightArithmeticOp, ShiftRightLogicalOp, CompareOp,
        SelectOp>({rest(Elementwise)}, Cost::Instruction);
  t.add<MaxOp, MinOp, ClampOp, SignOp, CeilOp, FloorOp, RoundOp,
        RoundNearestEvenOp, IsFiniteOp, ClzOp, PopulationCountOp,
        ReducePrecisionOp, UniformQuantizeOp, UniformDequantizeOp>(
      {rest(Elementwise)}, Cost::Few);
  t.add<DivOp, RemOp>({rest(Elementwise)}, Cost::Division);
  t.add<SqrtOp, RsqrtOp>({{Elementwise}}, Cost::Root);
  t.add<Atan2Op, CbrtOp, CosineOp, ExpOp, Expm1Op, LogOp, Log1pOp, LogisticOp,
        PowOp, SineOp, TanOp, TanhOp>({rest(Elementwise)}, Cost::Function);
  // What its region does.
  t.add<MapOp>({rest(Elementwise)}, Cost::Few);

  // Shape.
  t.add<ConstantOp, IotaOp>({});
  t.add<BitcastConvertOp>({{Bits}});
  t.add<BroadcastOp, BroadcastInDimOp>({{Repeated}});
  t.add<ConcatenateOp>({rest(Part)});
  t.add<PadOp>({{Moved}, {Fill}});
  t.add<ReshapeOp>({{Reshaped}});
  t.add<ReverseOp>({{Moved}});
  t.add<TransposeOp>({{Permuted}});
  t.add<GetDimensionSizeOp>({{Unread}});
  t.add<SetDimensionSizeOp>({{Moved}, {Sizes}});
  t.add<DynamicBroadcastInDimOp>({{Repeated}, {Sizes}});
  t.add<DynamicIotaOp>({{Sizes}});
  t.add<DynamicPadOp>({{Moved}, {Fill}, rest(Sizes)});
  t.add<DynamicReshapeOp>({{Reshaped}, {Sizes}});

  // Slice.
  t.add<SliceOp>({{Moved}});
  t.add<DynamicSliceOp>({{Moved}, rest(Indices)});
  t.add<DynamicUpdateSliceOp>({{Updated}, {Part}, rest(Indices)});
  t.add<RealDynamicSliceOp>({{Moved}, rest(Sizes)});

  // Reduce.
  t.add<ReduceOp>({perResult(Reduced), perResult(Fill)});
  t.add<ReduceWindowOp>({perResult(Window), perResult(Fill)});
  t.add<SelectAndScatterOp>({{Window}, {Scattered}, {Fill}});
  t.add<SortOp>({rest(Sorted)}, Cost::Function);
  t.add<BatchNormInferenceOp>({{Elementwise}, rest(Repeated)}, Cost::Division);
  t.add<BatchNormTrainingOp, BatchNormGradOp>({rest(Whole)}, Cost::Division);

  // Dot, conv.
  t.add<DotOp, DotGeneralOp, EinsumOp>({rest(Contracted)});
  t.add<UnaryEinsumOp>({{Reduced}});
  t.add<ConvolutionOp>({{Window}, {Contracted}});
  t.add<DynamicConvOp>({{Window}, {Contracted}, {Sizes}});
  t.add<FftOp>({{Whole}}, Cost::Function);
  t.add<CholeskyOp, TriangularSolveOp>({rest(Whole)});

  // Gather, scatter.
  t.add<GatherOp, TorchIndexSelectOp>({{Picked}, {Indices}});
  t.add<DynamicGatherOp>({{Picked}, {Indices}, {Sizes}});
  t.add<ScatterOp>({perResult(Updated), {Indices}, perResult(Scattered)});

  // Control.
  t.add<WhileOp>({rest(Carried)}, Cost::None, Source::Regions);
  t.add<IfOp, CaseOp>({{Whole}}, Cost::None, Source::Regions);
  t.add<CompositeOp, AsyncStartOp, AsyncDoneOp>({rest(Whole)}, Cost::None,
                                                Source::Regions);
  t.add<OptimizationBarrierOp, TupleOp, GetTupleElementOp, ReturnOp>(
      {rest(Carried)});
  t.add<AfterAllOp>({rest(Unread)});
  t.add<CreateTokenOp>({});

  // Random numbers. Those of rng are drawn, and follow from no operand.
  t.add<RngOp>({{Whole}, {Whole}, {Sizes}}, Cost::Function);
  t.add<RngBitGeneratorOp>({{Whole}}, Cost::Function);

  // Collective, custom call.
  t.add<AllGatherOp, AllReduceOp, AllToAllOp, CollectiveBroadcastOp,
        CollectivePermuteOp, CollectiveReduceOp, CrossReplicaSumOp,
        ReduceScatterOp, PartitionIdOp, ReplicaIdOp, InfeedOp, OutfeedOp,
        SendOp, RecvOp, CustomCallOp>({rest(Whole)}, Cost::None,
                                      Source::Outside);
  return t.take();
}

/// The product of sizes; nothing if one is unknown.
std::optional<int64_t> multiplyDims(Value tensor, ArrayRef<int64_t> dims) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  int64_t product = 1;
  for (int64_t dim : dims)
    if (!type || type.isDynamicDim(static_cast<unsigned>(dim)) ||
        llvm::MulOverflow(product, type.getDimSize(static_cast<unsigned>(dim)),
                          product))
      return std::nullopt;
  return product;
}

std::optional<int64_t> countConvolutionTerms(Value kernel,
                                             ConvDimensionNumbersAttr numbers) {
  SmallVector<int64_t> dims(numbers.getKernelSpatialDimensions());
  dims.push_back(numbers.getKernelInputFeatureDimension());
  return multiplyDims(kernel, dims);
}

std::optional<int64_t> countWindow(std::optional<ArrayRef<int64_t>> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes.value_or(ArrayRef<int64_t>()))
    if (llvm::MulOverflow(product, size, product))
      return std::nullopt;
  return product;
}

/// The depth of a tree over a row.
std::optional<int64_t> countLevels(std::optional<int64_t> length) {
  if (!length)
    return std::nullopt;
  return std::max<int64_t>(
      llvm::Log2_64_Ceil(static_cast<uint64_t>(std::max<int64_t>(*length, 1))),
      1);
}

std::optional<int64_t> getLastSize(Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  return type && type.getRank() ? multiplyDims(tensor, type.getRank() - 1)
                                : std::nullopt;
}
} // namespace

const AccessInterface::Table &stablehlo::getAccessTable() {
  static const AccessInterface::Table table = makeTable();
  return table;
}

Access OpAccess::getAccess(Operation *op, unsigned operand) const {
  for (const Group &group : ArrayRef(groups).take_front(numGroups)) {
    unsigned count = group.count == Count::One         ? 1
                     : group.count == Count::PerResult ? op->getNumResults()
                                                       : op->getNumOperands();
    if (operand >= count) {
      operand -= count;
      continue;
    }
    // Between types of one width, an element is one element.
    if (group.access == Access::Bits) {
      auto from = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
      auto to = dyn_cast<RankedTensorType>(op->getResult(0).getType());
      if (from && to && from.getShape() == to.getShape())
        return Access::Elementwise;
    }
    return group.access;
  }
  return Access::Whole;
}

const OpAccess *stablehlo::findAccess(Operation *op) {
  Dialect *dialect = op->getDialect();
  auto *interface =
      dialect ? dialect->getRegisteredInterface<AccessInterface>() : nullptr;
  return interface ? interface->find(op->getName()) : nullptr;
}

Access stablehlo::getAccess(Operation *op, unsigned operand) {
  const OpAccess *access = findAccess(op);
  return access ? access->getAccess(op, operand) : Access::Whole;
}

bool stablehlo::keepsDims(Operation *reshape) {
  auto isOne = [](int64_t size) { return size == 1; };
  auto from =
      cast<RankedTensorType>(reshape->getOperand(0).getType()).getShape();
  auto to = cast<RankedTensorType>(reshape->getResult(0).getType()).getShape();
  SmallVector<int64_t> a(from), b(to);
  llvm::erase_if(a, isOne);
  llvm::erase_if(b, isOne);
  int64_t unknown = llvm::count_if(a, ShapedType::isDynamic);
  return a == b &&
         (unknown == 0 || (unknown == 1 && !llvm::is_contained(a, int64_t(0))));
}

bool stablehlo::readsOnly(Operation *op, AccessSet ways) {
  const OpAccess *access = findAccess(op);
  if (!access || access->source != Source::Operands)
    return false;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    if (!ways.contains(access->getAccess(op, i)))
      return false;
  return true;
}

bool stablehlo::readsAny(Operation *op, AccessSet ways) {
  const OpAccess *access = findAccess(op);
  if (!access)
    return false;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    if (ways.contains(access->getAccess(op, i)))
      return true;
  return false;
}

Cost stablehlo::getElementCost(Operation *op) {
  const OpAccess *access = findAccess(op);
  return access ? access->cost : Cost::None;
}

bool stablehlo::isControlFlow(Operation *op) {
  const OpAccess *access = findAccess(op);
  return access && access->source == Source::Regions;
}

bool stablehlo::reachesOutside(Operation *op) {
  const OpAccess *access = findAccess(op);
  return access && access->source == Source::Outside;
}

std::optional<int64_t> stablehlo::countTerms(Operation *op) {
  using Answer = std::optional<int64_t>;
  return llvm::TypeSwitch<Operation *, Answer>(op)
      .Case([](DotGeneralOp dot) {
        return multiplyDims(
            dot.getLhs(),
            dot.getDotDimensionNumbers().getLhsContractingDimensions());
      })
      .Case([](DotOp dot) { return getLastSize(dot.getLhs()); })
      .Case<ConvolutionOp, DynamicConvOp>([](auto convolution) {
        return countConvolutionTerms(convolution.getRhs(),
                                     convolution.getDimensionNumbers());
      })
      .Case([](ReduceOp reduce) {
        return multiplyDims(reduce.getInputs()[0], reduce.getDimensions());
      })
      .Case([](ReduceWindowOp reduce) {
        return countWindow(reduce.getWindowDimensions());
      })
      .Case([](SelectAndScatterOp scatter) {
        return countWindow(scatter.getWindowDimensions());
      })
      .Case([](SortOp sort) {
        auto type = dyn_cast<RankedTensorType>(sort.getInputs()[0].getType());
        auto dim = static_cast<int64_t>(sort.getDimension());
        if (!type || type.getRank() == 0)
          return Answer(1);
        return countLevels(multiplyDims(sort.getInputs()[0],
                                        dim < 0 ? dim + type.getRank() : dim));
      })
      .Case(
          [](FftOp fft) { return countLevels(getLastSize(fft.getOperand())); })
      .Case<CholeskyOp, TriangularSolveOp>(
          [&](auto) { return getLastSize(op->getOperand(0)); })
      .Default([](Operation *) { return Answer(1); });
}
