// Commands of the dispatch dialect, and the control flow around them, as
// commands of the artifact: one by one, without decisions.

#include "compiler/emit/command_writer.h"

#include "compiler/emit/call_config.h"
#include "compiler/emit/constant_bytes.h"
#include "compiler/emit/integer_writer.h"
#include "compiler/emit/json_text.h"
#include "dialect/dispatch/byte_size.h"
#include "dialect/dispatch/collectives.h"
#include "dialect/dispatch/element_type.h"
#include "dialect/dispatch/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace alula::dispatch;
using namespace alula::emit;
using alula::artifact::ArtifactWriter;
using alula::artifact::FunctionWriter;
using alula::artifact::Operand;

namespace {
/// The file has every element of a constant, even if all are the same.
constexpr int64_t mostSplatBytes = int64_t(1) << 32;

class CommandWriter {
public:
  CommandWriter(const Callables &callables, ArtifactWriter &file,
                FunctionWriter &out)
      : callables(callables), file(file), out(out), integers(out) {}

  LogicalResult writeBlock(Block &block) {
    for (Operation &op : block.without_terminator())
      if (failed(write(op)))
        return failure();
    return success();
  }

private:
  LogicalResult write(Operation &op) {
    return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
        .Case<SlotOp, alula::dispatch::ConstantOp, RunOp,
              alula::dispatch::CallOp, CustomCallOp, StartCollectiveOp,
              ParticipantOp, LoadOp, scf::WhileOp, scf::IfOp,
              scf::IndexSwitchOp>([&](auto known) { return write(known); })
        .Case([&](alula::dispatch::GlobalOp slot) {
          slots[slot] = out.global(getGlobal(slot.getGlobalAttr()));
          return success();
        })
        .Case([&](CheckGlobalOp check) {
          out.checkGlobal(getGlobal(check.getGlobalAttr()));
          return success();
        })
        .Case([&](DefineGlobalOp define) {
          out.defineGlobal(getGlobal(define.getGlobalAttr()));
          return success();
        })
        .Case([&](AwaitCollectiveOp await) {
          out.collectiveDone(integers.get(await.getHandle()));
          return success();
        })
        .Case([&](ArgumentDimOp dim) {
          integers.set(dim,
                       out.argumentDim(static_cast<uint32_t>(dim.getArgument()),
                                       static_cast<uint32_t>(dim.getDim())));
          return success();
        })
        .Case([&](BindResultOp bind) {
          out.bindResult(static_cast<uint32_t>(bind.getNumber()),
                         getAll(bind.getDims()));
          return success();
        })
        .Case([&](AllocOp alloc) {
          out.alloc(getSlot(alloc.getSlot()), integers.get(alloc.getBytes()));
          return success();
        })
        .Case([&](FreeOp free) {
          out.free(getSlot(free.getSlot()));
          return success();
        })
        .Case([&](SwapOp swap) {
          out.swap(getSlot(swap.getA()), getSlot(swap.getB()));
          return success();
        })
        .Case([&](CopyOp copy) {
          Operand start = out.immediate(0);
          Operand bytes = integers.get(copy.getBytes());
          out.copy(getSlot(copy.getTarget()), start, getSlot(copy.getSource()),
                   start, bytes);
          return success();
        })
        .Case([&](AssertOp assertion) {
          out.assertThat(integers.get(assertion.getCondition()),
                         assertion.getMessage().str(),
                         getAll(assertion.getNumbers()));
          return success();
        })
        .Case([&](cf::AssertOp assertion) {
          out.assertThat(integers.get(assertion.getArg()),
                         assertion.getMsg().str());
          return success();
        })
        .Default([&](Operation *other) { return integers.write(*other); });
  }

  // ---- Slots ----

  uint32_t getGlobal(FlatSymbolRefAttr name) {
    return callables.globals.at(name.getAttr());
  }

  uint32_t getSlot(Value value) { return slots.at(value); }

