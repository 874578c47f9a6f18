// All that is known of the code, as JSON: for build systems and for those who
// check the plan of the memory.

#include "compiler/standalone/header.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
using namespace alula::standalone;

namespace {
/// Text that is valid in JSON, whatever the program calls its values.
std::string makeText(StringRef text) {
  return json::isUTF8(text) ? text.str() : json::fixUTF8(text);
}

json::Array listPorts(const std::vector<Port> &ports) {
  json::Array all;
  for (const Port &port : ports)
    all.push_back(json::Object{{"name", makeText(port.name)},
                               {"type", alula_dtype_get_name(port.dtype)},
                               {"shape", json::Array(port.shape)},
                               {"bytes", port.bytes}});
  return all;
}

json::Object describe(const alula::standalone::Function &function) {
  json::Array pieces;
  for (const Piece &piece : function.pieces)
    pieces.push_back(json::Object{{"name", makeText(piece.name)},
                                  {"offset", piece.offset},
                                  {"bytes", piece.bytes},
                                  {"first_step", piece.first},
                                  {"last_step", piece.last}});
  return json::Object{
      {"name", makeText(function.name)},
      {"symbol", function.symbol},
      {"inputs", listPorts(function.inputs)},
      {"outputs", listPorts(function.outputs)},
      {"arena", json::Object{{"bytes", function.arenaBytes},
                             {"lower_bound", function.lowerBound},
                             {"pieces", std::move(pieces)}}}};
}
} // namespace

std::string alula::standalone::writeManifest(const Program &program,
                                             const CodeFacts &facts) {
  json::Array functions, state;
  for (const alula::standalone::Function &function : program.functions)
    if (function.isExported)
      functions.push_back(describe(function));
  for (const State &each : program.state)
    state.push_back(json::Object{{"name", makeText(each.name)},
                                 {"offset", each.offset},
                                 {"bytes", each.bytes},
                                 {"initialised", each.isInitialised}});
  json::Object manifest{{"abi", 1},
                        {"prefix", program.prefix},
                        {"compiler", facts.compiler},
                        {"options", makeText(facts.options)},
                        {"input_hash", facts.inputHash},
                        {"machine", facts.machine},
                        {"triple", facts.triple},
                        {"features", json::Array(facts.features)},
                        {"functions", std::move(functions)},
                        {"state", json::Object{{"bytes", program.stateBytes},
                                               {"globals", std::move(state)}}},
                        {"alignment", program.alignment},
                        {"stack_bytes", facts.stackBytes},
                        {"code_bytes", facts.codeBytes},
                        {"constant_bytes", facts.constantBytes},
                        {"undefined", json::Array(facts.undefined)}};
  return formatv("{0:2}\n", json::Value(std::move(manifest))).str();
}
