#pragma once

#include "dialect/sdy/dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <string>

namespace mlir::sdy {

/// Parses modules of this dialect beside functions and unknown ops.
class TestModule : public testing::Test {
protected:
  TestModule() {
    context.allowUnregisteredDialects();
    context.loadDialect<func::FuncDialect, SdyDialect>();
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        errors += diagnostic.str() + "\n";
    });
  }

  OwningOpRef<ModuleOp> parse(const std::string &text) {
    errors.clear();
    return parseSourceString<ModuleOp>(text, &context);
  }

  /// The errors of parsing and verifying `text`, or "fine".
  std::string check(const std::string &text) {
    return parse(text) ? "fine" : errors;
  }

  /// The same where every line of `body` stands in a function with meshes.
  std::string checkBody(const std::string &body) {
    return check(meshes +
                 "func.func @f(%t: tensor<8x8xf32>, %s: tensor<f32>, "
                 "%k: !t.token) {\n" +
                 body + "\nreturn }");
  }

  static inline const std::string meshes =
      "sdy.mesh @m = <[\"a\"=2, \"b\"=8, \"c\"=2]>\n"
      "sdy.mesh @m2 = <[\"a\"=2, \"b\"=8, \"c\"=2]>\n"
      "sdy.mesh @one = <[], device_ids=[0]>\n"
      "sdy.mesh @other = <[\"a\"=2, \"d\"=2]>\n"
      "sdy.mesh @back = <[\"a\"=2, \"b\"=2], device_ids=[3, 2, 1, 0]>\n"
      "sdy.mesh @forth = <[\"a\"=2, \"b\"=2]>\n";

  MLIRContext context;
  std::string errors;
};

} // namespace mlir::sdy
