// Facts of machines as an attribute.

#include "dialect/dispatch/machine.h"

#include "dialect/dispatch/machine_check.h"
#include "dialect/dispatch/ops.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace alula::dispatch;

llvm::ArrayRef<MachineFact> alula::dispatch::getMachineFacts() {
  using F = MachineFacts;
  constexpr int64_t many = int64_t(1) << 31, bytes = int64_t(1) << 40;
  static constexpr MachineFact facts[] = {
      {"index_bits", &F::indexBits, false, 16, 64, true},
      {"cores", &F::cores, false, 1, many},
      {"memory_cores", &F::memoryCores, false, 1, many},
      {"l1_bytes", &F::l1Bytes, false, 0, bytes},
      {"l2_bytes", &F::l2Bytes, false, 0, bytes},
      {"l3_bytes", &F::l3Bytes, false, 0, bytes},
      {"line_bytes", &F::lineBytes, false, 4, 4096, true},
      {"lanes", &F::lanes, false, 1, 1024, true},
      {"panel_bytes", &F::panelBytes, false, 0, 4096, true},
      {"block_rows", &F::blockRows, false, 16, many},
      {"block_columns", &F::blockColumns, false, 16, many},
      {"shared_bytes", &F::sharedBytes, false, 0, bytes},
      {"block_threads", &F::blockThreads, false, 1, many},
      {"attention_head", &F::attentionHead, false, 0, 4096},
      {"launch_steps", &F::launchSteps, false, 0, bytes},
      {"workgroup_steps", &F::workgroupSteps, false, 1, bytes},
      {"call_steps", &F::callSteps, false, 1, bytes},
      {"kernel_ops", &F::kernelOps, false, 1, many},
      {"alignment", &F::alignment, false, 1, 4096, true},
      {"vector_bytes", &F::vectorBytes, true, 0, 4096, true},
      {"vector_registers", &F::vectorRegisters, true, 0, 1024},
      {"bf16_dot", &F::bf16Dot, true, 0, 1},
      {"int8_dot", &F::int8Dot, true, 0, 1},
  };
  return facts;
}

const MachineFact *alula::dispatch::findMachineFact(StringRef name) {
  for (const MachineFact &fact : getMachineFacts())
    if (fact.name == name)
      return &fact;
  return nullptr;
}

llvm::hash_code alula::dispatch::hash_value(const MachineFacts &facts) {
  llvm::hash_code code = 0;
  for (const MachineFact &fact : getMachineFacts())
    code = llvm::hash_combine(code, facts.*fact.member);
  return code;
}

bool alula::dispatch::isSameKind(const MachineFacts &a, const MachineFacts &b) {
  return llvm::all_of(getMachineFacts(), [&](const MachineFact &fact) {
    return fact.isOfLevel || a.*fact.member == b.*fact.member;
  });
}

MachineFacts alula::dispatch::meet(const MachineFacts &a,
                                   const MachineFacts &b) {
  MachineFacts both = a;
  for (const MachineFact &fact : getMachineFacts())
    if (fact.isOfLevel)
      both.*fact.member = std::min(a.*fact.member, b.*fact.member);
  return both;
}

MachineFacts alula::dispatch::getMachine(Operation *op) {
  for (Operation *at = op; at; at = at->getParentOp())
    if (auto machine = at->getAttrOfType<MachineAttr>(machineAttributeName))
      return machine.getFacts();
  auto *dialect = op->getContext()->getLoadedDialect<DispatchDialect>();
  return dialect->getDefaultMachine();
}

const MachineFacts &DispatchDialect::getDefaultMachine() const {
  if (!defaultMachine)
    llvm::report_fatal_error("no machine: neither the module nor the context "
                             "says what to compile for");
  return *defaultMachine;
}

std::optional<std::string>
alula::dispatch::findProblem(const MachineFacts &facts) {
  for (const MachineFact &fact : getMachineFacts()) {
    int64_t value = facts.*fact.member;
    if (value < fact.least || value > fact.most)
      return (fact.name + " must be from " + Twine(fact.least) + " to " +
              Twine(fact.most) + ": is " + Twine(value))
          .str();
    if (fact.isPowerOf2 && value && !llvm::isPowerOf2_64(uint64_t(value)))
      return (fact.name + " must be a power of two: is " + Twine(value)).str();
  }
  return std::nullopt;
}

LogicalResult
MachineAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                    StringRef kind, MachineFacts facts) {
  assert(!kind.empty() && "text without a kind is not parsed");
  if (auto problem = findProblem(facts))
    return emitError() << "'#dispatch.machine': " << *problem;
  return success();
}

// `<cpu, cores = 16, …>`; facts that are left out are the default machine's.
Attribute MachineAttr::parse(AsmParser &parser, Type) {
  SMLoc place = parser.getCurrentLocation();
  StringRef kind;
  if (parser.parseLess() || parser.parseKeyword(&kind))
    return {};
  auto *dialect = parser.getContext()->getOrLoadDialect<DispatchDialect>();
  MachineFacts facts = dialect->getDefaultMachine();
  llvm::SmallVector<const MachineFact *> seen;
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc at = parser.getCurrentLocation();
    StringRef name;
    int64_t value = 0;
    if (parser.parseKeyword(&name))
      return {};
    const MachineFact *fact = findMachineFact(name);
    if (!fact)
      return parser.emitError(at)
                 << "'#dispatch.machine': no such fact: " << name
                 << "; there are "
                 << llvm::join(llvm::map_range(getMachineFacts(),
                                               [](const MachineFact &each) {
                                                 return each.name.str();
                                               }),
                               ", "),
             Attribute();
    if (llvm::is_contained(seen, fact))
      return parser.emitError(at)
                 << "'#dispatch.machine': a fact must be said once: " << name,
             Attribute();
    seen.push_back(fact);
    if (parser.parseEqual() || parser.parseInteger(value))
      return {};
    facts.*fact->member = value;
  }
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(place); },
                    parser.getContext(), kind, facts);
}

void MachineAttr::print(AsmPrinter &printer) const {
  printer << "<" << getKind();
  for (const MachineFact &fact : getMachineFacts())
    printer << ", " << fact.name << " = " << getFacts().*fact.member;
  printer << ">";
}

LogicalResult
DispatchDialect::verifyOperationAttribute(Operation *op,
                                          NamedAttribute attribute) {
  if (attribute.getName() != machineAttributeName)
    return success();
  if (!isa<ModuleOp>(op) || !isa<MachineAttr>(attribute.getValue()))
    return op->emitError() << "'" << machineAttributeName
                           << "': must be a #dispatch.machine on a module";
  return success();
}
