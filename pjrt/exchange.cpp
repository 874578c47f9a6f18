#include "pjrt/exchange.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace alula::pjrt;

namespace {
thread_local Participant current = {};
} // namespace

AsParticipant::AsParticipant(Participant participant) : outer(current) {
  current = participant;
}

AsParticipant::~AsParticipant() { current = outer; }

bool Meeting::isThere(const Table &table, const Plan &plan,
                      size_t participant) const {
  for (size_t i = 0; i < plan.width; ++i) {
    int64_t source = plan.sources[participant * plan.width + i];
    if (source >= 0 && !table.given[static_cast<size_t>(source)])
      return false;
  }
  return true;
}

bool Meeting::exchange(size_t participant, const Plan &plan, const char *in,
                       size_t bytes, char *out) {
  const int64_t *sources = &plan.sources[participant * plan.width];
  auto self = static_cast<int64_t>(participant);
  auto readers = static_cast<size_t>(
      std::count(plan.sources.begin(), plan.sources.end(), self));
  std::unique_lock lock(mutex);
  std::pair<int64_t, uint64_t> key = {plan.number,
                                      turns[participant][plan.number]++};
  Table &table = tables[key];
  if (table.given.empty()) {
    table.given.resize(count());
    table.reading.resize(count());
    table.done.resize(count());
  }
  // An empty array is an address as well.
  table.given[participant] = in ? in : "";
  changed.notify_all();
  changed.wait(lock,
               [&] { return hasFailed || isThere(table, plan, participant); });
  if (!hasFailed) {
    auto forSources = [&](auto act) {
      for (size_t i = 0; i < plan.width; ++i)
        if (sources[i] >= 0)
          act(static_cast<size_t>(sources[i]));
    };
    forSources([&](size_t source) { ++table.reading[source]; });
    lock.unlock();
    for (size_t i = 0; i < plan.width; ++i) {
      if (sources[i] < 0)
        memset(out + i * bytes, 0, bytes);
      else
        memcpy(out + i * bytes, table.given[static_cast<size_t>(sources[i])],
               bytes);
    }
    lock.lock();
    forSources([&](size_t source) {
      --table.reading[source];
      ++table.done[source];
    });
    changed.notify_all();
  }
  // Who reads must end before the memory goes, even if all is lost.
  changed.wait(lock, [&] {
    return table.done[participant] == readers ||
           (hasFailed && table.reading[participant] == 0);
  });
  if (++table.left == count())
    tables.erase(key);
  return !hasFailed;
}

void Meeting::fail() {
  {
    std::lock_guard lock(mutex);
    hasFailed = true;
  }
  changed.notify_all();
}

namespace {
alula_error *refuse(const std::string &message) {
  return alula_error_create(ALULA_STATUS_FAILED_PRECONDITION, message.c_str());
}

/// "number participants width source…", as the compiler writes it.
alula_error *readPlan(const alula_custom_call_args *args, Meeting::Plan &plan) {
  std::string text(static_cast<const char *>(args->config), args->config_bytes);
  char *at = text.data();
  auto next = [&] { return strtoll(at, &at, 10); };
  plan.number = next();
  int64_t count = next(), width = next();
  size_t here = current.meeting ? current.meeting->count() : 1;
  if (count <= 0 || width <= 0 || static_cast<size_t>(count) != here)
    return refuse("the program is for " + std::to_string(count) +
                  " devices at once, it runs on " + std::to_string(here));
  plan.width = static_cast<size_t>(width);
  for (int64_t i = 0; i < count * width; ++i)
    plan.sources.push_back(std::clamp<int64_t>(next(), -1, count - 1));
  return nullptr;
}

alula_error *exchange(void *, const alula_custom_call_args *args) {
  Meeting::Plan plan;
  if (alula_error *error = readPlan(args, plan))
    return error;
  if (args->operand_count != 1 || args->result_count != 1 ||
      args->results[0].bytes != args->operands[0].bytes * plan.width)
    return refuse("the arrays are not those of an exchange");
  Meeting alone(1);
  Meeting &meeting = current.meeting ? *current.meeting : alone;
  if (meeting.exchange(current.number, plan,
                       static_cast<const char *>(args->operands[0].data),
                       args->operands[0].bytes,
                       static_cast<char *>(args->results[0].data)))
    return nullptr;
  return alula_error_create(ALULA_STATUS_ABORTED,
                            "another device of this run failed");
}

alula_error *tellParticipant(void *, const alula_custom_call_args *args) {
  if (args->result_count != 1 || args->results[0].bytes != sizeof(int32_t))
    return refuse("the number of a participant is an i32");
  auto number = static_cast<int32_t>(current.number);
  memcpy(args->results[0].data, &number, sizeof number);
  return nullptr;
}
} // namespace

void *alula::pjrt::registerExchange(alula_instance *instance) {
  if (alula_error *error = alula_instance_register_custom_call(
          instance, exchangeName, exchange, nullptr))
    return makeError(error);
  return makeError(alula_instance_register_custom_call(
      instance, participantName, tellParticipant, nullptr));
}
