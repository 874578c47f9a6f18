// Cuts off the steps of a loop that are masked. With a shift of 3 and vectors
// of 4, 10 numbers are
//   - - - 0   1 2 3 4   5 6 7 8   9 - - -
// What is summed up in each lane are the same numbers in the same order as
// without a shift, but in another lane: lanes are put in order at the end.

#include "compiler/target/cpu/masked_loop.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

using namespace alula::cpu;
using namespace llvm;
using namespace llvm::PatternMatch;

namespace {
/// What is shorter isn't worth one more step.
constexpr uint64_t leastShifted = 512;

/// Where a masked load or store is in memory.
Use *getAddress(Instruction &instruction) {
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  if (!call)
    return nullptr;
  if (call->getIntrinsicID() == Intrinsic::masked_load)
    return &call->getArgOperandUse(0);
  if (call->getIntrinsicID() == Intrinsic::masked_store)
    return &call->getArgOperandUse(1);
  return nullptr;
}

Type *getVectorType(Instruction &access) {
  return isa<StoreInst>(access) || access.getType()->isVoidTy()
             ? access.getOperand(0)->getType()
             : access.getType();
}
} // namespace

// ---- What there is ----

std::optional<MaskedLoop> MaskedLoop::find(Loop &loop,
                                           ScalarEvolution &evolution) {
  MaskedLoop found(loop.getHeader());
  if (loop.getNumBlocks() != 1 || !found.findIndex() || !found.findMasks())
    return std::nullopt;
  found.carryMasked();
  for (PHINode &phi : loop.getHeader()->phis())
    if (phi.isUsedOutsideOfBlock(loop.getHeader()))
      return std::nullopt;
  found.findShift(evolution);
  return found;
}

bool MaskedLoop::findIndex() {
  branch = dyn_cast<BranchInst>(block->getTerminator());
  if (!branch || !branch->isConditional() || branch->getSuccessor(1) != block)
    return false;
  end = dyn_cast<ICmpInst>(branch->getCondition());
  if (!end || !end->hasOneUse() || end->getPredicate() != CmpInst::ICMP_EQ)
    return false;
  const APInt *last, *each;
  Value *phi;
  if (!match(end->getOperand(1), m_APInt(last)) ||
      !match(end->getOperand(0), m_Add(m_Value(phi), m_APInt(each))))
    return false;
  index = dyn_cast<PHINode>(phi);
  if (!index || index->getParent() != block ||
      index->getNumIncomingValues() != 2 ||
      index->getIncomingValueForBlock(block) != end->getOperand(0) ||
      !index->getType()->isIntegerTy(64))
    return false;
  entry = index->getIncomingBlock(index->getIncomingBlock(0) == block);
  limit = last->getZExtValue();
  step = each->getZExtValue();
  return match(index->getIncomingValueForBlock(entry), m_Zero()) && step > 0 &&
         limit % step == 0 && limit > step;
}

/// What a vector is in the step in which the index is 0, if it is the index
/// and something that stays.
Constant *MaskedLoop::findLanes(Value *vector) const {
  Value *x;
  Constant *more;
  if (auto *phi = dyn_cast<PHINode>(vector)) {
    const APInt *each;
    auto *first = phi->getParent() == block
                      ? dyn_cast<Constant>(phi->getIncomingValueForBlock(entry))
                      : nullptr;
    bool isSteady = first &&
                    match(phi->getIncomingValueForBlock(block),
                          m_c_Add(m_Specific(phi), m_APInt(each))) &&
                    *each == step;
    return isSteady ? first : nullptr;
  }
  if (match(vector, m_Add(m_Value(x), m_Constant(more)))) {
    Constant *first = findLanes(x);
    return first ? ConstantExpr::getAdd(first, more) : nullptr;
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
    const APInt *bound;
    if (!isInside || !isInside->getType()->isVectorTy() ||
        !(isInside->getPredicate() == CmpInst::ICMP_ULE ||
          isInside->getPredicate() == CmpInst::ICMP_ULT) ||
        !match(isInside->getOperand(1), m_APInt(bound)))
      continue;
    Constant *numbers = findLanes(isInside->getOperand(0));
    if (!numbers)
      continue;
    uint64_t count = cast<FixedVectorType>(numbers->getType())->getNumElements();
    auto getLane = [&](unsigned k) {
      auto *lane = dyn_cast_or_null<ConstantInt>(numbers->getAggregateElement(k));
      return lane ? lane->getZExtValue() : limit;
    };
    uint64_t first = getLane(0);
    for (unsigned k = 0; k < count; ++k)
      if (getLane(k) != first + k || getLane(k) >= step)
        return false;
    uint64_t inside = bound->getZExtValue() +
                      (isInside->getPredicate() == CmpInst::ICMP_ULE);
    if (!masks.empty() && (inside != length || count != lanes))
      return false;
    length = inside;
    lanes = count;
    masks.push_back({isInside, first});
  }
  return !masks.empty() && length >= step && length < limit &&
         length > limit - step;
}

