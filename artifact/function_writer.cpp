#include "artifact/writer.h"

namespace alula::artifact {

uint32_t FunctionWriter::addArgument(std::string_view valueName,
                                     uint32_t type) {
  arguments.push_back({file.addString(valueName), type, ALULA_NONE, 0});
  return uint32_t(arguments.size() - 1);
}

uint32_t FunctionWriter::addResult(std::string_view valueName, uint32_t type,
                                   uint32_t alias) {
  auto number = uint32_t(results.size());
  results.push_back({file.addString(valueName), type, alias, 0});
  if (alias < arguments.size())
    arguments[alias].alias = number;
  return number;
}

uint32_t FunctionWriter::addSlot(alula_slot_kind kind, uint32_t slotIndex,
                                 uint64_t offset, uint64_t bytes,
                                 uint16_t slotFlags) {
  slots.push_back({uint16_t(kind), slotFlags, slotIndex, offset, bytes});
  return uint32_t(slots.size() - 1);
}

Operand FunctionWriter::immediate(int64_t value) {
  return {ALULA_IMMEDIATE | file.addImmediate(value)};
}

uint32_t FunctionWriter::newBlock() {
  blocks.emplace_back();
  return uint32_t(blocks.size() - 1);
}

void FunctionWriter::emit(alula_command command,
                          const std::vector<uint32_t> &parameters) {
  std::vector<uint32_t> &code = blocks[current];
  code.push_back(uint32_t(command) | uint32_t(parameters.size() + 1) << 8);
  code.insert(code.end(), parameters.begin(), parameters.end());
}

Operand FunctionWriter::compute(alula_operator op, Operand a, Operand b) {
  Operand dst = newRegister();
  compute(dst, op, a, b);
  return dst;
}

void FunctionWriter::compute(Operand dst, alula_operator op, Operand a,
                             Operand b) {
  emit(ALULA_COMMAND_COMPUTE, {dst.word, uint32_t(op), a.word, b.word});
}

Operand FunctionWriter::select(Operand condition, Operand a, Operand b) {
  Operand dst = newRegister();
  emit(ALULA_COMMAND_SELECT, {dst.word, condition.word, a.word, b.word});
  return dst;
}

Operand FunctionWriter::load(alula_dtype type, uint32_t slot, Operand offset) {
  Operand dst = newRegister();
  load(dst, type, slot, offset);
  return dst;
}

void FunctionWriter::load(Operand dst, alula_dtype type, uint32_t slot,
                          Operand offset) {
  emit(ALULA_COMMAND_LOAD, {dst.word, uint32_t(type), slot, offset.word});
}

void FunctionWriter::store(alula_dtype type, uint32_t slot, Operand offset,
                           Operand value) {
  emit(ALULA_COMMAND_STORE, {uint32_t(type), slot, offset.word, value.word});
}

Operand FunctionWriter::argumentDim(uint32_t number, uint32_t dim) {
  Operand dst = newRegister();
  emit(ALULA_COMMAND_ARGUMENT_DIM, {dst.word, number, dim});
  return dst;
}

static void append(std::vector<uint32_t> &words,
                   const std::vector<Operand> &operands) {
  for (Operand operand : operands)
    words.push_back(operand.word);
}

void FunctionWriter::bindResult(uint32_t number,
                                const std::vector<Operand> &dynamicDims) {
  std::vector<uint32_t> words{number};
  append(words, dynamicDims);
  emit(ALULA_COMMAND_BIND_RESULT, words);
}

void FunctionWriter::alloc(uint32_t slot, Operand bytes) {
  emit(ALULA_COMMAND_ALLOC, {slot, bytes.word});
}

void FunctionWriter::free(uint32_t slot) { emit(ALULA_COMMAND_FREE, {slot}); }

void FunctionWriter::view(uint32_t slot, uint32_t base, Operand offset,
                          Operand bytes) {
  emit(ALULA_COMMAND_VIEW, {slot, base, offset.word, bytes.word});
}

void FunctionWriter::swap(uint32_t a, uint32_t b) {
  emit(ALULA_COMMAND_SWAP, {a, b});
}

void FunctionWriter::copy(uint32_t dst, Operand dstOffset, uint32_t src,
                          Operand srcOffset, Operand bytes) {
  emit(ALULA_COMMAND_COPY,
       {dst, dstOffset.word, src, srcOffset.word, bytes.word});
}

void FunctionWriter::fill(uint32_t dst, Operand offset, Operand bytes,
                          uint32_t width, Operand pattern) {
  emit(ALULA_COMMAND_FILL, {dst, offset.word, bytes.word, width, pattern.word});
}

void FunctionWriter::dispatch(uint32_t kernel, Operand x, Operand y, Operand z,
                              const std::vector<uint32_t> &bindings,
                              const std::vector<Operand> &constants) {
  std::vector<uint32_t> words{kernel, x.word, y.word, z.word};
  words.insert(words.end(), bindings.begin(), bindings.end());
  append(words, constants);
  emit(ALULA_COMMAND_DISPATCH, words);
}

void FunctionWriter::together(uint32_t dispatches) {
  hasTogether = true;
  emit(ALULA_COMMAND_TOGETHER, {dispatches});
}

void FunctionWriter::branch(Operand condition, uint32_t thenBlock,
                            uint32_t elseBlock) {
  emit(ALULA_COMMAND_IF, {condition.word, thenBlock, elseBlock});
}

void FunctionWriter::branch(Operand caseIndex,
                            const std::vector<uint32_t> &caseBlocks) {
  std::vector<uint32_t> words{caseIndex.word};
  words.insert(words.end(), caseBlocks.begin(), caseBlocks.end());
  emit(ALULA_COMMAND_CASE, words);
}

void FunctionWriter::loop(uint32_t conditionBlock, Operand condition,
                          uint32_t body) {
  emit(ALULA_COMMAND_WHILE, {conditionBlock, condition.word, body});
}

void FunctionWriter::call(uint32_t function,
                          const std::vector<uint32_t> &argumentSlots,
                          const std::vector<uint32_t> &resultSlots,
                          const std::vector<Operand> &argumentDims,
                          const std::vector<Operand> &resultDims) {
  std::vector<uint32_t> words{function};
  words.insert(words.end(), argumentSlots.begin(), argumentSlots.end());
  words.insert(words.end(), resultSlots.begin(), resultSlots.end());
  append(words, argumentDims);
  append(words, resultDims);
  emit(ALULA_COMMAND_CALL, words);
}

void FunctionWriter::customCall(uint32_t number,
                                const std::vector<uint32_t> &operands,
                                const std::vector<uint32_t> &resultSlots,
                                const std::vector<Operand> &operandDims,
                                const std::vector<Operand> &resultDims) {
  std::vector<uint32_t> words{number};
  words.insert(words.end(), operands.begin(), operands.end());
  words.insert(words.end(), resultSlots.begin(), resultSlots.end());
  append(words, operandDims);
  append(words, resultDims);
  emit(ALULA_COMMAND_CUSTOM_CALL, words);
}

Operand FunctionWriter::collectiveStart(uint32_t number, uint32_t operand,
                                        uint32_t resultSlot) {
  Operand handle = newRegister();
  emit(ALULA_COMMAND_COLLECTIVE_START,
       {handle.word, number, operand, resultSlot});
  return handle;
}

void FunctionWriter::collectiveDone(Operand handle) {
  emit(ALULA_COMMAND_COLLECTIVE_DONE, {handle.word});
}

Operand FunctionWriter::participant() {
  Operand dst = newRegister();
  emit(ALULA_COMMAND_PARTICIPANT, {dst.word});
  return dst;
}

void FunctionWriter::assertThat(Operand condition, std::string_view message,
                                const std::vector<Operand> &operands) {
  std::vector<uint32_t> words{condition.word, file.addString(message)};
  append(words, operands);
  emit(ALULA_COMMAND_ASSERT, words);
}

void FunctionWriter::checkGlobal(uint32_t number) {
  emit(ALULA_COMMAND_CHECK_GLOBAL, {number});
}

void FunctionWriter::defineGlobal(uint32_t number) {
  emit(ALULA_COMMAND_DEFINE_GLOBAL, {number});
}

} // namespace alula::artifact
