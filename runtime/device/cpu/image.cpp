#include "runtime/device/cpu/image.h"

#include "artifact/elf.h"

#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace alula::runtime {

static uint64_t getPageBytes() {
  long bytes = sysconf(_SC_PAGESIZE);
  return bytes > 0 ? uint64_t(bytes) : 4096;
}

CodeImage::~CodeImage() {
  if (memory)
    munmap(memory, mappedBytes);
}

Status CodeImage::map(uint64_t bytes) {
  uint64_t page = getPageBytes();
  mappedBytes = (bytes + page - 1) / page * page;
  void *pages = mmap(nullptr, mappedBytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED)
    return makeOutOfMemory("kernel code", mappedBytes);
  memory = static_cast<uint8_t *>(pages);
  return nullptr;
}

Status CodeImage::load(const artifact::Artifact &artifact,
                       const alula_file_variant &variant) {
  const uint8_t *bytes = artifact.images.data + variant.image_offset;
  uint64_t size = variant.image_bytes, page = getPageBytes();
  artifact::ElfImage image;
  if (variant.image_kind == ALULA_IMAGE_ELF) {
    artifact::Diagnostic diagnostic;
    if (!artifact::readElfImage(bytes, size, artifact.getString(variant.target),
                                image, diagnostic))
      return makeError(diagnostic.code, "%s", diagnostic.text);
  } else {
    image.segments[0] = {0, size, bytes, size, true};
    image.segmentCount = 1;
    image.addressBytes = size;
  }
  if (image.addressBytes == 0)
    return makeError(ALULA_STATUS_DATA_LOSS, "kernel image: is empty");
  ALULA_TRY(map(image.addressBytes));
  for (uint32_t i = 0; i < image.segmentCount; ++i)
    memcpy(memory + image.segments[i].address, image.segments[i].data,
           image.segments[i].fileBytes);
  if (mprotect(memory, mappedBytes, PROT_READ) != 0)
    return makeError(ALULA_STATUS_INTERNAL, "can't protect kernel code: %s",
                     strerror(errno));
  for (uint32_t i = 0; i < image.segmentCount; ++i) {
    const artifact::ElfSegment &segment = image.segments[i];
    if (!segment.execute)
      continue;
    // A page shared with constants becomes executable with them: harmless,
    // as nothing is writable any more.
    uint64_t begin = segment.address / page * page;
    uint64_t end = segment.address + segment.memoryBytes;
    if (mprotect(memory + begin, end - begin, PROT_READ | PROT_EXEC) != 0)
      return makeError(ALULA_STATUS_PERMISSION_DENIED,
                       "can't make kernel code executable: %s",
                       strerror(errno));
    code[codeCount++] = {segment.address, end};
  }
  __builtin___clear_cache(reinterpret_cast<char *>(memory),
                          reinterpret_cast<char *>(memory + mappedBytes));
  return nullptr;
}

void *CodeImage::getEntry(uint64_t offset) const {
  for (uint32_t i = 0; i < codeCount; ++i)
    if (offset >= code[i].begin && offset < code[i].end)
      return memory + offset;
  return nullptr;
}

} // namespace alula::runtime
