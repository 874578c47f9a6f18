// From statements to a module: declarations, functions, control flow.

#include "runtime/device/cuda/emulator/decode.h"

#include <algorithm>
#include <cstring>

namespace alula::ptx {
namespace {

constexpr std::string_view specialNames[] = {
    "%tid.x",           "%tid.y",
    "%tid.z",           "%ntid.x",
    "%ntid.y",          "%ntid.z",
    "%ctaid.x",         "%ctaid.y",
    "%ctaid.z",         "%nctaid.x",
    "%nctaid.y",        "%nctaid.z",
    "%laneid",          "%warpid",
    "%nwarpid",         "%smid",
    "%nsmid",           "%gridid",
    "%lanemask_eq",     "%lanemask_lt",
    "%lanemask_le",     "%lanemask_gt",
    "%lanemask_ge",     "%dynamic_smem_size",
    "%total_smem_size", "",
    "%cluster_ctarank", "%cluster_nctarank"};
static_assert(std::size(specialNames) == specialCount);

struct Symbol {
  enum Kind {
    registers,
    shared,
    global,
    local,
    parameter,
    label,
    function
  } kind;
  /// Of registers: bytes of each. Of memory: where it is, and its bytes.
  uint32_t size = 0;
  uint64_t offset = 0, bytes = 0;
  /// Of shared memory: it is what a launch asks for.
  bool isDynamic = false;
  /// Of registers named with a number: how many; 0: just one.
  uint32_t count = 0;
  /// Offsets of those that are used, + 1.
  std::map<uint32_t, uint32_t> places;
};

struct Function {
  std::string name;
  uint32_t begin = 0;
  bool isDefined = false;
  std::vector<Parameter> results, parameters;
  /// Where each lane returns to.
  Operand returnsTo;
};

class Decoder final : public Decoding {
public:
  Decoder(std::string_view text, std::string &error)
      : text(text), error(error), module(new Module) {}

  std::unique_ptr<Module> decode() {
    module->registerBytes = specialCount * 128;
    if (!readTokens(text, tokens, error))
      return nullptr;
    scopes.emplace_back();
    while (at < tokens.size() && error.empty())
      readTopLevel();
    if (error.empty())
      patchCalls();
    if (!error.empty())
      return nullptr;
    module->globals.reset(new uint8_t[initial.size() + 16]);
    memcpy(module->globals.get(), initial.data(), initial.size());
    module->globalBytes = initial.size();
    for (auto [index, operand] : globalAddresses) {
      uint64_t address = module->getGlobalAddress(index);
      for (int lane = 0; lane < 32; ++lane)
        memcpy(&module->constants[operand + lane * 8], &address, 8);
    }
    // Swizzles repeat after 1024 bytes.
    module->dynamicStart =
        sharedStart + (module->sharedBytes + 1023) / 1024 * 1024;
    for (auto [offset, operand, bytes] : dynamicAddresses) {
      uint64_t address = module->dynamicStart + offset;
      for (uint32_t lane = 0; lane < 32; ++lane)
        memcpy(&module->constants[operand + lane * bytes], &address, bytes);
    }
    for (auto [place, target] : globalPointers) {
      uint64_t address = module->getGlobalAddress(target);
      memcpy(module->globals.get() + place, &address, 8);
    }
    for (auto &[name, kernel] : module->kernels)
      kernel.sharedBytes += functionsShared;
    return std::move(module);
  }

  // ---- Decoding ----

  Operand operand(const Written &written, Type type) override {
    if (written.kind != Written::word) {
      fail("expected a register or a number");
      return {};
    }
    return operandOf(written.text, type);
  }

  Operand operandOf(std::string_view word, Type type) override {
    Operand found = anyWidth(word, type);
    uint32_t wanted = type.kind == Type::pred ? 0 : type.bytes();
    if (error.empty() && found.bytes != wanted)
      fail("'" + std::string(word) + "' has " + std::to_string(found.bytes) +
           " bytes, not " + std::to_string(wanted));
    return found;
  }

