// RUN: alula-opt %s | FileCheck %s
// RUN: alula-opt %s | alula-opt | FileCheck %s
// RUN: alula-opt %s --mlir-print-op-generic | alula-opt | FileCheck %s
// RUN: alula-opt %s --emit=bytecode | alula-opt | FileCheck %s

sdy.mesh @mesh = <["x"=4, "y"=2]>

// CHECK-LABEL: @groups_of_a_mesh
// CHECK: replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>
// CHECK: axes = [#stablehlo.axis_ref<name = "y">, #stablehlo.axis_ref<name = "x", sub_axis_info = (2)2>]>
func.func @groups_of_a_mesh(%x: tensor<4x8xf32>) {
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64,
      replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>}>
      : (tensor<4x8xf32>) -> tensor<4x32xf32>
  %1 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64,
      replica_groups = #stablehlo.replica_group_mesh_axes<
        mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "x", size = 4>, #stablehlo.mesh_axis<name = "y", size = 2>]>,
        axes = [#stablehlo.axis_ref<name = "y">, #stablehlo.axis_ref<name = "x", sub_axis_info = (2)2>]>}>
      : (tensor<4x8xf32>) -> tensor<4x32xf32>
  return
}
