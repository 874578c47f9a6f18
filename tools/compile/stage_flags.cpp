#include "tools/compile/stage_flags.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/StringSaver.h"

using namespace llvm;
using namespace alula;
using namespace alula::tools;
using driver::Room;

/// Flags that don't decide what the artifact is; a prefix ends with *. What is
/// not here is recorded.
static constexpr StringLiteral ownFlags[] = {"o",
                                             "bench-dim",
                                             "compile-*",
                                             "crash-reproducer*",
                                             "dump-*",
                                             "elide-constants-larger",
                                             "emit-bytecode",
                                             "executable-only",
                                             "keep-intermediates",
                                             "list-plugins",
                                             "load-mlir-plugin",
                                             "load-plugin*",
                                             "mlir-*",
                                             "no-default-plugins",
                                             "override-recorded",
                                             "plugin-dir",
                                             "plugin-isolate",
                                             "plugin-timeout",
                                             "print-stage-log",
                                             "print-stages",
                                             "preprocess-again",
                                             "preprocess-cache",
                                             "preprocess-cache-env",
                                             "preprocess-jobs",
                                             "preprocess-keep",
                                             "preprocess-keep-going",
                                             "preprocess-max-output",
                                             "preprocess-timeout",
                                             "preprocess-verify",
                                             "reproducer-full",
                                             "time",
                                             "verbose",
                                             "verify-stages"};

static bool isOwn(StringRef name) {
  return any_of(ownFlags, [&](StringRef own) {
    return own.consume_back("*") ? name.starts_with(own) : name == own;
  });
}

static Error makeError(const Twine &text) {
  return createStringError(std::make_error_code(std::errc::invalid_argument),
                           text);
}

CommandLine::CommandLine(int argc, char **argv) : words(argv, argv + argc) {
  StringSaver saver(memory);
  cl::ExpandResponseFiles(saver, cl::TokenizeGNUCommandLine, words);
}

void CommandLine::parse() {
  cl::ParseCommandLineOptions(static_cast<int>(words.size()), words.data(),
                              "Alula's compiler\n");
  collect();
}

void CommandLine::collect() {
  StringMap<cl::Option *> &known = cl::getRegisteredOptions();
  for (size_t i = 1; i < words.size(); ++i) {
    StringRef word = words[i];
    if (word == "--")
      return;
    if (!word.consume_front("-") || word.empty())
      continue;
    word.consume_front("-");
    auto [name, value] = word.split('=');
    auto found = known.find(name);
    if (found == known.end())
      continue;
    bool hasValue = word.contains('=');
    if (!hasValue &&
        found->second->getValueExpectedFlag() == cl::ValueRequired &&
        i + 1 < words.size()) {
      value = words[++i];
      hasValue = true;
    }
    if (isOwn(name))
      continue;
    // Where the file is says nothing of what is in the artifact.
    if (name == "externalize-constants")
      value = sys::path::filename(value);
    flags.push_back({name.str(), value.str(), hasValue, false});
  }
}

std::string CommandLine::Flag::print() const {
  return "--" + name + (hasValue ? "=" + value : "");
}

std::vector<std::string> CommandLine::getValues(StringRef name) const {
  std::vector<std::string> values;
  for (const Flag &flag : flags)
    if (flag.name == name)
      values.push_back(flag.print());
  return values;
}

std::vector<std::string> CommandLine::getPluginFlags() const {
  std::vector<std::string> chosen;
  for (size_t i = 1; i < words.size(); ++i) {
    StringRef word = words[i];
    if (!StringRef(driver::getFlagName(word)).contains("plugin") ||
        !word.starts_with("-"))
      continue;
    chosen.push_back(word.str());
    if (!word.contains('=') && i + 1 < words.size())
      chosen.back() += "=" + std::string(words[++i]);
  }
  return chosen;
}

std::vector<std::string> CommandLine::getRecorded() const {
  std::vector<std::string> recorded;
  for (const Flag &flag : flags)
    recorded.push_back(flag.print());
  return recorded;
}

bool CommandLine::isFromRecord(StringRef name) const {
  return any_of(flags, [&](const Flag &flag) {
    return flag.name == name && flag.isFromRecord;
  });
}

/// The words of one flag.
static std::vector<std::string> select(const std::vector<std::string> &all,
                                       StringRef name) {
  std::vector<std::string> chosen;
  copy_if(all, std::back_inserter(chosen), [&](const std::string &word) {
    return driver::getFlagName(word) == name;
  });
  return chosen;
}

