// RUN: alula-opt %s -schedule-convert-tensors-to-commands -cse -schedule-verify-output | FileCheck %s

dispatch.executable @e {
  dispatch.entry @less bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  dispatch.entry @grow bindings([#dispatch<access read>, #dispatch<access write>]) constants 1 workgroups [1, 1, 1] scratch 0
  builtin.module {}
}

// A temporary is allocated and freed, a result is bound when its size is known.
// CHECK-LABEL: func.func @straight
// CHECK-DAG: %[[A:.*]] = dispatch.slot argument 0
// CHECK-DAG: %[[T:.*]] = dispatch.slot local 0
// CHECK-DAG: %[[R:.*]] = dispatch.slot result 0
// CHECK-DAG: %[[N:.*]] = dispatch.argument_dim 0, 0
// CHECK: %[[BYTES:.*]] = arith.muli %{{.*}}, %[[N]]
// CHECK: dispatch.alloc %[[T]], %[[BYTES]]
// CHECK-NEXT: dispatch.run @e::@grow(%[[A]], %[[T]]) [%[[N]]]
// CHECK-NEXT: dispatch.bind_result 0(%[[N]])
// CHECK-NEXT: dispatch.run @e::@grow(%[[T]], %[[R]]) [%[[N]]] workgroups(%[[N]], %[[N]], %[[N]])
// CHECK-NEXT: dispatch.free %[[T]]
// CHECK-NEXT: dispatch.return
func.func @straight(%a: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %0 = dispatch.launch @e::@grow(%a)[%n] result_dims(%n) : (tensor<?xf32>) -> tensor<?xf32>
  %1 = dispatch.launch @e::@grow(%0)[%n] workgroups(%n, %n, %n) result_dims(%n) : (tensor<?xf32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// A loop carries sizes; the new value is exchanged for the old, which is freed.
// CHECK-LABEL: func.func @loop
// CHECK-DAG: %[[X:.*]] = dispatch.slot local 0
// CHECK-DAG: %[[A:.*]] = dispatch.slot argument 0
// CHECK: dispatch.alloc %[[X]],
// CHECK-NEXT: dispatch.copy %[[A]] to %[[X]],
// CHECK: %[[END:.*]] = scf.while (%[[I:.*]] = %{{.*}}) : (index) -> index
// CHECK: scf.condition(%{{.*}}) %[[I]]
// CHECK: ^bb0(%[[K:.*]]: index):
// CHECK-NEXT: %[[K2:.*]] = arith.muli %[[K]],
// CHECK: dispatch.alloc %[[Y:.*]],
// CHECK-NEXT: dispatch.run @e::@grow(%[[X]], %[[Y]]) [%[[K2]]]
// CHECK-NEXT: dispatch.swap %[[Y]], %[[X]]
// CHECK-NEXT: dispatch.free %[[Y]]
// CHECK-NEXT: scf.yield %[[K2]]
// CHECK: dispatch.bind_result 0(%[[END]])
// CHECK: dispatch.copy %[[X]] to
func.func @loop(%a: tensor<?xf32>, %p: tensor<i1>) -> tensor<?x1xf32> {
  %c0 = arith.constant 0 : index
  %two = arith.constant 2 : index
  %r = stablehlo.while(%x = %a) : tensor<?xf32>
  cond {
    stablehlo.return %p : tensor<i1>
  } do {
    %k = tensor.dim %x, %c0 : tensor<?xf32>
    %k2 = arith.muli %k, %two : index
    %y = dispatch.launch @e::@grow(%x)[%k2] result_dims(%k2) : (tensor<?xf32>) -> tensor<?xf32>
    stablehlo.return %y : tensor<?xf32>
  }
  %q = tensor.dim %r, %c0 : tensor<?xf32>
  %v = dispatch.view %r result_dims(%q) : tensor<?xf32> -> tensor<?x1xf32>
  return %v : tensor<?x1xf32>
}

// A number in memory becomes a size; a branch yields one.
// CHECK-LABEL: func.func @branch
// CHECK: %[[F:.*]] = dispatch.load
// CHECK: %[[N:.*]] = scf.if %[[F]] -> (index)
// CHECK: %[[I:.*]] = dispatch.load %{{.*}}[%{{.*}}] as i32 : i32
// CHECK-NEXT: %[[S:.*]] = arith.index_cast %[[I]] : i32 to index
// CHECK: scf.yield %[[S]] : index
// CHECK: } else {
// CHECK: dispatch.copy
// CHECK-NEXT: scf.yield %{{.*}} : index
func.func @branch(%a: tensor<?xf32>, %p: tensor<i1>, %s: tensor<2xi32>) -> tensor<?xf32> {
  %c1 = arith.constant 1 : index
  %0 = "stablehlo.if"(%p) ({
    %i = tensor.extract %s[%c1] : tensor<2xi32>
    %n = arith.index_cast %i : i32 to index
    %1 = dispatch.launch @e::@grow(%a)[%n] result_dims(%n) : (tensor<?xf32>) -> tensor<?xf32>
    stablehlo.return %1 : tensor<?xf32>
  }, {
    stablehlo.return %a : tensor<?xf32>
  }) : (tensor<i1>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// A function that is called gets slots and sizes, and gives sizes back.
// CHECK-LABEL: func.func @caller
// CHECK: %[[M:.*]] = dispatch.call @straight(%{{.*}}) into(%[[T:.*]]) [%{{.*}}] -> index
// CHECK: dispatch.bind_result 0(%[[M]])
// CHECK: dispatch.run @e::@grow(%[[T]],
func.func @caller(%a: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %0 = func.call @straight(%a) : (tensor<?xf32>) -> tensor<?xf32>
  %n = tensor.dim %0, %c0 : tensor<?xf32>
  %1 = dispatch.launch @e::@grow(%0)[%n] result_dims(%n) : (tensor<?xf32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}
