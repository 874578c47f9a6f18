// What the text and the JSON of an artifact share.

#pragma once

#include "artifact/reader.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace alula::artifact {

__attribute__((format(printf, 1, 2))) std::string format(const char *text, ...);

/// A string of the file between quotes.
std::string quote(std::string_view text);
/// A name as it is; one that has more than one line, between quotes.
std::string keepOnLine(std::string_view name);
/// Bytes that need not be text, as a JSON string: one character for a byte.
std::string quoteBytes(std::string_view bytes);

/// The bytes of a constant of a custom call; "" for none.
std::string_view getBlob(const Artifact &file, uint32_t constant);
/// "(4xf32, i32) -> (4xf32)"
std::string printCustomCallTypes(const Artifact &file,
                                 const alula_file_custom_call &call);
/// "all_reduce sum of 4 f32, groups [[0, 2], [1, 3]] of 4, channel 1"
std::string printCollective(const Artifact &file,
                            const alula_file_collective &collective);
std::string printSlot(const alula_file_slot &slot);
/// "elf", "raw", "ptx"
const char *getImageKindName(uint32_t kind);
/// "sm_90a"
std::string getChipName(const alula_cuda_code &code);
/// What an image of CUDA has of one kind for one chip.
struct CudaForm {
  bool isCubin;
  std::string chip; ///< "sm_90a"
  uint64_t count, bytes;
};
/// In the order of the image; none if it is damaged.
std::vector<CudaForm> listCudaForms(const Artifact &file,
                                    const alula_file_variant &variant);
/// Where kernels of variants come from, as facts say.
class Origins {
public:
  explicit Origins(const Artifact &artifact);
  /// NULL if the kernel was generated.
  const char *find(const alula_file_variant &variant,
                   const alula_file_kernel &kernel) const;

private:
  const Artifact &file;
  std::unordered_map<std::string_view, const char *> values;
};

/// Calls `line` for each command of a block.
template <class Line>
void forEachCommand(const Artifact &file, const alula_file_block &block,
                    Line line) {
  for (uint64_t word = block.begin; word < block.end;
       word += file.code[word] >> 8)
    line(word);
}

} // namespace alula::artifact
