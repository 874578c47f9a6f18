// One call: its arrays as handlers read them, its handlers one after the other.

#include "alula/dtype.h"
#include "pjrt/ffi/api.h"
#include "pjrt/ffi/call_site.h"
#include "pjrt/ffi/future.h"

using namespace alula::pjrt;
using namespace alula::pjrt::ffi;

namespace {
/// Operands or results as a table of handlers.
class Buffers {
public:
  Buffers(const std::vector<CallValue> &values,
          const alula_custom_call_buffer *given) {
    buffers.reserve(values.size());
    size_t rank = 0;
    for (const CallValue &value : values)
      rank += value.order.size();
    dims.reserve(rank);
    for (const CallValue &value : values) {
      if (value.kind == CallValue::Kind::Token)
        addToken();
      else if (value.kind == CallValue::Kind::Array)
        addArray(value, *given++);
      else
        ++given;
    }
    // 1: a buffer, of arguments and of results.
    types.assign(buffers.size(), 1);
    for (XLA_FFI_Buffer &buffer : buffers)
      pointers.push_back(&buffer);
  }

  /// What is wrong with the arrays, or null.
  void *takeProblem() {
    return problem.empty() ? nullptr : invalid(std::move(problem));
  }

  void fill(XLA_FFI_Args &args) {
    args.struct_size = sizeof args;
    args.size = static_cast<int64_t>(buffers.size());
    args.types = types.data();
    args.args = pointers.data();
  }
  void fill(XLA_FFI_Rets &results) {
    results.struct_size = sizeof results;
    results.size = static_cast<int64_t>(buffers.size());
    results.types = types.data();
    results.rets = pointers.data();
  }

private:
  XLA_FFI_Buffer &add(uint32_t dtype, size_t rank) {
    XLA_FFI_Buffer &buffer = buffers.emplace_back();
    buffer.struct_size = sizeof buffer;
    buffer.dtype =
        static_cast<decltype(XLA_FFI_Buffer::dtype)>(getDataType(dtype));
    buffer.rank = static_cast<int64_t>(rank);
    buffer.dims = dims.data() + dims.size();
    return buffer;
  }

  void addToken() {
    // Of no bytes, but not null.
    add(ALULA_DTYPE_TOKEN, 0).data = &types;
  }

  void addArray(const CallValue &value, const alula_custom_call_buffer &given) {
    if (given.rank != value.order.size())
      problem = "the configuration is of another call";
    else if (!getDataType(given.dtype))
      problem = std::string("an array of type ") +
                alula_dtype_get_name(given.dtype) +
                ", for which XLA's FFI has no form";
    if (!problem.empty())
      return;
    add(given.dtype, value.order.size()).data = given.data;
    int64_t *mine = dims.data() + dims.size();
    dims.resize(dims.size() + value.order.size());
    for (size_t i = 0; i < value.order.size(); ++i)
      mine[value.order[i]] = given.dims[i];
  }

  std::string problem;
  std::vector<XLA_FFI_Buffer> buffers;
  std::vector<int64_t> dims;
  std::vector<uint32_t> types;
  std::vector<void *> pointers;
};

/// Calls the handler of a stage and waits until it has ended.
void *runStage(const CallSite &site, Stage stage, XLA_FFI_CallFrame &frame) {
  Handler *handler = site.bundle.handlers[stage];
  if (!handler)
    return nullptr;
  frame.stage = stage;
  frame.future = nullptr;
  void *error = handler(&frame);
  if (!frame.future)
    return error;
  auto later = as<Future>(frame.future)->wait();
  return error ? error : later.release();
}
} // namespace

void *alula::pjrt::ffi::runCall(CallSite &site, int32_t device,
                                const alula_custom_call_args &args) {
  Buffers operands(site.operands, args.operands);
  Buffers results(site.results, args.results);
  for (Buffers *buffers : {&operands, &results})
    if (void *error = buffers->takeProblem())
      return error;
  State prepared, initialized;
  Context context;
  context.device = device;
  context.states[Instantiate] = &site.instance;
  context.states[Prepare] = &prepared;
  context.states[Initialize] = &initialized;
  XLA_FFI_CallFrame frame = {};
  frame.struct_size = frameSize;
  frame.api = const_cast<XLA_FFI_Api *>(&getApi());
  frame.ctx = &context;
  operands.fill(frame.args);
  results.fill(frame.rets);
  frame.attrs = site.attributes.get();
  for (Stage stage : {Prepare, Initialize, Execute})
    if (void *error = runStage(site, stage, frame))
      return error;
  return nullptr;
}
