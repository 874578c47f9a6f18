#include "dialect/vhlo/import_ops.h"

#include "dialect/vhlo/import_mapping.h"
#include "dialect/vhlo/property_reader.h"

#include "mlir/IR/Block.h"

using namespace mlir;

namespace alula::vhlo {
namespace {

class OpImporter {
public:
  OpImporter(const Artifact &artifact, const NodeImporter &nodes,
             MLIRContext *context)
      : artifact(artifact), nodes(nodes), context(context),
        values(artifact.valueTypes.size()) {}

  OwningOpRef<ModuleOp> run() {
    const Op &rootOp = artifact.ops[artifact.root];
    if (artifact.nameOf(rootOp) != "builtin.module") {
      nodes.getDiagnostics().error(rootOp.offset)
          << "the operation at the top is '" << artifact.nameOf(rootOp)
          << "', not 'builtin.module'";
      return {};
    }
    Operation *root = importOp(rootOp, /*parent=*/nullptr);
    if (!root)
      return {};
    OwningOpRef<ModuleOp> module(cast<ModuleOp>(root));
    stack.push_back({&rootOp, root});
    while (!stack.empty()) {
      if (failed(step()))
        return {};
    }
    return module;
  }

private:
  /// An operation whose regions are being filled.
  struct Frame {
    const Op *op;
    Operation *made;
    uint32_t region = 0;
    uint32_t block = 0;
    uint32_t child = 0;
    mlir::Block *into = nullptr;
  };

  InFlightDiagnostic error(const Op &op) const {
    return nodes.getDiagnostics().error(op.offset)
           << "'" << artifact.nameOf(op) << "': ";
  }

  LogicalResult step() {
    Frame &frame = stack.back();
    if (frame.region == frame.op->numRegions) {
      stack.pop_back();
      return success();
    }
    const Region &region =
        artifact.regions[frame.op->firstRegion + frame.region];
    if (frame.block == region.numBlocks) {
      ++frame.region;
      frame.block = 0;
      return success();
    }
    const Block &block = artifact.blocks[region.firstBlock + frame.block];
    if (!frame.into) {
      frame.into = new mlir::Block();
      frame.made->getRegion(frame.region).push_back(frame.into);
      return addArguments(*frame.op, block, frame.into);
    }
    if (frame.child == block.numOps) {
      frame.into = nullptr;
      frame.child = 0;
      ++frame.block;
      return success();
    }
    const Op &op = artifact.ops[block.firstOp + frame.child++];
    return importChild(op, frame.into, frame.made);
  }

  LogicalResult importChild(const Op &op, mlir::Block *into,
                            Operation *parent) {
    if (isIdentityCast(op)) {
      for (uint32_t i = 0; i < op.numResults; ++i)
        if (!(values[op.firstResult + i] = operand(op, i)))
          return failure();
      return success();
    }
    Operation *made = importOp(op, parent);
    if (!made)
      return failure();
    into->push_back(made);
    if (op.numRegions != 0)
      stack.push_back({&op, made});
    return success();
  }

  LogicalResult addArguments(const Op &op, const Block &block,
                             mlir::Block *into) {
    for (uint32_t i = 0; i < block.numArguments; ++i) {
      uint32_t where = artifact.argumentLocations[block.firstLocation + i];
      Location location = UnknownLoc::get(context);
      if (where != none && !isLocation(op, where, location))
        return failure();
      uint32_t value = block.firstArgument + i;
      values[value] =
          into->addArgument(nodes.type(artifact.valueTypes[value]), location);
    }
    return success();
  }

  bool isLocation(const Op &op, uint32_t index, Location &location) {
    if (auto attribute = dyn_cast<LocationAttr>(nodes.attribute(index))) {
      location = attribute;
      return true;
    }
    error(op) << "expected a location, found " << nodes.attribute(index);
    return false;
  }

  Value operand(const Op &op, uint32_t i) {
    Value value = values[artifact.operands[op.firstOperand + i]];
    if (!value)
      error(op) << "operand " << i << " is used before it is defined";
    return value;
  }

  /// A cast between the portable form of a type and the type itself; here both
  /// are the same.
  bool isIdentityCast(const Op &op) const {
    if (artifact.nameOf(op) != "builtin.unrealized_conversion_cast" ||
        op.numResults != op.numOperands || op.numRegions != 0)
      return false;
    for (uint32_t i = 0; i < op.numResults; ++i) {
      uint32_t from = artifact.operands[op.firstOperand + i];
      if (nodes.type(artifact.valueTypes[from]) !=
          nodes.type(artifact.valueTypes[op.firstResult + i]))
        return false;
    }
    return true;
  }