  Operand anyWidth(std::string_view word, Type type) override {
    if (word == "_")
      return discarded(type);
    for (uint32_t i = 0; i < specialCount; ++i)
      if (!word.empty() && word == specialNames[i])
        return {i * 128, false, 4};
    if (word == "%clock" || word == "%clock_hi" || word == "%smid")
      return {zero * 128, false, 4};
    if (word == "%clock64" || word == "%globaltimer")
      return makeNumber(0, 8);
    if (word == "WARP_SZ")
      return makeNumber(32, 4);
    uint64_t bits;
    if (readNumber(word, type, bits)) {
      if (type.kind != Type::pred)
        return makeNumber(bits, type.bytes());
      // The same in all lanes.
      Operand mask = makeNumber(bits ? UINT32_MAX : 0, 4);
      mask.bytes = 0;
      return mask;
    }
    return findRegister(word);
  }

  void list(Instruction &instruction, unsigned index, const Written &written,
            Type type, bool isAnyWidth) override {
    std::vector<std::string_view> words = written.words;
    if (written.kind == Written::word)
      words = {written.text};
    else if (written.kind != Written::list)
      return fail("expected registers in braces");
    instruction.lists[index] = uint32_t(module->lists.size());
    instruction.listSizes[index] = uint8_t(words.size());
    std::vector<Operand> found;
    for (std::string_view word : words)
      found.push_back(isAnyWidth ? anyWidth(word, type)
                                 : operandOf(word, type));
    instruction.lists[index] = uint32_t(module->lists.size());
    module->lists.insert(module->lists.end(), found.begin(), found.end());
  }

  void address(Instruction &instruction, unsigned index,
               const Written &written) override {
    if (written.kind != Written::memory)
      return fail("expected an address in brackets");
    instruction.number = uint64_t(written.offset);
    Operand &base = instruction.operands[index];
    uint64_t bits;
    if (readNumber(written.text, {Type::bits, 64}, bits)) {
      base = makeNumber(bits, 8);
      return;
    }
    if (Symbol *symbol = find(written.text)) {
      base = makeAddress(*symbol, /*isGeneric=*/false);
      if (symbol->kind == Symbol::parameter &&
          instruction.space == Space::param)
        instruction.mode = symbol->size; // 1: the entry's
      return;
    }
    base = findRegister(written.text);
  }

  Operand discarded(Type type) override {
    uint32_t bytes = type.kind == Type::pred ? 0 : type.bytes();
    if (!sinkOffset)
      sinkOffset = allocateRegister(8);
    return {sinkOffset, false, uint8_t(bytes)};
  }

  void fail(const std::string &why) override {
    if (error.empty())
      error = "line " + std::to_string(line) + ": " + why;
  }

private:
  // ---- Tokens ----

  std::string_view peek() const {
    return at < tokens.size() ? tokens[at].text : std::string_view();
  }
  std::string_view take() {
    if (at >= tokens.size()) {
      fail("the text ends too early");
      return {};
    }
    line = tokens[at].line;
    return tokens[at++].text;
  }
  bool accept(std::string_view word) {
    if (peek() != word)
      return false;
    take();
    return true;
  }
  void expect(std::string_view word) {
    std::string_view found = take();
    if (found != word)
      fail("expected '" + std::string(word) + "': is '" + std::string(found) +
           "'");
  }
  uint64_t takeNumber() {
    bool isNegative = accept("-");
    uint64_t bits = 0;
    std::string_view word = take();
    if (error.empty() && !readNumber(word, {Type::bits, 64}, bits))
      fail("expected a number: is '" + std::string(word) + "'");
    return isNegative ? 0 - bits : bits;
  }

  // ---- Names ----

  Symbol *find(std::string_view name) {
    for (size_t i = scopes.size(); i > 0; --i) {
      auto found = scopes[i - 1].find(std::string(name));
      if (found != scopes[i - 1].end() &&
          found->second.kind != Symbol::registers)
        return &found->second;
    }
    return nullptr;
  }

  uint32_t allocateRegister(uint32_t bytes) {
    uint32_t size = bytes == 0 ? 32 : bytes * 32;
    uint32_t offset = module->registerBytes;
    module->registerBytes += (size + 31) / 32 * 32;
    return offset;
  }

