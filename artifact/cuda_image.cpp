#include "artifact/cuda_image.h"

#include <cinttypes>
#include <cstring>

namespace alula::artifact {
namespace {

class CudaReader {
public:
  CudaReader(const Artifact &file, const alula_file_variant &variant,
             CudaImage &image, Diagnostic &diagnostic)
      : file(file), variant(variant), image(image), diagnostic(diagnostic),
        size(variant.image_bytes) {}

  bool read() {
    image = {};
    image.bytes = file.images.data + variant.image_offset;
    auto *header = reinterpret_cast<const alula_cuda_image *>(image.bytes);
    if (size < sizeof *header ||
        memcmp(header->magic, ALULA_CUDA_MAGIC, sizeof header->magic) != 0)
      return fail("has no header");
    uint64_t at = sizeof *header;
    if (!place(image.kernels, header->kernel_count, at) ||
        !place(image.modules, header->module_count, at) ||
        !place(image.codes, header->code_count, at) ||
        !place(image.launches, header->launch_count, at) ||
        !place(image.arguments, header->argument_count, at) ||
        !place(image.strings, header->string_bytes, at))
      return fail("is too short for its tables");
    if (!image.strings.size || image.strings[0] != 0 ||
        image.strings[image.strings.size - 1] != 0)
      return fail("has strings without an end");
    if (!checkCodes(at) || !checkModules() || !checkKernels())
      return false;
    for (uint64_t i = 0; i < file.kernels.size; ++i)
      if (!checkLaunches(i))
        return false;
    return true;
  }

private:
  __attribute__((format(printf, 2, 3))) bool fail(const char *format, ...) {
    char what[200];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    return diagnostic.fail(ALULA_STATUS_DATA_LOSS, "image of '%.100s': %s",
                           file.getString(variant.name), what);
  }

  template <class T> bool place(Table<T> &table, uint32_t count, uint64_t &at) {
    uint64_t bytes = uint64_t(count) * sizeof(T);
    if (bytes > size - at)
      return false;
    table = {reinterpret_cast<const T *>(image.bytes + at), count};
    at += bytes;
    return true;
  }

  static bool isRange(uint64_t first, uint64_t count, uint64_t size) {
    return first <= size && count <= size - first;
  }

  bool checkCodes(uint64_t tables) {
    for (uint64_t i = 0; i < image.codes.size; ++i) {
      const alula_cuda_code &code = image.codes[i];
      if (code.kind < ALULA_CUDA_PTX || code.kind > ALULA_CUDA_CUBIN)
        return fail("code %" PRIu64 " has the unknown kind %u", i, code.kind);
      if (code.offset < tables || code.offset % 16 || !code.bytes ||
          !isRange(code.offset, code.bytes, size))
        return fail("code %" PRIu64 " is out of place", i);
      if (code.kind == ALULA_CUDA_PTX &&
          image.bytes[code.offset + code.bytes - 1] != 0)
        return fail("code %" PRIu64 " is a text without an end", i);
    }
    return true;
  }

  bool checkModules() {
    for (uint64_t i = 0; i < image.modules.size; ++i) {
      const alula_cuda_module &module = image.modules[i];
      if (!module.code_count ||
          !isRange(module.first_code, module.code_count, image.codes.size))
        return fail("module %" PRIu64 " has no code", i);
    }
    return true;
  }

  bool checkKernels() {
    for (uint64_t i = 0; i < file.kernels.size; ++i) {
      uint64_t entry = file.entries[variant.first_entry + i];
      uint64_t index = (entry - sizeof(alula_cuda_image)) / 8;
      if (entry % 8 || entry < sizeof(alula_cuda_image) ||
          index >= image.kernels.size)
        return fail("kernel '%.60s' has no record", getName(i));
      if (!isRange(image.kernels[index].first_launch,
                   image.kernels[index].launch_count, image.launches.size))
        return fail("kernel '%.60s' has launches that are not there",
                    getName(i));
    }
    return true;
  }

