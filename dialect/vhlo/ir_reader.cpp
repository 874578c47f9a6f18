#include "dialect/vhlo/ir_reader.h"

#include "dialect/vhlo/sections.h"

namespace alula::vhlo {
namespace {

/// Walks the operations with a stack of its own, so that nesting is bounded by
/// a number and not by the machine's stack. Everything is allocated only once
/// the input has room for it: `total…` count what was claimed, and every thing
/// claimed needs some byte of the input.
class IrReader {
public:
  IrReader(Artifact &into, ByteCursor &cursor)
      : artifact(into), limit(cursor.remaining()) {
    cursors.push_back(cursor);
  }

  bool run() {
    if (limit >= UINT32_MAX)
      return in().fail("the operation section is larger than 4 GiB");
    uint64_t head;
    size_t where = in().offset();
    if (!in().readVarInt(head, "the top level"))
      return false;
    if (head != 1 << 1)
      return in().failAt(where, "the top level must be one operation");
    artifact.ops.resize(1);
    artifact.root = 0;
    if (!readOp(0))
      return false;
    while (!stack.empty())
      if (!step())
        return false;
    if (!in().empty())
      return in().fail(std::to_string(in().remaining()) +
                       " bytes are left over behind the operations");
    return true;
  }

private:
  /// The regions of one operation that are still to be read.
  struct Frame {
    uint32_t region;
    uint32_t endRegion;
    bool isolated;
    bool inRegion = false;
    bool inBlock = false;
    bool ownCursor = false;
    uint32_t block = 0;
    uint32_t endBlock = 0;
    uint32_t op = 0;
    uint32_t endOp = 0;
    /// Values that the region defines: the next one, and the end.
    uint32_t value = 0;
    uint32_t endValue = 0;
    size_t visibleBefore = 0;
    size_t scopeBefore = 0;
  };

  ByteCursor &in() { return cursors.back(); }

  /// Makes room for `count` more items of a table, each of which needs a byte.
  template <typename Item>
  bool claim(std::vector<Item> &table, uint64_t count, uint32_t &first,
             const char *what) {
    if (count > limit || table.size() > limit - count)
      return in().fail(std::string("there are more ") + what +
                       " than the section's " + std::to_string(limit) +
                       " bytes can hold");
    first = uint32_t(table.size());
    table.resize(table.size() + size_t(count));
    return true;
  }

  bool step() {
    Frame &frame = stack.back();
    if (!frame.inRegion) {
      if (frame.region == frame.endRegion)
        return closeOp(frame);
      return openRegion(frame);
    }
    if (!frame.inBlock) {
      if (frame.block == frame.endBlock)
        return closeRegion(frame);
      return openBlock(frame);
    }
    if (frame.op == frame.endOp) {
      frame.inBlock = false;
      ++frame.block;
      return true;
    }
    // Reading the operation may push a frame; `frame` is not used behind it.
    return readOp(frame.op++);
  }

  bool openRegion(Frame &frame) {
    frame.inRegion = true;
    frame.visibleBefore = visible.size();
    frame.scopeBefore = scope;
    if (frame.isolated)
      scope = visible.size();

    uint64_t numBlocks;
    if (!in().readVarInt(numBlocks, "the number of blocks"))
      return false;
    Region &region = artifact.regions[frame.region];
    region.numBlocks = uint32_t(numBlocks);
    if (!claim(artifact.blocks, numBlocks, region.firstBlock, "blocks"))
      return false;
    frame.block = region.firstBlock;
    frame.endBlock = frame.block + uint32_t(numBlocks);
    frame.value = frame.endValue = uint32_t(artifact.valueTypes.size());
    if (numBlocks == 0)
      return true;
    uint64_t numValues;
    if (!in().readVarInt(numValues, "the number of values") ||
        !claim(artifact.valueTypes, numValues, frame.value, "values"))
      return false;
    frame.endValue = frame.value + uint32_t(numValues);
    for (uint32_t value = frame.value; value != frame.endValue; ++value)
      visible.push_back(value);
    return true;
  }

