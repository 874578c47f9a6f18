// RUN: alula-opt --split-input-file --verify-diagnostics %s

func.func @main(%l: tensor<11x5xf32>, %r: tensor<3x4x7xf32>, %s: tensor<3xi32>) {
  // expected-error@+1 {{'chlo.ragged_dot': contracting dims differ: lhs dim 1 is 5, rhs dim 1 is 4}}
  %0 = "chlo.ragged_dot"(%l, %r, %s) <{
      ragged_dot_dimension_numbers = #chlo.ragged_dot<
          lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}>
      : (tensor<11x5xf32>, tensor<3x4x7xf32>, tensor<3xi32>) -> tensor<11x7xf32>
  return
}

// -----

func.func @main(%l: tensor<11x5xf32>, %r: tensor<3x5x7xf32>, %s: tensor<3xi32>) {
  // expected-error@+1 {{'chlo.ragged_dot': lhs and rhs must have as many contracting dimensions: 0 and 1}}
  %0 = "chlo.ragged_dot"(%l, %r, %s) <{
      ragged_dot_dimension_numbers = #chlo.ragged_dot<
          rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}>
      : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi32>) -> tensor<11x7xf32>
  return
}

// -----

func.func @main(%l: tensor<11x5xf32>, %r: tensor<3x5x7xf32>, %s: tensor<3xi32>) {
  // expected-error@+1 {{'chlo.ragged_dot': lhs dimension must be below the rank: 2 with rank 2}}
  %0 = "chlo.ragged_dot"(%l, %r, %s) <{
      ragged_dot_dimension_numbers = #chlo.ragged_dot<
          lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}>
      : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi32>) -> tensor<11x7xf32>
  return
}

// -----

func.func @main(%l: tensor<11x5xf32>, %r: tensor<3x5x7xf32>, %s: tensor<3xi32>) {
  // expected-error@+1 {{'chlo.ragged_dot': rhs dimension must be named once: 1 is named twice}}
  %0 = "chlo.ragged_dot"(%l, %r, %s) <{
      ragged_dot_dimension_numbers = #chlo.ragged_dot<
          lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [1]>}>
      : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi32>) -> tensor<11x7xf32>
  return
}

// -----

func.func @main(%l: tensor<11x5xf32>, %r: tensor<3x5x7xf32>, %s: tensor<3xi32>) {
  // expected-error@+1 {{'chlo.ragged_dot': lhs must have one ragged dimension: has 2}}
  %0 = "chlo.ragged_dot"(%l, %r, %s) <{
      ragged_dot_dimension_numbers = #chlo.ragged_dot<
          lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0, 1], rhs_group_dimensions = [0]>}>
      : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi32>) -> tensor<11x7xf32>
  return
}

// -----

func.func @main(%l: tensor<11x5xf32>, %r: tensor<3x5x7xf32>, %s: tensor<3xi32>) {
  // expected-error@+1 {{'chlo.ragged_dot': lhs ragged dimension must be below the rank: 4 with rank 2}}
  %0 = "chlo.ragged_dot"(%l, %r, %s) <{
      ragged_dot_dimension_numbers = #chlo.ragged_dot<
          lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [4], rhs_group_dimensions = [0]>}>
      : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi32>) -> tensor<11x7xf32>
  return
}

// -----

func.func @main(%l: tensor<11x5xf32>, %r: tensor<3x5x7xf32>, %s: tensor<i32>) {
  // expected-error@+1 {{'chlo.ragged_dot': group_sizes must have a dimension: has type}}
  %0 = "chlo.ragged_dot"(%l, %r, %s) <{
      ragged_dot_dimension_numbers = #chlo.ragged_dot<
          lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}>
      : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<i32>) -> tensor<11x7xf32>
  return
}

// -----

func.func @main(%l: tensor<11x5xf32>, %r: tensor<3x5x7xf32>, %s: tensor<2x3xi32>) {
  // expected-error@+1 {{'chlo.ragged_dot': rank of group_sizes must be 1: is 2}}
  %0 = "chlo.ragged_dot"(%l, %r, %s) <{
      ragged_dot_dimension_numbers = #chlo.ragged_dot<
          lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}>
      : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<2x3xi32>) -> tensor<11x7xf32>
  return
}

// -----

func.func @main(%l: tensor<2x11x5xf32>, %r: tensor<3x2x5x7xf32>, %s: tensor<4x3xi32>) {
  // expected-error@+1 {{'chlo.ragged_dot': group_sizes dims must be those of lhs: dim 0 is 4, lhs dim 0 is 2}}
  %0 = "chlo.ragged_dot"(%l, %r, %s) <{
      ragged_dot_dimension_numbers = #chlo.ragged_dot<
          lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]>}>
      : (tensor<2x11x5xf32>, tensor<3x2x5x7xf32>, tensor<4x3xi32>) -> tensor<2x11x7xf32>
  return
}

// -----

func.func @main(%l: tensor<11x5xf32>, %r: tensor<3x5x7xf32>, %s: tensor<3xi32>) {
  // expected-error@+1 {{'chlo.ragged_dot': rhs must have no group dimension where the ragged dimension is batching or contracting: has 1}}
  %0 = "chlo.ragged_dot"(%l, %r, %s) <{
      ragged_dot_dimension_numbers = #chlo.ragged_dot<
          lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]>}>
      : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi32>) -> tensor<3x11x7xf32>
  return
}

// -----

func.func @main(%l: tensor<11x5xf32>, %r: tensor<3x5x7xf32>, %s: tensor<3xi32>) {
  // expected-error@+1 {{'chlo.ragged_dot': rhs must have one group dimension: has 0}}
  %0 = "chlo.ragged_dot"(%l, %r, %s) <{
      ragged_dot_dimension_numbers = #chlo.ragged_dot<
          lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0]>}>
      : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi32>) -> tensor<11x7xf32>
  return
}

// -----

func.func @main(%l: tensor<11x5xf32>, %r: tensor<3x5x7xf32>, %s: tensor<2xi32>) {
  // expected-error@+1 {{'chlo.ragged_dot': rhs group dim must be the number of groups: 3 and 2}}
  %0 = "chlo.ragged_dot"(%l, %r, %s) <{
      ragged_dot_dimension_numbers = #chlo.ragged_dot<
          lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}>
      : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<2xi32>) -> tensor<11x7xf32>
  return
}

// -----

func.func @main(%l: tensor<11x5xf32>, %r: tensor<3x5x7xf32>, %s: tensor<3xi32>) {
  // expected-error@+1 {{'chlo.ragged_dot': result shape must be that of 'tensor<11x7xf32>': is 'tensor<11x8xf32>'}}
  %0 = "chlo.ragged_dot"(%l, %r, %s) <{
      ragged_dot_dimension_numbers = #chlo.ragged_dot<
          lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}>
      : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi32>) -> tensor<11x8xf32>
  return
}

// -----

func.func @main(%l: tensor<11x5xf32>, %r: tensor<3x5x7xf32>, %s: tensor<3xi32>) {
  // expected-error@+1 {{'chlo.ragged_dot': precision_config must have an entry for each operand: has 1}}
  %0 = "chlo.ragged_dot"(%l, %r, %s) <{
      ragged_dot_dimension_numbers = #chlo.ragged_dot<
          lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>,
      precision_config = [#chlo<precision HIGH>]}>
      : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi32>) -> tensor<11x7xf32>
  return
}
