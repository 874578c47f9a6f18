// Loops and branches as commands: what they carry are sizes.

#include "compiler/schedule/command_converter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace alula::dispatch;
using namespace alula::schedule;

SmallVector<Value> CommandConverter::getAllDims(ValueRange values) {
  SmallVector<Value> all;
  for (Value value : values)
    llvm::append_range(all, getDims(value));
  return all;
}

void CommandConverter::takeDims(ValueRange values, ValueRange sizes) {
  for (Value value : values) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      continue;
    auto count = static_cast<size_t>(type.getNumDynamicDims());
    dims[value] = SmallVector<Value>(sizes.take_front(count));
    sizes = sizes.drop_front(count);
  }
}

Value CommandConverter::load(Value tensor) {
  Type type = cast<RankedTensorType>(tensor.getType()).getElementType();
  return builder.create<LoadOp>(location, type, getSlot(tensor), makeIndex(0),
                                type);
}

LogicalResult CommandConverter::convertLoop(stablehlo::WhileOp loop) {
  move(loop);
  SmallVector<Value> start = getAllDims(loop.getOperand());
  SmallVector<Type> types(start.size(), builder.getIndexType());
  SmallVector<Location> locations(start.size(), location);
  auto made = builder.create<scf::WhileOp>(location, types, start);
  OpBuilder::InsertionGuard guard(builder);

  Block *before = builder.createBlock(&made.getBefore(), {}, types, locations);
  Block &condition = loop.getCond().front();
  takeDims(condition.getArguments(), before->getArguments());
  if (failed(convertBlock(condition)))
    return failure();
  Value flag = load(condition.getTerminator()->getOperand(0));
  builder.create<scf::ConditionOp>(location, flag, before->getArguments());

  Block *after = builder.createBlock(&made.getAfter(), {}, types, locations);
  Block &body = loop.getBody().front();
  takeDims(body.getArguments(), after->getArguments());
  if (failed(convertBlock(body)))
    return failure();
  builder.create<scf::YieldOp>(location,
                               getAllDims(body.getTerminator()->getOperands()));
  takeDims(loop.getResults(), made.getResults());
  return success();
}

LogicalResult CommandConverter::convertBranch(Region &from, Region &to) {
  OpBuilder::InsertionGuard guard(builder);
  if (to.empty())
    builder.createBlock(&to);
  else
    builder.setInsertionPointToEnd(&to.front());
  if (failed(convertBlock(from.front())))
    return failure();
  builder.create<scf::YieldOp>(
      location, getAllDims(from.front().getTerminator()->getOperands()));
  return success();
}

SmallVector<Type> CommandConverter::getDimTypes(ValueRange values) {
  int64_t count = 0;
  for (Value value : values)
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      count += type.getNumDynamicDims();
  return SmallVector<Type>(static_cast<size_t>(count), builder.getIndexType());
}

LogicalResult CommandConverter::convertIf(stablehlo::IfOp branches) {
  Value flag = load(branches.getPred());
  OperationState state(location, scf::IfOp::getOperationName());
  state.addOperands(flag);
  state.addTypes(getDimTypes(branches.getResults()));
  state.addRegion();
  state.addRegion();
  auto made = cast<scf::IfOp>(builder.create(state));
  if (failed(convertBranch(branches.getTrueBranch(), made.getThenRegion())) ||
      failed(convertBranch(branches.getFalseBranch(), made.getElseRegion())))
    return failure();
  takeDims(branches.getResults(), made.getResults());
  return success();
}

LogicalResult CommandConverter::convertCase(stablehlo::CaseOp branches) {
  Value index = builder.create<arith::IndexCastOp>(
      location, builder.getIndexType(), load(branches.getIndex()));
  // The last branch is that of every other index.
  auto regions = branches.getBranches();
  SmallVector<int64_t> cases;
  for (size_t i = 0; i + 1 < regions.size(); ++i)
    cases.push_back(static_cast<int64_t>(i));
  auto made = builder.create<scf::IndexSwitchOp>(
      location, getDimTypes(branches.getResults()), index, cases,
      static_cast<unsigned>(cases.size()));
  for (auto [from, to] : llvm::zip(regions.drop_back(), made.getCaseRegions()))
    if (failed(convertBranch(from, to)))
      return failure();
  if (failed(convertBranch(regions.back(), made.getDefaultRegion())))
    return failure();
  takeDims(branches.getResults(), made.getResults());
  return success();
}
