#include "pjrt/layouts_extension.h"

#include "pjrt/functions.h"
#include "pjrt/guarded.h"
#include "pjrt/program.h"
#include "pjrt/shardings_extension.h"

#include <deque>

using namespace alula::pjrt;

void *alula::pjrt::getRowMajorLayout(size_t rank) {
  static std::mutex *const mutex = new std::mutex;
  static auto *const texts = new std::deque<std::string>;
  std::lock_guard lock(*mutex);
  while (texts->size() <= rank) {
    // XLA's text: dimensions from the fastest to the slowest.
    std::string text = "{";
    for (size_t dim = texts->size(); dim-- > 0;)
      text += std::to_string(dim) + (dim ? "," : "");
    texts->push_back(text + "}");
  }
  return &(*texts)[rank];
}

namespace {
/// Layouts are for ever.
void *destroyLayout(PJRT_Layouts_MemoryLayout_Destroy_Args *) {
  return nullptr;
}

void *serializeLayout(PJRT_Layouts_MemoryLayout_Serialize_Args *args) {
  ALULA_TAKE(std::string, layout);
  putOwned(args, &ALULA_ARGS::serialized_bytes,
           &ALULA_ARGS::serialized_bytes_size, &ALULA_ARGS::serialized_layout,
           &ALULA_ARGS::serialized_layout_deleter, *layout);
  return nullptr;
}

template <typename Args> void *getDefaultLayout(Args *args) {
  size_t rank = take(args, &Args::num_dims);
  if (rank > 1024)
    return invalid("alula: no array has " + std::to_string(rank) +
                   " dimensions");
  put(args, &Args::layout, getRowMajorLayout(rank));
  return nullptr;
}

void *getBufferLayout(PJRT_Layouts_PJRT_Buffer_MemoryLayout_Args *args) {
  ALULA_TAKE(Buffer, buffer);
  put(args, &ALULA_ARGS::layout, getRowMajorLayout(buffer->dims.size()));
  return nullptr;
}

void *
getOutputLayouts(PJRT_Layouts_PJRT_Executable_GetOutputLayouts_Args *args) {
  ALULA_TAKE(Executable, executable);
  auto &layouts = executable->program->resultLayouts;
  put(args, &ALULA_ARGS::num_outputs, layouts.size());
  put(args, &ALULA_ARGS::layouts, layouts.data());
  return nullptr;
}

void *getParameterLayouts(
    PJRT_Layouts_PJRT_Executable_GetParameterLayouts_Args *args) {
  ALULA_TAKE(Executable, executable);
  auto &layouts = executable->program->argumentLayouts;
  put(args, &ALULA_ARGS::num_parameters, layouts.size());
  put(args, &ALULA_ARGS::layouts, layouts.data());
  return nullptr;
}
} // namespace

PJRT_Layouts_Extension &alula::pjrt::getLayoutsExtension() {
  static PJRT_Layouts_Extension extension = [] {
    PJRT_Layouts_Extension made = {};
    made.base.struct_size = sizeof made;
    made.base.type = 4; // Layouts.
    made.base.next = &getShardingsExtension().base;
    made.PJRT_Layouts_MemoryLayout_Destroy = guardedSlot<destroyLayout>();
    made.PJRT_Layouts_MemoryLayout_Serialize = guardedSlot<serializeLayout>();
    made.PJRT_Layouts_PJRT_Client_GetDefaultLayout = guardedSlot<
        getDefaultLayout<PJRT_Layouts_PJRT_Client_GetDefaultLayout_Args>>();
    made.PJRT_Layouts_PJRT_Buffer_MemoryLayout = guardedSlot<getBufferLayout>();
    made.PJRT_Layouts_PJRT_Topology_GetDefaultLayout = guardedSlot<
        getDefaultLayout<PJRT_Layouts_PJRT_Topology_GetDefaultLayout_Args>>();
    made.PJRT_Layouts_PJRT_Executable_GetOutputLayouts =
        guardedSlot<getOutputLayouts>();
    made.PJRT_Layouts_PJRT_Executable_GetParameterLayouts =
        guardedSlot<getParameterLayouts>();
    return made;
  }();
  return extension;
}
