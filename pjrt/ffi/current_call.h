#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace alula::pjrt::ffi {

/// What a client hands to handlers with a launch, by type.
struct UserData {
  std::mutex mutex;
  std::map<int64_t, void *> byType;
};

/// What handlers may ask of the launch that they are called in.
struct CurrentCall {
  /// The same for all devices of a launch, and no other's.
  int64_t run = 0;
  std::shared_ptr<UserData> data;
};

/// The launch of this thread, while it lives.
class InCall {
public:
  explicit InCall(const CurrentCall &call);
  InCall(const InCall &) = delete;
  InCall &operator=(const InCall &) = delete;
  ~InCall();
  /// Null outside a launch.
  static const CurrentCall *get();

private:
  const CurrentCall *outer;
};

} // namespace alula::pjrt::ffi
