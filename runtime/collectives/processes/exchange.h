// What a collective moves between processes, and what it computes: no locks, no
// waiting. A reduction is a fold in the order of the group, wherever its
// members are, so that all ways to spread them over processes give the same
// bits.

#pragma once

#include "runtime/collectives/processes/link.h"

#include <vector>

namespace alula::collectives {

/// Who takes part in an exchange, and in which processes.
struct Members {
  Members(const alula_collective_members &given, const uint32_t *processOf,
          uint32_t thisProcess);

  uint32_t countLocal() const { return uint32_t(places[self].size()); }
  bool isLocal(uint32_t place) const { return process[place] == self; }
  uint32_t findPlace(uint32_t participant) const;

  /// As they were given.
  std::vector<uint32_t> numbers;
  bool arePairs;
  /// Every participant once; its number here is its place.
  std::vector<uint32_t> participants;
  /// Of pairs: for each place that of its source, or ALULA_NONE.
  std::vector<uint32_t> sources;
  /// For each place, its process as an index of `processes`, and how many of
  /// that process come before.
  std::vector<uint32_t> process, rank;
  std::vector<uint32_t> processes;
  /// For each process, the places of its members.
  std::vector<std::vector<uint32_t>> places;
  uint32_t self = 0;
  /// The same in all processes.
  uint64_t hash;
};

struct Share {
  const uint8_t *operand = nullptr;
  uint8_t *result = nullptr;
  bool isStarted = false, hasLeft = false;
};

/// One collective of one group. An all_reduce of large arrays has two phases:
/// each process reduces its share of the elements, then gives it to the others.
/// All else is one.
struct Exchange {
  const Members *members;
  alula_collective what;
  /// For each place; those of other processes are empty.
  std::vector<Share> shares;
  /// For each process, from others alone.
  std::vector<Message> received[2];
  /// The elements of an all_reduce that this process reduces.
  std::vector<uint8_t> folded;

  bool isTwoPhase() const;
  /// What process `from` gives `to`: no message if it is 0.
  uint64_t countBytes(uint32_t phase, uint32_t from, uint32_t to) const;
  void pack(uint32_t phase, uint32_t to, uint8_t *payload) const;

  uint32_t countFoldPieces() const;
  void prepareFold();
  void foldPiece(uint32_t piece);
  /// What a member of this process gets, once all is there.
  void fill(uint32_t place) const;

private:
  uint64_t getElementBytes() const;
  uint64_t getBlockBytes() const;
  /// The elements of an all_reduce that a process reduces.
  uint64_t getRangeBegin(uint32_t processIndex) const;
  uint64_t getRangeBytes(uint32_t processIndex) const;
  /// What the member at `from` gives the one at `to`, which is local.
  const uint8_t *locate(uint32_t from, uint32_t to) const;
  void fold(uint8_t *into, uint32_t to, uint64_t offset, uint64_t count) const;
};

uint64_t hashBytes(uint64_t seed, const void *data, size_t bytes);

} // namespace alula::collectives
