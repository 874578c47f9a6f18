// State: an accumulator, a cache that is updated in place, a constant, a value
// that comes from outside.
module @stateful {
  ml_program.global private mutable @"_sum$0"(dense<1.0> : tensor<4xf32>) : tensor<4xf32>
  ml_program.global private mutable @"_cache$0" : tensor<64x8xf32>
  ml_program.global private mutable @"_count$0"(dense<0> : tensor<i32>) : tensor<i32>
  ml_program.global private @"_w$0"(dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>) : tensor<4xf32>

  // Gives the new value away and keeps it: two memories.
  func.func @add(%x: tensor<4xf32>) -> tensor<4xf32> {
    %s = ml_program.global_load @"_sum$0" : tensor<4xf32>
    %w = ml_program.global_load @"_w$0" : tensor<4xf32>
    %y = stablehlo.multiply %x, %w : tensor<4xf32>
    %n = stablehlo.add %s, %y : tensor<4xf32>
    ml_program.global_store @"_sum$0" = %n : tensor<4xf32>
    return %n : tensor<4xf32>
  }

  // What was there before comes out.
  func.func @exchange(%x: tensor<4xf32>) -> tensor<4xf32> {
    %s = ml_program.global_load @"_sum$0" : tensor<4xf32>
    ml_program.global_store @"_sum$0" = %x : tensor<4xf32>
    return %s : tensor<4xf32>
  }

  func.func @clear() {
    %z = stablehlo.constant dense<0.0> : tensor<64x8xf32>
    ml_program.global_store @"_cache$0" = %z : tensor<64x8xf32>
    return
  }

  func.func @put(%row: tensor<1x8xf32>) -> tensor<f32> {
    %i = ml_program.global_load @"_count$0" : tensor<i32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %c = ml_program.global_load @"_cache$0" : tensor<64x8xf32>
    %n = stablehlo.dynamic_update_slice %c, %row, %i, %zero : (tensor<64x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<64x8xf32>
    ml_program.global_store @"_cache$0" = %n : tensor<64x8xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    ml_program.global_store @"_count$0" = %j : tensor<i32>
    %f = stablehlo.constant dense<0.0> : tensor<f32>
    %r = stablehlo.reduce(%n init: %f) applies stablehlo.add across dimensions = [0, 1] : (tensor<64x8xf32>, tensor<f32>) -> tensor<f32>
    return %r : tensor<f32>
  }

  // The assertion comes last in the text; still nothing is stored if it fails.
  func.func @checked(%x: tensor<?xf32>) -> tensor<i32> {
    %i = ml_program.global_load @"_count$0" : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    ml_program.global_store @"_count$0" = %j : tensor<i32>
    %size = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
    %three = stablehlo.constant dense<3> : tensor<i32>
    %ok = stablehlo.compare EQ, %size, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%ok, %size) {error_message = "size must be 3: is {0}", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    return %j : tensor<i32>
  }
}