  bool checkLaunches(uint64_t kernel) {
    const alula_cuda_kernel &record = image.getKernel(file, variant, kernel);
    for (uint32_t i = 0; i < record.launch_count; ++i) {
      const alula_cuda_launch &launch = image.launches[record.first_launch + i];
      bool isCall = launch.flags & ALULA_CUDA_LAUNCH_CALL;
      if (launch.entry >= image.strings.size ||
          (isCall ? launch.module != ALULA_NONE
                  : launch.module >= image.modules.size) ||
          !isRange(launch.first_argument, launch.argument_count,
                   image.arguments.size))
        return fail("launch %u of kernel '%.60s' names what is not there", i,
                    getName(kernel));
      for (int axis = 0; axis < 3; ++axis)
        if (!launch.block[axis] || launch.block[axis] > 1024 ||
            !launch.cluster[axis] || launch.cluster[axis] > 16 ||
            (launch.grid_axis[axis] > 2 &&
             launch.grid_axis[axis] != ALULA_NONE))
          return fail("launch %u of kernel '%.60s' has an impossible grid", i,
                      getName(kernel));
      if (isCall && (launch.grid[0] >= record.launch_count - i ||
                     (launch.flags & ALULA_CUDA_LAUNCH_COOPERATIVE)))
        return fail("launch %u of kernel '%.60s' is a call for launches that "
                    "are not there",
                    i, getName(kernel));
      for (uint32_t j = 0; j < launch.argument_count; ++j)
        if (isCall && (image.arguments[launch.first_argument + j].bytes != 8 ||
                       image.arguments[launch.first_argument + j].kind ==
                           ALULA_CUDA_ARGUMENT_FAILURE))
          return fail("launch %u of kernel '%.60s': argument %u is none of a "
                      "call",
                      i, getName(kernel), j);
      for (uint32_t j = 0; j < launch.argument_count; ++j)
        if (!isGood(image.arguments[launch.first_argument + j],
                    file.kernels[kernel]))
          return fail("launch %u of kernel '%.60s': argument %u is wrong", i,
                      getName(kernel), j);
    }
    return true;
  }

  static bool isGood(const alula_cuda_argument &argument,
                     const alula_file_kernel &kernel) {
    if (argument.bytes != 8 && argument.bytes != 4)
      return false;
    bool isAddress = false;
    uint64_t known = 1;
    switch (argument.kind) {
    case ALULA_CUDA_ARGUMENT_BINDING:
      isAddress = true;
      known = kernel.binding_count;
      break;
    case ALULA_CUDA_ARGUMENT_BINDING_BYTES:
      known = kernel.binding_count;
      break;
    case ALULA_CUDA_ARGUMENT_CONSTANT:
      known = kernel.constant_count;
      break;
    case ALULA_CUDA_ARGUMENT_SCRATCH:
      isAddress = true;
      if (argument.value > kernel.scratch_bytes)
        return false;
      break;
    case ALULA_CUDA_ARGUMENT_WORKGROUPS:
      known = 3;
      break;
    case ALULA_CUDA_ARGUMENT_NUMBER:
      break;
    case ALULA_CUDA_ARGUMENT_FAILURE:
      isAddress = true;
      break;
    default:
      return false;
    }
    return argument.index < known && (argument.bytes == 8 || !isAddress);
  }

  const char *getName(uint64_t kernel) const {
    return file.getString(file.kernels[kernel].name);
  }

  const Artifact &file;
  const alula_file_variant &variant;
  CudaImage &image;
  Diagnostic &diagnostic;
  uint64_t size;
};

} // namespace

bool readCudaImage(const Artifact &artifact, const alula_file_variant &variant,
                   CudaImage &image, Diagnostic &diagnostic) {
  return CudaReader(artifact, variant, image, diagnostic).read();
}

} // namespace alula::artifact
