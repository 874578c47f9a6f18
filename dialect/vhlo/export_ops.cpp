#include "dialect/vhlo/export_ops.h"

#include "dialect/vhlo/export_mapping.h"
#include "dialect/vhlo/import_mapping.h"
#include "dialect/vhlo/property_writer.h"

#include "dialect/stablehlo/ops.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace alula::vhlo {
namespace {

/// The first version whose readers expect other dialects in an artifact.
constexpr Version otherDialectsSince = {1, 11, 0};

class OpExporter {
public:
  OpExporter(const WriteOptions &options, Artifact &artifact, Version &needed)
      : options(options), target(options.target.opset()), artifact(artifact),
        needed(needed), nodes(artifact, options.allowOtherDialects) {}

  LogicalResult run(ModuleOp module) {
    std::vector<Op> top;
    if (failed(exportOp(module, top)))
      return failure();
    artifact.root = uint32_t(artifact.ops.size());
    artifact.ops.push_back(top.front());
    return success();
  }

private:
  struct Exported {
    uint32_t index;
    /// Whether its type is a portable one, not a builtin one.
    bool isPortable;
  };

  /// Notes that something needs a version; an error if the target is older.
  LogicalResult require(Operation *op, Version version, const Twine &what) {
    needed = std::max(needed, version);
    if (version <= target)
      return success();
    InFlightDiagnostic diagnostic = op->emitOpError();
    if (!what.isTriviallyEmpty())
      diagnostic << what << " ";
    return diagnostic << "needs version " << version.str() << ", target is "
                      << options.target.str();
  }

  LogicalResult report(Operation *op) {
    return op->emitOpError(nodes.getProblem());
  }

  static const OpSpec *specOf(Operation *op) {
    StringRef name = op->getName().stripDialect();
    StringRef dialect = op->getName().getDialectNamespace();
    if (dialect == "func")
      return name == "func" || name == "call" || name == "return"
                 ? findOp(std::string_view(name))
                 : nullptr;
    if (dialect != "stablehlo" || name == "func" || name == "call")
      return nullptr;
    return findOp(std::string_view(name));
  }

  LogicalResult exportOp(Operation *op, std::vector<Op> &into) {
    const OpSpec *spec = specOf(op);
    if (!spec && !isa<ModuleOp>(op)) {
      if (!options.allowOtherDialects)
        return op->emitOpError("is not an operation of StableHLO or func, "
                               "which alone are portable");
      needed = std::max(needed, otherDialectsSince);
    }
    if (op->getNumSuccessors() != 0)
      return op->emitOpError("has successor blocks, which a portable artifact "
                             "can't carry");
    Op made;
    made.location = nodes.builtinAttribute(LocationAttr(op->getLoc()));
    unsigned form = 0;
    if (spec) {
      if (failed(chooseForm(op, *spec, form)))
        return failure();
      made.name = opName("vhlo", (Twine(spec->name) + "_v" + Twine(form)).str(),
                         /*registered=*/true);
    } else {
      made.name = opName(op->getName().getDialectNamespace(),
                         op->getName().stripDialect(), op->isRegistered());
    }
    if (failed(exportOperands(op, spec != nullptr, made, into)) ||
        failed(exportResults(op, spec != nullptr, made)) ||
        failed(spec ? exportPortableAttributes(op, *spec, form, made)
                    : exportOtherAttributes(op, made)) ||
        failed(exportRegions(op, spec != nullptr, made)))
      return failure();
    into.push_back(made);
    return success();
  }

  /// The form that the target has, if it can say the operation.
  LogicalResult chooseForm(Operation *op, const OpSpec &spec, unsigned &form) {
    if (failed(require(op, spec.first, "")))
      return failure();
    form = spec.formAt(target);
    if ((spec.flags & oneOperandInV1) && op->getNumOperands() != 1 &&
        failed(require(op, spec.second, "with several operands")))
      return failure();
    if ((spec.flags & noRegionsInV1) && op->getNumRegions() != 0 &&
        failed(require(op, spec.second, "with regions")))
      return failure();
    if (spec.flags & mayPromote)
      for (auto [operand, result] :
           llvm::zip(op->getOperandTypes(), op->getResultTypes()))
        if (getElementTypeOrSelf(operand) != getElementTypeOrSelf(result) &&
            failed(require(op, {0, 17, 0}, "with another element type")))
          return failure();
    return checkCustomCall(op);
  }

  LogicalResult checkCustomCall(Operation *op) {
    auto call = dyn_cast<stablehlo::CustomCallOp>(op);
    if (!call)
      return success();
    auto api = op->getAttrOfType<IntegerAttr>("api_version");
    if ((api && api.getInt() == 4) ||
        isa_and_nonnull<DictionaryAttr>(op->getAttr("backend_config")))
      if (failed(require(op, {1, 3, 0}, "with a typed configuration")))
        return failure();
    for (Type type : op->getOperandTypes())
      if (isa<stablehlo::FutureType>(type) &&
          failed(require(op, {1, 17, 0}, "with a future as operand")))
        return failure();
    return success();
  }

