// Sums of what lies in memory are calls of the library; short ones, and those
// of what is computed, are loops.
// RUN: alula-compile %s --compile-to=kernel -o - | FileCheck %s
// RUN: alula-compile %s --target=cpu:host -o %t.alula
// RUN: alula-run %t.alula --function=rows --input=100x700xf32=0.5 --expected_output=100xf32=350
// RUN: alula-run %t.alula --function=several --input=7x9x80xf64=0.25 --expected_output=7xf64=181.5
// RUN: alula-run %t.alula --function=columns --input=10000x3xf32=0.125 --expected_output=3xf32=1250,1250,1250
// RUN: alula-run %t.alula --function=middle --input=2x40x70xf32=1.0 --expected_output=2x70xf32=40

module {
// Rows in blocks that are worth a call.
// CHECK-LABEL: func.func @rows_0
// CHECK-DAG: %[[ROW:.+]] = arith.constant 700 : i64
// CHECK: scf.parallel
// CHECK-NOT: scf.for
// CHECK: call @alula_sum_rows_f32({{.*}}, %[[ROW]], {{.*}}, %[[ROW]], {{.*}})
func.func @rows(%x: tensor<100x700xf32>) -> tensor<100xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<100x700xf32>, tensor<f32>) -> tensor<100xf32>
  return %0 : tensor<100xf32>
}

// Neighbouring dimensions are one.
// CHECK-LABEL: func.func @several_1
// CHECK-DAG: arith.constant 720 : i64
// CHECK: call @alula_sum_rows_f64(
func.func @several(%x: tensor<7x9x80xf64>) -> tensor<7xf64> {
  %z = stablehlo.constant dense<1.5> : tensor<f64>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1, 2] : (tensor<7x9x80xf64>, tensor<f64>) -> tensor<7xf64>
  return %0 : tensor<7xf64>
}

// CHECK-LABEL: func.func @columns_2
// CHECK-SAME: memref<8192xi8>
// CHECK: call @alula_sum_columns_f32(
func.func @columns(%x: tensor<10000x3xf32>) -> tensor<3xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<10000x3xf32>, tensor<f32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: func.func @middle_3
// CHECK: call @alula_sum_columns_f32(
func.func @middle(%x: tensor<2x40x70xf32>) -> tensor<2x70xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<2x40x70xf32>, tensor<f32>) -> tensor<2x70xf32>
  return %0 : tensor<2x70xf32>
}

// CHECK-LABEL: func.func @short_4
// CHECK-NOT: @alula_sum
// CHECK-LABEL: func.func @computed_5
// CHECK-NOT: @alula_sum
func.func @short(%x: tensor<100x16xf32>) -> tensor<100xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<100x16xf32>, tensor<f32>) -> tensor<100xf32>
  return %0 : tensor<100xf32>
}
func.func @computed(%x: tensor<100x700xf32>) -> tensor<100xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %y = stablehlo.abs %x : tensor<100x700xf32>
  %0 = stablehlo.reduce(%y init: %z) applies stablehlo.add across dimensions = [1] : (tensor<100x700xf32>, tensor<f32>) -> tensor<100xf32>
  return %0 : tensor<100xf32>
}
}
