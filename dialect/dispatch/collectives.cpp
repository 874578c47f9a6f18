// Verifiers of collectives: who takes part, and how much everybody gets.

#include "dialect/dispatch/collectives.h"

#include "alula/artifact.h"
#include "dialect/dispatch/element_type.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace alula::dispatch;

#include "dialect/dispatch/collective_kinds.cpp.inc"

int64_t alula::dispatch::getGroupSize(CollectiveKind kind, ArrayAttr groups) {
  int64_t size = 1;
  if (kind != CollectiveKind::Permute)
    for (auto group : groups.getAsRange<DenseI64ArrayAttr>())
      size = std::max(size, static_cast<int64_t>(group.size()));
  return size;
}

int64_t alula::dispatch::countGivenBlocks(CollectiveKind kind,
                                          ArrayAttr groups) {
  return kind == CollectiveKind::ReduceScatter ||
                 kind == CollectiveKind::AllToAll
             ? getGroupSize(kind, groups)
             : 1;
}

int64_t alula::dispatch::countGottenBlocks(CollectiveKind kind,
                                           ArrayAttr groups) {
  return kind == CollectiveKind::AllGather || kind == CollectiveKind::AllToAll
             ? getGroupSize(kind, groups)
             : 1;
}

bool alula::dispatch::isKnownReduction(Reduction reduction, Type elementType) {
  std::optional<alula_dtype> dtype = getDtype(elementType);
  return dtype &&
         alula_reduction_takes(static_cast<uint32_t>(reduction), *dtype);
}

// ---- Text: [[0, 2], [1, 3]] ----

static ParseResult parseGroups(OpAsmParser &parser, ArrayAttr &groups) {
  SmallVector<Attribute> all;
  auto parseGroup = [&]() -> ParseResult {
    SmallVector<int64_t> members;
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
          return parser.parseInteger(members.emplace_back());
        }))
      return failure();
    all.push_back(parser.getBuilder().getDenseI64ArrayAttr(members));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseGroup))
    return failure();
  groups = parser.getBuilder().getArrayAttr(all);
  return success();
}

static void printGroups(OpAsmPrinter &printer, Operation *, ArrayAttr groups) {
  printer << '[';
  llvm::interleaveComma(groups.getAsRange<DenseI64ArrayAttr>(), printer,
                        [&](DenseI64ArrayAttr group) {
                          printer << '[';
                          llvm::interleaveComma(group.asArrayRef(), printer);
                          printer << ']';
                        });
  printer << ']';
}

#define GET_OP_CLASSES
#include "dialect/dispatch/collectives.cpp.inc"

// ---- Verifiers ----

namespace {
LogicalResult verifyPairs(Operation *op, ArrayAttr groups) {
  llvm::DenseSet<int64_t> sources, targets;
  for (auto pair : groups.getAsRange<DenseI64ArrayAttr>())
    if (pair.size() != 2 || !sources.insert(pair[0]).second ||
        !targets.insert(pair[1]).second)
      return op->emitOpError()
             << "groups must be pairs, with each source and each target once: "
             << pair.asArrayRef();
  return success();
}

LogicalResult verifyGroups(Operation *op, CollectiveKind kind, ArrayAttr groups,
                           int64_t participants) {
  for (auto group : groups.getAsRange<DenseI64ArrayAttr>())
    for (int64_t member : group.asArrayRef())
      if (member < 0 || member >= participants)
        return op->emitOpError()
               << "no participant " << member << ", there are " << participants;
  if (kind == CollectiveKind::Permute)
    return verifyPairs(op, groups);
  bool isEven =
      kind != CollectiveKind::AllReduce && kind != CollectiveKind::Broadcast;
  if (isEven && groups.empty())
    return op->emitOpError() << "must have a group";
  llvm::DenseSet<int64_t> seen;
  for (auto group : groups.getAsRange<DenseI64ArrayAttr>()) {
    if (group.empty() || (isEven && group.size() != getGroupSize(kind, groups)))
      return op->emitOpError()
             << "groups must have the same size: " << group.size() << " and "
             << getGroupSize(kind, groups);
    for (int64_t member : group.asArrayRef())
      if (!seen.insert(member).second)
        return op->emitOpError()
               << "participant " << member << " is in two groups";
  }
  return success();
}

LogicalResult verifyReduction(Operation *op, CollectiveKind kind,
                              Reduction reduction, Type element) {
  bool reduces = kind == CollectiveKind::AllReduce ||
                 kind == CollectiveKind::ReduceScatter;
  bool isFine = reduces ? isKnownReduction(reduction, element)
                        : reduction == Reduction::None;
  if (!isFine)
    return op->emitOpError()
           << stringifyCollectiveKind(kind) << " of " << element
           << " can't reduce by " << stringifyReduction(reduction);
  return success();
}

/// Of those on tensors.
template <typename Op> LogicalResult verifyTensors(Op op) {
  CollectiveKind kind = op.getKind();
  auto given = cast<RankedTensorType>(op.getOperand().getType());
  auto gotten = cast<RankedTensorType>(op->getResult(0).getType());
  if (failed(verifyGroups(op, kind, op.getGroups(),
                          static_cast<int64_t>(op.getParticipants()))) ||
      failed(
          verifyReduction(op, kind, op.getReduction(), given.getElementType())))
    return failure();
  if (given.getElementType() != gotten.getElementType() ||
      given.getNumElements() * countGottenBlocks(kind, op.getGroups()) !=
          gotten.getNumElements() * countGivenBlocks(kind, op.getGroups()))
    return op.emitOpError() << stringifyCollectiveKind(kind) << " of " << given
                            << " can't give " << gotten;
  return success();
}
} // namespace

LogicalResult CollectiveOp::verify() { return verifyTensors(*this); }

LogicalResult CollectiveStartOp::verify() { return verifyTensors(*this); }

LogicalResult CollectiveDoneOp::verify() {
  auto start = getStarted().getDefiningOp<CollectiveStartOp>();
  if (!start || start.getOperand() != getOperand() ||
      start->getBlock() != (*this)->getBlock())
    return emitOpError()
           << "must end what a 'dispatch.collective_start' of its "
              "block has begun with this operand";
  return success();
}

LogicalResult StartCollectiveOp::verify() {
  if (failed(verifyGroups(*this, getKind(), getGroups(),
                          static_cast<int64_t>(getParticipants()))))
    return failure();
  return verifyReduction(*this, getKind(), getReduction(), getElementType());
}
