// The operands and results of calls of linear algebra, as text:
//   "T*mn -> T*mn, i*k, i*m"
// Each has an element type and dimensions. T: any float or complex type, R and
// C: the real and the complex type that belong to it, S: the type of its sums
// of products, i: i32. *: the batch
// dimensions, the same everywhere. A letter is the same size everywhere; k and
// e follow from others: k = min(m, n), e = n - 1, r = b + 1. Sizes that only
// the host knows fit all.

#include "compiler/target/cpu/kernel/call_signature.h"

#include "compiler/kernel/element/element_form.h"
#include "dialect/stablehlo/ops.h"

#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using alula::kernel::ElementKind;
using alula::kernel::getElementKind;

namespace {
bool getFlag(stablehlo::CustomCallOp call, StringRef name) {
  auto config = call->getAttrOfType<DictionaryAttr>("mhlo.backend_config");
  auto value = config ? config.getAs<BoolAttr>(name) : BoolAttr();
  return value && value.getValue();
}

StringRef getSignature(stablehlo::CustomCallOp call) {
  unsigned vectors = getFlag(call, "left") + getFlag(call, "right");
  return llvm::StringSwitch<StringRef>(call.getCallTargetName())
      .Case("alula.lu", "T*mn -> T*mn, i*k, i*m")
      .Case("alula.lu_pivots_to_permutation", "i*p -> i*q")
      .Cases("alula.geqrf", "Qr", "T*mn -> T*mn, T*k")
      .Case("alula.geqp3", "T*mn, i*n -> T*mn, i*n, T*k")
      .Cases("alula.householder_product",
             "ProductOfElementaryHouseholderReflectors", "T*mn, T*p -> T*mn")
      .Case("alula.ormqr", getFlag(call, "left") ? "T*mp, T*q, T*ms -> T*ms"
                                                 : "T*mp, T*q, T*sm -> T*sm")
      .Case("alula.eigh", "T*nn -> T*nn, R*n")
      .Case("alula.tridiagonal", "T*nn -> T*nn, R*n, R*e, T*e")
      .Case("alula.svd", call.getNumResults() == 1 ? "T*mn -> R*k"
                         : getFlag(call, "full_matrices")
                             ? "T*mn -> R*k, T*mm, T*nn"
                             : "T*mn -> R*k, T*mk, T*kn")
      .Case("alula.hessenberg", "T*nn -> T*nn, T*e")
      .Case("alula.schur",
            call.getNumResults() == 1 ? "T*nn -> T*nn" : "T*nn -> T*nn, T*nn")
      .Case("alula.eig", vectors == 0   ? "T*nn -> C*n"
                         : vectors == 1 ? "T*nn -> C*n, C*nn"
                                        : "T*nn -> C*n, C*nn, C*nn")
      .Case("alula.ragged_rows_product", "T*rs, T*gsc, i*g -> S*rc")
      .Case("alula.ragged_sums_product", "T*rs, T*rc, i*g -> S*gsc")
      .Case("alula.sparse_product", "T*s, i*su, T*an -> T*bn")
      .Case("alula.sparse_rows_product", "T*s, i*r, i*s, T*an -> T*bn")
      .Case("alula.sparse_sampled", "T*mp, T*np, i*su -> T*s")
      .Case("alula.tridiagonal_solve", "T*n, T*n, T*n, T*nc -> T*nc")
      .Default("");
}

class Matcher {
public:
  bool matches(ValueRange values, StringRef texts) {
    SmallVector<StringRef> parts;
    texts.split(parts, ", ");
    return parts.size() == values.size() &&
           llvm::all_of(llvm::zip_equal(values, parts), [&](auto pair) {
             return matchesOne(std::get<0>(pair), std::get<1>(pair));
           });
  }

  /// What the sizes of operands must be to each other.
  bool relates(StringRef name) {
    auto isAtMost = [&](char a, char b) {
      return isOpen(a) || isOpen(b) || sizes[a] <= sizes[b];
    };
    if (name == "alula.lu_pivots_to_permutation")
      return isAtMost('p', 'q');
    if (name == "alula.ormqr")
      return isAtMost('q', 'p') && isAtMost('q', 'm');
    if (name.starts_with("alula.ragged_"))
      return element.isF32() || element.isF64() || element.isBF16();
    if (name.starts_with("alula.sparse_"))
      return (isOpen('u') || sizes['u'] == 2) &&
             (isOpen('r') || isOpen('b') || sizes['r'] == sizes['b'] + 1) &&
             (element.isF32() || element.isF64());
    if (sizes.contains('p'))
      return isAtMost('p', 'n') && isAtMost('n', 'm');
    return true;
  }

private:
  bool matchesOne(Value value, StringRef text) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !matchesElement(type.getElementType(), text[0]))
      return false;
    StringRef letters = text.drop_front(2);
    ArrayRef<int64_t> shape = type.getShape();
    if (shape.size() < letters.size())
      return false;
    ArrayRef<int64_t> leading = shape.drop_back(letters.size());
    if (!batch)
      batch = leading;
    if (batch->size() != leading.size())
      return false;
    for (auto [a, b] : llvm::zip_equal(*batch, leading))
      if (a != b && !ShapedType::isDynamic(a) && !ShapedType::isDynamic(b))
        return false;
    return llvm::all_of(
        llvm::zip_equal(letters, shape.take_back(letters.size())),
        [&](auto pair) { return bind(std::get<0>(pair), std::get<1>(pair)); });
  }

  bool matchesElement(Type type, char letter) {
    if (letter == 'i')
      return type.isSignlessInteger(32);
    if (!element) {
      element = type;
      ElementKind kind = getElementKind(type);
      return kind == ElementKind::Float || kind == ElementKind::Complex;
    }
    if (letter == 'S')
      return type == (element.isBF16() ? Float32Type::get(type.getContext())
                                       : element);
    auto complex = dyn_cast<ComplexType>(element);
    if (letter == 'R' && complex)
      return type == complex.getElementType();
    if (letter == 'C' && !complex)
      return isa<FloatType>(element) && type == ComplexType::get(element);
    return type == element;
  }

  bool isOpen(char letter) {
    return !sizes.contains(letter) || ShapedType::isDynamic(sizes[letter]);
  }

  bool bind(char letter, int64_t size) {
    if (!sizes.contains(letter) && letter == 'k' && !isOpen('m') && !isOpen('n'))
      sizes[letter] = std::min(sizes['m'], sizes['n']);
    if (!sizes.contains(letter) && letter == 'e' && !isOpen('n'))
      sizes[letter] = std::max<int64_t>(sizes['n'] - 1, 0);
    if (isOpen(letter)) {
      sizes[letter] = size;
      return true;
    }
    return ShapedType::isDynamic(size) || sizes[letter] == size;
  }

  Type element;
  std::optional<ArrayRef<int64_t>> batch;
  llvm::DenseMap<char, int64_t> sizes;
};
} // namespace

StringRef alula::cpu::findSignatureProblem(stablehlo::CustomCallOp call) {
  StringRef signature = getSignature(call);
  if (signature.empty())
    return {};
  auto [operands, results] = signature.split(" -> ");
  Matcher matcher;
  if (matcher.matches(call.getInputs(), operands) &&
      matcher.matches(call.getResults(), results) &&
      matcher.relates(call.getCallTargetName()))
    return {};
  return signature;
}