/// The vectorizer lets a reduction go on with lanes that are none, and takes
/// what was before in their place behind the loop. That is done in each step
/// here, as there may be several masked ones.
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

// ---- Whether to shift ----

void MaskedLoop::findShift(ScalarEvolution &evolution) {
  if (length < leastShifted || length / step < 2 || !isPowerOf2_64(lanes) ||
      !mayShift(index) || !findSums())
    return;
  // What is behind the loop is what it carries.
  for (Instruction &instruction : *block)
    for (User *user : instruction.users()) {
      bool isCarried = llvm::any_of(block->phis(), [&](PHINode &phi) {
        return phi.getIncomingValueForBlock(block) == &instruction;
      });
      if (cast<Instruction>(user)->getParent() != block && !isCarried)
        return;
    }
  stream = findStream(evolution);
}

/// The address of what most is gained for: more than half of what is read and
/// written lies in memory just as this does, and not at the start of a vector.
Value *MaskedLoop::findStream(ScalarEvolution &evolution) const {
  SmallVector<const SCEV *> places;
  SmallVector<Value *> addresses;
  for (Instruction &instruction : *block) {
    if (!instruction.mayReadOrWriteMemory())
      continue;
    Use *address = getAddress(instruction);
    auto *recurrence =
        address ? dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(*address)) : nullptr;
    if (!recurrence ||
        !isa<SCEVUnknown>(evolution.getPointerBase(recurrence)))
      return nullptr;
    addresses.push_back(*address);
    places.push_back(evolution.removePointerBase(recurrence->getStart()));
  }
  if (addresses.empty())
    return nullptr;
  for (auto [k, address] : llvm::enumerate(addresses)) {
    auto *access = cast<Instruction>(
        *llvm::find_if(address->users(), [&](User *user) {
          return getAddress(*cast<Instruction>(user));
        }));
    uint64_t bits = block->getDataLayout().getTypeSizeInBits(
        getVectorType(*access));
    auto isWhole = [&](const SCEV *place) {
      return 8ull << std::min(evolution.getMinTrailingZeros(place), 32u) >= bits;
    };
    if (isWhole(places[k]))
      continue;
    auto alike = llvm::count_if(places, [&](const SCEV *place) {
      return isWhole(evolution.getMinusSCEV(place, places[k]));
    });
    return static_cast<size_t>(alike) * 2 > places.size() ? address : nullptr;
  }
  return nullptr;
}

bool MaskedLoop::onlyMasks(Value *vector) const {
  return llvm::all_of(vector->users(), [&](User *user) {
    return llvm::any_of(masks, [&](const Mask &mask) {
             return mask.isInside == user;
           }) ||
           ((isa<ShuffleVectorInst, InsertElementInst>(user) ||
             match(user, m_Add(m_Value(), m_Constant()))) &&
            onlyMasks(user));
  });
}

/// Whether the index is only for masks and addresses.
bool MaskedLoop::mayShift(Value *place) const {
  return llvm::all_of(place->uses(), [&](Use &use) {
    auto *user = cast<Instruction>(use.getUser());
    if (user == end->getOperand(0))
      return true;
    if (user->getParent() != block)
      return false;
    if (isa<InsertElementInst>(user))
      return place == index && onlyMasks(user);
    if (auto *address = dyn_cast<GetElementPtrInst>(user))
      return !address->getType()->isVectorTy() && mayShift(user);
    if (user->getOpcode() == Instruction::Add && user->getType()->isIntegerTy())
      return mayShift(user);
    return getAddress(*user) == &use;
  });
}

/// Sums of floats, for each mask one after the other.
bool MaskedLoop::findSums() {
  for (PHINode &phi : block->phis()) {
    if (&phi == index)
      continue;
    Value *next;
    auto *select =
        dyn_cast<SelectInst>(phi.getIncomingValueForBlock(block));
    if (!select || select->getFalseValue() != &phi || findLanes(&phi))
      return false;
    auto *mask = llvm::find_if(masks, [&](const Mask &mask) {
      return mask.isInside == select->getCondition();
    });
    if (mask == masks.end())
      return false;
    next = select->getTrueValue();
    if (!phi.getType()->isFPOrFPVectorTy() || isa<MinMaxIntrinsic>(next) ||
        match(next, m_Intrinsic<Intrinsic::maxnum>()) ||
        match(next, m_Intrinsic<Intrinsic::minnum>()))
      continue;
    auto *type = cast<FixedVectorType>(phi.getType());
    if (type->getPrimitiveSizeInBits() != 512 ||
        !(type->getElementType()->isFloatTy() ||
          type->getElementType()->isDoubleTy()) ||
        mask->firstLane != sums.size() * lanes % step)
      return false;
    sums.push_back({&phi, static_cast<unsigned>(mask->firstLane / lanes)});
  }
  return sums.size() * lanes % step == 0;
}

