// What each tool gets and what is made of its answer. Answers are checked by
// several threads at once, each in a context of its own.

#include "compiler/preprocess/tool_step.h"

#include "compiler/preprocess/envelope.h"
#include "compiler/preprocess/parallel_for.h"
#include "compiler/preprocess/patterns.h"
#include "compiler/preprocess/reply_cache.h"
#include "compiler/preprocess/run_folder.h"
#include "compiler/preprocess/tokenizer.h"
#include "compiler/preprocess/tool_process.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <thread>

using namespace mlir;
using namespace alula::preprocess;
namespace dispatch = alula::dispatch;
using alula::dispatch::ExecutableOp;

namespace {
constexpr int notForMe = 86;

/// What a tool was given and what came of it.
struct Ran {
  std::optional<RunFolder> folder;
  ToolRun run;
  Given given;
  std::string cacheKey;
  std::optional<ToolResult> result;
  bool isFromCache = false;
  Reply reply;
  /// Why it has no folder, and so was not run.
  std::string noFolder;
};

ToolLimits makeLimits(const Options &options) {
  ToolLimits limits;
  limits.jobs = options.countJobs();
  limits.timeout = std::chrono::milliseconds(
      std::llround(std::ceil(options.timeoutSeconds * 1000)));
  limits.outputBytes = options.outputBytes;
  return limits;
}

class ToolStep {
public:
  ToolStep(const Plan &plan, const Step &step, unsigned number,
           llvm::MutableArrayRef<Candidate> candidates,
           const std::function<bool()> &isCancelled)
      : plan(plan), step(step), number(number), candidates(candidates),
        isCancelled(isCancelled), limits(makeLimits(plan.options)),
        cache(plan.options, step), all(candidates.size()) {}

  std::vector<Failure> run() {
    findCached();
    runTools(
        static_cast<unsigned>(toRun.size()), limits,
        [&](unsigned i) { return prepare(toRun[i]); },
        [&](unsigned i, ToolResult &&result) {
          bool isGood = result.end == ToolEnd::Exit &&
                        (result.code == 0 || result.code == notForMe);
          all[toRun[i]].result = std::move(result);
          return isGood || plan.options.keepGoing || step.isOffer();
        },
        isCancelled);
    if (isCancelled && isCancelled())
      return {};
    checkReplies();
    for (auto [candidate, ran] : llvm::zip_equal(candidates, all))
      if (ran.result)
        finish(candidate, ran);
    return std::move(failures);
  }

private:
  bool takes(const Candidate &candidate) const {
    if (!step.isOffer())
      return true;
    auto pattern = ExecutableOp(candidate.original)
                       ->getAttrOfType<StringAttr>(patternAttributeName);
    return pattern && pattern.getValue() == step.pattern && !candidate.isTaken;
  }

  void findCached() {
    for (unsigned i = 0; i < candidates.size(); ++i) {
      if (!takes(candidates[i]))
        continue;
      Ran &ran = all[i];
      if (cache.isOn()) {
        ran.given.text = serialize(*candidates[i].envelope, false);
        ran.cacheKey = cache.makeKey(serialize(*candidates[i].envelope, true),
                                     candidates[i].contract.name,
                                     llvm::join(plan.options.targets, ","));
        ran.result = cache.find(ran.cacheKey);
        ran.isFromCache = ran.result.has_value();
      }
      if (!ran.isFromCache)
        toRun.push_back(i);
    }
  }

  /// What to run for one executable; its folder is in its `Ran`.
  ToolRun prepare(unsigned i) {
    Candidate &candidate = candidates[i];
    Ran &ran = all[i];
    Placeholders values{candidate.contract.name,
                        llvm::join(plan.options.targets, ","), ""};
    if (auto folder = RunFolder::makeFor(plan.options.keepDirectory, number,
                                         values.name)) {
      values.workdir = folder->getPath();
      ran.folder.emplace(std::move(*folder));
    } else {
      ran.noFolder = toString(folder.takeError());
      return {};
    }
    ran.run.path = step.path;
    ran.run.words = {step.words.front()};
    for (StringRef word : ArrayRef(step.words).drop_front())
      // Known to be good since the plan was made.
      ran.run.words.push_back(cantFail(fillPlaceholders(word, values)));
    ran.run.environment = {"ALULA_PREPROCESS=1", "ALULA_PREPROCESS_PROTOCOL=1",
                           "ALULA_EXECUTABLE=" + values.name,
                           "ALULA_TARGETS=" + values.target,
                           "ALULA_WORKDIR=" + values.workdir};
    if (ran.given.text.empty())
      ran.given.text = serialize(*candidate.envelope, false);
    if (plan.options.bytecode)
      ran.given.bytecode = serialize(*candidate.envelope, true);
    ToolRun run = ran.run;
    run.input = plan.options.bytecode ? ran.given.bytecode : ran.given.text;
    return run;
  }

