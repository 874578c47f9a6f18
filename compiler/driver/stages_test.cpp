// What passes print of themselves can be read again.

#include "compiler/driver/stages.h"

#include "compiler/driver/compile.h"
#include "compiler/driver/registry.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

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
