// Images of CUDA: what a compiler writes and a loader reads. artifact/SPEC.md
// explains them.

#pragma once

#include "artifact/reader.h"

namespace alula::artifact {

/// A view of an image, whose bytes must outlive it.
struct CudaImage {
  const uint8_t *bytes = nullptr;
  Table<alula_cuda_kernel> kernels;
  Table<alula_cuda_module> modules;
  Table<alula_cuda_code> codes;
  Table<alula_cuda_launch> launches;
  Table<alula_cuda_argument> arguments;
  Table<char> strings;

  const char *getEntry(const alula_cuda_launch &launch) const {
    return strings.data + launch.entry;
  }
  /// What the file calls kernel `index`.
  const alula_cuda_kernel &getKernel(const Artifact &artifact,
                                     const alula_file_variant &variant,
                                     uint64_t index) const {
    return *reinterpret_cast<const alula_cuda_kernel *>(
        bytes + artifact.entries[variant.first_entry + index]);
  }
};

/// Checks the image of a variant, whose artifact was verified: every index is
/// in range afterwards, those of bindings and constants too, every text ends,
/// and blocks have at least one thread.
bool readCudaImage(const Artifact &artifact, const alula_file_variant &variant,
                   CudaImage &image, Diagnostic &diagnostic);

} // namespace alula::artifact
