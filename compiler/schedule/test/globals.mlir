// RUN: alula-opt %s -schedule-convert-tensors-to-commands -cse -schedule-verify-output | FileCheck %s

dispatch.executable @e {
  dispatch.entry @update bindings([#dispatch<access read_write>]) workgroups [1, 1, 1] scratch 0
  dispatch.entry @make bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {}
}

ml_program.global public mutable @known(dense<0.0> : tensor<100xf32>) : tensor<100xf32>
ml_program.global public mutable @open : tensor<100xf32>

// In place, without a copy; the signature has no globals any more.
// CHECK-LABEL: func.func @in_place()
// CHECK: %[[G:.*]] = dispatch.global @known
// CHECK-NEXT: dispatch.run @e::@update(%[[G]])
// CHECK-NEXT: dispatch.return
func.func @in_place(%g: tensor<100xf32> {alula.global = @known}) -> (tensor<100xf32> {alula.global = @known}) {
  %n = dispatch.launch @e::@update(%g) in_place [0] : (tensor<100xf32>) -> tensor<100xf32>
  return %n : tensor<100xf32>
}

// What may fail comes later: the old value stays until the end.
// CHECK-LABEL: func.func @late_failure(%arg0: tensor<f32>)
// CHECK-DAG: %[[G:.*]] = dispatch.global @known
// CHECK-DAG: %[[A:.*]] = dispatch.slot arena
// CHECK: dispatch.copy %[[G]] to %[[A]]
// CHECK: dispatch.run @e::@update(%[[A]])
// CHECK: dispatch.custom_call "embedder"
// CHECK: dispatch.copy %[[A]] to %[[G]]
// CHECK: dispatch.return
func.func @late_failure(%x: tensor<f32>, %g: tensor<100xf32> {alula.global = @known})
    -> (tensor<f32>, tensor<100xf32> {alula.global = @known}) {
  %n = dispatch.launch @e::@update(%g) in_place [0] : (tensor<100xf32>) -> tensor<100xf32>
  %y = stablehlo.custom_call @embedder(%x) : (tensor<f32>) -> tensor<f32>
  return %y, %n : tensor<f32>, tensor<100xf32>
}

// Stored before it is read: nothing to check, but it has a value from then on.
// CHECK-LABEL: func.func @first
// CHECK-NOT: check_global
// CHECK: dispatch.define_global @open
func.func @first(%x: tensor<100xf32>, %g: tensor<100xf32> {alula.global = @open}) -> (tensor<100xf32> {alula.global = @open}) {
  %n = dispatch.launch @e::@make(%x) : (tensor<100xf32>) -> tensor<100xf32>
  return %n : tensor<100xf32>
}

// CHECK-LABEL: func.func @checked
// CHECK: dispatch.check_global @open
// CHECK-NOT: define_global
// CHECK: dispatch.return
func.func @checked(%g: tensor<100xf32> {alula.global = @open}) -> tensor<100xf32> {
  return %g : tensor<100xf32>
}
