// RUN: alula-opt %s | FileCheck %s
// RUN: alula-opt %s | alula-opt | FileCheck %s
// RUN: alula-opt %s --mlir-print-op-generic | alula-opt | FileCheck %s
// RUN: alula-opt %s --emit=bytecode | alula-opt | FileCheck %s

// CHECK-LABEL: @sums_of_rows
// CHECK: stablehlo.reduce(%{{.*}} init: %{{.*}}) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
func.func @sums_of_rows(%x: tensor<2x3xf32>, %zero: tensor<f32>) -> tensor<2xf32> {
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: @over_no_dimension
// CHECK: dimensions = [] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
func.func @over_no_dimension(%x: tensor<2x3xf32>, %zero: tensor<f32>) -> tensor<2x3xf32> {
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = []
      : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// Largest value with its position.
// CHECK-LABEL: @arg_max
// CHECK: stablehlo.reduce(%{{.*}} init: %{{.*}}), (%{{.*}} init: %{{.*}}) across dimensions = [0]
// CHECK-NEXT: reducer
// CHECK: stablehlo.return {{.*}} : tensor<f32>, tensor<i32>
func.func @arg_max(%x: tensor<?xf32>, %i: tensor<8xi32>, %low: tensor<f32>, %zero: tensor<i32>)
    -> (tensor<f32>, tensor<i32>) {
  %0:2 = stablehlo.reduce(%x init: %low), (%i init: %zero) across dimensions = [0]
      : (tensor<?xf32>, tensor<8xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%j: tensor<i32>, %k: tensor<i32>) {
      %c = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %d = stablehlo.select %c, %a, %b : tensor<i1>, tensor<f32>
      %l = stablehlo.select %c, %j, %k : tensor<i1>, tensor<i32>
      stablehlo.return %d, %l : tensor<f32>, tensor<i32>
    }
  return %0#0, %0#1 : tensor<f32>, tensor<i32>
}

// The sum is wider than its terms.
// CHECK-LABEL: @widened
// CHECK: (tensor<4x5xi8>, tensor<i8>) -> tensor<4xi32>
func.func @widened(%x: tensor<4x5xi8>, %zero: tensor<i8>) -> tensor<4xi32> {
  %0 = "stablehlo.reduce"(%x, %zero) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<4x5xi8>, tensor<i8>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// CHECK-LABEL: @bounded
// CHECK: -> tensor<?x4xf32, #stablehlo.bounds<7, ?>>
func.func @bounded(%x: tensor<?x?x4xf32, #stablehlo.bounds<7, 9, ?>>, %zero: tensor<f32>)
    -> tensor<?x4xf32, #stablehlo.bounds<7, ?>> {
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.maximum across dimensions = [1]
      : (tensor<?x?x4xf32, #stablehlo.bounds<7, 9, ?>>, tensor<f32>) -> tensor<?x4xf32, #stablehlo.bounds<7, ?>>
  return %0 : tensor<?x4xf32, #stablehlo.bounds<7, ?>>
}

// CHECK-LABEL: @quantized
// CHECK: -> tensor<!quant.uniform<i32:f32, 5.000000e-01>>
func.func @quantized(%x: tensor<4x!quant.uniform<i8:f32, 0.5>>, %zero: tensor<!quant.uniform<i8:f32, 0.5>>)
    -> tensor<!quant.uniform<i32:f32, 0.5>> {
  %0 = "stablehlo.reduce"(%x, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<!quant.uniform<i32:f32, 0.5>>, %b: tensor<!quant.uniform<i32:f32, 0.5>>):
    %s = stablehlo.add %a, %b : tensor<!quant.uniform<i32:f32, 0.5>>
    stablehlo.return %s : tensor<!quant.uniform<i32:f32, 0.5>>
  }) : (tensor<4x!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<!quant.uniform<i32:f32, 0.5>>
  return %0 : tensor<!quant.uniform<i32:f32, 0.5>>
}

// CHECK-LABEL: @sorted_by_key
// CHECK: "stablehlo.sort"(%{{.*}}, %{{.*}}) <{dimension = 1 : i64, is_stable = true}>
func.func @sorted_by_key(%k: tensor<4x?xf32>, %v: tensor<4x5xi32>) -> (tensor<4x?xf32>, tensor<4x5xi32>) {
  %0:2 = "stablehlo.sort"(%k, %v) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %e = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %e : tensor<i1>
  }) : (tensor<4x?xf32>, tensor<4x5xi32>) -> (tensor<4x?xf32>, tensor<4x5xi32>)
  return %0#0, %0#1 : tensor<4x?xf32>, tensor<4x5xi32>
}

// CHECK-LABEL: @sorted_along_last
// CHECK: "stablehlo.sort"(%{{.*}}) <{{.*}}dimension = -1 : i64
func.func @sorted_along_last(%x: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %0 = "stablehlo.sort"(%x) <{dimension = -1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %e = stablehlo.compare GT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %e : tensor<i1>
  }) : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// CHECK-LABEL: @normalized
// CHECK: "stablehlo.batch_norm_training"({{.*}}) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}>
// CHECK: "stablehlo.batch_norm_inference"({{.*}}) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}>
// CHECK: "stablehlo.batch_norm_grad"({{.*}}) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}>
func.func @normalized(%x: tensor<?x3xf32>, %s: tensor<3xf32>, %o: tensor<?xf32>) {
  %0:3 = "stablehlo.batch_norm_training"(%x, %s, %o) <{epsilon = 0.001 : f32, feature_index = 1 : i64}>
      : (tensor<?x3xf32>, tensor<3xf32>, tensor<?xf32>) -> (tensor<?x3xf32>, tensor<3xf32>, tensor<3xf32>)
  %1 = "stablehlo.batch_norm_inference"(%x, %s, %o, %0#1, %0#2) <{epsilon = 0.001 : f32, feature_index = 1 : i64}>
      : (tensor<?x3xf32>, tensor<3xf32>, tensor<?xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %2:3 = "stablehlo.batch_norm_grad"(%x, %s, %0#1, %0#2, %1) <{epsilon = 0.001 : f32, feature_index = 1 : i64}>
      : (tensor<?x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}
