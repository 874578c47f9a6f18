#include "pjrt/processes.h"

#include "alula/collectives.h"

using namespace alula::pjrt;

namespace {
/// What a client's function says went wrong, made by makeClientError.
std::unique_ptr<Error> take(void *error) {
  return std::unique_ptr<Error>(static_cast<Error *>(error));
}

/// What clients make the errors of their functions with.
void *makeClientError(uint32_t code, const char *message, size_t bytes) {
  return new Error(readError(code, message, bytes));
}
void *(*const clientError)(uint32_t, const char *, size_t) = makeClientError;

/// How long other processes may take to start.
constexpr uint32_t startTimeout = 300000;
} // namespace

Processes::~Processes() { alula_processes_disconnect(connected); }

void Processes::setStore(const PJRT_Client_Create_Args *args) {
  using Args = PJRT_Client_Create_Args;
  getValue = reinterpret_cast<Callback>(
      alula::pjrt::take(args, &Args::kv_get_callback));
  getUser = alula::pjrt::take(args, &Args::kv_get_user_arg);
  putValue = reinterpret_cast<Callback>(
      alula::pjrt::take(args, &Args::kv_put_callback));
  putUser = alula::pjrt::take(args, &Args::kv_put_user_arg);
}

int32_t Processes::put(const std::string &key, const std::string &value,
                       std::string &message) const {
  PJRT_KeyValuePutCallback_Args args = {};
  args.struct_size = sizeof args;
  args.key = const_cast<char *>(key.data());
  args.key_size = key.size();
  args.value = const_cast<char *>(value.data());
  args.value_size = value.size();
  args.callback_error =
      const_cast<void *>(static_cast<const void *>(&clientError));
  args.user_arg = putUser;
  std::unique_ptr<Error> error = ::take(putValue(&args));
  if (!error)
    return 0;
  message = error->message;
  return static_cast<int32_t>(error->code);
}

int32_t Processes::get(const std::string &key, uint32_t wait,
                       std::string &value, std::string &message) const {
  PJRT_KeyValueGetCallback_Args args = {};
  args.struct_size = sizeof args;
  args.key = const_cast<char *>(key.data());
  args.key_size = key.size();
  args.timeout_in_ms = static_cast<int32_t>(wait);
  args.callback_error =
      const_cast<void *>(static_cast<const void *>(&clientError));
  args.user_arg = getUser;
  std::unique_ptr<Error> error = ::take(getValue(&args));
  if (error) {
    message = error->message;
    return static_cast<int32_t>(error->code);
  }
  value.assign(static_cast<const char *>(args.value), args.value_size);
  if (args.value_deleter_callback)
    reinterpret_cast<void (*)(void *)>(args.value_deleter_callback)(args.value);
  return 0;
}

void *Processes::countDevices(int32_t mine, std::vector<int32_t> &counts) {
  counts.assign(count, mine);
  if (count == 1)
    return nullptr;
  if (!getValue || !putValue)
    return invalid("alula: there are " + std::to_string(count) +
                   " processes, and no key-value store");
  auto fail = [&](int32_t code, uint32_t process, const std::string &message) {
    return makeError(static_cast<alula_status_code>(code),
                     "alula: process " + std::to_string(process) +
                         " has not said how many devices it has: " + message);
  };
  const std::string prefix = "alula:devices:";
  std::string message, value;
  if (int32_t code =
          put(prefix + std::to_string(number), std::to_string(mine), message))
    return fail(code, number, message);
  for (uint32_t i = 0; i < count; ++i) {
    if (int32_t code =
            get(prefix + std::to_string(i), startTimeout, value, message))
      return fail(code, i, message);
    counts[i] = atoi(value.c_str());
    if (counts[i] < 1)
      return fail(ALULA_STATUS_INTERNAL, i, "'" + value + "'");
  }
  return nullptr;
}

void *Processes::connect(alula_processes *&processes) {
  std::lock_guard lock(mutex);
  if (failure)
    return makeError(failure->code, failure->message);
  processes = connected;
  if (connected)
    return nullptr;
  alula_key_value_store store = {};
  store.struct_bytes = sizeof store;
  store.user = this;
  store.put = [](void *user, const char *key, const void *value, size_t bytes) {
    std::string text(static_cast<const char *>(value), bytes), message;
    return static_cast<Processes *>(user)->put(key, text, message);
  };
  store.get = [](void *user, const char *key, uint32_t wait,
                 void (*give)(void *to, const void *value, size_t bytes),
                 void *to) {
    std::string value, message;
    int32_t code =
        static_cast<Processes *>(user)->get(key, wait, value, message);
    if (!code)
      give(to, value.data(), value.size());
    return code;
  };
  alula_processes_options options = {};
  options.struct_bytes = sizeof options;
  options.engine = engine.empty() ? nullptr : engine.c_str();
  options.number = number;
  options.count = count;
  options.timeout_ms = timeout;
  options.store = &store;
  alula_error *error = alula_processes_connect(&options, &connected);
  processes = connected;
  if (!error)
    return nullptr;
  // Others have waited for this one and gone: a second try would find nobody.
  failure = std::make_unique<Error>(
      Error{alula_error_get_code(error),
            std::string("alula: processes can't be connected: ") +
                alula_error_get_message(error)});
  alula_error_destroy(error);
  return makeError(failure->code, failure->message);
}
