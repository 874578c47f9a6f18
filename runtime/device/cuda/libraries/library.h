// What libraries that compute kernels share: texts of calls, and how NVIDIA's
// own library is found.

#pragma once

#include "alula/cuda_library.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <initializer_list>
#include <pthread.h>

namespace alula::cuda_library {

/// Where a sentence for the user goes.
struct Reason {
  char *text;
  size_t bytes;

  __attribute__((format(printf, 2, 3))) void say(const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(text, bytes, format, list);
    va_end(list);
  }
};

/// "KEY=word,word,..." somewhere in a text. False if there is none.
class Field {
public:
  bool find(const char *text, const char *key) {
    size_t size = strlen(key);
    for (const char *at = strchr(text, ' '); at; at = strchr(at, ' ')) {
      ++at;
      if (strncmp(at, key, size) == 0 && at[size] == '=') {
        rest = at + size + 1;
        return true;
      }
    }
    return false;
  }
  /// The next word; false if there is none, or it has 32 characters and more.
  bool next(char (&word)[32]) {
    if (!rest)
      return false;
    size_t size = strcspn(rest, ", ");
    if (!size || size >= sizeof word)
      return false;
    memcpy(word, rest, size);
    word[size] = 0;
    rest = rest[size] == ',' ? rest + size + 1 : nullptr;
    return true;
  }
  bool next(int64_t &number) {
    char word[32], *end;
    if (!next(word))
      return false;
    number = strtoll(word, &end, 10);
    return !*end;
  }
  bool isAtEnd() const { return !rest; }

private:
  const char *rest = nullptr;
};

/// The first of these that the system has; NULL: none.
inline void *openFirst(const char *const *names) {
  for (; *names; ++names)
    if (void *library = dlopen(*names, RTLD_NOW | RTLD_LOCAL))
      return library;
  return nullptr;
}

class Lock {
public:
  explicit Lock(pthread_mutex_t &mutex) : mutex(mutex) {
    pthread_mutex_lock(&mutex);
  }
  Lock(const Lock &) = delete;
  Lock &operator=(const Lock &) = delete;
  ~Lock() { pthread_mutex_unlock(&mutex); }

private:
  pthread_mutex_t &mutex;
};

} // namespace alula::cuda_library
