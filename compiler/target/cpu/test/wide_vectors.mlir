// RUN: rm -rf %t && mkdir %t
// RUN: alula-compile %s --target=cpu:x86-64-v4-bf16 -o %t/a.alula --dump-executable-intermediates-to=%t/bf16
// RUN: cat %t/bf16/*.s | FileCheck %s
// RUN: alula-compile %s --target=cpu:x86-64-v4 -o %t/b.alula --dump-executable-intermediates-to=%t/v4
// RUN: cat %t/v4/*.s | FileCheck %s --check-prefix=OLD

// Machines that have dot products of bf16 lose nothing by their widest vectors.
// CHECK: vaddps {{.*}}%zmm
// OLD-NOT: %zmm
// OLD: vaddps {{.*}}%ymm
// OLD-NOT: %zmm

module {
func.func @main(%x: tensor<512xf32>) -> tensor<512xf32> {
  %0 = stablehlo.add %x, %x : tensor<512xf32>
  return %0 : tensor<512xf32>
}
}
