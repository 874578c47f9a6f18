// From one sharding of an array to another: which collectives, of how many
// bytes, and building them.
#pragma once

#include "compiler/partition/rule.h"
#include "compiler/partition/spans.h"

#include "llvm/ADT/DenseMap.h"

#include <functional>
#include <map>

namespace alula::partition {

/// One step on the way; along `spans`.
struct ReshardStep {
  enum class Kind : uint8_t {
    KeepOnce,      ///< Zeros but on the first device: parts that add up.
    KeepPlace,     ///< `dim` is joined; each device has zeros around its piece.
    ReduceScatter, ///< Parts are combined, and `dim` is split.
    AllReduce,     ///< Parts are combined.
    Slice,         ///< `dim` is split; nothing moves.
    AllToAll,      ///< The minor end of `dim` goes to that of `other`.
    Permute,       ///< As many pieces as before, on other devices.
    AllGather,     ///< The minor end of `dim` is joined.
  };
  Kind kind;
  size_t dim = 0, other = 0;
  Spans spans;
  /// Behind the step.
  Sharding after;
};

/// The way that moves least.
llvm::SmallVector<ReshardStep> planReshard(mlir::RankedTensorType type,
                                           const Sharding &from,
                                           const Sharding &to);

/// Bytes of a piece.
int64_t getBytes(mlir::RankedTensorType type, const Sharding &sharding);
/// A message costs as much as so many bytes.
double getMessageCost();
/// What a device sends in a step, of pieces that are so large before.
int64_t getSentBytes(const ReshardStep &step, int64_t bytes);
/// What a device sends and receives, and something for each message.
double getCost(llvm::ArrayRef<ReshardStep> steps, mlir::RankedTensorType type,
               const Sharding &from);

/// Builds ops of the program of each device.
class ReshardBuilder {
public:
  /// Hears of each collective: its name, the bytes that a device sends, and how
  /// the array is split before and after, where it is all of one that moves.
  using Listener = std::function<void(llvm::StringRef, int64_t,
                                      const Sharding *, const Sharding *)>;

  ReshardBuilder(mlir::OpBuilder &builder, int64_t devices, Listener listener)
      : builder(builder), devices(devices), listener(std::move(listener)) {}

  mlir::Value build(mlir::Value piece, mlir::RankedTensorType type,
                    const Sharding &from, const Sharding &to, Reducer reducer);
  /// Where numbers of pieces are computed; they are there for all that follows.
  void setStart(mlir::Block *block);
  /// Which piece along `spans` is this device's: tensor<i32>.
  mlir::Value getShard(llvm::ArrayRef<Span> spans);
  /// Pieces go from some devices to others, numbered along `spans`; who
  /// receives nothing has zeros.
  mlir::Value send(mlir::Value piece, llvm::ArrayRef<Span> spans,
                   llvm::ArrayRef<std::pair<int64_t, int64_t>> pairs);
  /// What the first device has.
  mlir::Value broadcast(mlir::Value value);
  /// Along `dim` longer, by padding of any content, or shorter at the end.
  mlir::Value resize(mlir::Value piece, size_t dim, int64_t size);

private:
  mlir::Value build(const ReshardStep &step, mlir::Value piece,
                    mlir::RankedTensorType type, const Sharding &before,
                    Reducer reducer);
  mlir::Value keepOnce(const ReshardStep &step, mlir::Value piece);
  mlir::Value keepPlace(const ReshardStep &step, mlir::Value piece,
                        mlir::RankedTensorType local);
  mlir::Value reduce(const ReshardStep &step, mlir::Value piece,
                     Reducer reducer);
  mlir::Value scatter(const ReshardStep &step, mlir::Value piece,
                      mlir::RankedTensorType local, Reducer reducer);
  mlir::Value slice(const ReshardStep &step, mlir::Value piece,
                    mlir::RankedTensorType local);
  mlir::Value exchange(const ReshardStep &step, mlir::Value piece,
                       mlir::RankedTensorType local);
  mlir::Value permute(mlir::Value piece, const Sharding &before,
                      const Sharding &after);
  mlir::Value gather(const ReshardStep &step, mlir::Value piece,
                     mlir::RankedTensorType local);
  mlir::DenseIntElementsAttr makeGroups(llvm::ArrayRef<Span> spans);
  mlir::Attribute makeChannel();
  void buildRegion(mlir::Operation *op, mlir::Type element, Reducer reducer);

  mlir::OpBuilder &builder;
  int64_t devices;
  Listener listener;
  mlir::Block *start = nullptr;
  mlir::Operation *lastOfStart = nullptr;
  mlir::Value device;
  std::map<std::vector<std::pair<int64_t, int64_t>>, mlir::Value> shards;
};

} // namespace alula::partition
