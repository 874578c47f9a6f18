#include "tools/interpret/session.h"

#include "compiler/driver/program.h"
#include "compiler/driver/registry.h"
#include "reference/check/dialect.h"
#include "reference/interpreter.h"
#include "tools/interpret/tensor_value.h"
#include "tools/values/compare.h"
#include "tools/values/text.h"
#include "tools/values/value_io.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <condition_variable>
#include <mutex>
#include <thread>

using namespace mlir;

namespace alula::interpret {
namespace {

using reference::Tensor;
using TensorValue = reference::Value;

/// The reference speaks stablehlo: what else a program may say is put into it.
std::string findNeededPasses(ModuleOp module) {
  bool chlo = false, deprecated = false, sparse = false;
  auto look = [&](TypeRange types) {
    for (Type type : types)
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        sparse |=
            tensor.getEncoding() &&
            tensor.getEncoding().getDialect().getNamespace() == "sparse_tensor";
  };
  module.walk([&](Operation *op) {
    llvm::StringRef name = op->getName().getStringRef();
    chlo |= name.starts_with("chlo.");
    deprecated |=
        name == "stablehlo.einsum" || name == "stablehlo.unary_einsum";
    look(op->getOperandTypes());
    look(op->getResultTypes());
  });
  SmallVector<llvm::StringRef> passes;
  if (sparse)
    passes.push_back("input-lower-sparse");
  if (chlo)
    passes.push_back("input-convert-chlo-to-stablehlo");
  if (deprecated)
    passes.push_back("input-lower-deprecated");
  return llvm::join(passes, ",");
}

/// Sets a flag when the time is over.
class Timer {
public:
  explicit Timer(double seconds) {
    if (seconds <= 0)
      return;
    thread = std::thread([this, seconds] {
      std::unique_lock<std::mutex> lock(mutex);
      if (!changed.wait_for(lock, std::chrono::duration<double>(seconds),
                            [&] { return stopped; }))
        expired = true;
    });
  }
  ~Timer() {
    if (!thread.joinable())
      return;
    {
      std::lock_guard<std::mutex> lock(mutex);
      stopped = true;
    }
    changed.notify_all();
    thread.join();
  }
  std::atomic<bool> expired{false};

private:
  std::thread thread;
  std::mutex mutex;
  std::condition_variable changed;
  bool stopped = false;
};

class Session {
public:
  Session(const Arguments &arguments, llvm::raw_ostream &out,
          llvm::raw_ostream &err)
      : arguments(arguments), out(out), err(err) {}

  bool run();

private:
  bool fail(const llvm::Twine &message) {
    err << "error: " << message << '\n';
    return false;
  }
  bool runProgram(std::unique_ptr<llvm::MemoryBuffer> buffer);
  bool runFunction(func::FuncOp function);
  func::FuncOp findFunction(ModuleOp module, bool &empty);
  bool readInputs(func::FuncOp function, std::vector<TensorValue> &inputs);
  bool readAttributes(func::FuncOp function,
                      std::vector<TensorValue> &inputs);
  bool handleResults(llvm::ArrayRef<TensorValue> results);
  void printResult(const TensorValue &result);

