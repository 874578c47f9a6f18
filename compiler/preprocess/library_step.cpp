// Libraries that compute kernels with their own code where the program runs. A
// row for each; what they are asked for is read off the executable's body.

#include "compiler/preprocess/library_step.h"

#include "compiler/preprocess/attention_pattern.h"
#include "compiler/preprocess/contract.h"
#include "compiler/preprocess/product_pattern.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace alula;
using namespace alula::preprocess;
using alula::dispatch::EntryOp;
using alula::dispatch::ExecutableOp;
using alula::dispatch::LibraryCall;

namespace {
/// A body in terms of a library: the text, and the values that it is given.
struct Described {
  std::string text;
  SmallVector<Value> values;
  /// What it computes, and the ops that are needed for that.
  Value result;
  SmallVector<Operation *> ops;
};

std::optional<Described> describeProduct(func::FuncOp body) {
  auto dots = body.getOps<stablehlo::DotGeneralOp>();
  if (!llvm::hasSingleElement(dots))
    return std::nullopt;
  auto product = matchProduct(*dots.begin());
  if (!product)
    return std::nullopt;
  Described described = {
      describeForCublaslt(*product),
      {product->rhs.value, product->lhs.value, product->result},
      product->result,
      product->ops};
  if (product->bias)
    described.values.push_back(product->bias);
  return described;
}

std::optional<Described> describeAttention(func::FuncOp body) {
  for (auto dot : body.getOps<stablehlo::DotGeneralOp>())
    if (auto plain = matchPlainAttention(dot))
      return Described{describeForCudnn(*plain),
                       {plain->queries.value, plain->keys.value,
                        plain->values.value, plain->result.value},
                       plain->result.value,
                       llvm::to_vector(plain->attention.members)};
  return std::nullopt;
}

struct Known {
  StringLiteral library, pattern;
  std::optional<Described> (*describe)(func::FuncOp body);
};
constexpr Known calls[] = {{"cublaslt", "dot", describeProduct},
                           {"cudnn", "attention", describeAttention}};
} // namespace

bool alula::preprocess::isLibrary(StringRef name) {
  return llvm::any_of(calls,
                      [&](const Known &each) { return each.library == name; });
}

bool alula::preprocess::hasPattern(StringRef library, StringRef pattern) {
  return llvm::any_of(calls, [&](const Known &each) {
    return each.library == library && each.pattern == pattern;
  });
}

std::optional<LibraryCall>
alula::preprocess::describeCall(StringRef library, ExecutableOp executable) {
  auto entries = executable.getBody().getOps<EntryOp>();
  if (executable.isExternal() || hasObjects(executable) ||
      !llvm::hasSingleElement(entries))
    return std::nullopt;
  EntryOp entry = *entries.begin();
  auto body = executable.getInnerModule().lookupSymbol<func::FuncOp>(
      entry.getSymName());
  // Inputs, then the result, which has memory of its own.
  if (!body || body.isExternal() || entry.getConstantCount() ||
      entry.getBindings().size() != body.getNumArguments() + 1)
    return std::nullopt;
  Operation *end = body.front().getTerminator();
  for (const Known &each : calls) {
    if (each.library != library)
      continue;
    auto described = each.describe(body);
    if (!described || end->getNumOperands() != 1 ||
        end->getOperand(0) != described->result)
      continue;
    // What else is there only gives it numbers.
    bool isAll =
        llvm::all_of(body.front().without_terminator(), [&](Operation &op) {
          return op.hasTrait<OpTrait::ConstantLike>() ||
                 llvm::is_contained(described->ops, &op);
        });
    if (!isAll)
      continue;
    LibraryCall call{std::move(described->text), {}, false};
    for (Value value : described->values) {
      auto argument = dyn_cast<BlockArgument>(value);
      if (value == described->result)
        call.bindings.push_back(body.getNumArguments());
      else if (argument)
        call.bindings.push_back(argument.getArgNumber());
      else
        return std::nullopt;
    }
    return call;
  }
  return std::nullopt;
}
