// RUN: alula-opt %s -split-input-file -optimize-simplify-arithmetic | FileCheck %s

// CHECK-LABEL: func.func @neutral
// CHECK-NOT: stablehlo.{{add|subtract|multiply|divide|and|or|xor|shift|negate|maximum|select|power}}
// CHECK: return %arg0, %arg1
func.func @neutral(%f: tensor<2xf32>, %i: tensor<2xi32>) -> (tensor<2xf32>, tensor<2xi32>) {
  %one = stablehlo.constant dense<1.0> : tensor<2xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<2xf32>
  %minus = stablehlo.constant dense<-0.0> : tensor<2xf32>
  %i0 = stablehlo.constant dense<0> : tensor<2xi32>
  %i1 = stablehlo.constant dense<1> : tensor<2xi32>
  %all = stablehlo.constant dense<-1> : tensor<2xi32>
  %yes = stablehlo.constant dense<true> : tensor<2xi1>
  %0 = stablehlo.multiply %one, %f : tensor<2xf32>
  %1 = stablehlo.divide %0, %one : tensor<2xf32>
  %2 = stablehlo.subtract %1, %zero : tensor<2xf32>
  %3 = stablehlo.add %2, %minus : tensor<2xf32>
  %4 = stablehlo.negate %3 : tensor<2xf32>
  %5 = stablehlo.negate %4 : tensor<2xf32>
  %6 = stablehlo.maximum %5, %5 : tensor<2xf32>
  %7 = stablehlo.power %6, %one : tensor<2xf32>
  %8 = stablehlo.select %yes, %7, %zero : tensor<2xi1>, tensor<2xf32>
  %10 = stablehlo.add %i0, %i : tensor<2xi32>
  %11 = stablehlo.multiply %10, %i1 : tensor<2xi32>
  %12 = stablehlo.and %11, %all : tensor<2xi32>
  %13 = stablehlo.or %12, %i0 : tensor<2xi32>
  %14 = stablehlo.xor %13, %i0 : tensor<2xi32>
  %15 = stablehlo.shift_left %14, %i0 : tensor<2xi32>
  %16 = stablehlo.divide %15, %i1 : tensor<2xi32>
  return %8, %16 : tensor<2xf32>, tensor<2xi32>
}

// -----

// CHECK-LABEL: func.func @cheaper
// CHECK-DAG: %[[Q:.*]] = stablehlo.constant dense<2.500000e-01>
// CHECK-DAG: stablehlo.multiply %arg0, %[[Q]]
// CHECK: stablehlo.multiply %arg0, %arg0
func.func @cheaper(%f: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %four = stablehlo.constant dense<4.0> : tensor<2xf32>
  %two = stablehlo.constant dense<2.0> : tensor<2xf32>
  %0 = stablehlo.divide %f, %four : tensor<2xf32>
  %1 = stablehlo.power %f, %two : tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// -----

// Does not fire: -0 + 0 is 0, 0 - x is no x, a third is no number, and what has
// an unknown size may have another one.
// CHECK-LABEL: func.func @left
// CHECK: stablehlo.add
// CHECK: stablehlo.subtract
// CHECK: stablehlo.divide
// CHECK: stablehlo.maximum
func.func @left(%f: tensor<2xf32>, %d: tensor<?xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<?xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<2xf32>
  %three = stablehlo.constant dense<3.0> : tensor<2xf32>
  %0 = stablehlo.add %f, %zero : tensor<2xf32>
  %1 = stablehlo.subtract %zero, %f : tensor<2xf32>
  %2 = stablehlo.divide %f, %three : tensor<2xf32>
  %3 = stablehlo.maximum %d, %d : tensor<?xf32>
  return %0, %1, %2, %3 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<?xf32>
}

// -----

// CHECK-LABEL: func.func @one_term
// CHECK-DAG: %[[ZERO:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<2x3xf32>
// CHECK-DAG: %[[X:.*]] = stablehlo.reshape %arg0
// CHECK-DAG: stablehlo.subtract %[[ZERO]], %[[X]] : tensor<2x3xf32>
// CHECK-DAG: %[[I:.*]] = stablehlo.reshape %arg1
// CHECK: return %{{.*}}, %[[I]]
func.func @one_term(%x: tensor<2x1x3x1xf32>, %i: tensor<4x1xi1>) -> (tensor<2x3xf32>, tensor<4xi1>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %true = stablehlo.constant dense<true> : tensor<i1>
  %0 = stablehlo.reduce(%x init: %zero) across dimensions = [1, 3] : (tensor<2x1x3x1xf32>, tensor<f32>) -> tensor<2x3xf32> reducer(%a: tensor<f32>, %b: tensor<f32>) {
    %2 = stablehlo.subtract %a, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }
  %1 = stablehlo.reduce(%i init: %true) applies stablehlo.and across dimensions = [1] : (tensor<4x1xi1>, tensor<i1>) -> tensor<4xi1>
  return %0, %1 : tensor<2x3xf32>, tensor<4xi1>
}

// -----

// Does not fire: more terms than one, an unknown number, another type.
// CHECK-LABEL: func.func @terms
// CHECK-COUNT-3: stablehlo.reduce
func.func @terms(%x: tensor<2x3xf32>, %y: tensor<2x?xf32>, %z: tensor<2x1xbf16>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %narrow = stablehlo.constant dense<0.0> : tensor<bf16>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  %1 = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x?xf32>, tensor<f32>) -> tensor<2xf32>
  %2 = stablehlo.reduce(%z init: %narrow) across dimensions = [1] : (tensor<2x1xbf16>, tensor<bf16>) -> tensor<2xf32> reducer(%a: tensor<f32>, %b: tensor<f32>) {
    %3 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }
  return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
