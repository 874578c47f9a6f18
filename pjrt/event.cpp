#include "pjrt/event.h"
#include "pjrt/functions.h"

using namespace alula::pjrt;

void Event::finish(std::unique_ptr<Error> why) { tryFinish(std::move(why)); }

bool Event::tryFinish(std::unique_ptr<Error> why) {
  std::vector<std::function<void(const Error *)>> waiting;
  {
    std::lock_guard lock(mutex);
    if (isDone())
      return false;
    error = std::move(why);
    done.store(true, std::memory_order_release);
    waiting.swap(callbacks);
    // With the lock held: a waiter may destroy the event once it has it.
    changed.notify_all();
  }
  for (auto &callback : waiting)
    callback(error.get());
  return true;
}

const Error *Event::wait() {
  if (!isDone()) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return isDone(); });
  }
  return error.get();
}

void Event::onReady(std::function<void(const Error *)> callback) {
  if (!isDone()) {
    std::lock_guard lock(mutex);
    if (!isDone()) {
      callbacks.push_back(std::move(callback));
      return;
    }
  }
  callback(error.get());
}

Ref<Event> alula::pjrt::getReadyEvent() {
  static Event *const event = [] {
    auto *made = new Event;
    made->finish();
    return made;
  }();
  return share(event);
}

void *alula::pjrt::Event_Destroy(PJRT_Event_Destroy_Args *args) {
  // Null is fine, as for free().
  Ref<Event> event(as<Event>(take(args, &ALULA_ARGS::event)));
  return nullptr;
}

void *alula::pjrt::Event_IsReady(PJRT_Event_IsReady_Args *args) {
  ALULA_TAKE(Event, event);
  put(args, &ALULA_ARGS::is_ready, event->isDone());
  return nullptr;
}

void *alula::pjrt::Event_Error(PJRT_Event_Error_Args *args) {
  ALULA_TAKE(Event, event);
  return copyError(event->wait());
}

void *alula::pjrt::Event_Await(PJRT_Event_Await_Args *args) {
  ALULA_TAKE(Event, event);
  return copyError(event->wait());
}

void *alula::pjrt::Event_OnReady(PJRT_Event_OnReady_Args *args) {
  ALULA_TAKE(Event, event);
  ALULA_TAKE(void, callback);
  auto call = reinterpret_cast<void (*)(void *, void *)>(callback);
  void *user = take(args, &ALULA_ARGS::user_arg);
  event->onReady(
      [call, user](const Error *error) { call(copyError(error), user); });
  return nullptr;
}

void *alula::pjrt::Event_Create(PJRT_Event_Create_Args *args) {
  if (hasField(args, &ALULA_ARGS::event))
    put(args, &ALULA_ARGS::event, make<Event>().leak());
  return nullptr;
}

void *alula::pjrt::Event_Set(PJRT_Event_Set_Args *args) {
  ALULA_TAKE(Event, event);
  uint32_t code = take(args, &ALULA_ARGS::error_code);
  std::unique_ptr<Error> error;
  if (code)
    error = std::make_unique<Error>(
        readError(code, take(args, &ALULA_ARGS::error_message),
                  take(args, &ALULA_ARGS::error_message_size)));
  if (event->tryFinish(std::move(error)))
    return nullptr;
  return makeError(ALULA_STATUS_FAILED_PRECONDITION,
                   "alula: the event has happened already");
}
