// RUN: alula-compile --target=cpu:x86-64-v3 --compile-to=kernel %s -o - | FileCheck %s

// Rows of numbers in memory are the library's: no loop goes over elements. Integers
// are what their keys tell.
module {
// CHECK-LABEL: func.func @inMemory_0(
// CHECK: call @alula_sort_make_keys_32
// CHECK: call @alula_sort_keys_32
// CHECK: call @alula_sort_take_keys_32
// CHECK-NOT: call @alula_sort_make_pairs_32
// CHECK-NOT: memref.load
// CHECK: return
func.func @inMemory(%x: tensor<100xi32>) -> tensor<100xi32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<100xi32>) -> tensor<100xi32>
  return %0 : tensor<100xi32>
}

// As JAX compares: zeros are equal, and so are NaNs. What moves along may be the
// places.
// CHECK-LABEL: func.func @equals_1(
// CHECK: call @alula_sort_make_pairs_64({{.*}}, %c1_i64, %c9221120237041090560_i64)
// CHECK-NOT: memref.load
// CHECK: return
func.func @equals(%x: tensor<100xf64>) -> (tensor<100xf64>, tensor<100xi32>) {
  %i = stablehlo.iota dim = 0 : tensor<100xi32>
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %nan = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
  %0:2 = "stablehlo.sort"(%x, %i) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>, %c: tensor<i32>, %d: tensor<i32>):
    %1 = stablehlo.compare EQ, %a, %zero, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
    %2 = stablehlo.select %1, %zero, %a : tensor<i1>, tensor<f64>
    %3 = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
    %4 = stablehlo.select %3, %nan, %2 : tensor<i1>, tensor<f64>
    %5 = stablehlo.compare EQ, %b, %zero, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
    %6 = stablehlo.select %5, %zero, %b : tensor<i1>, tensor<f64>
    %7 = stablehlo.compare NE, %b, %b, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
    %8 = stablehlo.select %7, %nan, %6 : tensor<i1>, tensor<f64>
    %9 = stablehlo.compare LT, %4, %8, TOTALORDER : (tensor<f64>, tensor<f64>) -> tensor<i1>
    stablehlo.return %9 : tensor<i1>
  }) : (tensor<100xf64>, tensor<100xi32>) -> (tensor<100xf64>, tensor<100xi32>)
  return %0#0, %0#1 : tensor<100xf64>, tensor<100xi32>
}

// CHECK-LABEL: func.func @first_2(
// CHECK: call @alula_sort_first_32
// CHECK: call @alula_sort_take_pairs_32
// CHECK-NOT: memref.load
// CHECK: return
func.func @first(%x: tensor<8x100xf32>) -> tensor<8x3xf32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare GT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<8x100xf32>) -> tensor<8x100xf32>
  %1 = stablehlo.slice %0 [0:8, 0:3] : (tensor<8x100xf32>) -> tensor<8x3xf32>
  return %1 : tensor<8x3xf32>
}

// Not columns, nor what a comparator computes, nor what is no number of 32 or 64
// bits.
// CHECK-LABEL: func.func @columns_4(
// CHECK-NOT: call @alula_sort_{{find|make|take|first}}
// CHECK: return
func.func @columns(%x: tensor<100x2xi32>) -> tensor<100x2xi32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<100x2xi32>) -> tensor<100x2xi32>
  return %0 : tensor<100x2xi32>
}

// CHECK-LABEL: func.func @computed_5(
// CHECK-NOT: call @alula_sort_{{find|make|take|first}}
// CHECK: return
func.func @computed(%x: tensor<100xi32>) -> tensor<100xi32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.negate %a : tensor<i32>
    %2 = stablehlo.negate %b : tensor<i32>
    %3 = stablehlo.compare LT, %1, %2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  }) : (tensor<100xi32>) -> tensor<100xi32>
  return %0 : tensor<100xi32>
}

// CHECK-LABEL: func.func @bytes_6(
// CHECK-NOT: call @alula_sort_{{find|make|take|first}}
// CHECK: return
func.func @bytes(%x: tensor<100xi8>) -> tensor<100xi8> {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i8>, %b: tensor<i8>):
    %1 = stablehlo.compare LT, %a, %b : (tensor<i8>, tensor<i8>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<100xi8>) -> tensor<100xi8>
  return %0 : tensor<100xi8>
}
}
