#include "compiler/target/cuda/embed_ptx.h"

#include "compiler/objects/code_plan.h"
#include "dialect/dispatch/ops.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using alula::dispatch::EntryOp;
using alula::dispatch::ExecutableOp;
using alula::objects::TargetKey;

llvm::Expected<TargetKey> alula::cuda::findDevice(StringRef name) {
  StringRef digits = name;
  unsigned number = 0;
  if (!digits.consume_front("sm_") || digits.consumeInteger(10, number) ||
      (!digits.empty() && digits != "a" && digits != "f"))
    return llvm::createStringError(
        "a device of cuda must be named as in cuda:sm_80: is '" + name + "'");
  return TargetKey{"cuda", name.str(), name.str(), {}, 0};
}

LogicalResult alula::cuda::generateVariant(ModuleOp module,
                                           const TargetKey &key) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  std::string image;
  llvm::StringMap<int64_t> places;
  SmallVector<int64_t> entries;
  SmallVector<NamedAttribute> origins;
  for (auto executable : module.getOps<ExecutableOp>()) {
    auto objects = objects::selectObjects(executable, key);
    if (failed(objects))
      return failure();
    if (objects->empty())
      return executable.emitError()
             << "[obj-generator] there is no code generator for "
             << key.getText() << " yet: @" << executable.getSymName()
             << " has no PTX";
    auto plan = objects::planPtxCode(executable, key, *objects, "",
                                     /*assembles=*/false);
    if (failed(plan))
      return failure();
    auto [place, isNew] =
        places.try_emplace(plan->object.getSha256().getValue(),
                           static_cast<int64_t>(image.size()));
    if (isNew)
      (image += plan->object.getBytes()) += '\0';
    for (auto [entry, name, block] :
         llvm::zip_equal(executable.getBody().getOps<EntryOp>(), plan->names,
                         plan->blocks)) {
      entries.push_back(place->second);
      std::string origin =
          objects::describeOrigin("ptx", plan->object) + " kernel " + name +
          " block " +
          llvm::join(
              llvm::map_range(
                  block, [](int64_t size) { return std::to_string(size); }),
              ",");
      origins.push_back(builder.getNamedAttr(entry.getSymName(),
                                             builder.getStringAttr(origin)));
    }
  }
  if (entries.empty())
    return success();
  auto variant = builder.create<dispatch::VariantOp>(
      module.getLoc(), key.getText(), key.kind,
      builder.getStrArrayAttr({key.name}), image);
  variant->setAttr("dispatch.entries", builder.getDenseI64ArrayAttr(entries));
  variant->setAttr("dispatch.origins", builder.getDictionaryAttr(origins));
  return success();
}
