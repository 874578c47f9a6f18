#pragma once

#include "pjrt/ffi/handler.h"

#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

namespace alula::pjrt::ffi {

/// Destroys an object of a type; may be null.
using Deleter = void (*)(void *);

/// Handlers and types of the process, which stay as long as it.
class Registry {
public:
  static Registry &get();

  /// An error says what is wrong with the handlers: programs that call them
  /// hear it again. The same ones may come twice.
  void *add(std::string_view name, std::string_view platform,
            const Bundle &bundle);
  /// The handlers that programs call, or nothing: `problem` then says why, and
  /// is empty if nobody has registered any.
  std::optional<Bundle> find(const std::string &name, std::string &problem);
  /// Names in the order in which they came, without the first ones.
  std::vector<std::string> getNames(size_t after);

  /// A type whose id is 0 gets one.
  void *addType(std::string_view name, int64_t &id, Deleter deleter);
  void *findDeleter(int64_t id, Deleter &deleter);

private:
  struct Offer {
    Bundle bundle;
    std::string problem;
  };
  struct Type {
    std::string name;
    Deleter deleter;
  };

  std::mutex mutex;
  std::vector<std::string> names;
  /// Of the platform `alula`, of `Host`.
  std::map<std::string, std::optional<Offer>[2]> targets;
  std::unordered_map<int64_t, Type> types;
  /// Far from XLA's, which counts from 1: handlers keep one id for both.
  int64_t nextType = int64_t(1) << 32;
};

} // namespace alula::pjrt::ffi
