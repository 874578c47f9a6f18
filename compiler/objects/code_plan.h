#pragma once

#include "compiler/objects/target_key.h"
#include "dialect/dispatch/ops.h"

#include "llvm/ADT/StringMap.h"

#include <array>
#include <functional>

namespace alula::objects {

/// Of the objects of `executable` those whose pattern says most of what `key`
/// is; none if no pattern fits. It is an error if two patterns fit alike.
mlir::FailureOr<llvm::SmallVector<dispatch::ObjectAttr>>
selectObjects(dispatch::ExecutableOp executable, const TargetKey &key);

/// Whether code for a target may call a function of this name: ours is linked.
using IsBuiltin =
    std::function<bool(const TargetKey &key, llvm::StringRef name)>;

/// How objects for a CPU take part in an image.
struct CpuPlan {
  llvm::SmallVector<dispatch::ObjectAttr> elf, bitcode;
  /// They have the entries: there is no need of bodies.
  bool replacesBodies = false;
  /// What global symbols of this executable are called in the image, where no
  /// two executables may have one of the same name.
  llvm::StringMap<std::string> names;
};

/// Checks `objects` against each other, the executable and the target; all that
/// is wrong is said at once.
mlir::FailureOr<CpuPlan>
planCpuCode(dispatch::ExecutableOp executable, const TargetKey &key,
            llvm::ArrayRef<dispatch::ObjectAttr> objects,
            const IsBuiltin &isBuiltin);

/// The text that has an executable's kernels.
struct PtxPlan {
  dispatch::ObjectAttr object;
  /// For each entry its name in the text and its block.
  llvm::SmallVector<std::string> names;
  llvm::SmallVector<std::array<int64_t, 3>> blocks;
};

/// The same for a GPU. `driver` is the version of CUDA that will load it, empty
/// if that is not known; `assembles` asks ptxas, if it is there.
mlir::FailureOr<PtxPlan>
planPtxCode(dispatch::ExecutableOp executable, const TargetKey &key,
            llvm::ArrayRef<dispatch::ObjectAttr> objects,
            llvm::StringRef driver, bool assembles);

/// What the manifest says of an object: "object mul.o sha256:3a… \"tool\"".
std::string describeOrigin(llvm::StringRef kind, dispatch::ObjectAttr object);

} // namespace alula::objects
