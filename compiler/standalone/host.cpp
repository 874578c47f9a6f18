// The functions that C calls: they check what they get, then call what the
// schedule has made. Globals are bytes of the caller's state.

#include "compiler/standalone/host.h"

#include "compiler/standalone/host_function.h"
#include "dialect/dispatch/byte_size.h"
#include "dialect/dispatch/constant_bytes.h"
#include "dialect/dispatch/direct_host.h"
#include "dialect/dispatch/element_type.h"
#include "dialect/dispatch/machine.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace alula::dispatch;
using namespace alula::standalone;
using alula::standalone::Function;

namespace {
/// The function that says whether two ranges of bytes share one.
constexpr StringLiteral areApartName = "alula.are_apart";

std::string makeIdentifier(StringRef text) {
  std::string name;
  for (char c : text)
    name += llvm::isAlnum(c) ? c : '_';
  return name;
}

/// Writes one function that C calls, and the one that sets the state anew.
class WrapperBuilder {
public:
  WrapperBuilder(HostModule &host, const Program &program, Location location)
      : host(host), program(program), location(location),
        builder(host.target.getContext()),
        pointer(LLVM::LLVMPointerType::get(host.target.getContext())) {}

  void addRun(const Function &function, func::FuncOp source) {
    SmallVector<Type> types(program.stateBytes ? 4 : 3, pointer);
    Block *body = begin(function.symbol, types);
    Value arena = body->getArgument(0), state;
    if (function.arenaBytes)
      checkMemory(arena);
    if (program.stateBytes)
      checkMemory(state = body->getArgument(1));
    else
      state = builder.create<LLVM::ZeroOp>(location, pointer);
    unsigned count = body->getNumArguments();
    SmallVector<Value> inputs =
        loadAll(body->getArgument(count - 2), function.inputs);
    SmallVector<Value> outputs =
        loadAll(body->getArgument(count - 1), function.outputs);
    for (auto [j, output] : llvm::enumerate(function.outputs)) {
      for (auto [i, input] : llvm::enumerate(function.inputs))
        checkApart(outputs[j], output, inputs[i], input);
      for (size_t i = 0; i < j; ++i)
        checkApart(outputs[j], output, outputs[i], function.outputs[i]);
    }
    // A donated argument is written: a copy of it is.
    for (size_t j = 0; j < outputs.size(); ++j)
      if (auto alias = source.getResultAttrOfType<IntegerAttr>(
              static_cast<unsigned>(j), "dispatch.alias")) {
        auto input = static_cast<size_t>(alias.getInt());
        builder.create<LLVM::MemcpyOp>(
            location, outputs[j], inputs[input],
            makeInteger(static_cast<int64_t>(function.outputs[j].bytes),
                        host.indexBits),
            /*isVolatile=*/false);
        inputs[input] = outputs[j];
      }
    SmallVector<Value> operands = {arena, state};
    operands.append(inputs);
    operands.append(outputs);
    Value code = builder
                     .create<func::CallOp>(location, getBodyName(function.name),
                                           builder.getI32Type(), operands)
                     .getResult(0);
    builder.create<func::ReturnOp>(location, code);
  }

  LogicalResult addReset(StringRef symbol) {
    Block *body = begin(symbol, {pointer});
    Value state = body->getArgument(0);
    checkMemory(state);
    for (auto global : host.source.getOps<ml_program::GlobalOp>()) {
      auto place = host.globals.find(global.getSymNameAttr());
      if (place == host.globals.end())
        continue;
      auto initial =
          dyn_cast_or_null<ElementsAttr>(global.getValue().value_or(nullptr));
      auto flag = host.flags.find(global.getSymNameAttr());
      if (flag != host.flags.end())
        builder.create<LLVM::StoreOp>(location, makeInteger(0, 8),
                                      makeOffset(state, flag->second));
      if (!initial)
        continue;
      std::string name = addConstant(host, global.getLoc(), initial);
      if (name.empty())
        return failure();
      auto bytes = getByteSize(cast<ShapedType>(global.getType()));
      builder.create<LLVM::MemcpyOp>(
          location, makeOffset(state, place->second),
          builder.create<LLVM::AddressOfOp>(location, pointer, name),
          makeInteger(*bytes, host.indexBits), /*isVolatile=*/false);
    }
    builder.create<func::ReturnOp>(location, makeInteger(0, 32));
    return success();
  }

