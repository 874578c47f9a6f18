// RUN: alula-opt %s -schedule-convert-tensors-to-commands -cse -schedule-verify-output | FileCheck %s

dispatch.executable @e {
  dispatch.entry @step bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  dispatch.entry @less bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  dispatch.entry @update bindings([#dispatch<access read_write>, #dispatch<access read>]) workgroups [1, 1, 1] scratch 0
  builtin.module {}
}

// What a loop updates in place stays where it is; what it hands on is not moved.
// CHECK-LABEL: func.func @in_place
// CHECK: dispatch.copy %{{.*}} to %[[X:.*]],
// CHECK-NEXT: scf.while
// CHECK: dispatch.run @e::@less(%[[N:.*]], %[[P:.*]])
// CHECK-NEXT: %[[FLAG:.*]] = dispatch.load %[[P]][%{{.*}}] as i1 : i1
// CHECK-NEXT: scf.condition(%[[FLAG]])
// CHECK: dispatch.run @e::@update(%[[X]], %[[N]])
// CHECK-NEXT: scf.yield
// CHECK: dispatch.return
func.func @in_place(%a: tensor<100xf32>, %c: tensor<i32>) -> tensor<100xf32> {
  %r:2 = stablehlo.while(%x = %a, %n = %c) : tensor<100xf32>, tensor<i32>
  cond {
    %p = dispatch.launch @e::@less(%n) : (tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %y = dispatch.launch @e::@update(%x, %n) in_place [0] : (tensor<100xf32>, tensor<i32>) -> tensor<100xf32>
    stablehlo.return %y, %n : tensor<100xf32>, tensor<i32>
  }
  return %r#0 : tensor<100xf32>
}

// A large value is exchanged for the next one, a small one is copied.
// CHECK-LABEL: func.func @exchange
// CHECK: scf.while
// CHECK: dispatch.run @e::@step(%[[X:.*]], %[[Y:.*]])
// CHECK: dispatch.run @e::@step(%[[N:.*]], %[[M:.*]])
// CHECK-NEXT: dispatch.swap %[[Y]], %[[X]]
// CHECK-NEXT: dispatch.copy %[[M]] to %[[N]],
// CHECK-NEXT: scf.yield
func.func @exchange(%a: tensor<100xf32>, %c: tensor<i32>) -> tensor<100xf32> {
  %r:2 = stablehlo.while(%x = %a, %n = %c) : tensor<100xf32>, tensor<i32>
  cond {
    %p = dispatch.launch @e::@less(%n) : (tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %y = dispatch.launch @e::@step(%x) : (tensor<100xf32>) -> tensor<100xf32>
    %m = dispatch.launch @e::@step(%n) : (tensor<i32>) -> tensor<i32>
    stablehlo.return %y, %m : tensor<100xf32>, tensor<i32>
  }
  return %r#0 : tensor<100xf32>
}

// Values that change places are swapped whatever their size.
// CHECK-LABEL: func.func @turn
// CHECK: do {
// CHECK-NEXT: dispatch.swap
// CHECK-NEXT: scf.yield
func.func @turn(%a: tensor<2xi64>, %b: tensor<2xi64>, %c: tensor<i1>) -> (tensor<2xi64>, tensor<2xi64>) {
  %r:2 = stablehlo.while(%x = %a, %y = %b) : tensor<2xi64>, tensor<2xi64>
  cond {
    stablehlo.return %c : tensor<i1>
  } do {
    stablehlo.return %y, %x : tensor<2xi64>, tensor<2xi64>
  }
  return %r#0, %r#1 : tensor<2xi64>, tensor<2xi64>
}

// Branches compute where their result lives; an index out of range is the last.
// CHECK-LABEL: func.func @branches
// CHECK-DAG: %[[A:.*]] = dispatch.slot argument 2
// CHECK-DAG: %[[R0:.*]] = dispatch.slot result 0
// CHECK-DAG: %[[R1:.*]] = dispatch.slot result 1
// CHECK: scf.if
// CHECK-NEXT: dispatch.run @e::@step(%[[A]], %[[R0]])
// CHECK-NEXT: } else {
// CHECK-NEXT: dispatch.copy %[[A]] to %[[R0]]
// CHECK: scf.index_switch
// CHECK-NEXT: case 0
// CHECK-NEXT: dispatch.copy %[[R0]] to %[[R1]]
// CHECK: default
// CHECK-NEXT: dispatch.run @e::@step(%[[A]], %[[R1]])
func.func @branches(%p: tensor<i1>, %k: tensor<i32>, %a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = "stablehlo.if"(%p) ({
    %1 = dispatch.launch @e::@step(%a) : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }, {
    stablehlo.return %a : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  %2 = "stablehlo.case"(%k) ({
    stablehlo.return %0 : tensor<4xf32>
  }, {
    %3 = dispatch.launch @e::@step(%a) : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %3 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return %0, %2 : tensor<4xf32>, tensor<4xf32>
}

// Tokens vanish.
// CHECK-LABEL: func.func @tokens
// CHECK-NOT: dispatch.copy
// CHECK: dispatch.run @e::@step
// CHECK-NEXT: dispatch.return
func.func @tokens(%t: !stablehlo.token, %a: tensor<4xf32>) -> (!stablehlo.token, tensor<4xf32>) {
  %0 = stablehlo.create_token : !stablehlo.token
  %1 = stablehlo.after_all %t, %0 : !stablehlo.token
  %2 = dispatch.launch @e::@step(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %3:2 = stablehlo.optimization_barrier %1, %2 : !stablehlo.token, tensor<4xf32>
  return %3#0, %3#1 : !stablehlo.token, tensor<4xf32>
}
