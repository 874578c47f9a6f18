#include "compiler/partition/local_values.h"

#include "dialect/stablehlo/ops.h"

#include "llvm/Support/Path.h"

using namespace mlir;

namespace alula::partition {

LocalValues::LocalValues(func::FuncOp function, int64_t devices,
                         RewriterBase &rewriter)
    : rewriter(rewriter),
      reshards(rewriter, devices,
               [this](StringRef name, int64_t bytes, const Sharding *from,
                      const Sharding *to) { note(name, bytes, from, to); }),
      names(function->getParentOfType<ModuleOp>(), devices) {}

void LocalValues::set(Value value, Value local, Sharding sharding) {
  locals[value] = {local, std::move(sharding), getStaticType(value), {}};
}

void LocalValues::addOther(Value value, Value local, const Sharding &sharding) {
  locals[value].others.emplace_back(sharding, local);
}

/// Whether what is in a block can be used where ops are being built.
bool LocalValues::isVisible(Value value) const {
  Block *home = value.getParentBlock();
  for (Block *block = rewriter.getInsertionBlock(); block;) {
    if (block == home)
      return true;
    Operation *parent = block->getParentOp();
    block = parent ? parent->getBlock() : nullptr;
  }
  return false;
}

/// Before the loops that a value comes from outside of, so that it is moved
/// once.
void LocalValues::leaveLoops(Value value) {
  Block *home = value.getParentBlock();
  while (rewriter.getInsertionBlock() != home) {
    auto loop = dyn_cast_or_null<stablehlo::WhileOp>(
        rewriter.getInsertionBlock()->getParentOp());
    if (!loop)
      return;
    rewriter.setInsertionPoint(loop);
  }
}

Value LocalValues::get(Value value, const Sharding &wanted) {
  Local &known = locals[value];
  if (!known.type || known.sharding == wanted)
    return known.value;
  double best = getCost(planReshard(known.type, known.sharding, wanted),
                        known.type, known.sharding);
  const Sharding *from = &known.sharding;
  Value source = known.value;
  for (auto &[sharding, other] : known.others) {
    if (!isVisible(other))
      continue;
    if (sharding == wanted)
      return other;
    double cost = getCost(planReshard(known.type, sharding, wanted), known.type,
                          sharding);
    if (cost < best) {
      best = cost;
      from = &sharding;
      source = other;
    }
  }
  OpBuilder::InsertionGuard guard(rewriter);
  leaveLoops(source);
  Value made = reshards.build(source, known.type, *from, wanted, Reducer::Sum);
  known.others.emplace_back(wanted, made);
  return made;
}

Value LocalValues::getWhole(Value value) {
  const Local &known = locals[value];
  return get(value, Sharding(known.type ? known.type.getRank() : 0));
}

void LocalValues::note(StringRef name, int64_t bytes, const Sharding *from,
                       const Sharding *to) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << name << " of " << bytes << " bytes for " << reason.what << " "
      << reason.number << " of ";
  if (reason.op) {
    out << reason.op->getName();
    if (auto place = reason.op->getLoc()->findInstanceOf<FileLineColLoc>())
      out << " (" << llvm::sys::path::filename(place.getFilename().strref())
          << ":" << place.getLine() << ")";
  } else {
    out << "main";
  }
  if (from) {
    out << ": ";
    print(out, *from);
    out << " to ";
    print(out, *to);
  }
  if (!reason.why.empty())
    out << ", " << reason.why;
  ++notes[text];
}

void LocalValues::print(raw_ostream &out, const Sharding &sharding) {
  sdy::TensorShardingAttr attribute = names.print(sharding);
  out << "[";
  llvm::interleaveComma(attribute.getDimShardings(), out, [&](auto dim) {
    std::string text;
    llvm::raw_string_ostream(text) << dim;
    size_t begin = text.find('{');
    out << StringRef(text).slice(begin, text.find('}') + 1);
  });
  out << "]";
  if (!sharding.unreduced.empty())
    out << " of parts";
}

SmallVector<Attribute> LocalValues::getNotes() const {
  SmallVector<Attribute> texts;
  for (const auto &[text, count] : notes)
    texts.push_back(StringAttr::get(
        rewriter.getContext(),
        count == 1 ? text : std::to_string(count) + " times " + text));
  return texts;
}

} // namespace alula::partition