  uint32_t opName(StringRef dialect, StringRef name, bool registered) {
    uint32_t dialectIndex = nodes.dialect(dialect);
    auto key = std::make_pair(dialectIndex, nodes.string(name));
    auto [place, isNew] =
        opNames.try_emplace(key, uint32_t(artifact.opNames.size()));
    if (isNew)
      artifact.opNames.push_back(
          {dialectIndex, artifact.strings[key.second], registered});
    return place->second;
  }

  LogicalResult exportType(Operation *op, Type type, bool isPortable,
                           uint32_t &index) {
    index = isPortable ? nodes.portableType(type) : nodes.builtinType(type);
    if (index == none)
      return report(op);
    if (!isPortable)
      return success();
    Version since = nodes.neededForType(index);
    if (since <= needed && since <= target)
      return success();
    std::string text;
    llvm::raw_string_ostream(text) << "type " << type;
    return require(op, since, text);
  }

  LogicalResult exportOperands(Operation *op, bool isPortable, Op &made,
                               std::vector<Op> &into) {
    SmallVector<uint32_t> operands;
    for (Value value : op->getOperands()) {
      auto known = values.find(value);
      if (known == values.end())
        return op->emitOpError("uses a value before it is defined");
      uint32_t index = known->second.index;
      if (known->second.isPortable != isPortable &&
          failed(addCast(op, value, isPortable, index, into)))
        return failure();
      operands.push_back(index);
    }
    made.firstOperand = uint32_t(artifact.operands.size());
    made.numOperands = uint32_t(operands.size());
    artifact.operands.insert(artifact.operands.end(), operands.begin(),
                             operands.end());
    return success();
  }

  /// The value `index` with the other form of its type; `index` becomes that.
  LogicalResult addCast(Operation *user, Value value, bool toPortable,
                        uint32_t &index, std::vector<Op> &into) {
    Op cast;
    cast.name = opName("builtin", "unrealized_conversion_cast",
                       /*registered=*/true);
    cast.location = nodes.builtinAttribute(LocationAttr(user->getLoc()));
    cast.firstOperand = uint32_t(artifact.operands.size());
    cast.numOperands = 1;
    artifact.operands.push_back(index);
    uint32_t type;
    if (failed(exportType(user, value.getType(), toPortable, type)))
      return failure();
    cast.firstResult = uint32_t(artifact.valueTypes.size());
    cast.numResults = 1;
    artifact.valueTypes.push_back(type);
    index = cast.firstResult;
    into.push_back(cast);
    return success();
  }

  LogicalResult exportResults(Operation *op, bool isPortable, Op &made) {
    made.firstResult = uint32_t(artifact.valueTypes.size());
    made.numResults = op->getNumResults();
    for (Value result : op->getResults()) {
      uint32_t type;
      if (failed(exportType(op, result.getType(), isPortable, type)))
        return failure();
      values[result] = {uint32_t(artifact.valueTypes.size()), isPortable};
      artifact.valueTypes.push_back(type);
    }
    return success();
  }

  using Entries = SmallVector<std::pair<StringAttr, uint32_t>>;

  LogicalResult exportPortableAttributes(Operation *op, const OpSpec &spec,
                                         unsigned form, Op &made) {
    SmallVector<Attribute> mapped;
    llvm::SmallPtrSet<StringAttr, 16> taken;
    if (failed(mapToPortable(op, spec, mapped, taken)))
      return failure();
    MLIRContext *context = op->getContext();
    Properties properties;
    Entries entries;
    for (auto [row, value] : llvm::zip(spec.attributes(), mapped)) {
      bool isNeutral = row.forms != Forms::Both && isDefault(row, value);
      if (row.forms == Forms::V2 && !isNeutral &&
          failed(
              require(op, spec.second, "attribute '" + Twine(row.name) + "'")))
        return failure();
      if (!row.isIn(form))
        continue;
      uint32_t index;
      if (failed(exportAttribute(op, row, value, isNeutral, index)))
        return failure();
      if (artifact.containerVersion >= 5)
        properties.items.push_back(
            {PropertyItem::Kind::Attribute, uint64_t(index)});
      else
        entries.emplace_back(StringAttr::get(context, row.name), index);
    }
    if (!properties.items.empty())
      addProperties(std::move(properties), made);
    for (NamedAttribute named : op->getAttrs()) {
      StringRef name = named.getName();
      if (taken.contains(named.getName()))
        continue;
      if (spec.findAttribute(std::string_view(name)))
        return op->emitOpError("attribute '")
               << name
               << "' is not what its portable form holds: " << named.getValue();
      uint32_t index;
      if (failed(exportAttribute(op, {}, named.getValue(),
                                 /*isNeutral=*/false, index)))
        return failure();
      entries.emplace_back(named.getName(), index);
    }
    addDictionary(entries, made);
    return success();
  }