static std::string show(const std::vector<std::string> &given) {
  return given.empty() ? "not given" : join(given, " ");
}

Error CommandLine::parseAgain(const driver::Resumption &resumption,
                              bool overrides, bool preprocessAgain) {
  std::vector<std::string> recorded = resumption.record.options, spent;
  for (const std::string &word : resumption.record.spent) {
    bool isBack = preprocessAgain &&
                  StringRef(word).starts_with("--preprocess-") &&
                  getValues(driver::getFlagName(word)).empty();
    (isBack ? recorded : spent).push_back(word);
  }
  std::vector<std::string> names;
  for (const Flag &flag : flags)
    if (!is_contained(names, flag.name))
      names.push_back(flag.name);
  for (StringRef name : names) {
    // Other steps, after those that are done.
    if (preprocessAgain && name.starts_with("preprocess-"))
      continue;
    std::vector<std::string> given = getValues(name);
    bool isDone = driver::getLastUse(name) <= resumption.stage;
    std::vector<std::string> was = select(isDone ? spent : recorded, name);
    if (given == was)
      continue;
    if (isDone)
      return makeError("[stage-conflict] " + show(given) +
                       ": the program has been through stage '" +
                       driver::getRoomName(driver::getLastUse(name)) +
                       "', which reads it");
    if (!overrides)
      return makeError("[stage-conflict] " + show(given) +
                       ": the program was " + "compiled so far with " +
                       show(was) + "; --override-recorded takes yours");
  }
  for (const std::string &word : recorded) {
    StringRef name = driver::getFlagName(word);
    if (is_contained(names, name))
      continue;
    words.push_back(StringSaver(memory).save(word).data());
    auto [text, value] = StringRef(word).split('=');
    flags.push_back(
        {name.str(), value.str(), StringRef(word).contains('='), true});
  }
  // What is done stays known, and is not done again.
  llvm::erase_if(flags, [&](const Flag &flag) {
    return driver::getLastUse(flag.name) <= resumption.stage &&
           !(preprocessAgain &&
             StringRef(flag.name).starts_with("preprocess-"));
  });
  for (const std::string &word : spent) {
    auto [text, value] = StringRef(word).split('=');
    flags.push_back({driver::getFlagName(word).str(), value.str(),
                     StringRef(word).contains('='), true});
  }
  cl::ResetAllOptionOccurrences();
  std::string problems;
  raw_string_ostream os(problems);
  // Recorded words stand before "--" or a lone input alike: flags may come
  // anywhere.
  if (!cl::ParseCommandLineOptions(static_cast<int>(words.size()), words.data(),
                                   "", &os))
    return makeError("[stage-record] its flags are not understood: " +
                     StringRef(problems).trim());
  return Error::success();
}

static Expected<Room> readStage(StringRef flag, StringRef name) {
  if (auto room = driver::findRoom(name))
    return *room;
  return makeError("[stage-usage] --" + flag + ": there is no stage '" + name +
                   "': there are " + driver::listStages());
}

