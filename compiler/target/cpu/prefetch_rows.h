#pragma once

namespace llvm {
class Loop;
class ScalarEvolution;
} // namespace llvm

namespace alula::cpu {

/// A vectorized loop that only reads a row of a table is bound by memory; where
/// rows are not aligned to cache lines, each load splits over two lines and the
/// hardware prefetcher does worse. This prefetches some lines ahead.
void prefetchRow(llvm::Loop &loop, llvm::ScalarEvolution &evolution);

} // namespace alula::cpu
