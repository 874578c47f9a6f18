// The one table of what the compiler can be told: names, values, help, and what
// a later run needs to know of it. compiler/driver/options.h says what becomes
// of it, alula/compiler.h which of it programs can say.

#pragma once

#include "compiler/driver/rooms.h"

#include "llvm/ADT/ArrayRef.h"

namespace alula::driver {

enum class FlagKind {
  /// One value, several, or none: setOption takes them.
  Text,
  Texts,
  Switch,
  /// A tool does it.
  Own
};

enum class FlagGroup {
  Compile,
  Stages,
  Dumps,
  Objects,
  Preprocess,
  Plugins,
  Reports,
  Hidden
};

/// The heading over flags of a group.
llvm::StringRef getTitle(FlagGroup group);

// FLAG(Id, "name", FlagKind, "value", FlagGroup, recorded until, "help")
//
// A flag that decides what the artifact is stands in dumps, so that going on
// needs no flags: up to the last stage that reads it. The others are Never
// recorded.
#define ALULA_COMPILER_FLAGS(FLAG)                                             \
  FLAG(Output, "o", Own, "file", Compile, Never,                               \
       "where to write, - is stdout")                                          \
  FLAG(Target, "target", Texts, "kind:machine", Compile, Room::Emit,           \
       "machine to make code for, repeatable: cpu:x86-64-v3, cpu:host")        \
  FLAG(OutputForm, "emit", Text, "artifact|static|c|blob", Compile,            \
       Room::Emit,                                                             \
       "what is written: static is an archive, a header and a manifest for "   \
       "machines without a runtime, c the same as C99, blob for alula_min "    \
       "(artifact)")                                                           \
  FLAG(SymbolPrefix, "symbol-prefix", Text, "name", Compile, Room::Emit,       \
       "what names of such code begin with (the file's name)")                 \
  FLAG(ArenaBudget, "arena-budget", Text, "bytes", Compile, Room::Emit,        \
       "the most memory that such code may need for a call")                   \
  FLAG(CompilerRt, "allow-compiler-rt", Switch, "", Compile, Room::Emit,       \
       "such code may call the C compiler's own functions, as for floats on "  \
       "a machine without them")                                               \
  FLAG(CustomCall, "custom-call", Texts, "name", Compile, Room::Emit,          \
       "a function that the runtime will be given, repeatable")                \
  FLAG(PhysicalLayouts, "physical-layouts", Switch, "", Compile, Room::Emit,   \
       "arguments and results are arrays as they lie in memory, in the "       \
       "layouts that the program asks for")                                    \
  FLAG(Accuracy, "accuracy", Texts,                                            \
       "bf16-products|tf32-products|i8-activations", Compile, Room::Optimize,  \
       "what may be less exact than the program says: products of f32 in the " \
       "default precision, rows that few-bit weights multiply; repeatable")    \
  FLAG(Debug, "debug", Text, "level", Compile, Room::Emit,                     \
       "what code says of where it comes from: 1 names, 2 lines of the "       \
       "program, 3 lines of texts that the artifact holds")                    \
  FLAG(External, "externalize-constants", Text, "file.safetensors", Compile,   \
       Room::Emit,                                                             \
       "where large constants go instead of the artifact, which looks for a "  \
       "file of this name beside it")                                          \
  FLAG(ExternalBytes, "externalize-min-bytes", Text, "n", Compile, Room::Emit, \
       "the smallest constant that is large (65536)")                          \
  FLAG(ExternalAsUsed, "externalize-as-used", Switch, "", Compile, Room::Emit, \
       "such constants lie as the artifact's products read them; else as in "  \
       "the program, for who writes the file himself")                         \
  FLAG(Cache, "cache", Text, "folder", Compile, Never,                         \
       "where finished artifacts are kept, and taken from the next time")      \
  FLAG(CompileTo, "compile-to", Text, "stage", Stages, Never,                  \
       "the last stage; the program after it is written if that is not emit")  \
  FLAG(CompileFrom, "compile-from", Text, "stage", Stages, Never,              \
       "stage that the program has been through; auto: as it says itself")     \
  FLAG(Override, "override-recorded", Own, "", Stages, Never,                  \
       "flags win over those that a program brings along")                     \
  FLAG(PrintStages, "print-stages", Own, "", Stages, Never,                    \
       "write the stages and their passes")                                    \
  FLAG(VerifyStages, "verify-stages", Switch, "", Stages, Never,               \
       "verify the program after every pass")                                  \
  FLAG(Bytecode, "emit-bytecode", Switch, "", Dumps, Never,                    \
       "programs are written as bytecode, not as text")                        \
  FLAG(                                                                        \
      Elide, "elide-constants-larger", Text, "n", Dumps, Never,                \
      "leave constants of more elements out of programs, which then can only " \
      "be read")                                                               \
  FLAG(DumpStages, "dump-stages-to", Text, "folder", Dumps, Never,             \
       "write the program after each stage")                                   \
  FLAG(DumpExecutables, "dump-executables-to", Text, "folder", Dumps, Never,   \
       "all that follows")                                                     \
  FLAG(DumpSources, "dump-executable-sources-to", Text, "folder", Dumps,       \
       Never, "write each executable")                                         \
  FLAG(DumpPreprocessed, "dump-executable-preprocessed-to", Text, "folder",    \
       Dumps, Never, "write executables that others have changed")             \
  FLAG(DumpConfigs, "dump-executable-configs-to", Text, "folder", Dumps,       \
       Never, "write executables as loops, with grids")                        \
  FLAG(DumpBenchmarks, "dump-executable-benchmarks-to", Text, "folder", Dumps, \
       Never, "write a program for each call of an executable")                \
  FLAG(BenchmarkSize, "bench-dim", Texts, "argument.dimension=n", Dumps,       \
       Never,                                                                  \
       "a size of an argument, by number, for these programs; "                \
       "function:argument.dimension=n is for one function")                    \
  FLAG(DumpIntermediates, "dump-executable-intermediates-to", Text, "folder",  \
       Dumps, Never, "write LLVM's IR, assembly, objects")                     \
  FLAG(KeepIntermediates, "keep-intermediates", Text, "folder", Dumps, Never,  \
       "the same")                                                             \
  FLAG(DumpBinaries, "dump-executable-binaries-to", Text, "folder", Dumps,     \
       Never, "write executables compiled by themselves")                      \
  FLAG(ExecutableOnly, "executable-only", Switch, "", Objects, Never,          \
       "the program is one executable; what is written has no host code")      \
  FLAG(SubstituteSource, "substitute-executable-source", Texts, "name=file",   \
       Objects, Room::Dispatch, "take an executable from a file, repeatable")  \
  FLAG(SubstituteSourceFrom, "substitute-executable-source-from", Texts,       \
       "folder", Objects, Room::Dispatch,                                      \
       "take executables from a folder that --dump-executable-sources-to has " \
       "written")                                                              \
  FLAG(SubstituteConfig, "substitute-executable-config", Texts, "name=file",   \
       Objects, Room::Kernel, "the same after the stage kernel")               \
  FLAG(SubstituteConfigFrom, "substitute-executable-config-from", Texts,       \
       "folder", Objects, Room::Kernel, "the same after the stage kernel")     \
  FLAG(ObjectPath, "object-path", Texts, "folder", Objects, Room::Kernel,      \
       "where objects that are no files of the working directory are looked "  \
       "for, repeatable")                                                      \
  FLAG(Substitute, "substitute-executable", Texts, "name=file", Objects,       \
       Room::Dispatch,                                                         \
       "take an executable's code from a .o, .bc or .ptx, where "              \
       "',entry=kernel' may follow, or the executable from a .mlir; "          \
       "repeatable")                                                           \
  FLAG(SubstituteFrom, "substitute-executables-from", Texts, "folder",         \
       Objects, Room::Dispatch,                                                \
       "the same for all objects of a folder, which are named after "          \
       "executables, or for the sources of a dump")                            \
  FLAG(SubstituteObject, "substitute-executable-object", Texts, "name=file",   \
       Objects, Room::Kernel,                                                  \
       "the same after the stage kernel: an object that "                      \
       "--dump-executable-intermediates-to has written")                       \
  FLAG(SubstituteObjectFrom, "substitute-executable-object-from", Texts,       \
       "folder", Objects, Room::Kernel, "all objects of such a dump")          \
  FLAG(SubstituteMissing, "substitute-missing", Text, "error|warn", Objects,   \
       Room::Kernel, "what a name is that no executable has (error)")          \
  FLAG(CudaDriver, "cuda-driver", Text, "version", Objects, Room::Emit,        \
       "the CUDA of the driver that will load PTX, as 12.4")                   \
  FLAG(CudaCubins, "cuda-cubins", Text, "chip[,chip]", Objects, Room::Emit,    \
       "chips that machine code is kept for beside PTX, as sm_80,sm_90, made " \
       "by ptxas")                                                             \
  FLAG(CudaPtxas, "cuda-ptxas", Text, "file", Objects, Never,                  \
       "the ptxas that does so (that of PATH, CUDA_HOME or CUDA_PATH)")        \
  FLAG(PreprocessSteps, "preprocess-executables-with", Own, "step",            \
       Preprocess, Room::Dispatch,                                             \
       "a tool with its arguments, or builtin.module(passes), that each "      \
       "kernel goes through; repeatable")                                      \
  FLAG(PreprocessOnly, "preprocess-only", Own, "globs", Preprocess,            \
       Room::Dispatch, "the executables that are preprocessed")                \
  FLAG(PreprocessTarget, "preprocess-target", Own, "globs", Preprocess,        \
       Room::Dispatch, "do so only if code is made for one of these machines") \
  FLAG(PreprocessFormat, "preprocess-format", Own, "text|bytecode",            \
       Preprocess, Room::Dispatch, "what tools get")                           \
  FLAG(PreprocessJobs, "preprocess-jobs", Own, "n", Preprocess, Never,         \
       "most tools alive at once, by default one for each core")               \
  FLAG(PreprocessTimeout, "preprocess-timeout", Own, "seconds", Preprocess,    \
       Never, "for one executable and tool, 0 is none (300)")                  \
  FLAG(PreprocessMaxOutput, "preprocess-max-output", Own, "bytes", Preprocess, \
       Never, "the most that a tool may print (1073741824)")                   \
  FLAG(PreprocessKeep, "preprocess-keep", Own, "folder", Preprocess, Never,    \
       "keep what each tool got and gave")                                     \
  FLAG(PreprocessKeepGoing, "preprocess-keep-going", Own, "", Preprocess,      \
       Never, "run every tool even if one fails")                              \
  FLAG(PreprocessCheck, "preprocess-check", Own, "strict|warn", Preprocess,    \
       Room::Dispatch,                                                         \
       "what breaches of the contract are that put no memory at risk")         \
  FLAG(PreprocessCache, "preprocess-cache", Own, "folder", Preprocess, Never,  \
       "keep what tools answer for the next time: for tools that answer the "  \
       "same to the same")                                                     \
  FLAG(PreprocessCacheEnv, "preprocess-cache-env", Own, "names", Preprocess,   \
       Never, "variables of the environment that answers depend on")           \
  FLAG(PreprocessVerify, "preprocess-verify", Own, "run", Preprocess, Never,   \
       "run what kernels were and what others have made of them on the same "  \
       "numbers, on this machine")                                             \
  FLAG(PreprocessAgain, "preprocess-again", Switch, "", Preprocess, Never,     \
       "do so also if compilation begins after it was done")                   \
  FLAG(Verbose, "verbose", Own, "", Preprocess, Never,                         \
       "print what tools say on stderr")                                       \
  FLAG(LoadPlugin, "load-plugin", Own, "file.so[?required=0]", Plugins, Never, \
       "load a plugin and let it take part, repeatable; ALULA_PLUGIN_PATH "    \
       "names files and folders too")                                          \
  FLAG(LoadMlirPlugin, "load-mlir-plugin", Own, "file.so", Plugins, Never,     \
       "load a pass plugin of MLIR's own kind")                                \
  FLAG(PluginDir, "plugin-dir", Own, "folder", Plugins, Never,                 \
       "load all alula-plugin-*.so of a folder")                               \
  FLAG(NoDefaultPlugins, "no-default-plugins", Own, "", Plugins, Never,        \
       "load no installed plugins")                                            \
  FLAG(Plugin, "plugin", Own, "[-]id", Plugins, Room::Emit,                    \
       "let a plugin that was found take part, or not")                        \
  FLAG(PluginOption, "plugin-opt", Own, "id:name=value", Plugins, Room::Emit,  \
       "the same as --id-name=value")                                          \
  FLAG(PluginIsolate, "plugin-isolate", Own, "id", Plugins, Never,             \
       "run the hooks of a plugin of tier C in a process of their own")        \
  FLAG(PluginTimeout, "plugin-timeout", Own, "seconds", Plugins, Never,        \
       "for a hook in a process of its own, 0 is none (300)")                  \
  FLAG(ListPlugins, "list-plugins", Own, "json", Plugins, Never,               \
       "print the plugins that are found, and end")                            \
  FLAG(Log, "print-stage-log", Own, "", Reports, Never,                        \
       "print each stage as it begins, and for which kernels it has nothing "  \
       "to do")                                                                \
  FLAG(Time, "time", Own, "", Reports, Never,                                  \
       "print the seconds of each room")                                       \
  FLAG(Reproducer, "crash-reproducer", Own, "folder", Reports, Never,          \
       "where it is kept what a failure takes to be seen again; without it, "  \
       "only crashes leave a folder, here; off: nothing does")                 \
  FLAG(ReproducerLocal, "crash-reproducer-local", Own, "", Reports, Never,     \
       "narrow it to one pass, which takes another run")                       \
  FLAG(ReproducerFull, "reproducer-full", Own, "", Reports, Never,             \
       "keep folders of this machine in it")                                   \
  FLAG(TestFail, "test-fail-in", Own, "stage:how", Hidden, Room::Emit,         \
       "fail, to be tested")

enum class Flag {
#define ALULA_FLAG_ID(id, ...) id,
  ALULA_COMPILER_FLAGS(ALULA_FLAG_ID)
#undef ALULA_FLAG_ID
};

struct FlagRow {
  Flag flag;
  llvm::StringLiteral name;
  FlagKind kind;
  llvm::StringLiteral value;
  FlagGroup group;
  /// The last stage that reads it; none: it is not recorded.
  std::optional<Room> lastUse;
  llvm::StringLiteral help;
};

llvm::ArrayRef<FlagRow> getFlags();
const FlagRow &getFlag(Flag flag);
/// By name; null if it is a flag of a plugin, of LLVM, or none.
const FlagRow *findFlag(llvm::StringRef name);

/// Whether dumps hold a flag: so it is with those that are not in the table, as
/// a plugin may have them, but for those of MLIR about printing.
bool isRecorded(llvm::StringRef name);
/// The last stage that reads a flag: dumps of later ones need it no more.
Room getLastUse(llvm::StringRef name);

} // namespace alula::driver
