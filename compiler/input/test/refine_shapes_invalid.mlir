// RUN: alula-opt --split-input-file --verify-diagnostics --input-refine-shapes %s

func.func @main(%x: tensor<4xf32>) -> tensor<?xf32> {
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %three = stablehlo.constant dense<3> : tensor<1xi32>
  %shape = stablehlo.subtract %one, %three : tensor<1xi32>
  // expected-error@+1 {{'stablehlo.dynamic_iota': shape must not be negative}}
  %0 = stablehlo.dynamic_iota %shape, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<?xf32> {
  %0 = call @f(%x) : (tensor<4xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func private @f(%x: tensor<4xf32>) -> tensor<?xf32> {
  // expected-error@+1 {{'func.call': function must not call itself: f}}
  %0 = call @f(%x) : (tensor<4xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @main(%n: tensor<i32>, %x: tensor<2xf32>) -> tensor<?xf32> {
  %y = stablehlo.custom_call @stablehlo.shape_refinement_operand_wrapper(%x)
      : (tensor<2xf32>) -> tensor<?xf32>
  // expected-error@+1 {{'stablehlo.while': carried value must keep its type: value 1 is 'tensor<2xf32>', then 'tensor<4xf32>'}}
  %0:2 = stablehlo.while(%i = %n, %z = %y) : tensor<i32>, tensor<?xf32>
   cond {
    %more = stablehlo.compare LT, %i, %i
        : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %both = stablehlo.concatenate %z, %z, dim = 0
        : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    stablehlo.return %i, %both : tensor<i32>, tensor<?xf32>
  }
  return %0#1 : tensor<?xf32>
}

// -----

func.func @main() -> tensor<?xf32> {
  // expected-error@+1 {{'stablehlo.custom_call': wrapper must have an operand and one result: has 0 and 1}}
  %0 = stablehlo.custom_call @stablehlo.shape_refinement_operand_wrapper()
      : () -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<?xf32> {
  %high = stablehlo.constant dense<1> : tensor<1xi32>
  %two = stablehlo.add %high, %high : tensor<1xi32>
  %low = stablehlo.add %two, %high : tensor<1xi32>
  // expected-error@+1 {{'stablehlo.real_dynamic_slice': slice must have a start below its limit and a positive stride: start 3, limit 1, stride 1}}
  %0 = stablehlo.real_dynamic_slice %x, %low, %high, %high
      : (tensor<4xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>)
      -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @main(%p: tensor<i1>, %n: tensor<i32>) -> tensor<?xf32> {
  %two = stablehlo.constant dense<2> : tensor<1xi32>
  %three = stablehlo.constant dense<3> : tensor<1xi32>
  // expected-error@+1 {{'stablehlo.if': branches must give compatible types: result 0 is 'tensor<2xf32>' and 'tensor<3xf32>'}}
  %0 = "stablehlo.if"(%p) ({
    %1 = stablehlo.dynamic_iota %two, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
    stablehlo.return %1 : tensor<?xf32>
  }, {
    %1 = stablehlo.dynamic_iota %three, dim = 0
        : (tensor<1xi32>) -> tensor<?xf32>
    stablehlo.return %1 : tensor<?xf32>
  }) : (tensor<i1>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @main(%x: tensor<4xf32>, %n: tensor<i32>) -> tensor<3xf32> {
  %two = stablehlo.constant dense<2> : tensor<1xi32>
  %four = stablehlo.add %two, %two : tensor<1xi32>
  %y = stablehlo.custom_call @stablehlo.shape_refinement_operand_wrapper(%x)
      : (tensor<4xf32>) -> tensor<?xf32>
  // expected-error@+1 {{'stablehlo.dynamic_broadcast_in_dim': inferred type contradicts the written one: 'tensor<4xf32>' and 'tensor<3xf32>'}}
  %0 = stablehlo.dynamic_broadcast_in_dim %y, %four, dims = [0]
      : (tensor<?xf32>, tensor<1xi32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// expected-error@+1 {{'func.func': function must have one block: has 2}}
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
^bb1(%y: tensor<?xf32>):
  return %y : tensor<?xf32>
}

// -----

func.func @main(%x: tensor<2xf32>) -> tensor<?xf32> {
  %y = stablehlo.custom_call @stablehlo.shape_refinement_operand_wrapper(%x)
      : (tensor<2xf32>) -> tensor<?xf32>
  %0 = call @grow(%y) : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
// expected-error@+1 {{'func.func': blocks must nest at most 1000 deep, those of called functions included: block is deeper}}
func.func private @grow(%x: tensor<?xf32>) -> tensor<?xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<1xf32>
  %y = stablehlo.concatenate %x, %one, dim = 0
      : (tensor<?xf32>, tensor<1xf32>) -> tensor<?xf32>
  %0 = call @grow(%y) : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
