// RUN: alula-compile --target=cpu:host %s --compile-from=kernel --compile-to=schedule -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: alula-compile --target=cpu:host %t.mlir -o %t.alula
// RUN: alula-inspect %t.alula | FileCheck %s --check-prefix=TEXT

// TEXT: artifact version 1.3
// TEXT: collective #0 all_reduce sum of 300 f32, groups {{\[\[}}0, 1]] of 2, channel 3
// TEXT: collective #1 collective_permute of 300 f32, groups {{\[\[}}0, 1], [1, 0]] of 2

// The memory of an operand is its own until the end: the second collective,
// which runs at the same time, writes elsewhere, and what is gathered last is
// computed in the caller's memory.
// CHECK-LABEL: func.func @main
// CHECK-DAG: %[[X:.*]] = dispatch.slot argument 0
// CHECK-DAG: %[[Y:.*]] = dispatch.slot result 0
// CHECK-DAG: %[[A:.*]] = dispatch.slot arena 0 bytes 1200
// CHECK-DAG: %[[B:.*]] = dispatch.slot arena {{[1-9][0-9]*}} bytes 1200
// CHECK: %[[S:.*]] = dispatch.start_collective all_reduce by sum %[[X]] into %[[SUM:.*]] blocks 300 f32 groups {{\[\[}}0, 1]] of 2 channel 3
// CHECK: %[[T:.*]] = dispatch.start_collective collective_permute %[[X]] into %[[OTHER:.*]] blocks 300 f32
// CHECK: dispatch.await_collective %[[S]]
// CHECK: dispatch.await_collective %[[T]]
// CHECK: %[[U:.*]] = dispatch.start_collective all_gather %[[OTHER]] into %[[Y]] blocks 300 f32
// CHECK: dispatch.await_collective %[[U]]
// TEXT: r[[S:.*]] = collective_start #0 all_reduce, %[[X:.*]], %
// TEXT: r[[T:.*]] = collective_start #1 collective_permute, %[[X]], %
// TEXT: collective_done r[[S]]
// TEXT: collective_done r[[T]]
// TEXT: r[[U:.*]] = collective_start #2 all_gather
// TEXT: collective_done r[[U]]
func.func @main(%x: tensor<300xf32>) -> tensor<2x300xf32> {
  %sum = dispatch.collective all_reduce by sum %x groups [[0, 1]] of 2 channel 3 : tensor<300xf32> -> tensor<300xf32>
  %other = dispatch.collective collective_permute %x groups [[0, 1], [1, 0]] of 2 : tensor<300xf32> -> tensor<300xf32>
  stablehlo.custom_call @see(%sum) {has_side_effect = true} : (tensor<300xf32>) -> ()
  %all = dispatch.collective all_gather %other groups [[0, 1]] of 2 : tensor<300xf32> -> tensor<2x300xf32>
  return %all : tensor<2x300xf32>
}

// The number of the participant is an integer of the host.
// CHECK-LABEL: func.func @number
// CHECK: %[[N:.*]] = dispatch.participant of 2
// CHECK: cf.assert
// TEXT: exported function @number
// TEXT: r0 = participant
func.func @number() {
  %n = dispatch.participant of 2
  %one = arith.constant 1 : index
  %good = arith.cmpi ne, %n, %one : index
  cf.assert %good, "not the second"
  return
}
