#pragma once

#include "mlir/IR/DialectInterface.h"
#include "mlir/IR/Operation.h"

#include "llvm/ADT/DenseMap.h"

#include <array>
#include <optional>

// How each op reads its operands, and what an element of its results costs:
// facts of the language, told once by each dialect. What a room makes of them,
// which ops may share a kernel say, is derived from them there.

namespace mlir::stablehlo {

/// Which elements of one operand an element of the result is made of.
enum class Access : uint8_t {
  Unread,      ///< None: at most its type or size counts.
  Elementwise, ///< The one at the same index, or the only one.
  Reshaped,    ///< The one with the same number in row-major order.
  Permuted,    ///< One; dimensions change places, and each element is read.
  Moved,       ///< At most one, at an index computed from the result's; no
               ///< element is read twice: slice, reverse, pad.
  Repeated,    ///< One, which others read too: broadcast.
  Part,        ///< One or none; other operands give the other results.
  Fill,        ///< The only one, where nothing else is: padding values and
               ///< initial values.
  Picked,      ///< One, at a place that elements of `Indices` tell.
  Indices,     ///< Places in other operands.
  Sizes,       ///< As a whole, before any: sizes and edges of the result.
  Bits,        ///< Bits of a wider one, or several narrower ones.
  Updated,     ///< The same one, where other operands give no other: the op
               ///< changes it in place.
  Scattered,   ///< Those that `Indices` or values send there.
  Window,      ///< Neighbours, which others read too.
  Reduced,     ///< A row; each element is read for one result.
  Contracted,  ///< A row; each is read for many results: products.
  Sorted,      ///< One that values of the row tell.
  Whole,       ///< Perhaps all.
  Carried,     ///< The result of its number is this value, for all that is
               ///< known outside of the op.
};

/// A set of ways to read.
struct AccessSet {
  uint32_t bits;
  constexpr AccessSet(Access access) : bits(1u << unsigned(access)) {}
  constexpr bool contains(Access access) const {
    return bits >> unsigned(access) & 1;
  }
};
constexpr AccessSet operator|(AccessSet a, AccessSet b) {
  a.bits |= b.bits;
  return a;
}
constexpr AccessSet operator|(Access a, Access b) {
  return AccessSet(a) | AccessSet(b);
}

/// What an element of the result costs besides reading, if it is a real number
/// or an integer; of ops that read rows, each step. In this order.
enum class Cost : uint8_t {
  None,        ///< Nothing is computed: places, names, types of equal bits.
  Convert,     ///< The number in another type.
  Instruction, ///< One instruction of most machines.
  Few,         ///< A few: both sides of a comparison, bounds, roundings.
  Division,    ///< One, of many cycles.
  Root,        ///< The same; numerical libraries count it with functions.
  Function,    ///< A polynomial or a call.
};

/// What makes the elements of the results.
enum class Source : uint8_t {
  Operands, ///< The operands alone, as their `Access` says.
  Regions,  ///< Regions or functions that run once or repeatedly.
  Outside,  ///< Other devices, the host program, unknown code.
};

/// One op's facts.
struct OpAccess {
  enum class Count : uint8_t { One, PerResult, Rest };
  struct Group {
    Access access = Access::Unread;
    Count count = Count::One;
  };
  /// Of consecutive operands.
  std::array<Group, 5> groups;
  uint8_t numGroups = 0;
  Cost cost = Cost::None;
  Source source = Source::Operands;

  /// As the op is registered; `getAccess` looks at types too.
  Access getAccess(Operation *op, unsigned operand) const;
};

/// What a dialect tells of its ops.
class AccessInterface : public DialectInterface::Base<AccessInterface> {
public:
  using Table = llvm::DenseMap<TypeID, OpAccess>;

  /// The table outlives the dialect.
  AccessInterface(Dialect *dialect, const Table &table)
      : Base(dialect), table(table) {}

  /// Null for an op that is not in the table.
  const OpAccess *find(OperationName name) const {
    auto found = table.find(name.getTypeID());
    return found == table.end() ? nullptr : &found->second;
  }

private:
  const Table &table;
};

/// Fills a table: each row holds for several ops.
class AccessTableBuilder {
public:
  using Group = OpAccess::Group;

  template <typename... Ops>
  void add(std::initializer_list<Group> groups, Cost cost = Cost::None,
           Source source = Source::Operands) {
    OpAccess access;
    for (Group group : groups)
      access.groups[access.numGroups++] = group;
    access.cost = cost;
    access.source = source;
    ((table[TypeID::get<Ops>()] = access), ...);
  }
  AccessInterface::Table take() { return std::move(table); }

  static constexpr Group rest(Access access) {
    return {access, OpAccess::Count::Rest};
  }
  static constexpr Group perResult(Access access) {
    return {access, OpAccess::Count::PerResult};
  }

private:
  AccessInterface::Table table;
};

/// Null for ops whose dialect says nothing of them; their operands and results
/// may mean anything, and the questions below are answered with no.
const OpAccess *findAccess(Operation *op);

/// How an op reads an operand. Of an unknown op: `Whole`.
Access getAccess(Operation *op, unsigned operand);
inline Access getAccess(OpOperand &use) {
  return getAccess(use.getOwner(), use.getOperandNumber());
}

/// Of a reshape: whether it only adds or drops dimensions of one element, so that
/// indices need no division. What only the call knows is the same before and
/// after if all others are.
bool keepsDims(Operation *reshape);

/// Whether results are made of operands alone, each of which is read in one of
/// these ways. True of ops that have no operands, such as iota.
bool readsOnly(Operation *op, AccessSet ways);
/// Whether an operand is read in one of these ways.
bool readsAny(Operation *op, AccessSet ways);

/// `None` for unknown ops.
Cost getElementCost(Operation *op);

/// Runs regions, once or repeatedly: while, if, case.
bool isControlFlow(Operation *op);
/// Gets results from elsewhere or sends something there.
bool reachesOutside(Operation *op);

/// How many elements of its operands an element of a result is made of; the
/// depth of a comparison tree for what orders or transforms rows. Nothing if
/// this depends on sizes that are not known.
std::optional<int64_t> countTerms(Operation *op);

/// Of the ops of this dialect.
const AccessInterface::Table &getAccessTable();

} // namespace mlir::stablehlo

MLIR_DECLARE_EXPLICIT_TYPE_ID(mlir::stablehlo::AccessInterface)
