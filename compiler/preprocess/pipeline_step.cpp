// Each executable goes through the passes in a context of its own, so that
// several can at once, and comes back as bytecode if it has changed.

#include "compiler/preprocess/pipeline_step.h"

#include "compiler/preprocess/envelope.h"
#include "compiler/preprocess/parallel_for.h"
#include "compiler/preprocess/run_folder.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace alula::preprocess;

namespace {
/// Runs passes and checks what they leave.
std::optional<Problem> runPasses(const OpPassManager &pipeline,
                                 ModuleOp envelope, const Contract &contract) {
  std::string said;
  {
    ScopedDiagnosticHandler handler(
        envelope.getContext(), [&](Diagnostic &diagnostic) {
          if (said.empty() &&
              diagnostic.getSeverity() == DiagnosticSeverity::Error)
            said = diagnostic.str();
          return success();
        });
    PassManager pm(envelope.getContext(), ModuleOp::getOperationName());
    static_cast<OpPassManager &>(pm) = pipeline;
    if (failed(pm.run(envelope)))
      return Problem{"pre-pipeline", said.empty() ? "a pass has failed" : said,
                     ""};
  }
  return checkEnvelope(envelope, contract);
}

class PipelineStep {
public:
  PipelineStep(const Plan &plan, const Step &step, unsigned number,
               llvm::MutableArrayRef<Candidate> candidates,
               const std::function<bool()> &isCancelled)
      : plan(plan), step(step), number(number), candidates(candidates),
        isCancelled(isCancelled), all(candidates.size()) {}

  std::vector<Failure> run() {
    if (candidates.empty())
      return {};
    if (step.runsInOrder)
      forEachInParallel(candidates.size(), 1,
                        [&](size_t i) { return runHere(i); });
    else
      runApart();
    if (isCancelled && isCancelled())
      return {};
    for (size_t i = 0; i < candidates.size(); ++i)
      if (!finish(candidates[i], all[i]) && !plan.options.keepGoing)
        break;
    return std::move(failures);
  }

private:
  struct Ran {
    std::string bytes;
    Reply reply;
    bool isChanged = false;
  };

  bool mayGoOn(const std::optional<Problem> &problem) const {
    return !problem || (problem->mayGoOn && !plan.options.isStrict) ||
           plan.options.keepGoing;
  }

  bool runHere(size_t i) {
    if (isCancelled && isCancelled())
      return false;
    ModuleOp envelope = *candidates[i].envelope;
    std::string before = serialize(envelope, false);
    Ran &ran = all[i];
    ran.reply.problem =
        runPasses(*step.pipeline, envelope, candidates[i].contract);
    ran.isChanged = serialize(envelope, false) != before;
    return mayGoOn(ran.reply.problem);
  }

  void runApart() {
    // A context is no place for two threads, and passes are copied from one.
    for (auto [candidate, ran] : llvm::zip_equal(candidates, all))
      ran.bytes = serialize(*candidate.envelope, /*bytecode=*/true);
    std::vector<OpPassManager> pipelines(candidates.size(), *step.pipeline);
    const DialectRegistry &registry =
        candidates.front().original->getContext()->getDialectRegistry();
    forEachInParallel(
        candidates.size(), plan.options.countJobs(), [&](size_t i) {
          if (isCancelled && isCancelled())
            return false;
          Ran &ran = all[i];
          runInContext(pipelines[i], candidates[i].contract, registry, ran);
          return mayGoOn(ran.reply.problem);
        });
  }

  static void runInContext(const OpPassManager &pipeline,
                           const Contract &contract,
                           const DialectRegistry &registry, Ran &ran) {
    MLIRContext context(registry, MLIRContext::Threading::DISABLED);
    auto envelope = readChecked(ran.bytes, &context, contract.name);
    ran.bytes.clear();
    if (!envelope) {
      ran.reply.problem =
          Problem{"pre-verify", "it can't be read a second time", ""};
      return;
    }
    std::string before = serialize(*envelope, false);
    ran.reply.problem = runPasses(pipeline, *envelope, contract);
    if (ran.reply.problem && !ran.reply.problem->mayGoOn)
      return;
    if (serialize(*envelope, false) != before)
      ran.reply.bytes = serialize(*envelope, /*bytecode=*/true);
  }

  bool finish(Candidate &candidate, Ran &ran) {
    std::optional<Problem> &problem = ran.reply.problem;
    if (problem && problem->mayGoOn && !plan.options.isStrict) {
      emitWarning(candidate.original.getLoc())
          << "[" << problem->tag << "] @" << candidate.contract.name
          << ", step " << number << ", '" << step.text
          << "': " << problem->text;
      problem.reset();
    }
    if (!problem && !ran.reply.bytes.empty()) {
      auto changed =
          readChecked(ran.reply.bytes, candidate.original->getContext(),
                      candidate.contract.name);
      if (changed)
        candidate.envelope = std::move(changed);
      else
        problem = Problem{"pre-verify", "it can't be read a second time", ""};
      ran.isChanged = true;
    }
    if (problem) {
      failures.push_back({&candidate, *problem, "", keep(candidate, *problem)});
      return false;
    }
    candidate.isChanged |= ran.isChanged;
    return true;
  }

  /// A folder with what the passes got, and how alula-opt runs them.
  std::string keep(const Candidate &candidate, const Problem &problem) {
    if (step.runsInOrder)
      return "";
    auto folder = RunFolder::makeFor(plan.options.keepDirectory, number,
                                     candidate.contract.name);
    if (!folder) {
      llvm::consumeError(folder.takeError());
      return "";
    }
    StringRef text = StringRef(step.text).trim();
    text.consume_front("pipeline:");
    ToolRun run;
    run.path = "alula-opt";
    run.words = {"alula-opt", ("--pass-pipeline=" + text.trim()).str()};
    run.input = serialize(*candidate.envelope, /*bytecode=*/false);
    ToolResult result;
    result.end = ToolEnd::Exit;
    result.code = 1;
    result.errors = problem.text + "\n";
    if (llvm::Error error = folder->keep(run, result)) {
      llvm::errs() << "warning: " << toString(std::move(error)) << "\n";
      return "";
    }
    return folder->getPath().str();
  }

  const Plan &plan;
  const Step &step;
  unsigned number;
  llvm::MutableArrayRef<Candidate> candidates;
  const std::function<bool()> &isCancelled;
  std::vector<Ran> all;
  std::vector<Failure> failures;
};
} // namespace

std::vector<Failure>
alula::preprocess::runPipelineStep(const Plan &plan, const Step &step,
                                   unsigned number,
                                   llvm::MutableArrayRef<Candidate> candidates,
                                   const std::function<bool()> &isCancelled) {
  return PipelineStep(plan, step, number, candidates, isCancelled).run();
}
