#include "compiler/driver/options.h"

#include "compiler/objects/assemble_ptx.h"
#include "compiler/objects/ptx_text.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace alula;
using namespace alula::driver;

namespace {
Error makeError(const Twine &text) {
  return createStringError(std::make_error_code(std::errc::invalid_argument),
                           text);
}

/// "[stage-usage] --name: must be …: is 'value'".
Error refuse(StringRef tag, Flag flag, const Twine &rule, StringRef value) {
  return makeError("[" + tag + "] --" + getFlag(flag).name + ": must be " +
                   rule + ": is '" + value + "'");
}

template <typename Number>
Error setNumber(Flag flag, StringRef value, const Twine &rule, Number &number) {
  bool isBad = value.getAsInteger(10, number);
  if constexpr (std::is_signed_v<Number>)
    isBad |= number < 0;
  if (isBad)
    return refuse("stage-usage", flag, rule, value);
  return Error::success();
}

template <typename Place>
Error setRoom(Flag flag, StringRef value, Place &room) {
  auto found = findRoom(value);
  if (!found)
    return makeError("[stage-usage] --" + getFlag(flag).name +
                     ": there is no stage '" + value + "': there are " +
                     listStages());
  room = *found;
  return Error::success();
}

bool isIdentifier(StringRef text) {
  return !text.empty() && !isDigit(text.front()) &&
         all_of(text, [](char c) { return isAlnum(c) || c == '_'; });
}

bool isProgram(StringRef path) {
  return path.ends_with(".mlir") || path.ends_with(".mlirbc");
}

/// Dumps hold much: what counts is what goes furthest back.
bool hasSources(StringRef folder) {
  std::error_code error;
  for (sys::fs::directory_iterator at(folder, error), end; at != end && !error;
       at.increment(error))
    if (isProgram(at->path()) && StringRef(at->path()).contains(".source."))
      return true;
  return false;
}

Error addFile(CompileOptions &options, Flag flag, Room room, StringRef value) {
  auto [name, file] = value.split('=');
  if (name.empty() || file.empty())
    return refuse("stage-usage", flag, "NAME=FILE", value);
  options.substitutions.push_back({room, name.str(), file.str()});
  return Error::success();
}

Error addObject(CompileOptions &options, Flag flag, StringRef value) {
  auto substitution = objects::parseSubstitution(value);
  if (!substitution)
    return refuse("obj-usage", flag, "name=file", value);
  if (flag == Flag::SubstituteObject)
    options.objects.objects.files.push_back(std::move(*substitution));
  else if (isProgram(substitution->path))
    options.substitutions.push_back(
        {Room::Dispatch, substitution->executable, substitution->path});
  else
    options.objects.sources.files.push_back(std::move(*substitution));
  return Error::success();
}

Error addBenchmarkSize(CompileOptions &options, StringRef value) {
  auto [name, size] = value.rsplit('=');
  int64_t number;
  if (Error error = setNumber(Flag::BenchmarkSize, size, "ARGUMENT.DIMENSION=N",
                              number)) {
    consumeError(std::move(error));
    return refuse("stage-usage", Flag::BenchmarkSize, "ARGUMENT.DIMENSION=N",
                  value);
  }
  options.dumps.benchmarkSizes[name.str()] = number;
  return Error::success();
}

/// Where files of several kinds go for which no place is named.
Error setFolders(Dumps &dumps, StringRef value) {
  if (value == "-")
    return makeError("[stage-usage] --dump-executables-to=-: standard output "
                     "takes one file");
  for (std::string *folder :
       {&dumps.sources, &dumps.preprocessed, &dumps.configs, &dumps.benchmarks,
        &dumps.intermediates, &dumps.binaries})
    if (folder->empty())
      *folder = value;
  return Error::success();
}
} // namespace

