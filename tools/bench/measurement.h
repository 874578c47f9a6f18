// How long something takes: it is repeated until the clock can tell, and what
// was measured is written as Google Benchmark writes it, which many tools read.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace alula::bench {

struct Settings {
  std::string format = "console", file, fileFormat = "json";
  /// How long each repetition lasts at least; or how many times it runs.
  double seconds = 0.5;
  uint64_t iterations = 0;
  uint64_t repetitions = 1;
  bool onlyAggregates = false;
};

/// Of an option `benchmark_NAME`. False if the value is none of its own.
bool setSetting(std::string_view name, const std::string &value,
                Settings &settings);

/// What is measured. Both texts and numbers go into the output as they are.
struct Subject {
  std::string name;
  /// Whether `run` says how long it took, not the clock.
  bool isManual = false;
  /// So many times; the seconds, if it is manual. False with a problem.
  std::function<bool(uint64_t times, double &seconds, std::string &problem)>
      run;
  std::vector<std::pair<std::string, std::string>> context;
  std::function<std::vector<std::pair<std::string, double>>()> counters;
};

/// Measures and writes. False with a problem, also if the subject has one.
bool measure(const Subject &subject, const Settings &settings,
             const std::string &program, std::string &problem);

} // namespace alula::bench
