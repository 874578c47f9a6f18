// What a machine is decides what shares a kernel, and how constants lie.
// RUN: alula-opt %s -dispatch-pack-weights=min-elements=64 -dispatch-form-kernels | FileCheck %s --check-prefixes=ALL,PORTABLE
// RUN: sed 's/^module/module attributes {dispatch.machine = #dispatch.machine<cpu, launch_steps = 0>}/' %s | alula-opt -dispatch-pack-weights=min-elements=64 -dispatch-form-kernels | FileCheck %s --check-prefixes=ALL,CHEAP
// RUN: sed 's/^module/module attributes {dispatch.machine = #dispatch.machine<cpu, kernel_ops = 1>}/' %s | alula-opt -dispatch-pack-weights=min-elements=64 -dispatch-form-kernels | FileCheck %s --check-prefixes=ALL,ONE
// RUN: sed 's/^module/module attributes {dispatch.machine = #dispatch.machine<cpu, panel_bytes = 64, l2_bytes = 8192>}/' %s | alula-opt -dispatch-pack-weights=min-elements=64 -dispatch-form-kernels | FileCheck %s --check-prefixes=ALL,NARROW
// RUN: sed 's/^module/module attributes {dispatch.machine = #dispatch.machine<cpu, panel_bytes = 0, cores = 256>}/' %s | alula-opt -dispatch-pack-weights=min-elements=64 -dispatch-form-kernels | FileCheck %s --check-prefixes=ALL,WIDE

module {
// Two that are small share a kernel where launches cost something.
// ALL-LABEL: func.func @small
// PORTABLE-COUNT-1: dispatch.launch
// PORTABLE-NOT: dispatch.launch
// CHEAP-COUNT-2: dispatch.launch
// ONE-COUNT-2: dispatch.launch
func.func @small(%x: tensor<8xf32>, %y: tensor<9xf32>) -> (tensor<8xf32>, tensor<9xf32>) {
  %0 = stablehlo.add %x, %x : tensor<8xf32>
  %1 = stablehlo.add %y, %y : tensor<9xf32>
  return %0, %1 : tensor<8xf32>, tensor<9xf32>
}

// Rows that stay in the cache, enough of them for all cores, are read once.
// ALL-LABEL: func.func @rows
// PORTABLE-COUNT-1: dispatch.launch
// PORTABLE-NOT: dispatch.launch
// NARROW-COUNT-2: dispatch.launch
// WIDE-COUNT-2: dispatch.launch
func.func @rows(%x: tensor<64x4096xf32>) -> tensor<64x4096xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x4096xf32>, tensor<f32>) -> tensor<64xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<64xf32>) -> tensor<64x4096xf32>
  %2 = stablehlo.divide %x, %1 : tensor<64x4096xf32>
  return %2 : tensor<64x4096xf32>
}

// ALL-LABEL: func.func @weights
// PORTABLE: stablehlo.constant {{.*}} : tensor<2x2x32xf32>
// NARROW: stablehlo.constant {{.*}} : tensor<3x2x16xf32>
// WIDE: stablehlo.constant {{.*}} : tensor<2x40xf32>
func.func @weights(%x: tensor<256x2xf32>) -> tensor<256x40xf32> {
  %w = stablehlo.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0, 25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0, 33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0], [40.0, 41.0, 42.0, 43.0, 44.0, 45.0, 46.0, 47.0, 48.0, 49.0, 50.0, 51.0, 52.0, 53.0, 54.0, 55.0, 56.0, 57.0, 58.0, 59.0, 60.0, 61.0, 62.0, 63.0, 64.0, 65.0, 66.0, 67.0, 68.0, 69.0, 70.0, 71.0, 72.0, 73.0, 74.0, 75.0, 76.0, 77.0, 78.0, 79.0]]> : tensor<2x40xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<256x2xf32>, tensor<2x40xf32>) -> tensor<256x40xf32>
  return %0 : tensor<256x40xf32>
}
}
