#include "pjrt/interrupts.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <dlfcn.h>
#include <mutex>
#include <semaphore.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace alula::pjrt;

namespace {
/// Of the run that a signal meets: less is not worth losing its results for.
constexpr auto patience = std::chrono::milliseconds(300);

/// The functions of the Python that this process runs, if any.
struct Python {
  int (*isInitialized)();
  int (*isFinalizing)();
  int (*ensure)();
  void *(*getThisThread)();
  void (*release)(int);
  void *(*import)(const char *);
  void *(*getAttribute)(void *, const char *);
  void *(*callMethod)(void *, const char *, const char *, ...);
  void (*dropReference)(void *);
  void (*clearError)();

  template <typename Function>
  static bool find(const char *name, Function &to) {
    void *found = dlsym(RTLD_DEFAULT, name);
    to = reinterpret_cast<Function>(found);
    return found;
  }
  bool find() {
    bool knowsEnd = find("Py_IsFinalizing", isFinalizing) ||
                    find("_Py_IsFinalizing", isFinalizing);
    return knowsEnd && find("Py_IsInitialized", isInitialized) &&
           find("PyGILState_Ensure", ensure) &&
           find("PyGILState_Release", release) &&
           find("PyGILState_GetThisThreadState", getThisThread) &&
           find("PyImport_ImportModule", import) &&
           find("PyObject_GetAttrString", getAttribute) &&
           find("PyObject_CallMethod", callMethod) &&
           find("Py_DecRef", dropReference) && find("PyErr_Clear", clearError);
  }
  /// Whether SIGINT becomes a KeyboardInterrupt.
  bool raisesInterrupt() const {
    if (!isInitialized() || isFinalizing())
      return false;
    int state = ensure();
    void *module = import("signal");
    void *raising =
        module ? getAttribute(module, "default_int_handler") : nullptr;
    void *handler =
        raising ? callMethod(module, "getsignal", "i", SIGINT) : nullptr;
    bool result = handler && handler == raising;
    for (void *object : {handler, raising, module})
      if (object)
        dropReference(object);
    clearError();
    release(state);
    return result;
  }
};

// What the handler of a signal may touch: nothing else is safe there.

/// SIGINT came so often while something was watched.
std::atomic<uint32_t> signalCount{0};
/// The handler below ours, and whether it takes one argument alone.
std::atomic<uintptr_t> below{0};
std::atomic<bool> isBelowPlain{false};
sem_t signalled;

void noteSignal(int number, siginfo_t *info, void *context) {
  int saved = errno;
  signalCount.fetch_add(1, std::memory_order_relaxed);
  sem_post(&signalled);
  uintptr_t next = below.load(std::memory_order_relaxed);
  if (next && isBelowPlain.load(std::memory_order_relaxed))
    reinterpret_cast<void (*)(int)>(next)(number);
  else if (next)
    reinterpret_cast<void (*)(int, siginfo_t *, void *)>(next)(number, info,
                                                               context);
  errno = saved;
}

bool isMainThread() {
  thread_local const bool isMain = syscall(SYS_gettid) == getpid();
  return isMain;
}

/// All compilations of the process that have not ended.
struct Compilations {
  std::mutex mutex;
  std::condition_variable ended;
  std::vector<UnderWay *> list;
  bool isOver = false;
};

Compilations &getCompilations() {
  // Never destroyed: threads may compile until the process ends.
  static auto &compilations = *new Compilations;
  return compilations;
}

/// Handlers and the thread that reacts; lives until the process ends.
class Watcher {
public:
  Watcher() : hasPython(python.find()) { sem_init(&signalled, 0, 0); }

  /// True if SIGINT is now noted.
  bool enter();
  void leave();
  const int *getPatientFlag() const {
    return &flags[signalCount.load(std::memory_order_relaxed) % flagCount];
  }

private:
  bool install();
  void react();