  Operand findRegister(std::string_view name) {
    size_t digits = name.size();
    while (digits > 0 && isdigit(static_cast<unsigned char>(name[digits - 1])))
      --digits;
    for (size_t i = scopes.size(); i > 0; --i) {
      auto &scope = scopes[i - 1];
      auto found = scope.find(std::string(name));
      uint32_t index = 0;
      if (found == scope.end() || found->second.kind != Symbol::registers ||
          found->second.count) {
        if (digits == name.size())
          continue;
        found = scope.find(std::string(name.substr(0, digits)));
        if (found == scope.end() || found->second.kind != Symbol::registers)
          continue;
        index = uint32_t(atol(std::string(name.substr(digits)).c_str()));
        if (index >= found->second.count)
          continue;
      }
      Symbol &symbol = found->second;
      uint32_t &place = symbol.places[index];
      if (!place)
        place = allocateRegister(symbol.size) + 1;
      return {place - 1, false, uint8_t(symbol.size)};
    }
    fail("there is no register '" + std::string(name) + "'");
    return {};
  }

  Operand makeNumber(uint64_t bits, uint32_t bytes) {
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) {
      fail("a number of " + std::to_string(bytes) + " bytes");
      return {};
    }
    auto [found, isNew] = numbers.try_emplace({bits, bytes}, 0);
    if (isNew) {
      found->second = uint32_t(module->constants.size());
      for (int lane = 0; lane < 32; ++lane)
        module->constants.insert(module->constants.end(),
                                 reinterpret_cast<uint8_t *>(&bits),
                                 reinterpret_cast<uint8_t *>(&bits) + bytes);
    }
    return {found->second, true, uint8_t(bytes)};
  }

  /// The address of a variable; in its own space, or generic.
  Operand makeAddress(const Symbol &symbol, bool isGeneric,
                      uint32_t bytes = 8) {
    switch (symbol.kind) {
    case Symbol::shared:
      if (!symbol.isDynamic)
        usedShared[symbol.offset] = uint32_t(symbol.bytes);
      if (symbol.isDynamic)
        return makeDynamicAddress(isGeneric ? sharedWindow : 0, bytes);
      return makeNumber(symbol.offset + (isGeneric ? sharedWindow : 0), bytes);
    case Symbol::local:
      return makeNumber(symbol.offset + (isGeneric ? localWindow : 0), bytes);
    case Symbol::parameter:
      return makeNumber(symbol.offset, bytes);
    case Symbol::global: {
      // Known when all variables are.
      auto offset = uint32_t(module->constants.size());
      module->constants.resize(module->constants.size() + 256);
      globalAddresses.push_back({symbol.offset, offset});
      return {offset, true, 8};
    }
    default:
      fail("this name has no address");
      return {};
    }
  }

  /// Known when all shared variables are.
  Operand makeDynamicAddress(uint64_t offset, uint32_t bytes) {
    auto operand = uint32_t(module->constants.size());
    module->constants.resize(module->constants.size() + 32 * bytes);
    dynamicAddresses.push_back({offset, operand, bytes});
    return {operand, true, uint8_t(bytes)};
  }

  // ---- Declarations ----

  void readTopLevel() {
    std::string_view word = take();
    if (word == ".version") {
      std::string_view version = take();
      module->versionMajor = uint32_t(atoi(std::string(version).c_str()));
      size_t dot = version.find('.');
      if (dot != version.npos)
        module->versionMinor =
            uint32_t(atoi(std::string(version.substr(dot + 1)).c_str()));
    } else if (word == ".target") {
      module->target = take();
      while (accept(","))
        take();
    } else if (word == ".address_size") {
      if (takeNumber() != 64)
        fail("only addresses of 64 bits are known");
    } else if (word == ".visible" || word == ".extern" || word == ".weak" ||
               word == ".common") {
      isExternal = word == ".extern";
    } else if (word == ".entry") {
      readFunction(/*isEntry=*/true);
    } else if (word == ".func") {
      readFunction(/*isEntry=*/false);
    } else if (word == ".global" || word == ".const" || word == ".shared") {
      readVariable(word);
      isExternal = false;
    } else if (word == ".file") {
      uint32_t here = tokens[at - 1].line;
      while (at < tokens.size() && tokens[at].line == here)
        ++at;
    } else if (word == ".section") {
      while (at < tokens.size() && peek() != "{")
        take();
      skipBraces();
    } else if (word == ".alias" || word == ".pragma") {
      while (error.empty() && !accept(";"))
        take();
    } else {
      fail("'" + std::string(word) + "' is not known here");
    }
  }