Error StageFlags::apply(driver::CompileOptions &options) const {
  auto last = readStage("compile-to", to);
  if (!last)
    return last.takeError();
  options.until = *last;
  if (from != "auto") {
    auto done = readStage("compile-from", from);
    if (!done)
      return done.takeError();
    if (*done == Room::Emit)
      return makeError("[stage-usage] --compile-from: nothing follows 'emit'");
    options.completed = *done;
  }
  options.dumps.stages = stages;
  options.dumps.bytecode = bytecode;
  options.executableOnly = executableOnly;
  if (!fail.empty()) {
    auto [name, how] = StringRef(fail).split(':');
    auto failing = readStage("test-fail-in", name);
    if (!failing)
      return failing.takeError();
    options.failIn = *failing;
    options.failHow = how.str();
  }
  auto choose = [&](const Folder &one) {
    return one.empty() ? executables.getValue() : one.getValue();
  };
  for (const Folder *many : {&executables, &intermediates})
    if (*many == "-")
      return makeError("[stage-usage] --" + many->ArgStr +
                       "=-: standard output takes one file");
  options.dumps.sources = choose(sources);
  options.dumps.preprocessed = choose(preprocessed);
  options.dumps.configs = choose(configs);
  options.dumps.benchmarks = choose(benchmarks);
  options.dumps.intermediates = choose(intermediates);
  options.dumps.binaries = choose(binaries);
  for (StringRef word : benchmarkSizes) {
    auto [name, size] = word.rsplit('=');
    int64_t number;
    if (size.getAsInteger(10, number) || number < 0)
      return makeError("[stage-usage] --bench-dim: must be "
                       "ARGUMENT.DIMENSION=N: is '" +
                       word + "'");
    options.dumps.benchmarkSizes[name.str()] = number;
  }
  using Words = cl::list<std::string>;
  for (auto [stage, files, folders] :
       {std::tuple<Room, const Words &, const Words &>(
            Room::Dispatch, substituteSource, substituteSourceFrom),
        std::tuple<Room, const Words &, const Words &>(
            Room::Kernel, substituteConfig, substituteConfigFrom)}) {
    for (StringRef word : files) {
      auto [name, file] = word.split('=');
      if (name.empty() || file.empty())
        return makeError("[stage-usage] --" + files.ArgStr +
                         ": must be NAME=FILE: is '" + word + "'");
      options.substitutions.push_back({stage, name.str(), file.str()});
    }
    for (StringRef folder : folders)
      options.substitutions.push_back({stage, "", folder.str()});
  }
  if (StringRef(debug).getAsInteger(10, options.debugLevel) ||
      options.debugLevel > 3)
    return makeError("[stage-usage] --debug: must be from 0 to 3: is '" +
                     debug + "'");
  if (!elide.empty()) {
    int64_t limit;
    if (StringRef(elide).getAsInteger(10, limit) || limit < 0)
      return makeError(
          "[stage-usage] --elide-constants-larger: must be a number: "
          "is '" +
          elide + "'");
    if (bytecode)
      return makeError(
          "[stage-usage] --elide-constants-larger: is for text: not "
          "with --emit-bytecode");
    options.dumps.elideLarger = limit;
  }
  return applyStart(std::nullopt, options);
}

std::string
StageFlags::describeStages(const driver::CompileOptions &options) const {
  std::string text;
  for (unsigned i = 0; i < driver::roomCount; ++i) {
    const driver::Stage &stage = driver::getStage(static_cast<Room>(i));
    text += stage.name;
    if (!stage.alias.empty())
      text += " (" + stage.alias.str() + ")";
    text += ": leaves " + stage.leaves.str() + "\n";
    if (std::string passes = printPipeline(stage.room, options);
        !passes.empty())
      text += "  " + passes + "\n";
  }
  return text;
}

std::unique_ptr<driver::Reproducer>
StageFlags::makeReproducer(const CommandLine &line,
                           const driver::CompileOptions &options,
                           StringRef input, StringRef inputBytes) const {
  if (reproducer == "off")
    return nullptr;
  driver::ReproducerOptions made;
  made.folder = reproducer;
  if (made.folder.empty())
    made.folder = "alula-compile-crash-" + options.record.inputHash + "-" +
                  std::to_string(sys::Process::getProcessId());
  made.self = sys::fs::getMainExecutable(
      nullptr, reinterpret_cast<void *>(&driver::getRoomName));
  made.input = input.str();
  made.inputBytes = inputBytes;
  made.flags = options.record.options;
  append_range(made.flags, line.getPluginFlags());
  if (from != "auto")
    made.flags.push_back("--compile-from=" + from);
  if (overrides)
    made.flags.push_back("--override-recorded");
  made.completed = options.completed;
  made.isLocal = reproducerLocal;
  made.isFull = reproducerFull;
  return std::make_unique<driver::Reproducer>(std::move(made));
}

Error StageFlags::applyStart(
    const std::optional<driver::Resumption> &resumption,
    driver::CompileOptions &options) const {
  if (resumption) {
    if (!options.completed || overrides)
      options.completed = options.completed.value_or(resumption->stage);
    else if (*options.completed != resumption->stage)
      return makeError("[stage-conflict] --compile-from=" + from +
                       ": the program says that it has been through '" +
                       driver::getRoomName(resumption->stage) +
                       "'; --override-recorded takes yours");
  }
  if (options.preprocessAgain && options.completed > Room::Dispatch)
    return makeError("[stage-usage] --preprocess-again: the program is past "
                     "'dispatch': it has been through '" +
                     driver::getRoomName(*options.completed) + "'");
  if (options.completed && *options.completed > options.until)
    return makeError("[stage-usage] --compile-to=" + to +
                     ": the program is past it: it has been through '" +
                     driver::getRoomName(*options.completed) + "'");
  return Error::success();
}
