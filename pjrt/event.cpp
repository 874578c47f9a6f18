#include "pjrt/functions.h"
#include "pjrt/objects.h"

using namespace alula::pjrt;

std::unique_ptr<Error> Event::copyError() const {
  return error ? std::make_unique<Error>(*error) : nullptr;
}

void Event::finish(std::unique_ptr<Error> why) {
  std::vector<std::function<void(void *)>> waiting;
  {
    std::lock_guard lock(mutex);
    done = true;
    error = std::move(why);
    waiting.swap(callbacks);
  }
  changed.notify_all();
  for (auto &callback : waiting)
    callback(copyError().release());
}

bool Event::isDone() {
  std::lock_guard lock(mutex);
  return done;
}

void *Event::wait() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [this] { return done; });
  return copyError().release();
}

void Event::onReady(std::function<void(void *)> callback) {
  {
    std::lock_guard lock(mutex);
    if (!done) {
      callbacks.push_back(std::move(callback));
      return;
    }
  }
  callback(copyError().release());
}

void *alula::pjrt::makeReadyEvent() {
  auto *event = new Event;
  event->finish(nullptr);
  return event;
}

void *alula::pjrt::Event_Destroy(PJRT_Event_Destroy_Args *args) {
  delete as<Event>(args->event);
  return nullptr;
}

void *alula::pjrt::Event_IsReady(PJRT_Event_IsReady_Args *args) {
  put(args, &PJRT_Event_IsReady_Args::is_ready,
      as<Event>(args->event)->isDone());
  return nullptr;
}

void *alula::pjrt::Event_Error(PJRT_Event_Error_Args *args) {
  return as<Event>(args->event)->wait();
}

void *alula::pjrt::Event_Await(PJRT_Event_Await_Args *args) {
  return as<Event>(args->event)->wait();
}

void *alula::pjrt::Event_OnReady(PJRT_Event_OnReady_Args *args) {
  auto callback = reinterpret_cast<void (*)(void *, void *)>(args->callback);
  void *user = args->user_arg;
  as<Event>(args->event)->onReady(
      [callback, user](void *error) { callback(error, user); });
  return nullptr;
}
