// RUN: alula-compile %s --target=cpu:x86-64-v3 --compile-to=plan -o - | FileCheck %s
// RUN: alula-compile %s --target=cuda:sm_80 --compile-to=plan -o - | FileCheck %s --check-prefix=GPU

// What is read once has no memory; the kernel's grid is a rule.
// CHECK-LABEL: func.func @map_{{.*}}plan.grid = #plan.grid<most = {{.*}}, steps = {{.*}}>
// CHECK: stablehlo.abs {{.*}}#plan.stage<inline>
// CHECK: stablehlo.exponential {{.*}}#plan.stage<inline>
func.func @map(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = stablehlo.abs %x : tensor<64x64xf32>
  %1 = stablehlo.exponential %0 : tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}

// A product with what follows each of its blocks.
// CHECK-LABEL: func.func @product_
// CHECK: stablehlo.dot_general {{.*}}#plan.stage<product 0, space = [1, 512, 512, 256], tile = [256, 64]>
// CHECK: stablehlo.add {{.*}}#plan.stage<epilogue 0>
// CHECK: stablehlo.maximum {{.*}}#plan.stage<epilogue 0>
func.func @product(%x: tensor<512x256xf32>, %w: tensor<256x512xf32>, %b: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<512x512xf32>
  %0 = stablehlo.dot %x, %w : (tensor<512x256xf32>, tensor<256x512xf32>) -> tensor<512x512xf32>
  %1 = stablehlo.add %0, %b : tensor<512x512xf32>
  %2 = stablehlo.maximum %1, %zero : tensor<512x512xf32>
  return %2 : tensor<512x512xf32>
}

// One loop over rows: exponentials are kept, and summed up where they are written.
// CHECK-LABEL: func.func @softmax_
// CHECK: stablehlo.reduce({{.*}}#plan.stage<rows 0, space = [128, 512], memory = value>
// CHECK: stablehlo.exponential {{.*}}#plan.stage<rows 0, space = [128, 512], memory = row>
// CHECK: stablehlo.reduce({{.*}}#plan.stage<rows 0, space = [128, 512], memory = value, fused>
// CHECK: stablehlo.divide {{.*}}#plan.stage<rows 0, space = [128, 512], memory = whole>
// Lanes that share a row keep what is theirs.
// GPU-LABEL: func.func @softmax_
// GPU: stablehlo.reduce({{.*}}#plan.stage<rows 0, space = [128, 512], memory = value>
// GPU: stablehlo.exponential {{.*}}#plan.stage<rows 0, space = [128, 512], memory = row>
// GPU: stablehlo.reduce({{.*}}#plan.stage<rows 0, space = [128, 512], memory = value, fused>
// GPU: stablehlo.divide {{.*}}#plan.stage<rows 0, space = [128, 512], memory = whole>
func.func @softmax(%x: tensor<128x512xf32>) -> tensor<128x512xf32> {
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%x init: %least) applies stablehlo.maximum across dimensions = [1] : (tensor<128x512xf32>, tensor<f32>) -> tensor<128xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<128xf32>) -> tensor<128x512xf32>
  %s = stablehlo.subtract %x, %mb : tensor<128x512xf32>
  %e = stablehlo.exponential %s : tensor<128x512xf32>
  %t = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<128x512xf32>, tensor<f32>) -> tensor<128xf32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<128xf32>) -> tensor<128x512xf32>
  %r = stablehlo.divide %e, %tb : tensor<128x512xf32>
  return %r : tensor<128x512xf32>
}

// A transpose of memory is a copy by blocks; of what no cache holds, by strips.
// CHECK-LABEL: func.func @blocks_
// CHECK: stablehlo.transpose {{.*}}#plan.stage<inline, tile = [64, 64], way = blocks>
func.func @blocks(%x: tensor<300x260xf32>) -> tensor<260x300xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<300x260xf32>) -> tensor<260x300xf32>
  return %0 : tensor<260x300xf32>
}

// CHECK-LABEL: func.func @strips_
// CHECK: stablehlo.transpose {{.*}}#plan.stage<inline, tile = [1, 64, 1024], way = strips>
func.func @strips(%x: tensor<2x8192x8192xf32>) -> tensor<2x8192x8192xf32> {
  %0 = stablehlo.transpose %x, dims = [0, 2, 1] : (tensor<2x8192x8192xf32>) -> tensor<2x8192x8192xf32>
  return %0 : tensor<2x8192x8192xf32>
}

// What reads across rows is written in tiles: through elementwise ops, and where
// several tensors share a loop. Few elements, and rows that stay rows, are not.
// CHECK-LABEL: func.func @tiles_
// CHECK: stablehlo.transpose {{.*}}#plan.stage<inline>
// CHECK: stablehlo.select {{.*}}#plan.stage<inline, tile = [64, 64], way = tiles>
func.func @tiles(%p: tensor<260x300xi1>, %x: tensor<300x260xf32>, %y: tensor<260x300xf32>) -> tensor<260x300xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<300x260xf32>) -> tensor<260x300xf32>
  %1 = stablehlo.select %p, %0, %y : tensor<260x300xi1>, tensor<260x300xf32>
  return %1 : tensor<260x300xf32>
}

