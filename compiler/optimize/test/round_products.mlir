// RUN: alula-opt %s -split-input-file -optimize-round-products="bf16-products=true byte-activations=true" | FileCheck %s
// RUN: alula-opt %s -split-input-file -optimize-round-products | FileCheck %s --check-prefix=OFF
// RUN: alula-opt %s -split-input-file -optimize-round-products="tf32-products=true" | FileCheck %s --check-prefix=TF32

// What the program asks for needs no option and is not counted.
// CHECK: module attributes {alula.accuracy = ["bf16-products: 0 of 0", "i8-activations: 0 of 0"]}
// CHECK-LABEL: func.func @algorithm
// OFF-NOT: alula.accuracy
// OFF-LABEL: func.func @algorithm
// OFF: %[[X:.*]] = stablehlo.convert %arg0 : (tensor<2x3xf32>) -> tensor<2x3xbf16>
// OFF: %[[Y:.*]] = stablehlo.convert %arg1 : (tensor<3x4xf32>) -> tensor<3x4xbf16>
// OFF: stablehlo.dot_general %[[X]], %[[Y]], contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x3xbf16>, tensor<3x4xbf16>) -> tensor<2x4xf32>
func.func @algorithm(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

// A sum of three products of bf16 is nearer to one of f32, which is exact enough.
// OFF-LABEL: func.func @three_products
// OFF: stablehlo.dot_general %arg0, %arg1, {{.*}} : (tensor<2x3xf32>, tensor<3x4xf32>)
func.func @three_products(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false> : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

// Those that ask for more stay, and those of other types, and weights of few bits.
// CHECK: module attributes {alula.accuracy = ["bf16-products: 2 of 4", "i8-activations: 1 of 4"]}
// CHECK-LABEL: func.func @products
// CHECK: stablehlo.dot_general {{.*}} : (tensor<2x3xbf16>, tensor<3x4xbf16>) -> tensor<2x4xf32>
// CHECK: stablehlo.dot_general {{.*}} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
// CHECK: stablehlo.dot_general {{.*}} {alula.byte_activations} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
// CHECK: stablehlo.dot_general {{.*}} : (tensor<2x3xf64>, tensor<3x4xf64>) -> tensor<2x4xf64>
// CHECK: stablehlo.convolution({{.*}} : (tensor<1x5x2xbf16>, tensor<3x2x4xbf16>) -> tensor<1x3x4xf32>
// TF32: module attributes {alula.accuracy = ["tf32-products: 1 of 4"]}
// TF32-LABEL: func.func @products
// TF32: stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
// TF32-NOT: algorithm
// OFF-LABEL: func.func @products
// OFF-NOT: bf16
// OFF-NOT: alula.byte_activations
func.func @products(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>, %w: tensor<3x4xi8>, %p: tensor<2x3xf64>, %q: tensor<3x4xf64>, %i: tensor<1x5x2xf32>, %k: tensor<3x2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf64>, tensor<1x3x4xf32>) {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %1 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0], precision = [HIGHEST, DEFAULT] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %v = stablehlo.convert %w : (tensor<3x4xi8>) -> tensor<3x4xf32>
  %2 = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %3 = stablehlo.dot_general %p, %q, contracting_dims = [1] x [0] : (tensor<2x3xf64>, tensor<3x4xf64>) -> tensor<2x4xf64>
  %4 = stablehlo.convolution(%i, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x5x2xf32>, tensor<3x2x4xf32>) -> tensor<1x3x4xf32>
  return %0, %1, %2, %3, %4 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf64>, tensor<1x3x4xf32>
}

// -----

// Products of groups of rows have sums in f32, too; sizes stay as they are.
// CHECK: module attributes {alula.accuracy = ["bf16-products: 1 of 2", "i8-activations: 0 of 2"]}
// CHECK-LABEL: func.func @groups
// CHECK: %[[X:.*]] = stablehlo.convert %arg0 : (tensor<8x4xf32>) -> tensor<8x4xbf16>
// CHECK: %[[W:.*]] = stablehlo.convert %arg1 : (tensor<2x4x3xf32>) -> tensor<2x4x3xbf16>
// CHECK: stablehlo.custom_call @alula.ragged_rows_product(%[[X]], %[[W]], %arg2)
// CHECK: stablehlo.custom_call @alula.ragged_rows_product(%arg0, %arg1, %arg2)
func.func @groups(%x: tensor<8x4xf32>, %w: tensor<2x4x3xf32>, %g: tensor<2xi32>) -> (tensor<8x3xf32>, tensor<8x3xf32>) {
  %0 = stablehlo.custom_call @alula.ragged_rows_product(%x, %w, %g) : (tensor<8x4xf32>, tensor<2x4x3xf32>, tensor<2xi32>) -> tensor<8x3xf32>
  %1 = stablehlo.custom_call @alula.ragged_rows_product(%x, %w, %g) {precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<8x4xf32>, tensor<2x4x3xf32>, tensor<2xi32>) -> tensor<8x3xf32>
  return %0, %1 : tensor<8x3xf32>, tensor<8x3xf32>
}
