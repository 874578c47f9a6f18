// Kernels of tests of the emulator, and what runs them.

#pragma once

#include "runtime/device/cuda/emulator/machine.h"

#include <cstring>
#include <gtest/gtest.h>
#include <string>

namespace alula::ptx {

/// Memory of a test: one allocation.
struct Memory {
  std::vector<uint32_t> words;
  explicit Memory(size_t count) : words(count) {}
  uint64_t address() { return reinterpret_cast<uint64_t>(words.data()); }
  MemoryMap map() {
    return {this,
            [](void *user, uint64_t address, uint64_t *begin, uint64_t *end) {
              auto &mine = *static_cast<Memory *>(user);
              *begin = mine.address();
              *end = *begin + mine.words.size() * 4;
              return address >= *begin && address < *end;
            }};
  }
};

struct Shape {
  uint32_t grid = 1, block = 32, shared = 0;
};

inline Fault run(const std::string &body, Memory &memory, Shape shape = {}) {
  std::string text = ".version 7.0\n.target sm_80\n.address_size 64\n"
                     ".extern .shared .align 16 .b8 dynamic[];\n" +
                     body;
  std::string error;
  auto module = parseModule(text, error);
  if (!module)
    return {FaultKind::invalid, error};
  uint64_t parameters[4] = {memory.address(), memory.words.size()};
  Launch launch;
  launch.module = module.get();
  launch.kernel = &module->kernels.begin()->second;
  launch.grid[0] = shape.grid;
  launch.block[0] = shape.block;
  launch.sharedBytes = shape.shared;
  launch.parameters = reinterpret_cast<uint8_t *>(parameters);
  launch.memory = memory.map();
  launch.limit = 1 << 22;
  return runLaunch(launch);
}

/// Wraps statements that have %out, the address of this thread's word, and %t,
/// the number of the thread.
inline std::string kernel(const std::string &statements) {
  return ".visible .entry k(.param .u64 out)\n{\n"
         ".reg .pred %p<16>;\n.reg .b16 %h<16>;\n.reg .b32 %r<64>;\n"
         ".reg .b64 %rd<32>;\n.reg .f32 %f<32>;\n.reg .f64 %d<16>;\n"
         ".reg .b64 %out, %base;\n.reg .b32 %t;\n"
         ".shared .align 16 .b8 tile[8192];\n"
         "ld.param.u64 %base, [out];\nmov.u32 %t, %tid.x;\n"
         "mov.u32 %r60, %ctaid.x;\nmov.u32 %r61, %ntid.x;\n"
         "mad.lo.u32 %r62, %r60, %r61, %t;\n"
         "mul.wide.u32 %out, %r62, 4;\nadd.s64 %out, %base, %out;\n" +
         statements + "\nret;\n}\n";
}

/// A text that is right, and what is wrong when one place in it is changed.
struct Mistake {
  const char *what;
  std::string (*attempt)(const std::string &);
  const char *statements, *from, *to, *found;
  int which = 0; ///< of several places with this text
};

inline std::string change(const Mistake &mistake) {
  std::string text = mistake.statements;
  size_t at = text.find(mistake.from);
  for (int i = 0; i < mistake.which; ++i)
    at = text.find(mistake.from, at + 1);
  EXPECT_NE(at, text.npos) << mistake.what;
  return text.replace(at, strlen(mistake.from), mistake.to);
}

} // namespace alula::ptx
