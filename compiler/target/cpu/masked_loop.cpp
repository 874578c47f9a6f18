// Peels the last iteration off a loop.

#include "compiler/target/cpu/masked_loop.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

using namespace alula::cpu;
using namespace llvm;
using namespace llvm::PatternMatch;

std::optional<MaskedLoop> MaskedLoop::find(Loop &loop) {
  MaskedLoop found(loop.getHeader());
  if (loop.getNumBlocks() != 1 || !found.findIndex() || !found.findMasks())
    return std::nullopt;
  found.carryMasked();
  for (PHINode &phi : loop.getHeader()->phis())
    if (phi.isUsedOutsideOfBlock(loop.getHeader()))
      return std::nullopt;
  return found;
}

bool MaskedLoop::findIndex() {
  branch = dyn_cast<BranchInst>(block->getTerminator());
  if (!branch || !branch->isConditional() || branch->getSuccessor(1) != block)
    return false;
  end = dyn_cast<ICmpInst>(branch->getCondition());
  if (!end || !end->hasOneUse() || end->getPredicate() != CmpInst::ICMP_EQ)
    return false;
  const APInt *limit, *each;
  Value *phi;
  if (!match(end->getOperand(1), m_APInt(limit)) ||
      !match(end->getOperand(0), m_Add(m_Value(phi), m_APInt(each))))
    return false;
  index = dyn_cast<PHINode>(phi);
  if (!index || index->getParent() != block ||
      index->getNumIncomingValues() != 2 ||
      index->getIncomingValueForBlock(block) != end->getOperand(0) ||
      !index->getType()->isIntegerTy(64))
    return false;
  entry = index->getIncomingBlock(index->getIncomingBlock(0) == block);
  step = each->getZExtValue();
  last = limit->getZExtValue() - step;
  return match(index->getIncomingValueForBlock(entry), m_Zero()) && step > 0 &&
         limit->ugt(step) && last % step == 0;
}

/// Whether a value is another one plus so much in each lane, in some additions.
static bool isSumOf(Value *sum, Value *from, uint64_t wanted) {
  APInt total(64, 0);
  const APInt *each;
  Value *x;
  while (sum != from) {
    if (!match(sum, m_c_Add(m_Value(x), m_APInt(each))))
      return false;
    total += each->zextOrTrunc(64);
    sum = x;
  }
  return total == wanted;
}

/// What a vector is in the iteration in which the index is 0, if it is the
/// splat index plus a constant.
Constant *MaskedLoop::findLanes(Value *vector) const {
  Value *x;
  Constant *more;
  if (auto *phi = dyn_cast<PHINode>(vector)) {
    auto *first = phi->getParent() == block
                      ? dyn_cast<Constant>(phi->getIncomingValueForBlock(entry))
                      : nullptr;
    bool isSteady =
        first && isSumOf(phi->getIncomingValueForBlock(block), phi, step);
    return isSteady ? first : nullptr;
  }
  if (match(vector, m_Add(m_Value(x), m_Constant(more)))) {
    Constant *lanes = findLanes(x);
    return lanes ? ConstantExpr::getAdd(lanes, more) : nullptr;
  }
  if (match(vector,
            m_Shuffle(m_InsertElt(m_Value(), m_Specific(index), m_ZeroInt()),
                      m_Value(), m_ZeroMask())))
    return Constant::getNullValue(vector->getType());
  return nullptr;
}

bool MaskedLoop::findMasks() {
  for (Instruction &instruction : *block) {
    auto *isInside = dyn_cast<ICmpInst>(&instruction);
    if (!isInside || !isInside->getType()->isVectorTy() ||
        !(isInside->getPredicate() == CmpInst::ICMP_ULE ||
          isInside->getPredicate() == CmpInst::ICMP_ULT))
      continue;
    Constant *lanes = findLanes(isInside->getOperand(0));
    if (!lanes)
      continue;
    masks.push_back({isInside, lanes});
    if (!isTrueBefore(masks.back()))
      return false;
  }
  return !masks.empty();
}

/// Lanes only grow: true in the last iteration but one is true in all before.
bool MaskedLoop::isTrueBefore(const Mask &mask) const {
  const APInt *bound;
  if (!match(mask.isInside->getOperand(1), m_APInt(bound)))
    return false;
  APInt before(bound->getBitWidth(), last - step);
  auto *type = cast<FixedVectorType>(mask.lanes->getType());
  for (unsigned k = 0; k < type->getNumElements(); ++k) {
    auto *lane = dyn_cast_or_null<ConstantInt>(mask.lanes->getAggregateElement(k));
    bool overflows = true;
    if (!lane ||
        !ICmpInst::compare(lane->getValue().uadd_ov(before, overflows), *bound,
                           mask.isInside->getPredicate()) ||
        overflows)
      return false;
  }
  return true;
}

/// The vectorizer lets a reduction go on with lanes that are none, and takes
/// the previous ones in their place after the loop. That is done in the
/// iteration itself here.
void MaskedLoop::carryMasked() {
  for (PHINode &phi : block->phis()) {
    Value *next = phi.getIncomingValueForBlock(block);
    for (User *user : phi.users()) {
      auto *select = dyn_cast<SelectInst>(user);
      if (!select || select->getTrueValue() != next ||
          select->getFalseValue() != &phi ||
          llvm::none_of(masks, [&](const Mask &mask) {
            return mask.isInside == select->getCondition();
          }))
        continue;
      select->moveBefore(branch);
      phi.setIncomingValueForBlock(block, select);
      break;
    }
  }
}

void MaskedLoop::cut() {
  BasicBlock *copied = makeLast();
  branch->setSuccessor(0, copied);
  end->setOperand(1, getIndex(last));
  for (const Mask &mask : masks)
    mask.isInside->replaceAllUsesWith(
        ConstantInt::getTrue(mask.isInside->getType()));
}

Constant *MaskedLoop::getIndex(uint64_t value) const {
  return ConstantInt::get(index->getType(), value);
}

/// The loop-carried values in the last iteration.
Value *MaskedLoop::getLast(PHINode &phi) const {
  if (&phi == index)
    return getIndex(last);
  Constant *lanes = phi.getType()->isVectorTy() ? findLanes(&phi) : nullptr;
  return lanes ? ConstantExpr::getAdd(lanes,
                                      ConstantInt::get(phi.getType(), last))
               : phi.getIncomingValueForBlock(block);
}

BasicBlock *MaskedLoop::makeLast() {
  BasicBlock *after = branch->getSuccessor(0);
  auto *copied = BasicBlock::Create(block->getContext(), "masked",
                                    block->getParent(), after);
  ValueToValueMapTy values;
  for (PHINode &phi : block->phis())
    values[&phi] = getLast(phi);
  for (Instruction &instruction :
       make_range(block->getFirstNonPHIIt(), branch->getIterator())) {
    Instruction *copy = instruction.clone();
    copy->setName(instruction.getName());
    copy->insertInto(copied, copied->end());
    values[&instruction] = copy;
    RemapInstruction(copy, values,
                     RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
  }
  BranchInst::Create(after, copied);
  after->replacePhiUsesWith(block, copied);
  // The exit edge of the loop goes through the peeled iteration.
  for (Instruction &instruction :
       make_range(block->getFirstNonPHIIt(), branch->getIterator()))
    instruction.replaceUsesWithIf(values[&instruction], [&](Use &use) {
      BasicBlock *user = cast<Instruction>(use.getUser())->getParent();
      return user != block && user != copied;
    });
  return copied;
}
