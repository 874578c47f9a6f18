// Loading: bytes to a verified view, code, constants, facts.

#include "runtime/executable/executable.h"

#include "runtime/executable/state.h"
#include "runtime/imports/imports.h"

#include <cerrno>
#include <cinttypes>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace alula::runtime {
namespace {

uint64_t alignUp(uint64_t bytes) {
  return (bytes + memoryAlignment - 1) / memoryAlignment * memoryAlignment;
}

void releaseImage(Image *image) {
  if (image->users.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  if (image->kernels)
    image->runner->unload(image->kernels);
  releaseExternalConstants(*image);
  Instance *instance = image->instance;
  if (image->isMapped)
    munmap(image->memory, image->memoryBytes);
  else if (image->isCopied)
    instance->allocator.release(image->memory, image->memoryBytes);
  destroy(image);
  release(instance);
}

void destroyExecutable(alula_executable *executable) {
  destroyContexts(executable);
  destroyState(executable->state);
  Instance *instance = executable->instance;
  if (executable->constantMemory)
    instance->driver->release(instance->device, executable->constantMemory,
                              executable->constantMemoryBytes);
  releaseImage(executable->image);
  destroy(executable);
  release(instance);
}

/// Finds what a function does that its callers and the locks must know.
class CommandScanner {
public:
  CommandScanner(const Image &image, const alula_file_function &function,
                 FunctionInfo &info)
      : image(image), file(image.file), function(function), info(info) {}

  void run() {
    for (uint32_t i = 0; i < function.slot_count; ++i)
      info.readsGlobals |=
          file.slots[function.first_slot + i].kind == ALULA_SLOT_GLOBAL;
    uint32_t last = function.first_block + function.block_count - 1;
    uint64_t end = file.blocks[last].end;
    for (uint64_t word = file.blocks[function.first_block].begin; word < end;
         word += file.code[word] >> 8)
      scan(file.code[word] & 0xFF, file.code.data + word + 1);
  }

private:
  void scan(uint32_t opcode, const uint32_t *parameters) {
    const char *kinds = artifact::getCommandInfo(opcode)->parameters;
    for (uint32_t i = 0; kinds[i]; ++i)
      if (kinds[i] == 'w')
        markWritten(parameters[i]);
    switch (opcode) {
    case ALULA_COMMAND_CHECK_GLOBAL:
      info.readsGlobals = true;
      break;
    case ALULA_COMMAND_DEFINE_GLOBAL:
      info.writesGlobals = true;
      break;
    case ALULA_COMMAND_DISPATCH: {
      const alula_file_kernel &kernel = file.kernels[parameters[0]];
      for (uint32_t i = 0; i < kernel.binding_count; ++i)
        if (file.lists[kernel.first_access + i] & ALULA_ACCESS_WRITE)
          markWritten(parameters[4 + i]);
      break;
    }
    case ALULA_COMMAND_VIEW:
      // A writable view of a global can be written anywhere.
      if (!(file.slots[function.first_slot + parameters[0]].flags &
            ALULA_SLOT_READ_ONLY))
        markWritten(parameters[1]);
      break;
    case ALULA_COMMAND_CALL:
      scanCall(parameters);
      break;
    case ALULA_COMMAND_CUSTOM_CALL: {
      const alula_file_custom_call &callee = file.customCalls[parameters[0]];
      for (uint32_t i = 0; i < callee.result_count; ++i)
        markWritten(parameters[1 + callee.operand_count + i]);
      break;
    }
    }
  }

  void scanCall(const uint32_t *parameters) {
    const alula_file_function &record = file.functions[parameters[0]];
    const FunctionInfo &callee = image.functions[parameters[0]];
    for (uint32_t i = 0; i < record.result_count; ++i)
      markWritten(parameters[1 + record.argument_count + i]);
    info.readsGlobals |= callee.readsGlobals;
    info.writesGlobals |= callee.writesGlobals;
    if (callee.totalBytes > info.totalBytes)
      info.totalBytes = callee.totalBytes;
    if (callee.totalArenaBytes > info.totalArenaBytes)
      info.totalArenaBytes = callee.totalArenaBytes;
  }

  void markWritten(uint32_t slot) {
    if (file.slots[function.first_slot + slot].kind == ALULA_SLOT_GLOBAL)
      info.writesGlobals = true;
  }

  const Image &image;
  const artifact::Artifact &file;
  const alula_file_function &function;
  FunctionInfo &info;
};

Status computeFacts(Image &image) {
  const artifact::Artifact &file = image.file;
  if (!image.functions.resize(file.functions.size) ||
      !image.dims.resize(file.dims.size))
    return makeOutOfMemory("functions", file.functions.size);
  for (uint64_t i = 0; i < file.dims.size; ++i)
    image.dims[i] = file.dims[i].size;
  for (uint32_t i = 0; i < file.functions.size; ++i) {
    const alula_file_function &function = file.functions[i];
    FunctionInfo &info = image.functions[i];
    for (uint32_t j = 0; j < function.argument_count; ++j)
      info.dynamicArgumentDims += artifact::countDynamicDims(
          file, file.types[file.getArgument(function, j).type]);
    for (uint32_t j = 0; j < function.result_count; ++j)
      info.dynamicResultDims += artifact::countDynamicDims(
          file, file.types[file.getResult(function, j).type]);
    CommandScanner(image, function, info).run();
    // Registers, dims, slots, the storage of arguments and results.
    uint64_t words = uint64_t(function.register_count) +
                     info.dynamicArgumentDims + info.dynamicResultDims;
    uint64_t slots = uint64_t(function.slot_count) + function.argument_count +
                     function.result_count;
    info.frameBytes =
        alignUp(words * sizeof(int64_t)) + alignUp(slots * slotBytes);
    info.arenaBytes = alignUp(function.arena_bytes);
    // At most 256 levels of 2^48 bytes: no overflow.
    info.totalBytes += info.frameBytes;
    info.totalArenaBytes += info.arenaBytes;
    if (function.flags & ALULA_FUNCTION_EXPORTED && !image.exported.push(i))
      return makeOutOfMemory("functions", file.functions.size);
  }
  for (const alula_file_kernel &kernel : file.kernels) {
    if (alignUp(kernel.scratch_bytes) > image.scratchBytes)
      image.scratchBytes = alignUp(kernel.scratch_bytes);
    if (kernel.binding_count > image.mostBindings)
      image.mostBindings = kernel.binding_count;
    if (kernel.constant_count > image.mostConstants)
      image.mostConstants = kernel.constant_count;
  }
  // Files of older versions have no dispatches together.
  uint32_t together = file.minor < 6 ? 1 : ALULA_MAX_TOGETHER;
  image.mostBindings *= together;
  image.mostConstants *= together;
  for (const alula_file_custom_call &call : file.customCalls) {
    uint64_t values = uint64_t(call.operand_count) + call.result_count;
    uint64_t dims = 0;
    for (uint64_t i = 0; i < values; ++i)
      dims += file.types[file.lists[call.first_type + i]].rank;
    if (values > image.mostCallBuffers)
      image.mostCallBuffers = values;
    if (dims > image.mostCallDims)
      image.mostCallDims = dims;
  }
  return nullptr;
}

Status bindConstants(Image &image) {
  const artifact::Artifact &file = image.file;
  if (!image.constants.resize(file.constants.size))
    return makeOutOfMemory("constants", file.constants.size);
  for (uint64_t i = 0; i < file.constants.size; ++i) {
    const alula_file_constant &constant = file.constants[i];
    if (!constant.external_file)
      image.constants[i] = file.data.data + constant.offset;
  }
  return nullptr;
}

/// What states allocate is said by the file, so the embedder says how much it
/// may be.
Status checkGlobals(const Image &image, const alula_load_options &options) {
  const artifact::Artifact &file = image.file;
  uint64_t limit = options.max_global_bytes;
  if (!limit) {
    limit = ALULA_DEFAULT_GLOBAL_BYTES + image.memoryBytes;
    for (const ExternalFile &external : image.externalFiles)
      limit += external.bytes;
  }
  uint64_t total = 0;
  for (const alula_file_global &global : file.globals) {
    uint64_t bytes = 0;
    artifact::getStaticBytes(file, file.types[global.type], bytes);
    // Others are where the file is mapped.
    if (global.initial == ALULA_NONE || global.flags & ALULA_GLOBAL_MUTABLE)
      total = total > UINT64_MAX - bytes ? UINT64_MAX : total + bytes;
  }
  if (total <= limit)
    return nullptr;
  return makeError(ALULA_STATUS_RESOURCE_EXHAUSTED,
                   "globals take %" PRIu64 " bytes, more than the limit of "
                   "%" PRIu64 " (max_global_bytes of the load options)",
                   total, limit);
}

/// Looks up the embedder's functions.
Status bindCustomCalls(alula_executable &executable) {
  const artifact::Artifact &file = executable.image->file;
  Instance &instance = *executable.instance;
  if (!executable.customCalls.resize(file.customCalls.size))
    return makeOutOfMemory("custom calls", file.customCalls.size);
  Lock lock(instance.customCallMutex);
  for (uint64_t i = 0; i < file.customCalls.size; ++i) {
    const alula_file_custom_call &record = file.customCalls[i];
    const char *name = file.getString(record.name);
    CustomCall &bound = executable.customCalls[i];
    for (const CustomCall &call : instance.customCalls)
      if (strcmp(call.name, name) == 0)
        bound = call;
    if (!bound.function)
      return makeError(ALULA_STATUS_NOT_FOUND,
                       "custom call '%s' has no function: it must be "
                       "registered with the instance before loading",
                       name);
  }
  return nullptr;
}

/// Takes the best variant that the device or a plugin can run.
Status loadKernels(Image &image, const char *wanted) {
  Instance &instance = *image.instance;
  const Driver &driver = *instance.driver;
  image.runner = &driver.runner;
  const ImportProvider *provider = nullptr;
  Lock lock(instance.importMutex);
  uint32_t imported =
      findImportedVariant(instance, image.file, wanted, provider);
  Status status =
      driver.load(image.file, wanted, &image.kernels, &image.variant);
  if (!provider || (!status && image.variant < imported))
    return status;
  if (status)
    alula_error_destroy(status);
  else
    driver.runner.unload(image.kernels);
  image.kernels = nullptr;
  image.runner = &importRunner;
  image.variant = imported;
  return loadImportedVariant(*provider, image.file, imported, &image.kernels);
}

/// Whether a program was compiled for no more than this machine has.
bool fitsMachine(const alula_file_program &program, Instance &instance) {
  long cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return program.cores <= instance.pool.getWorkerCount() &&
         (cache <= 0 || program.cache_bytes <= uint64_t(cache));
}

/// Of a file with several programs, which stand best first: the first one that
/// runs here and was compiled for no more than there is, else the last one that
/// runs here. Afterwards `file` is that program, with its kernels loaded.
Status chooseProgram(Image &image, const char *wanted) {
  const artifact::Artifact file = image.file;
  Status why = nullptr;
  auto tryProgram = [&](uint64_t i) {
    artifact::Diagnostic diagnostic;
    Status status = nullptr;
    if (!artifact::openProgram(file, i, image.file, diagnostic))
      status = makeError(diagnostic.code, "%s", diagnostic.text);
    else if (image.file.kernels.size)
      status = loadKernels(image, wanted);
    if (!status)
      return true;
    Status both = makeError(
        why ? alula_error_get_code(why) : alula_error_get_code(status),
        "%s%sprogram '%s': %s", why ? alula_error_get_message(why) : "",
        why ? "; " : "", file.getString(file.programs[i].name),
        alula_error_get_message(status));
    alula_error_destroy(status);
    if (why)
      alula_error_destroy(why);
    why = both;
    return false;
  };
  bool isFound = false;
  for (uint64_t i = 0; !isFound && i < file.programs.size; ++i)
    isFound = fitsMachine(file.programs[i], *image.instance) && tryProgram(i);
  for (uint64_t i = file.programs.size; !isFound && i-- > 0;)
    isFound = !fitsMachine(file.programs[i], *image.instance) && tryProgram(i);
  if (!isFound)
    return why;
  if (why)
    alula_error_destroy(why);
  return nullptr;
}

/// From bytes in place to what all executables share.
Status loadImage(Image &image, const alula_load_options &options,
                 const char *directory, size_t directoryBytes) {
  artifact::Diagnostic diagnostic;
  artifact::OpenOptions open;
  open.checkData = !(options.flags & ALULA_LOAD_SKIP_DATA_HASH);
  if (!artifact::openArtifact(image.memory, image.memoryBytes, open, image.file,
                              diagnostic) ||
      !artifact::verifyArtifact(image.file, diagnostic))
    return makeError(diagnostic.code, "%s", diagnostic.text);
  image.hash = image.file.hash;
  image.programHash = image.file.programHash;
  bool hasPrograms = image.file.programs.size;
  if (hasPrograms)
    ALULA_TRY(chooseProgram(image, options.variant));
  ALULA_TRY(computeFacts(image));
  ALULA_TRY(bindConstants(image));
  ALULA_TRY(bindExternalConstants(image, options, directory, directoryBytes));
  ALULA_TRY(checkGlobals(image, options));
  ALULA_TRY(resolveImports(*image.instance, image.file,
                           options.flags & ALULA_LOAD_MISSING_IMPORTS,
                           image.imports, image.missesImports));
  if (image.file.kernels.size && !hasPrograms)
    ALULA_TRY(loadKernels(image, options.variant));
  return nullptr;
}

/// What an executable has for itself, once its image is there.
Status bind(alula_executable &executable) {
  ALULA_TRY(placeConstants(executable));
  ALULA_TRY(bindCustomCalls(executable));
  return createState(&executable, &executable.state);
}

Status load(alula_executable &executable, const alula_load_options &options,
            const char *directory, size_t directoryBytes) {
  ALULA_TRY(loadImage(*executable.image, options, directory, directoryBytes));
  return bind(executable);
}

/// An executable that uses `image`, or one to be loaded if that is NULL.
Status makeExecutable(Instance *instance, Image *image,
                      alula_executable **result) {
  auto *executable = create<alula_executable>();
  if (executable && image) {
    image->users.fetch_add(1, std::memory_order_relaxed);
  } else if (executable) {
    image = create<Image>();
    if (image) {
      image->instance = instance;
      image->variant = ALULA_NONE;
      retain(instance);
    }
  }
  if (!executable || !image) {
    destroy(executable);
    return makeOutOfMemory("an executable", sizeof(Image));
  }
  executable->instance = instance;
  executable->image = image;
  retain(instance);
  *result = executable;
  return nullptr;
}

/// What is wrong with a file begins with its name.
Status addPath(const char *path, Status status) {
  Status full = makeError(alula_error_get_code(status), "%s: %s", path,
                          alula_error_get_message(status));
  alula_error_destroy(status);
  return full;
}

/// `path` is the artifact's own, NULL if it has none: files beside it belong
/// to it.
Status finish(alula_executable *made, Status status, const char *path,
              const alula_load_options &options, alula_executable **result) {
  const char *directory = options.external_directory;
  size_t directoryBytes = directory ? strlen(directory) : 0;
  if (!directory && path) {
    const char *slash = strrchr(path, '/');
    directory = slash ? path : ".";
    directoryBytes = slash ? size_t(slash - path) + 1 : 1;
  }
  if (!status) {
    status = load(*made, options, directory, directoryBytes);
    if (status && path)
      status = addPath(path, status);
  }
  if (status)
    destroyExecutable(made);
  else
    *result = made;
  return status;
}

alula_load_options getOptions(const alula_load_options *options) {
  alula_load_options mine = {};
  if (options)
    memcpy(&mine, options,
           options->struct_bytes < sizeof mine ? options->struct_bytes
                                               : sizeof mine);
  return mine;
}

} // namespace

Status mapFile(const char *path, void **memory, uint64_t *bytes) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  struct stat facts;
  if (file < 0 || fstat(file, &facts) != 0) {
    int why = errno;
    if (file >= 0)
      close(file);
    return makeError(why == ENOENT ? ALULA_STATUS_NOT_FOUND
                                   : ALULA_STATUS_PERMISSION_DENIED,
                     "%s: %s", path, strerror(why));
  }
  if (!S_ISREG(facts.st_mode) || facts.st_size == 0) {
    close(file);
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "%s: not a file with content", path);
  }
  auto size = uint64_t(facts.st_size);
  void *mapped = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  int why = errno;
  close(file);
  if (mapped == MAP_FAILED)
    return makeError(ALULA_STATUS_RESOURCE_EXHAUSTED, "%s: can't map it: %s",
                     path, strerror(why));
  *memory = mapped;
  *bytes = size;
  return nullptr;
}

} // namespace alula::runtime

