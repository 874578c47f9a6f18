// RUN: alula-opt %s | alula-opt | FileCheck %s
// RUN: alula-opt --emit=generic %s | alula-opt | FileCheck %s

// CHECK-LABEL: func.func @real_functions
func.func @real_functions(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: chlo.acos %{{.*}} : tensor<4xf32> -> tensor<4xf32>
  %acos = chlo.acos %x : tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.bessel_i1e
  %bessel = chlo.bessel_i1e %acos : tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.digamma
  %digamma = chlo.digamma %bessel : tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.erf %{{.*}} : tensor<4xf32> -> tensor<4xf32>
  %erf = chlo.erf %digamma : tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.erf_inv
  %inverse = chlo.erf_inv %erf : tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.erfc
  %erfc = chlo.erfc %inverse : tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.lgamma
  %lgamma = chlo.lgamma %erfc : tensor<4xf32> -> tensor<4xf32>
  return %lgamma : tensor<4xf32>
}

// CHECK-LABEL: func.func @complex_functions
func.func @complex_functions(%z: tensor<?xcomplex<f64>>)
    -> tensor<?xcomplex<f64>> {
  // CHECK: chlo._asin_acos_kernel %{{.*}} : tensor<?xcomplex<f64>> -> tensor<?xcomplex<f64>>
  %kernel = chlo._asin_acos_kernel %z
      : tensor<?xcomplex<f64>> -> tensor<?xcomplex<f64>>
  // CHECK: chlo.acosh
  %acosh = chlo.acosh %kernel
      : tensor<?xcomplex<f64>> -> tensor<?xcomplex<f64>>
  // CHECK: chlo.conj
  %conj = chlo.conj %acosh : tensor<?xcomplex<f64>> -> tensor<?xcomplex<f64>>
  // CHECK: chlo.square
  %square = chlo.square %conj
      : tensor<?xcomplex<f64>> -> tensor<?xcomplex<f64>>
  return %square : tensor<?xcomplex<f64>>
}

// CHECK-LABEL: func.func @predicates
func.func @predicates(%x: tensor<2xbf16>)
    -> (tensor<2xi1>, tensor<2xi1>, tensor<2xi1>) {
  // CHECK: chlo.is_inf %{{.*}} : tensor<2xbf16> -> tensor<2xi1>
  %inf = chlo.is_inf %x : tensor<2xbf16> -> tensor<2xi1>
  // CHECK: chlo.is_neg_inf
  %negative = chlo.is_neg_inf %x : tensor<2xbf16> -> tensor<2xi1>
  // CHECK: chlo.is_pos_inf
  %positive = chlo.is_pos_inf %x : tensor<2xbf16> -> tensor<2xi1>
  return %inf, %negative, %positive
      : tensor<2xi1>, tensor<2xi1>, tensor<2xi1>
}

// CHECK-LABEL: func.func @two_operands
func.func @two_operands(%x: tensor<4xf32>, %i: tensor<4xui8>)
    -> (tensor<4xf32>, tensor<4xui8>) {
  // CHECK: chlo.next_after %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  %next = chlo.next_after %x, %x
      : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.polygamma
  %polygamma = chlo.polygamma %x, %next
      : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.zeta
  %zeta = chlo.zeta %x, %polygamma
      : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.mulhi %{{.*}}, %{{.*}} : tensor<4xui8>, tensor<4xui8> -> tensor<4xui8>
  %upper = chlo.mulhi %i, %i : tensor<4xui8>, tensor<4xui8> -> tensor<4xui8>
  return %zeta, %upper : tensor<4xf32>, tensor<4xui8>
}

// CHECK-LABEL: func.func @constants
func.func @constants(%x: tensor<?xf32>) -> (tensor<2xi32>, tensor<?xf32>) {
  // CHECK: chlo.constant dense<[1, 2]> : tensor<2xi32>
  %numbers = chlo.constant dense<[1, 2]> : tensor<2xi32>
  // CHECK: "chlo.constant_like"(%{{.*}}) <{value = 1.000000e+00 : f32}> : (tensor<?xf32>) -> tensor<?xf32>
  %ones = "chlo.constant_like"(%x) <{value = 1.0 : f32}>
      : (tensor<?xf32>) -> tensor<?xf32>
  return %numbers, %ones : tensor<2xi32>, tensor<?xf32>
}
