// Messages between processes, and the transport that carries them: all that is
// asked of a communication library.

#pragma once

#include "alula/collectives.h"

#include <memory>
#include <string>

namespace alula::collectives {

enum class MessageKind : uint32_t {
  /// Payload: who the process is, for people.
  identity,
  /// A call begins; `group` is its program, `sequence` its number.
  hello,
  /// What one process gives another in a collective.
  data,
  /// Payload: why the calls of a rendezvous can't go on.
  abort,
  /// To be answered by `flushed`: all that was sent before has come.
  flush,
  flushed,
};

constexpr uint32_t messageMagic = 0x43554C41;

struct Header {
  uint32_t magic = messageMagic;
  MessageKind kind = MessageKind::identity;
  /// Of the message, this included.
  uint64_t bytes = 0;
  /// The rendezvous: collectives of the same participants and name are one
  /// channel, and have numbers there.
  uint64_t channel = 0, ordinal = 0;
  /// The group, and which of its collectives.
  uint64_t group = 0, sequence = 0;
  uint32_t phase = 0;
  uint32_t collective = 0, reduction = 0, dtype = 0, number = 0, shown = 0;
  uint64_t count = 0;
};
static_assert(sizeof(Header) == 80);

/// A header and a payload in one piece of memory.
class Message {
public:
  Message() = default;
  Message(const Header &header, size_t payloadBytes)
      : memory(std::make_unique_for_overwrite<uint8_t[]>(sizeof(Header) +
                                                         payloadBytes)),
        size(sizeof(Header) + payloadBytes) {
    getHeader() = header;
    getHeader().bytes = size;
  }

  explicit operator bool() const { return memory != nullptr; }
  uint8_t *getData() const { return memory.get(); }
  size_t getBytes() const { return size; }
  Header &getHeader() const {
    return *reinterpret_cast<Header *>(memory.get());
  }
  uint8_t *getPayload() const { return memory.get() + sizeof(Header); }
  size_t getPayloadBytes() const { return size - sizeof(Header); }
  std::string getText() const {
    return {reinterpret_cast<const char *>(getPayload()), getPayloadBytes()};
  }

private:
  std::unique_ptr<uint8_t[]> memory;
  size_t size = 0;
};

/// Who is told of messages, by threads of the link.
class Receiver {
public:
  virtual void deliver(uint32_t process, Message message) = 0;
  /// Nothing will come from a process any more.
  virtual void lose(uint32_t process, const std::string &reason) = 0;

protected:
  ~Receiver() = default;
};

/// Carries messages, those from one process to another in order.
class Link {
public:
  virtual ~Link() = default;
  virtual uint32_t getNumber() const = 0;
  virtual uint32_t getCount() const = 0;
  virtual void start(Receiver &receiver) = 0;
  /// Returns at once; any thread. What can't be sent is dropped: the receiver
  /// is told that the process is lost.
  virtual void send(uint32_t process, Message message) = 0;
  /// Whether `close` is for all at once: nobody answers afterwards, and nobody
  /// is told.
  virtual bool endsTogether() const { return false; }
  /// Ends all threads. `isGood`: all that was sent has come.
  virtual void close(bool isGood) = 0;
};

struct Failure {
  alula_status_code code = ALULA_STATUS_OK;
  std::string message;
};

/// Null, and why. Waits until the other processes can be sent to, no longer
/// than the connection's timeout.
using OpenLink = std::unique_ptr<Link> (*)(
    const alula_collective_connection &connection, Failure &failure);

/// Whether a runtime of this version of the interface gives all that engines
/// read.
inline bool serves(uint16_t major, uint16_t minor) {
  return major == ALULA_COLLECTIVES_ABI_MAJOR && minor >= 1;
}

/// The functions of an engine that are the same for all links.
alula_collective_engine makeEngine(const char *name);
/// The rest: `connect` of an engine.
alula_error *connectProcesses(OpenLink open,
                              const alula_collective_connection *connection,
                              alula_collective_world **world, uint32_t *number,
                              uint32_t *count);

} // namespace alula::collectives
