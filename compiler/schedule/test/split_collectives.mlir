// RUN: alula-opt %s --schedule-split-collectives | FileCheck %s

dispatch.executable @k {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: tensor<8xf32>) -> tensor<8xf32> {
      return %x : tensor<8xf32>
    }
  }
}

// A start stands behind what makes its operand, an end before the first use.
// CHECK-LABEL: func.func @overlap
// CHECK: %[[A:.*]] = dispatch.launch @k::@k(%arg0)
// CHECK-NEXT: %[[S:.*]] = dispatch.collective_start all_reduce by sum %[[A]]
// CHECK-NEXT: %[[B:.*]] = dispatch.launch @k::@k(%arg1)
// CHECK-NEXT: %[[C:.*]] = dispatch.collective_done %[[S]] of %[[A]]
// CHECK-NEXT: %[[D:.*]] = dispatch.launch @k::@k(%[[C]])
// CHECK-NEXT: return %[[B]], %[[D]]
func.func @overlap(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %a = dispatch.launch @k::@k(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %b = dispatch.launch @k::@k(%y) : (tensor<8xf32>) -> tensor<8xf32>
  %c = dispatch.collective all_reduce by sum %a groups [[0, 1]] of 2 : tensor<8xf32> -> tensor<8xf32>
  %d = dispatch.launch @k::@k(%c) : (tensor<8xf32>) -> tensor<8xf32>
  return %b, %d : tensor<8xf32>, tensor<8xf32>
}

// Starts keep their order, though the second could come first.
// CHECK-LABEL: func.func @order
// CHECK: %[[A:.*]] = dispatch.launch @k::@k(%arg0)
// CHECK-NEXT: %[[S:.*]] = dispatch.collective_start all_reduce by sum %[[A]]
// CHECK-NEXT: %[[T:.*]] = dispatch.collective_start all_reduce by max %arg1
// CHECK-NEXT: %[[C:.*]] = dispatch.collective_done %[[S]] of %[[A]]
// CHECK-NEXT: %[[U:.*]] = dispatch.collective_start all_reduce by min %[[C]]
// CHECK-NEXT: dispatch.launch
// CHECK-NEXT: %[[D:.*]] = dispatch.collective_done %[[T]] of %arg1
// CHECK-NEXT: %[[E:.*]] = dispatch.collective_done %[[U]] of %[[C]]
// CHECK-NEXT: return %{{.*}}, %[[D]], %[[E]]
func.func @order(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %a = dispatch.launch @k::@k(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %c = dispatch.collective all_reduce by sum %a groups [[0, 1]] of 2 : tensor<8xf32> -> tensor<8xf32>
  %d = dispatch.collective all_reduce by max %y groups [[0, 1]] of 2 : tensor<8xf32> -> tensor<8xf32>
  %e = dispatch.collective all_reduce by min %c groups [[0, 1]] of 2 : tensor<8xf32> -> tensor<8xf32>
  %f = dispatch.launch @k::@k(%c) : (tensor<8xf32>) -> tensor<8xf32>
  return %f, %d, %e : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// One that nobody reads takes place all the same; uses inside of a branch are
// the branch's.
// CHECK-LABEL: func.func @nested
// CHECK: %[[S:.*]] = dispatch.collective_start all_reduce by sum %arg1
// CHECK-NEXT: %[[T:.*]] = dispatch.collective_start all_reduce by max %arg1
// CHECK-NEXT: %[[C:.*]] = dispatch.collective_done %[[S]]
// CHECK-NEXT: "stablehlo.if"
// CHECK-NEXT: stablehlo.return %[[C]]
// CHECK: }, {
// CHECK-NEXT: %[[I:.*]] = dispatch.collective_start all_reduce by sum %arg1
// CHECK-NEXT: %[[J:.*]] = dispatch.collective_done %[[I]]
// CHECK-NEXT: stablehlo.return %[[J]]
// CHECK: dispatch.collective_done %[[T]]
// CHECK-NEXT: return
func.func @nested(%p: tensor<i1>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %c = dispatch.collective all_reduce by sum %x groups [[0, 1]] of 2 : tensor<8xf32> -> tensor<8xf32>
  %unused = dispatch.collective all_reduce by max %x groups [[0, 1]] of 2 : tensor<8xf32> -> tensor<8xf32>
  %r = "stablehlo.if"(%p) ({
    stablehlo.return %c : tensor<8xf32>
  }, {
    %i = dispatch.collective all_reduce by sum %x groups [[0, 1]] of 2 : tensor<8xf32> -> tensor<8xf32>
    stablehlo.return %i : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
