// Step by step, each over all executables; the module stays as it is until the
// last has succeeded.

#include "compiler/preprocess/preprocess.h"

#include "compiler/preprocess/envelope.h"
#include "compiler/preprocess/run_folder.h"
#include "compiler/preprocess/tokenizer.h"
#include "compiler/preprocess/tool_process.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <thread>

using namespace mlir;
using namespace alula::preprocess;
using alula::dispatch::ExecutableOp;

namespace {
constexpr int notForMe = 86;
constexpr unsigned shownLines = 20;

/// An executable on its way.
struct Candidate {
  ExecutableOp original;
  Contract contract;
  OwningOpRef<ModuleOp> envelope;
  bool isChanged = false;
};

struct Failure {
  Candidate *candidate;
  Problem problem;
  std::string said, folder;
};

/// What a tool was given and what came of it.
struct Ran {
  std::optional<RunFolder> folder;
  ToolRun run;
  std::optional<ToolResult> result;
  /// Why it has no folder, and so was not run.
  std::string noFolder;
};

class Preprocessor {
public:
  Preprocessor(ModuleOp module, const Plan &plan,
               const std::function<bool()> &isCancelled)
      : module(module), plan(plan), isCancelled(isCancelled) {
    limits.jobs = plan.options.jobs
                      ? plan.options.jobs
                      : std::max(1u, std::thread::hardware_concurrency());
    limits.timeout = std::chrono::milliseconds(
        std::llround(std::ceil(plan.options.timeoutSeconds * 1000)));
    limits.outputBytes = plan.options.outputBytes;
  }

