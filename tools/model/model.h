// An artifact that a tool runs.

#pragma once

#include "alula/runtime.hpp"
#include "tools/model/options.h"
#include "tools/values/value.h"

#include <optional>

namespace alula::model {

struct Model {
  Instance instance;
  std::optional<Executable> executable;
  /// Chosen by chooseFunction.
  uint32_t function = 0;

  alula_executable *get() const { return executable->get(); }
  uint32_t getArgumentCount() const {
    return alula_executable_get_argument_count(get(), function);
  }
  uint32_t getResultCount() const {
    return alula_executable_get_result_count(get(), function);
  }
};

/// Loads the file, resolves its custom calls, sets globals; "-" is stdin.
bool openModel(const Options &options, Model &model, std::string &error);

/// The function that was named, or the only one, or "main".
bool chooseFunction(const Options &options, Model &model, std::string &error);

/// "x: 2x?xf32"
std::string printValueInfo(const alula_value_info &info);

/// The type of an argument of the function; false if there is none.
bool getArgument(const Model &model, uint32_t index, alula_value_info &info);

/// Wraps the value's memory, which must outlive the buffer. What has another
/// form on the device is copied: packed elements, and all where the device does
/// not share the host's memory.
Buffer wrapValue(const Instance &instance, values::Value &value, Error &error);

/// A copy of what a buffer has.
bool readBuffer(const Buffer &buffer, values::Value &value, std::string &error);

} // namespace alula::model
