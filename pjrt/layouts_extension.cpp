#include "pjrt/layouts_extension.h"

#include "pjrt/functions.h"
#include "pjrt/guarded.h"
#include "pjrt/layout.h"
#include "pjrt/program.h"
#include "pjrt/shardings_extension.h"

#include <set>

using namespace alula::pjrt;

void *alula::pjrt::getLayoutObject(const std::string &text) {
  static std::mutex *const mutex = new std::mutex;
  static auto *const texts = new std::set<std::string>;
  std::lock_guard lock(*mutex);
  return const_cast<std::string *>(&*texts->insert(text).first);
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
  put(args, &Args::layout, getLayoutObject(printLayout({}, rank)));
  return nullptr;
}

void *getBufferLayout(PJRT_Layouts_PJRT_Buffer_MemoryLayout_Args *args) {
  ALULA_TAKE(Buffer, buffer);
  put(args, &ALULA_ARGS::layout,
      getLayoutObject(printLayout(buffer->layout, buffer->dims.size())));
  return nullptr;
}

void *
getOutputLayouts(PJRT_Layouts_PJRT_Executable_GetOutputLayouts_Args *args) {
  ALULA_TAKE(Executable, executable);
  auto &layouts = executable->program->resultLayoutObjects;
  put(args, &ALULA_ARGS::num_outputs, layouts.size());
  put(args, &ALULA_ARGS::layouts, layouts.data());
  return nullptr;
}

void *getParameterLayouts(
    PJRT_Layouts_PJRT_Executable_GetParameterLayouts_Args *args) {
  ALULA_TAKE(Executable, executable);
  auto &layouts = executable->program->argumentLayoutObjects;
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
