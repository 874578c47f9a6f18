// All that can be wrong with the flags is found before any work is done.

#include "compiler/preprocess/plan.h"

#include "compiler/preprocess/library_step.h"
#include "compiler/preprocess/patterns.h"
#include "compiler/preprocess/tokenizer.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <thread>

using namespace alula::preprocess;
using namespace llvm;

namespace {
Error makeError(StringRef tag, StringRef step, const Twine &text) {
  return createStringError(std::make_error_code(std::errc::invalid_argument),
                           "[" + Twine(tag) + "] '" + step + "': " + text);
}

/// A file with one word on each line.
Expected<std::vector<std::string>> readWords(StringRef path) {
  auto file = MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!file)
    return createStringError(file.getError(), "can't read " + path + ": " +
                                                  file.getError().message());
  std::vector<std::string> words;
  StringRef text = (*file)->getBuffer();
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    words.push_back(line.str());
    text = rest;
  }
  if (words.empty())
    return createStringError(std::errc::invalid_argument,
                             "command has no words");
  return words;
}

bool isFile(const Twine &path) { return sys::fs::is_regular_file(path); }

/// The file of a tool: where it says if it has a slash, else on the PATH, and
/// never beside the compiler.
Error findTool(Step &step) {
  StringRef name = step.words.front();
  if (name.contains('/')) {
    if (!sys::fs::exists(name))
      return makeError("pre-not-found", step.text, "there is no " + name);
    if (!isFile(name) || !sys::fs::can_execute(name))
      return makeError("pre-not-executable", step.text,
                       name + " can't be executed");
    step.path = name.str();
    return Error::success();
  }
  const char *variable = getenv("PATH");
  SmallVector<StringRef> folders;
  StringRef(variable ? variable : "").split(folders, ':');
  std::string found;
  for (StringRef folder : folders) {
    SmallString<128> path(folder.empty() ? "." : folder);
    sys::path::append(path, name);
    if (name.empty() || !isFile(path))
      continue;
    if (sys::fs::can_execute(path)) {
      step.path = path.str().str();
      return Error::success();
    }
    found = path.str().str();
  }
  if (!found.empty())
    return makeError("pre-not-executable", step.text,
                     found + " can't be executed");
  return makeError("pre-not-found", step.text,
                   "there is no '" + name + "' on the PATH");
}

Error parseTool(StringRef command, Step &step) {
  auto words =
      command.consume_front("@") ? readWords(command) : tokenize(command);
  if (!words)
    return makeError("pre-usage", step.text, toString(words.takeError()));
  step.words = std::move(*words);
  for (StringRef word : ArrayRef(step.words).drop_front())
    if (auto filled = fillPlaceholders(word, {}); !filled)
      return makeError("pre-usage", step.text, toString(filled.takeError()));
  return findTool(step);
}

Error parsePipeline(StringRef text, Step &step) {
  std::string problem;
  raw_string_ostream os(problem);
  auto pipeline = mlir::parsePassPipeline(text, os);
  if (failed(pipeline))
    return makeError("pre-usage", step.text, StringRef(problem).trim());
  if (pipeline->getOpAnchorName() != mlir::ModuleOp::getOperationName())
    return makeError("pre-usage", step.text,
                     "a pipeline must be one of builtin.module: is one of " +
                         pipeline->getOpAnchorName());
  step.pipeline = std::move(*pipeline);
  return Error::success();
}

Error parseStep(StringRef text, Step &step) {
  step.text = text.str();
  text = text.trim(" \t\n");
  if (text.consume_front("offer:")) {
    auto [pattern, command] = text.split(':');
    if (!isPattern(pattern))
      return makeError("pre-usage", step.text,
                       "there is no pattern '" + pattern +
                           "' to offer: there is " + listPatterns());
    step.pattern = pattern.str();
    if (!isLibrary(command))
      return parseTool(command, step);
    step.library = command.str();
    if (!hasPattern(command, pattern))
      return makeError("pre-usage", step.text,
                       command + " is not offered '" + pattern + "'");
    return Error::success();
  }
  if (text.consume_front("tool:"))
    return parseTool(text, step);
  if (text.consume_front("pipeline:") || text.starts_with("builtin.module("))
    return parsePipeline(text.trim(" \t\n"), step);
  return parseTool(text, step);
}
} // namespace

static bool matchesAny(ArrayRef<GlobPattern> patterns, StringRef name) {
  return patterns.empty() || any_of(patterns, [&](const GlobPattern &pattern) {
           return pattern.match(name);
         });
}

unsigned alula::preprocess::Options::countJobs() const {
  return jobs ? jobs : std::max(1u, std::thread::hardware_concurrency());
}

bool Plan::takes(StringRef executable) const {
  return matchesAny(only, executable);
}

std::vector<std::string> Plan::getClaims() const {
  std::vector<std::string> claims;
  for (const Step &step : steps)
    if (step.isOffer() && takesTargets(step) &&
        !is_contained(claims, step.pattern))
      claims.push_back(step.pattern);
  return claims;
}

bool Plan::takesTargets() const {
  return onlyTargets.empty() ||
         any_of(options.targets, [&](const std::string &target) {
           return matchesAny(onlyTargets, target);
         });
}

/// Libraries are called on GPUs.
bool Plan::takesTargets(const Step &step) const {
  return takesTargets() &&
         (step.library.empty() || any_of(options.targets, [](StringRef target) {
            return target.split(':').first == "cuda";
          }));
}

std::vector<std::string> Plan::getFlags() const {
  std::vector<std::string> flags;
  for (const std::string &step : options.steps)
    flags.push_back("--preprocess-executables-with=" + step);
  if (!options.only.empty())
    flags.push_back("--preprocess-only=" + join(options.only, ","));
  if (!options.onlyTargets.empty())
    flags.push_back("--preprocess-target=" + join(options.onlyTargets, ","));
  if (options.bytecode)
    flags.push_back("--preprocess-format=bytecode");
  if (!options.isStrict)
    flags.push_back("--preprocess-check=warn");
  return flags;
}

static Error parseGlobs(ArrayRef<std::string> texts,
                        std::vector<GlobPattern> &patterns) {
  for (StringRef text : texts) {
    auto pattern = GlobPattern::create(text);
    if (!pattern)
      return makeError("pre-usage", text, toString(pattern.takeError()));
    patterns.push_back(std::move(*pattern));
  }
  return Error::success();
}

Expected<Plan> alula::preprocess::makePlan(Options options) {
  Plan plan;
  for (StringRef text : options.steps)
    if (Error error = parseStep(text, plan.steps.emplace_back()))
      return error;
  if (Error error = parseGlobs(options.only, plan.only))
    return error;
  if (Error error = parseGlobs(options.onlyTargets, plan.onlyTargets))
    return error;
  // Not a number is no number either.
  if (!(options.timeoutSeconds >= 0 && options.timeoutSeconds <= 1e9))
    return makeError("pre-usage", std::to_string(options.timeoutSeconds),
                     "a time limit must be from 0 to 1e9 seconds");
  plan.options = std::move(options);
  return plan;
}
