#pragma once

namespace llvm {
class Loop;
class ScalarEvolution;
} // namespace llvm

namespace alula::cpu {

/// A loop of vectors that does nothing but read a row of a table waits for
/// memory; where rows don't begin with a cache line, each vector waits for two
/// and the processor foresees less. This asks for what is read some lines later.
void prefetchRow(llvm::Loop &loop, llvm::ScalarEvolution &evolution);

} // namespace alula::cpu
