// What every driver's table promises: memory, order, events.

#include "runtime/capi/drivers.h"

#include <gtest/gtest.h>

#include <vector>

/// A test asks for more memory than there is.
extern "C" const char *__asan_default_options();
extern "C" const char *__asan_default_options() {
  return "allocator_may_return_null=1";
}
extern "C" const char *__tsan_default_options();
extern "C" const char *__tsan_default_options() {
  return "allocator_may_return_null=1";
}

namespace alula::runtime {
namespace {

class Drivers : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    const Driver *found;
    uint32_t ordinal;
    ASSERT_EQ(findDriver(GetParam(), &found, &ordinal), nullptr);
    instance = create<Instance>(found, Allocator(), uint32_t(2));
    ASSERT_EQ(startInstance(*instance), nullptr);
  }
  void TearDown() override { release(instance); }

  const Driver &driver() const { return *instance->driver; }
  uint8_t *allocate(uint64_t bytes) {
    return driver().allocate(instance->device, bytes);
  }

  Instance *instance = nullptr;
};
INSTANTIATE_TEST_SUITE_P(Device, Drivers,
                         testing::Values("cpu", "null", "afar", "cuda"),
                         [](const auto &info) { return info.param; });

TEST_P(Drivers, Memory) {
  uint8_t *large = allocate(100000), *none = allocate(0);
  ASSERT_NE(large, nullptr);
  EXPECT_NE(none, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(large) % memoryAlignment, 0u);
  EXPECT_EQ(allocate(uint64_t(1) << 50), nullptr);
  EXPECT_TRUE(driver().reaches(instance->device, large + 10, 90));
  int onStack = 0;
  EXPECT_EQ(driver().reaches(instance->device, &onStack, sizeof onStack),
            driver().sharesMemory);
  driver().release(instance->device, none, 0);
  driver().release(instance->device, large, 100000);
}

TEST_P(Drivers, CommandsRunInOrder) {
  StreamUse stream(*instance);
  ASSERT_EQ(stream.take(), nullptr);
  uint8_t *memory = allocate(64);
  std::vector<uint8_t> bytes(64);
  for (int turn = 0; turn < 300; ++turn) {
    driver().fill(stream.get(), memory, 0x0102030405060708, 8, 16);
    driver().fill(stream.get(), memory + 16, 0xAABBCCDD, 4, 8);
    driver().fill(stream.get(), memory + 24, 0xEEFF, 2, 6);
    driver().fill(stream.get(), memory + 30, uint64_t(turn), 1, 2);
    driver().writeWord(stream.get(), memory + 3, 2, 0x7777);
    driver().copy(stream.get(), memory + 1, memory, 32);
    // Nothing, anywhere.
    driver().copy(stream.get(), nullptr, nullptr, 0);
    driver().fill(stream.get(), nullptr, 1, 1, 0);
    uint64_t word = 0;
    ASSERT_EQ(driver().readWord(stream.get(), memory + 4, 2, &word), nullptr);
    ASSERT_EQ(word, 0x7777u);
    ASSERT_EQ(driver().readWord(stream.get(), memory + 32, 1, &word), nullptr);
    ASSERT_EQ(word, uint64_t(turn & 0xFF));
    ASSERT_EQ(driver().copyFrom(stream.get(), bytes.data(), memory, 33),
              nullptr);
    const uint8_t expected[] = {8, 8, 7, 6, 0x77, 0x77, 3, 2, 1, 8, 7, 6, 5};
    ASSERT_EQ(memcmp(bytes.data(), expected, sizeof expected), 0);
    ASSERT_EQ(bytes[17], 0xDD);
    ASSERT_EQ(bytes[25], 0xFF);
  }
  EXPECT_EQ(driver().synchronize(stream.get()), nullptr);
  driver().release(instance->device, memory, 64);
}

