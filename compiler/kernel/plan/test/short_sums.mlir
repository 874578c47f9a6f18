// RUN: alula-compile %s --target=cpu:x86-64-v3 --compile-to=plan -o - | FileCheck %s

// Products with few terms are maps, and their factors too: what an element of the
// last dimension needs its neighbours need, so these are unrolled.
// CHECK-LABEL: func.func @chain_
// CHECK: stablehlo.tanh {{.*}}#plan.stage<inline>
// CHECK: stablehlo.dot_general {{.*}}#plan.stage<inline>
// CHECK: stablehlo.dot_general {{.*}}#plan.stage<inline, tile = [1, 1, 5], way = elements>
func.func @chain(%x: tensor<500x24x3xf32>, %y: tensor<500x3x5xf32>, %z: tensor<500x5x5xf32>) -> tensor<500x24x5xf32> {
  %0 = stablehlo.tanh %x : tensor<500x24x3xf32>
  %1 = stablehlo.dot_general %0, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<500x24x3xf32>, tensor<500x3x5xf32>) -> tensor<500x24x5xf32>
  %2 = stablehlo.dot_general %1, %z, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<500x24x5xf32>, tensor<500x5x5xf32>) -> tensor<500x24x5xf32>
  return %2 : tensor<500x24x5xf32>
}

// All rows need the right side: it is computed before, by a kernel of its own.
// CHECK-LABEL: func.func @rows_
// CHECK: stablehlo.tanh
// CHECK-NOT: stablehlo.dot_general
// CHECK-LABEL: func.func @rows_
// CHECK-NOT: stablehlo.tanh
// CHECK: stablehlo.dot_general {{.*}}#plan.stage<inline, tile = [1, 1, 5], way = elements>
func.func @rows(%x: tensor<500x240x3xf32>, %y: tensor<500x3x5xf32>) -> tensor<500x240x5xf32> {
  %0 = stablehlo.tanh %y : tensor<500x3x5xf32>
  %1 = stablehlo.dot_general %x, %0, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<500x240x3xf32>, tensor<500x3x5xf32>) -> tensor<500x240x5xf32>
  return %1 : tensor<500x240x5xf32>
}

// One sum for each matrix of the batch, and what follows.
// CHECK-LABEL: func.func @dots_
// CHECK: stablehlo.dot_general {{.*}}#plan.stage<inline
// CHECK: stablehlo.exponential {{.*}}#plan.stage<inline
func.func @dots(%x: tensor<900x24x3xf32>, %y: tensor<3x900x24xf32>) -> tensor<900x24xf32> {
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0, 1] x [1, 2], contracting_dims = [2] x [0] : (tensor<900x24x3xf32>, tensor<3x900x24xf32>) -> tensor<900x24xf32>
  %1 = stablehlo.exponential %0 : tensor<900x24xf32>
  return %1 : tensor<900x24xf32>
}

// Many terms, and many rows and columns, are a product.
// CHECK-LABEL: func.func @product_
// CHECK: stablehlo.dot_general {{.*}}#plan.stage<product
// CHECK-LABEL: func.func @flat_
// CHECK: stablehlo.dot_general {{.*}}#plan.stage<product
func.func @product(%x: tensor<900x30xf32>, %y: tensor<30x4xf32>) -> tensor<900x4xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<900x30xf32>, tensor<30x4xf32>) -> tensor<900x4xf32>
  return %0 : tensor<900x4xf32>
}
func.func @flat(%x: tensor<900x4xf32>, %y: tensor<4x900xf32>) -> tensor<900x900xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<900x4xf32>, tensor<4x900xf32>) -> tensor<900x900xf32>
  return %0 : tensor<900x900xf32>
}
