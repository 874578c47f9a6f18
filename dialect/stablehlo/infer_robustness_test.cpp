// Inference may be asked before anything is verified: with too few operands, of
// any type, without attributes or with absurd ones, without regions. It may
// refuse, but never crash. Here every op of the dialect is asked.

#include "dialect/stablehlo/ops.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

#include <random>

using namespace mlir;

namespace {
class InferRobustnessTest : public testing::Test {
protected:
  InferRobustnessTest() : builder(&context) {
    context.loadDialect<stablehlo::StablehloDialect>();
    Type f32 = builder.getF32Type(), i32 = builder.getI32Type();
    constexpr int64_t unknown = ShapedType::kDynamic;
    RankedTensorType scalar = RankedTensorType::get({}, f32);
    types = {scalar,
             RankedTensorType::get({2, 3}, f32),
             RankedTensorType::get({unknown, 3}, f32),
             RankedTensorType::get({2, 3, 4, 5}, f32),
             RankedTensorType::get({0}, i32),
             RankedTensorType::get({4}, i32),
             RankedTensorType::get({unknown}, i32),
             RankedTensorType::get({2, 2}, builder.getI64Type()),
             RankedTensorType::get({4}, builder.getI1Type()),
             RankedTensorType::get({1LL << 50}, ComplexType::get(f32)),
             UnrankedTensorType::get(f32),
             MemRefType::get({4}, f32),
             TupleType::get(&context, {scalar}),
             stablehlo::TokenType::get(&context),
             stablehlo::FutureType::get(&context, {scalar}),
             f32,
             i32,
             builder.getIndexType()};
    addAttributes();
  }

  void addAttributes() {
    Type i64 = builder.getI64Type();
    SmallVector<SmallVector<int64_t>> lists = {
        {},     {0},    {1},       {0, 1},
        {1, 0}, {2, 2}, {-1, 3},   {INT64_MIN, INT64_MAX},
        {1, 2, 3, 4},   {0, 0, 0}, {INT64_MAX, INT64_MAX, 1, 1}};
    for (ArrayRef<int64_t> list : lists) {
      attributes.push_back(builder.getDenseI64ArrayAttr(list));
      auto type = RankedTensorType::get(
          {static_cast<int64_t>(list.size())}, i64);
      attributes.push_back(DenseIntElementsAttr::get(type, list));
      if (list.size() % 2 == 0)
        attributes.push_back(DenseIntElementsAttr::get(
            RankedTensorType::get({static_cast<int64_t>(list.size()) / 2, 2},
                                  i64),
            list));
      attributes.push_back(stablehlo::GatherDimensionNumbersAttr::get(
          &context, list, {}, {}, {}, list, 1));
      attributes.push_back(stablehlo::GatherDimensionNumbersAttr::get(
          &context, {}, list, list, list, {}, -1));
      attributes.push_back(stablehlo::ScatterDimensionNumbersAttr::get(
          &context, list, {}, {}, {}, list, 1));
      attributes.push_back(stablehlo::ScatterDimensionNumbersAttr::get(
          &context, {}, list, list, list, {}, INT64_MAX));
    }
    for (int64_t value : {int64_t(0), int64_t(1), int64_t(-1), int64_t(2),
                          INT64_MIN, INT64_MAX}) {
      attributes.push_back(builder.getI64IntegerAttr(value));
      attributes.push_back(builder.getIntegerAttr(
          IntegerType::get(&context, 64, IntegerType::Unsigned), value));
    }
    attributes.push_back(builder.getI32IntegerAttr(7));
    attributes.push_back(
        builder.getIntegerAttr(IntegerType::get(&context, 200), 1));
    attributes.push_back(builder.getBoolAttr(true));
    attributes.push_back(builder.getUnitAttr());
    attributes.push_back(builder.getStringAttr("ab,bc->ac"));
    attributes.push_back(builder.getF32FloatAttr(0.5f));
    attributes.push_back(builder.getArrayAttr({}));
    attributes.push_back(stablehlo::FftTypeAttr::get(
        &context, stablehlo::FftType::IRFFT));
    attributes.push_back(stablehlo::TransposeAttr::get(
        &context, stablehlo::Transpose::TRANSPOSE_INVALID));
    attributes.push_back(stablehlo::RngDistributionAttr::get(
        &context, stablehlo::RngDistribution::NORMAL));
  }

  template <typename T>
  const T &pick(const std::vector<T> &from) {
    return from[random() % from.size()];
  }

  /// Some attributes for the names that the op knows.
  DictionaryAttr pickAttributes(RegisteredOperationName name) {
    NamedAttrList list;
    for (StringAttr attribute : name.getAttributeNames())
      if (random() % 4 != 0)
        list.set(attribute, pick(attributes));
    return list.getDictionary(&context);
  }

  /// No block, an empty one, or one with arguments that it returns.
  void fillRegion(Region &region) {
    size_t kind = random() % 3;
    if (kind == 0)
      return;
    Block &block = region.emplaceBlock();
    if (kind == 1)
      return;
    for (size_t i = random() % 4; i > 0; --i)
      block.addArgument(pick(types), builder.getUnknownLoc());
    builder.setInsertionPointToEnd(&block);
    builder.create<stablehlo::ReturnOp>(builder.getUnknownLoc(),
                                        block.getArguments());
  }

  void ask(RegisteredOperationName name) {
    auto *inference = name.getInterface<InferTypeOpInterface>();
    if (!inference)
      return;
    Block values;
    for (size_t i = random() % 7; i > 0; --i)
      values.addArgument(pick(types), builder.getUnknownLoc());

    // Properties of wrong kinds are refused; then the op is asked without any.
    DictionaryAttr dictionary = pickAttributes(name);
    OperationState state(builder.getUnknownLoc(), name);
    for (size_t i = random() % 3; i > 0; --i)
      fillRegion(*state.addRegion());
    Operation *op = Operation::create(state);
    OpaqueProperties properties = op->getPropertiesStorage();
    auto refuse = [&] { return emitError(builder.getUnknownLoc()); };
    if (failed(name.setOpPropertiesFromAttribute(name, properties, dictionary,
                                                 refuse)))
      properties = nullptr;
    SmallVector<Type> inferred;
    std::optional<Location> location;
    if (random() % 2)
      location = builder.getUnknownLoc();
    if (succeeded(inference->inferReturnTypes(
            &context, location, values.getArguments(), dictionary, properties,
            op->getRegions(), inferred)))
      ++numInferred;
    op->destroy();
  }

  MLIRContext context;
  OpBuilder builder;
  std::vector<Type> types;
  std::vector<Attribute> attributes;
  std::minstd_rand random{42};
  size_t numInferred = 0;
};

TEST_F(InferRobustnessTest, RefusesButNeverCrashes) {
  ScopedDiagnosticHandler silence(&context,
                                  [](Diagnostic &) { return success(); });
  for (RegisteredOperationName name : context.getRegisteredOperations())
    if (name.getDialectNamespace() == "stablehlo")
      for (int i = 0; i < 2000; ++i)
        ask(name);
  // Not everything was refused at the door.
  EXPECT_GT(numInferred, 1000u);
}
} // namespace
