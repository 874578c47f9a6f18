// RUN: rm -rf %t && mkdir -p %t
// RUN: alula-compile %s --target=cpu:x86-64-v3 --target=cpu:x86-64-v2 -o %t.alula --dump-executable-intermediates-to=%t
// RUN: cat %t/*.opt.ll | FileCheck %s

// Few steps are not put beside each other: LLVM would do so under conditions,
// into which it sinks the operands, in time that is exponential in their number.

// CHECK-NOT: pred.store

func.func @main(%x: tensor<15xf32>, %y: tensor<4xf32>, %z: tensor<64x7xf32>) -> (tensor<15xf32>, tensor<4xf32>, tensor<64x7xf32>) {
  %0 = stablehlo.logistic %x : tensor<15xf32>
  %1 = stablehlo.logistic %0 : tensor<15xf32>
  %2 = stablehlo.sine %y : tensor<4xf32>
  %3 = stablehlo.sine %2 : tensor<4xf32>
  %4 = stablehlo.tan %z : tensor<64x7xf32>
  %5 = stablehlo.tan %4 : tensor<64x7xf32>
  return %1, %3, %5 : tensor<15xf32>, tensor<4xf32>, tensor<64x7xf32>
}
