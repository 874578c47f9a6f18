// Step by step, each over all executables; the module stays as it is until the
// last has succeeded.

#include "compiler/preprocess/preprocess.h"

#include "compiler/preprocess/comparison.h"
#include "compiler/preprocess/envelope.h"
#include "compiler/preprocess/library_step.h"
#include "compiler/preprocess/patterns.h"
#include "compiler/preprocess/pipeline_step.h"
#include "compiler/preprocess/splice.h"
#include "compiler/preprocess/tool_step.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace alula::preprocess;
using alula::dispatch::ExecutableOp;

namespace {
constexpr unsigned shownLines = 20;

class Preprocessor {
public:
  Preprocessor(ModuleOp module, const Plan &plan,
               const std::function<bool()> &isCancelled)
      : module(module), plan(plan), isCancelled(isCancelled) {}

  LogicalResult run() {
    collect();
    for (unsigned i = 0; i < plan.steps.size(); ++i) {
      const Step &step = plan.steps[i];
      if (step.isOffer()) {
        if (step.library.empty())
          runOffer(step, i + 1);
        else
          offerToLibrary(step, i + 1);
        if (isCancelled && isCancelled())
          return failure();
        continue;
      }
      auto runStep = step.pipeline ? runPipelineStep : runToolStep;
      failures = runStep(plan, step, i + 1, candidates, isCancelled);
      if (isCancelled && isCancelled())
        return failure();
      if (!failures.empty())
        return report(step, i + 1);
    }
    for (Candidate &candidate : candidates)
      if (candidate.isChanged && !candidate.isTaken &&
          failed(verifyRun(candidate)))
        return failure();
    for (Candidate &candidate : candidates)
      keepCall(candidate);
    for (Candidate &candidate : candidates)
      if (candidate.isChanged && failed(finishBodies(*candidate.envelope)))
        return failure();
    for (Candidate &candidate : candidates)
      if (candidate.isChanged)
        splice(candidate.original, candidate.contract, *candidate.envelope);
    return success();
  }

  bool hasChanged() const {
    return llvm::any_of(candidates, [](const Candidate &candidate) {
      return candidate.isChanged || candidate.call;
    });
  }

private:
  void collect() {
    if (!plan.takesTargets())
      return;
    GridLimits limits = GridLimits::of(plan.options.targets);
    for (auto executable : module.getOps<ExecutableOp>()) {
      if (!plan.takes(executable.getSymName()))
        continue;
      Candidate &candidate = candidates.emplace_back();
      candidate.original = executable;
      candidate.contract = readContractInProgram(executable);
      candidate.contract.limits = limits;
      candidate.envelope = wrap(executable);
    }
  }

  /// Asks whether somebody else has a kernel. Whatever goes wrong is a warning,
  /// and the kernel stays as it was.
  void runOffer(const Step &step, unsigned number) {
    std::vector<OwningOpRef<ModuleOp>> before;
    for (const Candidate &candidate : candidates)
      before.push_back(candidate.envelope.get().clone());
    auto warn = [&](const Candidate &candidate, const Problem &problem) {
      return emitWarning(ExecutableOp(candidate.original).getLoc())
             << describe(candidate, problem, step, number);
    };
    for (const Failure &each :
         runToolStep(plan, step, number, candidates, isCancelled)) {
      auto warning = warn(*each.candidate, each.problem);
      warning << "; the kernel is ours";
      if (!each.folder.empty())
        warning << "; what it got and gave is in " << each.folder;
      if (StringRef said = StringRef(each.said).trim(); !said.empty())
        warning.attachNote() << "it said:\n" << takeLines(said);
    }
    for (auto [candidate, was] : llvm::zip_equal(candidates, before)) {
      if (serialize(*candidate.envelope, false) == serialize(*was, false))
        continue;
      Compared compared = compare(makeComparison(candidate));
      if (!compared.difference.empty()) {
        warn(candidate, {"pre-run",
                         "must compute what ours does: " + compared.difference +
                             "; the kernel is ours",
                         ""});
        candidate.envelope = std::move(was);
        // Earlier steps may have changed it.
        candidate.isChanged = serialize(*candidate.envelope, false) !=
                              serialize(*wrap(candidate.original), false);
        continue;
      }
      candidate.isTaken = true;
      if (!compared.unable.empty())
        warn(candidate,
             {"pre-run", "is used and has not run here: " + compared.unable,
              ""});
    }
  }

