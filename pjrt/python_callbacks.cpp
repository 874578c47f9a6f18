#include "pjrt/python_callbacks.h"

#include <cstdlib>

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
  PythonTarget target(
      std::string(static_cast<const char *>(args->config), args->config_bytes));
  if (!callbacks->function)
    return alula_error_create(
        ALULA_STATUS_FAILED_PRECONDITION,
        "the program calls a Python function, and the plugin was not loaded by "
        "the Python package jax_plugins.alula");
  if (target.token != callbacks->token)
    return alula_error_create(
        ALULA_STATUS_FAILED_PRECONDITION,
        "the program calls a Python function of another process");
  auto operands = describe(args->operands, args->operand_count);
  auto results = describe(args->results, args->result_count);
  std::string message(8192, '\0');
  PythonCall call = {0,
                     target.id,
                     args->operand_count,
                     args->result_count,
                     operands.data(),
                     results.data(),
                     message.data(),
                     message.size(),
                     nullptr,
                     0};
  if (callbacks->call(call) == 0)
    return nullptr;
  return alula_error_create(ALULA_STATUS_INTERNAL, message.c_str());
}
} // namespace

PythonTarget::PythonTarget(const std::string &config) {
  // "id token", both decimal.
  char *rest;
  id = strtoll(config.c_str(), &rest, 10);
  token = strtoll(rest, nullptr, 10);
}

int32_t PythonCallbacks::call(PythonCall &call) {
  std::vector<int64_t> gone;
  {
    std::lock_guard lock(mutex);
    gone.swap(unloaded);
  }
  call.unloaded = gone.data();
  call.unloadedCount = gone.size();
  return function(&call);
}

void PythonCallbacks::load(const std::vector<std::string> &configs) {
  for (const std::string &config : configs) {
    PythonTarget target(config);
    if (function && target.token == token)
      tell(1, target.id);
  }
}

void PythonCallbacks::callAtExit(void (*atExit)()) {
  if (function)
    tell(2, static_cast<int64_t>(reinterpret_cast<intptr_t>(atExit)));
}

void PythonCallbacks::tell(int64_t kind, int64_t id) {
  char message[1];
  PythonCall told = {kind,           id,      0, 0, nullptr, nullptr, message,
                     sizeof message, nullptr, 0};
  call(told);
}

void PythonCallbacks::unload(const std::vector<std::string> &configs) {
  std::lock_guard lock(mutex);
  for (const std::string &config : configs) {
    PythonTarget target(config);
    if (function && target.token == token)
      unloaded.push_back(target.id);
  }
}

PythonCallbacks::PythonCallbacks(int64_t address, int64_t token)
    : function(reinterpret_cast<decltype(function)>(address)), token(token) {}

void *PythonCallbacks::connect(alula_instance *instance) {
  return makeError(alula_instance_register_custom_call(instance, pythonCallName,
                                                       callPython, this));
}