  static bool hasReply(const Ran &ran) {
    return ran.result && ran.result->end == ToolEnd::Exit &&
           ran.result->code == 0;
  }

  void checkReplies() {
    if (candidates.empty())
      return;
    const DialectRegistry &registry =
        candidates.front().original->getContext()->getDialectRegistry();
    forEachInParallel(
        all.size(), std::thread::hardware_concurrency(), [&](size_t i) {
          if (hasReply(all[i]))
            all[i].reply = checkReply(all[i].result->output, all[i].given,
                                      candidates[i].contract, registry);
          return true;
        });
  }

  void finish(Candidate &candidate, Ran &ran) {
    ToolResult &result = *ran.result;
    std::optional<Problem> problem = explain(result);
    if (!ran.noFolder.empty())
      problem->text = "can't make its folder: " + ran.noFolder;
    bool isSkipped = result.end == ToolEnd::Exit && result.code == notForMe;
    OwningOpRef<ModuleOp> changed;
    if (!problem && !isSkipped) {
      problem = std::move(ran.reply.problem);
      if (problem && problem->mayGoOn && !plan.options.isStrict) {
        emitWarning(candidate.original.getLoc())
            << "[" << problem->tag << "] @" << candidate.contract.name
            << ", step " << number << ", '" << step.path
            << "': " << problem->text;
        problem.reset();
      }
      if (!problem && !ran.reply.bytes.empty()) {
        changed = readChecked(ran.reply.bytes, candidate.original->getContext(),
                              candidate.contract.name);
        if (!changed)
          problem = Problem{"pre-verify", "it can't be read a second time", ""};
      }
    }
    if (!problem && !ran.isFromCache && cache.isOn())
      cache.add(ran.cacheKey, result);
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
      if (plan.options.verbose)
        printOurs(*candidate.envelope, *changed);
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

  static void printSaid(StringRef name, StringRef said) {
    for (; !said.empty(); said = said.split('\n').second)
      llvm::errs() << "[" << name << "] " << said.split('\n').first << "\n";
  }

  /// Attributes of ours that will be put back.
  static void printOurs(ModuleOp was, ModuleOp is) {
    auto name = unwrap(was).getSymName();
    for (auto [before, after] :
         llvm::zip(unwrap(was).getBody().getOps<dispatch::EntryOp>(),
                   unwrap(is).getBody().getOps<dispatch::EntryOp>()))
      for (Operation *op : {before.getOperation(), after.getOperation()})
        for (NamedAttribute attribute : op->getDiscardableAttrs())
          if (attribute.getName().strref().starts_with("dispatch.") &&
              before->getAttr(attribute.getName()) !=
                  after->getAttr(attribute.getName()))
            llvm::errs() << "[" << name << "] " << attribute.getName().strref()
                         << " of entry @" << before.getSymName()
                         << " is ours: it stays as it was\n";
  }

  const Plan &plan;
  const Step &step;
  unsigned number;
  llvm::MutableArrayRef<Candidate> candidates;
  const std::function<bool()> &isCancelled;
  ToolLimits limits;
  ReplyCache cache;
  std::vector<Ran> all;
  std::vector<unsigned> toRun;
  std::vector<Failure> failures;
};
} // namespace

std::vector<Failure>
alula::preprocess::runToolStep(const Plan &plan, const Step &step,
                               unsigned number,
                               llvm::MutableArrayRef<Candidate> candidates,
                               const std::function<bool()> &isCancelled) {
  return ToolStep(plan, step, number, candidates, isCancelled).run();
}