  void skipBraces() {
    expect("{");
    for (int depth = 1; depth && error.empty();) {
      std::string_view word = take();
      depth += word == "{" ? 1 : word == "}" ? -1 : 0;
    }
  }

  /// `.align 4 .b8 name[3] = {…}`, behind the space.
  void readVariable(std::string_view space) {
    uint64_t alignment = 0, bytes = 0;
    Type type;
    uint32_t vector = 1;
    while (error.empty() && peek().starts_with(".")) {
      std::string_view word = take();
      if (word == ".align")
        alignment = takeNumber();
      else if (word == ".v2" || word == ".v4")
        vector = uint32_t(word[2] - '0');
      else if (word == ".attribute")
        while (error.empty() && !accept(")"))
          take();
      else if (!(type = readType(word.substr(1))).size)
        fail("'" + std::string(word) + "' is no type");
    }
    do {
      std::string name(take());
      bytes = type.bytes() * vector;
      bool isOpen = false;
      while (accept("[")) {
        if (accept("]")) {
          isOpen = true;
          bytes = 0;
          continue;
        }
        bytes *= takeNumber();
        expect("]");
      }
      uint64_t align = std::max<uint64_t>(alignment, type.bytes() * vector);
      Symbol symbol = {};
      symbol.bytes = bytes;
      if (space == ".shared") {
        symbol.kind = Symbol::shared;
        symbol.isDynamic = isOpen;
        if (!isOpen)
          symbol.offset =
              allocate(module->sharedBytes, align, bytes) + sharedStart;
      } else if (space == ".local") {
        symbol.kind = Symbol::local;
        symbol.offset = allocate(module->localBytes, align, bytes);
      } else {
        symbol.kind = Symbol::global;
        uint64_t place = (initial.size() + 15) / 16 * 16;
        place = (place + align - 1) / std::max<uint64_t>(align, 1) * align;
        symbol.offset = place;
        initial.resize(place + bytes);
        if (!isExternal)
          module->variables[name] = {place, bytes};
        else
          fail("the variable '" + name + "' is defined elsewhere");
        if (accept("="))
          readInitial(symbol, type);
      }
      scopes.back()[name] = symbol;
    } while (accept(","));
    expect(";");
  }

  uint64_t allocate(uint32_t &used, uint64_t alignment, uint64_t bytes) {
    alignment = std::max<uint64_t>(alignment, 1);
    uint64_t place = (used + alignment - 1) / alignment * alignment;
    used = uint32_t(place + bytes);
    return place;
  }

  void readInitial(const Symbol &symbol, Type type) {
    uint64_t place = symbol.offset;
    int depth = 0;
    do {
      if (accept("{")) {
        ++depth;
        continue;
      }
      if (accept("}")) {
        --depth;
        continue;
      }
      if (accept(","))
        continue;
      bool isGeneric = accept("generic");
      if (isGeneric)
        expect("(");
      bool isNegative = accept("-");
      std::string word((isNegative ? "-" : "") + std::string(take()));
      uint64_t bits = 0;
      if (!readNumber(word, type, bits)) {
        Symbol *other = find(word);
        if (!other || other->kind != Symbol::global || type.size != 64)
          return fail("'" + word + "' is no initial value");
        globalPointers.push_back({place, other->offset});
      }
      if (isGeneric)
        expect(")");
      if (place + type.bytes() > symbol.offset + symbol.bytes)
        return fail("too many initial values");
      memcpy(&initial[place], &bits, type.bytes());
      place += type.bytes();
    } while (error.empty() && depth > 0);
  }