  void declareFail() {
    builder.setInsertionPointToEnd(host.target.getBody());
    builder
        .create<func::FuncOp>(
            location, failUnless,
            builder.getFunctionType({builder.getI1Type(), builder.getI32Type()},
                                    {}))
        .setPrivate();
  }

private:
  Block *begin(StringRef name, ArrayRef<Type> types) {
    builder.setInsertionPointToEnd(host.target.getBody());
    auto function = builder.create<func::FuncOp>(
        location, name, builder.getFunctionType(types, builder.getI32Type()));
    Block *body = function.addEntryBlock();
    builder.setInsertionPointToEnd(body);
    return body;
  }

  Value makeInteger(int64_t value, unsigned bits) {
    return builder.create<arith::ConstantIntOp>(location, value, bits);
  }

  Value makeOffset(Value base, uint64_t bytes) {
    return builder.create<LLVM::GEPOp>(
        location, pointer, builder.getI8Type(), base,
        LLVM::GEPArg(static_cast<int32_t>(bytes)));
  }

  void check(Value condition, Code code) {
    builder.create<func::CallOp>(
        location, failUnless, TypeRange(),
        ValueRange{condition, makeInteger(static_cast<int64_t>(code), 32)});
  }

  void checkNull(Value address) {
    Value null = builder.create<LLVM::ZeroOp>(location, pointer);
    check(builder.create<LLVM::ICmpOp>(location, LLVM::ICmpPredicate::ne,
                                       address, null),
          Code::Null);
  }

  void checkAlignment(Value address, uint64_t alignment) {
    if (alignment == 1)
      return;
    Value number = builder.create<LLVM::PtrToIntOp>(
        location, builder.getI32Type(), address);
    Value rest = builder.create<arith::AndIOp>(
        location, number, makeInteger(static_cast<int64_t>(alignment) - 1, 32));
    check(builder.create<arith::CmpIOp>(location, arith::CmpIPredicate::eq,
                                        rest, makeInteger(0, 32)),
          Code::Align);
  }

  void checkMemory(Value address) {
    checkNull(address);
    checkAlignment(address, program.alignment);
  }

  SmallVector<Value> loadAll(Value array, const std::vector<Port> &ports) {
    SmallVector<Value> addresses;
    if (!ports.empty())
      checkNull(array);
    for (auto [i, port] : llvm::enumerate(ports)) {
      Value place =
          builder.create<LLVM::GEPOp>(location, pointer, pointer, array,
                                      LLVM::GEPArg(static_cast<int32_t>(i)));
      Value address = builder.create<LLVM::LoadOp>(location, pointer, place);
      addresses.push_back(address);
      if (!port.bytes)
        continue;
      checkNull(address);
      // Of a complex number its part's.
      uint64_t element = alula_dtype_get_bytes(port.dtype);
      if (alula_dtype_get_kind(port.dtype) == ALULA_KIND_COMPLEX)
        element /= 2;
      checkAlignment(address, element);
    }
    return addresses;
  }

  void checkApart(Value a, const Port &aPort, Value b, const Port &bPort) {
    if (!aPort.bytes || !bPort.bytes)
      return;
    declareApart();
    Value aEnd = makeOffset(a, aPort.bytes), bEnd = makeOffset(b, bPort.bytes);
    check(builder
              .create<func::CallOp>(location, areApartName, builder.getI1Type(),
                                    ValueRange{a, aEnd, b, bEnd})
              .getResult(0),
          Code::Alias);
  }

