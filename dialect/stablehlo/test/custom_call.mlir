// RUN: alula-opt %s | FileCheck %s
// RUN: alula-opt %s | alula-opt | FileCheck %s
// RUN: alula-opt %s --mlir-print-op-generic | alula-opt | FileCheck %s
// RUN: alula-opt %s --emit=bytecode | alula-opt | FileCheck %s

// CHECK-LABEL: @calls
// CHECK: stablehlo.custom_call @f(%{{.*}}) {backend_config = "opaque", has_side_effect = true} : (tensor<2x3xf32>) -> tensor<*xf32>
// CHECK: stablehlo.custom_call @"a b"() {api_version = 4 : i32, backend_config = {size = 2 : i64}} : () -> (tensor<f32>, !stablehlo.token)
// CHECK: stablehlo.custom_call @nothing(%{{.*}}) : (tuple<tensor<f32>, !stablehlo.token>) -> ()
// CHECK: stablehlo.custom_call @calls_back() {called_computations = [@calls]} : () -> ()
func.func @calls(%x: tensor<2x3xf32>, %y: tuple<tensor<f32>, !stablehlo.token>) {
  %0 = stablehlo.custom_call @f(%x) {backend_config = "opaque", has_side_effect = true} : (tensor<2x3xf32>) -> tensor<*xf32>
  %1:2 = stablehlo.custom_call @"a b"() {api_version = 4 : i32, backend_config = {size = 2 : i64}} : () -> (tensor<f32>, !stablehlo.token)
  stablehlo.custom_call @nothing(%y) : (tuple<tensor<f32>, !stablehlo.token>) -> ()
  stablehlo.custom_call @calls_back() {called_computations = [@calls]} : () -> ()
  return
}

// The layouts of the results are those of the elements of a single tuple.
// CHECK-LABEL: @with_layouts
// CHECK: operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]
// CHECK-SAME: result_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<> : tensor<0xindex>]
// CHECK: result_tilings = {{\[\[}}dense<[8, 128]> : tensor<2xindex>]]
func.func @with_layouts(%x: tensor<2x3xf32>, %t: !stablehlo.token) {
  %0 = stablehlo.custom_call @f(%x, %t) {
    operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>],
    result_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<> : tensor<0xindex>]}
      : (tensor<2x3xf32>, !stablehlo.token) -> tuple<tensor<4x5xf32>, tensor<f32>>
  %1 = stablehlo.custom_call @f(%x) {result_tilings = [[dense<[8, 128]> : tensor<2xindex>]]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// CHECK-LABEL: @with_aliases
// CHECK: output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [1], operand_index = 0, operand_tuple_indices = [0]>]
// CHECK: output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]
func.func @with_aliases(%x: tuple<tensor<2xf32>>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %0:2 = stablehlo.custom_call @f(%x) {output_operand_aliases = [
    #stablehlo.output_operand_alias<output_tuple_indices = [1], operand_index = 0, operand_tuple_indices = [0]>]}
      : (tuple<tensor<2xf32>>) -> (tensor<f32>, tensor<2xf32>)
  %1 = stablehlo.custom_call @Pin(%y) : (tensor<2xf32>) -> memref<2xf32>
  %2 = stablehlo.custom_call @update(%1) {output_operand_aliases = [
    #stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]}
      : (memref<2xf32>) -> memref<2xf32>
  %3 = stablehlo.custom_call @Unpin(%2) : (memref<2xf32>) -> tensor<2xf32>
  return %3 : tensor<2xf32>
}

func.func private @twice(tensor<f32>) -> tensor<f32>

// CHECK-LABEL: @composites
// CHECK: stablehlo.composite "my.twice" %{{.*}} {composite_attributes = {kind = "exact"}, decomposition = @twice, version = 3 : i32} : (tensor<f32>) -> tensor<f32>
// CHECK: stablehlo.composite "my.sub.$op" %{{.*}} {decomposition = @twice} : (tensor<f32>) -> tensor<f32>
func.func @composites(%x: tensor<f32>) {
  %0 = stablehlo.composite "my.twice" %x {composite_attributes = {kind = "exact"}, decomposition = @twice, version = 3 : i32}
      : (tensor<f32>) -> tensor<f32>
  %1 = stablehlo.composite "my.sub.$op" %x {decomposition = @twice} : (tensor<f32>) -> tensor<f32>
  return
}
