#include "tools/options/iree.h"

namespace alula::options {

static constexpr Foreign compileHints[] = {
    {"iree-hal-target-backends",
     "say --target=cpu:portable, --target=cpu:host or another machine"},
    {"iree-hal-target-device",
     "say --target=cpu:portable, --target=cpu:host or another machine"},
    {"iree-llvmcpu-target-cpu", "say --target=cpu:NAME, as cpu:x86-64-v3"},
    {"iree-llvmcpu-target-cpu-features",
     "say --target=cpu:NAME; a machine's name decides its features"},
    {"iree-llvmcpu-target-triple", "say --target=cpu:NAME"},
    {"iree-input-type", "leave it out: programs are StableHLO, in any form"},
    {"iree-opt-level", "leave it out: there is one level"},
    {"iree-opt-export-parameters", "say --externalize-constants=FILE"},
    {"iree-parameter-export", "say --externalize-constants=FILE"},
    {"iree-hal-executable-debug-level", "say --debug=1, 2 or 3"},
    {"iree-llvmcpu-debug-symbols", "say --debug=2"},
    {"iree-hal-dump-executable-files-to", "say --dump-executables-to=FOLDER"},
    {"iree-hal-dump-executable-sources-to",
     "say --dump-executable-sources-to=FOLDER"},
    {"iree-hal-dump-executable-configurations-to",
     "say --dump-executable-configs-to=FOLDER"},
    {"iree-hal-dump-executable-benchmarks-to",
     "say --dump-executable-benchmarks-to=FOLDER"},
    {"iree-hal-dump-executable-intermediates-to",
     "say --dump-executable-intermediates-to=FOLDER"},
    {"iree-hal-dump-executable-binaries-to",
     "say --dump-executable-binaries-to=FOLDER"},
    {"iree-llvmcpu-keep-linker-artifacts", "say --keep-intermediates=FOLDER"},
    {"iree-hal-substitute-executable-source",
     "say --substitute-executable-source=NAME=FILE"},
    {"iree-hal-substitute-executable-sources-from",
     "say --substitute-executable-source-from=FOLDER"},
    {"iree-hal-substitute-executable-configuration",
     "say --substitute-executable-config=NAME=FILE"},
    {"iree-hal-substitute-executable-object",
     "say --substitute-executable-object=NAME=FILE"},
    {"iree-hal-preprocess-executables-with",
     "say --preprocess-executables-with=STEP"},
    {"iree-hal-executable-object-search-path", "say --object-path=FOLDER"},
    {"iree-plugin", "say --plugin=ID, and --load-plugin=FILE for its file"},
    {"iree-print-plugin-info", "say --list-plugins"},
    {"dump-compilation-phases-to", "say --dump-stages-to=FOLDER"},
    {"output-format", "leave it out: --compile-to=STAGE ends with a program"},
};

static constexpr Foreign runHints[] = {
    {"module", "the artifact is a word by itself: alula-run FILE.alula"},
    {"parameters", "say --constants=FOLDER"},
    {"parameter_mode", "leave it out: constants are mapped"},
    {"task_topology_group_count", "say --threads=N"},
    {"task_topology_cpu_ids", "say --threads=N, and taskset for processors"},
    {"task_topology_max_group_count", "say --threads=N"},
    {"executable_plugin", "say --executable-plugin=LIBRARY.so"},
    {"list_devices", "there are cpu and null: --device=NAME"},
    {"list_drivers", "there are cpu and null: --device=NAME"},
    {"dump_devices", "there are cpu and null: --device=NAME"},
    {"device_allocator", "leave it out: memory is planned when compiled"},
    {"print_statistics", "say --trace=FILE for times"},
    {"trace_execution", "say --trace=FILE for times"},
    {"expected_f16_threshold", "say --atol=X"},
    {"expected_f32_threshold", "say --atol=X"},
    {"expected_f64_threshold", "say --atol=X"},
    {"output_max_element_count", "say --output=x.npy for all of it"},
};

std::span<const Foreign> getIreeCompileHints() { return compileHints; }
std::span<const Foreign> getIreeRunHints() { return runHints; }

} // namespace alula::options
