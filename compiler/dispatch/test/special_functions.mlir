// RUN: alula-compile %s --target=cpu:x86-64-v3 --compile-to=optimize -o - | FileCheck %s --check-prefix=NAMES
// RUN: alula-compile %s --target=cpu:x86-64-v3 --compile-to=dispatch -o - | FileCheck %s

// A function is computed by one kernel, however long its formula; results go to
// memory where there are more ops than a kernel has room for.

// NAMES-LABEL: func.func @long
// NAMES-NEXT: chlo.polygamma
// CHECK-LABEL: func.func @long(
// CHECK-COUNT-1: dispatch.launch
// CHECK-NOT: dispatch.launch
// CHECK: return
func.func @long(%n: tensor<1000000xf32>, %x: tensor<1000000xf32>) -> tensor<1000000xf32> {
  %0 = chlo.polygamma %n, %x : tensor<1000000xf32>, tensor<1000000xf32> -> tensor<1000000xf32>
  return %0 : tensor<1000000xf32>
}

// NAMES-LABEL: func.func @two
// NAMES: chlo.lgamma
// NAMES: chlo.digamma
// CHECK-LABEL: func.func @two(
// CHECK-COUNT-1: dispatch.launch
// CHECK-NOT: dispatch.launch
// CHECK: return
func.func @two(%x: tensor<1000000xf32>) -> tensor<1000000xf32> {
  %0 = chlo.lgamma %x : tensor<1000000xf32> -> tensor<1000000xf32>
  %1 = chlo.digamma %0 : tensor<1000000xf32> -> tensor<1000000xf32>
  return %1 : tensor<1000000xf32>
}

// CHECK-LABEL: func.func @three(
// CHECK-COUNT-2: dispatch.launch
// CHECK-NOT: dispatch.launch
// CHECK: return
func.func @three(%x: tensor<1000000xf32>) -> tensor<1000000xf32> {
  %0 = chlo.lgamma %x : tensor<1000000xf32> -> tensor<1000000xf32>
  %1 = chlo.digamma %0 : tensor<1000000xf32> -> tensor<1000000xf32>
  %2 = chlo.bessel_i1e %1 : tensor<1000000xf32> -> tensor<1000000xf32>
  return %2 : tensor<1000000xf32>
}

// What is made of constants is folded, formula and all.
// NAMES-LABEL: func.func @folded
// NAMES-NEXT: stablehlo.constant
// NAMES-NEXT: return
func.func @folded() -> tensor<2xf32> {
  %x = stablehlo.constant dense<[0.5, 3.0]> : tensor<2xf32>
  %1 = stablehlo.add %x, %x : tensor<2xf32>
  %2 = chlo.lgamma %1 : tensor<2xf32> -> tensor<2xf32>
  return %2 : tensor<2xf32>
}

// Kernels have the formulas.
// CHECK: dispatch.executable @long_0
// CHECK-NOT: chlo.
// CHECK: stablehlo.power
// CHECK: dispatch.executable @two_1
// CHECK-NOT: chlo.
