// Commands on slots become loads, copies and calls on pointers; integers and
// control flow stay.
//   dispatch.run @e::@k(%in, %out)
//   →  func.call @kernel.k(%in, %out, %scratch) : (!llvm.ptr, …) -> ()

#include "compiler/standalone/host_function.h"

#include "dialect/dispatch/collectives.h"
#include "dialect/dispatch/constant_bytes.h"
#include "dialect/dispatch/direct_host.h"
#include "dialect/dispatch/element_type.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace alula::dispatch;
using namespace alula::standalone;

std::string alula::standalone::getBodyName(StringRef function) {
  return ("body." + function).str();
}

std::string alula::standalone::addConstant(HostModule &host, Location location,
                                           ElementsAttr value) {
  std::string &name = host.constants[value];
  if (!name.empty())
    return name;
  auto bytes = getConstantBytes(value);
  if (!bytes) {
    emitError(location) << "'stablehlo.constant': no native code: "
                        << value.getShapedType();
    return "";
  }
  name = "constant." + std::to_string(host.constants.size());
  host.constantBytes += bytes->get().size();
  auto builder = OpBuilder::atBlockBegin(host.target.getBody());
  auto type =
      LLVM::LLVMArrayType::get(builder.getI8Type(), bytes->get().size());
  constexpr unsigned alignment = 64;
  auto global = builder.create<LLVM::GlobalOp>(
      location, type, /*isConstant=*/true, LLVM::Linkage::Internal, name,
      builder.getStringAttr(bytes->get()), alignment);
  // Nobody compares its address.
  global.setUnnamedAddr(LLVM::UnnamedAddr::Global);
  return name;
}

namespace {
class Converter {
public:
  Converter(HostModule &host, func::FuncOp source, const Arena &arena)
      : host(host), source(source), arena(arena), builder(source.getContext()),
        pointer(LLVM::LLVMPointerType::get(source.getContext())) {}

  LogicalResult run(StringRef name) {
    unsigned numInputs = source.getNumArguments();
    SmallVector<Type> types(2 + numInputs + source.getNumResults(), pointer);
    builder.setInsertionPointToEnd(host.target.getBody());
    auto target = builder.create<func::FuncOp>(
        source.getLoc(), name,
        builder.getFunctionType(types, builder.getI32Type()));
    target.setPrivate();
    Block *body = target.addEntryBlock();
    arguments = body->getArguments();
    entry = body;

    // The commands as they are, then one after the other in its place.
    IRMapping map;
    builder.setInsertionPointToEnd(body);
    SmallVector<std::pair<Operation *, Operation *>> commands;
    for (Operation &op : source.front())
      builder.clone(op, map);
    source.walk([&](Operation *op) {
      if (op != source)
        commands.push_back({op, map.lookupOrNull(op)});
    });
    for (auto [from, to] : commands)
      if (isa<SwapOp>(from))
        for (Value slot : to->getOperands())
          swapped.insert(slot);
    // Slots stand before their uses.
    SmallVector<Operation *> done;
    for (auto [from, to] : commands) {
      builder.setInsertionPoint(to);
      location = to->getLoc();
      auto isDone = convert(from, to);
      if (failed(isDone))
        return failure();
      if (*isDone)
        done.push_back(to);
    }
    for (Operation *op : llvm::reverse(done))
      op->erase();
    return success();
  }

private:
  /// Whether the op is to go; those that stay are of no command.
  FailureOr<bool> convert(Operation *from, Operation *to) {
    LogicalResult result =
        llvm::TypeSwitch<Operation *, LogicalResult>(to)
            .Case<alula::dispatch::ConstantOp, alula::dispatch::GlobalOp,
                  CheckGlobalOp, DefineGlobalOp, LoadOp, SwapOp, CopyOp,
                  AssertOp, cf::AssertOp, alula::dispatch::ReturnOp>(
                [&](auto op) { return convert(op); })
            .Case([&](SlotOp op) { return convert(op, from); })
            .Case([&](RunOp op) { return convert(op, from); })
            .Case([&](alula::dispatch::CallOp op) { return convert(op, from); })
            .Case<CustomCallOp>([&](CustomCallOp op) {
              return op.emitError()
                     << "'stablehlo.custom_call': needs a runtime, which "
                        "static code has not: @"
                     << op.getName();
            })
            .Case<StartCollectiveOp, AwaitCollectiveOp, ParticipantOp>(
                [&](Operation *op) {
                  return op->emitError()
                         << "'" << op->getName()
                         << "': needs a runtime, which static code has not: "
                            "the program is for several devices";
                })
            .Case<AllocOp, FreeOp, ArgumentDimOp, BindResultOp>(
                [&](Operation *op) {
                  return op->emitError()
                         << "'func.func': a value's size is known at run time "
                            "only: code without a runtime has all its memory "
                            "planned: @"
                         << source.getSymName();
                })
            .Default([&](Operation *op) {
              stays = true;
              return success();
            });
    bool goes = !std::exchange(stays, false);
    if (failed(result))
      return failure();
    return goes;
  }

