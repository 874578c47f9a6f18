// Moves constants out of an artifact into a safetensors file.

#include "artifact/safetensors.h"
#include "artifact/writer.h"

#include <algorithm>
#include <cstring>

namespace alula::artifact {
namespace {

std::string makeName(uint32_t constant) {
  return "constant." + std::to_string(constant);
}

} // namespace

std::string ArtifactWriter::externalizeConstants(std::string_view fileName,
                                                 uint64_t minimumBytes) {
  std::vector<uint32_t> moved, kept;
  auto isBlob = [&](uint32_t constant) {
    return std::any_of(customCalls.begin(), customCalls.end(),
                       [&](const alula_file_custom_call &call) {
                         return call.config == constant ||
                                call.attributes == constant;
                       });
  };
  for (uint32_t i = 0; i < constants.size(); ++i)
    if (!constants[i].external_file)
      (constants[i].bytes >= std::max<uint64_t>(minimumBytes, 1) && !isBlob(i)
           ? moved
           : kept)
          .push_back(i);
  if (moved.empty())
    return "";

  std::string header = "{", bytes;
  // Without gaps and the widest elements first, all are aligned.
  std::vector<uint32_t> ordered;
  for (uint32_t width : {8u, 4u, 2u, 1u})
    for (uint32_t i : moved) {
      uint32_t type = constantTypes[i];
      uint32_t bytesOfOne =
          type == ALULA_NONE ? 1 : alula_dtype_get_bytes(types[type].dtype);
      if (std::clamp(bytesOfOne, 1u, 8u) == width)
        ordered.push_back(i);
    }
  for (uint32_t i : ordered) {
    alula_file_constant &constant = constants[i];
    if (constantTypes[i] == ALULA_NONE)
      constantTypes[i] = addType(ALULA_DTYPE_UI8, {int64_t(constant.bytes)});
    const alula_file_type &type = types[constantTypes[i]];
    const char *typeName = getSafetensorsName(type.dtype);
    std::string shape;
    for (uint32_t j = 0; typeName && j < type.rank; ++j)
      shape += (j ? "," : "") + std::to_string(dims[type.first_dim + j].size);
    if (!typeName)
      shape = std::to_string(constant.bytes);
    header += std::string(header.size() > 1 ? "," : "") + '"' + makeName(i) +
              "\":{\"dtype\":\"" + (typeName ? typeName : "U8") +
              "\",\"shape\":[" + shape + "],\"data_offsets\":[" +
              std::to_string(bytes.size()) + "," +
              std::to_string(bytes.size() + constant.bytes) + "]}";
    bytes += contents[i];
  }
  header += '}';
  while ((sizeof(uint64_t) + header.size()) % ALULA_ALIGNMENT)
    header += ' ';

  constantIds.clear();
  dataBytes = 0;
  for (uint32_t i : kept)
    constants[i].offset = placeConstant(constants[i].bytes);
  for (uint32_t i : moved) {
    contents[i] = {};
    constants[i].offset = constantTypes[i];
    constants[i].external_file = addString(fileName);
    constants[i].external_name = addString(makeName(i));
  }
  uint64_t headerBytes = header.size();
  std::string file(reinterpret_cast<char *>(&headerBytes), sizeof headerBytes);
  return file + header + bytes;
}

} // namespace alula::artifact
