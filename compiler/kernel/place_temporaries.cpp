// Gives temporaries memory whose size only the host knows: one more result of
// each launch, which is dead afterwards.
//   memref.alloc(%n)  →  memref.view %temporaries[%offset][%n]
//   dispatch.launch … : tensor<?xf32>  →  (tensor<?xf32>, tensor<?xi8>)
// The host repeats the kernel's arithmetic on the numbers that it passes. Those
// of which each workgroup has its own (`kernel.private`) lie behind the others:
//   %offset = %others + %workgroup * %private + …

#include "compiler/kernel/launches.h"
#include "compiler/kernel/passes.h"
#include "compiler/kernel/repeat_arithmetic.h"
#include "dialect/dispatch/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

namespace alula::kernel {
#define GEN_PASS_DEF_PLACETEMPORARIES
#include "compiler/kernel/passes.h.inc"
} // namespace alula::kernel

using namespace mlir;
using alula::kernel::computeTemporaryBytes;
using namespace alula::dispatch;

namespace {
class TemporaryPlacer {
public:
  TemporaryPlacer(func::FuncOp kernel, EntryOp entry,
                  ArrayRef<LaunchOp> launches)
      : kernel(kernel), entry(entry), launches(launches) {}

  LogicalResult run() {
    kernel.walk([&](memref::AllocOp alloc) {
      if (!alloc.getType().hasStaticShape())
        allocs.push_back(alloc);
    });
    if (allocs.empty())
      return success();
    for (LaunchOp launch : launches)
      if (failed(extendLaunch(launch)))
        return failure();
    extendKernel();
    return success();
  }

private:
  LogicalResult extendLaunch(LaunchOp launch) {
    OpBuilder builder(launch);
    IRMapping mapping;
    auto numBindings = entry.getBindings().size();
    mapping.map(
        kernel.getArguments().slice(numBindings, launch.getConstants().size()),
        launch.getConstants());
    Value total;
    auto add = [&](Value bytes) {
      total = total
                  ? builder.create<arith::AddIOp>(launch.getLoc(), total, bytes)
                  : bytes;
    };
    Value workgroups;
    for (memref::AllocOp alloc : allocs) {
      SmallVector<Value> sizes;
      Value bytes = computeTemporaryBytes(alloc, builder, mapping, sizes);
      if (!bytes)
        return alloc.emitError()
               << "'memref.alloc': size of a temporary must follow from the "
                  "sizes of inputs and results: "
               << alloc.getType();
      if (isPrivate(alloc)) {
        if (!workgroups)
          workgroups = countWorkgroups(launch, builder);
        bytes =
            builder.create<arith::MulIOp>(launch.getLoc(), bytes, workgroups);
      }
      add(bytes);
    }
    SmallVector<Type> types(launch.getResultTypes());
    types.push_back(
        RankedTensorType::get({ShapedType::kDynamic}, builder.getI8Type()));
    SmallVector<Value> dims(launch.getResultDims());
    dims.push_back(total);
    DenseI64ArrayAttr inPlace = launch.getInPlaceAttr();
    if (inPlace) {
      SmallVector<int64_t> inputs(inPlace.asArrayRef());
      inputs.push_back(-1);
      inPlace = builder.getDenseI64ArrayAttr(inputs);
    }
    auto extended = builder.create<LaunchOp>(
        launch.getLoc(), types, launch.getEntryAttr(), launch.getInputs(),
        launch.getConstants(), launch.getWorkgroups(), dims, inPlace);
    launch->replaceAllUsesWith(
        extended.getResults().take_front(launch.getNumResults()));
    launch.erase();
    return success();
  }

  /// Whether each of several workgroups has its own.
  bool isPrivate(memref::AllocOp alloc) {
    return alloc->hasAttr(alula::kernel::privateName) &&
           kernel->hasAttr("kernel.workgroup");
  }

  Value countWorkgroups(LaunchOp launch, OpBuilder &builder) {
    if (!launch.getWorkgroups().empty())
      return launch.getWorkgroups().front();
    return builder.create<arith::ConstantIndexOp>(
        launch.getLoc(), entry.getWorkgroups().front());
  }

