#pragma once

#include "pjrt/test_client.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <set>

// A client that calls functions with structs of the size that we know, of a
// newer client's and of older ones'.

namespace alula::pjrt_test {

inline constexpr unsigned char untouched = 0xAB;

/// What this test has called, for the last check.
inline std::set<void *> called;

template <typename Args> std::string invoke(void *slot, Args &args) {
  called.insert(slot);
  return call(slot, args);
}

/// A struct with bytes behind it that nobody may write.
template <typename Args> struct Guarded {
  Args args;
  unsigned char behind[64];

  explicit Guarded(const Args &given) : args(given) {
    memset(behind, untouched, sizeof behind);
  }
  /// Whether nothing was written from the given byte on.
  bool isWhole(size_t from) const {
    auto *bytes = reinterpret_cast<const unsigned char *>(this);
    for (size_t i = from; i < offsetof(Guarded, behind) + sizeof behind; ++i)
      if (bytes[i] != untouched)
        return false;
    return true;
  }
};

/// Calls a function that makes something, as a newer client does.
template <typename Args> void make(void *slot, Args &args) {
  Guarded<Args> longer(args);
  longer.args.struct_size = sizeof longer;
  EXPECT_EQ(invoke(slot, longer.args), "");
  EXPECT_TRUE(longer.isWhole(offsetof(Guarded<Args>, behind)));
  args = longer.args;
  args.struct_size = sizeof args;
}

/// Calls a function that only tells something: in our size, as a newer client
/// does, which must hear the same, and as older ones do.
template <typename Args> void ask(void *slot, Args &args) {
  Args newer = args;
  make(slot, newer);
  EXPECT_EQ(invoke(slot, args), "");
  EXPECT_EQ(memcmp(&newer, &args, sizeof args), 0);
  for (size_t size = 16; size < sizeof args; size += 8) {
    Guarded<Args> shorter(args);
    memset(reinterpret_cast<char *>(&shorter.args) + size, untouched,
           sizeof args - size);
    shorter.args.struct_size = size;
    invoke(slot, shorter.args);
    EXPECT_TRUE(shorter.isWhole(size)) << "of " << size;
  }
}

inline std::string getText(void *first, size_t size) {
  return {static_cast<const char *>(first), size};
}

#define SLOT(name) getApi().PJRT_##name
#define ARGS(name) auto name = ::alula::pjrt_test::make<PJRT_##name##_Args>()

class EverySlot : public testing::Test {
protected:
  void SetUp() override {
    ARGS(Device_DefaultMemory);
    Device_DefaultMemory.device = client.devices[0];
    ask(SLOT(Device_DefaultMemory), Device_DefaultMemory);
    memory = Device_DefaultMemory.memory;
  }

  void plugin();
  void errors();
  void events();
  void clients();
  void devices();
  void memories();
  void topologies();
  void executables();
  void runs();
  void buffers();
  void newBuffers();
  void transfers();
  void declined();

  /// [1, 2] from the host.
  void *upload() {
    return uploadWith(pjrt_test::make<PJRT_Client_BufferFromHostBuffer_Args>());
  }
  void *uploadWith(PJRT_Client_BufferFromHostBuffer_Args args) {
    args.client = client.handle;
    args.data = values;
    args.type = 11;
    args.dims = &size;
    args.num_dims = 1;
    args.memory = memory;
    make(SLOT(Client_BufferFromHostBuffer), args);
    wait(args.done_with_host_buffer);
    return args.buffer;
  }
  void wait(void *event) {
    ARGS(Event_Await);
    Event_Await.event = event;
    EXPECT_EQ(invoke(SLOT(Event_Await), Event_Await), "");
    dropEvent(event);
  }
  void dropEvent(void *event) {
    ARGS(Event_Destroy);
    Event_Destroy.event = event;
    make(SLOT(Event_Destroy), Event_Destroy);
  }
  void drop(void *buffer) {
    ARGS(Buffer_Destroy);
    Buffer_Destroy.buffer = buffer;
    make(SLOT(Buffer_Destroy), Buffer_Destroy);
  }
  /// The shape [2] of f32, in functions that all name it alike.
  template <typename Args> void setShape(Args &args) {
    args.client = client.handle;
    args.shape_dims = &size;
    args.shape_num_dims = 1;
    args.shape_element_type = 11;
    args.memory = memory;
  }

  Client client{2};
  void *memory = nullptr;
  float values[2] = {1, 2};
  int64_t size = 2;
};

} // namespace alula::pjrt_test
