// RUN: alula-opt --split-input-file --input-strip-sharding %s | FileCheck %s

// CHECK-LABEL: func.func @one_device
// CHECK-SAME: (%arg0: tensor<4xf32> {jax.buffer_donor = true}) -> tensor<4xf32>
func.func @one_device(%x: tensor<4xf32> {mhlo.sharding = "{replicated}",
                                         jax.buffer_donor = true})
    -> (tensor<4xf32> {mhlo.sharding = "{replicated}"}) {
  // CHECK-NOT: Sharding
  %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{replicated}"}
      : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: return %arg0
  return %0 : tensor<4xf32>
}

// -----

// CHECK: mhlo.num_partitions = 2
module attributes {mhlo.num_partitions = 2 : i32} {
  // CHECK-LABEL: func.func @two_devices
  func.func @two_devices(%x: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK: custom_call @Sharding
    %0 = stablehlo.custom_call @Sharding(%x)
        {mhlo.sharding = "{devices=[2]0,1}"} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// Where a value lies means nothing either.

// CHECK-LABEL: func.func @places
// CHECK-SAME: (%[[A:.*]]: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT: return %[[A]]
func.func @places(%a: tensor<4xf32>)
    -> (tensor<4xf32> {mhlo.memory_kind = "pinned_host"}) {
  %0 = stablehlo.custom_call @annotate_device_placement(%a) {
    backend_config = "", has_side_effect = true,
    mhlo.frontend_attributes = {_xla_buffer_placement = "pinned_host"}}
    : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// What layout a value has means nothing inside; that of arguments and results
// is for the partition room.

// CHECK-LABEL: func.func @layouts
// CHECK-SAME: (%[[A:.*]]: tensor<4x2xf32> {mhlo.layout_mode = "{0,1}"})
// CHECK-NEXT: return %[[A]]
func.func @layouts(%a: tensor<4x2xf32> {mhlo.layout_mode = "{0,1}"})
    -> tensor<4x2xf32> {
  %0 = stablehlo.custom_call @LayoutConstraint(%a) {
    operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
    result_layouts = [dense<[0, 1]> : tensor<2xindex>]}
    : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