  void extendKernel() {
    OpBuilder builder = OpBuilder::atBlockBegin(&kernel.front());
    Location location = kernel.getLoc();
    auto numBindings = static_cast<unsigned>(entry.getBindings().size());
    IRMapping mapping;
    for (Value argument : kernel.getArguments().drop_front(numBindings))
      mapping.map(argument, argument);
    Value binding = kernel.front().insertArgument(
        numBindings, MemRefType::get({}, builder.getI8Type()), location);
    kernel.setType(
        builder.getFunctionType(kernel.front().getArgumentTypes(), {}));
    kernel->setAttr("kernel.bindings",
                    builder.getI64IntegerAttr(numBindings + 1));
    SmallVector<Attribute> accesses(entry.getBindings().getValue());
    accesses.push_back(AccessAttr::get(builder.getContext(), Access::Write));
    entry.setBindingsAttr(builder.getArrayAttr(accesses));

    SmallVector<Value> offsets;
    SmallVector<SmallVector<Value>> sizes(allocs.size());
    Value total = builder.create<arith::ConstantIndexOp>(location, 0);
    Value ofWorkgroup = total;
    for (auto [alloc, own] : llvm::zip_equal(allocs, sizes)) {
      Value &end = isPrivate(alloc) ? ofWorkgroup : total;
      offsets.push_back(end);
      Value bytes = computeTemporaryBytes(alloc, builder, mapping, own);
      end = builder.create<arith::AddIOp>(location, end, bytes);
    }
    if (llvm::any_of(allocs, [&](auto alloc) { return isPrivate(alloc); })) {
      // The number of the workgroup comes last.
      Value first = builder.create<arith::AddIOp>(
          location, total,
          builder.create<arith::MulIOp>(location, kernel.getArguments().back(),
                                        ofWorkgroup));
      for (auto [alloc, offset] : llvm::zip_equal(allocs, offsets))
        if (isPrivate(alloc))
          offset = builder.create<arith::AddIOp>(location, first, offset);
      total = builder.create<arith::AddIOp>(location, first, ofWorkgroup);
    }
    auto bytesType =
        MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
    Value memory = builder.create<memref::ReinterpretCastOp>(
        location, bytesType, binding, builder.getIndexAttr(0),
        ArrayRef<OpFoldResult>{total},
        ArrayRef<OpFoldResult>{builder.getIndexAttr(1)});
    for (auto [alloc, offset, own] : llvm::zip_equal(allocs, offsets, sizes)) {
      placePointers(alloc, binding, offset);
      // Identity layout, as the alloc's.
      Value view = builder.create<memref::ViewOp>(location, alloc.getType(),
                                                  memory, offset, own);
      alloc.replaceAllUsesWith(view);
    }
    // The first may be where the builder is.
    for (memref::AllocOp alloc : allocs)
      alloc.erase();
  }

  /// MLIR takes a view's pointer for that of its source.
  void placePointers(memref::AllocOp alloc, Value binding, Value offset) {
    kernel.walk([&](memref::ExtractAlignedPointerAsIndexOp pointer) {
      Value source = pointer.getSource();
      while (auto cast = source.getDefiningOp<memref::ReinterpretCastOp>())
        source = cast.getSource();
      if (source != alloc.getResult())
        return;
      OpBuilder builder(pointer);
      Location location = pointer.getLoc();
      Value base = builder.create<memref::ExtractAlignedPointerAsIndexOp>(
          location, binding);
      Value moved = builder.create<arith::AddIOp>(location, base, offset);
      pointer.replaceAllUsesWith(moved);
      pointer.erase();
    });
  }

  func::FuncOp kernel;
  EntryOp entry;
  ArrayRef<LaunchOp> launches;
  SmallVector<memref::AllocOp> allocs;
};

struct PlaceTemporaries
    : public alula::kernel::impl::PlaceTemporariesBase<PlaceTemporaries> {
  void runOnOperation() override {
    alula::kernel::Launches launches(getOperation());
    for (auto executable : getOperation().getOps<ExecutableOp>())
      for (auto entry : executable.getBody().getOps<EntryOp>()) {
        auto kernel = executable.getInnerModule().lookupSymbol<func::FuncOp>(
            entry.getSymName());
        if (kernel &&
            failed(TemporaryPlacer(kernel, entry, launches.of(entry)).run()))
          return signalPassFailure();
      }
  }
};
} // namespace
