// Step by step, each over all executables; the module stays as it is until the
// last has succeeded.

#include "compiler/preprocess/preprocess.h"

#include "compiler/preprocess/bodies.h"
#include "compiler/preprocess/envelope.h"
#include "compiler/preprocess/host_functions.h"
#include "compiler/preprocess/tool_step.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace alula::preprocess;
using alula::dispatch::EntryOp;
using alula::dispatch::ExecutableOp;
using alula::dispatch::LaunchOp;

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
      if (step.pipeline)
        runPipeline(step, i + 1);
      else
        failures = runToolStep(plan, step, i + 1, candidates, isCancelled);
      if (isCancelled && isCancelled())
        return failure();
      if (!failures.empty())
        return report(step, i + 1);
    }
    for (Candidate &candidate : candidates)
      if (candidate.isChanged && failed(verifyRun(candidate)))
        return failure();
    for (Candidate &candidate : candidates)
      if (candidate.isChanged && failed(inlineFunctions(candidate)))
        return failure();
    for (Candidate &candidate : candidates)
      if (candidate.isChanged)
        replace(candidate);
    return success();
  }

private:
  void collect() {
    if (!plan.takesTargets())
      return;
    DenseMap<StringAttr, SmallVector<LaunchOp>> launches;
    module.walk([&](LaunchOp launch) {
      launches[launch.getEntry().getRootReference()].push_back(launch);
    });
    GridLimits limits = GridLimits::of(plan.options.targets);
    for (auto executable : module.getOps<ExecutableOp>()) {
      if (!plan.takes(executable.getSymName()))
        continue;
      Candidate &candidate = candidates.emplace_back();
      candidate.original = executable;
      candidate.contract = readContract(executable);
      candidate.contract.limits = limits;
      candidate.envelope = wrap(executable);
      for (LaunchOp launch : launches[executable.getSymNameAttr()])
        candidate.launches[launch.getEntry().getLeafReference().str()]
            .push_back(launch);
      for (Contract::Entry &entry : candidate.contract.entries)
        for (LaunchOp launch : candidate.launches[entry.name])
          entry.launches.push_back(readConstants(launch));
    }
  }

  void runPipeline(const Step &step, unsigned number) {
    for (Candidate &candidate : candidates) {
      if (isCancelled && isCancelled())
        return;
      std::string before = serialize(*candidate.envelope, false);
      auto problem = runPasses(step, candidate);
      if (problem && problem->mayGoOn && !plan.options.isStrict) {
        emitWarning(candidate.original.getLoc())
            << describe(candidate, *problem, step, number);
        problem.reset();
      }
      if (problem) {
        failures.push_back({&candidate, *problem, "", ""});
        if (!plan.options.keepGoing)
          return;
        continue;
      }
      candidate.isChanged |= serialize(*candidate.envelope, false) != before;
    }
  }

  std::optional<Problem> runPasses(const Step &step, Candidate &candidate) {
    std::string said;
    {
      ScopedDiagnosticHandler handler(
          module.getContext(), [&](Diagnostic &diagnostic) {
            if (said.empty() &&
                diagnostic.getSeverity() == DiagnosticSeverity::Error)
              said = diagnostic.str();
            return success();
          });
      PassManager pm(module.getContext(), ModuleOp::getOperationName());
      static_cast<OpPassManager &>(pm) = *step.pipeline;
      if (failed(pm.run(*candidate.envelope)))
        return Problem{"pre-pipeline",
                       said.empty() ? "a pass has failed" : said, ""};
    }
    return checkEnvelope(*candidate.envelope, candidate.contract);
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

  /// Runs what was and what is on the same numbers, if whoever called us can.
  LogicalResult verifyRun(Candidate &candidate) {
    if (!plan.options.compareRuns)
      return success();
    std::string problem = plan.options.compareRuns(candidate.original,
                                                   unwrap(*candidate.envelope));
    if (problem.empty())
      return success();
    return emitError(candidate.original.getLoc())
           << "[pre-run] @" << candidate.contract.name << ": " << problem;
  }

  /// Kernels have no calls: private functions end here. What the host computes
  /// is called by nobody, so it is kept out of the way.
  LogicalResult inlineFunctions(Candidate &candidate) {
    ExecutableOp executable = unwrap(*candidate.envelope);
    if (!executable.getInnerModule())
      return success();
    for (const Contract::Entry &entry : readContract(executable).entries)
      if (entry.form == BodyForm::Llvm)
        return success();
    SmallVector<func::FuncOp> hosts;
    for (auto entry : executable.getBody().getOps<EntryOp>())
      for (FlatSymbolRefAttr name :
           {entry.getWorkgroupCountAttr(), entry.getAddedConstantsAttr()})
        if (auto function =
                name ? executable.getInnerModule().lookupSymbol<func::FuncOp>(
                           name)
                     : func::FuncOp()) {
          function->remove();
          hosts.push_back(function);
        }
    PassManager pm(module.getContext(), ModuleOp::getOperationName());
    pm.nest<ExecutableOp>().nest<ModuleOp>().addPass(
        createInlinerPass({}, [](OpPassManager &) {}));
    LogicalResult result = pm.run(*candidate.envelope);
    for (func::FuncOp function : hosts)
      executable.getInnerModule().push_back(function);
    return result;
  }

  void replace(Candidate &candidate) {
    ExecutableOp executable = unwrap(*candidate.envelope);
    restoreOwn(candidate.original, executable);
    for (auto [entry, was] :
         llvm::zip_equal(executable.getBody().getOps<EntryOp>(),
                         candidate.contract.entries)) {
      entry.setPinned(hasOwnGrid(entry, was));
      markLoops(entry);
    }
    inlineHostFunctions(executable, [&](StringRef entry) {
      return ArrayRef(candidate.launches[entry.str()]);
    });
    executable->moveBefore(candidate.original);
    candidate.original.erase();
  }

  /// What the kernel room writes on loops that it has made itself.
  static void markLoops(EntryOp entry) {
    auto body =
        getBody(cast<ExecutableOp>(entry->getParentOp()), entry.getSymName());
    if (!body ||
        !llvm::any_of(body.getArgumentTypes(), llvm::IsaPred<MemRefType>))
      return;
    Builder b(entry.getContext());
    auto bindings = static_cast<int64_t>(entry.getBindings().size());
    auto constants = static_cast<int64_t>(entry.getConstantCount() +
                                          countAddedConstants(entry));
    body->setAttr("kernel.bindings", b.getI64IntegerAttr(bindings));
    body->setAttr("kernel.constants", b.getI64IntegerAttr(constants));
  }

  ModuleOp module;
  const Plan &plan;
  const std::function<bool()> &isCancelled;
  std::vector<Candidate> candidates;
  std::vector<Failure> failures;
};
} // namespace

LogicalResult alula::preprocess::preprocessExecutables(
    ModuleOp module, const Plan &plan,
    const std::function<bool()> &isCancelled) {
  if (plan.steps.empty())
    return success();
  return Preprocessor(module, plan, isCancelled).run();
}