  /// `(.param .u64 a, …)`.
  std::vector<Parameter> readParameters(bool isEntry, uint32_t &bytes) {
    std::vector<Parameter> parameters;
    expect("(");
    while (error.empty() && !accept(")")) {
      accept(",");
      std::string_view space = take();
      Type type;
      uint64_t alignment = 0, size = 0;
      while (error.empty() && peek().starts_with(".")) {
        std::string_view word = take();
        if (word == ".align")
          alignment = takeNumber();
        else if (word == ".ptr" || word == ".global" || word == ".shared" ||
                 word == ".const" || word == ".local")
          continue;
        else if (!(type = readType(word.substr(1))).size)
          fail("'" + std::string(word) + "' is no type");
      }
      std::string name(take());
      size = type.bytes();
      if (accept("["))
        if (!accept("]")) {
          size *= takeNumber();
          expect("]");
        }
      if (space == ".reg") {
        fail("parameters in registers are not known");
        break;
      }
      alignment = std::max<uint64_t>(alignment ? alignment : type.bytes(), 1);
      uint32_t &used = isEntry ? bytes : module->localBytes;
      uint64_t place = allocate(used, isEntry ? alignment : 16, size);
      parameters.push_back({name, uint32_t(place), uint32_t(size)});
    }
    return parameters;
  }

  void declareParameters(const std::vector<Parameter> &parameters,
                         bool isEntry) {
    for (const Parameter &parameter : parameters) {
      Symbol symbol = {};
      symbol.kind = Symbol::parameter;
      symbol.size = isEntry;
      symbol.offset = parameter.offset;
      symbol.bytes = parameter.bytes;
      scopes.back()[parameter.name] = symbol;
    }
  }

  void readFunction(bool isEntry) {
    bool wasExternal = isExternal;
    isExternal = false;
    Function function;
    uint32_t parameterBytes = 0;
    if (!isEntry && peek() == "(")
      function.results = readParameters(false, parameterBytes);
    function.name = take();
    if (peek() == "(")
      function.parameters = readParameters(isEntry, parameterBytes);
    Kernel kernel;
    while (error.empty() && peek().starts_with(".")) {
      std::string_view word = take();
      uint32_t sizes[3] = {1, 1, 1};
      if (word != ".noreturn" && word != ".explicitcluster") {
        unsigned count = 0;
        do
          sizes[count++] = uint32_t(takeNumber());
        while (count < 3 && accept(","));
      }
      if (word == ".reqntid")
        memcpy(kernel.requiredBlock, sizes, sizeof sizes);
      else if (word == ".maxntid")
        kernel.maxThreads = sizes[0] * sizes[1] * sizes[2];
    }
    Function &known = functions[function.name];
    if (accept(";")) {
      // A declaration: calls find it by name.
      if (known.name.empty())
        known = std::move(function);
      return;
    }
    if (wasExternal)
      return fail("an external function has a body");
    // A declaration's parameters have places already.
    if (!known.name.empty()) {
      for (size_t i = 0; i < known.parameters.size(); ++i)
        function.parameters[i].offset = known.parameters[i].offset;
      for (size_t i = 0; i < known.results.size(); ++i)
        function.results[i].offset = known.results[i].offset;
      function.returnsTo = known.returnsTo;
    }
    known = function;
    if (!isEntry && !known.returnsTo.bytes)
      known.returnsTo = {allocateRegister(4), false, 4};
    known.isDefined = true;
    known.begin = uint32_t(module->code.size());
    current = isEntry ? nullptr : &known;
    scopes.emplace_back();
    declareParameters(known.parameters, isEntry);
    declareParameters(known.results, isEntry);
    expect("{");
    labels.clear();
    branches.clear();
    tables.clear();
    readBlock();
    // Whoever falls off the end returns.
    Instruction last;
    last.run = isEntry ? runExit : runReturn;
    if (!isEntry)
      last.operands[0] = known.returnsTo;
    module->code.push_back(last);
    patchBranches();
    scopes.pop_back();
    uint32_t shared = 0;
    for (auto [offset, bytes] : usedShared)
      shared += bytes;
    usedShared.clear();
    kernel.sharedBytes = shared;
    // Of what anybody may call.
    if (!isEntry)
      functionsShared += shared;
    if (isEntry) {
      kernel.name = known.name;
      kernel.begin = known.begin;
      kernel.parameters = known.parameters;
      kernel.parameterBytes = parameterBytes;
      module->kernels[kernel.name] = kernel;
    }
  }

  // ---- Bodies ----

