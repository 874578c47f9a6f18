// RUN: alula-opt --input-lower-known-call %s | FileCheck %s

// CHECK-LABEL: func.func @approx_top_k
// CHECK-SAME: (%[[X:.*]]: tensor<2x8xf32>, %[[I:.*]]: tensor<2x8xi32>
// CHECK: %[[SORTED:.*]]:2 = "stablehlo.sort"(%[[X]], %[[I]]) <{dimension = 1 : i64, is_stable = true}>
// CHECK: ^bb0(%[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<f32>, %{{.*}}: tensor<i32>, %{{.*}}: tensor<i32>):
// CHECK: %[[C:.*]] = stablehlo.compare GT, %[[A]], %[[B]]
// CHECK: stablehlo.return %[[C]]
// CHECK: %[[V:.*]] = stablehlo.slice %[[SORTED]]#0 [0:2, 0:3]
// CHECK: %[[P:.*]] = stablehlo.slice %[[SORTED]]#1 [0:2, 0:3]
// CHECK: return %[[V]], %[[P]]
func.func @approx_top_k(%x: tensor<2x8xf32>, %i: tensor<2x8xi32>, %a: tensor<f32>, %b: tensor<i32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
  %0:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %a, %b) {called_computations = [@greater], mhlo.backend_config = {reduction_dim = 1 : i64, top_k = 3 : i64}} : (tensor<2x8xf32>, tensor<2x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
  return %0#0, %0#1 : tensor<2x3xf32>, tensor<2x3xi32>
}

func.func @greater(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}