// ---- Cutting ----

void MaskedLoop::cut() {
  uint64_t whole = length / step * step;
  if (stream)
    makeShift();
  // The loop is copied as it is, before masks are all true in it.
  if (stream)
    makeFirst();
  makeLast();
  end->setOperand(1, getIndex(whole));
  for (const Mask &mask : masks)
    mask.isInside->replaceAllUsesWith(
        ConstantInt::getTrue(mask.isInside->getType()));
}

Constant *MaskedLoop::getIndex(uint64_t value) const {
  return ConstantInt::get(index->getType(), value);
}

/// What an address is in the first step, before it.
Value *MaskedLoop::makeAtStart(Value *value, Values &known) {
  auto *instruction = dyn_cast<Instruction>(value);
  if (!instruction || instruction->getParent() != block)
    return value;
  if (Value *made = known.lookup(value))
    return made;
  Instruction *copy = instruction->clone();
  for (Use &operand : copy->operands())
    operand.set(makeAtStart(operand, known));
  copy->insertBefore(entry->getTerminator());
  known[value] = copy;
  return copy;
}

void MaskedLoop::makeShift() {
  Values known;
  known[index] = getIndex(0);
  IRBuilder<> b(entry->getTerminator());
  auto *access = cast<Instruction>(*llvm::find_if(stream->users(), [](User *user) {
    return getAddress(*cast<Instruction>(user));
  }));
  uint64_t bytes =
      block->getDataLayout().getTypeSizeInBits(
          cast<VectorType>(getVectorType(*access))->getElementType()) /
      8;
  Value *address = makeAtStart(stream, known);
  b.SetInsertPoint(entry->getTerminator());
  shift = b.CreateAnd(
      b.CreateLShr(b.CreatePtrToInt(address, index->getType()), Log2_64(bytes)),
      getIndex(lanes - 1), "shift");
  // Addresses go by the number in its row, which may be before the first.
  b.SetInsertPoint(block, block->getFirstInsertionPt());
  auto *place = cast<Instruction>(b.CreateSub(index, shift, "place"));
  index->replaceUsesWithIf(place, [&](Use &use) {
    auto *user = cast<Instruction>(use.getUser());
    return user != place && user != end->getOperand(0) &&
           !isa<InsertElementInst>(user);
  });
  SmallVector<Instruction *> worklist{place};
  while (!worklist.empty())
    for (User *user : worklist.pop_back_val()->users())
      if (auto *next = cast<Instruction>(user);
          isa<GetElementPtrInst>(next) || next->getOpcode() == Instruction::Add) {
        next->dropPoisonGeneratingFlags();
        worklist.push_back(next);
      }
}

/// Which lanes are numbers of the loop in the step at `at`.
Value *MaskedLoop::makeMask(const Mask &mask, uint64_t at, Instruction *before) {
  uint64_t first = at + mask.firstLane, most = shift ? lanes - 1 : 0;
  IRBuilder<> b(before);
  Type *type = mask.isInside->getType();
  auto getNumbers = [&] {
    SmallVector<Constant *> numbers;
    for (uint64_t k = 0; k < lanes; ++k)
      numbers.push_back(b.getInt32(first + k));
    return ConstantVector::get(numbers);
  };
  auto compare = [&](CmpInst::Predicate predicate, Value *bound) {
    return b.CreateICmp(
        predicate, getNumbers(),
        b.CreateVectorSplat(lanes, b.CreateTrunc(bound, b.getInt32Ty())));
  };
  Value *isInside = ConstantInt::getTrue(type);
  if (first < most)
    isInside = compare(CmpInst::ICMP_UGE, shift);
  if (first >= length + most)
    return ConstantInt::getFalse(type);
  if (first + lanes > length) {
    Value *behind = getIndex(length);
    if (shift)
      behind = b.CreateAdd(behind, shift);
    isInside =
        b.CreateAnd(isInside, compare(CmpInst::ICMP_ULT, behind));
  }
  return isInside;
}

