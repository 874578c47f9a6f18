#include "pjrt/shardings_extension.h"

#include "pjrt/ffi/extension.h"
#include "pjrt/functions.h"
#include "pjrt/guarded.h"
#include "pjrt/program.h"

using namespace alula::pjrt;

namespace {
/// A program for one partition has none, which a null says.
template <typename Args>
void putShardings(Args *args, const Shardings &shardings) {
  put(args, &Args::shardings, shardings.getData());
  put(args, &Args::sharding_sizes, shardings.sizes.data());
}

void *getParameterShardings(
    PJRT_Shardings_PJRT_Executable_ParameterShardings_Args *args) {
  ALULA_TAKE(Executable, executable);
  const Shardings &shardings = executable->program->argumentShardings;
  put(args, &ALULA_ARGS::num_parameters, shardings.sizes.size());
  putShardings(args, shardings);
  return nullptr;
}

void *
getOutputShardings(PJRT_Shardings_PJRT_Executable_OutputShardings_Args *args) {
  ALULA_TAKE(Executable, executable);
  const Shardings &shardings = executable->program->resultShardings;
  put(args, &ALULA_ARGS::num_outputs, shardings.sizes.size());
  putShardings(args, shardings);
  return nullptr;
}
} // namespace

PJRT_Shardings_Extension &alula::pjrt::getShardingsExtension() {
  static PJRT_Shardings_Extension extension = [] {
    PJRT_Shardings_Extension made = {};
    made.base.struct_size = sizeof made;
    made.base.type = 19; // Shardings.
    made.base.next = &getFfiExtension().base;
    made.PJRT_Shardings_PJRT_Executable_ParameterShardings =
        guardedSlot<getParameterShardings>();
    made.PJRT_Shardings_PJRT_Executable_OutputShardings =
        guardedSlot<getOutputShardings>();
    return made;
  }();
  return extension;
}
