#pragma once

#include "pjrt/border.h"

#include "alula/runtime.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <vector>

namespace alula::pjrt {

/// One run of a program on several devices: where their threads meet to give
/// each other arrays. Exchanges are `alula.exchange` of compiler/partition.
class Meeting {
public:
  explicit Meeting(size_t count) : turns(count) {}

  /// What participants get in one exchange: for each of them `width` numbers of
  /// others, -1 for zeros.
  struct Plan {
    int64_t number;
    size_t width;
    std::vector<int64_t> sources;
  };

  /// Gives `in` to whoever wants it and fills `out` with what this participant
  /// gets. Returns when nobody reads `in` any more; false if another
  /// participant failed.
  bool exchange(size_t participant, const Plan &plan, const char *in,
                size_t bytes, char *out);
  /// A participant won't come any more: nobody may wait for it.
  void fail();
  size_t count() const { return turns.size(); }

private:
  struct Table {
    std::vector<const char *> given;
    /// For each participant, how many of its readers are reading and done.
    std::vector<size_t> reading, done;
    size_t left = 0;
  };
  bool isThere(const Table &table, const Plan &plan, size_t participant) const;

  std::mutex mutex;
  std::condition_variable changed;
  bool hasFailed = false;
  /// By the number of the exchange and how often it took place.
  std::map<std::pair<int64_t, uint64_t>, Table> tables;
  std::vector<std::map<int64_t, uint64_t>> turns;
};

/// What a thread is while it runs a device's share of a program.
struct Participant {
  Meeting *meeting;
  size_t number;
};

/// Sets what this thread is, for as long as it lives.
class AsParticipant {
public:
  explicit AsParticipant(Participant participant);
  ~AsParticipant();

private:
  Participant outer;
};

/// Names of the functions below, for the compiler.
inline constexpr const char *exchangeName = "alula.exchange";
inline constexpr const char *participantName = "alula.participant";

/// Tells the runtime of them.
void *registerExchange(alula_instance *instance);

} // namespace alula::pjrt
