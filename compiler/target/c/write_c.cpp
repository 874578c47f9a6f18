// One statement for each instruction, so that no C compiler may round twice as
// once; loops are gotos, in which C compilers find them again.
//   %3 = fmul float %1, %2    →  v3 = v1 * v2;
//   br i1 %4, label %5, …     →  if (v4) { v6 = v7; goto b5; } …
// Integers have no sign and floats their C type; pointers are `char *`, in
// memory 64 bits; halves are their bits.

#include "compiler/target/c/write_c.h"

#include "compiler/target/c/small_functions.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/Scalarizer.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

using namespace llvm;
using namespace alula::c;

const char *const alula::c::dataLayout =
    "e-m:e-p:64:64:64:32-i64:64-i128:128-n32-S128";

void alula::c::prepare(Module &module) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager calls;
  ModuleAnalysisManager modules;
  PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(calls);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, calls, modules);
  FunctionPassManager passes;
  ScalarizerPassOptions scalars;
  scalars.ScalarizeVariableInsertExtract = true;
  scalars.ScalarizeLoadStore = true;
  passes.addPass(ScalarizerPass(scalars));
  passes.addPass(ADCEPass());
  ModulePassManager all;
  all.addPass(createModuleToFunctionPassAdaptor(std::move(passes)));
  all.addPass(GlobalDCEPass());
  all.run(module, modules);
}

/// What C's or our builtins call an operation on floats.
static std::string getFunctionName(Intrinsic::ID id, const Type *type) {
  StringRef name;
  switch (id) {
  case Intrinsic::sqrt:
    name = "sqrt";
    break;
  case Intrinsic::fma:
    name = "fma";
    break;
  case Intrinsic::floor:
    name = "floor";
    break;
  case Intrinsic::ceil:
    name = "ceil";
    break;
  case Intrinsic::trunc:
    name = "trunc";
    break;
  case Intrinsic::rint:
  case Intrinsic::nearbyint:
  case Intrinsic::roundeven:
    name = "rint";
    break;
  case Intrinsic::round:
    name = "round";
    break;
  default:
    return "";
  }
  return (name + (type->isDoubleTy() ? "" : "f")).str();
}