/// `values` has what the loop carries; what the step makes of it comes in.
BasicBlock *MaskedLoop::copyStep(uint64_t at, Values &values,
                                 BasicBlock *before) {
  auto *copied = BasicBlock::Create(block->getContext(), "masked",
                                    block->getParent(), before);
  values[index] = getIndex(at);
  for (Instruction &instruction :
       make_range(block->getFirstNonPHIIt(), branch->getIterator())) {
    Instruction *copy = instruction.clone();
    copy->setName(instruction.getName());
    copy->insertInto(copied, copied->end());
    values[&instruction] = copy;
    RemapInstruction(copy, values,
                     RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
  }
  for (const Mask &mask : masks) {
    auto *copy = cast<Instruction>(values[mask.isInside]);
    copy->replaceAllUsesWith(makeMask(mask, at, copy));
    copy->eraseFromParent();
    values.erase(mask.isInside);
  }
  return copied;
}

/// The lanes of two vectors from `by` on.
Value *MaskedLoop::rotate(Value *low, Value *high, Value *by,
                          Instruction *before) {
  IRBuilder<> b(before);
  auto *type = cast<FixedVectorType>(low->getType());
  bool isDouble = type->getElementType()->isDoubleTy();
  Type *place = isDouble ? b.getInt64Ty() : b.getInt32Ty();
  SmallVector<Constant *> numbers;
  for (uint64_t k = 0; k < lanes; ++k)
    numbers.push_back(ConstantInt::get(place, k));
  Value *places = b.CreateAdd(
      ConstantVector::get(numbers),
      b.CreateVectorSplat(lanes, b.CreateZExtOrTrunc(by, place)));
  return b.CreateIntrinsic(isDouble ? Intrinsic::x86_avx512_vpermi2var_pd_512
                                    : Intrinsic::x86_avx512_vpermi2var_ps_512,
                           {}, {low, places, high});
}

void MaskedLoop::makeFirst() {
  Values values;
  for (PHINode &phi : block->phis())
    values[&phi] = phi.getIncomingValueForBlock(entry);
  IRBuilder<> b(entry->getTerminator());
  // What a sum starts with goes with the first number.
  for (const Sum &sum : sums)
    if (sum.part == 0) {
      Value *start = sum.phi->getIncomingValueForBlock(entry);
      values[sum.phi] = rotate(start, start, b.CreateSub(getIndex(lanes), shift),
                               entry->getTerminator());
    }
  BasicBlock *first = copyStep(0, values, block);
  entry->getTerminator()->replaceSuccessorWith(block, first);
  BranchInst::Create(block, first);
  for (PHINode &phi : block->phis()) {
    Value *next = phi.getIncomingValueForBlock(block);
    Value *known = values.lookup(next);
    unsigned k = phi.getBasicBlockIndex(entry);
    phi.setIncomingBlock(k, first);
    phi.setIncomingValue(k, &phi == index ? getIndex(step)
                            : known       ? known
                                          : next);
  }
  entry = first;
}

void MaskedLoop::makeLast() {
  BasicBlock *after = branch->getSuccessor(0), *last = block;
  uint64_t all = shift ? length + lanes - 1 : length;
  SmallPtrSet<BasicBlock *, 4> inside{block};
  Values values;
  for (PHINode &phi : block->phis()) {
    Constant *numbers =
        phi.getType()->isVectorTy() ? findLanes(&phi) : nullptr;
    values[&phi] =
        numbers ? ConstantExpr::getAdd(
                      numbers, ConstantInt::get(phi.getType(),
                                                length / step * step))
                : phi.getIncomingValueForBlock(block);
  }
  for (uint64_t at = length / step * step; at < all; at += step) {
    BasicBlock *copied = copyStep(at, values, after);
    if (last == block)
      branch->setSuccessor(0, copied);
    else
      BranchInst::Create(copied, last);
    inside.insert(copied);
    last = copied;
    SmallVector<std::pair<PHINode *, Value *>> carried;
    for (PHINode &phi : block->phis())
      if (Value *next = values.lookup(phi.getIncomingValueForBlock(block)))
        carried.push_back({&phi, next});
    if (at + step < all)
      for (auto [phi, next] : carried)
        values[phi] = next;
  }
  Instruction *leave = BranchInst::Create(after, last);
  SmallVector<Value *> unshifted;
  for (size_t k = 0; shift && k < sums.size(); ++k) {
    auto get = [&](const Sum &sum) -> Value * {
      return values[sum.phi->getIncomingValueForBlock(block)];
    };
    size_t parts = step / lanes, group = k / parts * parts;
    unshifted.push_back(rotate(get(sums[k]),
                               get(sums[group + (k + 1) % parts]), shift, leave));
  }
  for (size_t k = 0; k < unshifted.size(); ++k)
    values[sums[k].phi->getIncomingValueForBlock(block)] = unshifted[k];
  after->replacePhiUsesWith(block, last);
  // All that comes behind the loop does so by way of the last step.
  for (Instruction &instruction : *block)
    if (Value *copy = values.lookup(&instruction);
        copy && !isa<PHINode>(instruction))
      instruction.replaceUsesWithIf(copy, [&](Use &use) {
        return !inside.contains(cast<Instruction>(use.getUser())->getParent());
      });
}