using namespace alula::runtime;

alula_error *alula_executable_load_file(alula_instance *instance,
                                        const char *path,
                                        const alula_load_options *options,
                                        alula_executable **executable) {
  if (!instance || !path || !executable)
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "alula_executable_load_file: an argument is null");
  alula_executable *made = nullptr;
  ALULA_TRY(
      makeExecutable(reinterpret_cast<Instance *>(instance), nullptr, &made));
  Image &image = *made->image;
  Status status = mapFile(path, &image.memory, &image.memoryBytes);
  image.isMapped = !status;
  return finish(made, status, path, getOptions(options), executable);
}

alula_error *alula_executable_load_memory(alula_instance *instance,
                                          const void *bytes, size_t size,
                                          const alula_load_options *options,
                                          alula_executable **executable) {
  if (!instance || !bytes || !executable)
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "alula_executable_load_memory: an argument is null");
  alula_executable *made = nullptr;
  ALULA_TRY(
      makeExecutable(reinterpret_cast<Instance *>(instance), nullptr, &made));
  alula_load_options mine = getOptions(options);
  Status status = nullptr;
  Image &image = *made->image;
  image.memoryBytes = size;
  if (mine.flags & ALULA_LOAD_BORROW) {
    image.memory = const_cast<void *>(bytes);
    if (reinterpret_cast<uintptr_t>(bytes) % memoryAlignment)
      status = makeError(ALULA_STATUS_INVALID_ARGUMENT,
                         "borrowed artifact bytes must be aligned to %zu",
                         memoryAlignment);
  } else {
    image.memory = image.instance->allocator.allocate(size);
    if (image.memory) {
      image.isCopied = true;
      memcpy(image.memory, bytes, size);
    } else
      status = makeOutOfMemory("an artifact", size);
  }
  return finish(made, status, /*path=*/nullptr, mine, executable);
}

alula_error *alula_executable_share(alula_executable *executable,
                                    alula_instance *handle,
                                    alula_executable **shared) {
  if (!executable || !handle || !shared)
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "alula_executable_share: an argument is null");
  auto *instance = reinterpret_cast<Instance *>(handle);
  const Driver *driver = executable->instance->driver;
  if (instance->driver != driver)
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "alula_executable_share: the executable was loaded for "
                     "device '%s', the instance is one of '%s'",
                     driver->name, instance->driver->name);
  alula_executable *made = nullptr;
  ALULA_TRY(makeExecutable(instance, executable->image, &made));
  if (Status status = bind(*made)) {
    destroyExecutable(made);
    return status;
  }
  *shared = made;
  return nullptr;
}

void alula_executable_destroy(alula_executable *executable) {
  if (executable)
    destroyExecutable(executable);
}