// CHECK-LABEL: func.func @two_
// CHECK: stablehlo.transpose {{.*}}#plan.stage<inline, tile = [64, 64], way = tiles>
// CHECK: stablehlo.negate {{.*}}#plan.stage<inline, tile = [64, 64], way = tiles>
func.func @two(%x: tensor<40x128xf32>) -> (tensor<128x40xf32>, tensor<128x40xf32>) {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<40x128xf32>) -> tensor<128x40xf32>
  %1 = stablehlo.negate %0 : tensor<128x40xf32>
  return %0, %1 : tensor<128x40xf32>, tensor<128x40xf32>
}

// CHECK-LABEL: func.func @few_
// CHECK: stablehlo.transpose {{.*}}#plan.stage<inline>
func.func @few(%x: tensor<30x20xf32>) -> tensor<20x30xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<30x20xf32>) -> tensor<20x30xf32>
  return %0 : tensor<20x30xf32>
}

// CHECK-LABEL: func.func @slices_
// CHECK: stablehlo.transpose {{.*}}#plan.stage<inline>
func.func @slices(%x: tensor<30x20x600xf32>) -> tensor<20x30x600xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0, 2] : (tensor<30x20x600xf32>) -> tensor<20x30x600xf32>
  return %0 : tensor<20x30x600xf32>
}

// Sums are cut; columns are taken in blocks.
// CHECK-LABEL: func.func @rows_
// CHECK: #plan.stage<rows 0, space = [4, 5000], terms = 1024>
func.func @rows(%x: tensor<4x5000xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x5000xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @columns_
// CHECK: #plan.stage<columns 0, space = [2000, 19], tile = [512, 8]>
func.func @columns(%x: tensor<19x2000xf32>) -> tensor<2000xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<19x2000xf32>, tensor<f32>) -> tensor<2000xf32>
  return %0 : tensor<2000xf32>
}

// Rows of fewer elements than lanes, and few that are long, share no loop; those
// that are longer than what lanes keep are computed again.
// GPU-LABEL: func.func @short_rows_
// GPU-NOT: memory =
// GPU-LABEL: func.func @few_long_rows_
// GPU-NOT: memory =
// GPU-LABEL: func.func @long_rows_
// GPU: stablehlo.exponential {{.*}}#plan.stage<rows 0, space = [2048, 4096], memory = again>
func.func @short_rows(%x: tensor<128x16xf32>) -> tensor<128x16xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<128x16xf32>
  %t = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<128x16xf32>, tensor<f32>) -> tensor<128xf32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<128xf32>) -> tensor<128x16xf32>
  %r = stablehlo.divide %e, %tb : tensor<128x16xf32>
  return %r : tensor<128x16xf32>
}
func.func @few_long_rows(%x: tensor<2x4096xf32>) -> tensor<2x4096xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<2x4096xf32>
  %t = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x4096xf32>, tensor<f32>) -> tensor<2xf32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<2xf32>) -> tensor<2x4096xf32>
  %r = stablehlo.divide %e, %tb : tensor<2x4096xf32>
  return %r : tensor<2x4096xf32>
}
func.func @long_rows(%x: tensor<2048x4096xf32>) -> tensor<2048x4096xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<2048x4096xf32>
  %t = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2048x4096xf32>, tensor<f32>) -> tensor<2048xf32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<2048xf32>) -> tensor<2048x4096xf32>
  %r = stablehlo.divide %e, %tb : tensor<2048x4096xf32>
  return %r : tensor<2048x4096xf32>
}

// The same loop over rows whose sizes only the call knows.
// CHECK-LABEL: func.func @rows_of_any_size_
// CHECK: stablehlo.exponential {{.*}}#plan.stage<rows 0, space = [?, ?], memory = row>
// CHECK: stablehlo.reduce({{.*}}#plan.stage<rows 0, space = [?, ?], memory = value, fused>
// CHECK: stablehlo.divide {{.*}}#plan.stage<rows 0, space = [?, ?], memory = whole>
func.func @rows_of_any_size(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
  %c = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
  %r1 = stablehlo.reshape %r : (tensor<i32>) -> tensor<1xi32>
  %c1 = stablehlo.reshape %c : (tensor<i32>) -> tensor<1xi32>
  %list = stablehlo.concatenate %r1, %c1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %e = stablehlo.exponential %x : tensor<?x?xf32>
  %t = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
  %tb = stablehlo.dynamic_broadcast_in_dim %t, %list, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  %0 = stablehlo.divide %e, %tb : tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
