// RUN: alula-opt %s | FileCheck %s
// RUN: alula-opt %s --emit=generic | alula-opt | FileCheck %s

// CHECK-LABEL: @unary
func.func @unary(%f: tensor<2xf32>, %i: tensor<2xi32>, %c: tensor<2xcomplex<f32>>) {
  // CHECK: stablehlo.abs %{{.*}} : tensor<2xf32>
  %0 = stablehlo.abs %f : tensor<2xf32>
  // CHECK: stablehlo.abs %{{.*}} : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %1 = stablehlo.abs %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  // CHECK: stablehlo.real %{{.*}} : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %2 = stablehlo.real %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  // CHECK: stablehlo.imag %{{.*}} : tensor<2xf32>
  %3 = stablehlo.imag %f : tensor<2xf32>
  // CHECK: stablehlo.is_finite %{{.*}} : (tensor<2xf32>) -> tensor<2xi1>
  %4 = stablehlo.is_finite %f : (tensor<2xf32>) -> tensor<2xi1>
  // CHECK: stablehlo.convert %{{.*}} : (tensor<2xi32>) -> tensor<2xf8E4M3FN>
  %5 = stablehlo.convert %i : (tensor<2xi32>) -> tensor<2xf8E4M3FN>
  // CHECK: stablehlo.count_leading_zeros %{{.*}} : tensor<2xi32>
  %6 = stablehlo.count_leading_zeros %i : tensor<2xi32>
  // CHECK: stablehlo.reduce_precision %{{.*}}, format = e5m10 : tensor<2xf32>
  %7 = stablehlo.reduce_precision %f, format = e5m10 : tensor<2xf32>
  return
}

// CHECK-LABEL: @accuracy
func.func @accuracy(%f: tensor<2xf32>) {
  // CHECK: stablehlo.tanh %{{.*}} {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<2xf32>
  %0 = stablehlo.tanh %f {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<2xf32>
  // The default says nothing.
  // CHECK: stablehlo.exponential %{{[a-z0-9]*}} : tensor<2xf32>
  %1 = stablehlo.exponential %f {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<DEFAULT>>} : tensor<2xf32>
  return
}

// CHECK-LABEL: @binary
func.func @binary(%f: tensor<2xf32>, %d: tensor<?xf32>, %b: tensor<2xi1>) {
  // CHECK: stablehlo.add %{{.*}}, %{{.*}} : tensor<2xf32>
  %0 = stablehlo.add %f, %f : tensor<2xf32>
  // CHECK: stablehlo.add %{{.*}}, %{{.*}} : (tensor<2xf32>, tensor<?xf32>) -> tensor<2xf32>
  %1 = stablehlo.add %f, %d : (tensor<2xf32>, tensor<?xf32>) -> tensor<2xf32>
  // CHECK: stablehlo.xor %{{.*}}, %{{.*}} : tensor<2xi1>
  %2 = stablehlo.xor %b, %b : tensor<2xi1>
  // CHECK: stablehlo.complex %{{.*}}, %{{.*}} : tensor<2xcomplex<f32>>
  %3 = stablehlo.complex %f, %f : tensor<2xcomplex<f32>>
  // CHECK: stablehlo.complex %{{.*}}, %{{.*}} : (tensor<2xf32>, tensor<?xf32>) -> tensor<2xcomplex<f32>>
  %4 = stablehlo.complex %f, %d : (tensor<2xf32>, tensor<?xf32>) -> tensor<2xcomplex<f32>>
  // CHECK: stablehlo.compare LT, %{{.*}}, %{{.*}}, TOTALORDER : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  %5 = stablehlo.compare LT, %f, %f, TOTALORDER : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  // CHECK: stablehlo.compare EQ, %{{[a-z0-9]*}}, %{{[a-z0-9]*}} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  %6 = stablehlo.compare EQ, %f, %f : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  return
}

// Some front ends name a type of comparison that is not the element's.
// CHECK-LABEL: @compare_type
func.func @compare_type(%b: tensor<2xi1>) {
  // CHECK: stablehlo.compare LT, %{{.*}}, %{{.*}}, SIGNED
  %0 = stablehlo.compare LT, %b, %b, SIGNED : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  return
}

// CHECK-LABEL: @ternary
func.func @ternary(%f: tensor<2xf32>, %s: tensor<f32>, %p: tensor<i1>, %d: tensor<?xf32>) {
  // CHECK: stablehlo.clamp %{{.*}}, %{{.*}}, %{{.*}} : (tensor<f32>, tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %0 = stablehlo.clamp %s, %f, %s : (tensor<f32>, tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  // CHECK: stablehlo.clamp %{{.*}}, %{{.*}}, %{{.*}} : tensor<2xf32>
  %1 = stablehlo.clamp %f, %f, %f : tensor<2xf32>
  // CHECK: stablehlo.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<i1>, tensor<2xf32>
  %2 = stablehlo.select %p, %f, %f : tensor<i1>, tensor<2xf32>
  // CHECK: stablehlo.select %{{.*}}, %{{.*}}, %{{.*}} : (tensor<i1>, tensor<2xf32>, tensor<?xf32>) -> tensor<2xf32>
  %3 = stablehlo.select %p, %f, %d : (tensor<i1>, tensor<2xf32>, tensor<?xf32>) -> tensor<2xf32>
  return
}

// CHECK-LABEL: @map
func.func @map(%f: tensor<2xf32>, %d: tensor<?xf32>) -> tensor<2xi1> {
  // CHECK: "stablehlo.map"(%{{.*}}, %{{.*}}) <{dimensions = array<i64: 0>}> ({
  %0 = "stablehlo.map"(%f, %d) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) {dimensions = array<i64: 0>} : (tensor<2xf32>, tensor<?xf32>) -> tensor<2xi1>
  return %0 : tensor<2xi1>
}
