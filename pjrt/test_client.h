#pragma once

#include "pjrt/pjrt_abi.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

// A C client, as far from the plugin's own code as a client is: it knows the
// table and the layouts.

namespace alula::pjrt_test {

/// The plugin's table; loads it once.
const PJRT_Api &getApi();

/// Whether the plugin's devices, which ALULA_DEVICE picks, share the host's
/// memory.
bool sharesMemory();

/// The error's "CODE: text", or ""; destroys it.
std::string takeError(void *error);

/// Calls a function of the table.
template <typename Args> std::string call(void *slot, Args &args) {
  auto function = reinterpret_cast<void *(*)(Args *)>(slot);
  return takeError(function(&args));
}

/// Arguments of a call, all zero but the size.
template <typename Args> Args make() {
  Args args;
  memset(&args, 0, sizeof args);
  args.struct_size = sizeof args;
  return args;
}

/// A client with some devices; everything here fails the test on an error
/// unless it returns a text.
struct Client {
  explicit Client(int64_t deviceCount = 1);
  ~Client();
  Client(const Client &) = delete;
  Client &operator=(const Client &) = delete;

  std::string tryCompile(const std::string &program, void *&executable,
                         const std::string &options = "");
  void *compile(const std::string &program, const std::string &options = "");
  void *upload(const std::vector<float> &values, size_t device = 0);

  void *handle = nullptr;
  std::vector<void *> devices;
};

/// Runs on one device and waits; "" or the error of the call itself.
std::string tryExecute(void *executable, const std::vector<void *> &arguments,
                       std::vector<void *> &results, void *options = nullptr);
/// The same without waiting, `event` is the call's.
std::string tryStart(void *executable, const std::vector<void *> &arguments,
                     std::vector<void *> &results, void *&event,
                     void *options = nullptr);
std::vector<void *> execute(void *executable,
                            const std::vector<void *> &arguments);

/// What a buffer holds; waits. The error of the value, or "".
std::string tryDownload(void *buffer, std::vector<float> &values);
std::vector<float> download(void *buffer);

bool isDeleted(void *buffer);
void destroyBuffer(void *buffer);
void destroyExecutable(void *executable);
/// Waits for an event and destroys it.
std::string await(void *event);
void destroyEvent(void *event);

/// Bytes that the process holds in memory.
long getResident();

/// `values * scale + other`, with the first argument donated if wanted.
std::string makeProgram(size_t size, double scale, bool donates = false);

} // namespace alula::pjrt_test
