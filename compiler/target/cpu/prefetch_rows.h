#pragma once

namespace llvm {
class Loop;
class ScalarEvolution;
} // namespace llvm

namespace alula::cpu {

/// A vectorized loop over a row of a table is often bound by memory; where rows
/// are not aligned to cache lines, each load and store splits over two lines and
/// the hardware prefetcher does worse. This prefetches some lines ahead.
void prefetchRow(llvm::Loop &loop, llvm::ScalarEvolution &evolution);

} // namespace alula::cpu
