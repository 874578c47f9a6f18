// RUN: alula-opt --split-input-file "--input-refine-arguments=types=tensor<4x3xf32>" --input-refine-shapes %s | FileCheck %s

// CHECK-LABEL: func.func @main(%arg0: tensor<4x3xf32>) -> tensor<12xf32>
func.func @main(%x: tensor<?x3xf32>) -> tensor<?xf32> {
  %rows = stablehlo.get_dimension_size %x, dim = 0
      : (tensor<?x3xf32>) -> tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %count = stablehlo.multiply %rows, %three : tensor<i32>
  %shape = stablehlo.reshape %count : (tensor<i32>) -> tensor<1xi32>
  // CHECK-NEXT: %[[FLAT:.*]] = stablehlo.reshape %arg0 : (tensor<4x3xf32>) -> tensor<12xf32>
  %flat = stablehlo.dynamic_reshape %x, %shape
      : (tensor<?x3xf32>, tensor<1xi32>) -> tensor<?xf32>
  // CHECK-NEXT: return %[[FLAT]]
  return %flat : tensor<?xf32>
}

// -----

// Each way of calling has its copy; constants are written in it.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<?x3xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %rows = stablehlo.get_dimension_size %x, dim = 0
      : (tensor<?x3xf32>) -> tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  // CHECK: call @[[A:iota.*]]() : () -> tensor<4xf32>
  %0 = call @iota(%rows) : (tensor<i32>) -> tensor<?xf32>
  // CHECK: call @[[B:iota.*]]() : () -> tensor<3xf32>
  %1 = call @iota(%three) : (tensor<i32>) -> tensor<?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?xf32>
}
// CHECK-DAG: func.func private @iota{{.*}}() -> tensor<4xf32>
// CHECK-DAG: func.func private @iota{{.*}}() -> tensor<3xf32>
// CHECK-NOT: tensor<?xf32>
func.func private @iota(%n: tensor<i32>) -> tensor<?xf32> {
  %shape = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %iota = stablehlo.dynamic_iota %shape, dim = 0
      : (tensor<1xi32>) -> tensor<?xf32>
  return %iota : tensor<?xf32>
}

// -----

// CHECK-LABEL: func.func @main(%arg0: tensor<4x3xf32>) -> tensor<4x3xf32>
func.func @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %rows = stablehlo.get_dimension_size %x, dim = 0
      : (tensor<?x3xf32>) -> tensor<i32>
  // CHECK: stablehlo.while({{.*}}) : tensor<i32>, tensor<4x3xf32>
  // CHECK: stablehlo.add %{{.*}}, %{{.*}} : tensor<4x3xf32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x)
      : tensor<i32>, tensor<?x3xf32>
   cond {
    %more = stablehlo.compare LT, %i, %rows
        : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %twice = stablehlo.add %y, %y : tensor<?x3xf32>
    stablehlo.return %next, %twice : tensor<i32>, tensor<?x3xf32>
  }
  return %0#1 : tensor<?x3xf32>
}

// -----

// Dynamic ops find their static forms.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x?xf32>,
                                         tensor<?x2xf32>, tensor<?xf32>) {
  %rows = stablehlo.get_dimension_size %x, dim = 0
      : (tensor<?x3xf32>) -> tensor<i32>
  %rows1 = stablehlo.reshape %rows : (tensor<i32>) -> tensor<1xi32>
  %zeros = stablehlo.constant dense<0> : tensor<2xi32>
  %ones = stablehlo.constant dense<1> : tensor<2xi32>
  %two = stablehlo.constant dense<2> : tensor<1xi32>
  %three = stablehlo.constant dense<3> : tensor<1xi32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %shape = stablehlo.concatenate %rows1, %three, dim = 0
      : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %limit = stablehlo.concatenate %rows1, %two, dim = 0
      : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  // CHECK: stablehlo.broadcast_in_dim {{.*}} -> tensor<4x3xf32>
  %0 = stablehlo.dynamic_broadcast_in_dim %zero, %shape, dims = []
      : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
  // CHECK: stablehlo.pad {{.*}} low = [1, 1], high = [0, 0], interior = [0, 0] {{.*}} -> tensor<5x4xf32>
  %1 = stablehlo.dynamic_pad %x, %zero, %ones, %zeros, %zeros
      : (tensor<?x3xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>,
         tensor<2xi32>) -> tensor<?x?xf32>
  // CHECK: stablehlo.slice %arg0 [0:4, 0:2] : (tensor<4x3xf32>) -> tensor<4x2xf32>
  %2 = stablehlo.real_dynamic_slice %x, %zeros, %limit, %ones
      : (tensor<?x3xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>)
      -> tensor<?x2xf32>
  // CHECK: stablehlo.custom_call @f(%arg0) : (tensor<4x3xf32>) -> tensor<4xf32>
  %3 = stablehlo.custom_call @f(%x, %rows1)
      {indices_of_shape_operands = dense<1> : tensor<1xi64>}
      : (tensor<?x3xf32>, tensor<1xi32>) -> tensor<?xf32>
  return %0, %1, %2, %3 : tensor<?x3xf32>, tensor<?x?xf32>, tensor<?x2xf32>,
      tensor<?xf32>
}

// -----

// A static program keeps its functions and its constants.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4x3xf32>) -> tensor<i32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  // CHECK: stablehlo.add
  %two = stablehlo.add %one, %one : tensor<i32>
  // CHECK: call @static(
  %0 = call @static(%two) : (tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}
func.func private @static(%n: tensor<i32>) -> tensor<i32> {
  return %n : tensor<i32>
}

// -----

// Sizes that come out of a static function count as well; groups of a
// collective multiply a size.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<?x3xf32>) -> (tensor<?xf32>, tensor<?x?xf32>) {
  // CHECK: stablehlo.iota dim = 0 : tensor<5xf32>
  %five = call @five() : () -> tensor<1xi32>
  %0 = stablehlo.dynamic_iota %five, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
  // CHECK: "stablehlo.all_gather"(%arg0)
  // CHECK-SAME: (tensor<4x3xf32>) -> tensor<4x6xf32>
  %1 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64,
      replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>
      : (tensor<?x3xf32>) -> tensor<?x?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?x?xf32>
}
func.func private @five() -> tensor<1xi32> {
  %five = stablehlo.constant dense<5> : tensor<1xi32>
  return %five : tensor<1xi32>
}
