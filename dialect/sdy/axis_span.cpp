#include "dialect/sdy/axis_span.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::sdy;

AxisSpan AxisSpan::get(AxisRefAttr axis, MeshAttr mesh) {
  int64_t index = mesh.findAxisIndex(axis.getName());
  assert(index >= 0 && "axis must be in the mesh");
  int64_t size = mesh.getAxes()[index].getSize();
  AxisSpan span{axis.getName(), index, size, 1, size};
  if (SubAxisInfoAttr part = axis.getSubAxisInfo()) {
    span.begin = part.getPreSize();
    span.end = part.getPreSize() * part.getSize();
  }
  return span;
}

AxisRefAttr AxisSpan::toAttr(MLIRContext *context) const {
  if (begin == 1 && end == fullSize)
    return AxisRefAttr::get(context, name);
  return AxisRefAttr::get(context, name,
                          SubAxisInfoAttr::get(context, begin, end / begin));
}

AxisSpans mlir::sdy::getSpans(ArrayRef<AxisRefAttr> axes, MeshAttr mesh) {
  return llvm::map_to_vector<6>(
      axes, [&](AxisRefAttr axis) { return AxisSpan::get(axis, mesh); });
}

void mlir::sdy::append(AxisSpans &spans, const AxisSpan &span) {
  if (!spans.empty() && spans.back().continuesWith(span))
    spans.back().end = span.end;
  else
    spans.push_back(span);
}

bool mlir::sdy::removeSuffix(AxisSpans &spans, const AxisSpan &span) {
  if (spans.empty() || spans.back().axisIndex != span.axisIndex ||
      spans.back().end != span.end || spans.back().begin > span.begin ||
      span.begin % spans.back().begin != 0)
    return false;
  if (spans.back().begin == span.begin)
    spans.pop_back();
  else
    spans.back().end = span.begin;
  return true;
}

void mlir::sdy::sortAndMerge(AxisSpans &spans) {
  llvm::sort(spans);
  AxisSpans merged;
  for (const AxisSpan &span : spans)
    append(merged, span);
  spans = std::move(merged);
}

std::string mlir::sdy::toString(ArrayRef<AxisSpan> spans) {
  std::string text = "{";
  for (const AxisSpan &span : spans) {
    if (text.size() > 1)
      text += ", ";
    text += "\"" + span.name.str() + "\"";
    if (span.begin != 1 || span.end != span.fullSize)
      text += ":(" + std::to_string(span.begin) + ")" +
              std::to_string(span.end / span.begin);
  }
  return text + "}";
}