std::vector<std::string> alula::c::listNeeded(const Module &module) {
  std::vector<std::string> names;
  for (const Function &function : module) {
    if (function.isDeclaration() && !function.isIntrinsic())
      names.push_back(function.getName().str());
    for (const Instruction &instruction : instructions(function)) {
      if (auto *call = dyn_cast<IntrinsicInst>(&instruction)) {
        std::string name =
            getFunctionName(call->getIntrinsicID(), call->getType());
        if (!name.empty())
          names.push_back(std::move(name));
      } else if (instruction.getOpcode() == Instruction::FRem) {
        names.push_back(instruction.getType()->isDoubleTy() ? "fmod" : "fmodf");
      }
    }
  }
  sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

namespace {
std::string makeName(StringRef name) {
  std::string text;
  for (char c : name)
    text += isAlnum(c) ? c : '_';
  return text;
}

class Writer {
public:
  Writer(Module &module, ArrayRef<Exported> exported)
      : module(module), layout(module.getDataLayout()), exported(exported),
        os(body) {}

  Expected<Text> run() {
    nameFunctions();
    std::string prototypes;
    for (Function &function : module)
      if (!function.isDeclaration()) {
        // Names of types are given while they are used.
        prototypes += getHead(function, /*hasNames=*/false) + ";\n";
      }
    for (Function &function : module)
      if (!function.isDeclaration())
        writeFunction(function);
    for (const Exported &each : exported)
      writeExported(each);
    if (!problem.empty())
      return createStringError(problem);
    Text text;
    text.code = std::string(prelude) + "\n" + helpers.takeText() + "\n" +
                types + constants + declarations + "\n" + prototypes + "\n" +
                os.str();
    for (const auto &name : undefined)
      text.undefined.push_back(name.getKey().str());
    sort(text.undefined);
    return text;
  }

private:
  // ---- Types ----

  static unsigned getWidth(unsigned bits) {
    return bits <= 8 ? 8 : bits <= 16 ? 16 : bits <= 32 ? 32 : 64;
  }

  std::string fail(const Twine &what) {
    if (problem.empty())
      problem = ("there is no C for " + what +
                 (current ? ", in '" + current->getName().str() + "'" : ""))
                    .str();
    return "0";
  }

  static std::string print(const Type &type) {
    std::string text;
    raw_string_ostream stream(text);
    type.print(stream);
    return text;
  }

  /// "u32", "f64", "ptr"; of what a helper works on.
  std::string getKind(const Type *type) {
    if (type->isIntegerTy() && type->getIntegerBitWidth() <= 64)
      return "u" + std::to_string(getWidth(type->getIntegerBitWidth()));
    if (type->isHalfTy() || type->isBFloatTy())
      return "u16";
    if (type->isFloatTy())
      return "f32";
    if (type->isDoubleTy())
      return "f64";
    if (type->isPointerTy())
      return "ptr";
    fail("values of type " + print(*type));
    return "u8";
  }

  static bool isWide(const Type *type) {
    return type->isIntegerTy() && type->getIntegerBitWidth() > 64 &&
           type->getIntegerBitWidth() <= 128;
  }

  std::string getType(Type *type) {
    if (type->isVoidTy())
      return "void";
    if (isWide(type)) {
      helpers.use("wide");
      return "u128";
    }
    if (auto *structure = dyn_cast<StructType>(type)) {
      std::string &name = structNames[structure];
      if (name.empty()) {
        std::string fields;
        for (auto [i, field] : enumerate(structure->elements()))
          fields += "  " + getType(field) + " f" + std::to_string(i) + ";\n";
        std::string made = "group" + std::to_string(structNames.size());
        types += "typedef struct {\n" + fields + "} " + made + ";\n";
        structNames[structure] = made;
        return made;
      }
      return name;
    }
    std::string kind = getKind(type);
    if (kind == "f32")
      return "float";
    if (kind == "f64")
      return "double";
    if (kind == "ptr")
      return "char *";
    return "uint" + kind.substr(1) + "_t";
  }

  // ---- Values ----

  static std::string getHex(uint64_t number, unsigned width) {
    std::string text = "0x" + utohexstr(number, /*LowerCase=*/true);
    if (number < 10)
      text = std::to_string(number);
    return text + (width == 64 ? "ull" : "u");
  }

  std::string getFloat(const APFloat &value, bool isDouble) {
    std::string kind = isDouble ? "f64" : "f32";
    uint64_t bits = value.bitcastToAPInt().getZExtValue();
    if (!value.isFinite())
      return helpers.use("of_bits", kind) + "(" +
             getHex(bits, isDouble ? 64 : 32) + ")";
    SmallString<40> text;
    text.resize(40);
    text.resize(value.convertToHexString(text.data(), 0, /*UpperCase=*/false,
                                         RoundingMode::NearestTiesToEven));
    std::string result = text.str().str() + (isDouble ? "" : "f");
    return result.front() == '-' ? "(" + result + ")" : result;
  }

  std::string getConstant(Constant *constant) {
    Type *type = constant->getType();
    if (isa<UndefValue>(constant) || isa<ConstantAggregateZero>(constant)) {
      if (isWide(type))
        return helpers.use("wide") + "(0, 0)";
      if (type->isStructTy()) {
        std::string name = getType(type);
        if (zeros.insert(name).second)
          types += "static const " + name + " zero_" + name + " = {0};\n";
        return "zero_" + name;
      }
      return type->isPointerTy() ? "(char *)0" : "0";
    }
    if (auto *integer = dyn_cast<ConstantInt>(constant)) {
      const APInt &value = integer->getValue();
      if (isWide(type)) {
        helpers.use("wide");
        return "wide(" +
               getHex(
                   value.extractBitsAsZExtValue(value.getBitWidth() - 64, 64),
                   64) +
               ", " + getHex(value.extractBitsAsZExtValue(64, 0), 64) + ")";
      }
      if (value.getBitWidth() > 64)
        return fail("integers of " + Twine(value.getBitWidth()) + " bits");
      return getHex(value.getZExtValue(), getWidth(value.getBitWidth()));
    }
    if (auto *real = dyn_cast<ConstantFP>(constant)) {
      const APFloat &value = real->getValueAPF();
      if (type->isFloatTy() || type->isDoubleTy())
        return getFloat(value, type->isDoubleTy());
      getKind(type);
      return getHex(value.bitcastToAPInt().getZExtValue(), 16);
    }
    if (isa<ConstantPointerNull>(constant))
      return "(char *)0";
    if (auto *global = dyn_cast<GlobalVariable>(constant))
      return "(char *)(uintptr_t)" + getGlobal(*global);
    if (auto *function = dyn_cast<Function>(constant))
      return "(char *)(uintptr_t)" + getCallee(*function);
    if (auto *expression = dyn_cast<ConstantExpr>(constant)) {
      if (auto *place = dyn_cast<GEPOperator>(expression))
        return getPlace(*place);
      if (expression->getOpcode() == Instruction::PtrToInt)
        return "(" + getType(type) + ")(uintptr_t)" +
               get(expression->getOperand(0));
    }
    return fail("a constant of type " + print(*type));
  }

  std::string get(Value *value) {
    if (auto *constant = dyn_cast<Constant>(value))
      return getConstant(constant);
    return names.lookup(value);
  }

  // ---- Globals ----

  /// Bytes as the layout has them.
  bool addBytes(Constant *constant, SmallVectorImpl<char> &bytes) {
    Type *type = constant->getType();
    size_t begin = bytes.size(), size = layout.getTypeAllocSize(type);
    auto pad = [&] { bytes.resize(begin + size); };
    if (isa<UndefValue>(constant) || constant->isNullValue()) {
      pad();
      return true;
    }
    APInt number;
    if (auto *integer = dyn_cast<ConstantInt>(constant))
      number = integer->getValue();
    else if (auto *real = dyn_cast<ConstantFP>(constant))
      number = real->getValueAPF().bitcastToAPInt();
    if (number.getBitWidth() > 1 || type->isIntegerTy(1)) {
      for (unsigned i = 0; i < number.getBitWidth(); i += 8)
        bytes.push_back(static_cast<char>(number.extractBitsAsZExtValue(
            std::min(8u, number.getBitWidth() - i), i)));
      pad();
      return true;
    }
    if (auto *data = dyn_cast<ConstantDataSequential>(constant)) {
      StringRef raw = data->getRawDataValues();
      bytes.append(raw.begin(), raw.end());
      pad();
      return true;
    }
    if (isa<ConstantArray, ConstantStruct>(constant)) {
      auto *structure = dyn_cast<StructType>(type);
      for (unsigned i = 0; i < constant->getNumOperands(); ++i) {
        if (structure)
          bytes.resize(begin +
                       layout.getStructLayout(structure)->getElementOffset(i));
        if (!addBytes(cast<Constant>(constant->getOperand(i)), bytes))
          return false;
      }
      pad();
      return true;
    }
    return false;
  }

  std::string getGlobal(GlobalVariable &global) {
    std::string &name = globals[&global];
    if (!name.empty())
      return name;
    name = "constant_" + std::to_string(globals.size());
    SmallVector<char> bytes;
    if (!global.isConstant() || !global.hasInitializer() ||
        !addBytes(global.getInitializer(), bytes))
      return fail("the data of '" + global.getName() + "'");
    // Elements of a C array are as far from each other as they are large.
    unsigned width = global.getAlign().valueOrOne().value() > 4 ||
                             layout.getPreferredAlign(&global).value() > 4
                         ? 8
                         : 4;
    if (bytes.size() % 8)
      width = 4;
    bytes.resize(alignTo(bytes.size(), width));
    if (bytes.empty())
      bytes.resize(width);
    raw_string_ostream stream(constants);
    stream << "static const uint" << 8 * width << "_t " << name << "["
           << bytes.size() / width << "] = {";
    for (size_t i = 0; i < bytes.size(); i += width) {
      uint64_t word = 0;
      for (unsigned j = 0; j < width; ++j)
        word |= uint64_t(static_cast<unsigned char>(bytes[i + j])) << 8 * j;
      stream << (i == 0        ? "\n  "
                 : i % 32 == 0 ? ",\n  "
                               : ", ")
             << getHex(word, 8 * width);
    }
    stream << "};\n";
    return name;
  }

  // ---- Functions ----

  void nameFunctions() {
    StringSet<> taken;
    for (Function &function : module) {
      if (function.isIntrinsic())
        continue;
      std::string name = "f_" + makeName(function.getName());
      while (!taken.insert(name).second)
        name += "_";
      functionNames[&function] = name;
    }
  }

  /// Of our own, or C's.
  std::string getCallee(Function &function) {
    if (!function.isDeclaration())
      return functionNames.lookup(&function);
    fail("the function '" + function.getName() + "'");
    return function.getName().str();
  }

  /// A function of our builtins, or of C's library.
  std::string getNamed(const std::string &name, StringRef type) {
    if (Function *function = module.getFunction(name);
        function && !function->isDeclaration())
      return functionNames.lookup(function);
    if (name != "sqrt" && name != "sqrtf")
      fail("the function '" + name + "'");
    if (undefined.insert(name).second)
      declarations += (type + " " + name + "(" + type + ");\n").str();
    return name;
  }

  std::string getHead(Function &function, bool hasNames) {
    std::string parameters;
    for (Argument &argument : function.args()) {
      if (argument.getArgNo())
        parameters += ", ";
      std::string type = getType(argument.getType());
      bool isAlone = type == "char *" && argument.hasNoAliasAttr();
      parameters += type + (isAlone ? "restrict" : "");
      if (hasNames)
        parameters += (type == "char *" && !isAlone ? "a" : " a") +
                      std::to_string(argument.getArgNo());
    }
    std::string type = getType(function.getReturnType());
    return "static " + type + (type == "char *" ? "" : " ") +
           functionNames.lookup(&function) + "(" +
           (parameters.empty() ? "void" : parameters) + ")";
  }

  void writeFunction(Function &function) {
    current = &function;
    names.clear();
    blocks.clear();
    os << getHead(function, /*hasNames=*/true) << " {\n";
    for (Argument &argument : function.args())
      names[&argument] = "a" + std::to_string(argument.getArgNo());
    unsigned number = 0;
    for (Instruction &instruction : instructions(function)) {
      Type *type = instruction.getType();
      if (type->isVoidTy() || isSilent(instruction))
        continue;
      std::string name = "v" + std::to_string(number++);
      names[&instruction] = name;
      if (auto *memory = dyn_cast<AllocaInst>(&instruction)) {
        writeMemory(*memory, name);
        continue;
      }
      if (instruction.use_empty())
        continue;
      std::string written = getType(type);
      os << "  " << written << (written == "char *" ? "" : " ") << name;
      if (isa<PHINode>(instruction) && needsCopy(cast<PHINode>(instruction)))
        os << ", " << (written == "char *" ? "*" : "") << name << "_next";
      os << ";\n";
    }
    for (auto [i, block] : enumerate(function))
      blocks[&block] = "b" + std::to_string(i);
    for (Argument &argument : function.args())
      if (argument.use_empty())
        os << "  (void)a" << argument.getArgNo() << ";\n";
    for (BasicBlock &block : function)
      writeBlock(block);
    os << "}\n\n";
    current = nullptr;
  }

  void writeMemory(AllocaInst &memory, const std::string &name) {
    auto size = memory.getAllocationSize(layout);
    if (!size || size->isScalable() || !memory.isStaticAlloca()) {
      fail("memory of a size that is not known");
      return;
    }
    uint64_t words =
        std::max<uint64_t>(divideCeil(size->getFixedValue(), 8), 1);
    os << "  uint64_t " << name << "_memory[" << words << "];\n  char *" << name
       << " = (char *)" << name << "_memory;\n";
  }

  /// A phi that another one of its block reads on the way in.
  static bool needsCopy(const PHINode &phi) {
    return any_of(phi.users(), [&](const User *user) {
      auto *other = dyn_cast<PHINode>(user);
      return other && other != &phi && other->getParent() == phi.getParent();
    });
  }

  static bool isSilent(const Instruction &instruction) {
    auto *call = dyn_cast<IntrinsicInst>(&instruction);
    if (!call)
      return false;
    switch (call->getIntrinsicID()) {
    case Intrinsic::assume:
    case Intrinsic::lifetime_start:
    case Intrinsic::lifetime_end:
    case Intrinsic::invariant_start:
    case Intrinsic::invariant_end:
    case Intrinsic::experimental_noalias_scope_decl:
    case Intrinsic::sideeffect:
    case Intrinsic::donothing:
    case Intrinsic::dbg_declare:
    case Intrinsic::dbg_value:
    case Intrinsic::dbg_label:
    case Intrinsic::prefetch:
      return true;
    default:
      return false;
    }
  }

  void writeBlock(BasicBlock &block) {
    if (!block.isEntryBlock())
      os << blocks.lookup(&block) << ":\n";
    for (Instruction &instruction : block) {
      if (isa<AllocaInst>(instruction) || isSilent(instruction))
        continue;
      if (auto *phi = dyn_cast<PHINode>(&instruction)) {
        if (!phi->use_empty() && needsCopy(*phi)) {
          os << "  " << names.lookup(phi) << " = " << names.lookup(phi)
             << "_next;\n";
        }
        continue;
      }
      if (instruction.isTerminator()) {
        writeEnd(instruction);
        continue;
      }
      write(instruction);
    }
  }

  /// The way from one block to another.
  std::string getEdge(BasicBlock *from, BasicBlock *to) {
    std::string text;
    for (PHINode &phi : to->phis()) {
      if (phi.use_empty())
        continue;
      Value *value = phi.getIncomingValueForBlock(from);
      std::string name = names.lookup(&phi) + (needsCopy(phi) ? "_next" : "");
      std::string given = get(value);
      if (given != name && !isa<UndefValue>(value))
        text += name + " = " + given + "; ";
    }
    return text + "goto " + blocks.lookup(to) + ";";
  }

  void writeEnd(Instruction &end) {
    BasicBlock *block = end.getParent();
    if (auto *branch = dyn_cast<BranchInst>(&end)) {
      if (branch->isUnconditional()) {
        os << "  " << getEdge(block, branch->getSuccessor(0)) << "\n";
        return;
      }
      os << "  if (" << get(branch->getCondition()) << ") { "
         << getEdge(block, branch->getSuccessor(0)) << " }\n  "
         << getEdge(block, branch->getSuccessor(1)) << "\n";
      return;
    }
    if (auto *choice = dyn_cast<SwitchInst>(&end)) {
      os << "  switch (" << get(choice->getCondition()) << ") {\n";
      for (auto each : choice->cases())
        os << "  case " << getConstant(each.getCaseValue()) << ": "
           << getEdge(block, each.getCaseSuccessor()) << "\n";
      os << "  default: " << getEdge(block, choice->getDefaultDest())
         << "\n  }\n";
      return;
    }
    if (auto *result = dyn_cast<ReturnInst>(&end)) {
      if (Value *value = result->getReturnValue())
        os << "  return " << get(value) << ";\n";
      else
        os << "  return;\n";
      return;
    }
    if (isa<UnreachableInst>(end)) {
      // Nobody comes here.
      os << "  for (;;) {\n  }\n";
      return;
    }
    fail(Twine(end.getOpcodeName()));
  }

  // ---- Instructions ----

  /// Leaves only the bits that the type has.
  std::string mask(Type *type, const std::string &text) {
    unsigned bits = type->getIntegerBitWidth();
    unsigned width = getWidth(bits);
    std::string cast = "(uint" + std::to_string(width) + "_t)(";
    if (bits == width)
      return cast + text + ")";
    return cast + "(" + text + ") & " +
           getHex((uint64_t(1) << bits) - 1, width) + ")";
  }

  /// The number with its sign, as an integer of C.
  std::string getSigned(Value *value) {
    unsigned bits = value->getType()->getIntegerBitWidth();
    unsigned width = getWidth(bits);
    std::string type = "(int" + std::to_string(width) + "_t)";
    if (bits == width)
      return type + get(value);
    std::string sign = getHex(uint64_t(1) << (bits - 1), width);
    std::string unsignedType = "(uint" + std::to_string(width) + "_t)";
    return type + unsignedType + "((" + get(value) + " ^ " + sign + ") - " +
           sign + ")";
  }

  std::string getPlace(GEPOperator &place) {
    unsigned bits = layout.getIndexTypeSizeInBits(place.getType());
    MapVector<Value *, APInt> variables;
    APInt fixed(bits, 0);
    if (!place.collectOffset(layout, bits, variables, fixed))
      return fail("a place of this type");
    std::string text = get(place.getPointerOperand());
    for (auto &[index, scale] : variables) {
      // Places are as wide as the layout says.
      unsigned width = index->getType()->getIntegerBitWidth();
      std::string number =
          width < 32 ? getSigned(index) : "(int32_t)" + get(index);
      text += " + (ptrdiff_t)" + number + " * " +
              std::to_string(scale.getSExtValue());
    }
    int64_t offset = fixed.getSExtValue();
    if (offset)
      text += offset < 0 ? " - " + std::to_string(-offset)
                         : " + " + std::to_string(offset);
    return "(" + text + ")";
  }

  std::string getBinary(BinaryOperator &op) {
    Type *type = op.getType();
    std::string a = get(op.getOperand(0)), b = get(op.getOperand(1));
    if (type->isFloatingPointTy())
      return getFloatBinary(op, a, b);
    if (isWide(type))
      return getWideBinary(op, a, b);
    if (!type->isIntegerTy())
      return fail(Twine(op.getOpcodeName()) + " of " + print(*type));
    unsigned bits = type->getIntegerBitWidth(), width = getWidth(bits);
    std::string kind = "u" + std::to_string(width);
    // Smaller ones would be multiplied with a sign.
    std::string wide = width < 32 ? "(uint32_t)" : "";
    std::string count = "(" + b + " & " + std::to_string(width - 1) + "u)";
    switch (op.getOpcode()) {
    case Instruction::Add:
      return mask(type, wide + a + " + " + b);
    case Instruction::Sub:
      return mask(type, wide + a + " - " + b);
    case Instruction::Mul:
      return mask(type, wide + a + " * " + b);
    case Instruction::UDiv:
      return mask(type, a + " / " + b);
    case Instruction::URem:
      return mask(type, a + " % " + b);
    case Instruction::And:
      return mask(type, a + " & " + b);
    case Instruction::Or:
      return mask(type, a + " | " + b);
    case Instruction::Xor:
      return mask(type, a + " ^ " + b);
    case Instruction::Shl:
      return mask(type, wide + a + " << " + count);
    case Instruction::LShr:
      return mask(type, a + " >> " + count);
    case Instruction::AShr:
    case Instruction::SDiv:
    case Instruction::SRem: {
      StringRef name = op.getOpcode() == Instruction::AShr   ? "ashr"
                       : op.getOpcode() == Instruction::SDiv ? "sdiv"
                                                             : "srem";
      std::string left = a, right = b;
      if (bits != width) {
        std::string cast = "(uint" + std::to_string(width) + "_t)";
        left = cast + getSigned(op.getOperand(0));
        if (name != "ashr")
          right = cast + getSigned(op.getOperand(1));
      }
      return mask(type,
                  helpers.use(name, kind) + "(" + left + ", " + right + ")");
    }
    default:
      return fail(Twine(op.getOpcodeName()));
    }
  }

  std::string getFloatBinary(BinaryOperator &op, std::string a, std::string b) {
    Type *type = op.getType();
    bool isHalf = type->isHalfTy();
    if (!isHalf && !type->isFloatTy() && !type->isDoubleTy())
      return fail(Twine(op.getOpcodeName()) + " of " + print(*type));
    if (isHalf) {
      a = helpers.use("of_half") + "(" + a + ")";
      b = "of_half(" + b + ")";
    }
    std::string text;
    switch (op.getOpcode()) {
    case Instruction::FAdd:
      text = a + " + " + b;
      break;
    case Instruction::FSub:
      text = a + " - " + b;
      break;
    case Instruction::FMul:
      text = a + " * " + b;
      break;
    case Instruction::FDiv:
      text = a + " / " + b;
      break;
    case Instruction::FRem:
      text = getNamed(type->isDoubleTy() ? "fmod" : "fmodf", "") + "(" + a +
             ", " + b + ")";
      break;
    default:
      return fail(Twine(op.getOpcodeName()));
    }
    return isHalf ? helpers.use("to_half") + "(" + text + ")" : text;
  }

  std::string getWideBinary(BinaryOperator &op, const std::string &a,
                            const std::string &b) {
    StringRef name = StringSwitch<StringRef>(op.getOpcodeName())
                         .Case("add", "wide_add")
                         .Case("sub", "wide_sub")
                         .Case("and", "wide_and")
                         .Case("or", "wide_or")
                         .Case("xor", "wide_xor")
                         .Case("shl", "wide_shl")
                         .Case("lshr", "wide_lshr")
                         .Case("mul", "wide_mul")
                         .Default("");
    if (name.empty() || op.getType()->getIntegerBitWidth() != 128)
      return fail(Twine(op.getOpcodeName()) + " of " + print(*op.getType()));
    return helpers.use(name) + "(" + a + ", " + b + ")";
  }

  std::string getComparison(CmpInst &compare) {
    Value *left = compare.getOperand(0), *right = compare.getOperand(1);
    std::string a = get(left), b = get(right);
    Type *type = left->getType();
    CmpInst::Predicate predicate = compare.getPredicate();
    if (isa<FCmpInst>(compare)) {
      if (type->isHalfTy()) {
        a = helpers.use("of_half") + "(" + a + ")";
        b = "of_half(" + b + ")";
      } else if (!type->isFloatTy() && !type->isDoubleTy()) {
        return fail("comparisons of " + print(*type));
      }
      return getFloatComparison(predicate, a, b, right);
    }
    if (isWide(type)) {
      switch (predicate) {
      case CmpInst::ICMP_EQ:
        return helpers.use("wide_eq") + "(" + a + ", " + b + ")";
      case CmpInst::ICMP_NE:
        return "!" + helpers.use("wide_eq") + "(" + a + ", " + b + ")";
      case CmpInst::ICMP_ULT:
        return helpers.use("wide_ult") + "(" + a + ", " + b + ")";
      case CmpInst::ICMP_UGT:
        return helpers.use("wide_ult") + "(" + b + ", " + a + ")";
      case CmpInst::ICMP_ULE:
        return "!" + helpers.use("wide_ult") + "(" + b + ", " + a + ")";
      case CmpInst::ICMP_UGE:
        return "!" + helpers.use("wide_ult") + "(" + a + ", " + b + ")";
      default:
        return fail("comparisons of " + print(*type));
      }
    }
    if (type->isPointerTy()) {
      a = "(uintptr_t)" + a;
      b = "(uintptr_t)" + b;
    } else if (compare.isSigned()) {
      a = getSigned(left);
      b = getSigned(right);
    }
    StringRef word;
    switch (predicate) {
    case CmpInst::ICMP_EQ:
      word = " == ";
      break;
    case CmpInst::ICMP_NE:
      word = " != ";
      break;
    case CmpInst::ICMP_UGT:
    case CmpInst::ICMP_SGT:
      word = " > ";
      break;
    case CmpInst::ICMP_UGE:
    case CmpInst::ICMP_SGE:
      word = " >= ";
      break;
    case CmpInst::ICMP_ULT:
    case CmpInst::ICMP_SLT:
      word = " < ";
      break;
    default:
      word = " <= ";
      break;
    }
    return (a + word + b).str();
  }

  std::string getFloatComparison(CmpInst::Predicate predicate,
                                 const std::string &a, const std::string &b,
                                 Value *right) {
    auto *constant = dyn_cast<ConstantFP>(right);
    bool isNumber = constant && !constant->isNaN();
    switch (predicate) {
    case CmpInst::FCMP_OEQ:
      return a + " == " + b;
    case CmpInst::FCMP_OGT:
      return a + " > " + b;
    case CmpInst::FCMP_OGE:
      return a + " >= " + b;
    case CmpInst::FCMP_OLT:
      return a + " < " + b;
    case CmpInst::FCMP_OLE:
      return a + " <= " + b;
    case CmpInst::FCMP_ONE:
      return a + " < " + b + " || " + a + " > " + b;
    case CmpInst::FCMP_ORD:
      return isNumber || a == b ? a + " == " + a
                                : a + " == " + a + " && " + b + " == " + b;
    case CmpInst::FCMP_UNO:
      return isNumber || a == b ? a + " != " + a
                                : a + " != " + a + " || " + b + " != " + b;
    case CmpInst::FCMP_UEQ:
      return "!(" + a + " < " + b + " || " + a + " > " + b + ")";
    case CmpInst::FCMP_UGT:
      return "!(" + a + " <= " + b + ")";
    case CmpInst::FCMP_UGE:
      return "!(" + a + " < " + b + ")";
    case CmpInst::FCMP_ULT:
      return "!(" + a + " >= " + b + ")";
    case CmpInst::FCMP_ULE:
      return "!(" + a + " > " + b + ")";
    case CmpInst::FCMP_UNE:
      return a + " != " + b;
    case CmpInst::FCMP_TRUE:
      return "1";
    default:
      return "0";
    }
  }

  std::string getCast(CastInst &cast) {
    Value *source = cast.getOperand(0);
    Type *from = source->getType(), *to = cast.getType();
    std::string x = get(source);
    switch (cast.getOpcode()) {
    case Instruction::Trunc:
      return mask(to, isWide(from) ? x + ".low" : x);
    case Instruction::ZExt:
      if (isWide(to))
        return isWide(from) ? x : helpers.use("wide") + "(0, " + x + ")";
      return "(" + getType(to) + ")" + x;
    case Instruction::SExt:
      if (isWide(to)) {
        if (isWide(from))
          return fail("sext of " + print(*from));
        std::string full = "(uint64_t)(int64_t)" + getSigned(source);
        return helpers.use("wide") + "(0u - (" + full + " >> 63), " + full +
               ")";
      }
      return mask(to, getSigned(source));
    case Instruction::UIToFP:
      if (isWide(from))
        return fail("uitofp of " + print(*from));
      return convertToFloat(to, x);
    case Instruction::SIToFP:
      if (isWide(from))
        return fail("sitofp of " + print(*from));
      return convertToFloat(to, getSigned(source));
    case Instruction::FPToUI:
    case Instruction::FPToSI:
      return convertToInteger(x, from, to,
                              cast.getOpcode() == Instruction::FPToSI);
    case Instruction::FPExt:
      if (from->isHalfTy())
        x = helpers.use("of_half") + "(" + x + ")";
      else if (!from->isFloatTy())
        return fail("values of type " + print(*from));
      return "(" + getType(to) + ")" + x;
    case Instruction::FPTrunc:
      if (to->isHalfTy() && from->isFloatTy())
        return helpers.use("to_half") + "(" + x + ")";
      if (!to->isFloatTy())
        return fail("fptrunc to " + print(*to));
      return "(float)" + x;
    case Instruction::PtrToInt:
      return mask(to, "(uintptr_t)" + x);
    case Instruction::BitCast: {
      std::string a = getKind(from), b = getKind(to);
      if (a == b)
        return x;
      if (a[0] == 'f' && b[0] == 'u')
        return helpers.use("to_bits", a) + "(" + x + ")";
      if (a[0] == 'u' && b[0] == 'f')
        return helpers.use("of_bits", b) + "(" + x + ")";
      return fail("a bitcast of " + print(*from) + " to " + print(*to));
    }
    default:
      return fail(Twine(cast.getOpcodeName()));
    }
  }

  std::string convertToFloat(Type *to, const std::string &x) {
    // An integer of 32 bits has more digits than a float.
    if (to->isHalfTy())
      return fail("integers to half");
    return "(" + getType(to) + ")" + x;
  }

  std::string convertToInteger(std::string x, Type *from, Type *to,
                               bool isSigned) {
    if (from->isHalfTy()) {
      x = helpers.use("of_half") + "(" + x + ")";
    } else if (!from->isFloatTy() && !from->isDoubleTy()) {
      return fail("integers of " + print(*from));
    }
    if (isWide(to))
      return fail("floats to " + print(*to));
    unsigned bits = to->getIntegerBitWidth();
    std::string name = isSigned ? "to_signed_of_" : "to_unsigned_of_";
    name += from->isDoubleTy() ? "f64" : "f32";
    return mask(to, helpers.use(name, "u" + std::to_string(getWidth(bits))) +
                        "(" + x + ")");
  }

  std::string getIntrinsic(IntrinsicInst &call) {
    Intrinsic::ID id = call.getIntrinsicID();
    Type *type = call.getType();
    auto arg = [&](unsigned i) { return get(call.getArgOperand(i)); };
    switch (id) {
    case Intrinsic::memcpy:
    case Intrinsic::memcpy_inline:
    case Intrinsic::memmove:
    case Intrinsic::memset: {
      StringRef name = id == Intrinsic::memmove  ? "move_bytes"
                       : id == Intrinsic::memset ? "set_bytes"
                                                 : "copy_bytes";
      return helpers.use(name) + "(" + arg(0) + ", " + arg(1) + ", (size_t)" +
             arg(2) + ")";
    }
    case Intrinsic::fmuladd: {
      std::string kind = getKind(type);
      if (kind == "u16")
        return fail("fmuladd of " + print(*type));
      os << "  { " << getType(type) << " product = " << arg(0) << " * "
         << arg(1) << "; " << names.lookup(&call) << " = product + " << arg(2)
         << "; }\n";
      return "";
    }
    case Intrinsic::sqrt:
    case Intrinsic::fma:
    case Intrinsic::floor:
    case Intrinsic::ceil:
    case Intrinsic::trunc:
    case Intrinsic::rint:
    case Intrinsic::nearbyint:
    case Intrinsic::roundeven:
    case Intrinsic::round: {
      bool isHalf = type->isHalfTy();
      if (isHalf && id == Intrinsic::fma)
        return fail("fma of half");
      std::string text = getNamed(getFunctionName(id, type),
                                  type->isDoubleTy() ? "double" : "float") +
                         "(";
      for (unsigned i = 0; i < call.arg_size(); ++i)
        text += (i ? ", " : "") +
                (isHalf ? helpers.use("of_half") + "(" + arg(i) + ")" : arg(i));
      text += ")";
      return isHalf ? helpers.use("to_half") + "(" + text + ")" : text;
    }
    case Intrinsic::fabs:
      if (type->isHalfTy() || type->isBFloatTy())
        return "(uint16_t)(" + arg(0) + " & 0x7fffu)";
      return helpers.use("fabs", getKind(type)) + "(" + arg(0) + ")";
    case Intrinsic::copysign:
      if (type->isHalfTy() || type->isBFloatTy())
        return "(uint16_t)((" + arg(0) + " & 0x7fffu) | (" + arg(1) +
               " & 0x8000u))";
      return helpers.use("copysign", getKind(type)) + "(" + arg(0) + ", " +
             arg(1) + ")";
    case Intrinsic::maximum:
    case Intrinsic::minimum:
    case Intrinsic::maxnum:
    case Intrinsic::minnum: {
      StringRef name = id == Intrinsic::maximum   ? "maximum"
                       : id == Intrinsic::minimum ? "minimum"
                       : id == Intrinsic::maxnum  ? "maxnum"
                                                  : "minnum";
      if (type->isHalfTy())
        return helpers.use("to_half") + "(" + helpers.use(name, "f32") + "(" +
               helpers.use("of_half") + "(" + arg(0) + "), of_half(" + arg(1) +
               ")))";
      std::string kind = getKind(type);
      if (kind[0] != 'f')
        return fail(name + " of " + print(*type));
      return helpers.use(name, kind) + "(" + arg(0) + ", " + arg(1) + ")";
    }
    case Intrinsic::canonicalize:
    case Intrinsic::expect:
      return arg(0);
    case Intrinsic::fptosi_sat:
    case Intrinsic::fptoui_sat:
      if (getWidth(type->getIntegerBitWidth()) != type->getIntegerBitWidth())
        return fail("fptosi.sat to " + print(*type));
      return convertToInteger(arg(0), call.getArgOperand(0)->getType(), type,
                              id == Intrinsic::fptosi_sat);
    case Intrinsic::is_fpclass: {
      Type *of = call.getArgOperand(0)->getType();
      if (!of->isFloatTy() && !of->isDoubleTy())
        return fail("llvm.is.fpclass of " + print(*of));
      return helpers.use("is_class", getKind(of)) + "(" + arg(0) + ", " +
             arg(1) + ")";
    }
    default:
      return getIntegerIntrinsic(call);
    }
  }

  std::string getIntegerIntrinsic(IntrinsicInst &call) {
    Type *type = call.getType();
    Intrinsic::ID id = call.getIntrinsicID();
    auto arg = [&](unsigned i) { return get(call.getArgOperand(i)); };
    bool isWhole =
        type->isIntegerTy() && type->getIntegerBitWidth() <= 64 &&
        getWidth(type->getIntegerBitWidth()) == type->getIntegerBitWidth();
    StringRef name;
    unsigned count = 2;
    switch (id) {
    case Intrinsic::ctpop:
      name = "ctpop";
      count = 1;
      break;
    case Intrinsic::ctlz:
      name = "ctlz";
      count = 1;
      break;
    case Intrinsic::cttz:
      name = "cttz";
      count = 1;
      break;
    case Intrinsic::bswap:
      name = "bswap";
      count = 1;
      break;
    case Intrinsic::bitreverse:
      name = "bitreverse";
      count = 1;
      break;
    case Intrinsic::abs:
      name = "abs";
      count = 1;
      break;
    case Intrinsic::fshl:
      name = "fshl";
      count = 3;
      break;
    case Intrinsic::fshr:
      name = "fshr";
      count = 3;
      break;
    case Intrinsic::smax:
      name = "smax";
      break;
    case Intrinsic::smin:
      name = "smin";
      break;
    case Intrinsic::umax:
      name = "umax";
      break;
    case Intrinsic::umin:
      name = "umin";
      break;
    case Intrinsic::uadd_sat:
      name = "uadd_sat";
      break;
    case Intrinsic::usub_sat:
      name = "usub_sat";
      break;
    case Intrinsic::sadd_sat:
      name = "sadd_sat";
      break;
    case Intrinsic::ssub_sat:
      name = "ssub_sat";
      break;
    case Intrinsic::scmp:
      return mask(type, "(" + getSigned(call.getArgOperand(0)) + " > " +
                            getSigned(call.getArgOperand(1)) + ") - (" +
                            getSigned(call.getArgOperand(0)) + " < " +
                            getSigned(call.getArgOperand(1)) + ")");
    case Intrinsic::ucmp:
      return mask(type, "(" + arg(0) + " > " + arg(1) + ") - (" + arg(0) +
                            " < " + arg(1) + ")");
    default:
      return fail(call.getCalledFunction()->getName());
    }
    // Those that only compare work for any number of bits.
    if (!isWhole && type->isIntegerTy() && type->getIntegerBitWidth() < 64 &&
        (id == Intrinsic::umax || id == Intrinsic::umin))
      isWhole = true;
    if (!isWhole)
      return fail(call.getCalledFunction()->getName());
    std::string text = helpers.use(name, getKind(type)) + "(";
    for (unsigned i = 0; i < count; ++i)
      text += (i ? ", " : "") + arg(i);
    return text + ")";
  }

  std::string getCall(CallInst &call) {
    std::string arguments;
    for (Value *argument : call.args())
      arguments += (arguments.empty() ? "" : ", ") + get(argument);
    if (Function *callee = call.getCalledFunction())
      return getCallee(*callee) + "(" + arguments + ")";
    if (call.isInlineAsm())
      return fail("inline assembly");
    FunctionType *type = call.getFunctionType();
    std::string parameters;
    for (Type *parameter : type->params())
      parameters += (parameters.empty() ? "" : ", ") + getType(parameter);
    return "((" + getType(type->getReturnType()) + "(*)(" +
           (parameters.empty() ? "void" : parameters) + "))(uintptr_t)" +
           get(call.getCalledOperand()) + ")(" + arguments + ")";
  }

  std::string getMember(Type *type, ArrayRef<unsigned> indices) {
    std::string text;
    for (unsigned index : indices) {
      if (!type->isStructTy()) {
        fail("values of type " + print(*type));
        return "";
      }
      text += ".f" + std::to_string(index);
      type = cast<StructType>(type)->getElementType(index);
    }
    return text;
  }

  /// Memory of fewer bits than a C type has is written with zeros.
  bool isAligned(Type *type, Align align) {
    return align.value() >= layout.getTypeStoreSize(type);
  }

  void write(Instruction &instruction) {
    if (auto *store = dyn_cast<StoreInst>(&instruction)) {
      Value *value = store->getValueOperand();
      if (store->isAtomic())
        fail("atomic memory");
      writeStore(value, get(store->getPointerOperand()), store->getAlign());
      return;
    }
    std::string name = names.lookup(&instruction);
    if (auto *insert = dyn_cast<InsertValueInst>(&instruction)) {
      if (insert->use_empty())
        return;
      Value *whole = insert->getAggregateOperand();
      std::string member = getMember(insert->getType(), insert->getIndices());
      if (!isa<UndefValue>(whole))
        os << "  " << name << " = " << get(whole) << ";\n";
      os << "  " << name << member << " = "
         << get(insert->getInsertedValueOperand()) << ";\n";
      return;
    }
    std::string text = getValue(instruction);
    if (text.empty())
      return;
    if (instruction.getType()->isVoidTy() || instruction.use_empty()) {
      if (isa<CallInst>(instruction))
        os << "  " << text << ";\n";
      return;
    }
    os << "  " << name << " = " << text << ";\n";
  }

  void writeStore(Value *value, const std::string &place, Align align) {
    Type *type = value->getType();
    if (isWide(type)) {
      std::string text = get(value);
      os << "  " << helpers.use("store_any", "u64") << "(" << place << ", "
         << text << ".low);\n  store_any_u64(" << place << " + 8, " << text
         << ".high);\n";
      return;
    }
    if (auto *structure = dyn_cast<StructType>(type)) {
      const StructLayout *places = layout.getStructLayout(structure);
      std::string text = get(value);
      for (auto [i, field] : enumerate(structure->elements()))
        os << "  " << helpers.use("store_any", getKind(field)) << "(" << place
           << " + " << places->getElementOffset(i).getFixedValue() << ", "
           << text << ".f" << i << ");\n";
      return;
    }
    StringRef helper = isAligned(type, align) ? "store" : "store_any";
    os << "  " << helpers.use(helper, getKind(type)) << "(" << place << ", "
       << get(value) << ");\n";
  }

  std::string getValue(Instruction &instruction) {
    if (auto *op = dyn_cast<BinaryOperator>(&instruction))
      return getBinary(*op);
    if (auto *compare = dyn_cast<CmpInst>(&instruction))
      return getComparison(*compare);
    if (auto *cast = dyn_cast<CastInst>(&instruction))
      return getCast(*cast);
    if (auto *place = dyn_cast<GetElementPtrInst>(&instruction))
      return getPlace(*llvm::cast<GEPOperator>(place));
    if (auto *call = dyn_cast<IntrinsicInst>(&instruction)) {
      if (call->use_empty() && !call->getType()->isVoidTy())
        return "";
      return getOverflow(*call);
    }
    if (auto *call = dyn_cast<CallInst>(&instruction))
      return getCall(*call);
    if (auto *load = dyn_cast<LoadInst>(&instruction)) {
      Type *type = load->getType();
      std::string place = get(load->getPointerOperand());
      // What others may write meanwhile is read once, as anything is.
      if (load->isAtomic() &&
          load->getOrdering() != AtomicOrdering::Unordered &&
          load->getOrdering() != AtomicOrdering::Monotonic)
        return fail("atomic memory");
      if (isWide(type)) {
        helpers.use("load_any", "u64");
        return helpers.use("wide") + "(load_any_u64(" + place +
               " + 8), load_any_u64(" + place + "))";
      }
      StringRef helper =
          isAligned(type, load->getAlign()) ? "load" : "load_any";
      std::string text = helpers.use(helper, getKind(type)) + "(" + place + ")";
      return text;
    }
    if (auto *select = dyn_cast<SelectInst>(&instruction))
      return get(select->getCondition()) + " ? " + get(select->getTrueValue()) +
             " : " + get(select->getFalseValue());
    if (auto *extract = dyn_cast<ExtractValueInst>(&instruction))
      return get(extract->getAggregateOperand()) +
             getMember(extract->getAggregateOperand()->getType(),
                       extract->getIndices());
    if (isa<FreezeInst>(instruction))
      return get(instruction.getOperand(0));
    if (instruction.getOpcode() == Instruction::FNeg) {
      Type *type = instruction.getType();
      if (type->isHalfTy() || type->isBFloatTy())
        return "(uint16_t)(" + get(instruction.getOperand(0)) + " ^ 0x8000u)";
      return "-" + get(instruction.getOperand(0));
    }
    return fail(Twine(instruction.getOpcodeName()));
  }

  /// {result, whether it is too large}.
  std::string getOverflow(IntrinsicInst &call) {
    Intrinsic::ID id = call.getIntrinsicID();
    if (id != Intrinsic::uadd_with_overflow &&
        id != Intrinsic::usub_with_overflow &&
        id != Intrinsic::umul_with_overflow)
      return getIntrinsic(call);
    std::string a = get(call.getArgOperand(0)), b = get(call.getArgOperand(1));
    Type *type = call.getArgOperand(0)->getType();
    std::string name = names.lookup(&call);
    unsigned bits = type->isIntegerTy() ? type->getIntegerBitWidth() : 0;
    if (!bits || bits > 64 || getWidth(bits) != bits ||
        id == Intrinsic::umul_with_overflow)
      return fail(call.getCalledFunction()->getName());
    bool isSum = id == Intrinsic::uadd_with_overflow;
    os << "  " << name
       << ".f0 = " << mask(type, a + (isSum ? " + " : " - ") + b) << ";\n  "
       << name << ".f1 = " << (isSum ? name + ".f0 < " + a : a + " < " + b)
       << ";\n";
    return "";
  }

  // ---- What others call ----

  void writeExported(const Exported &each) {
    Function *function = module.getFunction(each.symbol);
    if (!function || function->isDeclaration()) {
      fail("the function '" + each.symbol + "', which is not there");
      return;
    }
    os << "int32_t " << each.symbol << "(" << each.parameters << ") {\n";
    std::string arguments;
    for (auto [i, count] : enumerate(each.pointers)) {
      if (i)
        arguments += ", ";
      if (count < 0) {
        arguments += "(char *)p" + std::to_string(i);
        continue;
      }
      // Elsewhere a pointer takes 64 bits.
      std::string p = "p" + std::to_string(i), all = "all" + std::to_string(i);
      os << "  uint64_t " << all << "[" << std::max<int64_t>(count, 1)
         << "];\n";
      arguments += p + " ? (char *)" + all + " : (char *)0";
    }
    for (auto [i, count] : enumerate(each.pointers)) {
      if (count < 0)
        continue;
      helpers.use("store", "ptr");
      if (count == 0)
        os << "  all" << i << "[0] = 0;\n";
      for (int64_t j = 0; j < count; ++j)
        os << "  if (p" << i << ")\n    store_ptr((char *)(all" << i << " + "
           << j << "), (char *)(uintptr_t)p" << i << "[" << j << "]);\n";
    }
    os << "  return (int32_t)" << functionNames.lookup(function) << "("
       << arguments << ");\n}\n\n";
  }

  Module &module;
  const DataLayout &layout;
  ArrayRef<Exported> exported;
  Helpers helpers;
  DenseMap<StructType *, std::string> structNames;
  DenseMap<GlobalVariable *, std::string> globals;
  DenseMap<const Function *, std::string> functionNames;
  DenseMap<const Value *, std::string> names;
  DenseMap<const BasicBlock *, std::string> blocks;
  StringSet<> undefined, zeros;
  Function *current = nullptr;
  std::string types, constants, declarations, problem, body;
  raw_string_ostream os;
};
} // namespace

Expected<Text> alula::c::writeC(Module &module, ArrayRef<Exported> exported) {
  return Writer(module, exported).run();
}
