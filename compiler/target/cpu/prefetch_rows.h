#pragma once

namespace llvm {
class Loop;
class PassBuilder;
class ScalarEvolution;
} // namespace llvm

namespace alula::cpu {

/// A vectorized loop over a row of a table is often bound by memory; where rows
/// are not aligned to cache lines, each load and store splits over two lines
/// and the hardware prefetcher does worse. This prefetches some lines ahead.
void prefetchRow(llvm::Loop &loop, llvm::ScalarEvolution &evolution);

/// Where a loop over rows reads each several times, as a softmax does, the
/// first loop over a row waits for memory and the others do not. The optimizer
/// that `builder` makes has the second one ask for the next row.
void prefetchNextRows(llvm::PassBuilder &builder);

} // namespace alula::cpu
