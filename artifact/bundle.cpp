#include "artifact/bundle.h"

#include "artifact/file_builder.h"
#include "artifact/reader.h"

#include <map>

namespace alula::artifact {
namespace {

uint64_t alignUp(uint64_t bytes) {
  return (bytes + ALULA_ALIGNMENT - 1) / ALULA_ALIGNMENT * ALULA_ALIGNMENT;
}

/// Constants of all programs.
class SharedData {
public:
  /// Where the bytes are from now on; they are borrowed.
  uint64_t add(std::string_view bytes) {
    auto [found, isNew] = offsets.emplace(bytes, alignUp(size));
    if (isNew) {
      pieces.push_back({found->second, bytes});
      size = found->second + bytes.size();
    }
    return found->second;
  }

  std::map<std::string_view, uint64_t> offsets;
  std::vector<FileBuilder::Piece> pieces;
  uint64_t size = 0;
};

/// The file without DATA, and its constants where `data` has them.
std::string moveConstants(const Artifact &file, SharedData &data) {
  std::vector<alula_file_constant> constants(file.constants.begin(),
                                             file.constants.end());
  for (alula_file_constant &constant : constants)
    if (!constant.external_file)
      constant.offset = data.add(
          {reinterpret_cast<const char *>(file.data.data) + constant.offset,
           constant.bytes});
  FileBuilder builder;
#define X(NAME, kind, record, name)                                            \
  if (ALULA_SECTION_##NAME == ALULA_SECTION_CONSTANTS)                         \
    builder.add(ALULA_SECTION_CONSTANTS, constants);                           \
  else if (ALULA_SECTION_##NAME != ALULA_SECTION_DATA)                         \
    builder.add(ALULA_SECTION_##NAME, file.name.data,                          \
                file.name.size * sizeof(record));
  ALULA_FOR_EACH_SECTION(X)
#undef X
  return builder.finish(file.minor);
}

} // namespace

std::string bundlePrograms(const std::vector<ProgramSpec> &programs,
                           Diagnostic &diagnostic) {
  SharedData data;
  std::vector<std::string> files;
  std::vector<alula_file_program> records;
  std::vector<FileBuilder::Piece> pieces;
  std::string strings(1, '\0');
  uint64_t size = 0;
  for (const ProgramSpec &program : programs) {
    Artifact file;
    if (!openArtifact(program.file.data(), program.file.size(),
                      {.checkData = false}, file, diagnostic))
      return {};
    files.push_back(moveConstants(file, data));
    uint64_t offset = alignUp(size);
    size = offset + files.back().size();
    records.push_back({uint32_t(strings.size()), program.cores,
                       program.cacheBytes, offset, files.back().size()});
    strings += program.name + '\0';
  }
  for (size_t i = 0; i < files.size(); ++i)
    pieces.push_back({records[i].offset, files[i]});
  FileBuilder builder;
  builder.add(ALULA_SECTION_STRINGS, strings.data(), strings.size());
  builder.add(ALULA_SECTION_DATA, data.size, std::move(data.pieces));
  builder.add(ALULA_SECTION_PROGRAMS, records);
  builder.add(ALULA_SECTION_PROGRAM_FILES, size, std::move(pieces));
  std::string bytes = builder.finish(3);
  Artifact artifact;
  if (!openArtifact(bytes.data(), bytes.size(), {.checkData = false}, artifact,
                    diagnostic) ||
      !verifyArtifact(artifact, diagnostic))
    return {};
  return bytes;
}

} // namespace alula::artifact
