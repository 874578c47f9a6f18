// What passes print of themselves can be read again.

#include "compiler/driver/stages.h"

#include "compiler/driver/registry.h"
#include "compiler/driver/targets.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

#include <gtest/gtest.h>

using namespace alula::driver;

namespace {

/// The pipeline as it prints after it was parsed; a text of its own if it can't
/// be.
std::string parseAndPrint(const std::string &text) {
  std::string problem;
  llvm::raw_string_ostream os(problem);
  auto pipeline = mlir::parsePassPipeline(text, os);
  if (failed(pipeline))
    return "can't be parsed: " + problem;
  std::string printed;
  llvm::raw_string_ostream printedStream(printed);
  pipeline->printAsTextualPipeline(printedStream);
  return printed;
}

TEST(Stages, NamesAndAliases) {
  EXPECT_EQ(findRoom("input"), Room::Input);
  EXPECT_EQ(findRoom("executable-sources"), Room::Dispatch);
  EXPECT_EQ(findRoom("executable-configs"), Room::Kernel);
  EXPECT_EQ(findRoom("executable-targets"), Room::Target);
  EXPECT_EQ(findRoom("emit"), Room::Emit);
  EXPECT_EQ(findRoom(""), std::nullopt);
  EXPECT_EQ(findRoom("Input"), std::nullopt);
  for (unsigned i = 0; i < roomCount; ++i)
    EXPECT_EQ(static_cast<unsigned>(getStage(static_cast<Room>(i)).room), i);
}

TEST(Stages, FlagsAreReadUpToAStage) {
  EXPECT_EQ(getLastUse("target"), Room::Emit);
  EXPECT_EQ(getLastUse("preprocess-executables-with"), Room::Dispatch);
  EXPECT_EQ(getLastUse("substitute-executable"), Room::Dispatch);
  EXPECT_EQ(getLastUse("substitute-executables-from"), Room::Dispatch);
  EXPECT_EQ(getLastUse("substitute-executable-source"), Room::Dispatch);
  EXPECT_EQ(getLastUse("substitute-executable-config-from"), Room::Kernel);
  EXPECT_EQ(getLastUse("substitute-executable-object"), Room::Kernel);
}

TEST(Stages, FlagsThatAreRecorded) {
  EXPECT_TRUE(isRecorded("target"));
  EXPECT_TRUE(isRecorded("preprocess-check"));
  EXPECT_FALSE(isRecorded("preprocess-jobs"));
  EXPECT_FALSE(isRecorded("mlir-print-ir-after-all"));
  // Of a plugin.
  EXPECT_TRUE(isRecorded("swap-mul-add"));
}

/// Every row of the driver's own kinds has its case in setOption, and what it
/// records sets the same again.
TEST(Stages, EveryRowOfTheTableIsRead) {
  llvm::StringSet<> names;
  for (const FlagRow &row : getFlags()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name.str();
    EXPECT_EQ(&getFlag(row.flag), &row);
    CompileOptions options;
    std::string problem = llvm::toString(setOption(options, row.flag, "?"));
    EXPECT_EQ(llvm::StringRef(problem).contains("no option of programs"),
              row.kind == FlagKind::Own)
        << row.name.str();
  }
  CompileOptions options, again;
  for (auto [flag, value] : {std::pair(Flag::Target, "cpu:x86-64-v3"),
                             {Flag::CustomCall, "f"},
                             {Flag::Debug, "2"},
                             {Flag::External, "/a/w.safetensors"},
                             {Flag::ExternalBytes, "64"},
                             {Flag::ExternalAsUsed, ""},
                             {Flag::VerifyStages, ""}})
    EXPECT_EQ(llvm::toString(setOption(options, flag, value)), "");
  std::vector<std::string> words = recordOptions(options);
  EXPECT_EQ(llvm::join(words, " "),
            "--target=cpu:x86-64-v3 --custom-call=f --debug=2 "
            "--externalize-constants=w.safetensors --externalize-min-bytes=64 "
            "--externalize-as-used=true");
  for (llvm::StringRef word : words)
    EXPECT_EQ(llvm::toString(setOption(again, findFlag(getFlagName(word))->flag,
                                       word.split('=').second)),
              "");
  EXPECT_EQ(recordOptions(again), words);
}

TEST(Stages, TargetsStandBestFirst) {
  auto settle = [](std::vector<std::string> targets) {
    settleTargets(targets, "cpu:riscv64");
    return llvm::join(targets, " ");
  };
  EXPECT_EQ(settle({}), "cpu:riscv64");
  EXPECT_EQ(settle({"cpu:x86-64-v2", "cpu:x86-64-v4", "cpu:x86-64-v3"}),
            "cpu:x86-64-v4 cpu:x86-64-v3 cpu:x86-64-v2");
  // Each instruction set keeps its places, others theirs.
  EXPECT_EQ(settle({"toy:a", "cpu:x86-64", "cpu:aarch64", "cpu:none",
                    "cpu:x86-64-v3-vnni", "cuda:sm_80", "cpu:x86-64-v3"}),
            "toy:a cpu:x86-64-v3-vnni cpu:aarch64 cpu:none cpu:x86-64-v3 "
            "cuda:sm_80 cpu:x86-64");
  EXPECT_EQ(settle({"cpu:aarch64", "cpu:aarch64"}), "cpu:aarch64");
  EXPECT_EQ(settle({"cuda:sm_80", "cpu:x86-64", "cuda:sm_90a", "cuda:sm_100f",
                    "cuda:nothing", "cuda:sm_90"}),
            "cuda:sm_100f cpu:x86-64 cuda:sm_90a cuda:sm_90 cuda:nothing "
            "cuda:sm_80");
  if (llvm::Triple(llvm::sys::getDefaultTargetTriple()).getArch() ==
      llvm::Triple::x86_64)
    EXPECT_EQ(settle({"cpu:portable", "cpu:x86-64-v3", "cpu:x86-64"}),
              "cpu:x86-64-v4-bf16 cpu:x86-64-v4 cpu:x86-64-v3 cpu:x86-64-v2 "
              "cpu:x86-64");
}

/// D9.
TEST(Stages, PipelinesPrintAndParseBack) {
  registerPasses();
  for (bool external : {false, true}) {
    CompileOptions options;
    options.externalFile = external ? "w.safetensors" : "";
    for (unsigned i = 0; i < roomCount; ++i) {
      std::string text = printPipeline(static_cast<Room>(i), options);
      if (!text.empty())
        EXPECT_EQ(parseAndPrint(text), text);
    }
  }
}

/// D9. Each pass alone, with the options that it has by itself.
TEST(Stages, PassesPrintAndParseBack) {
  registerPasses();
  // It gives every pass a flag of its name.
  mlir::PassPipelineCLParser parser("", "passes");
  unsigned count = 0;
  for (auto &[name, option] : llvm::cl::getRegisteredOptions()) {
    const mlir::PassInfo *pass = mlir::PassInfo::lookup(name);
    if (!pass)
      continue;
    // Within an op of its own kind, whichever that is.
    mlir::OpPassManager pm(mlir::OpPassManager::Nesting::Implicit);
    ASSERT_TRUE(succeeded(pass->addToPipeline(pm, "", [](const llvm::Twine &) {
      return mlir::failure();
    }))) << name.str();
    std::string text;
    llvm::raw_string_ostream os(text);
    pm.printAsTextualPipeline(os);
    EXPECT_EQ(parseAndPrint(text), text) << name.str();
    ++count;
  }
  EXPECT_GT(count, 30u);
}

} // namespace
