// RUN: alula-opt %s --allow-unregistered-dialect > %t
// RUN: FileCheck %s < %t
// RUN: alula-opt %t --allow-unregistered-dialect | diff %t -
// RUN: alula-opt %s --allow-unregistered-dialect --mlir-print-op-generic \
// RUN:   | alula-opt - --allow-unregistered-dialect | diff %t -

// CHECK: sdy.mesh @mesh = <["a"=2, "b"=4, "c"=2]>
sdy.mesh @mesh = <["a"=2, "b"=4, "c"=2]>
// CHECK: sdy.mesh @order = <["a"=2, "b"=2], device_ids=[0, 2, 1, 3]>
sdy.mesh @order = <["a"=2, "b"=2], device_ids=[0, 2, 1, 3]>
// CHECK: sdy.mesh @reversed = <["a"=2, "b"=4, "c"=2], device_ids=[15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]>
sdy.mesh @reversed = <["a"=2, "b"=4, "c"=2], device_ids=[15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]>
// CHECK: sdy.mesh @one = <[], device_ids=[3]>
sdy.mesh @one = <[], device_ids=[3]>
// CHECK: sdy.mesh @none = <[]>
sdy.mesh @none = <[]>
// CHECK-LABEL: func.func @shardings
func.func @shardings(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b":(1)2, ?}p1], replicated={"b":(2)2}>}, %arg1: tensor<f32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [], unreduced={"x"}>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}]>}) {
  // CHECK: sdy.sharding_constraint {{%.*}} <@mesh, [{"a", "b"}, {?}], replicated={"c"}> : tensor<8x8xf32>
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{"a", "b"}, {?}], replicated={"c"}> : tensor<8x8xf32>
  // CHECK: sdy.reshard {{%.*}} <@order, [{}, {}]> : tensor<8x8xf32>
  %1 = sdy.reshard %0 <@order, [{}, {}]> : tensor<8x8xf32>
  // CHECK: sdy.sharding_group {{%.*}} group_id=21 : tensor<8x8xf32>
  sdy.sharding_group %1 group_id=21 : tensor<8x8xf32>
  // CHECK: sdy.propagation_barrier {{%.*}} allowed_direction=FORWARD : tensor<8x8xf32>
  %2 = sdy.propagation_barrier %1 allowed_direction=FORWARD : tensor<8x8xf32>
  // CHECK: sdy.constant dense<1.000000e+00> : tensor<8x8xf32>
  %3 = sdy.constant dense<1.000000e+00> : tensor<8x8xf32>
  // CHECK: sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} dense<0> : tensor<8x8xi32>
  %4 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} dense<0> : tensor<8x8xi32>
  "t.op"(%2) {sdy.sharding = #sdy.sharding_per_value<[<@one, []>]>} : (tensor<8x8xf32>) -> ()
  %5:2 = "t.op"(%2) {sdy.sharding = #sdy.sharding_per_value<[<@none, [{?}]>, <@mesh, []>]>} : (tensor<8x8xf32>) -> (tensor<4xf32>, tensor<f32>)
  return %2 : tensor<8x8xf32>
}
// CHECK-LABEL: func.func @rules
func.func @rules(%arg0: tensor<8x8xf32>, %arg1: tensor<8x16xf32>) {
  %0 = "t.dot"(%arg0, %arg1) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=8, j=16, k=8} reduction={k}>} : (tensor<8x8xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = "t.r"(%arg0) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([ij]) {i=8, j=8} permutation={i} blocked_propagation={i, j}, custom>} : (tensor<8x8xf32>) -> tensor<64xf32>
  %2 = "t.add"(%arg0) {sdy.propagation_edges = #sdy.propagation_edges<[{step-2 = [{"a" = operand-0 -> [result-0]}]}, {step-0 = [{"b" = result-0 -> [operand-0]}]}]>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {"b"}]>]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}
// CHECK-LABEL: func.func @manual
func.func @manual(%arg0: tensor<16x32xf32>, %arg1: tensor<f32>) -> tensor<16x32xf32> {
  // CHECK: sdy.manual_computation
  %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"a"}, {"b"}]>, <@mesh, []>] out_shardings=[<@mesh, [{"a"}, {"b", ?}], replicated={"c"}>] manual_axes={"a", "b"} (%arg2: tensor<8x8xf32>, %arg3: tensor<f32>) {
  // CHECK: sdy.manual_computation
    %1 = sdy.manual_computation(%arg2) in_shardings=[<@mesh, [{"c"}, {}]>] out_shardings=[<@mesh, [{"c"}, {}]>] manual_axes={"c"} (%arg4: tensor<4x8xf32>) {
      sdy.return %arg4 : tensor<4x8xf32>
    } : (tensor<8x8xf32>) -> tensor<8x8xf32>
    sdy.return %1 : tensor<8x8xf32>
  } : (tensor<16x32xf32>, tensor<f32>) -> tensor<16x32xf32>
  // CHECK: sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {
    sdy.return
  } : () -> ()
  // CHECK: sdy.named_computation<"foo">
  %1 = sdy.named_computation<"foo">(%0) in_shardings=[<@mesh, [{}, {"a"}]>] out_shardings=[<@mesh, [{"b"}, {?}]>] (%arg2: tensor<16x32xf32>) {
    sdy.return %arg2 : tensor<16x32xf32>
  } : (tensor<16x32xf32>) -> tensor<16x32xf32>
  // CHECK: sdy.data_flow_edge {{%.*}} sharding=<@mesh, [{"b"}, {}]> : tensor<16x32xf32>
  %2 = sdy.data_flow_edge %1 sharding=<@mesh, [{"b"}, {}]> : tensor<16x32xf32>
  %3 = "t.op"() : () -> tensor<2xf32>
  // CHECK: sdy.data_flow_edge {{%.*}} : tensor<2xf32>
  %4 = sdy.data_flow_edge %3 : tensor<2xf32>
  return %2 : tensor<16x32xf32>
}
// CHECK-LABEL: func.func @collectives
func.func @collectives(%arg0: tensor<16x16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b"}, {"c"}, {}]>}, %arg1: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"c"}, {}], unreduced={"a", "b"}>}) {
  // CHECK: sdy.all_gather [{"b":(2)2}, {"c"}, {}] {{%.*}} out_sharding=<@mesh, [{"a", "b":(1)2}, {}, {}]> : tensor<16x16x16xf32>
  %0 = sdy.all_gather [{"b":(2)2}, {"c"}, {}] %arg0 out_sharding=<@mesh, [{"a", "b":(1)2}, {}, {}]> : tensor<16x16x16xf32>
  // CHECK: sdy.all_slice [{"b":(2)2}, {}, {"c"}] {{%.*}} out_sharding=<@mesh, [{"a", "b"}, {}, {"c"}]> : tensor<16x16x16xf32>
  %1 = sdy.all_slice [{"b":(2)2}, {}, {"c"}] %0 out_sharding=<@mesh, [{"a", "b"}, {}, {"c"}]> : tensor<16x16x16xf32>
  // CHECK: sdy.all_to_all [{"b"}: 0->1] {{%.*}} out_sharding=<@mesh, [{"a"}, {"b"}, {"c"}]> : tensor<16x16x16xf32>
  %2 = sdy.all_to_all [{"b"}: 0->1] %1 out_sharding=<@mesh, [{"a"}, {"b"}, {"c"}]> : tensor<16x16x16xf32>
  // CHECK: sdy.collective_permute {{%.*}} out_sharding=<@mesh, [{"c"}, {"b"}, {"a"}]> : tensor<16x16x16xf32>
  %3 = sdy.collective_permute %2 out_sharding=<@mesh, [{"c"}, {"b"}, {"a"}]> : tensor<16x16x16xf32>
  // CHECK: sdy.all_reduce {"a", "b"} {{%.*}} out_sharding=<@mesh, [{"c"}, {}]> : tensor<16x16xf32>
  %4 = sdy.all_reduce {"a", "b"} %arg1 out_sharding=<@mesh, [{"c"}, {}]> : tensor<16x16xf32>
  // CHECK: sdy.reduce_scatter [{}, {"a", "b"}] {{%.*}} out_sharding=<@mesh, [{"c"}, {"a", "b"}]> : tensor<16x16xf32>
  %5 = sdy.reduce_scatter [{}, {"a", "b"}] %arg1 out_sharding=<@mesh, [{"c"}, {"a", "b"}]> : tensor<16x16xf32>
  // CHECK: sdy.sharded_to_unreduced [{}, {"b"}] {{%.*}} out_sharding=<@mesh, [{"c"}, {"a"}], unreduced={"b"}> : tensor<16x16xf32>
  %6 = sdy.sharded_to_unreduced [{}, {"b"}] %5 out_sharding=<@mesh, [{"c"}, {"a"}], unreduced={"b"}> : tensor<16x16xf32>
  // CHECK: sdy.replicated_to_unreduced {"a"} {{%.*}} out_sharding=<@mesh, [{"c"}, {}], unreduced={"a"}> : tensor<16x16xf32>
  %7 = sdy.replicated_to_unreduced {"a"} %4 out_sharding=<@mesh, [{"c"}, {}], unreduced={"a"}> : tensor<16x16xf32>
  // CHECK: sdy.collective_permute {{%.*}} out_sharding=<@reversed, [{"c"}, {"b"}, {"a"}]> : tensor<16x16x16xf32>
  %8 = sdy.collective_permute %3 out_sharding=<@reversed, [{"c"}, {"b"}, {"a"}]> : tensor<16x16x16xf32>
  return
}

func.func private @callee(tensor<2xf32>) -> tensor<2xf32>
// CHECK-LABEL: func.func @edges
func.func @edges(%arg0: tensor<2xf32>) {
  // CHECK: sdy.func_data_flow_edge {{%.*}} : tensor<2xf32>
  %0 = sdy.func_data_flow_edge %arg0 : tensor<2xf32>
  %1 = call @callee(%0) : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: sdy.func_data_flow_edge {{%.*}} : tensor<2xf32>
  %2 = sdy.func_data_flow_edge %1 : tensor<2xf32>
  return
}