  std::vector<uint32_t> getSlots(ValueRange values) {
    std::vector<uint32_t> all;
    for (Value value : values)
      all.push_back(getSlot(value));
    return all;
  }

  std::vector<Operand> getAll(ValueRange values) {
    std::vector<Operand> all;
    for (Value value : values)
      all.push_back(integers.get(value));
    return all;
  }

  LogicalResult write(SlotOp op) {
    auto number = static_cast<uint32_t>(op.getNumber());
    switch (op.getKind()) {
    case SlotKind::Argument:
      slots[op] = out.argument(number);
      return success();
    case SlotKind::Result:
      slots[op] = out.result(number);
      return success();
    case SlotKind::Arena:
      slots[op] = out.arena(op.getNumber(), op.getBytes());
      return success();
    case SlotKind::Local:
      slots[op] = out.local();
      return success();
    }
    return failure();
  }

  LogicalResult write(alula::dispatch::ConstantOp op) {
    // The type only matters if the constant leaves the artifact.
    ShapedType type = op.getValue().getShapedType();
    std::optional<alula_dtype> dtype = getDtype(type.getElementType());
    // It takes no memory until now.
    std::optional<int64_t> bytes = getByteSize(type);
    if (op.getValue().isSplat() && bytes && *bytes > mostSplatBytes)
      return op.emitError()
             << "'stablehlo.constant': no native code: one value for all of "
             << type << " takes " << *bytes
             << " bytes of the artifact, more than " << mostSplatBytes;
    uint32_t number = ALULA_NONE;
    if (dtype)
      number = file.addType(*dtype,
                            {type.getShape().begin(), type.getShape().end()});
    auto constant = addConstant(file, op.getValue(), number);
    if (!constant)
      return op.emitError() << "'stablehlo.constant': no native code: " << type;
    slots[op] = out.constant(*constant);
    return success();
  }

  // ---- Work ----

  /// From the first of those that may run together, how many they are.
  static uint32_t countTogether(RunOp op) {
    uint32_t count = 0;
    if (op.getBeside())
      return count;
    do {
      ++count;
      op = dyn_cast_or_null<RunOp>(op->getNextNode());
    } while (op && op.getBeside());
    return count;
  }

  LogicalResult write(RunOp op) {
    const Callables::Kernel &kernel = callables.kernels.at(op.getEntryAttr());
    std::vector<Operand> grid = getAll(op.getWorkgroups());
    for (size_t i = grid.size(); i < 3; ++i)
      grid.push_back(out.immediate(kernel.grid[i]));
    std::vector<Operand> constants = getAll(op.getConstants());
    if (uint32_t count = countTogether(op); count > 1)
      out.together(count);
    out.dispatch(kernel.number, grid[0], grid[1], grid[2],
                 getSlots(op.getBindings()), constants);
    return success();
  }

  LogicalResult write(alula::dispatch::CallOp op) {
    std::vector<Operand> inputDims = getAll(op.getInputDims());
    std::vector<Operand> outputDims;
    for (Value dim : op.getOutputDims()) {
      outputDims.push_back(out.newRegister());
      integers.set(dim, outputDims.back());
    }
    out.call(callables.functions.at(op.getCalleeAttr().getAttr()),
             getSlots(op.getInputs()), getSlots(op.getOutputs()), inputDims,
             outputDims);
    return success();
  }

  LogicalResult configure(CustomCallOp op,
                          alula::artifact::CustomCallSpec &spec) {
    Attribute config = op.getConfig().value_or(Attribute());
    if (auto text = dyn_cast_or_null<StringAttr>(config)) {
      spec.config = text.str();
      return success();
    }
    std::optional<std::string> typed, text;
    if (auto values = op.getValues())
      typed = getCallConfig(file.getCustomCallCount(), *values,
                            config ? cast<DictionaryAttr>(config)
                                   : DictionaryAttr::get(op.getContext()));
    if (config)
      text = getJsonText(config);
    if (config && !text && !typed)
      return op.emitError() << "'dispatch.custom_call': configuration has no "
                               "form in bytes or JSON: "
                            << config;
    spec.config = typed.value_or("");
    spec.attributes = text.value_or("");
    return success();
  }