  // ---- Slots ----

  Value makeOffset(Value base, uint64_t bytes) {
    if (!bytes)
      return base;
    return builder.create<LLVM::GEPOp>(
        location, pointer, builder.getI8Type(), base,
        LLVM::GEPArg(static_cast<int32_t>(bytes)));
  }

  void setSlot(Value slot, Value address) {
    if (!swapped.contains(slot)) {
      slots[slot] = address;
      return;
    }
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(entry);
    Value one =
        builder.create<LLVM::ConstantOp>(location, builder.getI32Type(), 1);
    Value cell =
        builder.create<LLVM::AllocaOp>(location, pointer, pointer, one);
    builder.setInsertionPointAfterValue(address);
    if (isa<BlockArgument>(address))
      builder.setInsertionPointAfterValue(cell);
    builder.create<LLVM::StoreOp>(location, address, cell);
    slots[slot] = cell;
  }

  Value getSlot(Value slot) {
    Value address = slots.at(slot);
    if (!swapped.contains(slot))
      return address;
    return builder.create<LLVM::LoadOp>(location, pointer, address);
  }

  LogicalResult convert(SlotOp op, Operation *from) {
    auto number = static_cast<unsigned>(op.getNumber());
    switch (op.getKind()) {
    case SlotKind::Argument:
      setSlot(op, arguments[2 + number]);
      return success();
    case SlotKind::Result:
      setSlot(op, arguments[2 + source.getNumArguments() + number]);
      return success();
    case SlotKind::Arena:
      setSlot(op, makeOffset(arguments[0], arena.places.lookup(from)));
      return success();
    case SlotKind::Local:
      // Who gives it memory says what is wrong.
      setSlot(op, builder.create<LLVM::ZeroOp>(location, pointer));
      return success();
    }
    return failure();
  }

  LogicalResult addConstantSlot(Value slot, ElementsAttr value) {
    std::string name = addConstant(host, location, value);
    if (name.empty())
      return failure();
    setSlot(slot, builder.create<LLVM::AddressOfOp>(location, pointer, name));
    return success();
  }

  LogicalResult convert(alula::dispatch::ConstantOp op) {
    return addConstantSlot(op, op.getValue());
  }

  LogicalResult convert(alula::dispatch::GlobalOp op) {
    StringAttr name = op.getGlobalAttr().getAttr();
    if (auto known = host.known.lookup(name))
      return addConstantSlot(op, known);
    setSlot(op, makeOffset(arguments[1], host.globals.at(name)));
    return success();
  }

  // ---- Control ----

  Value makeInteger(int64_t value, unsigned bits) {
    return builder.create<arith::ConstantIntOp>(location, value, bits);
  }

  void failUnlessTrue(Value condition, Value code) {
    builder.create<func::CallOp>(location, failUnless, TypeRange(),
                                 ValueRange{condition, code});
  }

  Value makeCode(Code code) {
    return makeInteger(static_cast<int64_t>(code), 32);
  }