Error alula::driver::setOption(CompileOptions &options, Flag flag,
                               StringRef value) {
  Dumps &dumps = options.dumps;
  auto set = [&](std::string &text) {
    text = value;
    return Error::success();
  };
  auto add = [&](std::vector<std::string> &texts) {
    texts.push_back(value.str());
    return Error::success();
  };
  auto turnOn = [](bool &isOn) {
    isOn = true;
    return Error::success();
  };
  switch (flag) {
  case Flag::Target:
    return add(options.targets);
  case Flag::OutputForm:
    if (value == "artifact")
      options.outputForm = OutputForm::Artifact;
    else if (value == "static")
      options.outputForm = OutputForm::Static;
    else if (value == "c")
      options.outputForm = OutputForm::C;
    else if (value == "blob")
      options.outputForm = OutputForm::Blob;
    else
      return refuse("stage-usage", flag, "'artifact', 'static', 'c' or 'blob'",
                    value);
    return Error::success();
  case Flag::SymbolPrefix:
    if (!isIdentifier(value))
      return refuse("stage-usage", flag, "a name as C has them", value);
    return set(options.symbolPrefix);
  case Flag::ArenaBudget: {
    uint64_t bytes;
    if (Error error = setNumber(flag, value, "a number", bytes))
      return error;
    options.arenaBudget = bytes;
    return Error::success();
  }
  case Flag::CompilerRt:
    return turnOn(options.allowsCompilerRt);
  case Flag::CustomCall:
    return add(options.customCalls);
  case Flag::PhysicalLayouts:
    return turnOn(options.physicalLayouts);
  case Flag::Accuracy:
    if (value == "bf16-products")
      return turnOn(options.bf16Products);
    if (value == "tf32-products")
      return turnOn(options.tf32Products);
    if (value == "i8-activations")
      return turnOn(options.byteActivations);
    return refuse("stage-usage", flag,
                  "'bf16-products', 'tf32-products' or 'i8-activations'",
                  value);
  case Flag::Debug:
    if (value.getAsInteger(10, options.debugLevel) || options.debugLevel > 3)
      return refuse("stage-usage", flag, "from 0 to 3", value);
    return Error::success();
  case Flag::External:
    // Where the file is says nothing of what is in the artifact.
    options.externalFile = sys::path::filename(value);
    return Error::success();
  case Flag::ExternalBytes:
    return setNumber(flag, value, "a number", options.externalMinimumBytes);
  case Flag::ExternalAsUsed:
    return turnOn(options.externalAsUsed);
  case Flag::Cache:
    return set(options.cache);
  case Flag::CompileTo:
    return setRoom(flag, value, options.until);
  case Flag::CompileFrom:
    if (value == "auto")
      return Error::success();
    if (Error error = setRoom(flag, value, options.completed))
      return error;
    if (options.completed == Room::Emit)
      return makeError("[stage-usage] --compile-from: nothing follows 'emit'");
    return Error::success();
  case Flag::VerifyStages:
    return turnOn(options.verifyStages);
  case Flag::Bytecode:
    return turnOn(dumps.bytecode);
  case Flag::Elide: {
    int64_t limit;
    if (Error error = setNumber(flag, value, "a number", limit))
      return error;
    dumps.elideLarger = limit;
    return Error::success();
  }
  case Flag::DumpStages:
    return set(dumps.stages);
  case Flag::DumpExecutables:
    return setFolders(dumps, value);
  case Flag::DumpSources:
    return set(dumps.sources);
  case Flag::DumpPreprocessed:
    return set(dumps.preprocessed);
  case Flag::DumpConfigs:
    return set(dumps.configs);
  case Flag::DumpBenchmarks:
    return set(dumps.benchmarks);
  case Flag::BenchmarkSize:
    return addBenchmarkSize(options, value);
  case Flag::DumpIntermediates:
  case Flag::KeepIntermediates:
    if (value == "-")
      return makeError("[stage-usage] --" + getFlag(flag).name +
                       "=-: standard output takes one file");
    return set(dumps.intermediates);
  case Flag::DumpBinaries:
    return set(dumps.binaries);
  case Flag::ExecutableOnly:
    return turnOn(options.executableOnly);
  case Flag::SubstituteSource:
    return addFile(options, flag, Room::Dispatch, value);
  case Flag::SubstituteConfig:
    return addFile(options, flag, Room::Kernel, value);
  case Flag::SubstituteSourceFrom:
    options.substitutions.push_back({Room::Dispatch, "", value.str()});
    return Error::success();
  case Flag::SubstituteConfigFrom:
    options.substitutions.push_back({Room::Kernel, "", value.str()});
    return Error::success();
  case Flag::ObjectPath:
    return add(options.objects.searchPaths);
  case Flag::Substitute:
  case Flag::SubstituteObject:
    return addObject(options, flag, value);
  case Flag::SubstituteFrom:
    if (!hasSources(value))
      return add(options.objects.sources.folders);
    options.substitutions.push_back({Room::Dispatch, "", value.str()});
    return Error::success();
  case Flag::SubstituteObjectFrom:
    return add(options.objects.objects.folders);
  case Flag::SubstituteMissing:
    if (value != "error" && value != "warn")
      return refuse("obj-usage", flag, "'error' or 'warn'", value);
    options.objects.missingIsError = value == "error";
    return Error::success();
  case Flag::CudaDriver:
    options.objects.cudaDriver = value;
    if (!value.empty() && !objects::findPtxVersion(value))
      return refuse("obj-usage", flag, "from 11.0 to 13.1", value);
    return Error::success();
  case Flag::CudaCubins:
    options.cubinChips.clear();
    for (StringRef chip : llvm::split(value, ','))
      if (objects::parseChip(chip))
        options.cubinChips.push_back(chip.str());
      else
        return refuse("obj-usage", flag, "chips, as 'sm_80,sm_90a'", value);
    return Error::success();
  case Flag::CudaPtxas:
    return set(options.ptxas);
  case Flag::PreprocessAgain:
    return turnOn(options.preprocessAgain);
  default:
    return makeError("--" + getFlag(flag).name + " is no option of programs");
  }
}