  LogicalResult write(CustomCallOp op) {
    alula::artifact::CustomCallSpec spec;
    spec.name = op.getName().str();
    spec.apiVersion = static_cast<uint32_t>(op.getApiVersion());
    spec.hasSideEffect = op.getHasSideEffect();
    for (auto type : op.getTypes().getAsRange<TypeAttr>()) {
      auto number = callables.addType(op.getLoc(), type.getValue());
      if (failed(number))
        return failure();
      bool isOperand = spec.operandTypes.size() < op.getInputs().size();
      (isOperand ? spec.operandTypes : spec.resultTypes).push_back(*number);
    }
    if (failed(configure(op, spec)))
      return failure();
    // The sizes of operands, then of results, as the slots are.
    std::vector<Operand> dims = getAll(op.getDims());
    size_t operandDims = 0;
    for (auto [i, type] : llvm::enumerate(op.getTypes().getAsRange<TypeAttr>()))
      if (i < op.getInputs().size())
        operandDims += static_cast<size_t>(
            cast<RankedTensorType>(type.getValue()).getNumDynamicDims());
    std::vector<Operand> resultDims(dims.begin() + operandDims, dims.end());
    dims.resize(operandDims);
    out.customCall(file.addCustomCall(spec), getSlots(op.getInputs()),
                   getSlots(op.getOutputs()), dims, resultDims);
    return success();
  }

  // ---- Collectives ----

  uint32_t addGroups(uint64_t participants, ArrayAttr groups) {
    std::vector<std::vector<uint32_t>> all;
    for (auto group : groups.getAsRange<DenseI64ArrayAttr>())
      all.emplace_back(group.asArrayRef().begin(), group.asArrayRef().end());
    return file.addGroups(static_cast<uint32_t>(participants), all);
  }

  LogicalResult write(StartCollectiveOp op) {
    auto dtype = getDtype(op.getElementType());
    if (!dtype)
      return op.emitError() << "'dispatch.start_collective': no native code: "
                               "values of type "
                            << op.getElementType();
    alula::artifact::CollectiveSpec spec;
    spec.kind = static_cast<alula_collective_kind>(op.getKind());
    spec.reduction = static_cast<alula_reduction>(op.getReduction());
    spec.dtype = *dtype;
    spec.groups = addGroups(op.getParticipants(), op.getGroups());
    spec.count = op.getCount();
    spec.channel = static_cast<uint32_t>(op.getChannel());
    integers.set(op, out.collectiveStart(file.addCollective(spec),
                                         getSlot(op.getOperand()),
                                         getSlot(op.getResult())));
    return success();
  }

  LogicalResult write(ParticipantOp op) {
    // A table without groups says how many there are.
    file.addGroups(static_cast<uint32_t>(op.getParticipants()), {});
    integers.set(op, out.participant());
    return success();
  }

  LogicalResult write(LoadOp op) {
    auto dtype = getDtype(op.getElementType());
    if (!dtype)
      return op.emitError()
             << "'dispatch.load': no native code: values of type "
             << op.getElementType();
    Operand offset = integers.get(op.getOffset());
    integers.set(op, out.load(*dtype, getSlot(op.getSlot()), offset));
    return success();
  }

  // ---- Control flow ----

  /// Values that a block ends with go to registers, all at once.
  void assign(ArrayRef<Operand> registers, ValueRange values) {
    std::vector<Operand> from = getAll(values);
    auto isTarget = [&](Operand operand) {
      return llvm::any_of(registers, [&](Operand target) {
        return target.word == operand.word;
      });
    };
    for (size_t i = 0; i < from.size(); ++i)
      if (from[i].word != registers[i].word && isTarget(from[i])) {
        Operand safe = out.newRegister();
        out.move(safe, from[i]);
        from[i] = safe;
      }
    for (size_t i = 0; i < from.size(); ++i)
      if (from[i].word != registers[i].word)
        out.move(registers[i], from[i]);
  }

