// RUN: alula-opt %s -schedule-convert-tensors-to-commands -cse -schedule-verify-output | FileCheck %s

dispatch.executable @e {
  dispatch.entry @step bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  dispatch.entry @update bindings([#dispatch<access read_write>, #dispatch<access read>]) workgroups [1, 1, 1] scratch 0
  builtin.module {}
}

// What is returned is computed in the caller's memory; what is dead makes room.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: dispatch.arena_bytes = 128
// CHECK-DAG: %[[IN:.*]] = dispatch.slot argument 0
// CHECK-DAG: %[[A:.*]] = dispatch.slot arena 0 bytes 64
// CHECK-DAG: %[[B:.*]] = dispatch.slot arena 64 bytes 64
// CHECK-DAG: %[[OUT:.*]] = dispatch.slot result 0
// CHECK: dispatch.run @e::@step(%[[IN]], %[[A]])
// CHECK: dispatch.run @e::@step(%[[A]], %[[B]])
// CHECK: dispatch.run @e::@step(%[[B]], %{{.*}})
// CHECK: dispatch.run @e::@step(%{{.*}}, %[[OUT]])
func.func @chain(%a: tensor<16xf32>) -> tensor<16xf32> {
  %0 = dispatch.launch @e::@step(%a) : (tensor<16xf32>) -> tensor<16xf32>
  %1 = dispatch.launch @e::@step(%0) : (tensor<16xf32>) -> tensor<16xf32>
  %2 = dispatch.launch @e::@step(%1) : (tensor<16xf32>) -> tensor<16xf32>
  %3 = dispatch.launch @e::@step(%2) : (tensor<16xf32>) -> tensor<16xf32>
  return %3 : tensor<16xf32>
}

// A view has no memory of its own, and keeps its source's alive.
// CHECK-LABEL: func.func @view
// CHECK-DAG: %[[A:.*]] = dispatch.slot arena 0 bytes 16
// CHECK-DAG: %[[B:.*]] = dispatch.slot arena 64 bytes 16
// CHECK: dispatch.run @e::@step(%{{.*}}, %[[A]])
// CHECK: dispatch.run @e::@step(%{{.*}}, %[[B]])
// CHECK: dispatch.run @e::@step(%[[A]], %{{.*}})
func.func @view(%a: tensor<4xf32>) -> tensor<2x2xi32> {
  %0 = dispatch.launch @e::@step(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = dispatch.view %0 : tensor<4xf32> -> tensor<2x2xi32>
  %2 = dispatch.launch @e::@step(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = dispatch.launch @e::@step(%1) : (tensor<2x2xi32>) -> tensor<2x2xi32>
  return %3 : tensor<2x2xi32>
}

// In place over a value that nobody needs any more.
// CHECK-LABEL: func.func @in_place
// CHECK-DAG: %[[OUT:.*]] = dispatch.slot result 0
// CHECK-NOT: dispatch.copy
// CHECK: dispatch.run @e::@step(%{{.*}}, %[[OUT]])
// CHECK-NOT: dispatch.copy
// CHECK: dispatch.run @e::@update(%[[OUT]], %{{.*}})
func.func @in_place(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = dispatch.launch @e::@step(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = dispatch.launch @e::@update(%0, %a) in_place [0] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// Does not fire: the old value is returned too, and the kernel reads it beside.
// CHECK-LABEL: func.func @not_in_place
// CHECK-DAG: %[[OLD:.*]] = dispatch.slot result 0
// CHECK-DAG: %[[NEW:.*]] = dispatch.slot result 1
// CHECK: dispatch.run @e::@step(%{{.*}}, %[[OLD]])
// CHECK: dispatch.copy %[[OLD]] to %[[NEW]]
// CHECK: dispatch.run @e::@update(%[[NEW]], %[[OLD]])
func.func @not_in_place(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = dispatch.launch @e::@step(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = dispatch.launch @e::@update(%0, %0) in_place [0] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// An argument is copied before it is written, unless its memory is given away.
// CHECK-LABEL: func.func @argument
// CHECK: dispatch.copy
// CHECK: dispatch.run @e::@update
func.func @argument(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = dispatch.launch @e::@update(%a, %b) in_place [0] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @aliased
// CHECK-SAME: dispatch.alias = 0
// CHECK: %[[A:.*]] = dispatch.slot argument 0
// CHECK-NOT: dispatch.copy
// CHECK: dispatch.run @e::@update(%[[A]], %{{.*}})
// CHECK-NEXT: dispatch.return
func.func @aliased(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = dispatch.launch @e::@update(%a, %b) in_place [0] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// A donated one goes to the first result of its type.
// CHECK-LABEL: func.func @donated
// CHECK-SAME: -> (tensor<i32>, tensor<4xf32> {dispatch.alias = 1 : i64})
// CHECK: %[[A:.*]] = dispatch.slot argument 1
// CHECK: dispatch.run @e::@step(%[[A]], %[[N:.*]])
// CHECK-NEXT: dispatch.run @e::@step(%[[N]], %[[A]])
func.func @donated(%i: tensor<i32>, %a: tensor<4xf32> {jax.buffer_donor = true}) -> (tensor<i32>, tensor<4xf32>) {
  %0 = dispatch.launch @e::@step(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = dispatch.launch @e::@step(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %i, %1 : tensor<i32>, tensor<4xf32>
}

// Results that change places with their arguments are turned, not overwritten.
// CHECK-LABEL: func.func @turned
// CHECK: dispatch.copy %[[B:.*]] to %[[T:.*]],
// CHECK: dispatch.copy %[[A:.*]] to %[[B]],
// CHECK: dispatch.copy %[[T]] to %[[A]],
func.func @turned(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<4xf32> {tf.aliasing_output = 1 : i32}) -> (tensor<4xf32>, tensor<4xf32>) {
  return %b, %a : tensor<4xf32>, tensor<4xf32>
}
