// interpreter.run_parallel, print and probe.
#include "reference/op_table.h"
#include "reference/probe.h"
#include "reference/process.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace alula::reference {
namespace {

constexpr size_t maxProcesses = 1024;

LogicalResult evalRunParallel(OpCall &call) {
  auto rows = call.op->getAttrOfType<ArrayAttr>("programs");
  std::vector<func::FuncOp> programs;
  size_t columns = 0;
  for (Attribute row : rows)
    for (Attribute name : cast<ArrayAttr>(row)) {
      Operation *function = call.evaluator.findFunction(
          call.op, cast<FlatSymbolRefAttr>(name).getValue());
      if (!function)
        return failure();
      programs.push_back(cast<func::FuncOp>(function));
      columns = cast<ArrayAttr>(row).size();
    }
  if (programs.size() > maxProcesses)
    return call.error() << "a grid has at most " << maxProcesses
                        << " processes, this has " << programs.size();
  Grid grid(uint32_t(rows.size()), uint32_t(columns));
  if (auto infeed = call.op->getAttrOfType<ArrayAttr>("infeed"))
    for (Attribute name : infeed) {
      Operation *function = call.evaluator.findFunction(
          call.op, cast<FlatSymbolRefAttr>(name).getValue());
      if (!function)
        return failure();
      grid.infeed.push_back(function);
    }
  std::vector<std::vector<Value>> results(programs.size());
  std::vector<size_t> starts;
  size_t next = 0;
  for (func::FuncOp program : programs) {
    starts.push_back(next);
    next += program.getNumArguments();
  }
  if (next != call.operands.size())
    return call.error() << "programs take " << next << " inputs, got "
                        << call.operands.size();
  bool fine = grid.run([&](Process &process) {
    size_t index = size_t(process.id.replica) * columns + process.id.partition;
    Evaluator evaluator(call.evaluator.program, &process);
    return succeeded(evaluator.callFunction(
        call.op, programs[index],
        call.operands.slice(starts[index],
                            programs[index].getNumArguments()),
        results[index]));
  });
  if (!fine)
    return failure();
  for (const std::vector<Value> &values : results)
    call.results.insert(call.results.end(), values.begin(), values.end());
  return success();
}

LogicalResult evalPrint(OpCall &call) {
  std::string text;
  llvm::raw_string_ostream os(text);
  // Under the name that the program's text has for it.
  call.op->getOperand(0).printAsOperand(os, OpPrintingFlags());
  os << " = " << printTensorPretty(call.tensor(0)) << "\n";
  if (call.evaluator.program.options.print)
    call.evaluator.program.options.print(text);
  else
    llvm::outs() << text;
  return success();
}

LogicalResult evalProbe(OpCall &call) {
  auto id = call.op->getAttrOfType<StringAttr>("probe_id");
  if (!id || call.operands.size() != 1 || !call.operands[0].isTensor())
    return call.error() << "needs a tensor and a probe_id";
  std::vector<Tensor> &seen =
      call.evaluator.program.probes->seen[id.getValue().str()];
  seen.push_back(call.tensor(0));
  const std::string &directory =
      call.evaluator.program.options.probeDirectory;
  std::string error;
  if (!directory.empty() && !writeProbe(directory, id.getValue(), seen.size(),
                                        call.tensor(0), error))
    return call.error() << error;
  return call.give(call.operands[0]);
}

} // namespace

void addProcessOps(OpTable &table) {
  table.add("interpreter.run_parallel", evalRunParallel, Quantized::Stored,
            /*pure=*/false);
  table.add("interpreter.print", evalPrint, Quantized::Stored,
            /*pure=*/false);
  table.add("interpreter.probe", evalProbe, Quantized::Stored,
            /*pure=*/false);
}

} // namespace alula::reference
