#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/GlobPattern.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace alula::preprocess {

/// What two runs have shown.
struct Compared {
  /// How results differ; empty: they don't.
  std::string difference;
  /// Why a library that is here does not compute it; empty: it does, or there
  /// is none.
  std::string declined;
  /// Why there was none on a machine that code is made for; empty: there was.
  std::string unable;
};

struct Options {
  /// The steps: "tool --args", "tool:…", "@file", "builtin.module(…)",
  /// "pipeline:…", "offer:PATTERN:tool --args", "offer:PATTERN:LIBRARY".
  std::vector<std::string> steps;
  /// Executables by name, with wildcards; empty: all.
  std::vector<std::string> only;
  /// Machines, with wildcards; nothing is done for programs that are made for
  /// none of them. Empty: all.
  std::vector<std::string> onlyTargets;
  /// What tools get: bytecode or text.
  bool bytecode = false;
  /// Most tools alive at once, most executables in passes at once; 0: as many
  /// as there are cores.
  unsigned jobs = 0;
  unsigned countJobs() const;
  /// For each executable and step; 0: none.
  double timeoutSeconds = 300;
  uint64_t outputBytes = uint64_t(1) << 30;
  /// Where the files of every run stay; empty: only those of failures do.
  std::string keepDirectory;
  /// Runs all and reports all, even after a failure.
  bool keepGoing = false;
  /// Breaches of the contract that put no memory at risk are errors too.
  bool isStrict = true;
  /// Where answers of tools are kept for the next time; empty: nowhere.
  std::string cacheDirectory;
  /// Variables of the environment that answers depend on.
  std::vector<std::string> cacheVariables;
  /// Runs "main" of two programs, as the dispatch room leaves them, on the same
  /// numbers: asked after each offer that is taken. Null: nobody can.
  std::function<Compared(mlir::ModuleOp before, mlir::ModuleOp after)>
      compareRuns;
  /// Asked after all other changes too.
  bool comparesAll = false;
  /// What tools say is printed even if all is well.
  bool verbose = false;
  /// The machines that code is made for: tools are told.
  std::vector<std::string> targets;
};

/// A tool, or passes in this process.
struct Step {
  /// As on the command line.
  std::string text;
  /// The file of the tool and its words, not yet filled.
  std::string path;
  std::vector<std::string> words;
  std::optional<mlir::OpPassManager> pipeline;
  /// Not empty: the tool is offered executables of this pattern alone, and
  /// where it fails the kernel is ours.
  std::string pattern;
  /// Not empty: no tool, but a library that is called where the program runs.
  std::string library;
  bool isOffer() const { return !pattern.empty(); }
  /// Its passes share something: one executable after the other, in the
  /// context of the program.
  bool runsInOrder = false;
};

/// Options that hold water.
struct Plan {
  Options options;
  std::vector<Step> steps;
  std::vector<llvm::GlobPattern> only, onlyTargets;

  bool takes(llvm::StringRef executable) const;
  /// The patterns whose ops become executables of their own.
  std::vector<std::string> getClaims() const;
  /// Whether one of the machines that code is made for is asked for.
  bool takesTargets() const;
  /// And has what the step needs.
  bool takesTargets(const Step &step) const;
  /// The flags that ask for all this, for whoever records them.
  std::vector<std::string> getFlags() const;
};

/// Finds tools and parses pipelines, whose passes must be registered. Errors
/// begin with their tag: [pre-usage], [pre-not-found], [pre-not-executable].
llvm::Expected<Plan> makePlan(Options options);

} // namespace alula::preprocess
