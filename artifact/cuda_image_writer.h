// Builds an image of CUDA. Same calls in the same order: same bytes.

#pragma once

#include "alula/artifact.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace alula::artifact {

struct CudaLaunchSpec {
  /// What stands behind `.entry`.
  std::string entry;
  /// What addModule gave.
  uint32_t module = 0;
  std::vector<alula_cuda_argument> arguments;
  uint32_t grid[3] = {1, 1, 1};
  uint32_t gridAxis[3] = {ALULA_NONE, ALULA_NONE, ALULA_NONE};
  uint32_t block[3] = {1, 1, 1};
  uint32_t cluster[3] = {1, 1, 1};
  uint32_t sharedBytes = 0;
  uint32_t flags = 0;

  /// A call of a library in place of the next launches.
  static CudaLaunchSpec makeCall(std::string text, uint32_t launches,
                                 std::vector<alula_cuda_argument> arguments);
};

class CudaImageWriter {
public:
  /// A device program with its first form, PTX: `text` without a zero byte at
  /// its end. Equal texts for the same chip become one module.
  uint32_t addModule(std::string_view text, uint32_t chip, bool isExact);
  /// Another form of the module that was added last.
  void addCubin(std::string_view bytes, uint32_t chip, bool isExact);
  /// The launches of a kernel; kernels in the order of the artifact.
  void addKernel(const std::vector<CudaLaunchSpec> &launches);

  /// The image, and where each kernel's record is in it: the variant's entries.
  std::string finish(std::vector<uint64_t> &entries) const;

private:
  struct Code {
    alula_cuda_code record;
    std::string bytes;
  };
  uint32_t addString(std::string_view text);

  std::vector<alula_cuda_kernel> kernels;
  std::vector<alula_cuda_module> modules;
  std::vector<Code> codes;
  std::vector<alula_cuda_launch> launches;
  std::vector<alula_cuda_argument> arguments;
  std::string strings{'\0'};
};

} // namespace alula::artifact