  LogicalResult run() {
    for (auto executable : module.getOps<ExecutableOp>())
      if (plan.takes(executable.getSymName()))
        candidates.push_back(
            {executable, readContract(executable), wrap(executable)});
    for (unsigned i = 0; i < plan.steps.size(); ++i) {
      if (plan.steps[i].pipeline)
        runPipeline(plan.steps[i]);
      else
        runTool(plan.steps[i], i + 1);
      if (isCancelled && isCancelled())
        return failure();
      if (!failures.empty())
        return report(plan.steps[i], i + 1);
    }
    for (Candidate &candidate : candidates)
      if (candidate.isChanged && failed(inlineFunctions(*candidate.envelope)))
        return failure();
    for (Candidate &candidate : candidates)
      if (candidate.isChanged)
        replace(candidate);
    return success();
  }

private:
  void runPipeline(const Step &step) {
    for (Candidate &candidate : candidates) {
      if (isCancelled && isCancelled())
        return;
      std::string before = serialize(*candidate.envelope, false);
      if (auto problem = runPasses(step, candidate)) {
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

  void runTool(const Step &step, unsigned number) {
    std::vector<Ran> all(candidates.size());
    runTools(
        candidates.size(), limits,
        [&](unsigned i) {
          ToolRun run = prepare(step, number, candidates[i], all[i]);
          all[i].run = run;
          all[i].run.input.clear();
          return run;
        },
        [&](unsigned i, ToolResult &&result) {
          bool isGood = result.end == ToolEnd::Exit &&
                        (result.code == 0 || result.code == notForMe);
          all[i].result = std::move(result);
          return isGood || plan.options.keepGoing;
        },
        isCancelled);
    if (isCancelled && isCancelled())
      return;
    for (auto [candidate, ran] : llvm::zip_equal(candidates, all))
      if (ran.result)
        finish(candidate, ran);
  }

  /// What to run for one executable; its folder is in `ran`.
  ToolRun prepare(const Step &step, unsigned number, Candidate &candidate,
                  Ran &ran) {
    Placeholders values{candidate.contract.name,
                        llvm::join(plan.options.targets, ","), ""};
    if (auto folder = makeFolder(number, values.name)) {
      values.workdir = folder->getPath();
      ran.folder.emplace(std::move(*folder));
    } else {
      ran.noFolder = toString(folder.takeError());
      return {};
    }
    ToolRun run;
    run.path = step.path;
    run.words = {step.words.front()};
    for (StringRef word : ArrayRef(step.words).drop_front())
      // Known to be good since the plan was made.
      run.words.push_back(cantFail(fillPlaceholders(word, values)));
    run.environment = {"ALULA_PREPROCESS=1", "ALULA_PREPROCESS_PROTOCOL=1",
                       "ALULA_EXECUTABLE=" + values.name,
                       "ALULA_TARGETS=" + values.target,
                       "ALULA_WORKDIR=" + values.workdir};
    run.input = serialize(*candidate.envelope, plan.options.bytecode);
    return run;
  }

  llvm::Expected<RunFolder> makeFolder(unsigned number, StringRef name) {
    if (plan.options.keepDirectory.empty())
      return RunFolder::make();
    // A symbol may have any character.
    std::string file = std::to_string(number) + "-";
    for (char c : name)
      file += llvm::isAlnum(c) || c == '_' || c == '-' || c == '.' ? c : '_';
    llvm::SmallString<128> path(plan.options.keepDirectory);
    llvm::sys::path::append(path, file);
    return RunFolder::makeAt(path.str().str());
  }

  void finish(Candidate &candidate, Ran &ran) {
    ToolResult &result = *ran.result;
    std::optional<Problem> problem = explain(result);
    if (!ran.noFolder.empty())
      problem->text = "can't make its folder: " + ran.noFolder;
    bool isSkipped = result.end == ToolEnd::Exit && result.code == notForMe;
    OwningOpRef<ModuleOp> changed;
    if (!problem && !isSkipped) {
      auto reply = readReply(result.output, *candidate.envelope,
                             candidate.contract, module.getContext());
      if (auto *found = std::get_if<Problem>(&reply))
        problem = std::move(*found);
      else
        changed = std::move(std::get<OwningOpRef<ModuleOp>>(reply));
    }
    if (ran.folder && (problem || !plan.options.keepDirectory.empty())) {
      ran.run.input = serialize(*candidate.envelope, plan.options.bytecode);
      if (llvm::Error error = ran.folder->keep(ran.run, result))
        llvm::errs() << "warning: " << toString(std::move(error)) << "\n";
    }
    if (problem)
      failures.push_back({&candidate, std::move(*problem), result.errors,
                          ran.folder ? ran.folder->getPath().str() : ""});
    else if (plan.options.verbose)
      printSaid(candidate.contract.name, result.errors);
    if (changed) {
      candidate.envelope = std::move(changed);
      candidate.isChanged = true;
    }
  }

  std::optional<Problem> explain(const ToolResult &result) {
    static constexpr const char *tags[] = {"pre-exit", "pre-signal",
                                           "pre-timeout", "pre-output-limit",
                                           "pre-spawn"};
    if (result.end == ToolEnd::Exit &&
        (result.code == 0 || result.code == notForMe))
      return std::nullopt;
    return Problem{tags[static_cast<unsigned>(result.end)],
                   describeEnd(result, limits), ""};
  }

  void printSaid(StringRef name, StringRef said) {
    for (; !said.empty(); said = said.split('\n').second)
      llvm::errs() << "[" << name << "] " << said.split('\n').first << "\n";
  }

  LogicalResult report(const Step &step, unsigned number) {
    llvm::sort(failures, [](const Failure &a, const Failure &b) {
      return a.candidate->contract.name < b.candidate->contract.name;
    });
    for (const Failure &each : failures) {
      auto error = emitError(each.candidate->original.getLoc());
      error << "[" << each.problem.tag << "] @" << each.candidate->contract.name
            << ", step " << number << ", '"
            << (step.pipeline ? step.text : step.path)
            << "': " << each.problem.text;
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

  /// Kernels have no calls: private functions end here.
  LogicalResult inlineFunctions(ModuleOp envelope) {
    PassManager pm(module.getContext(), ModuleOp::getOperationName());
    pm.nest<ExecutableOp>().nest<ModuleOp>().addPass(
        createInlinerPass({}, [](OpPassManager &) {}));
    return pm.run(envelope);
  }

  void replace(Candidate &candidate) {
    ExecutableOp executable = unwrap(*candidate.envelope);
    restoreOwn(candidate.original, executable);
    executable->moveBefore(candidate.original);
    candidate.original.erase();
  }

  ModuleOp module;
  const Plan &plan;
  const std::function<bool()> &isCancelled;
  ToolLimits limits;
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