  bool closeRegion(Frame &frame) {
    if (frame.value != frame.endValue)
      return in().fail("a region announces " +
                       std::to_string(frame.endValue - frame.value) +
                       " values more than it defines");
    visible.resize(frame.visibleBefore);
    scope = frame.scopeBefore;
    frame.inRegion = false;
    ++frame.region;
    return true;
  }

  bool closeOp(const Frame &frame) {
    if (frame.ownCursor) {
      if (!in().empty())
        return in().fail(std::to_string(in().remaining()) +
                         " bytes are left over behind an operation's regions");
      cursors.pop_back();
    }
    stack.pop_back();
    return true;
  }

  bool openBlock(Frame &frame) {
    uint64_t numOps;
    bool hasArguments;
    if (!in().readFlagged(numOps, hasArguments, "a block's size"))
      return false;
    Block &block = artifact.blocks[frame.block];
    if (!claim(artifact.ops, numOps, block.firstOp, "operations"))
      return false;
    block.numOps = uint32_t(numOps);
    frame.op = block.firstOp;
    frame.endOp = frame.op + block.numOps;
    frame.inBlock = true;
    return !hasArguments || readArguments(frame, block);
  }

  bool readArguments(Frame &frame, Block &block) {
    uint64_t count;
    if (!in().readVarInt(count, "the number of block arguments"))
      return false;
    if (!claim(artifact.argumentLocations, count, block.firstLocation,
               "block arguments") ||
        !define(frame, count, block.firstArgument))
      return false;
    block.numArguments = uint32_t(count);
    for (uint32_t i = 0; i < block.numArguments; ++i) {
      uint64_t type;
      bool hasLocation = true;
      size_t where = in().offset();
      if (artifact.containerVersion >= 4) {
        if (!in().readFlagged(type, hasLocation, "a block argument's type"))
          return false;
      } else if (!in().readVarInt(type, "a block argument's type")) {
        return false;
      }
      if (type >= artifact.types.size())
        return in().failAt(where, "type index " + std::to_string(type) +
                                      " is out of range: there are " +
                                      std::to_string(artifact.types.size()));
      artifact.valueTypes[block.firstArgument + i] = uint32_t(type);
      uint32_t location = none;
      if (hasLocation && !in().readIndex(location, artifact.attributes.size(),
                                         "attribute index"))
        return false;
      artifact.argumentLocations[block.firstLocation + i] = location;
    }
    if (artifact.containerVersion < 3)
      return true;
    uint8_t parts;
    if (!in().readByte(parts, "a block's parts"))
      return false;
    return !(parts & hasUseListOrders) || skipUseListOrders(count);
  }

  /// Gives out the next `count` values of the region.
  bool define(Frame &frame, uint64_t count, uint32_t &first) {
    if (count > frame.endValue - frame.value)
      return in().fail("a region defines more values than it announces");
    first = frame.value;
    frame.value += uint32_t(count);
    return true;
  }

  bool readOp(uint32_t index) {
    Op op;
    op.offset = in().offset();
    uint8_t parts;
    if (!in().readIndex(op.name, artifact.opNames.size(),
                        "operation name index") ||
        !in().readByte(parts, "an operation's parts") ||
        !in().readIndex(op.location, artifact.attributes.size(),
                        "attribute index"))
      return false;
    if ((parts & hasAttributes) &&
        !in().readIndex(op.attributes, artifact.attributes.size(),
                        "attribute index"))
      return false;
    if ((parts & hasProperties) &&
        !in().readIndex(op.properties, artifact.properties.size(),
                        "properties index"))
      return false;
    if ((parts & hasResults) && !readResults(op))
      return false;
    if ((parts & hasOperands) && !readOperands(op))
      return false;
    if ((parts & hasSuccessors) && artifact.takesAnyDialect) {
      size_t count;
      uint64_t block;
      if (!in().readCount(count, 1, "the number of successors"))
        return false;
      for (size_t i = 0; i < count; ++i)
        if (!in().readVarInt(block, "a successor"))
          return false;
    } else if (parts & hasSuccessors)
      return in().failAt(op.offset,
                         "'" + artifact.nameOf(op) +
                             "' has successor blocks: StableHLO has only "
                             "structured control flow");
    if ((parts & hasUseListOrders) && !skipUseListOrders(op.numResults))
      return false;
    if ((parts & hasRegions) && !readRegions(op))
      return false;
    artifact.ops[index] = op;
    return true;
  }

