// Handlers of XLA's FFI, as clients in C register them.

#include "pjrt/test_client.h"

#include <gtest/gtest.h>

#include <dlfcn.h>

using namespace alula::pjrt_test;

namespace {
/// XLA's functions for handlers.
const XLA_FFI_Api &getFfi() {
  static const auto *const api = [] {
    void *library = dlopen(ALULA_TEST_PLUGIN, RTLD_NOW);
    return reinterpret_cast<const XLA_FFI_Api *(*)()>(
        dlsym(library, "XLA_FFI_GetApi"))();
  }();
  return *api;
}

const PJRT_FFI_Extension &getExtension() {
  auto *base = static_cast<PJRT_Extension_Base *>(getApi().extension_start);
  while (base && base->type != 5)
    base = static_cast<PJRT_Extension_Base *>(base->next);
  EXPECT_NE(base, nullptr);
  return *reinterpret_cast<PJRT_FFI_Extension *>(base);
}

/// Answers who asks for a handler's version.
bool isQuestion(XLA_FFI_CallFrame *frame, int32_t minor = 3) {
  if (!frame->extension_start)
    return false;
  auto *question =
      static_cast<XLA_FFI_Metadata_Extension *>(frame->extension_start);
  static_cast<XLA_FFI_Metadata *>(question->metadata)
      ->api_version.minor_version = minor;
  return true;
}

template <typename T> T *get(void **list, int64_t index) {
  return static_cast<T *>(list[index]);
}

/// y = x + the user's number, which is of this type.
int64_t numberType = 0;
void *addNumber(XLA_FFI_CallFrame *frame) {
  if (isQuestion(frame))
    return nullptr;
  auto &api = *static_cast<const XLA_FFI_Api *>(frame->api);
  XLA_FFI_TypeId type = {numberType};
  auto data = make<XLA_FFI_ExecutionContext_Get_Args>();
  data.ctx = frame->ctx;
  data.type_id = &type;
  auto ask =
      reinterpret_cast<void *(*)(void *)>(api.XLA_FFI_ExecutionContext_Get);
  if (void *error = ask(&data))
    return error;
  auto *x = get<XLA_FFI_Buffer>(static_cast<void **>(frame->args.args), 0);
  auto *y = get<XLA_FFI_Buffer>(static_cast<void **>(frame->rets.rets), 0);
  for (int64_t i = 0; i < static_cast<int64_t *>(x->dims)[0]; ++i)
    static_cast<float *>(y->data)[i] =
        static_cast<float *>(x->data)[i] + *static_cast<float *>(data.data);
  return nullptr;
}

void *ofTheFuture(XLA_FFI_CallFrame *frame) {
  isQuestion(frame, 4);
  return nullptr;
}

std::string registerHandler(const std::string &name, void *handler,
                            const std::string &platform = "alula") {
  auto args = make<PJRT_FFI_Register_Handler_Args>();
  args.target_name = const_cast<char *>(name.data());
  args.target_name_size = name.size();
  args.handler = handler;
  args.platform_name = const_cast<char *>(platform.data());
  args.platform_name_size = platform.size();
  return call(getExtension().register_handler, args);
}

std::string makeCall(const std::string &name) {
  return "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {\n"
         "  %0 = stablehlo.custom_call @" +
         name +
         "(%x) {api_version = 4 : i32, backend_config = {}} : "
         "(tensor<3xf32>) -> tensor<3xf32>\n"
         "  return %0 : tensor<3xf32>\n}\n";
}

template <typename Function> void *getPointer(Function *function) {
  return reinterpret_cast<void *>(function);
}
} // namespace

TEST(Ffi, HandlersSeeWhatTheClientGivesALaunch) {
  if (!sharesMemory())
    GTEST_SKIP() << "handlers are for the host's memory";
  auto type = make<PJRT_FFI_Type_Register_Args>();
  type.type_name = const_cast<char *>("number");
  type.type_name_size = 6;
  EXPECT_EQ(call(getExtension().type_register, type), "");
  numberType = type.type_id;
  EXPECT_NE(numberType, 0);
  EXPECT_EQ(registerHandler("add_number", getPointer(addNumber), "Host"), "");
  Client client;
  void *program = client.compile(makeCall("add_number"));
  void *x = client.upload({1, 2, 3});

  auto context = make<PJRT_ExecuteContext_Create_Args>();
  EXPECT_EQ(call(getApi().PJRT_ExecuteContext_Create, context), "");
  float number = 40;
  auto data = make<PJRT_FFI_UserData_Add_Args>();
  data.context = context.context;
  data.user_data = {numberType, &number};
  EXPECT_EQ(call(getExtension().user_data_add, data), "");
  EXPECT_NE(call(getExtension().user_data_add, data).find("already"),
            std::string::npos);
  auto options = make<PJRT_ExecuteOptions>();
  options.context = context.context;
  std::vector<void *> results;
  EXPECT_EQ(tryExecute(program, {x}, results, &options), "");
  // The data are the launch's, whatever becomes of the context.
  auto destroy = make<PJRT_ExecuteContext_Destroy_Args>();
  destroy.context = context.context;
  EXPECT_EQ(call(getApi().PJRT_ExecuteContext_Destroy, destroy), "");
  EXPECT_EQ(download(results[0]), (std::vector<float>{41, 42, 43}));
  destroyBuffer(results[0]);

  // A launch without them.
  results.clear();
  EXPECT_EQ(tryExecute(program, {x}, results), "");
  std::vector<float> values;
  std::string error = tryDownload(results[0], values);
  EXPECT_NE(error.find("custom call 'add_number': alula: the client has given "
                       "no data of the type"),
            std::string::npos)
      << error;
  destroyBuffer(results[0]);
  destroyBuffer(x);
  destroyExecutable(program);
}