// Of sizes that the call knows: rows are whole, and the shape says how many.
// CHECK-LABEL: func.func @approx_top_k_of_rows
// CHECK: %[[SORTED:.*]] = "stablehlo.sort"
// CHECK: %[[SIZE:.*]] = stablehlo.get_dimension_size %[[SORTED]], dim = 0
// CHECK: %[[ROWS:.*]] = stablehlo.convert %[[SIZE]]
// CHECK: %[[ONE:.*]] = stablehlo.reshape %[[ROWS]]
// CHECK: %[[LIMITS:.*]] = stablehlo.concatenate %[[ONE]], %{{.*}}, dim = 0
// CHECK: stablehlo.real_dynamic_slice %[[SORTED]], %{{.*}}, %[[LIMITS]], %{{.*}} -> tensor<?x3xf32>
func.func @approx_top_k_of_rows(%x: tensor<?x?xf32>, %a: tensor<f32>, %shape: tensor<2xi32>) -> tensor<?x3xf32> {
  %0 = stablehlo.custom_call @ApproxTopK(%x, %a, %shape) {called_computations = [@greater_only], indices_of_shape_operands = dense<[2]> : tensor<1xi64>, mhlo.backend_config = {reduction_dim = 1 : i64, top_k = 3 : i64}} : (tensor<?x?xf32>, tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @approx_top_k_of_some
// CHECK-SAME: (%{{.*}}: tensor<8xf32>, %{{.*}}: tensor<f32>, %[[K:.*]]: tensor<i32>
// CHECK: %[[NUMBER:.*]] = stablehlo.convert %[[K]]
// CHECK: %[[LIMIT:.*]] = stablehlo.reshape %[[NUMBER]]
// CHECK: %[[LIMITS:.*]] = stablehlo.concatenate %[[LIMIT]], dim = 0
// CHECK: stablehlo.real_dynamic_slice %{{.*}}, %{{.*}}, %[[LIMITS]], %{{.*}} -> tensor<?xf32>
func.func @approx_top_k_of_some(%x: tensor<8xf32>, %a: tensor<f32>, %k: tensor<i32>) -> tensor<?xf32> {
  %0 = stablehlo.custom_call @stablehlo.dynamic_approx_top_k(%x, %a, %k) {called_computations = [@greater_only], mhlo.backend_config = {reduction_dim = 0 : i64}} : (tensor<8xf32>, tensor<f32>, tensor<i32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

func.func @greater_only(%a: tensor<f32>, %b: tensor<f32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}

// CHECK-LABEL: func.func @top_k
// CHECK: chlo.top_k(%{{.*}}, k = 2, is_stable = true) : tensor<8xf16> -> (tensor<2xf16>, tensor<2xi32>)
func.func @top_k(%x: tensor<8xf16>) -> (tensor<2xf16>, tensor<2xi32>) {
  %0:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 2 : i64, largest = true}} : (tensor<8xf16>) -> (tensor<2xf16>, tensor<2xi32>)
  return %0#0, %0#1 : tensor<2xf16>, tensor<2xi32>
}

// CHECK-LABEL: func.func @erf
// CHECK: chlo.erf %{{.*}} : tensor<3xf64>
func.func @erf(%x: tensor<3xf64>) -> tensor<3xf64> {
  %0 = stablehlo.custom_call @mhlo.erf(%x) : (tensor<3xf64>) -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

// Lists as JAX makes them, and as the portable form has them.
// CHECK-LABEL: func.func @ragged_dot
// CHECK-COUNT-2: chlo.ragged_dot{{.*}}lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]
func.func @ragged_dot(%x: tensor<8x4xf32>, %w: tensor<2x4x3xf32>, %g: tensor<2xi32>) -> (tensor<8x3xf32>, tensor<8x3xf32>) {
  %0 = stablehlo.custom_call @alula.ragged_dot(%x, %w, %g) {mhlo.backend_config = {lhs_batching_dimensions = array<i64>, rhs_batching_dimensions = array<i64>, lhs_contracting_dimensions = array<i64: 1>, rhs_contracting_dimensions = array<i64: 1>, lhs_ragged_dimensions = array<i64: 0>, rhs_group_dimensions = array<i64: 0>}} : (tensor<8x4xf32>, tensor<2x4x3xf32>, tensor<2xi32>) -> tensor<8x3xf32>
  %1 = stablehlo.custom_call @alula.ragged_dot(%x, %w, %g) {mhlo.backend_config = {lhs_batching_dimensions = dense<> : tensor<0xi64>, rhs_batching_dimensions = dense<> : tensor<0xi64>, lhs_contracting_dimensions = dense<1> : tensor<1xi64>, rhs_contracting_dimensions = dense<1> : tensor<1xi64>, lhs_ragged_dimensions = dense<0> : tensor<1xi64>, rhs_group_dimensions = dense<0> : tensor<1xi64>}} : (tensor<8x4xf32>, tensor<2x4x3xf32>, tensor<2xi32>) -> tensor<8x3xf32>
  return %0, %1 : tensor<8x3xf32>, tensor<8x3xf32>
}

// What does not fit is left for who runs it to complain about.
// CHECK-LABEL: func.func @left
// CHECK: custom_call @ApproxTopK
// CHECK: custom_call @ApproxTopK
// CHECK: custom_call @mhlo.topk
// CHECK: custom_call @mhlo.topk
// CHECK: custom_call @mhlo.erf
// CHECK: custom_call @alula.ragged_dot
func.func @left(%x: tensor<8xf32>, %i: tensor<8xi32>, %a: tensor<f32>, %b: tensor<i32>) {
  // No comparator; more results than inputs.
  stablehlo.custom_call @ApproxTopK(%x, %i, %a, %b) {mhlo.backend_config = {reduction_dim = 0 : i64, top_k = 3 : i64}} : (tensor<8xf32>, tensor<8xi32>, tensor<f32>, tensor<i32>) -> (tensor<3xf32>, tensor<3xi32>)
  stablehlo.custom_call @ApproxTopK(%x, %i, %a, %b) {called_computations = [@greater], mhlo.backend_config = {reduction_dim = 0 : i64, top_k = 9 : i64}} : (tensor<8xf32>, tensor<8xi32>, tensor<f32>, tensor<i32>) -> (tensor<9xf32>, tensor<9xi32>)
  // The smallest; no k.
  stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 2 : i64, largest = false}} : (tensor<8xf32>) -> (tensor<2xf32>, tensor<2xi32>)
  stablehlo.custom_call @mhlo.topk(%x) : (tensor<8xf32>) -> (tensor<2xf32>, tensor<2xi32>)
  stablehlo.custom_call @mhlo.erf(%x) : (tensor<8xf32>) -> tensor<8xf64>
  // Without dimensions.
  stablehlo.custom_call @alula.ragged_dot(%x, %x, %i) {mhlo.backend_config = {lhs_ragged_dimensions = array<i64: 0>}} : (tensor<8xf32>, tensor<8xf32>, tensor<8xi32>) -> tensor<8xf32>
  return
}
