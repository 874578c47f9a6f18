// RUN: alula-opt %s -split-input-file -dispatch-form-kernels -dispatch-verify-output | FileCheck %s

// Sizes of inputs, of results, and numbers are constants of a launch; the list
// that says a shape is made of them in the kernel.
// CHECK-LABEL: func.func @broadcast
// CHECK: %[[N:.*]] = tensor.dim %arg0, %c0
// CHECK: %[[M:.*]] = arith.muli %[[N]], %c2
// CHECK: dispatch.launch @broadcast_0::@broadcast_0(%arg0) [%[[N]], %[[M]], %[[N]], %[[M]], %[[N]]] result_dims(%[[M]], %[[N]])
// CHECK: func.func @broadcast_0(%[[A:.*]]: tensor<?xf32>, %[[K:.*]]: index, %[[L:.*]]: index)
// CHECK: %[[LIST:.*]] = dispatch.pack %[[K]], %[[L]] : tensor<2xi32>
// CHECK: stablehlo.dynamic_broadcast_in_dim %[[A]], %[[LIST]]
func.func @broadcast(%a: tensor<?xf32>) -> tensor<?x?xf32> {
  %two = stablehlo.constant dense<2> : tensor<i32>
  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %m = stablehlo.multiply %two, %n : tensor<i32>
  %m1 = stablehlo.reshape %m : (tensor<i32>) -> tensor<1xi32>
  %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %list = stablehlo.concatenate %m1, %n1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %0 = stablehlo.dynamic_broadcast_in_dim %a, %list, dims = [1] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// A size that is data, too: no tensor holds it.
// CHECK-LABEL: func.func @mean
// CHECK: dispatch.launch @mean_0::@mean_0(%arg0) [%[[N:.*]], %[[N]], %[[N]]]
// CHECK: %[[PACK:.*]] = dispatch.pack %{{.*}} : tensor<i32>
// CHECK: stablehlo.convert %[[PACK]]
func.func @mean(%a: tensor<?xf32>) -> tensor<?xf32> {
  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %f = stablehlo.convert %n : (tensor<i32>) -> tensor<f32>
  %l = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %g = stablehlo.dynamic_broadcast_in_dim %f, %l, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
  %0 = stablehlo.divide %a, %g : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// Integer arithmetic of every kind stays on the host.
// CHECK-LABEL: func.func @arithmetic
// CHECK: %[[N:.*]] = tensor.dim
// CHECK-DAG: arith.addi %[[N]]
// CHECK-DAG: arith.divui
// CHECK-DAG: arith.maxsi
// CHECK-DAG: arith.minsi
// CHECK-DAG: arith.cmpi sgt
// CHECK-DAG: arith.select
// CHECK: dispatch.launch
// CHECK-NOT: dispatch.launch
// CHECK: return
func.func @arithmetic(%a: tensor<?xf32>) -> tensor<?xf32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %0 = stablehlo.add %n, %one : tensor<i32>
  %1 = stablehlo.divide %0, %three : tensor<i32>
  %2 = stablehlo.remainder %0, %three : tensor<i32>
  %3 = stablehlo.subtract %1, %2 : tensor<i32>
  %4 = stablehlo.maximum %3, %one : tensor<i32>
  %5 = stablehlo.minimum %4, %n : tensor<i32>
  %p = stablehlo.compare GT, %5, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %6 = stablehlo.select %p, %5, %one : tensor<i1>, tensor<i32>
  %l = stablehlo.reshape %6 : (tensor<i32>) -> tensor<1xi32>
  %7 = stablehlo.dynamic_iota %l, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
  return %7 : tensor<?xf32>
}

// -----

// A size that a kernel computes is read from its memory.
// CHECK-LABEL: func.func @data
// CHECK: %[[S:.*]] = dispatch.launch @data_0::@data_0(%arg0)
// CHECK: %[[E:.*]] = tensor.extract %[[S]][]
// CHECK: %[[N:.*]] = arith.index_cast %[[E]] : i64 to index
// CHECK: arith.cmpi sge, %[[N]], %c0
// CHECK: dispatch.assert %{{.*}}, "'stablehlo.dynamic_iota': sizes must not be negative: dimension 0 is {0}"(%[[N]])
// CHECK: dispatch.launch @data_1::@data_1() [%[[N]], %[[N]]] result_dims(%[[N]])
func.func @data(%a: tensor<4xi64>) -> tensor<?xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %0 = stablehlo.multiply %a, %a : tensor<4xi64>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.xor across dimensions = [0] : (tensor<4xi64>, tensor<i64>) -> tensor<i64>
  %2 = stablehlo.reshape %1 : (tensor<i64>) -> tensor<1xi64>
  %3 = stablehlo.dynamic_iota %2, dim = 0 : (tensor<1xi64>) -> tensor<?xf32>
  return %3 : tensor<?xf32>
}

