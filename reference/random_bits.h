// The counter-based generators of rng_bit_generator, bit for bit as XLA lays
// them out.
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <array>
#include <cstdint>
#include <vector>

namespace alula::reference {

/// Threefry2x32 with 20 rounds.
std::array<uint32_t, 2> threefry2x32(std::array<uint32_t, 2> key,
                                     std::array<uint32_t, 2> counter);
/// Philox4x32 with 10 rounds.
std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 2> key,
                                   std::array<uint32_t, 4> counter);

/// Random words for each element of a tensor, 64 bits if `wide`, else 32 in
/// the low half. `state` is moved on.
std::vector<uint64_t> threefryBits(std::vector<uint64_t> &state,
                                   llvm::ArrayRef<int64_t> dims, bool wide);
std::vector<uint64_t> philoxBits(std::vector<uint64_t> &state, int64_t count,
                                 bool wide);

} // namespace alula::reference
