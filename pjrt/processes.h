#pragma once

#include "pjrt/border.h"

#include <memory>
#include <mutex>
#include <vector>

namespace alula::pjrt {

/// The processes of a client, of which this is one: they know each other by the
/// client's key-value store, and are connected when a program needs it.
class Processes {
public:
  uint32_t number = 0, count = 1;
  /// As alula_processes_options has them.
  std::string engine;
  uint32_t timeout = 0;

  Processes() = default;
  Processes(const Processes &) = delete;
  Processes &operator=(const Processes &) = delete;
  ~Processes();

  /// Takes over the functions for the store, if there are any.
  void setStore(const PJRT_Client_Create_Args *args);
  /// How many devices each process has, once all have said so.
  void *countDevices(int32_t mine, std::vector<int32_t> &counts);
  /// Connects them the first time. An error stays.
  void *connect(alula_processes *&processes);

  int32_t put(const std::string &key, const std::string &value,
              std::string &message) const;
  int32_t get(const std::string &key, uint32_t timeout, std::string &value,
              std::string &message) const;

private:
  using Callback = void *(*)(void *args);
  Callback getValue = nullptr, putValue = nullptr;
  void *getUser = nullptr, *putUser = nullptr;

  std::mutex mutex;
  alula_processes *connected = nullptr;
  std::unique_ptr<Error> failure;
};

} // namespace alula::pjrt
