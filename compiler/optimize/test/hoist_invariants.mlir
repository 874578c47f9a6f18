// RUN: alula-opt %s -split-input-file -optimize-hoist-invariants | FileCheck %s

// With what it is made of, out of both loops; the broadcast of its result stays.
// CHECK-LABEL: func.func @hoisted
// CHECK: %[[N:.*]] = stablehlo.negate %arg1
// CHECK: %[[E:.*]] = stablehlo.exponential %[[N]]
// CHECK: stablehlo.while
// CHECK: stablehlo.while
// CHECK-NOT: stablehlo.exponential
// CHECK: stablehlo.broadcast_in_dim %[[E]]
func.func @hoisted(%a: tensor<4x2xf32>, %x: tensor<2xf32>, %p: tensor<i1>) -> tensor<4x2xf32> {
  %r:2 = stablehlo.while(%y = %a, %q = %p) : tensor<4x2xf32>, tensor<i1>
    cond {
      stablehlo.return %q : tensor<i1>
    } do {
      %s:2 = stablehlo.while(%z = %y, %o = %q) : tensor<4x2xf32>, tensor<i1>
        cond {
          stablehlo.return %o : tensor<i1>
        } do {
          %n = stablehlo.negate %x : tensor<2xf32>
          %e = stablehlo.exponential %n : tensor<2xf32>
          %b = stablehlo.broadcast_in_dim %e, dims = [1] : (tensor<2xf32>) -> tensor<4x2xf32>
          %w = stablehlo.add %z, %b : tensor<4x2xf32>
          %not = stablehlo.not %o : tensor<i1>
          stablehlo.return %w, %not : tensor<4x2xf32>, tensor<i1>
        }
      stablehlo.return %s#0, %s#1 : tensor<4x2xf32>, tensor<i1>
    }
  return %r#0 : tensor<4x2xf32>
}

// -----

// CHECK-LABEL: func.func @named
// CHECK: %[[E:.*]] = chlo.erf %arg1
// CHECK: stablehlo.while
// CHECK-NOT: chlo.erf
func.func @named(%a: tensor<2xf32>, %x: tensor<2xf32>, %p: tensor<i1>) -> tensor<2xf32> {
  %r:2 = stablehlo.while(%y = %a, %q = %p) : tensor<2xf32>, tensor<i1>
    cond {
      stablehlo.return %q : tensor<i1>
    } do {
      %e = chlo.erf %x : tensor<2xf32> -> tensor<2xf32>
      %w = stablehlo.add %y, %e : tensor<2xf32>
      %not = stablehlo.not %q : tensor<i1>
      stablehlo.return %w, %not : tensor<2xf32>, tensor<i1>
    }
  return %r#0 : tensor<2xf32>
}

// -----

// Does not fire: what depends on a round, random numbers, little work.
// CHECK-LABEL: func.func @left
// CHECK: stablehlo.while
// CHECK: stablehlo.exponential
// CHECK: stablehlo.rng
// CHECK: stablehlo.negate
func.func @left(%a: tensor<2xf32>, %f: tensor<f32>, %p: tensor<i1>) -> tensor<2xf32> {
  %shape = stablehlo.constant dense<2> : tensor<1xi64>
  %r:2 = stablehlo.while(%y = %a, %q = %p) : tensor<2xf32>, tensor<i1>
    cond {
      stablehlo.return %q : tensor<i1>
    } do {
      %e = stablehlo.exponential %y : tensor<2xf32>
      %u = stablehlo.rng %f, %f, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<2xf32>
      %n = stablehlo.negate %a : tensor<2xf32>
      %s = stablehlo.add %e, %u : tensor<2xf32>
      %t = stablehlo.add %s, %n : tensor<2xf32>
      %not = stablehlo.not %q : tensor<i1>
      stablehlo.return %t, %not : tensor<2xf32>, tensor<i1>
    }
  return %r#0 : tensor<2xf32>
}

// -----

// What picks elements costs something, with sizes that are operands too; bits of
// them cost nothing.
// CHECK-LABEL: func.func @picked
// CHECK: stablehlo.dynamic_gather
// CHECK: stablehlo.while
// CHECK: stablehlo.bitcast_convert
func.func @picked(%a: tensor<3x2xf32>, %x: tensor<9x2xi32>, %i: tensor<3x1xi32>, %n: tensor<2xi32>, %p: tensor<i1>) -> tensor<3x2xf32> {
  %r:2 = stablehlo.while(%y = %a, %q = %p) : tensor<3x2xf32>, tensor<i1>
    cond {
      stablehlo.return %q : tensor<i1>
    } do {
      %g = "stablehlo.dynamic_gather"(%x, %i, %n) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<9x2xi32>, tensor<3x1xi32>, tensor<2xi32>) -> tensor<3x2xi32>
      %b = stablehlo.bitcast_convert %g : (tensor<3x2xi32>) -> tensor<3x2xf32>
      %w = stablehlo.add %y, %b : tensor<3x2xf32>
      %not = stablehlo.not %q : tensor<i1>
      stablehlo.return %w, %not : tensor<3x2xf32>, tensor<i1>
    }
  return %r#0 : tensor<3x2xf32>
}
