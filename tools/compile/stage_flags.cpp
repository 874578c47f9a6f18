#include "tools/compile/stage_flags.h"

#include "compiler/driver/passes.h"
#include "compiler/driver/stages.h"

#include "mlir/Pass/PassManager.h"
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

static Error makeError(const Twine &text) {
  return createStringError(std::make_error_code(std::errc::invalid_argument),
                           text);
}

CommandLine::CommandLine(int argc, char **argv) : words(argv, argv + argc) {
  StringSaver saver(memory);
  cl::ExpandResponseFiles(saver, cl::TokenizeGNUCommandLine, words);
}

bool CommandLine::parse(const options::Tool &tool) {
  if (!parseCommandLine(tool, words))
    return false;
  collect();
  return true;
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
    if (!driver::isRecorded(name))
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

Error StageFlags::apply(driver::CompileOptions &options) const {
  auto [name, how] = StringRef(fail).split(':');
  auto failing = driver::findRoom(name);
  if (!name.empty() && !failing)
    return makeError("[stage-usage] --test-fail-in: there is no stage '" +
                     name + "': there are " + driver::listStages());
  options.setUpPasses = mlir::applyPassManagerCLOptions;
  if (failing)
    options.addPasses = [room = *failing,
                         how = how.str()](Room next, mlir::PassManager &pm) {
      driver::TestFailOptions fail;
      fail.how = how;
      if (next == room)
        pm.addPass(driver::createTestFail(fail));
    };
  return Error::success();
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

std::unique_ptr<driver::Reproducer> StageFlags::makeReproducer(
    const CommandLine &line, const driver::CompileOptions &options,
    StringRef input, StringRef inputBytes, ArrayRef<std::string> from) const {
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
  for (StringRef stage : from)
    made.flags.push_back("--compile-from=" + stage.str());
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
      return makeError("[stage-conflict] --compile-from=" +
                       driver::getRoomName(*options.completed) +
                       ": the program says that it has been through '" +
                       driver::getRoomName(resumption->stage) +
                       "'; --override-recorded takes yours");
  }
  return driver::checkOptions(options);
}