  LogicalResult convert(CheckGlobalOp op) {
    auto flag = host.flags.find(op.getGlobalAttr().getAttr());
    if (flag == host.flags.end())
      return success();
    Value byte = builder.create<LLVM::LoadOp>(
        location, builder.getI8Type(), makeOffset(arguments[1], flag->second));
    failUnlessTrue(builder.create<arith::CmpIOp>(location,
                                                 arith::CmpIPredicate::ne, byte,
                                                 makeInteger(0, 8)),
                   makeCode(Code::State));
    return success();
  }

  LogicalResult convert(DefineGlobalOp op) {
    auto flag = host.flags.find(op.getGlobalAttr().getAttr());
    if (flag != host.flags.end())
      builder.create<LLVM::StoreOp>(location, makeInteger(1, 8),
                                    makeOffset(arguments[1], flag->second));
    return success();
  }

  LogicalResult convert(AssertOp op) {
    failUnlessTrue(op.getCondition(), makeCode(Code::Assertion));
    return success();
  }

  LogicalResult convert(cf::AssertOp op) {
    failUnlessTrue(op.getArg(), makeCode(Code::Assertion));
    return success();
  }

  LogicalResult convert(alula::dispatch::ReturnOp op) {
    builder.create<func::ReturnOp>(location, makeInteger(0, 32));
    return success();
  }

  // ---- Work ----

  Value toInteger(Value index) {
    return builder.create<arith::IndexCastOp>(
        location, builder.getIntegerType(host.indexBits), index);
  }

  LogicalResult convert(LoadOp op) {
    auto dtype = getDtype(op.getElementType());
    Type type = op.getType();
    if (!dtype || !type.isIntOrIndex())
      return op.emitError()
             << "'dispatch.load': no native code: values of type "
             << op.getElementType();
    Value address = builder.create<LLVM::GEPOp>(
        location, pointer, builder.getI8Type(), getSlot(op.getSlot()),
        LLVM::GEPArg(toInteger(op.getOffset())));
    unsigned bits = 8 * alula_dtype_get_bytes(*dtype);
    unsigned width = type.getIntOrFloatBitWidth();
    Value loaded = builder.create<LLVM::LoadOp>(
        location, builder.getIntegerType(bits), address, bits / 8);
    if (width == 1)
      loaded = builder.create<arith::CmpIOp>(location, arith::CmpIPredicate::ne,
                                             loaded, makeInteger(0, bits));
    else if (width < bits)
      loaded = builder.create<arith::TruncIOp>(
          location, builder.getIntegerType(width), loaded);
    if (!type.isSignlessInteger())
      loaded =
          builder.create<UnrealizedConversionCastOp>(location, type, loaded)
              .getResult(0);
    op.getResult().replaceAllUsesWith(loaded);
    return success();
  }

  LogicalResult convert(SwapOp op) {
    Value a = getSlot(op.getA()), b = getSlot(op.getB());
    builder.create<LLVM::StoreOp>(location, b, slots.at(op.getA()));
    builder.create<LLVM::StoreOp>(location, a, slots.at(op.getB()));
    return success();
  }

  LogicalResult convert(CopyOp op) {
    builder.create<LLVM::MemmoveOp>(location, getSlot(op.getTarget()),
                                    getSlot(op.getSource()),
                                    toInteger(op.getBytes()),
                                    /*isVolatile=*/false);
    return success();
  }