  /// Has a library compute it where the program runs, if it takes it, and if it
  /// computes the same here.
  void offerToLibrary(const Step &step, unsigned number) {
    if (!plan.takesTargets(step))
      return;
    for (Candidate &candidate : candidates) {
      if (isCancelled && isCancelled())
        return;
      auto pattern = ExecutableOp(candidate.original)
                         ->getAttrOfType<StringAttr>(patternAttributeName);
      if (!pattern || pattern.getValue() != step.pattern || candidate.isTaken ||
          candidate.isChanged)
        continue;
      auto call = describeCall(step.library, candidate.original);
      auto declines = [&](StringRef why) {
        if (plan.options.verbose)
          llvm::errs() << "[" << candidate.contract.name << "] " << step.library
                       << " declines: " << why << "\n";
      };
      if (!call) {
        declines("its ops are no call");
        continue;
      }
      Compared compared = compare(makeComparison(candidate, *call));
      auto warn = [&](const std::string &text) {
        emitWarning(candidate.original.getLoc())
            << "[pre-run] @" << candidate.contract.name << ", step " << number
            << ", '" << step.library << "': " << text;
      };
      if (!compared.declined.empty()) {
        declines(compared.declined);
        continue;
      }
      if (!compared.difference.empty()) {
        warn("must compute what ours does: " + compared.difference +
             "; the kernel is ours");
        continue;
      }
      candidate.isTaken = true;
      candidate.call = std::move(call);
      if (!compared.unable.empty())
        warn("is used and has not run here: " + compared.unable);
    }
  }

  /// On the kernel, unless later steps have changed what that computes.
  static void keepCall(Candidate &candidate) {
    if (!candidate.call)
      return;
    if (candidate.isChanged) {
      emitWarning(candidate.original.getLoc())
          << "[pre-run] @" << candidate.contract.name
          << ": a later step has changed it: the kernel is ours";
      return;
    }
    setLibraryCall(*candidate.original.getBody()
                        .getOps<alula::dispatch::EntryOp>()
                        .begin(),
                   *candidate.call);
  }

  Compared compare(const std::optional<Comparison> &comparison) {
    Compared unable;
    unable.unable = !plan.options.compareRuns
                        ? "this program has no runtime"
                        : "no call has sizes that are known";
    if (!plan.options.compareRuns || !comparison)
      return unable;
    return plan.options.compareRuns(*comparison->before, *comparison->after);
  }

  static std::string describe(const Candidate &candidate,
                              const Problem &problem, const Step &step,
                              unsigned number) {
    return "[" + problem.tag + "] @" + candidate.contract.name + ", step " +
           std::to_string(number) + ", '" +
           (step.pipeline ? step.text : step.path) + "': " + problem.text;
  }

  LogicalResult report(const Step &step, unsigned number) {
    llvm::sort(failures, [](const Failure &a, const Failure &b) {
      return a.candidate->contract.name < b.candidate->contract.name;
    });
    for (const Failure &each : failures) {
      auto error = emitError(each.candidate->original.getLoc());
      error << describe(*each.candidate, each.problem, step, number);
      if (!each.folder.empty())
        error << "; what it got and gave is in " << each.folder;
      if (!each.problem.details.empty())
        error.attachNote() << "there:\n"
                           << StringRef(each.problem.details).rtrim();
      if (StringRef said = StringRef(each.said).trim(); !said.empty())
        error.attachNote() << "it said:\n" << takeLines(said);
    }
    return failure();
  }

  static StringRef takeLines(StringRef text) {
    size_t end = 0;
    for (unsigned i = 0; i < shownLines && end != StringRef::npos; ++i)
      end = text.find('\n', end + 1);
    return text.substr(0, end);
  }

  /// Runs what was and what is on the same numbers.
  LogicalResult verifyRun(Candidate &candidate) {
    if (!plan.options.compareRuns || !plan.options.comparesAll)
      return success();
    auto comparison = makeComparison(candidate);
    if (!comparison) {
      emitWarning(candidate.original.getLoc())
          << "[pre-run] @" << candidate.contract.name
          << ": can't be compared: no call has sizes that are known";
      return success();
    }
    std::string difference =
        plan.options.compareRuns(*comparison->before, *comparison->after)
            .difference;
    if (difference.empty())
      return success();
    return emitError(candidate.original.getLoc())
           << "[pre-run] @" << candidate.contract.name
           << ": must compute what it did: " << difference;
  }

  ModuleOp module;
  const Plan &plan;
  const std::function<bool()> &isCancelled;
  std::vector<Candidate> candidates;
  std::vector<Failure> failures;
};
} // namespace

LogicalResult alula::preprocess::preprocessExecutables(
    ModuleOp module, const Plan &plan, const std::function<bool()> &isCancelled,
    bool *hasChanged) {
  if (plan.steps.empty())
    return success();
  Preprocessor preprocessor(module, plan, isCancelled);
  if (failed(preprocessor.run()))
    return failure();
  if (hasChanged)
    *hasChanged = preprocessor.hasChanged();
  return success();
}
