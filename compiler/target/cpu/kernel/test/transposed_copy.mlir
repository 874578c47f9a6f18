// RUN: alula-compile --target=cpu:host %s --compile-to=kernel -o - | FileCheck %s

// CHECK-LABEL: func.func @blocks_{{[0-9]+}}(
// CHECK: scf.parallel
// CHECK: call @alula_transpose_32
func.func @blocks(%x: tensor<300x500xf32>) -> tensor<500x300xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<300x500xf32>) -> tensor<500x300xf32>
  return %0 : tensor<500x300xf32>
}

// More than caches should hold.
// CHECK-LABEL: func.func @strips_{{[0-9]+}}(
// CHECK: scf.parallel
// CHECK: call @alula_transpose_strip_16
func.func @strips(%x: tensor<3x1111x777xbf16>) -> tensor<777x3x1111xbf16> {
  %0 = stablehlo.transpose %x, dims = [2, 0, 1] : (tensor<3x1111x777xbf16>) -> tensor<777x3x1111xbf16>
  return %0 : tensor<777x3x1111xbf16>
}

// Few rows, short rows.
// CHECK-LABEL: func.func @few_{{[0-9]+}}(
// CHECK: call @alula_transpose_32
func.func @few(%x: tensor<200000x9xf32>) -> tensor<9x200000xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<200000x9xf32>) -> tensor<9x200000xf32>
  return %0 : tensor<9x200000xf32>
}

// CHECK-LABEL: func.func @short_{{[0-9]+}}(
// CHECK: call @alula_transpose_64
func.func @short(%x: tensor<50x20000xcomplex<f32>>) -> tensor<20000x50xcomplex<f32>> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<50x20000xcomplex<f32>>) -> tensor<20000x50xcomplex<f32>>
  return %0 : tensor<20000x50xcomplex<f32>>
}

// CHECK-LABEL: func.func @wide_{{[0-9]+}}(
// CHECK: call @alula_transpose_128
func.func @wide(%x: tensor<64x65xcomplex<f64>>) -> tensor<65x64xcomplex<f64>> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<64x65xcomplex<f64>>) -> tensor<65x64xcomplex<f64>>
  return %0 : tensor<65x64xcomplex<f64>>
}

// Of a size that only the host knows: blocks.
// CHECK-LABEL: func.func @dynamic_{{[0-9]+}}(
// CHECK: call @alula_transpose_32
func.func @dynamic(%x: tensor<?x4000xf32>) -> tensor<4000x?xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<?x4000xf32>) -> tensor<4000x?xf32>
  return %0 : tensor<4000x?xf32>
}

// What is computed from transposes: tiles of them are copied before, each once,
// and read along their rows.
// CHECK-LABEL: func.func @map_{{[0-9]+}}(
// CHECK: scf.parallel
// CHECK: call @alula_transpose_32
// CHECK: call @alula_transpose_8
// CHECK: scf.parallel
// CHECK-NOT: call
// CHECK: return
func.func @map(%x: tensor<500x300xf32>, %y: tensor<500x300xi8>) -> tensor<300x500xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<500x300xf32>) -> tensor<300x500xf32>
  %1 = stablehlo.transpose %y, dims = [1, 0] : (tensor<500x300xi8>) -> tensor<300x500xi8>
  %2 = stablehlo.convert %1 : (tensor<300x500xi8>) -> tensor<300x500xf32>
  %3 = stablehlo.multiply %0, %2 : tensor<300x500xf32>
  %4 = stablehlo.add %3, %0 : tensor<300x500xf32>
  return %4 : tensor<300x500xf32>
}