  LogicalResult exportAttribute(Operation *op, const AttrSpec &row,
                                Attribute value, bool isNeutral,
                                uint32_t &index) {
    index = row.mapping == Mapping::ApiVersion ? nodes.apiVersion(value)
                                               : nodes.portableAttribute(value);
    if (index == none)
      return report(op);
    // A default of the second form is no reason to need it.
    Version since = nodes.neededForAttribute(index);
    if (isNeutral || (since <= needed && since <= target))
      return success();
    std::string text;
    llvm::raw_string_ostream(text) << value;
    return require(op, since, "attribute " + StringRef(text).take_front(120));
  }

  void addProperties(Properties properties, Op &made) {
    made.properties = uint32_t(artifact.properties.size());
    artifact.properties.push_back(std::move(properties));
  }

  void addDictionary(Entries &entries, Op &made) {
    if (entries.empty())
      return;
    llvm::sort(entries, [](const auto &a, const auto &b) {
      return a.first.getValue() < b.first.getValue();
    });
    made.attributes = nodes.dictionary(entries);
  }

  LogicalResult exportOtherAttributes(Operation *op, Op &made) {
    bool native = artifact.containerVersion >= 5;
    DictionaryAttr attributes = op->getAttrDictionary();
    if (native) {
      Properties properties;
      FailureOr<bool> wrote =
          writeOwnProperties(op, nodes, artifact.containerVersion, properties);
      if (failed(wrote))
        return failure();
      if (*wrote) {
        attributes = op->getDiscardableAttrDictionary();
        addProperties(std::move(properties), made);
      }
    }
    if (attributes.empty())
      return success();
    made.attributes = nodes.builtinAttribute(attributes);
    return made.attributes == none ? report(op) : success();
  }

  LogicalResult exportRegions(Operation *op, bool isPortable, Op &made) {
    std::vector<Region> regions;
    for (mlir::Region &region : op->getRegions()) {
      std::vector<Block> blocks;
      for (mlir::Block &block : region) {
        Block &madeBlock = blocks.emplace_back();
        if (failed(exportBlock(op, block, isPortable, madeBlock)))
          return failure();
      }
      regions.push_back(
          {uint32_t(artifact.blocks.size()), uint32_t(blocks.size())});
      artifact.blocks.insert(artifact.blocks.end(), blocks.begin(),
                             blocks.end());
    }
    made.isolated = op->hasTrait<OpTrait::IsIsolatedFromAbove>();
    made.firstRegion = uint32_t(artifact.regions.size());
    made.numRegions = uint32_t(regions.size());
    artifact.regions.insert(artifact.regions.end(), regions.begin(),
                            regions.end());
    return success();
  }

  LogicalResult exportBlock(Operation *parent, mlir::Block &block,
                            bool isPortable, Block &made) {
    made.firstArgument = uint32_t(artifact.valueTypes.size());
    made.numArguments = block.getNumArguments();
    made.firstLocation = uint32_t(artifact.argumentLocations.size());
    for (BlockArgument argument : block.getArguments()) {
      uint32_t type;
      if (failed(exportType(parent, argument.getType(), isPortable, type)))
        return failure();
      values[argument] = {uint32_t(artifact.valueTypes.size()), isPortable};
      artifact.valueTypes.push_back(type);
      // Unknown locations can be left out since container version 4.
      bool isElided =
          isa<UnknownLoc>(argument.getLoc()) && artifact.containerVersion >= 4;
      artifact.argumentLocations.push_back(
          isElided ? none
                   : nodes.builtinAttribute(LocationAttr(argument.getLoc())));
    }
    std::vector<Op> ops;
    for (Operation &op : block)
      if (failed(exportOp(&op, ops)))
        return failure();
    made.firstOp = uint32_t(artifact.ops.size());
    made.numOps = uint32_t(ops.size());
    artifact.ops.insert(artifact.ops.end(), ops.begin(), ops.end());
    return success();
  }

  const WriteOptions &options;
  Version target;
  Artifact &artifact;
  Version &needed;
  NodeExporter nodes;
  DenseMap<Value, Exported> values;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> opNames;
};

} // namespace

LogicalResult exportModule(ModuleOp module, const WriteOptions &options,
                           Artifact &artifact, Version &needed) {
  artifact.containerVersion = options.target.containerVersion();
  needed = Version::minimum();
  return OpExporter(options, artifact, needed).run(module);
}

} // namespace alula::vhlo