  const Arguments &arguments;
  llvm::raw_ostream &out, &err;
};

bool Session::run() {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(arguments.file);
  if (!buffer)
    return fail("cannot read " + arguments.file + ": " +
                buffer.getError().message());
  if (!arguments.split)
    return runProgram(std::move(*buffer));
  // Lines before a part keep its line numbers right.
  llvm::StringRef rest = (*buffer)->getBuffer();
  bool fine = true;
  size_t lines = 0;
  while (true) {
    auto [part, next] = rest.split("// -----");
    std::string text(lines, '\n');
    text += part;
    fine &= runProgram(
        llvm::MemoryBuffer::getMemBufferCopy(text, arguments.file));
    if (part.size() == rest.size())
      return fine;
    lines += size_t(part.count('\n'));
    rest = next;
  }
}

bool Session::runProgram(std::unique_ptr<llvm::MemoryBuffer> buffer) {
  DialectRegistry registry;
  driver::registerDialects(registry);
  registry.insert<reference::check::CheckDialect,
                  reference::interpreter::InterpreterDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  // The op itself stands at its location.
  context.printOpOnDiagnostic(false);
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    auto print = [&](Diagnostic &one, llvm::StringRef kind) {
      if (!isa<UnknownLoc>(one.getLocation()))
        err << one.getLocation() << ": ";
      err << kind << one << '\n';
    };
    switch (diagnostic.getSeverity()) {
    case DiagnosticSeverity::Error:
      print(diagnostic, "error: ");
      break;
    case DiagnosticSeverity::Warning:
      print(diagnostic, "warning: ");
      break;
    case DiagnosticSeverity::Note:
    case DiagnosticSeverity::Remark:
      print(diagnostic, "note: ");
      break;
    }
    for (Diagnostic &note : diagnostic.getNotes())
      print(note, "note: ");
    return success();
  });
  OwningOpRef<ModuleOp> module =
      driver::readProgram(std::move(buffer), &context);
  if (!module)
    return false;
  std::string passes = arguments.passes;
  if (passes.empty())
    passes = findNeededPasses(*module);
  if (!passes.empty()) {
    PassManager manager(&context, ModuleOp::getOperationName());
    std::string error;
    llvm::raw_string_ostream os(error);
    if (failed(parsePassPipeline(passes, manager, os)))
      return fail("cannot read --passes: " + error);
    if (failed(manager.run(*module)))
      return false;
  }
  bool empty = false;
  func::FuncOp function = findFunction(*module, empty);
  if (!function)
    return empty;
  return runFunction(function);
}

func::FuncOp Session::findFunction(ModuleOp module, bool &empty) {
  auto functions = module.getOps<func::FuncOp>();
  std::string name =
      arguments.function.empty() ? "main" : arguments.function;
  // A module in a module is how split files name their tests.
  SmallVector<func::FuncOp> all(functions);
  if (all.empty())
    for (ModuleOp nested : module.getOps<ModuleOp>())
      all.append(nested.getOps<func::FuncOp>().begin(),
                 nested.getOps<func::FuncOp>().end());
  for (func::FuncOp function : all)
    if (function.getName() == name)
      return function;
  if (arguments.function.empty() && all.size() == 1)
    return all.front();
  empty = all.empty() && arguments.function.empty();
  if (!empty)
    fail("no function @" + name + " in the program");
  return {};
}

bool Session::readAttributes(func::FuncOp function,
                             std::vector<TensorValue> &inputs) {
  auto array = dyn_cast_or_null<ArrayAttr>(
      parseAttribute(arguments.attributes, function.getContext()));
  if (!array)
    return fail("--args must be an array of dense attributes: " +
                arguments.attributes);
  auto budget = std::make_shared<reference::MemoryBudget>();
  for (Attribute attribute : array) {
    auto elements = dyn_cast<ElementsAttr>(attribute);
    if (!elements)
      return fail("--args must be an array of dense attributes: " +
                  arguments.attributes);
    std::optional<Tensor> tensor = reference::tensorFromAttribute(
        elements, cast<ShapedType>(elements.getType()).getElementType(),
        budget);
    if (!tensor)
      return fail("cannot use an attribute of --args as an input");
    inputs.emplace_back(std::move(*tensor));
  }
  return true;
}

bool Session::readInputs(func::FuncOp function,
                         std::vector<TensorValue> &inputs) {
  if (!arguments.attributes.empty())
    return readAttributes(function, inputs);
  size_t next = 0;
  for (Type type : function.getArgumentTypes()) {
    if (!isa<RankedTensorType>(type)) {
      inputs.push_back(TensorValue::token());
      continue;
    }
    if (next == arguments.inputs.size())
      return fail("@" + function.getName() + " needs more than " +
                  llvm::Twine(next) + " inputs");
    const std::string &spec = arguments.inputs[next++];
    values::Value value;
    Tensor tensor;
    std::string error;
    if (!values::readValue(spec, value, error) ||
        !toTensor(value, type, tensor, error))
      return fail("--input=" + spec + ": " + error);
    inputs.emplace_back(std::move(tensor));
  }
  if (next != arguments.inputs.size())
    return fail("@" + function.getName() + " needs " + llvm::Twine(next) +
                " inputs, got " + llvm::Twine(arguments.inputs.size()));
  return true;
}