  /// Makes the operation with empty regions.
  Operation *importOp(const Op &op, Operation *parent) {
    Location location = UnknownLoc::get(context);
    if (!isLocation(op, op.location, location))
      return nullptr;
    DictionaryAttr dictionary;
    if (op.attributes != none) {
      dictionary = dyn_cast<DictionaryAttr>(nodes.attribute(op.attributes));
      if (!dictionary) {
        error(op) << "expected a dictionary of attributes, found "
                  << nodes.attribute(op.attributes);
        return nullptr;
      }
    }
    const OpName &name = artifact.opNames[op.name];
    bool isPortable = artifact.dialects[name.dialect] == "vhlo";
    const OpSpec *spec = nullptr;
    unsigned form = 0;
    if (isPortable && !(spec = findSpec(op, name.name, form)))
      return nullptr;
    std::string madeName =
        spec ? stablehloName(*spec, parent) : artifact.nameOf(op);
    if (!OperationName(madeName, context).isRegistered()) {
      if (!spec)
        context->getOrLoadDialect(artifact.dialects[name.dialect]);
      if (!OperationName(madeName, context).isRegistered()) {
        error(op) << "no such operation is known here";
        return nullptr;
      }
    }
    OperationState state(location, madeName);
    for (uint32_t i = 0; i < op.numOperands; ++i) {
      Value value = operand(op, i);
      if (!value)
        return nullptr;
      state.operands.push_back(value);
    }
    for (uint32_t i = 0; i < op.numResults; ++i)
      state.types.push_back(
          nodes.type(artifact.valueTypes[op.firstResult + i]));
    for (uint32_t i = 0; i < op.numRegions; ++i)
      state.addRegion();
    if (failed(spec ? addPortableAttributes(op, *spec, form, dictionary, state)
                    : addOtherAttributes(op, dictionary, state)))
      return nullptr;
    Operation *made = Operation::create(state);
    for (uint32_t i = 0; i < op.numResults; ++i)
      values[op.firstResult + i] = made->getResult(i);
    return made;
  }

  const OpSpec *findSpec(const Op &op, std::string_view name, unsigned &form) {
    std::optional<VersionedName> versioned = splitVersionedName(name);
    const OpSpec *spec = versioned ? findOp(versioned->name) : nullptr;
    if (!spec) {
      error(op) << "no StableHLO version up to " << Version::current().str()
                << " has this operation; the artifact says '"
                << artifact.producer << "'";
      return nullptr;
    }
    form = versioned->form;
    unsigned newest = spec->hasSecondForm() ? 2 : 1;
    if (form > newest) {
      error(op) << "form " << form << " is newer than form " << newest
                << ", the newest of StableHLO " << Version::current().str()
                << "; the artifact says '" << artifact.producer << "'";
      return nullptr;
    }
    return spec;
  }

  static std::string stablehloName(const OpSpec &spec, Operation *parent) {
    std::string name = spec.name;
    if (name == "func" || name == "call")
      return "func." + name;
    bool inFunction = parent && parent->getName().getStringRef() == "func.func";
    if (name == "return" && inFunction)
      return "func.return";
    return "stablehlo." + name;
  }

  LogicalResult addPortableAttributes(const Op &op, const OpSpec &spec,
                                      unsigned form, DictionaryAttr dictionary,
                                      OperationState &state) {
    std::span<const AttrSpec> rows = spec.attributes();
    SmallVector<Attribute> found(rows.size());
    NamedAttrList attributes;
    if (dictionary) {
      for (NamedAttribute named : dictionary) {
        const AttrSpec *row = spec.findAttribute(named.getName().getValue());
        if (row && row->isIn(form))
          found[size_t(row - rows.data())] = named.getValue();
        else
          attributes.append(named);
      }
    }
    if (op.properties != none &&
        failed(readPortableProperties(op, spec, form, found)))
      return failure();
    for (auto [row, value] : llvm::zip(rows, found))
      if (row.isIn(form) && !value)
        return error(op) << "attribute '" << row.name << "' is missing";
    auto emit = [&] { return error(op); };
    if (failed(mapToStablehlo({context, &spec, found}, attributes, emit)))
      return failure();
    return setAttributes(op, attributes, state);
  }

  /// One attribute after the other, in the order of their names.
  LogicalResult readPortableProperties(const Op &op, const OpSpec &spec,
                                       unsigned form,
                                       MutableArrayRef<Attribute> found) {
    const Properties &properties = artifact.properties[op.properties];
    Error problem;
    ByteCursor cursor(properties.bytes, 0, properties.bytes.size(), problem);
    for (auto [row, value] : llvm::zip(spec.attributes(), found)) {
      uint32_t index;
      if (!row.isIn(form))
        continue;
      if (!cursor.readIndex(index, artifact.attributes.size(),
                            "attribute index"))
        return error(op) << problem.text;
      value = nodes.attribute(index);
    }
    if (!cursor.empty())
      return error(op) << cursor.remaining()
                       << " bytes are left over behind its properties";
    return success();
  }

  LogicalResult addOtherAttributes(const Op &op, DictionaryAttr dictionary,
                                   OperationState &state) {
    if (op.properties != none &&
        failed(readOwnProperties(artifact, nodes,
                                 artifact.properties[op.properties], state)))
      return failure();
    NamedAttrList attributes(dictionary);
    return setAttributes(op, attributes, state);
  }

  /// Attributes of the wrong kind would be dropped without a word later on.
  LogicalResult setAttributes(const Op &op, NamedAttrList &attributes,
                              OperationState &state) {
    if (auto twice = attributes.findDuplicate())
      return error(op) << "attribute '" << twice->getName().getValue()
                       << "' stands twice";
    if (failed(state.name.verifyInherentAttrs(attributes,
                                              [&] { return error(op); })))
      return failure();
    state.attributes = attributes;
    return success();
  }

  const Artifact &artifact;
  const NodeImporter &nodes;
  MLIRContext *context;
  std::vector<Value> values;
  std::vector<Frame> stack;
};

} // namespace

OwningOpRef<ModuleOp> importOps(const Artifact &artifact,
                                const NodeImporter &nodes,
                                MLIRContext *context) {
  return OpImporter(artifact, nodes, context).run();
}

} // namespace alula::vhlo
