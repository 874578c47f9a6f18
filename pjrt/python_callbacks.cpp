#include "pjrt/python_callbacks.h"

#include <cstdlib>
#include <vector>

using namespace alula::pjrt;

namespace {
std::vector<PythonArray> describe(const alula_custom_call_buffer *buffers,
                                  uint32_t count) {
  std::vector<PythonArray> arrays;
  for (uint32_t i = 0; i < count; ++i)
    arrays.push_back(
        {buffers[i].data, buffers[i].dims, buffers[i].rank, buffers[i].dtype});
  return arrays;
}

alula_error *callPython(void *user, const alula_custom_call_args *args) {
  auto *callbacks = static_cast<PythonCallbacks *>(user);
  // "id token", both decimal.
  std::string config(static_cast<const char *>(args->config),
                     args->config_bytes);
  char *rest;
  int64_t id = strtoll(config.c_str(), &rest, 10);
  int64_t token = strtoll(rest, nullptr, 10);
  if (!callbacks->function)
    return alula_error_create(
        ALULA_STATUS_FAILED_PRECONDITION,
        "the program calls a Python function, and the plugin was not loaded by "
        "the Python package jax_plugins.alula");
  if (token != callbacks->token)
    return alula_error_create(
        ALULA_STATUS_FAILED_PRECONDITION,
        "the program calls a Python function of another process");
  auto operands = describe(args->operands, args->operand_count);
  auto results = describe(args->results, args->result_count);
  std::string message(8192, '\0');
  PythonCall call = {id,
                     args->operand_count,
                     args->result_count,
                     operands.data(),
                     results.data(),
                     message.data(),
                     message.size()};
  if (callbacks->function(&call) == 0)
    return nullptr;
  return alula_error_create(ALULA_STATUS_INTERNAL, message.c_str());
}
} // namespace

void *PythonCallbacks::connect(alula_instance *instance, int64_t address,
                               int64_t given) {
  function = reinterpret_cast<decltype(function)>(address);
  token = given;
  return makeError(alula_instance_register_custom_call(
      instance, "alula.python_callback", callPython, this));
}
