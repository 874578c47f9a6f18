#include "runtime/invoke/call.h"

#include "runtime/base/stack.h"
#include "runtime/executable/buffer.h"
#include "runtime/invoke/interpreter.h"

#include <cinttypes>

namespace alula::runtime {
namespace {

/// What stands between the frame of a block and a kernel, or below an error.
constexpr uint64_t hostStackBytes = 32768;

class CallRunner {
public:
  CallRunner(const CallRequest &request, const alula_file_function &function,
             uint32_t index)
      : request(request), file(request.executable->image->file),
        function(function), index(index) {}

  Status run() {
    if (request.argumentCount != function.argument_count ||
        request.resultCount != function.result_count)
      return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                       "function '%s' takes %u arguments and gives %u results, "
                       "not %zu and %zu",
                       file.getString(function.name), function.argument_count,
                       function.result_count, request.argumentCount,
                       request.resultCount);
    for (uint32_t i = 0; i < function.argument_count; ++i)
      ALULA_TRY(checkArgument(i));
    for (uint32_t i = 0; i < function.result_count; ++i)
      ALULA_TRY(checkResult(i));
    const FunctionInfo &info = request.executable->image->functions[index];
    Context *context;
    ALULA_TRY(takeContext(request.executable, info, &context));
    Status status = runIn(*context, info);
    // Result buffers that were not handed to the caller.
    for (alula_buffer *&made : context->made) {
      alula_buffer_release(made);
      made = nullptr;
    }
    returnContext(request.executable, context);
    return status;
  }

private:
  // ---- Checks ----

  Quoted getName(const alula_file_value &value) const {
    return Quoted(file.getString(value.name));
  }
  const alula_file_type &getType(const alula_file_value &value) const {
    return file.types[value.type];
  }
  const int64_t *getDims(const alula_file_type &type) const {
    return request.executable->image->dims.data() + type.first_dim;
  }