TEST(Ffi, WhatCanNotBeCalledIsRefused) {
  EXPECT_NE(registerHandler("future", getPointer(ofTheFuture))
                .find("the handler of 'future' for platform 'alula' is made "
                      "for version 0.4 of XLA's FFI, versions 0.1 to 0.3"),
            std::string::npos);
  EXPECT_NE(registerHandler("f", getPointer(addNumber), "CUDA")
                .find("is for another machine: there are 'alula' and 'Host'"),
            std::string::npos);
  EXPECT_NE(registerHandler("f", nullptr).find("'handler' is null"),
            std::string::npos);
  EXPECT_NE(registerHandler("", getPointer(addNumber)).find("compiler's own"),
            std::string::npos);
  EXPECT_EQ(registerHandler("f", getPointer(addNumber)), "");
  EXPECT_EQ(registerHandler("f", getPointer(addNumber)), "");
  auto other = +[](XLA_FFI_CallFrame *frame) -> void * {
    isQuestion(frame);
    return nullptr;
  };
  EXPECT_NE(registerHandler("f", getPointer(other)).find("another function"),
            std::string::npos);
}

TEST(Ffi, ArraysWithoutAFormAreNamed) {
  if (!sharesMemory())
    GTEST_SKIP() << "handlers are for the host's memory";
  EXPECT_EQ(registerHandler("takes_f6", getPointer(addNumber)), "");
  Client client;
  void *program = client.compile(
      "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {\n"
      "  %0 = stablehlo.convert %x : (tensor<3xf32>) -> tensor<3xf6E2M3FN>\n"
      "  %1 = stablehlo.custom_call @takes_f6(%0) {api_version = 4 : i32, "
      "backend_config = {}} : (tensor<3xf6E2M3FN>) -> tensor<3xf32>\n"
      "  return %1 : tensor<3xf32>\n}\n");
  void *x = client.upload({1, 2, 3});
  std::vector<void *> results;
  EXPECT_EQ(tryExecute(program, {x}, results), "");
  std::vector<float> values;
  std::string error = tryDownload(results[0], values);
  EXPECT_NE(error.find("an array of type f6E2M3FN, for which XLA's FFI has no "
                       "form"),
            std::string::npos)
      << error;
  destroyBuffer(results[0]);
  destroyBuffer(x);
  destroyExecutable(program);
}

TEST(Ffi, TypesHaveOneId) {
  auto add =
      reinterpret_cast<void *(*)(void *)>(getFfi().XLA_FFI_Type_Register);
  XLA_FFI_TypeId id = {0}, again = {0}, others = {12345};
  auto args = make<XLA_FFI_Type_Register_Args>();
  args.name = {const_cast<char *>("one"), 3};
  args.type_id = &id;
  EXPECT_EQ(takeError(add(&args)), "");
  args.type_id = &again;
  EXPECT_EQ(takeError(add(&args)), "");
  EXPECT_EQ(id.type_id, again.type_id);
  args.type_id = &others;
  EXPECT_NE(takeError(add(&args)).find("the type 'one' has id 12345"),
            std::string::npos);
  args.name = {const_cast<char *>("two"), 3};
  EXPECT_EQ(takeError(add(&args)), "");
  EXPECT_EQ(others.type_id, 12345);
}

TEST(Ffi, TargetsWithoutHandlersHaveNames) {
  Client client;
  void *program = nullptr;
  std::string error = client.tryCompile(makeCall("nobodys"), program);
  EXPECT_NE(error.find(sharesMemory()
                           ? "no handler is registered for the custom call "
                             "'nobodys'"
                           : "nobodys"),
            std::string::npos)
      << error;
}
