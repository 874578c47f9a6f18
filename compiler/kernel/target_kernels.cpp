#include "compiler/kernel/target_kernels.h"

#include "dialect/dispatch/ops.h"
#include "dialect/plan/plan.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectInterface.h"

using namespace mlir;
using namespace alula::kernel;

namespace {
/// Plans are made kernels of by the targets that stand here.
class Registered : public DialectInterface::Base<Registered> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Registered)
  explicit Registered(Dialect *dialect) : Base(dialect) {}

  void add(StringRef kind, std::unique_ptr<TargetKernels> target) {
    targets.emplace_back(kind.str(), std::move(target));
  }

  const TargetKernels *find(StringRef kind) const {
    for (const auto &[name, target] : targets)
      if (kind.empty() || name == kind)
        return target.get();
    return nullptr;
  }

private:
  std::vector<std::pair<std::string, std::unique_ptr<TargetKernels>>> targets;
};
} // namespace

void alula::kernel::registerTargetKernels(
    DialectRegistry &registry, llvm::StringLiteral kind,
    std::unique_ptr<TargetKernels> (*create)()) {
  registry.addExtension(std::function<void(MLIRContext *, plan::PlanDialect *)>(
      [kind, create](MLIRContext *, plan::PlanDialect *dialect) {
        auto *registered = dialect->getRegisteredInterface<Registered>();
        if (!registered)
          registered = &dialect->addInterface<Registered>();
        registered->add(kind, create());
      }));
}

const TargetKernels *alula::kernel::findTargetKernels(Operation *op) {
  StringRef kind;
  for (Operation *at = op; at && kind.empty(); at = at->getParentOp())
    if (auto machine = at->getAttrOfType<dispatch::MachineAttr>(
            dispatch::machineAttributeName))
      kind = machine.getKind();
  auto *dialect = op->getContext()->getLoadedDialect<plan::PlanDialect>();
  auto *registered =
      dialect ? dialect->getRegisteredInterface<Registered>() : nullptr;
  const TargetKernels *found = registered ? registered->find(kind) : nullptr;
  if (!found)
    op->emitError() << "'" << op->getName().getStringRef()
                    << "': no target makes kernels for machines of kind '"
                    << kind << "'";
  return found;
}
