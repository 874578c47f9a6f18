#include "compiler/driver/contexts.h"

#include "compiler/driver/registry.h"

#include "mlir/IR/DialectRegistry.h"

#include <algorithm>
#include <mutex>
#include <vector>

using namespace mlir;
using namespace alula::driver;

namespace {
constexpr size_t mostIdle = 4;
/// Some hundred small programs.
constexpr size_t mostBytes = size_t(1) << 20;

struct IdleContext {
  std::unique_ptr<MLIRContext> context;
  size_t seenBytes;
};

struct Pool {
  std::mutex mutex;
  std::vector<IdleContext> idle;
};

/// For ever: compilations may outlive static objects.
Pool &getPool() {
  static auto *const pool = new Pool;
  return *pool;
}
} // namespace

ContextLease::ContextLease() {
  Pool &pool = getPool();
  {
    std::lock_guard lock(pool.mutex);
    if (!pool.idle.empty()) {
      context = std::move(pool.idle.back().context);
      seenBytes = pool.idle.back().seenBytes;
      pool.idle.pop_back();
    }
  }
  if (context)
    return;
  DialectRegistry registry;
  registerDialects(registry);
  context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
}

ContextLease::~ContextLease() = default;

void ContextLease::giveBack(size_t bytes) {
  // Even the smallest program leaves types and names.
  constexpr size_t leastBytes = 4096;
  seenBytes += std::max(bytes, leastBytes);
  if (seenBytes > mostBytes)
    return;
  Pool &pool = getPool();
  std::lock_guard lock(pool.mutex);
  if (pool.idle.size() < mostIdle)
    pool.idle.push_back({std::move(context), seenBytes});
}
