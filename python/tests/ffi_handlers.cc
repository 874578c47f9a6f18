// Handlers of XLA's FFI for test_ffi.py, made with the headers that jaxlib has.

#include "xla/ffi/api/ffi.h"

#include <cmath>
#include <cstring>
#include <cstdio>
#include <memory>
#include <string>

namespace ffi = xla::ffi;

static ffi::Error rmsNorm(float eps, ffi::Buffer<ffi::F32> x,
                          ffi::ResultBuffer<ffi::F32> y) {
  int64_t size = x.dimensions().back();
  for (int64_t i = 0; i < int64_t(x.element_count()); i += size) {
    float sum = 0;
    for (int64_t j = i; j < i + size; ++j)
      sum += x.typed_data()[j] * x.typed_data()[j];
    float scale = 1 / std::sqrt(sum / float(size) + eps);
    for (int64_t j = i; j < i + size; ++j)
      y->typed_data()[j] = x.typed_data()[j] * scale;
  }
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(RmsNorm, rmsNorm,
                              ffi::Ffi::Bind()
                                  .Attr<float>("eps")
                                  .Arg<ffi::Buffer<ffi::F32>>()
                                  .Ret<ffi::Buffer<ffi::F32>>());

static ffi::Error sumAndMost(ffi::Buffer<ffi::F64> x,
                             ffi::ResultBufferR0<ffi::F64> sum,
                             ffi::ResultBufferR0<ffi::S32> most) {
  *sum->typed_data() = 0;
  *most->typed_data() = 0;
  for (size_t i = 0; i < x.element_count(); ++i) {
    *sum->typed_data() += x.typed_data()[i];
    if (x.typed_data()[i] > x.typed_data()[*most->typed_data()])
      *most->typed_data() = int32_t(i);
  }
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(SumAndMost, sumAndMost,
                              ffi::Ffi::Bind()
                                  .Arg<ffi::Buffer<ffi::F64>>()
                                  .Ret<ffi::BufferR0<ffi::F64>>()
                                  .Ret<ffi::BufferR0<ffi::S32>>());

static ffi::Error fail(std::string_view message, ffi::AnyBuffer,
                       ffi::Result<ffi::AnyBuffer>) {
  return ffi::Error(ffi::ErrorCode::kOutOfRange, std::string(message));
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Fail, fail,
                              ffi::Ffi::Bind()
                                  .Attr<std::string_view>("message")
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>());

// ---- States ----

struct Counter {
  static ffi::TypeId id;
  static ffi::TypeInfo info;
  int32_t value;
  static int32_t alive;
  explicit Counter(int32_t start) : value(start) { ++alive; }
  ~Counter() { --alive; }
};
ffi::TypeId Counter::id = {};
ffi::TypeInfo Counter::info = ffi::MakeTypeInfo<Counter>();
int32_t Counter::alive = 0;
extern "C" void *CounterId() { return &Counter::id; }
extern "C" void *CounterInfo() { return &Counter::info; }
extern "C" int CountersAlive() { return Counter::alive; }

static ffi::ErrorOr<std::unique_ptr<Counter>> startCounter(int32_t start) {
  if (start < 0)
    return ffi::Unexpected(
        ffi::Error::InvalidArgument("a counter starts at 0 or more"));
  return std::make_unique<Counter>(start);
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    CounterInstantiate, startCounter,
    ffi::Ffi::BindInstantiate().Attr<int32_t>("start"));

static ffi::Error count(Counter *counter, ffi::ResultBufferR0<ffi::S32> now) {
  *now->typed_data() = counter->value++;
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(CounterExecute, count,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::State<Counter>>()
                                  .Ret<ffi::BufferR0<ffi::S32>>());

static ffi::ErrorOr<std::unique_ptr<Counter>> prepare() {
  return std::make_unique<Counter>(10);
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(StagesPrepare, prepare,
                              ffi::Ffi::BindPrepare());
static ffi::ErrorOr<std::unique_ptr<Counter>>
initialize(Counter *prepared) {
  return std::make_unique<Counter>(prepared->value * 2);
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    StagesInitialize, initialize,
    ffi::Ffi::BindInitialize().Ctx<ffi::Prepared<Counter>>());
static ffi::Error runStages(Counter *prepared, Counter *initialized,
                            ffi::ResultBufferR0<ffi::S32> sum) {
  *sum->typed_data() = prepared->value + initialized->value;
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(StagesExecute, runStages,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::Prepared<Counter>>()
                                  .Ctx<ffi::Initialized<Counter>>()
                                  .Ret<ffi::BufferR0<ffi::S32>>());

// ---- Threads ----

static ffi::Future squareLater(ffi::ThreadPool pool, bool fails,
                               ffi::Buffer<ffi::F32> x,
                               ffi::ResultBuffer<ffi::F32> y) {
  auto tasks = int64_t(x.element_count());
  if (fails) {
    ffi::Promise promise;
    ffi::Future future(promise);
    pool.Schedule([promise = std::move(promise)]() mutable {
      promise.SetError(ffi::Error::Internal("failed on another thread"));
    });
    return future;
  }
  ffi::CountDownPromise promise(tasks);
  ffi::Future future(promise);
  for (int64_t i = 0; i < tasks; ++i)
    pool.Schedule([=]() mutable {
      y->typed_data()[i] = x.typed_data()[i] * x.typed_data()[i];
      promise.CountDown();
    });
  return future;
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(SquareLater, squareLater,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Attr<bool>("fails")
                                  .Arg<ffi::Buffer<ffi::F32>>()
                                  .Ret<ffi::Buffer<ffi::F32>>());

// ---- What a call says ----

static ffi::Error addDevice(int32_t device, ffi::RunId run,
                            ffi::Buffer<ffi::F32> x,
                            ffi::ResultBuffer<ffi::F32> y,
                            ffi::ResultBuffer<ffi::S64> runs) {
  for (size_t i = 0; i < x.element_count(); ++i)
    y->typed_data()[i] = x.typed_data()[i] + float(device);
  for (size_t i = 0; i < runs->element_count(); ++i)
    runs->typed_data()[i] = run.run_id;
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(AddDevice, addDevice,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::DeviceOrdinal>()
                                  .Ctx<ffi::RunId>()
                                  .Arg<ffi::Buffer<ffi::F32>>()
                                  .Ret<ffi::Buffer<ffi::F32>>()
                                  .Ret<ffi::Buffer<ffi::S64>>());

static ffi::Error reverse(ffi::ScratchAllocator scratch, ffi::AnyBuffer x,
                          ffi::Result<ffi::AnyBuffer> y) {
  auto memory = scratch.Allocate(x.size_bytes(), 256);
  if (!memory || reinterpret_cast<uintptr_t>(*memory) % 256)
    return ffi::Error::Internal("no memory");
  size_t bytes = x.size_bytes() / x.element_count();
  auto *out = static_cast<char *>(*memory);
  for (size_t i = 0; i < x.element_count(); ++i)
    memcpy(out + i * bytes,
           static_cast<char *>(x.untyped_data()) +
               (x.element_count() - 1 - i) * bytes,
           bytes);
  memcpy(y->untyped_data(), out, x.size_bytes());
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Reverse, reverse,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ScratchAllocator>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>());

// y += 1 in the memory of x.
static ffi::Error addOne(ffi::Buffer<ffi::F32> x,
                         ffi::ResultBuffer<ffi::F32> y) {
  if (x.typed_data() != y->typed_data())
    return ffi::Error::Internal("x and y are not one array");
  for (size_t i = 0; i < x.element_count(); ++i)
    ++y->typed_data()[i];
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(AddOne, addOne,
                              ffi::Ffi::Bind()
                                  .Arg<ffi::Buffer<ffi::F32>>()
                                  .Ret<ffi::Buffer<ffi::F32>>());

// ---- The tables as they lie in memory ----

static std::string hex(const void *data, size_t bytes) {
  std::string text;
  for (size_t i = 0; i < bytes; ++i) {
    char digits[3];
    snprintf(digits, sizeof digits, "%02x",
             static_cast<const unsigned char *>(data)[i]);
    text += digits;
  }
  return text;
}

static size_t bytesOf(XLA_FFI_DataType type) {
  return xla::ffi::ByteWidth(static_cast<ffi::DataType>(type));
}

static void print(const XLA_FFI_Attrs &attrs, std::string &text) {
  text += "{";
  for (int64_t i = 0; i < attrs.size; ++i) {
    text.append(attrs.names[i]->ptr, attrs.names[i]->len);
    text += "=";
    void *attribute = attrs.attrs[i];
    if (attrs.types[i] == XLA_FFI_AttrType_SCALAR) {
      auto *scalar = static_cast<XLA_FFI_Scalar *>(attribute);
      text += "scalar " + std::to_string(scalar->dtype) + " " +
              hex(scalar->value, bytesOf(scalar->dtype));
    } else if (attrs.types[i] == XLA_FFI_AttrType_ARRAY) {
      auto *array = static_cast<XLA_FFI_Array *>(attribute);
      text += "array " + std::to_string(array->dtype) + " " +
              hex(array->data, array->size * bytesOf(array->dtype));
    } else if (attrs.types[i] == XLA_FFI_AttrType_STRING) {
      auto *span = static_cast<XLA_FFI_ByteSpan *>(attribute);
      text += "'" + std::string(span->ptr, span->len) + "'";
    } else {
      print(*static_cast<XLA_FFI_Attrs *>(attribute), text);
    }
    text += ";";
  }
  text += "}";
}

static void print(int64_t size, void **buffers, std::string &text) {
  for (int64_t i = 0; i < size; ++i) {
    auto *buffer = static_cast<XLA_FFI_Buffer *>(buffers[i]);
    text += std::to_string(buffer->dtype) + "[";
    for (int64_t j = 0; j < buffer->rank; ++j)
      text += std::to_string(buffer->dims[j]) + ",";
    text += "] ";
  }
}

// Writes what it was called with into its last result, bytes.
extern "C" XLA_FFI_Error *Describe(XLA_FFI_CallFrame *frame) {
  if (frame->extension_start &&
      frame->extension_start->type == XLA_FFI_Extension_Metadata) {
    auto *metadata = reinterpret_cast<XLA_FFI_Metadata_Extension *>(
                         frame->extension_start)
                         ->metadata;
    metadata->api_version.major_version = XLA_FFI_API_MAJOR;
    metadata->api_version.minor_version = XLA_FFI_API_MINOR;
    return nullptr;
  }
  std::string text;
  print(frame->args.size, frame->args.args, text);
  text += "-> ";
  print(frame->rets.size, frame->rets.rets, text);
  print(frame->attrs, text);
  auto *out =
      static_cast<XLA_FFI_Buffer *>(frame->rets.rets[frame->rets.size - 1]);
  memset(out->data, 0, size_t(out->dims[0]));
  memcpy(out->data, text.data(), std::min(text.size(), size_t(out->dims[0])));
  return nullptr;
}

// Of a version that there is not yet.
extern "C" XLA_FFI_Error *FromTheFuture(XLA_FFI_CallFrame *frame) {
  if (frame->extension_start)
    reinterpret_cast<XLA_FFI_Metadata_Extension *>(frame->extension_start)
        ->metadata->api_version.minor_version = 99;
  return nullptr;
}
