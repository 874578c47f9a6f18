#include "compiler/preprocess/envelope.h"

#include "compiler/preprocess/bytecode_check.h"
#include "compiler/preprocess/check_contract.h"
#include "compiler/preprocess/host_functions.h"
#include "compiler/preprocess/line_layout.h"
#include "compiler/preprocess/resource_data.h"

#include "dialect/newer/source.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <limits>

using namespace mlir;
using namespace alula::preprocess;
using alula::dispatch::ExecutableOp;

namespace {
constexpr StringLiteral protocolName = "dispatch.protocol";

/// Takes what MLIR says of a context instead of printing it.
class Listener {
public:
  explicit Listener(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          if (!first && diagnostic.getSeverity() == DiagnosticSeverity::Error) {
            location = diagnostic.getLocation();
            first = diagnostic.str();
          }
          return success();
        }) {}

  std::string getText() const { return first.value_or("no reason is known"); }
  /// Line and column in what was parsed.
  std::optional<std::pair<unsigned, unsigned>> getPlace() const {
    LocationAttr from = location;
    auto place =
        from ? from.findInstanceOf<FileLineColLoc>() : FileLineColLoc();
    if (!place)
      return std::nullopt;
    return std::pair(place.getLine(), place.getColumn());
  }

private:
  std::optional<std::string> first;
  LocationAttr location;
  ScopedDiagnosticHandler handler;
};

/// A line and its neighbours.
std::string quote(StringRef text, unsigned line) {
  std::string quoted;
  for (unsigned i = 1; !text.empty() && i <= line + 1; ++i) {
    auto [each, rest] = text.split('\n');
    if (i + 1 >= line)
      quoted += (std::to_string(i) + ": " + each.take_front(200) + "\n").str();
    text = rest;
  }
  return quoted;
}

Problem explainParse(StringRef reply, const Listener &listener) {
  Problem problem{"pre-parse", "", ""};
  std::string said = listener.getText();
  if (StringRef(said).contains("unregistered dialect") ||
      (StringRef(said).contains("not found for custom op") &&
       !StringRef(said).contains("Dialect `'"))) {
    problem.tag = "pre-unknown-dialect";
    said += "; a plugin may bring the dialect: --load-plugin";
  }
  // Bytecode has no lines.
  if (auto place = listener.getPlace(); place && place->first) {
    problem.text = "line " + std::to_string(place->first) + ", column " +
                   std::to_string(place->second) + " of its output: ";
    problem.details = quote(reply, place->first);
  }
  problem.text += said;
  StringRef start = reply.ltrim();
  if (start.starts_with("{") || start.starts_with("Usage") ||
      start.starts_with("usage") || start.starts_with("Traceback"))
    problem.text += "; it seems to print its log where the program belongs";
  return problem;
}

/// Entries and the module with their functions; code for a machine is made
/// later.
std::optional<Problem> checkExecutable(Operation *executable) {
  for (Region &region : executable->getRegions())
    for (Operation &op : region.getOps())
      if (!isa<alula::dispatch::EntryOp, ModuleOp>(op))
        return Problem{"pre-shape",
                       "an executable must hold entries and a module alone: "
                       "holds " +
                           op.getName().getStringRef().str(),
                       ""};
  return std::nullopt;
}

/// Exactly one executable, and beside it nothing but declarations.
std::optional<Problem> checkShape(ModuleOp envelope) {
  // It has not been verified yet.
  if (envelope->getNumRegions() != 1 || !envelope.getBodyRegion().hasOneBlock())
    return Problem{"pre-shape", "the module must have one block", ""};
  if (auto found = envelope->getAttrOfType<IntegerAttr>(protocolName);
      found && found.getValue() != protocol)
    return Problem{"pre-protocol",
                   "it speaks protocol " + debugString(found.getValue()) +
                       ", we " + std::to_string(protocol),
                   ""};
  unsigned count = 0;
  for (Operation &op : *envelope.getBody()) {
    auto function = dyn_cast<FunctionOpInterface>(op);
    if (isa<ExecutableOp>(op)) {
      if (auto problem = checkExecutable(&op))
        return problem;
      ++count;
    } else if (!function || op.getNumRegions() != 1 || !function.isExternal()) {
      return Problem{"pre-shape",
                     "the module must hold an executable alone: holds " +
                         op.getName().getStringRef().str(),
                     ""};
    }
  }
  if (count == 1)
    return std::nullopt;
  return Problem{"pre-shape",
                 "the module must hold one executable: holds " +
                     std::to_string(count),
                 ""};
}
} // namespace

