#include "dialect/chlo/access.h"

#include "dialect/chlo/ops.h"

using namespace mlir;
using namespace mlir::chlo;
using stablehlo::AccessTableBuilder;
using stablehlo::Cost;
using stablehlo::Source;

namespace {
stablehlo::AccessInterface::Table makeTable() {
  using enum stablehlo::Access;
  AccessTableBuilder t;
  auto rest = AccessTableBuilder::rest;

  // Elementwise.
  t.add<ConjOp, SquareOp>({{Elementwise}}, Cost::Instruction);
  t.add<IsInfOp, IsNegInfOp, IsPosInfOp>({{Elementwise}}, Cost::Few);
  t.add<MulhiOp, NextAfterOp>({rest(Elementwise)}, Cost::Few);
  t.add<AcosOp, AcoshOp, AsinAcosKernelOp, AsinOp, AsinhOp, AtanOp, AtanhOp,
        BesselI1eOp, CoshOp, DigammaOp, ErfInvOp, ErfOp, ErfcOp, LgammaOp,
        PolygammaOp, SinhOp, TanOp, ZetaOp>({rest(Elementwise)},
                                            Cost::Function);
  t.add<ConstantOp>({});
  t.add<ConstantLikeOp>({{Unread}});

  // Operands are broadcast to the result's shape first.
  t.add<BroadcastComplexOp>({rest(Repeated)});
  t.add<BroadcastAddOp, BroadcastAndOp, BroadcastCompareOp, BroadcastMulOp,
        BroadcastOrOp, BroadcastSelectOp, BroadcastShiftLeftOp,
        BroadcastShiftRightArithmeticOp, BroadcastShiftRightLogicalOp,
        BroadcastSubOp, BroadcastXorOp>({rest(Repeated)}, Cost::Instruction);
  t.add<BroadcastMaxOp, BroadcastMinOp, BroadcastNextAfterOp>({rest(Repeated)},
                                                              Cost::Few);
  t.add<BroadcastDivOp, BroadcastRemOp>({rest(Repeated)}, Cost::Division);
  t.add<BroadcastAtan2Op, BroadcastPolygammaOp, BroadcastPowOp,
        BroadcastZetaOp>({rest(Repeated)}, Cost::Function);

  // Compound.
  t.add<RaggedDotOp>({{Contracted}, {Contracted}, {Whole}});
  t.add<TopKOp>({{Sorted}}, Cost::Function);
  t.add<ScanOp>({rest(Whole)}, Cost::None, Source::Regions);
  return t.take();
}
} // namespace

const stablehlo::AccessInterface::Table &chlo::getAccessTable() {
  static const stablehlo::AccessInterface::Table table = makeTable();
  return table;
}
