// RUN: alula-compile --target=cpu:host %s -o %t.alula
// RUN: alula-run %t.alula --input=3xi32=1,2,3 --input=3xi32=4,5,6 --expected_output=3xi32=4,5,6
// RUN: alula-run %t.alula --function=loop --input=2xf32=1,2 --expected_output=2xf32=3,6

// An update of the whole array has no indices: `update` is all there is.
func.func @main(%x: tensor<3xi32>, %update: tensor<3xi32>) -> tensor<3xi32> {
  %none = stablehlo.constant dense<> : tensor<0xi32>
  %0 = "stablehlo.scatter"(%x, %none, %update) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0]>, unique_indices = true, indices_are_sorted = true}> ({
  ^bb0(%old: tensor<i32>, %new: tensor<i32>):
    stablehlo.return %new : tensor<i32>
  }) : (tensor<3xi32>, tensor<0xi32>, tensor<3xi32>) -> tensor<3xi32>
  return %0 : tensor<3xi32>
}

// The same inside a loop that is one kernel: x is added twice.
func.func @loop(%x: tensor<2xf32>) -> tensor<2xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %sum = %x) : tensor<i32>, tensor<2xf32>
  cond {
    %two = stablehlo.constant dense<2> : tensor<i32>
    %goesOn = stablehlo.compare LT, %i, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %goesOn : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %more = stablehlo.add %sum, %x : tensor<2xf32>
    %none = stablehlo.constant dense<> : tensor<0xi64>
    %1 = "stablehlo.scatter"(%sum, %none, %more) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0]>, unique_indices = true, indices_are_sorted = true}> ({
    ^bb0(%old: tensor<f32>, %new: tensor<f32>):
      stablehlo.return %new : tensor<f32>
    }) : (tensor<2xf32>, tensor<0xi64>, tensor<2xf32>) -> tensor<2xf32>
    stablehlo.return %next, %1 : tensor<i32>, tensor<2xf32>
  }
  return %0#1 : tensor<2xf32>
}