OwningOpRef<ModuleOp> alula::preprocess::wrap(ExecutableOp executable) {
  auto program = executable->getParentOfType<ModuleOp>();
  OwningOpRef<ModuleOp> envelope = ModuleOp::create(program.getLoc());
  Builder b(executable.getContext());
  (*envelope)->setAttr(protocolName, b.getI64IntegerAttr(protocol));
  // One that is by itself already knows where it was.
  auto home = program->getAttrOfType<StringAttr>("dispatch.module");
  (*envelope)->setAttr("dispatch.module",
                       b.getStringAttr(program.getSymName().value_or(
                           home ? home.getValue() : "")));
  (*envelope)->setAttr("dispatch.compiler", b.getStringAttr("alula 0.1.0"));
  auto copy = cast<ExecutableOp>(executable->clone());
  // Or whoever drops what nobody uses drops it all.
  copy.removeSymVisibilityAttr();
  envelope->push_back(copy);
  return envelope;
}

ExecutableOp alula::preprocess::unwrap(ModuleOp envelope) {
  auto executables = envelope.getOps<ExecutableOp>();
  return llvm::hasSingleElement(executables) ? *executables.begin()
                                             : ExecutableOp();
}

std::string alula::preprocess::serialize(ModuleOp envelope, bool bytecode) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (bytecode) {
    // Memory has no end that writing could fail at.
    (void)writeBytecodeToFile(envelope, os);
    return text;
  }
  OpPrintingFlags flags;
  flags.enableDebugInfo();
  // What a user prints for himself may be short.
  flags.elideLargeElementsAttrs(std::numeric_limits<int64_t>::max());
  flags.elideLargeResourceString(std::numeric_limits<int64_t>::max());
  envelope->print(os, flags);
  os << "\n";
  return layOutShell(text);
}

std::optional<Problem>
alula::preprocess::checkEnvelope(ModuleOp envelope, const Contract &contract) {
  if (auto problem = checkShape(envelope))
    return problem;
  ExecutableOp executable = unwrap(envelope);
  // Before MLIR's verifier: ours names what was and what is.
  if (auto problem = compareShells(contract, readShell(executable)))
    return problem;
  if (auto problem = checkSizes(executable, contract))
    return problem;
  if (auto problem = findMissingData(envelope))
    return problem;
  {
    Listener listener(envelope.getContext());
    if (failed(verify(envelope)))
      return Problem{"pre-verify", listener.getText(), ""};
  }
  return compareBodies(contract, readContract(executable), executable);
}

Given alula::preprocess::give(ModuleOp envelope) {
  return {serialize(envelope, /*bytecode=*/false),
          serialize(envelope, /*bytecode=*/true)};
}

Reply alula::preprocess::checkReply(StringRef reply, const Given &given,
                                    const Contract &contract,
                                    const DialectRegistry &registry) {
  Reply checked;
  if (reply.trim().empty()) {
    checked.problem = Problem{"pre-empty", "it has printed nothing", ""};
    return checked;
  }
  if (reply == given.text || reply == given.bytecode)
    return checked;
  if (reply.starts_with("ML\xefR"))
    if (auto problem = checkBytecode(reply)) {
      checked.problem = Problem{"pre-parse", *problem, ""};
      return checked;
    }
  MLIRContext scratch(registry, MLIRContext::Threading::DISABLED);
  Listener listener(&scratch);
  auto envelope = newer::parseSource(reply, &scratch, "@" + contract.name,
                                     /*verifyAfterParse=*/false);
  if (!envelope) {
    checked.problem = explainParse(reply, listener);
    return checked;
  }
  checked.problem = checkEnvelope(*envelope, contract);
  if ((!checked.problem || checked.problem->mayGoOn) &&
      serialize(*envelope, false) != given.text)
    checked.bytes = serialize(*envelope, /*bytecode=*/true);
  return checked;
}

OwningOpRef<ModuleOp> alula::preprocess::readChecked(StringRef bytes,
                                                     MLIRContext *context,
                                                     StringRef name) {
  return parseSourceString<ModuleOp>(bytes, ParserConfig(context), name);
}
