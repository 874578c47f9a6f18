// RUN: alula-opt --input-lower-async %s | FileCheck %s

// CHECK-LABEL: func.func @now
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[Y:.*]] = "stablehlo.all_gather"(%[[X]])
// CHECK-NEXT: %[[Z:.*]] = stablehlo.add %[[Y]], %[[X]]
// CHECK-NEXT: return %[[Z]]
func.func @now(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.async_start"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    %1 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
  %2 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
  %3 = stablehlo.add %2, %x : tensor<4xf32>
  return %3 : tensor<4xf32>
}
