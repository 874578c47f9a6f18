// Null pointers where objects belong: functions that can fail say so, the
// others give nothing.

#include "alula/runtime.hpp"

#include <gtest/gtest.h>

#include <string>

using namespace alula;

namespace {

std::string take(alula_error *error) {
  std::string text = error ? alula_error_get_message(error) : "";
  alula_error_destroy(error);
  return text;
}

TEST(Misuse, NullsAreErrors) {
  alula_instance *instance = nullptr;
  alula_executable *executable = nullptr;
  alula_buffer *buffer = nullptr;
  alula_event *event = nullptr;
  alula_state *state = nullptr;
  uint32_t index = 0;
  int64_t dims[] = {1};
  EXPECT_EQ(take(alula_instance_create(nullptr, nullptr)),
            "alula_instance_create: the result is null");
  EXPECT_EQ(
      take(alula_instance_register_custom_call(nullptr, "f", nullptr, nullptr)),
      "alula_instance_register_custom_call: an argument is null");
  EXPECT_EQ(
      take(alula_executable_load_file(nullptr, "x", nullptr, &executable)),
      "alula_executable_load_file: an argument is null");
  EXPECT_EQ(
      take(alula_executable_load_memory(nullptr, "x", 1, nullptr, &executable)),
      "alula_executable_load_memory: an argument is null");
  EXPECT_EQ(
      take(alula_buffer_create(nullptr, ALULA_DTYPE_F32, 1, dims, &buffer)),
      "alula_buffer_create: instance or result is null");
  EXPECT_EQ(take(alula_buffer_wrap(nullptr, ALULA_DTYPE_F32, 1, dims, dims, 4,
                                   nullptr, nullptr, &buffer)),
            "alula_buffer_wrap: instance or result is null");
  EXPECT_EQ(take(alula_executable_find_function(nullptr, "f", &index)),
            "alula_executable_find_function: an argument is null");
  EXPECT_EQ(take(alula_executable_find_global(nullptr, "g", &index)),
            "alula_executable_find_global: an argument is null");
  EXPECT_EQ(take(alula_state_create(nullptr, &state)),
            "alula_state_create: executable or result is null");
  EXPECT_EQ(take(alula_call(nullptr, 0, nullptr, &buffer, 1, &buffer, 1)),
            "alula_call: executable, arguments or results are null");
  EXPECT_EQ(take(alula_call_async(nullptr, 0, nullptr, &buffer, 1, &buffer, 1,
                                  &event)),
            "alula_call_async: executable or event is null");
  EXPECT_EQ(take(alula_event_wait(nullptr)),
            "alula_event_wait: the event is null");
  EXPECT_EQ(take(alula_buffer_read(nullptr, 0, dims, 0, nullptr)),
            "alula_buffer_read: a buffer is null");
  EXPECT_EQ(take(alula_buffer_write(nullptr, 0, dims, 0, nullptr)),
            "alula_buffer_write: a buffer is null");
  EXPECT_EQ(take(alula_buffer_copy(nullptr, 0, nullptr, 0, 0, nullptr)),
            "alula_buffer_copy: a buffer is null");
  EXPECT_NE(take(alula_global_get(nullptr, nullptr, 0, dims, 8)), "");
  EXPECT_NE(take(alula_global_set(nullptr, nullptr, 0, dims, 8)), "");

  ASSERT_EQ(take(alula_instance_create(nullptr, &instance)), "");
  EXPECT_EQ(
      take(alula_executable_load_file(instance, nullptr, nullptr, &executable)),
      "alula_executable_load_file: an argument is null");
  EXPECT_EQ(take(alula_executable_load_file(instance, "no.alula", nullptr,
                                            &executable)),
            "no.alula: No such file or directory");
  EXPECT_EQ(
      take(alula_buffer_create(instance, ALULA_DTYPE_F32, 1, nullptr, &buffer)),
      "the dimensions of a buffer are null");
  alula_instance_destroy(instance);
  EXPECT_EQ(executable, nullptr);
  EXPECT_EQ(buffer, nullptr);
}

TEST(Misuse, NullsHaveNothing) {
  alula_value_info info = {};
  info.struct_bytes = sizeof info;
  alula_dim_info dim = {};
  dim.struct_bytes = sizeof dim;
  const char *text = nullptr;
  EXPECT_EQ(alula_instance_get_thread_count(nullptr), 0u);
  EXPECT_STREQ(alula_instance_get_device(nullptr), "");
  EXPECT_STREQ(alula_instance_get_chip(nullptr), "");
  EXPECT_FALSE(alula_instance_shares_memory(nullptr));
  EXPECT_EQ(alula_buffer_get_data(nullptr), nullptr);
  EXPECT_EQ(alula_buffer_get_address(nullptr), 0u);
  EXPECT_EQ(alula_buffer_get_bytes(nullptr), 0u);
  EXPECT_EQ(alula_buffer_get_dims(nullptr), nullptr);
  EXPECT_EQ(alula_buffer_get_dtype(nullptr), ALULA_DTYPE_INVALID);
  EXPECT_EQ(alula_executable_get_hash(nullptr), 0u);
  EXPECT_STREQ(alula_executable_get_variant(nullptr), "");
  EXPECT_FALSE(alula_executable_get_fact(nullptr, 0, &text, &text));
  EXPECT_EQ(alula_executable_get_function_count(nullptr), 0u);
  EXPECT_EQ(alula_executable_get_function_name(nullptr, 0), nullptr);
  EXPECT_EQ(alula_executable_get_argument_count(nullptr, 0), 0u);
  EXPECT_EQ(alula_executable_get_result_count(nullptr, 0), 0u);
  EXPECT_FALSE(alula_executable_get_argument(nullptr, 0, 0, &info));
  EXPECT_FALSE(alula_executable_get_result(nullptr, 0, 0, &info));
  EXPECT_FALSE(alula_executable_get_argument_dim(nullptr, 0, 0, 0, &dim));
  EXPECT_FALSE(alula_executable_get_result_dim(nullptr, 0, 0, 0, &dim));
  EXPECT_EQ(alula_executable_get_global_count(nullptr), 0u);
  EXPECT_FALSE(alula_executable_get_global(nullptr, 0, &info));
  EXPECT_TRUE(alula_event_is_done(nullptr));
  alula_event_on_done(nullptr, nullptr, nullptr);
  alula_buffer_retain(nullptr);
  alula_buffer_release(nullptr);
  alula_event_destroy(nullptr);
  alula_state_destroy(nullptr);
  alula_executable_destroy(nullptr);
  alula_instance_destroy(nullptr);
  alula_error_destroy(nullptr);
}

} // namespace
