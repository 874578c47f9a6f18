#pragma once

namespace llvm {
class PassBuilder;
} // namespace llvm

namespace alula::cpu {

/// Divisions of vectors of f32 by what does not change in their loop, as in a
/// softmax, become products with its inverse and a correction, where these give
/// the same bits; where a vector has numbers for which they might not, it is
/// divided. For machines whose facts say that they divide slowly: the optimizer
/// that `builder` makes does it last.
void divideByInverse(llvm::PassBuilder &builder);

} // namespace alula::cpu