/// The host's bytes are its own again when a copy of them is encoded.
TEST_P(Drivers, CopyFromAnotherDevice) {
  if (!driver().copyFromDevice)
    GTEST_SKIP() << "its devices share the host's memory";
  Instance *other = create<Instance>(&driver(), Allocator(), *instance);
  ASSERT_EQ(startInstance(*other), nullptr);
  uint8_t *from = driver().allocate(other->device, 8), *to = allocate(16);
  uint64_t seen = 0;
  {
    StreamUse there(*other), here(*instance);
    ASSERT_EQ(there.take(), nullptr);
    ASSERT_EQ(here.take(), nullptr);
    ASSERT_EQ(driver().writeWord(there.get(), from, 8, 1234567890123), nullptr);
    ASSERT_EQ(driver().synchronize(there.get()), nullptr);
    ASSERT_EQ(
        driver().copyFromDevice(here.get(), to + 8, other->device, from, 8),
        nullptr);
    ASSERT_EQ(driver().readWord(here.get(), to + 8, 8, &seen), nullptr);
  }
  EXPECT_EQ(seen, 1234567890123u);
  driver().release(other->device, from, 8);
  driver().release(instance->device, to, 16);
  release(other);
}

TEST_P(Drivers, WhatIsCopiedMayChange) {
  StreamUse stream(*instance);
  ASSERT_EQ(stream.take(), nullptr);
  for (uint32_t size : {8u, 4096u, 4097u, 200000u}) {
    uint8_t *memory = allocate(size);
    std::vector<uint8_t> from(size, 3), to(size);
    for (int turn = 0; turn < 20; ++turn) {
      std::fill(from.begin(), from.end(), uint8_t(turn));
      driver().copyTo(stream.get(), memory, from.data(), size);
      std::fill(from.begin(), from.end(), uint8_t(99));
      driver().copyFrom(stream.get(), to.data(), memory, size);
      ASSERT_EQ(to, std::vector<uint8_t>(size, uint8_t(turn)));
    }
    driver().release(instance->device, memory, size);
  }
}

/// Two streams take turns by events alone.
TEST_P(Drivers, EventsOrderStreams) {
  StreamUse first(*instance), second(*instance);
  ASSERT_EQ(first.take(), nullptr);
  ASSERT_EQ(second.take(), nullptr);
  Event *ping, *pong;
  ASSERT_EQ(driver().createEvent(instance->device, &ping), nullptr);
  ASSERT_EQ(driver().createEvent(instance->device, &pong), nullptr);
  EXPECT_TRUE(driver().hasHappened(ping));
  driver().waitForEvent(ping);
  uint8_t *memory = allocate(16);
  driver().fill(first.get(), memory, 0, 1, 16);
  for (uint64_t turn = 1; turn <= 200; ++turn) {
    driver().waitInStream(first.get(), pong);
    driver().writeWord(first.get(), memory, 8, turn);
    driver().record(first.get(), ping);
    driver().waitInStream(second.get(), ping);
    driver().copy(second.get(), memory + 8, memory, 8);
    driver().record(second.get(), pong);
  }
  driver().waitForEvent(pong);
  EXPECT_TRUE(driver().hasHappened(ping));
  uint64_t word = 0;
  driver().readWord(first.get(), memory + 8, 8, &word);
  EXPECT_EQ(word, 200u);
  driver().synchronize(second.get());
  driver().destroyEvent(ping);
  driver().destroyEvent(pong);
  driver().release(instance->device, memory, 16);
}

/// What was released is not given out again at once.
TEST(AfarMemory, AddressesAreNotUsedAgain) {
  Instance *instance =
      create<Instance>(&afarDriver, Allocator(), uint32_t(1));
  ASSERT_EQ(startInstance(*instance), nullptr);
  const Driver &driver = *instance->driver;
  uint8_t *last = nullptr;
  for (int i = 0; i < 1000; ++i) {
    uint8_t *memory = driver.allocate(instance->device, 1000);
    EXPECT_GT(memory, last);
    EXPECT_FALSE(last && driver.reaches(instance->device, last, 1));
    last = memory;
    driver.release(instance->device, memory, 1000);
  }
  release(instance);
}

} // namespace
} // namespace alula::runtime
