#include "tools/compile/preprocess_flags.h"

#include "compiler/driver/registry.h"
#include "tools/compile/compare_runs.h"

using namespace llvm;

template <typename Number>
static Error parse(const cl::opt<std::string> &flag, Number &number) {
  bool isBad;
  if constexpr (std::is_floating_point_v<Number>)
    isBad = StringRef(flag).getAsDouble(number);
  else
    isBad = StringRef(flag).getAsInteger(10, number);
  if (!isBad)
    return Error::success();
  return createStringError(std::make_error_code(std::errc::invalid_argument),
                           "[pre-usage] --" + Twine(flag.ArgStr) +
                               ": must be a number: is '" + flag + "'");
}

Expected<alula::preprocess::Plan>
alula::tools::PreprocessFlags::makePlan(ArrayRef<std::string> targets) const {
  preprocess::Options options;
  options.steps.assign(steps.begin(), steps.end());
  options.only.assign(only.begin(), only.end());
  options.onlyTargets.assign(onlyTargets.begin(), onlyTargets.end());
  options.isStrict = check == Check::Strict;
  options.cacheDirectory = cacheDirectory;
  options.cacheVariables.assign(cacheVariables.begin(), cacheVariables.end());
  options.comparesAll = verify == Verify::Run;
  options.bytecode = format == Format::Bytecode;
  // No threads, and nothing else at once either, unless that is asked for.
  if (cl::Option *off =
          cl::getRegisteredOptions().lookup("mlir-disable-threading"))
    options.jobs = off->getNumOccurrences() ? 1 : 0;
  if (jobs.getNumOccurrences())
    if (Error error = parse(jobs, options.jobs))
      return error;
  if (Error error = parse(timeout, options.timeoutSeconds))
    return error;
  if (Error error = parse(outputBytes, options.outputBytes))
    return error;
  options.compareRuns = [targets = targets.vec(),
                         seconds = options.timeoutSeconds](
                            mlir::ModuleOp before, mlir::ModuleOp after) {
    return compareRuns(before, after, targets, seconds);
  };
  options.keepDirectory = keepDirectory;
  options.keepGoing = keepGoing;
  options.verbose = verbose;
  options.targets = targets;
  if (!steps.empty())
    driver::registerPasses();
  return preprocess::makePlan(std::move(options));
}