  bool readResults(Op &op) {
    uint64_t count;
    if (!in().readVarInt(count, "the number of results"))
      return false;
    if (stack.empty())
      return in().failAt(op.offset, "the operation at the top has results");
    if (!define(stack.back(), count, op.firstResult))
      return false;
    op.numResults = uint32_t(count);
    for (uint32_t i = 0; i < op.numResults; ++i)
      if (!in().readIndex(artifact.valueTypes[op.firstResult + i],
                          artifact.types.size(), "type index"))
        return false;
    return true;
  }

  bool readOperands(Op &op) {
    uint64_t count;
    if (!in().readVarInt(count, "the number of operands") ||
        !claim(artifact.operands, count, op.firstOperand, "operands"))
      return false;
    op.numOperands = uint32_t(count);
    for (uint32_t i = 0; i < op.numOperands; ++i) {
      uint32_t local;
      if (!in().readIndex(local, visible.size() - scope, "value index"))
        return false;
      artifact.operands[op.firstOperand + i] = visible[scope + local];
    }
    return true;
  }

  bool readRegions(Op &op) {
    uint64_t count;
    if (!in().readFlagged(count, op.isolated, "the number of regions") ||
        !claim(artifact.regions, count, op.firstRegion, "regions"))
      return false;
    if (stack.size() >= maxRegionDepth)
      return in().failAt(op.offset, "regions are nested deeper than " +
                                        std::to_string(maxRegionDepth) +
                                        " levels");
    op.numRegions = uint32_t(count);
    Frame frame;
    frame.region = op.firstRegion;
    frame.endRegion = frame.region + op.numRegions;
    frame.isolated = op.isolated;
    // All regions of an isolated operation share one section.
    frame.ownCursor = op.isolated && artifact.containerVersion >= 2;
    if (frame.ownCursor) {
      ByteCursor::Section section;
      if (!in().readSection(section))
        return false;
      if (section.id != irSection)
        return in().failAt(section.begin, "expected regions, found section " +
                                              std::to_string(section.id));
      cursors.push_back(in().inside(section));
    }
    stack.push_back(frame);
    return true;
  }

  /// The order of a value's uses has no meaning here, so it is read past.
  bool skipUseListOrders(uint64_t numValues) {
    uint64_t count = 1;
    uint64_t ignored;
    bool pairs;
    if (numValues > 1 &&
        !in().readVarInt(count, "the number of use-list orders"))
      return false;
    for (uint64_t i = 0; i < count; ++i) {
      if (numValues > 1 && !in().readVarInt(ignored, "a use-list order"))
        return false;
      uint64_t size;
      if (!in().readFlagged(size, pairs, "a use-list order"))
        return false;
      for (uint64_t j = 0; j < size; ++j)
        if (!in().readVarInt(ignored, "a use-list order"))
          return false;
    }
    return true;
  }

  Artifact &artifact;
  size_t limit;
  std::vector<ByteCursor> cursors;
  std::vector<Frame> stack;
  /// The values that operands may name; those before `scope` are outside of
  /// the innermost isolated region.
  std::vector<uint32_t> visible;
  size_t scope = 0;
};

} // namespace

bool readIr(Artifact &artifact, ByteCursor &cursor) {
  return IrReader(artifact, cursor).run();
}

} // namespace alula::vhlo
