// RUN: alula-compile --target=cpu:host %s --compile-to=kernel -o - | FileCheck %s
// RUN: alula-compile --target=cpu:host %s -o %t.alula
// RUN: alula-run %t.alula --function=rows --threads=2 --input=3x4xi32=1,2,3,4,5,6,7,8,9,10,11,12 --output=- | FileCheck %s --check-prefix=FEW
// FEW: 3x4xi32={{\[\[}}2,4,6,8],[10,12,14,16],[18,20,22,24]]
// RUN: alula-run %t.alula --function=rows --threads=2 --input=0x4xi32= --output=- | FileCheck %s --check-prefix=NONE
// NONE: 0x4xi32=
// RUN: alula-run %t.alula --function=sum --threads=2 --input=1000003xi32 --input=1000003xi32 --output=%t.npy --output=- | FileCheck %s --check-prefix=SUM
// SUM: i32=1786293667

// As many workgroups as have rows, none for less than is worth one; what each of
// 64 would get if it is more than that.
// CHECK-LABEL: func.func @rows
// CHECK: %[[SIZE:.*]] = tensor.dim
// CHECK: %[[SHARE:.*]] = arith.ceildivui %[[SIZE]], %c64
// CHECK: %[[LENGTH:.*]] = arith.maxsi %[[SHARE]], %c2048
// CHECK: %[[COUNT:.*]] = arith.ceildivsi %[[SIZE]], %[[LENGTH]]
// CHECK: %[[GRID:.*]] = arith.maxsi %c1{{[_0-9]*}}, %[[COUNT]]
// CHECK: dispatch.launch @rows_0::@rows_0(%arg0) [%[[SIZE]], %[[SIZE]]] workgroups(%[[GRID]], %c1{{[_0-9]*}}, %c1{{[_0-9]*}})
// A sum of all has nobody to share with, and what is known keeps its grid.
// CHECK-LABEL: func.func @sum
// CHECK: dispatch.launch @sum_1::@sum_1({{.*}}) [{{.*}}] workgroups
// CHECK: dispatch.launch @sum_2::@sum_2(%arg1) : (
// CHECK-LABEL: func.func @known
// CHECK: dispatch.launch @known_3::@known_3(%arg0) : (
func.func @rows(%x: tensor<?x4xi32>) -> tensor<?x4xi32> {
  %0 = stablehlo.add %x, %x : tensor<?x4xi32>
  return %0 : tensor<?x4xi32>
}

func.func @sum(%x: tensor<?xi32>, %y: tensor<1000003xi32>) -> (tensor<?xi32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %i = stablehlo.iota dim = 0 : tensor<1000003xi32>
  %0 = stablehlo.add %x, %x : tensor<?xi32>
  %s = stablehlo.add %i, %y : tensor<1000003xi32>
  %1 = stablehlo.reduce(%s init: %zero) applies stablehlo.add across dimensions = [0]
      : (tensor<1000003xi32>, tensor<i32>) -> tensor<i32>
  return %0, %1 : tensor<?xi32>, tensor<i32>
}

func.func @known(%x: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %0 = stablehlo.exponential %x : tensor<1024x1024xf32>
  return %0 : tensor<1024x1024xf32>
}