  SmallVector<Operand> addRegisters(ResultRange results) {
    SmallVector<Operand> registers;
    for (Value result : results) {
      registers.push_back(out.newRegister());
      integers.set(result, registers.back());
    }
    return registers;
  }

  void setAll(ValueRange values, ArrayRef<Operand> registers) {
    for (auto [value, operand] : llvm::zip_equal(values, registers))
      integers.set(value, operand);
  }

  /// A block of its own, which ends by giving values to registers.
  FailureOr<uint32_t> writeBranch(Region &region, ArrayRef<Operand> registers) {
    uint32_t outer = out.getBlock(), inner = out.newBlock();
    out.setBlock(inner);
    if (failed(writeBlock(region.front())))
      return failure();
    assign(registers, region.front().getTerminator()->getOperands());
    out.setBlock(outer);
    return inner;
  }

  LogicalResult write(scf::IfOp op) {
    SmallVector<Operand> registers = addRegisters(op.getResults());
    Operand condition = integers.get(op.getCondition());
    auto thenBlock = writeBranch(op.getThenRegion(), registers);
    if (failed(thenBlock))
      return failure();
    uint32_t elseNumber = ALULA_NONE;
    if (!op.getElseRegion().empty()) {
      auto elseBlock = writeBranch(op.getElseRegion(), registers);
      if (failed(elseBlock))
        return failure();
      elseNumber = *elseBlock;
    }
    out.branch(condition, *thenBlock, elseNumber);
    return success();
  }

  LogicalResult write(scf::IndexSwitchOp op) {
    for (auto [i, number] : llvm::enumerate(op.getCases()))
      if (number != static_cast<int64_t>(i))
        return op.emitError()
               << "'scf.index_switch': cases must count from 0: " << number
               << " at " << i;
    SmallVector<Operand> registers = addRegisters(op.getResults());
    Operand index = integers.get(op.getArg());
    std::vector<uint32_t> blocks;
    SmallVector<Region *> regions;
    for (Region &region : op.getCaseRegions())
      regions.push_back(&region);
    regions.push_back(&op.getDefaultRegion());
    for (Region *region : regions) {
      auto block = writeBranch(*region, registers);
      if (failed(block))
        return failure();
      blocks.push_back(*block);
    }
    out.branch(index, blocks);
    return success();
  }

  LogicalResult write(scf::WhileOp op) {
    // What the loop carries stays in the same registers all the time.
    SmallVector<Operand> registers = addRegisters(op.getResults());
    if (op.getConditionOp().getArgs() != op.getBeforeArguments())
      return op.emitError()
             << "'scf.while': condition must hand on what it got";
    assign(registers, op.getInits());
    setAll(op.getBeforeArguments(), registers);
    setAll(op.getAfterArguments(), registers);
    uint32_t outer = out.getBlock(), condition = out.newBlock();
    out.setBlock(condition);
    if (failed(writeBlock(op.getBefore().front())))
      return failure();
    Operand flag = integers.get(op.getConditionOp().getCondition());
    out.setBlock(outer);
    auto body = writeBranch(op.getAfter(), registers);
    if (failed(body))
      return failure();
    out.loop(condition, flag, *body);
    return success();
  }

  const Callables &callables;
  ArtifactWriter &file;
  FunctionWriter &out;
  IntegerWriter integers;
  DenseMap<Value, uint32_t> slots;
};
} // namespace

LogicalResult alula::emit::writeCommands(func::FuncOp function,
                                         const Callables &callables,
                                         ArtifactWriter &file,
                                         FunctionWriter &out) {
  return CommandWriter(callables, file, out).writeBlock(function.front());
}
