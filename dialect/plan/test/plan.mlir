// RUN: alula-opt %s | alula-opt | FileCheck %s

// CHECK: func.func @exact(%arg0: tensor<4xf32>) -> tensor<4xf32> attributes {plan.grid = #plan.grid<workgroups = 8>}
// CHECK: {plan.stage = #plan.stage<inline>}
// CHECK: {plan.stage = #plan.stage<map 0, space = [4]>}
func.func @exact(%x: tensor<4xf32>) -> tensor<4xf32> attributes {plan.grid = #plan.grid<workgroups = 8>} {
  %0 = stablehlo.abs %x {plan.stage = #plan.stage<inline>} : tensor<4xf32>
  %1 = stablehlo.abs %0 {plan.stage = #plan.stage<map 0, space = [4]>} : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK: plan.grid = #plan.grid<most = 64, steps = 32768>
// CHECK: #plan.stage<product 1, space = [1, ?, 16, 512], tile = [256, 16]>
// CHECK: #plan.stage<epilogue 1>
func.func @rule(%x: tensor<?x512xf32>, %w: tensor<512x16xf32>) -> tensor<?x16xf32> attributes {plan.grid = #plan.grid<most = 64, steps = 32768>} {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {plan.stage = #plan.stage<product 1, space = [1, ?, 16, 512], tile = [256, 16]>} : (tensor<?x512xf32>, tensor<512x16xf32>) -> tensor<?x16xf32>
  %1 = stablehlo.abs %0 {plan.stage = #plan.stage<epilogue 1>} : tensor<?x16xf32>
  return %1 : tensor<?x16xf32>
}

// CHECK: #plan.stage<rows 0, space = [2, 3], memory = value, fused>
// CHECK: #plan.stage<rows 1, parts = 16, terms = 1024>
// CHECK: #plan.stage<sort 2, space = [9], way = digits>
// CHECK: #plan.stage<scatter 3, way = ordered>
// CHECK: #plan.stage<inline, tile = [4, 8], way = blocks>
// CHECK: #plan.stage<map 4, space = [9], way = elements>
// CHECK: #plan.stage<map 5, space = [9, 3], tile = [1, 3], way = elements>
func.func private @words() attributes {
  a = #plan.stage<rows 0, space = [2, 3], fused, memory = value>,
  b = #plan.stage<rows 1, terms = 1024, parts = 16>,
  c = #plan.stage<sort 2, way = digits, space = [9]>,
  d = #plan.stage<scatter 3, way = ordered>,
  e = #plan.stage<inline, way = blocks, tile = [4, 8]>,
  f = #plan.stage<map 4, way = elements, space = [9]>,
  g = #plan.stage<map 5, way = elements, space = [9, 3], tile = [1, 3]>}