  /// Type and shape of a buffer against a value of the signature.
  Status checkBuffer(const char *what, uint32_t number,
                     const alula_file_value &value,
                     const alula_buffer &buffer) const {
    const alula_file_type &type = getType(value);
    const int64_t *dims = getDims(type);
    bool differs =
        uint32_t(buffer.dtype) != type.dtype || buffer.rank != type.rank;
    for (uint32_t i = 0; !differs && i < type.rank; ++i)
      differs = dims[i] >= 0 && dims[i] != buffer.dims[i];
    if (differs) {
      char expected[160], given[160];
      printShape(expected, sizeof expected, alula_dtype(type.dtype), type.rank,
                 dims);
      printShape(given, sizeof given, buffer.dtype, buffer.rank, buffer.dims);
      return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                       "%s %u%s: expected %s, got %s", what, number,
                       getName(value).text, expected, given);
    }
    if (!buffer.data)
      return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                       "%s %u%s: the buffer was donated to an earlier call",
                       what, number, getName(value).text);
    const Instance *instance = request.executable->instance;
    if (buffer.instance != instance &&
        !(buffer.instance->driver->sharesMemory &&
          instance->driver->sharesMemory))
      return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                       "%s %u%s: the buffer is on another device, of '%s'",
                       what, number, getName(value).text,
                       buffer.instance->driver->name);
    for (uint32_t i = 0; i < type.rank; ++i)
      if (dims[i] < 0)
        ALULA_TRY(checkDim(what, number, value, i, buffer.dims[i]));
    return nullptr;
  }

  Status checkDim(const char *what, uint32_t number,
                  const alula_file_value &value, uint32_t i,
                  int64_t size) const {
    const alula_file_dim &dim = file.getDims(getType(value))[i];
    if (size < dim.minimum || size > dim.maximum)
      return makeError(
          ALULA_STATUS_INVALID_ARGUMENT,
          "%s %u%s: dimension %u is %" PRId64 ", not %" PRId64 " to %" PRId64,
          what, number, getName(value).text, i, size, dim.minimum, dim.maximum);
    if (!dim.symbol)
      return nullptr;
    for (uint32_t j = 0; j < function.argument_count; ++j) {
      const alula_file_value &other = file.getArgument(function, j);
      const alula_file_type &type = getType(other);
      for (uint32_t k = 0; k < type.rank; ++k) {
        if (file.getDims(type)[k].symbol != dim.symbol)
          continue;
        // The first argument with this symbol sets its size.
        int64_t first = request.arguments[j]->dims[k];
        if (first == size)
          return nullptr;
        return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                         "%s %u%s: dimension %u '%s' is %" PRId64
                         ", but argument %u%s has %" PRId64,
                         what, number, getName(value).text, i,
                         file.getString(dim.symbol), size, j,
                         getName(other).text, first);
      }
    }
    return nullptr;
  }

  Status checkArgument(uint32_t number) const {
    const alula_file_value &value = file.getArgument(function, number);
    const alula_buffer *buffer = request.arguments[number];
    if (!buffer)
      return makeError(ALULA_STATUS_INVALID_ARGUMENT, "argument %u%s is null",
                       number, getName(value).text);
    return checkBuffer("argument", number, value, *buffer);
  }

  Status checkResult(uint32_t number) const {
    const alula_buffer *buffer = request.results[number];
    if (!buffer)
      return nullptr;
    const alula_file_value &value = file.getResult(function, number);
    ALULA_TRY(checkBuffer("result", number, value, *buffer));
    if (value.alias == ALULA_NONE)
      return nullptr;
    // It starts as a copy of the argument.
    const alula_buffer &argument = *request.arguments[value.alias];
    for (uint32_t i = 0; i < buffer->rank; ++i)
      if (buffer->dims[i] != argument.dims[i])
        return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                         "result %u%s: dimension %u is %" PRId64
                         ", but argument %u, which it takes over, has %" PRId64,
                         number, getName(value).text, i, buffer->dims[i],
                         value.alias, argument.dims[i]);
    return nullptr;
  }

  bool isDonated(uint32_t argument) const {
    return request.options.donate && request.options.donate[argument];
  }

  /// The argument whose memory a result takes over without a copy, or NULL.
  alula_buffer *getInPlace(const alula_file_value &result,
                           uint32_t number) const {
    if (result.alias == ALULA_NONE)
      return nullptr;
    alula_buffer *argument = request.arguments[result.alias];
    alula_buffer *given = request.results[number];
    return given == argument || (!given && isDonated(result.alias)) ? argument
                                                                    : nullptr;
  }

  // ---- Overlap ----

  static int compareRanges(const void *a, const void *b) {
    const auto &x = *static_cast<const Range *>(a);
    const auto &y = *static_cast<const Range *>(b);
    return x.begin < y.begin ? -1 : x.begin > y.begin;
  }

  Status addRange(Context &context, const alula_buffer &buffer, bool isWritten,
                  bool isArgument, uint32_t number) const {
    if (buffer.bytes == 0)
      return nullptr;
    if (!context.ranges.push({buffer.data, buffer.data + buffer.bytes,
                              isWritten, isArgument, number}))
      return makeOutOfMemory("a call", sizeof(Range));
    return nullptr;
  }

  /// Nothing that is written may overlap anything else.
  Status checkOverlap(Context &context) const {
    if (!context.ranges.resize(0))
      return nullptr;
    bool writes = false;
    for (uint32_t i = 0; i < function.result_count; ++i) {
      const alula_file_value &value = file.getResult(function, i);
      alula_buffer *inPlace = getInPlace(value, i);
      const alula_buffer *written = inPlace ? inPlace : request.results[i];
      if (!written)
        continue;
      writes = true;
      ALULA_TRY(addRange(context, *written, true, false, i));
    }
    if (!writes)
      return nullptr;
    for (uint32_t i = 0; i < function.argument_count; ++i) {
      const alula_file_value &value = file.getArgument(function, i);
      if (value.alias == ALULA_NONE ||
          !getInPlace(file.getResult(function, value.alias), value.alias))
        ALULA_TRY(addRange(context, *request.arguments[i], false, true, i));
    }
    Array<Range> &ranges = context.ranges;
    sortRanges(ranges);
    // Behind the furthest end of all, and of the written, that begin before.
    const Range *furthest = nullptr, *furthestWritten = nullptr;
    for (const Range &range : ranges) {
      const Range *other = range.isWritten ? furthest : furthestWritten;
      if (other && range.begin < other->end)
        return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                         "%s %u and %s %u share memory that is written",
                         other->isArgument ? "argument" : "result",
                         other->index, range.isArgument ? "argument" : "result",
                         range.index);
      if (!furthest || range.end > furthest->end)
        furthest = &range;
      if (range.isWritten &&
          (!furthestWritten || range.end > furthestWritten->end))
        furthestWritten = &range;
    }
    return nullptr;
  }

  static void sortRanges(Array<Range> &ranges) {
    // The C library's sort allocates for large arrays only; small ones are
    // done here.
    if (ranges.size() > 64) {
      qsort(ranges.data(), ranges.size(), sizeof(Range), compareRanges);
      return;
    }
    for (size_t i = 1; i < ranges.size(); ++i)
      for (size_t j = i; j && ranges[j].begin < ranges[j - 1].begin; --j) {
        Range moved = ranges[j];
        ranges[j] = ranges[j - 1];
        ranges[j - 1] = moved;
      }
  }

  // ---- Run ----

  Status runIn(Context &context, const FunctionInfo &info) {
    ALULA_TRY(checkOverlap(context));
    if (!context.made.resize(0) || !context.made.resize(function.result_count))
      return makeOutOfMemory("results", function.result_count);
    Frame frame;
    layOutFrame(request.executable, index, context.memory, context.arena,
                frame);
    frame.isOutermost = true;
    bindArguments(frame);
    StreamUse stream(*request.executable->instance);
    ALULA_TRY(stream.take());
    for (uint32_t i = 0; i < function.result_count; ++i)
      ALULA_TRY(bindResult(context, frame, i, stream.get()));
    alula_state *state = request.options.state ? request.options.state
                                               : request.executable->state;
    bool runsCode = file.kernels.size || file.customCalls.size;
    Call call = {request.executable,
                 state,
                 &context,
                 stream.get(),
                 request.options.cancel,
                 request.options.trace,
                 request.options.trace_user,
                 getStackLimit(hostStackBytes +
                               (runsCode ? ALULA_KERNEL_STACK_BYTES : 0)),
                 request.results,
                 request.options.collectives,
                 request.options.participant};
    ALULA_TRY(lockGlobals(*state, info));
    Status status = runFunction(call, frame);
    // Before any memory goes.
    if (call.collectives)
      settleCollectives(call, status);
    status = stream.finish(status);
    if (info.writesGlobals || info.readsGlobals)
      state->lock.unlock();
    if (status)
      return status;
    return giveResults(context, frame);
  }

  Status lockGlobals(alula_state &state, const FunctionInfo &info) const {
    if (!info.writesGlobals && !info.readsGlobals)
      return nullptr;
    if (!request.options.collectives) {
      if (info.writesGlobals)
        state.lock.lock();
      else
        state.lock.lockShared();
      return nullptr;
    }
    // The others might hold it while they wait for this one.
    if (info.writesGlobals ? state.lock.tryLock() : state.lock.tryLockShared())
      return nullptr;
    return makeError(ALULA_STATUS_FAILED_PRECONDITION,
                     "another call uses the globals of this state: each "
                     "participant needs a state of its own");
  }

  void bindArguments(Frame &frame) const {
    int64_t *dims = frame.argumentDims;
    for (uint32_t i = 0; i < function.argument_count; ++i) {
      const alula_buffer &buffer = *request.arguments[i];
      frame.arguments[i] = {buffer.data, buffer.bytes, 0, 0, 0};
      const alula_file_type &type = getType(file.getArgument(function, i));
      for (uint32_t j = 0; j < type.rank; ++j)
        if (getDims(type)[j] < 0)
          *dims++ = buffer.dims[j];
    }
  }

  /// Storage of a result whose shape is known, which is all but dynamic ones.
  Status bindResult(Context &context, Frame &frame, uint32_t number,
                    Stream *stream) {
    const alula_file_value &value = file.getResult(function, number);
    const alula_file_type &type = getType(value);
    bool isAliased = value.alias != ALULA_NONE;
    frame.results[number] = {};
    if (!isAliased && artifact::countDynamicDims(file, type) != 0)
      return nullptr;
    alula_buffer *argument =
        isAliased ? request.arguments[value.alias] : nullptr;
    alula_buffer *buffer = request.results[number];
    if (alula_buffer *inPlace = getInPlace(value, number)) {
      // The handle is made now, so that nothing can fail after the call.
      if (inPlace != buffer)
        // Of the instance whose memory it is.
        ALULA_TRY(createHandle(argument->instance, argument->dtype,
                               argument->rank, argument->dims,
                               &context.made[number]));
      frame.results[number] = frame.arguments[value.alias];
      return nullptr;
    }
    if (!buffer) {
      ALULA_TRY(createBuffer(
          request.executable->instance, alula_dtype(type.dtype), type.rank,
          isAliased ? argument->dims : getDims(type), &context.made[number]));
      buffer = context.made[number];
    }
    frame.results[number] = {buffer->data, buffer->bytes, 0, 0, 0};
    if (isAliased) {
      // The function works in place, and the caller keeps the argument.
      ALULA_TRY(request.executable->instance->driver->copy(
          stream, buffer->data, argument->data, buffer->bytes));
      frame.arguments[value.alias] = frame.results[number];
    }
    return nullptr;
  }

  Status giveResults(Context &context, const Frame &frame) {
    for (uint32_t i = 0; i < function.result_count; ++i)
      if (!frame.results[i].data)
        return makeError(ALULA_STATUS_INTERNAL,
                         "function '%s' ended without result %u%s",
                         file.getString(function.name), i,
                         getName(file.getResult(function, i)).text);
    for (uint32_t i = 0; i < function.result_count; ++i) {
      if (request.results[i])
        continue;
      const alula_file_value &value = file.getResult(function, i);
      alula_buffer *made = context.made[i];
      if (!made->data)
        moveMemory(request.arguments[value.alias], made);
      request.results[i] = made;
      context.made[i] = nullptr;
    }
    return nullptr;
  }

  const CallRequest &request;
  const artifact::Artifact &file;
  const alula_file_function &function;
  uint32_t index;
};

