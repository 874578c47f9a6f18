// RUN: alula-compile --target=cpu:x86-64-v4 --compile-to=kernel %s -o - | FileCheck %s
// RUN: alula-compile --target=cpu:x86-64-v3 --compile-to=kernel %s -o - | FileCheck %s

// Long rows, the same on all levels: the library chooses what parts them. As JAX
// compares, keys alone are sorted: zeros and NaNs are put back.
module {
// CHECK-LABEL: func.func @equals_0_step0(
// CHECK: call @alula_sort_survey_32
// CHECK-NOT: call @
// CHECK-LABEL: func.func @equals_0_step1(
// CHECK: call @alula_sort_find_32
// CHECK: call @alula_sort_part_keys_32
// CHECK-NOT: call @
// CHECK-LABEL: func.func @equals_0_step2(
// CHECK: call @alula_sort_range_keys_32
// CHECK: call @alula_sort_take_keys_32
// CHECK: call @alula_sort_restore_32
// CHECK-NOT: pairs
func.func @equals(%x: tensor<1000000xf32>) -> tensor<1000000xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %nan = stablehlo.constant dense<0x7FC00000> : tensor<f32>
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare EQ, %a, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = stablehlo.select %1, %zero, %a : tensor<i1>, tensor<f32>
    %3 = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %4 = stablehlo.select %3, %nan, %2 : tensor<i1>, tensor<f32>
    %5 = stablehlo.compare EQ, %b, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %6 = stablehlo.select %5, %zero, %b : tensor<i1>, tensor<f32>
    %7 = stablehlo.compare NE, %b, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %8 = stablehlo.select %7, %nan, %6 : tensor<i1>, tensor<f32>
    %9 = stablehlo.compare LT, %4, %8, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %9 : tensor<i1>
  }) : (tensor<1000000xf32>) -> tensor<1000000xf32>
  return %0 : tensor<1000000xf32>
}
}
