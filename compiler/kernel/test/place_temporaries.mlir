// RUN: alula-opt %s -kernel-place-temporaries | FileCheck %s

// The host repeats the arithmetic that leads to the sizes of temporaries; they
// are one more result, behind those that there are.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[A:.*]]: tensor<?xf32>, %[[N:.*]]: index
// CHECK: %[[TWICE:.*]] = arith.muli %{{.*}}, %[[N]]
// CHECK: %[[BYTES:.*]] = arith.muli %{{.*}}, %[[TWICE]]
// CHECK: %[[UP:.*]] = arith.addi %[[BYTES]], %c63
// CHECK: %[[LINES:.*]] = arith.divui %[[UP]], %c64
// CHECK: %[[ROUND:.*]] = arith.muli %[[LINES]],
// CHECK: %[[TOTAL:.*]] = arith.addi %[[ROUND]], %{{.*}}
// CHECK: %[[R:.*]]:2 = dispatch.launch @e::@k(%[[A]]) [%[[N]]] result_dims(%[[N]], %[[TOTAL]]) : (tensor<?xf32>) -> (tensor<?xf32>, tensor<?xi8>)
// CHECK: return %[[R]]#0
func.func @main(%a: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %0 = dispatch.launch @e::@k(%a)[%n] result_dims(%n) : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK: dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>, #dispatch<access write>]) constants 1
// CHECK: func.func @k(%{{.*}}: memref<f32>, %{{.*}}: memref<f32>, %[[T:.*]]: memref<i8>, %[[M:.*]]: index) attributes {kernel.bindings = 3 : i64}
// CHECK: %[[ALL:.*]] = memref.reinterpret_cast %[[T]] to offset: [0], sizes: [%{{.*}}], strides: [1] : memref<i8> to memref<?xi8>
// CHECK: memref.view %[[ALL]][%{{.*}}][%{{.*}}] : memref<?xi8> to memref<?x3xf32>
// CHECK: memref.view %[[ALL]][%{{.*}}][%[[M]]] : memref<?xi8> to memref<?xcomplex<f32>>
// What has a known size stays for the scratch.
// CHECK: memref.alloc() : memref<4xf32>
dispatch.executable @e {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>]) constants 1 workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%a: memref<f32>, %r: memref<f32>, %n: index) attributes {kernel.bindings = 2 : i64} {
      %two = arith.constant 2 : index
      %twice = arith.muli %two, %n : index
      %0 = memref.alloc(%twice) : memref<?x3xf32>
      %1 = memref.alloc(%n) : memref<?xcomplex<f32>>
      %2 = memref.alloc() : memref<4xf32>
      return
    }
  }
}

// What is private lies behind the rest, once for each workgroup.
// CHECK-LABEL: func.func @workgroups
// CHECK-SAME: %[[A:.*]]: tensor<?xf32>, %[[N:.*]]: index, %[[GRID:.*]]: index
// CHECK: %[[SHARED:.*]] = arith.muli %{{.*}}, %c64
// CHECK: %[[OWN:.*]] = arith.muli %{{.*}}, %c64
// CHECK: %[[ALL:.*]] = arith.muli %[[OWN]], %[[GRID]]
// CHECK: %[[TOTAL:.*]] = arith.addi %[[SHARED]], %[[ALL]]
// CHECK: dispatch.launch @w::@k(%[[A]]) [%[[N]]] workgroups({{.*}}) result_dims(%[[N]], %[[TOTAL]])
func.func @workgroups(%a: tensor<?xf32>, %n: index, %grid: index) -> tensor<?xf32> {
  %one = arith.constant 1 : index
  %0 = dispatch.launch @w::@k(%a)[%n] workgroups(%grid, %one, %one) result_dims(%n) : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK: func.func @k(%{{.*}}: memref<f32>, %{{.*}}: memref<f32>, %{{.*}}: memref<i8>, %{{.*}}: index, %[[GROUP:.*]]: index)
// CHECK: %[[FIRST:.*]] = arith.muli %[[GROUP]], %[[EACH:.*]] : index
// CHECK: %[[BASE:.*]] = arith.addi %{{.*}}, %[[FIRST]]
// CHECK: %[[PLACE:.*]] = arith.addi %[[BASE]],
// CHECK: memref.view %{{.*}}[%[[PLACE]]]{{.*}} to memref<?xf64>
dispatch.executable @w {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>]) constants 1 workgroups [8, 1, 1] scratch 0
  builtin.module {
    func.func @k(%a: memref<f32>, %r: memref<f32>, %n: index, %group: index) attributes {kernel.bindings = 2 : i64, kernel.workgroup} {
      %0 = memref.alloc(%n) : memref<?xf32>
      %1 = memref.alloc(%n) {kernel.private} : memref<?xf64>
      return
    }
  }
}
