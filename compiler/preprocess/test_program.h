// A program with kernels, for the unit tests of this room.

#pragma once

#include "dialect/dispatch/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <string>

namespace alula::preprocess {

inline mlir::DialectRegistry makeTestRegistry() {
  mlir::DialectRegistry registry;
  registry.insert<dispatch::DispatchDialect, mlir::arith::ArithDialect,
                  mlir::func::FuncDialect>();
  return registry;
}

/// Kernels @e0, @e1, … that add a tensor to itself, and a host that launches
/// them.
inline std::string makeTestProgram(unsigned kernels) {
  std::string text = "func.func @main(%a: tensor<4xf32>) {\n";
  for (unsigned i = 0; i < kernels; ++i) {
    std::string name = "@e" + std::to_string(i);
    text += "dispatch.launch " + name + "::" + name +
            "(%a) : (tensor<4xf32>) -> tensor<4xf32>\n";
  }
  text += "return }\n";
  for (unsigned i = 0; i < kernels; ++i) {
    std::string name = "@e" + std::to_string(i);
    text += "dispatch.executable " + name + " { dispatch.entry " + name +
            " bindings([#dispatch<access read>, #dispatch<access write>]) "
            "workgroups [1, 1, 1] scratch 0\n"
            "builtin.module { func.func " +
            name +
            "(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
            "%c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>\n"
            "%0 = arith.addf %a, %c : tensor<4xf32>\n"
            "return %0 : tensor<4xf32> } } }\n";
  }
  return text;
}

} // namespace alula::preprocess