/// One of several devices: whether all is well with the others' as well.
Status runAsParticipant(const CallRequest &request, CallRunner &runner) {
  const alula_call_options &options = request.options;
  alula_collectives *collectives = options.collectives;
  uint32_t count = request.executable->image->getParticipantCount();
  if (collectives && request.executable->image->file.groupTables.size &&
      collectives->participantCount != count)
    return makeError(ALULA_STATUS_FAILED_PRECONDITION,
                     "the program is for %u devices at once, it runs on %u",
                     count, collectives->participantCount);
  if (collectives)
    count = collectives->participantCount;
  if (options.participant >= count)
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "there is no participant %u: the program runs on %u "
                     "devices at once",
                     options.participant, count);
  if (!collectives)
    return runner.run();
  const CollectiveEngine &engine = *collectives->engine;
  ALULA_TRY(
      engine.begin(collectives->rendezvous, options.participant,
                   request.executable->image->programHash + request.function));
  ++collectives->calls[options.participant];
  Status status = runner.run();
  engine.end(collectives->rendezvous, options.participant,
             status ? alula_error_get_message(status) : nullptr);
  return status;
}

} // namespace

Status runCall(const CallRequest &request) {
  if (!request.executable || (request.argumentCount && !request.arguments) ||
      (request.resultCount && !request.results))
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "alula_call: executable, arguments or results are null");
  if (request.executable->image->missesImports)
    return makeError(ALULA_STATUS_FAILED_PRECONDITION,
                     "functions that the artifact imports are missing");
  const alula_file_function *function =
      request.executable->image->getExported(request.function);
  if (!function)
    return makeError(
        ALULA_STATUS_NOT_FOUND, "there is no function %u: the artifact has %zu",
        request.function, request.executable->image->exported.size());
  if (request.options.state &&
      request.options.state->executable != request.executable)
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "the state belongs to another executable");
  CallRunner runner(request, *function,
                    request.executable->image->exported[request.function]);
  return request.options.collectives ||
                 request.executable->image->file.groupTables.size
             ? runAsParticipant(request, runner)
             : runner.run();
}

} // namespace alula::runtime

using namespace alula::runtime;

alula_error *alula_call(alula_executable *executable, uint32_t function,
                        const alula_call_options *options,
                        alula_buffer *const *arguments, size_t argumentCount,
                        alula_buffer **results, size_t resultCount) {
  CallRequest request = {executable,    function, {},         arguments,
                         argumentCount, results,  resultCount};
  if (options)
    memcpy(&request.options, options,
           options->struct_bytes < sizeof request.options
               ? options->struct_bytes
               : sizeof request.options);
  return runCall(request);
}
