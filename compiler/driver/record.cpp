#include "compiler/driver/record.h"

#include "compiler/driver/flags.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Error.h"

using namespace mlir;
using namespace alula::driver;

static constexpr StringLiteral stageName = "alula.stage",
                               recordName = "alula.record",
                               incompleteName = "alula.incomplete";

llvm::StringRef alula::driver::getFlagName(llvm::StringRef word) {
  return word.ltrim('-').split('=').first;
}

static ArrayAttr toAttribute(Builder &builder,
                             const std::vector<std::string> &words) {
  return builder.getStrArrayAttr(
      SmallVector<StringRef>(words.begin(), words.end()));
}

RecordScope::RecordScope(ModuleOp module, Room stage, const Record &record,
                         bool isIncomplete)
    : module(module) {
  Builder builder(module.getContext());
  Record now = record;
  now.options.clear();
  for (const std::string &word : record.options) {
    StringRef name = getFlagName(word);
    if (getLastUse(name) > stage)
      now.options.push_back(word);
    else if (!*record.areStepsIdle || !name.starts_with("preprocess-"))
      now.spent.push_back(word);
  }
  module->setAttr(stageName, builder.getStringAttr(getRoomName(stage)));
  module->setAttr(
      recordName,
      builder.getDictionaryAttr(
          {builder.getNamedAttr("compiler",
                                builder.getStringAttr(compilerVersion)),
           builder.getNamedAttr("input_hash",
                                builder.getStringAttr(now.inputHash)),
           builder.getNamedAttr("options", toAttribute(builder, now.options)),
           builder.getNamedAttr("plugins", toAttribute(builder, now.plugins)),
           builder.getNamedAttr("spent", toAttribute(builder, now.spent))}));
  if (isIncomplete)
    module->setAttr(incompleteName, builder.getUnitAttr());
}

RecordScope::~RecordScope() {
  for (StringRef name : {stageName, recordName, incompleteName})
    module->removeAttr(name);
}

static llvm::Error fail(const Twine &text) {
  return llvm::createStringError(
      std::make_error_code(std::errc::invalid_argument), text);
}

static llvm::Error readWords(DictionaryAttr record, StringRef name,
                             std::vector<std::string> &words) {
  auto array = record.getAs<ArrayAttr>(name);
  if (!array || !llvm::all_of(array, llvm::IsaPred<StringAttr>))
    return fail("[stage-record] alula.record: " + name +
                " must be a list of strings");
  for (auto word : array.getAsRange<StringAttr>())
    words.push_back(word.str());
  return llvm::Error::success();
}

llvm::Expected<std::optional<Resumption>>
alula::driver::takeRecord(ModuleOp module) {
  if (!module->hasAttr(stageName) && !module->hasAttr(recordName))
    return std::nullopt;
  auto stage = module->getAttrOfType<StringAttr>(stageName);
  auto room = stage ? findRoom(stage.getValue()) : std::nullopt;
  if (!room || *room == Room::Emit)
    return fail("[stage-record] alula.stage must be a stage that can be gone "
                "on from: is " +
                (stage ? "'" + stage.getValue() + "'" : Twine("no string")) +
                "; there are " + listStages());
  Resumption resumption{*room, {}};
  if (module->hasAttr(incompleteName))
    return fail("[stage-incomplete] constants were left out when this was "
                "written: it can be read, not gone on with");
  auto record = module->getAttrOfType<DictionaryAttr>(recordName);
  auto compiler = record ? record.getAs<StringAttr>("compiler") : StringAttr();
  auto hash = record ? record.getAs<StringAttr>("input_hash") : StringAttr();
  if (!compiler || !hash)
    return fail("[stage-record] alula.record must be a dictionary with the "
                "strings compiler and input_hash");
  if (compiler.getValue() != compilerVersion)
    return fail("[stage-version] written by " + compiler.getValue() +
                ", this is " + compilerVersion);
  resumption.record.inputHash = hash.str();
  for (auto [name, words] : {std::pair("options", &resumption.record.options),
                             std::pair("spent", &resumption.record.spent),
                             std::pair("plugins", &resumption.record.plugins)})
    if (llvm::Error error = readWords(record, name, *words))
      return std::move(error);
  for (StringRef name : {stageName, recordName})
    module->removeAttr(name);
  return resumption;
}