  void readBlock() {
    while (error.empty() && !accept("}")) {
      if (accept("{")) {
        scopes.emplace_back();
        readBlock();
        scopes.pop_back();
        continue;
      }
      std::string_view word = peek();
      if (word == ".reg") {
        take();
        readRegisters();
      } else if (word == ".shared" || word == ".local" || word == ".const" ||
                 word == ".global") {
        take();
        readVariable(word);
      } else if (word == ".param") {
        take();
        readLocalParameter();
      } else if (word == ".loc" || word == ".pragma") {
        uint32_t here = tokens[at].line;
        while (at < tokens.size() && tokens[at].line == here)
          ++at;
      } else if (word == ";") {
        take();
      } else if (at + 1 < tokens.size() && tokens[at + 1].text == ":") {
        std::string name(take());
        take();
        if (peek() == ".branchtargets") {
          take();
          std::vector<std::string> &table = tables[name];
          do
            table.push_back(std::string(take()));
          while (error.empty() && accept(","));
          expect(";");
        } else if (peek() == ".callprototype") {
          fail("calls through pointers are not known");
        } else {
          labels[name] = uint32_t(module->code.size());
        }
      } else {
        readInstruction();
      }
    }
  }

  void readRegisters() {
    Type type;
    uint32_t vector = 1;
    while (peek().starts_with(".")) {
      std::string_view word = take();
      if (word == ".v2" || word == ".v4")
        vector = 0;
      else if (!(type = readType(word.substr(1))).size)
        return fail("'" + std::string(word) + "' is no type");
    }
    if (!vector)
      return fail("registers of vectors are not known");
    do {
      std::string name(take());
      Symbol symbol = {};
      symbol.kind = Symbol::registers;
      symbol.size = type.kind == Type::pred ? 0 : std::max(type.bytes(), 2u);
      if (accept("<")) {
        symbol.count = uint32_t(takeNumber());
        expect(">");
      }
      scopes.back()[name] = symbol;
    } while (accept(","));
    expect(";");
  }

  /// `.param .b32 name;` inside a body: what a call is given and gives.
  void readLocalParameter() {
    uint64_t alignment = 16;
    Type type;
    while (peek().starts_with(".")) {
      std::string_view word = take();
      if (word == ".align")
        alignment = std::max<uint64_t>(takeNumber(), 16);
      else if (!(type = readType(word.substr(1))).size)
        return fail("'" + std::string(word) + "' is no type");
    }
    std::string name(take());
    uint64_t bytes = type.bytes();
    if (accept("[")) {
      bytes *= takeNumber();
      expect("]");
    }
    expect(";");
    Symbol symbol = {};
    symbol.kind = Symbol::parameter;
    symbol.offset = allocate(module->localBytes, alignment, bytes);
    symbol.bytes = bytes;
    scopes.back()[name] = symbol;
  }

  Written readWritten() {
    Written written;
    if (accept("[")) {
      written.kind = Written::memory;
      written.text = take();
      if (accept("+")) {
        written.offset = int64_t(takeNumber());
      } else if (accept("-")) {
        written.offset = -int64_t(takeNumber());
      } else if (accept(",")) {
        // Coordinates in a tensor.
        expect("{");
        while (error.empty() && !accept("}")) {
          accept(",");
          written.words.push_back(takeSigned());
        }
      }
      expect("]");
      return written;
    }
    if (accept("{")) {
      written.kind = Written::list;
      while (error.empty() && !accept("}")) {
        accept(",");
        written.words.push_back(takeSigned());
      }
      return written;
    }
    if (accept("(")) {
      written.kind = Written::list;
      while (error.empty() && !accept(")")) {
        accept(",");
        written.words.push_back(takeSigned());
      }
      return written;
    }
    written.isNegated = accept("!");
    written.text = takeSigned();
    if (accept("|"))
      written.second = take();
    else if (accept("+"))
      written.offset = int64_t(takeNumber());
    return written;
  }

  /// A word with the sign before it.
  std::string_view takeSigned() {
    if (peek() != "-")
      return take();
    const char *begin = take().data();
    std::string_view word = take();
    return {begin, size_t(word.data() + word.size() - begin)};
  }