// -----

// Numbers that a function returns are stored by a kernel.
// CHECK-LABEL: func.func @stored
// CHECK: dispatch.launch @stored_0::@stored_0() [%{{.*}}] : () -> tensor<i32>
// CHECK: func.func @stored_0(%[[N:.*]]: index) -> tensor<i32>
// CHECK-NEXT: dispatch.pack %[[N]] : tensor<i32>
func.func @stored(%a: tensor<?xf32>) -> tensor<i32> {
  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  return %n : tensor<i32>
}

// -----

// What a program says about its shapes is asserted.
// CHECK-LABEL: func.func @assertion
// CHECK: %[[N:.*]] = tensor.dim %arg0
// CHECK: %[[P:.*]] = arith.cmpi sge, %[[N]], %c1
// CHECK: dispatch.assert %[[P]], "'stablehlo.custom_call': shape assertion failed: b is {0}"(%[[N]])
func.func @assertion(%a: tensor<?xf32>) -> tensor<?xf32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %p = stablehlo.compare GE, %n, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%p, %n) {error_message = "b is {0}", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
  return %a : tensor<?xf32>
}

// -----

// A loop carries a value of dynamic shape; its sizes are asked of it.
// CHECK-LABEL: func.func @loop
// CHECK: stablehlo.while
// CHECK: do
// CHECK: %[[N:.*]] = tensor.dim %[[X:.*]], %c0
// CHECK: %[[M:.*]] = arith.addi %[[N]], %[[N]]
// CHECK: dispatch.launch @{{.*}}(%[[X]]) [%[[N]], %[[M]]] result_dims(%[[M]])
func.func @loop(%a: tensor<?xf32>, %p: tensor<i1>) -> tensor<?xf32> {
  %0 = stablehlo.while(%x = %a) : tensor<?xf32>
  cond {
    stablehlo.return %p : tensor<i1>
  } do {
    %1 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    stablehlo.return %1 : tensor<?xf32>
  }
  return %0 : tensor<?xf32>
}

// -----

// Operands that say sizes go; the kernel is passed the sizes.
// CHECK-LABEL: func.func @call
// CHECK: %[[N:.*]] = tensor.dim %arg0
// CHECK: dispatch.launch @call_0::@call_0(%arg0) [%[[N]], %[[N]], %[[N]]] result_dims(%[[N]], %[[N]])
// CHECK: stablehlo.custom_call @Qr(%{{.*}}) : (tensor<?x4x4xf32>) -> (tensor<?x4x4xf32>, tensor<?x4xf32>)
func.func @call(%a: tensor<?x4x4xf32>) -> (tensor<?x4x4xf32>, tensor<?x4xf32>) {
  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?x4x4xf32>) -> tensor<i32>
  %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %four = stablehlo.constant dense<4> : tensor<1xi32>
  %l = stablehlo.concatenate %n1, %four, %four, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
  %m = stablehlo.concatenate %n1, %four, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %0:2 = stablehlo.custom_call @Qr(%a, %l, %m) {indices_of_shape_operands = dense<[1, 2]> : tensor<2xi64>} : (tensor<?x4x4xf32>, tensor<3xi32>, tensor<2xi32>) -> (tensor<?x4x4xf32>, tensor<?x4xf32>)
  return %0#0, %0#1 : tensor<?x4x4xf32>, tensor<?x4xf32>
}

// -----