bool Session::runFunction(func::FuncOp function) {
  std::vector<TensorValue> inputs;
  if (!readInputs(function, inputs))
    return false;
  Timer timer(arguments.timeout);
  reference::EvalOptions options;
  options.maxBytes = arguments.maxBytes;
  options.maxSteps = arguments.maxSteps;
  options.wideSums = arguments.wideSums;
  options.cancel = &timer.expired;
  options.print = [&](llvm::StringRef text) { out << text; };
  options.probeDirectory = arguments.probeDirectory;
  options.numReplicas = uint32_t(arguments.replicas);
  options.numPartitions = uint32_t(arguments.partitions);
  size_t processes =
      size_t(std::min<int64_t>(arguments.replicas, 1025)) *
      size_t(std::min<int64_t>(arguments.partitions, 1025));
  FailureOr<std::vector<std::vector<TensorValue>>> results =
      reference::evalOnGrid(
          function,
          std::vector<std::vector<TensorValue>>(processes, inputs), options);
  if (failed(results))
    return false;
  return handleResults(results->front());
}

void Session::printResult(const TensorValue &result) {
  if (arguments.print == Print::None)
    return;
  if (result.isToken())
    out << "token\n";
  else if (result.isTuple())
    for (const TensorValue &element : result.getElements())
      printResult(element);
  else if (arguments.print == Print::Dense)
    out << reference::printTensor(result.getTensor()) << '\n';
  else if (arguments.print == Print::Lines)
    out << reference::printTensorPretty(result.getTensor()) << '\n';
  else {
    values::Value value;
    std::string error;
    if (fromTensor(result.getTensor(), value, error))
      out << values::printValue(value) << '\n';
    else
      fail(error);
  }
}

bool Session::handleResults(llvm::ArrayRef<TensorValue> results) {
  if (arguments.outputs.empty() && arguments.expected.empty()) {
    for (const TensorValue &result : results)
      printResult(result);
    return true;
  }
  size_t tensors = 0;
  for (const TensorValue &result : results)
    tensors += result.isTensor();
  for (size_t count : {arguments.outputs.size(), arguments.expected.size()})
    if (count != 0 && count != tensors)
      return fail("the function has " + llvm::Twine(tensors) +
                  " results, got " + llvm::Twine(count) +
                  " outputs or expected outputs");
  bool fine = true;
  size_t next = 0;
  for (const TensorValue &result : results) {
    if (!result.isTensor())
      continue;
    size_t k = next++;
    values::Value actual;
    std::string error;
    if (!fromTensor(result.getTensor(), actual, error))
      return fail(error);
    if (k < arguments.outputs.size()) {
      if (arguments.outputs[k] == "-")
        out << values::printValue(actual) << '\n';
      else if (!values::writeValue(arguments.outputs[k], actual, error))
        return fail(error);
    }
    if (k >= arguments.expected.size())
      continue;
    values::Value expected;
    if (!values::readValue(arguments.expected[k], expected, error))
      return fail("--expected_output: " + error);
    values::Tolerance tolerance{arguments.relative, arguments.absolute};
    if (!values::compareValues(expected, actual, tolerance, error)) {
      err << "result " << k << ": " << error << '\n';
      fine = false;
    }
  }
  return fine;
}

} // namespace

bool runSession(const Arguments &arguments, llvm::raw_ostream &out,
                llvm::raw_ostream &err) {
  return Session(arguments, out, err).run();
}

} // namespace alula::interpret
