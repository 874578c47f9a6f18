// Asynchronous calls and copies: one thread of the instance runs them in order.

#include "runtime/invoke/call.h"

#include "runtime/executable/buffer.h"
#include "runtime/invoke/copy.h"

#include <pthread.h>

struct alula_event {
  std::atomic<uint32_t> users;
  alula::runtime::Mutex mutex;
  alula::runtime::Condition changed;
  bool isDone;
  alula_error *error;
  void (*done)(void *user);
  void *user;
};

namespace alula::runtime {

/// A call, or a copy if there is no executable.
struct Job {
  Job *next;
  CallRequest request;
  CopyRequest copy;
  alula_event *event;
  /// The arguments, or the buffers of the copy; what the caller wants to
  /// donate.
  Array<alula_buffer *> arguments;
  Array<uint8_t> donate;
};

struct CallQueue {
  Mutex mutex;
  Condition changed;
  Job *first, **last;
  bool isStopping;
  /// The thread is not joined: it cleans up itself.
  bool isOrphan;
  pthread_t thread;
};

static void releaseEvent(alula_event *event) {
  if (event->users.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  alula_error_destroy(event->error);
  destroy(event);
}

static void destroyJob(Job *job) {
  for (alula_buffer *argument : job->arguments)
    alula_buffer_release(argument);
  destroy(job);
}

static void runJob(Job *job) {
  Status status =
      job->request.executable ? runCall(job->request) : runCopy(job->copy);
  alula_event *event = job->event;
  // Before anybody can know that the call has ended, and destroy the instance
  // with this very thread.
  destroyJob(job);
  event->mutex.lock();
  event->error = status;
  event->isDone = true;
  void (*done)(void *) = event->done;
  event->changed.notifyAll();
  event->mutex.unlock();
  if (done)
    done(event->user);
  releaseEvent(event);
}

static void *runQueue(void *argument) {
  auto *queue = static_cast<CallQueue *>(argument);
  while (true) {
    Job *job;
    {
      Lock lock(queue->mutex);
      while (!queue->first && !queue->isStopping)
        queue->changed.wait(queue->mutex);
      job = queue->first;
      if (!job)
        break;
      queue->first = job->next;
      if (!queue->first)
        queue->last = &queue->first;
    }
    runJob(job);
  }
  if (queue->isOrphan)
    destroy(queue);
  return nullptr;
}

static void destroyQueue(CallQueue *queue) {
  {
    Lock lock(queue->mutex);
    queue->isStopping = true;
    queue->changed.notifyAll();
  }
  // The last reference to the instance may go in a callback on the thread
  // itself.
  if (pthread_equal(pthread_self(), queue->thread)) {
    queue->isOrphan = true;
    pthread_detach(queue->thread);
    return;
  }
  pthread_join(queue->thread, nullptr);
  destroy(queue);
}

static Status getQueue(Instance *instance, CallQueue **result) {
  Lock lock(instance->queueMutex);
  if (!instance->queue) {
    auto *queue = create<CallQueue>();
    if (!queue)
      return makeOutOfMemory("a queue", sizeof(CallQueue));
    queue->last = &queue->first;
    if (pthread_create(&queue->thread, nullptr, runQueue, queue) != 0) {
      destroy(queue);
      return makeError(ALULA_STATUS_RESOURCE_EXHAUSTED,
                       "can't start a thread for asynchronous calls");
    }
    instance->queue = queue;
    instance->destroyQueue = destroyQueue;
  }
  *result = instance->queue;
  return nullptr;
}

/// Makes a job with an event that keeps these buffers alive.
static Status makeJob(alula_buffer *const *buffers, size_t count,
                      const uint8_t *donate, Job **result) {
  auto *job = create<Job>();
  auto *event = create<alula_event>();
  if (!job || !event || !job->arguments.resize(count) ||
      (donate && !job->donate.resize(count))) {
    destroy(job);
    destroy(event);
    return makeOutOfMemory("an asynchronous call", sizeof(Job));
  }
  for (size_t i = 0; i < count; ++i) {
    job->arguments[i] = buffers[i];
    alula_buffer_retain(job->arguments[i]);
    if (donate)
      job->donate[i] = donate[i];
  }
  event->users.store(2, std::memory_order_relaxed);
  job->event = event;
  *result = job;
  return nullptr;
}

static void enqueue(CallQueue &queue, Job *job) {
  Lock lock(queue.mutex);
  *queue.last = job;
  queue.last = &job->next;
  queue.changed.notifyAll();
}

Status runCopyLater(const CopyRequest &request, alula_event **event) {
  CallQueue *queue = nullptr;
  Job *job = nullptr;
  alula_buffer *buffers[] = {request.to, request.from};
  ALULA_TRY(
      getQueue((request.to ? request.to : request.from)->instance, &queue));
  ALULA_TRY(makeJob(buffers, 2, nullptr, &job));
  job->copy = request;
  *event = job->event;
  enqueue(*queue, job);
  return nullptr;
}

} // namespace alula::runtime

using namespace alula::runtime;

alula_error *alula_call_async(alula_executable *executable, uint32_t function,
                              const alula_call_options *options,
                              alula_buffer *const *arguments,
                              size_t argumentCount, alula_buffer **results,
                              size_t resultCount, alula_event **event) {
  if (!executable || !event)
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "alula_call_async: executable or event is null");
  CallRequest request = {executable,    function, {},         arguments,
                         argumentCount, results,  resultCount};
  if (options)
    memcpy(&request.options, options,
           options->struct_bytes < sizeof request.options
               ? options->struct_bytes
               : sizeof request.options);
  CallQueue *queue = nullptr;
  Job *job = nullptr;
  ALULA_TRY(getQueue(executable->instance, &queue));
  ALULA_TRY(makeJob(arguments, arguments ? argumentCount : 0,
                    request.options.donate, &job));
  job->request = request;
  job->request.arguments = job->arguments.data();
  if (request.options.donate)
    job->request.options.donate = job->donate.data();
  *event = job->event;
  enqueue(*queue, job);
  return nullptr;
}

int alula_event_is_done(alula_event *event) {
  if (!event)
    return 1;
  Lock lock(event->mutex);
  return event->isDone;
}

alula_error *alula_event_wait(alula_event *event) {
  if (!event)
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "alula_event_wait: the event is null");
  Lock lock(event->mutex);
  while (!event->isDone)
    event->changed.wait(event->mutex);
  alula_error *error = event->error;
  event->error = nullptr;
  return error;
}

void alula_event_on_done(alula_event *event, void (*done)(void *user),
                         void *user) {
  if (!event || !done)
    return;
  event->mutex.lock();
  bool isDone = event->isDone;
  event->done = done;
  event->user = user;
  event->mutex.unlock();
  if (isDone)
    done(user);
}

void alula_event_destroy(alula_event *event) {
  if (event)
    releaseEvent(event);
}