  void declareApart() {
    if (host.target.lookupSymbol(areApartName))
      return;
    OpBuilder::InsertionGuard guard(builder);
    Block *body = [&] {
      builder.setInsertionPointToEnd(host.target.getBody());
      auto function = builder.create<func::FuncOp>(
          location, areApartName,
          builder.getFunctionType({pointer, pointer, pointer, pointer},
                                  builder.getI1Type()));
      function.setPrivate();
      return function.addEntryBlock();
    }();
    builder.setInsertionPointToEnd(body);
    auto isBefore = [&](unsigned a, unsigned b) -> Value {
      return builder.create<LLVM::ICmpOp>(location, LLVM::ICmpPredicate::ule,
                                          body->getArgument(a),
                                          body->getArgument(b));
    };
    Value before = isBefore(1, 2), after = isBefore(3, 0);
    Value apart = builder.create<arith::OrIOp>(location, before, after);
    builder.create<func::ReturnOp>(location, apart);
  }

  HostModule &host;
  const Program &program;
  Location location;
  OpBuilder builder;
  Type pointer;
};

class HostBuilder {
public:
  HostBuilder(ModuleOp module, const Options &options, Program &program)
      : module(module), options(options), program(program) {}

  OwningOpRef<ModuleOp> run() {
    const MachineFacts &facts = getMachine(module);
    OwningOpRef<ModuleOp> target(ModuleOp::create(module.getLoc()));
    MLIRContext *context = module.getContext();
    context
        ->loadDialect<func::FuncDialect, LLVM::LLVMDialect, arith::ArithDialect,
                      scf::SCFDialect, cf::ControlFlowDialect>();
    host.source = module;
    host.target = *target;
    host.indexBits = static_cast<unsigned>(facts.indexBits);
    program.prefix = options.prefix;
    program.alignment = static_cast<uint64_t>(facts.alignment);
    WrapperBuilder wrappers(host, program, module.getLoc());
    wrappers.declareFail();
    if (failed(planState()))
      return nullptr;
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isExternal() && failed(addFunction(function)))
        return nullptr;
    llvm::StringSet<> symbols;
    if (program.stateBytes)
      symbols.insert(program.prefix + "_reset");
    for (const Function &function : program.functions) {
      if (!function.isExported)
        continue;
      auto source = module.lookupSymbol<func::FuncOp>(function.name);
      if (!symbols.insert(function.symbol).second) {
        source.emitError() << "'func.func': two functions would be called "
                           << function.symbol << " in C: @" << function.name;
        return nullptr;
      }
      wrappers.addRun(function, source);
    }
    if (program.stateBytes &&
        failed(wrappers.addReset(program.prefix + "_reset")))
      return nullptr;
    program.constantBytes = host.constantBytes;
    return target;
  }

private:
  LogicalResult planState() {
    uint64_t bytes = 0;
    SmallVector<StringAttr> open;
    for (auto global : module.getOps<ml_program::GlobalOp>()) {
      StringAttr name = global.getSymNameAttr();
      auto initial =
          dyn_cast_or_null<ElementsAttr>(global.getValue().value_or(nullptr));
      if (initial && !global.getIsMutable()) {
        host.known[name] = initial;
        continue;
      }
      auto type = dyn_cast<RankedTensorType>(global.getType());
      auto size = type ? getByteSize(type) : std::nullopt;
      if (!size)
        return global.emitError()
               << "'ml_program.global': no native code: values of type "
               << global.getType();
      bytes = llvm::alignTo(bytes, program.alignment);
      host.globals[name] = bytes;
      program.state.push_back({name.str(), bytes, static_cast<uint64_t>(*size),
                               initial != nullptr});
      bytes += static_cast<uint64_t>(*size);
      if (!initial)
        open.push_back(name);
    }
    for (StringAttr name : open)
      host.flags[name] = bytes++;
    program.stateBytes = llvm::alignTo(bytes, program.alignment);
    return success();
  }

