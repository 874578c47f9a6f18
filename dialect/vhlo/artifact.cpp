#include "dialect/vhlo/artifact.h"

#include <algorithm>
#include <cstring>

namespace alula::vhlo {

std::string Artifact::nameOf(const Op &op) const {
  const OpName &name = opNames[op.name];
  return std::string(dialects[name.dialect]) + "." + std::string(name.name);
}

void forEachReference(const Artifact &artifact, const Node &node,
                      const std::function<void(bool isType, uint32_t)> &visit) {
  const Encoding *row = findEncoding(node.family, node.isType, node.code);
  if (!row)
    return;
  std::span<const uint64_t> words = artifact.wordsOf(node);
  size_t next = 0;
  auto visitItem = [&](char kind) {
    uint64_t word = words[next++];
    if (kind == 'A' || kind == 'T')
      visit(kind == 'T', uint32_t(word));
    else if ((kind == 'o' || kind == '?') && word)
      visit(false, uint32_t(words[next++]));
    else if (kind == 'i' || kind == 'f')
      next += word;
  };
  for (const char *field = row->fields; *field; ++field) {
    const char *group = field;
    size_t size = 1;
    if (*field == '(') {
      group = field + 1;
      const char *close = std::strchr(field, ')');
      size = size_t(close - group);
      field = close;
    }
    uint64_t count = 1;
    if (field[1] == '*') {
      count = words[next++];
      ++field;
    }
    for (uint64_t i = 0; i < count; ++i)
      for (size_t j = 0; j < size; ++j)
        visitItem(group[j]);
  }
}

unsigned bitWidth(const Artifact &artifact, const Node &type) {
  if (type.family == Family::Builtin &&
      type.code == uint16_t(builtin::Type::Integer)) {
    uint64_t width = artifact.wordsOf(type)[0] >> 2;
    return width < (1 << 24) ? unsigned(width) : 0;
  }
  if (type.family == Family::Text) {
    std::string_view text = artifact.text(uint32_t(artifact.wordsOf(type)[0]));
    if (text.starts_with("f8E"))
      return 8;
    if (text.starts_with("f6E"))
      return 6;
    if (text.starts_with("f4E"))
      return 4;
    return text == "tf32" ? 19 : 0;
  }
  const Encoding *row = findEncoding(type.family, true, type.code);
  return row ? row->bits : 0;
}

namespace {

/// Depth-first order without recursion.
class NodeSorter {
public:
  NodeSorter(const Artifact &from, std::vector<NodeRef> &into, Error &problem)
      : artifact(from), order(into), error(problem) {
    attributes.resize(from.attributes.size());
    types.resize(from.types.size());
  }

  bool run() {
    order.reserve(attributes.size() + types.size());
    for (uint32_t i = 0; i < types.size(); ++i)
      if (!visit({true, i}))
        return false;
    for (uint32_t i = 0; i < attributes.size(); ++i)
      if (!visit({false, i}))
        return false;
    return true;
  }

private:
  struct State {
    enum : uint8_t { Unseen, Open, Done } mark = Unseen;
    uint32_t depth = 0;
    uint64_t tree = 0;
  };
  struct Frame {
    NodeRef ref;
    size_t firstChild;
  };

  State &state(NodeRef ref) {
    return ref.isType ? types[ref.index] : attributes[ref.index];
  }
  const Node &node(NodeRef ref) const {
    return ref.isType ? artifact.types[ref.index]
                      : artifact.attributes[ref.index];
  }
  bool fail(NodeRef ref, std::string_view what) {
    error = {node(ref).offset,
             std::string(ref.isType ? "type " : "attribute ") +
                 std::to_string(ref.index) + " " + std::string(what)};
    return false;
  }

  void open(NodeRef ref) {
    state(ref).mark = State::Open;
    stack.push_back({ref, children.size()});
    forEachReference(artifact, node(ref), [&](bool isType, uint32_t index) {
      children.push_back({isType, index});
    });
    pending.push_back(children.size());
  }

  bool visit(NodeRef start) {
    if (state(start).mark == State::Done)
      return true;
    open(start);
    while (!stack.empty()) {
      Frame frame = stack.back();
      size_t &next = pending.back();
      if (next > frame.firstChild) {
        NodeRef child = children[--next];
        State &below = state(child);
        if (below.mark == State::Open)
          return fail(child, "refers to itself");
        if (below.mark == State::Unseen) {
          if (stack.size() >= maxNodeDepth)
            return fail(start, "is nested deeper than " +
                                   std::to_string(maxNodeDepth) + " levels");
          open(child);
        }
        continue;
      }
      if (!close(frame))
        return false;
    }
    return true;
  }

  bool close(const Frame &frame) {
    State &mine = state(frame.ref);
    uint32_t depth = 0;
    uint64_t tree = 1;
    for (size_t i = frame.firstChild; i < children.size(); ++i) {
      const State &below = state(children[i]);
      depth = std::max(depth, below.depth);
      tree = std::min(tree + below.tree, maxNodeTree + 1);
    }
    if (depth + 1 > maxNodeDepth)
      return fail(frame.ref, "is nested deeper than " +
                                 std::to_string(maxNodeDepth) + " levels");
    if (tree > maxNodeTree)
      return fail(frame.ref, "spells out to more than " +
                                 std::to_string(maxNodeTree) + " parts");
    mine = {State::Done, depth + 1, tree};
    order.push_back(frame.ref);
    children.resize(frame.firstChild);
    stack.pop_back();
    pending.pop_back();
    return true;
  }

  const Artifact &artifact;
  std::vector<NodeRef> &order;
  Error &error;
  std::vector<State> attributes;
  std::vector<State> types;
  std::vector<Frame> stack;
  std::vector<NodeRef> children;
  std::vector<size_t> pending;
};

} // namespace

bool orderNodes(const Artifact &artifact, std::vector<NodeRef> &order,
                Error &error) {
  return NodeSorter(artifact, order, error).run();
}

} // namespace alula::vhlo
