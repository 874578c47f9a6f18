#include "tools/bench/measurement.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>
#include <unistd.h>

using namespace alula::bench;

namespace {
/// Microseconds of one iteration.
struct Row {
  std::string name, aggregate;
  uint64_t iterations = 0, repetition = 0;
  double real = 0, cpu = 0;
  /// Parts of a whole, not times: the coefficient of variation.
  bool isRatio = false;
};

double readClock(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

bool runOnce(const Subject &subject, uint64_t iterations, double &real,
             double &cpu, std::string &problem) {
  double manual = 0;
  double wallBefore = readClock(CLOCK_MONOTONIC);
  double cpuBefore = readClock(CLOCK_THREAD_CPUTIME_ID);
  if (!subject.run(iterations, manual, problem))
    return false;
  cpu = readClock(CLOCK_THREAD_CPUTIME_ID) - cpuBefore;
  real = subject.isManual ? manual : readClock(CLOCK_MONOTONIC) - wallBefore;
  return true;
}

/// More and more of them, until they take as long as is asked for. The run that
/// does is the first repetition.
bool findIterations(const Subject &subject, const Settings &settings,
                    uint64_t &iterations, double &real, double &cpu,
                    std::string &problem) {
  constexpr uint64_t most = 1000000000;
  for (iterations = settings.iterations ? settings.iterations : 1;;) {
    if (!runOnce(subject, iterations, real, cpu, problem))
      return false;
    if (settings.iterations || real >= settings.seconds || iterations >= most)
      return true;
    // A time that is too short says little about the next one.
    double factor = real > 0.1 * settings.seconds
                        ? std::min(10.0, 1.4 * settings.seconds / real)
                        : 10;
    auto next = uint64_t(factor * double(iterations));
    iterations = std::min(std::max(next, iterations + 1), most);
  }
}

double getMean(const std::vector<double> &values) {
  double sum = 0;
  for (double value : values)
    sum += value;
  return sum / double(values.size());
}

double getMedian(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  size_t half = values.size() / 2;
  return values.size() % 2 ? values[half]
                           : (values[half - 1] + values[half]) / 2;
}

/// Of a sample: over one less than there are.
double getDeviation(const std::vector<double> &values) {
  double mean = getMean(values), sum = 0;
  for (double value : values)
    sum += (value - mean) * (value - mean);
  return values.size() < 2 ? 0 : std::sqrt(sum / double(values.size() - 1));
}

void addAggregates(const std::string &name, std::vector<Row> &rows) {
  std::vector<double> real, cpu;
  for (const Row &row : rows) {
    real.push_back(row.real);
    cpu.push_back(row.cpu);
  }
  auto add = [&](const char *aggregate, double ofReal, double ofCpu) {
    Row row = {
        name + "_" + aggregate, aggregate, real.size(), 0, ofReal, ofCpu};
    row.isRatio = strcmp(aggregate, "cv") == 0;
    rows.push_back(row);
  };
  add("mean", getMean(real), getMean(cpu));
  add("median", getMedian(real), getMedian(cpu));
  double ofReal = getDeviation(real), ofCpu = getDeviation(cpu);
  add("stddev", ofReal, ofCpu);
  add("cv", ofReal / getMean(real), cpu.empty() ? 0 : ofCpu / getMean(cpu));
}

/// A text in JSON, with its quotes.
std::string quote(const std::string &text) {
  std::string quoted = "\"";
  for (char letter : text) {
    char escaped[8] = {letter, 0};
    if (letter == '"' || letter == '\\')
      snprintf(escaped, sizeof escaped, "\\%c", letter);
    else if (static_cast<unsigned char>(letter) < 0x20)
      snprintf(escaped, sizeof escaped, "\\u%04x", unsigned(letter));
    quoted += escaped;
  }
  return quoted + '"';
}

std::string print(double value) {
  char text[32];
  snprintf(text, sizeof text, "%.9g", std::isfinite(value) ? value : 0);
  return text;
}

/// What is known of the process and the machine, as JSON has it.
std::vector<std::pair<std::string, std::string>>
getContext(const Subject &subject, const std::string &program) {
  char date[40] = "", host[256] = "";
  time_t now = time(nullptr);
  tm local = {};
  strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S%z", localtime_r(&now, &local));
  gethostname(host, sizeof host - 1);
  std::vector<std::pair<std::string, std::string>> context = {
      {"date", quote(date)},
      {"host_name", quote(host)},
      {"executable", quote(program)},
      {"num_cpus", std::to_string(std::thread::hardware_concurrency())}};
  for (auto &[name, value] : subject.context)
    context.emplace_back(name, quote(value));
  return context;
}

using Counters = std::vector<std::pair<std::string, double>>;

std::string printJson(const Subject &subject, const std::string &program,
                      const std::string &name, const std::vector<Row> &rows,
                      const Counters &counters, uint64_t repetitions) {
  std::string text = "{\n  \"context\": {";
  const char *comma = "\n    ";
  for (auto &[key, value] : getContext(subject, program)) {
    text += comma + quote(key) + ": " + value;
    comma = ",\n    ";
  }
  text += "\n  },\n  \"benchmarks\": [";
  comma = "\n    {";
  for (const Row &row : rows) {
    text += comma;
    comma = ",\n    {";
    text += "\n      \"name\": " + quote(row.name);
    text += ",\n      \"run_name\": " + quote(name);
    bool isOne = row.aggregate.empty();
    text += std::string(",\n      \"run_type\": \"") +
            (isOne ? "iteration" : "aggregate") + '"';
    text += ",\n      \"repetitions\": " + std::to_string(repetitions);
    if (isOne)
      text +=
          ",\n      \"repetition_index\": " + std::to_string(row.repetition);
    text += ",\n      \"threads\": 1";
    if (!isOne)
      text += ",\n      \"aggregate_name\": " + quote(row.aggregate) +
              ",\n      \"aggregate_unit\": \"" +
              (row.isRatio ? "percentage" : "time") + '"';
    text += ",\n      \"iterations\": " + std::to_string(row.iterations);
    text += ",\n      \"real_time\": " + print(row.real);
    text += ",\n      \"cpu_time\": " + print(row.cpu);
    text += ",\n      \"time_unit\": \"us\"";
    for (auto &[counter, value] : counters)
      text += ",\n      " + quote(counter) + ": " + print(value);
    text += "\n    }";
  }
  return text + "\n  ]\n}\n";
}

std::string printCsv(const std::vector<Row> &rows, const Counters &counters) {
  std::string text = "name,iterations,real_time,cpu_time,time_unit";
  for (auto &counter : counters)
    text += ",\"" + counter.first + '"';
  for (const Row &row : rows) {
    text += "\n\"" + row.name + "\"," + std::to_string(row.iterations) + ',' +
            print(row.real) + ',' + print(row.cpu) + ",us";
    for (auto &counter : counters)
      text += ',' + print(counter.second);
  }
  return text + '\n';
}

std::string printTable(const std::vector<Row> &rows, const Counters &counters) {
  size_t width = 10;
  for (const Row &row : rows)
    width = std::max(width, row.name.size());
  auto pad = [&](std::string name) {
    return name.append(width - std::min(width, name.size()), ' ');
  };
  std::string title = pad("Benchmark") +
                      "            Time             CPU   Iterations" +
                      (counters.empty() ? "" : " UserCounters...");
  std::string line(title.size(), '-');
  std::string text = line + '\n' + title + '\n' + line + '\n';
  for (const Row &row : rows) {
    char numbers[128];
    double scale = row.isRatio ? 100 : 1;
    const char *unit = row.isRatio ? "% " : "us";
    snprintf(numbers, sizeof numbers, " %12.*f %s %12.*f %s %12llu",
             row.real < 10 ? 3 : 2, row.real * scale, unit,
             row.cpu < 10 ? 3 : 2, row.cpu * scale, unit,
             static_cast<unsigned long long>(row.iterations));
    text += pad(row.name) + numbers;
    for (auto &[counter, value] : counters)
      text += ' ' + counter + '=' + print(value);
    text += '\n';
  }
  return text;
}
} // namespace

bool alula::bench::setSetting(std::string_view name, const std::string &value,
                              Settings &settings) {
  auto isFormat = [&] {
    return value == "console" || value == "json" || value == "csv";
  };
  if (name == "benchmark_out")
    settings.file = value;
  else if (name == "benchmark_format")
    settings.format = isFormat() ? value : "";
  else if (name == "benchmark_out_format")
    settings.fileFormat = isFormat() ? value : "";
  else if (name == "benchmark_display_aggregates_only")
    settings.onlyAggregates = value == "true" || value == "1";
  else if (name == "benchmark_repetitions" || name == "benchmark_min_time") {
    char *end;
    double number = strtod(value.c_str(), &end);
    bool isTime = name == "benchmark_min_time";
    bool isCount = !isTime || *end == 'x';
    end += isTime && (*end == 'x' || *end == 's');
    if (value.empty() || *end || !(number > 0) || number > 1e9 ||
        (isCount && number != std::floor(number)))
      return false;
    if (!isTime)
      settings.repetitions = uint64_t(number);
    else if (isCount)
      settings.iterations = uint64_t(number);
    else
      settings.seconds = number;
  } else
    return false;
  bool isWord = value == "true" || value == "false" || value == "1" ||
                value == "0" || name != "benchmark_display_aggregates_only";
  return isWord && !settings.format.empty() && !settings.fileFormat.empty();
}

bool alula::bench::measure(const Subject &subject, const Settings &settings,
                           const std::string &program, std::string &problem) {
  std::string name =
      subject.name + (subject.isManual ? "/manual_time" : "/real_time");
  if (settings.iterations)
    name += "/iterations:" + std::to_string(settings.iterations);
  if (settings.repetitions > 1)
    name += "/repeats:" + std::to_string(settings.repetitions);
  if (settings.format == "console") {
    std::string said;
    for (auto &[key, value] : getContext(subject, program))
      said += key + ": " + value + '\n';
    fputs(said.c_str(), stderr);
  }
  std::vector<Row> rows;
  uint64_t iterations = 0;
  for (uint64_t i = 0; i < settings.repetitions; ++i) {
    double real = 0, cpu = 0;
    if (!(i ? runOnce(subject, iterations, real, cpu, problem)
            : findIterations(subject, settings, iterations, real, cpu,
                             problem)))
      return false;
    double scale = 1e6 / double(iterations);
    rows.push_back({name, "", iterations, i, real * scale, cpu * scale});
  }
  if (settings.repetitions > 1)
    addAggregates(name, rows);
  Counters counters = subject.counters ? subject.counters() : Counters();
  auto printAs = [&](const std::string &format, const std::vector<Row> &some) {
    return format == "json"  ? printJson(subject, program, name, some, counters,
                                         settings.repetitions)
           : format == "csv" ? printCsv(some, counters)
                             : printTable(some, counters);
  };
  std::vector<Row> shown = rows;
  if (settings.onlyAggregates && settings.repetitions > 1)
    shown.erase(shown.begin(), shown.begin() + ptrdiff_t(settings.repetitions));
  fputs(printAs(settings.format, shown).c_str(), stdout);
  if (settings.file.empty())
    return true;
  FILE *file = fopen(settings.file.c_str(), "we");
  bool isWritten =
      file && fputs(printAs(settings.fileFormat, rows).c_str(), file) >= 0;
  if ((file && fclose(file)) || !isWritten) {
    problem = "could not write " + settings.file;
    return false;
  }
  return true;
}