  /// Callees stand before their callers.
  LogicalResult addFunction(func::FuncOp source) {
    StringAttr name = source.getSymNameAttr();
    if (places.contains(name))
      return success();
    if (!onTheWay.insert(name).second)
      return source.emitError()
             << "'func.func': calls itself: @" << source.getSymName();
    WalkResult callees = source.walk([&](CallOp call) {
      auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
      return failed(addFunction(callee)) ? WalkResult::interrupt()
                                         : WalkResult::advance();
    });
    if (callees.wasInterrupted())
      return failure();
    Function function;
    function.name = name.str();
    function.isExported = source.isPublic();
    function.symbol =
        program.prefix + "_" +
        (function.name == "main" ? "run" : makeIdentifier(function.name));
    if (failed(addPorts(source, function)))
      return failure();
    Arena arena = planArena(source, program.alignment,
                            [&](Operation *op) { return getNeed(op); });
    function.arenaBytes = arena.bytes;
    function.lowerBound = arena.lowerBound;
    function.pieces = arena.pieces;
    if (function.arenaBytes > INT32_MAX)
      return source.emitError()
             << "'func.func': the arena of @" << function.name << " is "
             << function.arenaBytes << " bytes: the most is " << INT32_MAX;
    if (options.arenaBudget && function.isExported &&
        function.arenaBytes > *options.arenaBudget)
      return source.emitError()
             << "'func.func': the arena of @" << function.name << " is "
             << function.arenaBytes
             << " bytes, more than --arena-budget=" << *options.arenaBudget
             << " (at least " << function.lowerBound
             << " are needed in this order): " << describePeak(function);
    places[name] = program.functions.size();
    program.functions.push_back(std::move(function));
    return convertFunction(host, source, arena, getBodyName(name));
  }

  uint64_t getNeed(Operation *op) {
    if (auto call = dyn_cast<CallOp>(op))
      return program.functions[places.lookup(call.getCalleeAttr().getAttr())]
          .arenaBytes;
    auto entry = cast<RunOp>(op).getEntry();
    auto executable =
        module.lookupSymbol<ExecutableOp>(entry.getRootReference());
    auto entryOp = executable.lookupSymbol<EntryOp>(entry.getLeafReference());
    return static_cast<uint64_t>(entryOp.getScratchBytes());
  }

  LogicalResult addPorts(func::FuncOp source, Function &function) {
    for (BlockArgument argument : source.getArguments()) {
      unsigned i = argument.getArgNumber();
      auto name = source.getArgAttrOfType<StringAttr>(i, "jax.arg_info");
      if (!name)
        if (auto location = dyn_cast<NameLoc>(argument.getLoc()))
          name = location.getName();
      if (failed(addPort(source, argument.getType(), "argument", i, name,
                         function.inputs)))
        return failure();
    }
    for (auto [i, type] : llvm::enumerate(source.getResultTypes())) {
      auto number = static_cast<unsigned>(i);
      if (failed(addPort(
              source, type, "result", number,
              source.getResultAttrOfType<StringAttr>(number, "jax.result_info"),
              function.outputs)))
        return failure();
    }
    return success();
  }

  LogicalResult addPort(func::FuncOp source, Type type, StringRef what,
                        unsigned number, StringAttr name,
                        std::vector<Port> &ports) {
    Port port;
    if (name)
      port.name = name.str();
    if (isa<stablehlo::TokenType>(type)) {
      port.dtype = ALULA_DTYPE_TOKEN;
      ports.push_back(std::move(port));
      return success();
    }
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (tensor && !tensor.hasStaticShape())
      return source.emitError()
             << "'func.func': " << what << " " << number << " of @"
             << source.getSymName() << " has a size that is known at run time "
             << "only: code without a runtime has all its memory planned: "
             << type;
    auto bytes = tensor ? getByteSize(tensor) : std::nullopt;
    auto dtype = tensor ? getDtype(tensor.getElementType()) : std::nullopt;
    if (!bytes || !dtype)
      return source.emitError()
             << "'func.func': no native code: values of type " << type;
    port.dtype = *dtype;
    port.shape = tensor.getShape().vec();
    port.bytes = static_cast<uint64_t>(*bytes);
    ports.push_back(std::move(port));
    return success();
  }

  ModuleOp module;
  const Options &options;
  Program &program;
  HostModule host;
  DenseMap<StringAttr, size_t> places;
  DenseSet<StringAttr> onTheWay;
};
} // namespace

OwningOpRef<ModuleOp> alula::standalone::makeHost(ModuleOp module,
                                                  const Options &options,
                                                  Program &program) {
  return HostBuilder(module, options, program).run();
}