  void readInstruction() {
    Statement statement;
    if (accept("@")) {
      statement.isNegated = accept("!");
      statement.predicate = take();
    }
    std::string_view opcode = take();
    statement.line = line;
    for (size_t begin = 0; begin <= opcode.size();) {
      size_t end = std::min(opcode.find('.', begin), opcode.size());
      statement.opcode.push_back(opcode.substr(begin, end - begin));
      begin = end + 1;
    }
    if (!accept(";")) {
      do
        statement.operands.push_back(readWritten());
      while (error.empty() && accept(","));
      expect(";");
    }
    line = statement.line;
    if (error.empty())
      decodeStatement(statement);
  }

  void decodeStatement(const Statement &statement) {
    Instruction instruction;
    instruction.line = statement.line;
    if (!statement.predicate.empty()) {
      Operand predicate = operandOf(statement.predicate, {Type::pred, 1});
      instruction.predicate = predicate.offset;
      instruction.hasPredicate = true;
      instruction.isNegated = statement.isNegated;
    }
    if (!decodeControl(statement, instruction))
      for (auto *family :
           {decodeArithmetic, decodeFloats, decodeConversion, decodeTransfer,
            decodeMemory, decodeExchange, decodeWarpgroup, decodeMatrix}) {
        family(*this, statement, instruction);
        if (instruction.run || !error.empty())
          break;
      }
    if (!instruction.run && error.empty()) {
      std::string name;
      for (std::string_view word : statement.opcode)
        name += (name.empty() ? "" : ".") + std::string(word);
      return fail("the instruction '" + name + "' is not known");
    }
    module->code.push_back(instruction);
    for (const Instruction &later : following)
      module->code.push_back(later);
    following.clear();
  }

  bool decodeControl(const Statement &statement, Instruction &instruction) {
    std::string_view name = statement.opcode[0];
    if (name == "bra") {
      instruction.run = runBranch;
      if (statement.operands.size() != 1) {
        fail("a branch goes to one label");
        return true;
      }
      branches.push_back({uint32_t(module->code.size()),
                          std::string(statement.operands[0].text), line});
    } else if (name == "brx") {
      instruction.run = runIndexedBranch;
      if (statement.operands.size() != 2) {
        fail("an indexed branch has an index and a table");
        return true;
      }
      instruction.operands[0] =
          operand(statement.operands[0], {Type::uint, 32});
      std::string table(statement.operands[1].text);
      if (!tables.count(table)) {
        fail("there is no table '" + table + "'");
        return true;
      }
      instruction.target = uint32_t(module->tables.size());
      module->tables.emplace_back();
      tableUses.push_back({instruction.target, tables[table], line});
    } else if (name == "ret" || name == "exit") {
      bool isReturn = current && name == "ret";
      instruction.run = isReturn ? runReturn : runExit;
      if (isReturn)
        instruction.operands[0] = current->returnsTo;
    } else if (name == "call") {
      decodeCall(statement, instruction);
    } else if (name == "trap") {
      instruction.run = runTrap;
    } else if (name == "mov" && statement.operands.size() == 2 &&
               statement.operands[1].kind == Written::word &&
               find(statement.operands[1].text)) {
      // The address of a variable.
      const Symbol &symbol = *find(statement.operands[1].text);
      Type type = readType(statement.opcode.back());
      Statement copy = statement;
      copy.operands[1] = {};
      copy.operands[1].text = "0";
      decodeArithmetic(*this, copy, instruction);
      instruction.operands[1] =
          makeAddress(symbol, /*isGeneric=*/false, type.bytes());
      if (uint64_t offset = uint64_t(statement.operands[1].offset)) {
        if (symbol.kind == Symbol::global)
          fail("an offset of a global variable is not known here");
        instruction.operands[1] =
            symbol.isDynamic ? makeDynamicAddress(offset, type.bytes())
                             : makeNumber(symbol.offset + offset, type.bytes());
      }
    } else {
      return false;
    }
    return true;
  }