Error alula::driver::checkOptions(const CompileOptions &options) {
  if (options.dumps.elideLarger && options.dumps.bytecode)
    return makeError("[stage-usage] --elide-constants-larger: is for text: not "
                     "with --emit-bytecode");
  if ((options.outputForm == OutputForm::Static ||
       options.outputForm == OutputForm::Blob) &&
      (options.targets.size() != 1 ||
       options.targets.front() == "cpu:portable"))
    return makeError(
        "[stage-usage] --emit=" + getOption(options, Flag::OutputForm).front() +
        ": is for one machine, such as --target=cpu:x86-64-v3");
  // Without a target it is what any is.
  bool isAnyMachine = llvm::all_of(options.targets, [](StringRef target) {
    return target == "cpu:c99" || target.starts_with("cpu:c99:");
  });
  if (options.outputForm == OutputForm::C &&
      (options.targets.size() > 1 || !isAnyMachine))
    return makeError("[stage-usage] --emit=c: is for whatever the C compiler "
                     "makes code for: --target=cpu:c99, perhaps with facts");
  if (options.outputForm != OutputForm::Artifact &&
      !options.externalFile.empty())
    return makeError("[stage-usage] --externalize-constants: not with "
                     "--emit=" +
                     getOption(options, Flag::OutputForm).front() +
                     ", whose constants are in the code");
  if (options.preprocessAgain && options.completed > Room::Dispatch)
    return makeError("[stage-usage] --preprocess-again: the program is past "
                     "'dispatch': it has been through '" +
                     getRoomName(*options.completed) + "'");
  if (options.completed && *options.completed > options.until)
    return makeError(
        "[stage-usage] --compile-to=" + getRoomName(options.until) +
        ": the program is past it: it has been through '" +
        getRoomName(*options.completed) + "'");
  return Error::success();
}

std::vector<std::string> alula::driver::getOption(const CompileOptions &options,
                                                  Flag flag) {
  switch (flag) {
  case Flag::Target:
    return options.targets;
  case Flag::OutputForm:
    switch (options.outputForm) {
    case OutputForm::Artifact:
      return {};
    case OutputForm::Static:
      return {"static"};
    case OutputForm::C:
      return {"c"};
    case OutputForm::Blob:
      return {"blob"};
    }
    return {};
  case Flag::SymbolPrefix:
    if (!options.symbolPrefix.empty())
      return {options.symbolPrefix};
    return {};
  case Flag::ArenaBudget:
    if (options.arenaBudget)
      return {std::to_string(*options.arenaBudget)};
    return {};
  case Flag::CompilerRt:
    if (options.allowsCompilerRt)
      return {"true"};
    return {};
  case Flag::CustomCall:
    return options.customCalls;
  case Flag::PhysicalLayouts:
    if (options.physicalLayouts)
      return {"true"};
    return {};
  case Flag::Accuracy: {
    std::vector<std::string> words;
    if (options.bf16Products)
      words.push_back("bf16-products");
    if (options.tf32Products)
      words.push_back("tf32-products");
    if (options.byteActivations)
      words.push_back("i8-activations");
    return words;
  }
  case Flag::Debug:
    if (options.debugLevel)
      return {std::to_string(options.debugLevel)};
    return {};
  case Flag::CudaCubins:
    if (!options.cubinChips.empty())
      return {join(options.cubinChips, ",")};
    return {};
  case Flag::External:
    if (!options.externalFile.empty())
      return {options.externalFile};
    return {};
  case Flag::ExternalBytes:
    if (!options.externalFile.empty())
      return {std::to_string(options.externalMinimumBytes)};
    return {};
  case Flag::ExternalAsUsed:
    if (options.externalAsUsed)
      return {"true"};
    return {};
  default:
    return {};
  }
}

std::vector<std::string>
alula::driver::recordOptions(const CompileOptions &options) {
  std::vector<std::string> words;
  for (const FlagRow &row : getFlags())
    for (const std::string &value : getOption(options, row.flag))
      words.push_back("--" + row.name.str() + "=" + value);
  return words;
}