  LogicalResult convert(RunOp op, Operation *from) {
    auto executable = host.source.lookupSymbol<ExecutableOp>(
        op.getEntry().getRootReference());
    StringAttr name = op.getEntry().getLeafReference();
    auto entryOp = executable.lookupSymbol<EntryOp>(name);
    ModuleOp inner = executable.getInnerModule();
    auto body = inner ? inner.lookupSymbol<func::FuncOp>(name) : nullptr;
    if (!body || executable.getObjects())
      return op.emitError() << "'dispatch.executable': static code is made "
                               "from the compiler's own kernels alone: @"
                            << executable.getSymName();
    size_t numBindings = op.getBindings().size();
    SmallVector<Value> operands;
    SmallVector<Type> types;
    auto constants = op.getConstants().begin();
    std::optional<size_t> group;
    for (auto [i, type] : llvm::enumerate(body.getArgumentTypes())) {
      if (i < numBindings)
        operands.push_back(getSlot(op.getBindings()[i]));
      else if (!type.isIntOrIndex())
        operands.push_back(makeOffset(arguments[0], arena.places.lookup(from)));
      else if (constants != op.getConstants().end())
        operands.push_back(*constants++);
      else {
        group = i;
        operands.push_back(builder.create<arith::ConstantIndexOp>(location, 0));
      }
      types.push_back(type.isIntOrIndex() ? Type(builder.getIndexType())
                                          : pointer);
    }
    std::string callee = declareKernel(op.getEntry(), name, types);
    Value count = getCount(op, entryOp);
    APInt known;
    if (matchPattern(count, m_ConstantInt(&known)) && known.isOne()) {
      builder.create<func::CallOp>(location, callee, TypeRange(), operands);
      return success();
    }
    Value zero = builder.create<arith::ConstantIndexOp>(location, 0);
    Value one = builder.create<arith::ConstantIndexOp>(location, 1);
    auto loop = builder.create<scf::ForOp>(location, zero, count, one);
    if (group)
      operands[*group] = loop.getInductionVar();
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    builder.create<func::CallOp>(location, callee, TypeRange(), operands);
    return success();
  }

  /// How many workgroups run.
  Value getCount(RunOp op, EntryOp entryOp) {
    if (op.getWorkgroups().empty()) {
      int64_t count = 1;
      for (int64_t each : entryOp.getWorkgroups())
        count *= each;
      return builder.create<arith::ConstantIndexOp>(location, count);
    }
    Value count = op.getWorkgroups().front();
    for (Value each : op.getWorkgroups().drop_front())
      if (!matchPattern(each, m_One()))
        count = builder.create<arith::MulIOp>(location, count, each);
    return count;
  }

  std::string declareKernel(SymbolRefAttr entryName, StringAttr name,
                            ArrayRef<Type> types) {
    std::string &callee = host.kernels[entryName];
    if (callee.empty()) {
      callee = (kernelPrefix + name.getValue()).str();
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToEnd(host.target.getBody());
      builder
          .create<func::FuncOp>(location, callee,
                                builder.getFunctionType(types, {}))
          .setPrivate();
    }
    return callee;
  }

  LogicalResult convert(alula::dispatch::CallOp op, Operation *from) {
    if (op.getNumResults() || !op.getInputDims().empty())
      return op.emitError() << "'func.call': a size is known at run time only: "
                               "code without a runtime has all its memory "
                               "planned: @"
                            << op.getCallee();
    SmallVector<Value> operands = {
        makeOffset(arguments[0], arena.places.lookup(from)), arguments[1]};
    for (Value slot : op.getInputs())
      operands.push_back(getSlot(slot));
    for (Value slot : op.getOutputs())
      operands.push_back(getSlot(slot));
    Value code =
        builder
            .create<func::CallOp>(location, getBodyName(op.getCallee()),
                                  builder.getI32Type(), operands)
            .getResult(0);
    failUnlessTrue(builder.create<arith::CmpIOp>(location,
                                                 arith::CmpIPredicate::eq, code,
                                                 makeInteger(0, 32)),
                   code);
    return success();
  }

  HostModule &host;
  func::FuncOp source;
  const Arena &arena;
  OpBuilder builder;
  Type pointer;
  Location location = UnknownLoc::get(source.getContext());
  ValueRange arguments;
  Block *entry = nullptr;
  DenseMap<Value, Value> slots;
  DenseSet<Value> swapped;
  bool stays = false;
};
} // namespace

LogicalResult alula::standalone::convertFunction(HostModule &host,
                                                 func::FuncOp function,
                                                 const Arena &arena,
                                                 StringRef name) {
  return Converter(host, function, arena).run(name);
}
