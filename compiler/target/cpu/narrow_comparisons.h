#pragma once

namespace llvm {
class PassBuilder;
} // namespace llvm

namespace alula::cpu {

/// LLVM widens what is compared with a loop's index to the index's 64 bits,
/// which takes vectors of twice the registers:
///   icmp eq (%i : i64), (zext %x : i32)  →  icmp eq (trunc %i), %x
/// where %i fits into the narrow type. An index that is truncated becomes a
/// vector of its own.
void narrowComparisons(llvm::PassBuilder &builder);

} // namespace alula::cpu
