// Constants that lie in safetensors files: found, checked, mapped.

#include "runtime/executable/buffer.h"
#include "runtime/executable/executable.h"

#include <cinttypes>
#include <cstdio>
#include <sys/mman.h>

namespace alula::runtime {
namespace {

/// An artifact must not make the runtime read what it likes: its names stay
/// below the directory.
bool isPlainName(const char *name) {
  if (*name == '/' || *name == 0)
    return false;
  for (const char *part = name; part; part = strchr(part, '/')) {
    part += *part == '/';
    if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == 0))
      return false;
  }
  return true;
}

class ExternalBinder {
public:
  ExternalBinder(Image &image, const alula_load_options &options,
                 const char *directory, size_t directoryBytes)
      : image(image), file(image.file), options(options), directory(directory),
        directoryBytes(directoryBytes) {}

  Status bind(uint64_t index) {
    const alula_file_constant &record = file.constants[index];
    const alula_file_type &type = file.types[record.offset];
    alula_external_constant wanted = {};
    wanted.struct_bytes = sizeof wanted;
    wanted.file = file.getString(record.external_file);
    wanted.name = file.getString(record.external_name);
    wanted.dtype = alula_dtype(type.dtype);
    wanted.rank = type.rank;
    wanted.dims = image.dims.data() + type.first_dim;
    wanted.bytes = record.bytes;
    const void *data = nullptr;
    if (options.find_external)
      ALULA_TRY(
          options.find_external(options.find_external_user, &wanted, &data));
    if (!data)
      ALULA_TRY(findInFile(wanted, &data));
    return take(index, wanted, static_cast<const uint8_t *>(data));
  }

private:
  Status findInFile(const alula_external_constant &wanted, const void **data) {
    ExternalFile *external = nullptr;
    ALULA_TRY(getFile(wanted, &external));
    artifact::SafetensorsTensor tensor;
    if (!artifact::findTensor(external->tensors, wanted.name, tensor))
      return makeError(ALULA_STATUS_NOT_FOUND, "%s: there is no tensor '%s'",
                       wanted.file, wanted.name);
    const char *typeName = artifact::getSafetensorsName(wanted.dtype);
    bool same = strcmp(tensor.type, typeName ? typeName : "U8") == 0 &&
                tensor.bytes == wanted.bytes;
    if (typeName)
      same =
          same && tensor.rank == wanted.rank &&
          memcmp(tensor.dims, wanted.dims, wanted.rank * sizeof(int64_t)) == 0;
    if (!same) {
      char is[200], expected[160];
      printTensor(is, sizeof is, tensor);
      printShape(expected, sizeof expected, wanted.dtype, wanted.rank,
                 wanted.dims);
      return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                       "%s: tensor '%s' is %s, the artifact wants %s",
                       wanted.file, wanted.name, is, expected);
    }
    *data = tensor.data;
    return nullptr;
  }

  /// "2x3 of F32, 24 bytes"
  static void printTensor(char *text, size_t size,
                          const artifact::SafetensorsTensor &tensor) {
    size_t used = 0;
    for (uint32_t i = 0; i < tensor.rank && used < size / 2; ++i)
      used += size_t(snprintf(text + used, size - used, "%s%" PRId64,
                              i ? "x" : "", tensor.dims[i]));
    snprintf(text + used, size - used, "%sof %s, %" PRIu64 " bytes",
             tensor.rank ? " " : "one ", tensor.type, tensor.bytes);
  }

  Status getFile(const alula_external_constant &wanted, ExternalFile **found) {
    for (ExternalFile &external : image.externalFiles)
      if (strcmp(external.name, wanted.file) == 0) {
        *found = &external;
        return nullptr;
      }
    if (!isPlainName(wanted.file))
      return makeError(ALULA_STATUS_PERMISSION_DENIED,
                       "file '%s' of constant '%s' is not below the artifact's "
                       "folder",
                       wanted.file, wanted.name);
    if (!directory)
      return makeError(
          ALULA_STATUS_FAILED_PRECONDITION,
          "constant '%s' lies in file '%s', and external_directory "
          "does not say where that is",
          wanted.name, wanted.file);
    size_t size = directoryBytes + strlen(wanted.file) + 2;
    char *path = static_cast<char *>(malloc(size));
    if (!path)
      return makeOutOfMemory("a path", size);
    snprintf(path, size, "%.*s/%s", int(directoryBytes), directory,
             wanted.file);
    ExternalFile made = {};
    made.name = wanted.file;
    Status status = mapFile(path, &made.memory, &made.bytes);
    artifact::Diagnostic diagnostic;
    if (!status && !artifact::openSafetensors(made.memory, made.bytes,
                                              made.tensors, diagnostic))
      status = makeError(diagnostic.code, "%s: %s", path, diagnostic.text);
    if (!status && !image.externalFiles.push(made))
      status = makeOutOfMemory("a file", sizeof made);
    if (status && made.memory)
      munmap(made.memory, made.bytes);
    free(path);
    if (!status)
      *found = image.externalFiles.end() - 1;
    return status;
  }

  /// Kernels count on the alignment of the elements, if they see these bytes.
  Status take(uint64_t index, const alula_external_constant &wanted,
              const uint8_t *data) {
    image.constants[index] = data;
    if (!image.instance->driver->sharesMemory ||
        reinterpret_cast<uintptr_t>(data) % getElementAlignment(wanted.dtype) ==
            0)
      return nullptr;
    const Allocator &allocator = image.instance->allocator;
    auto *copy = static_cast<uint8_t *>(allocator.allocate(wanted.bytes));
    if (!copy || !image.ownedConstants.push({copy, wanted.bytes})) {
      allocator.release(copy, wanted.bytes);
      return makeOutOfMemory("a constant", wanted.bytes);
    }
    memcpy(copy, data, wanted.bytes);
    image.constants[index] = copy;
    return nullptr;
  }

  Image &image;
  const artifact::Artifact &file;
  const alula_load_options &options;
  const char *directory;
  size_t directoryBytes;
};

} // namespace

Status bindExternalConstants(Image &image, const alula_load_options &options,
                             const char *directory, size_t directoryBytes) {
  ExternalBinder binder(image, options, directory, directoryBytes);
  for (uint64_t i = 0; i < image.file.constants.size; ++i)
    if (image.file.constants[i].external_file)
      ALULA_TRY(binder.bind(i));
  return nullptr;
}

void releaseExternalConstants(Image &image) {
  for (const ExternalFile &external : image.externalFiles)
    munmap(external.memory, external.bytes);
  for (const OwnedConstant &owned : image.ownedConstants)
    image.instance->allocator.release(owned.data, owned.bytes);
}

} // namespace alula::runtime