// How many numbers a range has, as torch-mlir computes it: in f64. Quotients are
// rounded up exactly.
// CHECK-LABEL: func.func @range
// CHECK: %[[N:.*]] = tensor.dim %arg0, %c0
// CHECK: %[[MORE:.*]] = arith.addi %[[N]], %c2
// CHECK: %[[COUNT:.*]] = arith.divui %[[MORE]], %c3
// CHECK: dispatch.launch @range_0::@range_0() [%[[COUNT]]
// CHECK-NOT: dispatch.launch
// CHECK: return
func.func @range(%a: tensor<?xf32>) -> tensor<?xi64> {
  %three = stablehlo.constant dense<3.0> : tensor<f64>
  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %l = stablehlo.convert %n : (tensor<i32>) -> tensor<i64>
  %f = stablehlo.convert %l : (tensor<i64>) -> tensor<f64>
  %q = stablehlo.divide %f, %three : tensor<f64>
  %u = stablehlo.ceil %q : tensor<f64>
  %c = stablehlo.convert %u : (tensor<f64>) -> tensor<i64>
  %s = stablehlo.reshape %c : (tensor<i64>) -> tensor<1xi64>
  %0 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi64>) -> tensor<?xi64>
  return %0 : tensor<?xi64>
}

// -----

// What is the same number, or one that is known, needs no check.
// CHECK-LABEL: func.func @same
// CHECK-NOT: dispatch.assert
// CHECK: return
func.func @same(%a: tensor<?xf32>) -> tensor<?xf32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %b = stablehlo.negate %a : tensor<?xf32>
  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %m = stablehlo.get_dimension_size %b, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %is_same = stablehlo.compare EQ, %n, %m : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %is_one = stablehlo.compare EQ, %n, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %ok = stablehlo.or %is_same, %is_one : tensor<i1>
  stablehlo.custom_call @shape_assertion(%ok, %n, %m) {error_message = "{0} and {1}", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
  %both = stablehlo.and %is_same, %ok : tensor<i1>
  stablehlo.custom_call @shape_assertion(%both) {error_message = "no", has_side_effect = true} : (tensor<i1>) -> ()
  return %b : tensor<?xf32>
}

// -----

// To broadcast or reshape to what is there already is nothing.
// CHECK-LABEL: func.func @there
// CHECK: dispatch.launch @there_0
// CHECK: func.func @there_0
// CHECK-NOT: dynamic_broadcast_in_dim
// CHECK-NOT: dynamic_reshape
// CHECK: stablehlo.add
// CHECK: func.func @turned
// CHECK: stablehlo.dynamic_broadcast_in_dim
func.func @there(%a: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
  %m = stablehlo.get_dimension_size %a, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
  %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %m1 = stablehlo.reshape %m : (tensor<i32>) -> tensor<1xi32>
  %list = stablehlo.concatenate %n1, %m1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %0 = stablehlo.dynamic_broadcast_in_dim %a, %list, dims = [0, 1] : (tensor<?x?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  %1 = stablehlo.dynamic_reshape %0, %list : (tensor<?x?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  %2 = stablehlo.add %0, %1 : tensor<?x?xf32>
  return %2 : tensor<?x?xf32>
}
func.func @turned(%a: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
  %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %list = stablehlo.concatenate %n1, %n1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %0 = stablehlo.dynamic_broadcast_in_dim %a, %list, dims = [1, 0] : (tensor<?x?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// Which sizes a broadcast keeps only the host knows; what a program claims is not
// believed.
// CHECK-LABEL: func.func @kept
// CHECK: stablehlo.dynamic_broadcast_in_dim %{{.*}}, dims = [0] {known_nonexpanding_dimensions = array<i64: 0>} : (tensor<?xf32>
// CHECK: stablehlo.dynamic_broadcast_in_dim %{{.*}}, dims = [0] : (tensor<?xf32>
func.func @kept(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?x4xf32> {
  %four = stablehlo.constant dense<4> : tensor<1xi32>
  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %list = stablehlo.concatenate %n1, %four, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %0 = stablehlo.dynamic_broadcast_in_dim %a, %list, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x4xf32>
  %1 = stablehlo.dynamic_broadcast_in_dim %b, %list, dims = [0] {known_nonexpanding_dimensions = array<i64: 0>} : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x4xf32>
  %2 = stablehlo.add %0, %1 : tensor<?x4xf32>
  return %2 : tensor<?x4xf32>
}