  /// What begins between two signals has a flag of its own; the next user of a
  /// flag finds it clear as long as fewer signals come at a time.
  static constexpr uint32_t flagCount = 64;
  int flags[flagCount] = {};
  Python python = {};
  const bool hasPython;
  std::mutex mutex;
  unsigned users = 0;
  bool isInstalled = false;
  /// Somebody put a handler over ours, and may call it.
  bool isBuried = false;
  struct sigaction previous = {};
  std::thread thread;
};

Watcher &getWatcher() {
  // Never destroyed: its thread, and a handler, may be in use until the end.
  static auto &watcher = *new Watcher;
  return watcher;
}

bool isOurs(const struct sigaction &action) {
  return action.sa_flags & SA_SIGINFO && action.sa_sigaction == noteSignal;
}

bool isSame(const struct sigaction &one, const struct sigaction &other) {
  return (one.sa_flags & SA_SIGINFO) == (other.sa_flags & SA_SIGINFO) &&
         one.sa_sigaction == other.sa_sigaction;
}

bool Watcher::install() {
  struct sigaction now = {};
  if (sigaction(SIGINT, nullptr, &now))
    return false;
  if (isOurs(now))
    return true;
  bool isPlain = !(now.sa_flags & SA_SIGINFO);
  if (isPlain && (now.sa_handler == SIG_IGN || now.sa_handler == SIG_DFL))
    return false;
  // Over a handler that calls ours, ours would call itself.
  if (isBuried && !isSame(now, previous))
    return false;
  if (now.sa_flags & int(SA_RESETHAND))
    return false;
  if (!thread.joinable()) {
    // Signals are for the threads of others.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread = std::thread([this] { react(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  previous = now;
  isBuried = false;
  below = isPlain ? reinterpret_cast<uintptr_t>(now.sa_handler)
                  : reinterpret_cast<uintptr_t>(now.sa_sigaction);
  isBelowPlain = isPlain;
  struct sigaction ours = now;
  ours.sa_flags |= SA_SIGINFO;
  ours.sa_sigaction = noteSignal;
  return sigaction(SIGINT, &ours, nullptr) == 0;
}

bool Watcher::enter() {
  if (!hasPython || !python.isInitialized())
    return false;
  if (!isMainThread() && python.getThisThread())
    return false;
  std::lock_guard lock(mutex);
  if (!users)
    isInstalled = install();
  users += isInstalled;
  return isInstalled;
}

void Watcher::leave() {
  std::lock_guard lock(mutex);
  if (--users)
    return;
  struct sigaction was = {};
  sigaction(SIGINT, &previous, &was);
  if (isOurs(was))
    return;
  // Whoever came after us stays.
  sigaction(SIGINT, &was, nullptr);
  isBuried = !isSame(was, previous);
}

void Watcher::react() {
  for (uint32_t done = 0;;) {
    while (sem_wait(&signalled) && errno == EINTR)
      ;
    uint32_t count = signalCount.load(std::memory_order_relaxed);
    if (count == done)
      continue;
    bool raises = python.raisesInterrupt();
    if (raises)
      UnderWay::cancelAfter(count);
    std::this_thread::sleep_for(patience);
    for (uint32_t i = done; i != count; ++i) {
      __atomic_store_n(&flags[i % flagCount], int(raises), __ATOMIC_RELAXED);
      __atomic_store_n(&flags[(i + flagCount / 2) % flagCount], 0,
                       __ATOMIC_RELAXED);
    }
    done = count;
  }
}

} // namespace

Watched Watched::begin() {
  Watched watched;
  if (!getWatcher().enter())
    return watched;
  watched.use.reset(new Use{getWatcher().getPatientFlag()});
  return watched;
}

Watched::Use::~Use() { getWatcher().leave(); }

UnderWay::UnderWay()
    : watched(Watched::begin()),
      signalsBefore(signalCount.load(std::memory_order_relaxed)) {
  Compilations &all = getCompilations();
  std::lock_guard lock(all.mutex);
  if (all.isOver)
    cancel();
  all.list.push_back(this);
}

UnderWay::~UnderWay() {
  Compilations &all = getCompilations();
  std::lock_guard lock(all.mutex);
  all.list.erase(std::find(all.list.begin(), all.list.end(), this));
  all.ended.notify_all();
}

void UnderWay::beginAgain() {
  Compilations &all = getCompilations();
  std::lock_guard lock(all.mutex);
  all.isOver = false;
}

void UnderWay::endAll() {
  Compilations &all = getCompilations();
  std::unique_lock lock(all.mutex);
  all.isOver = true;
  for (UnderWay *one : all.list)
    one->cancel();
  all.ended.wait(lock, [&] { return all.list.empty(); });
}

void UnderWay::cancelAfter(uint32_t signals) {
  Compilations &all = getCompilations();
  std::lock_guard lock(all.mutex);
  for (UnderWay *one : all.list)
    if (one->watched && one->signalsBefore != signals)
      one->cancel();
}