  void decodeCall(const Statement &statement, Instruction &instruction) {
    // call (results), name, (parameters); either list may be missing.
    size_t i = 0;
    std::vector<std::string_view> results, parameters;
    if (i < statement.operands.size() &&
        statement.operands[i].kind == Written::list)
      results = statement.operands[i++].words;
    if (i >= statement.operands.size())
      return fail("a call without a name");
    std::string name(statement.operands[i++].text);
    if (i < statement.operands.size())
      parameters = statement.operands[i].words;
    auto found = functions.find(name);
    if (found == functions.end())
      return fail("there is no function '" + name + "'");
    Function &function = found->second;
    if (function.results.size() != results.size() ||
        function.parameters.size() != parameters.size())
      return fail("the call of '" + name + "' has other parameters");
    if (!function.returnsTo.bytes)
      function.returnsTo = {allocateRegister(4), false, 4};
    auto addCopy = [&](const Parameter &inside, std::string_view outside,
                       bool isResult) {
      Symbol *symbol = find(outside);
      if (!symbol || symbol->kind != Symbol::parameter || symbol->size)
        return fail("'" + std::string(outside) + "' is no .param");
      Instruction copy;
      copy.run = runCopyParameter;
      copy.line = line;
      copy.target = isResult ? uint32_t(symbol->offset) : inside.offset;
      copy.mode = isResult ? inside.offset : uint32_t(symbol->offset);
      copy.number = inside.bytes;
      copy.predicate = instruction.predicate;
      copy.hasPredicate = instruction.hasPredicate;
      copy.isNegated = instruction.isNegated;
      if (isResult)
        following.push_back(copy);
      else
        module->code.push_back(copy);
    };
    for (size_t j = 0; j < parameters.size(); ++j)
      addCopy(function.parameters[j], parameters[j], false);
    instruction.run = runCall;
    instruction.operands[0] = function.returnsTo;
    calls.push_back({uint32_t(module->code.size()), name, line});
    for (size_t j = 0; j < results.size(); ++j)
      addCopy(function.results[j], results[j], true);
  }

  void patchBranches() {
    auto findLabel = [&](const std::string &name, uint32_t where) -> uint32_t {
      auto found = labels.find(name);
      if (found != labels.end())
        return found->second;
      line = where;
      fail("there is no label '" + name + "'");
      return 0;
    };
    for (const auto &[place, name, where] : branches)
      module->code[place].target = findLabel(name, where);
    for (const auto &[number, names, where] : tableUses)
      for (const std::string &name : names)
        module->tables[number].push_back(findLabel(name, where));
    tableUses.clear();
  }

  void patchCalls() {
    for (const auto &[place, name, where] : calls) {
      const Function &function = functions[name];
      if (!function.isDefined) {
        line = where;
        return fail("the function '" + name + "' has no body");
      }
      module->code[place].target = function.begin;
    }
  }

  struct Reference {
    uint32_t place;
    std::string name;
    uint32_t line;
  };
  struct TableUse {
    uint32_t number;
    std::vector<std::string> names;
    uint32_t line;
  };

  std::string_view text;
  std::string &error;
  std::unique_ptr<Module> module;
  std::vector<Token> tokens;
  size_t at = 0;
  uint32_t line = 0;
  bool isExternal = false;
  std::vector<std::map<std::string, Symbol>> scopes;
  std::map<std::string, Function> functions;
  Function *current = nullptr;
  std::map<std::string, uint32_t> labels;
  std::map<std::string, std::vector<std::string>> tables;
  std::vector<Reference> branches, calls;
  std::vector<TableUse> tableUses;
  std::vector<Instruction> following;
  std::map<std::pair<uint64_t, uint32_t>, uint32_t> numbers;
  uint32_t sinkOffset = 0;
  std::vector<uint8_t> initial;
  /// Offset of a variable; where in the constants its address goes.
  std::vector<std::pair<uint64_t, uint32_t>> globalAddresses;
  std::vector<std::pair<uint64_t, uint64_t>> globalPointers;
  struct DynamicAddress {
    uint64_t offset;
    uint32_t operand, bytes;
  };
  std::vector<DynamicAddress> dynamicAddresses;
  /// Variables of the function that is read now, by their offsets; bytes of
  /// those of functions that are called.
  std::map<uint64_t, uint32_t> usedShared;
  uint32_t functionsShared = 0;
};

} // namespace

std::unique_ptr<Module> parseModule(std::string_view text, std::string &error) {
  error.clear();
  return Decoder(text, error).decode();
}

} // namespace alula::ptx
