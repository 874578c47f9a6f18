// RUN: alula-opt --input-lower-globals %s | FileCheck %s

// CHECK: ml_program.global public mutable @_s$0(dense<0> : tensor<i32>) : tensor<i32>
ml_program.global private mutable @"_s$0"(dense<0> : tensor<i32>) : tensor<i32>
ml_program.global private mutable @b(dense<0> : tensor<i32>) : tensor<i32>
ml_program.global private @w(dense<7> : tensor<i32>) : tensor<i32>

// A load is a snapshot, whatever is stored after it.
// CHECK-LABEL: func.func @swap
// CHECK-SAME: (%arg0: tensor<i32>, %arg1: tensor<i32> {alula.global = @_s$0})
// CHECK-SAME: -> (tensor<i32>, tensor<i32> {alula.global = @_s$0})
// CHECK-NEXT: return %arg1, %arg0
func.func @swap(%new: tensor<i32>) -> tensor<i32> {
  %old = ml_program.global_load @"_s$0" : tensor<i32>
  ml_program.global_store @"_s$0" = %new : tensor<i32>
  return %old : tensor<i32>
}

// CHECK-LABEL: func.func @constant() -> tensor<i32>
// CHECK-NEXT: stablehlo.constant dense<7>
func.func @constant() -> tensor<i32> {
  %w = ml_program.global_load @w : tensor<i32>
  return %w : tensor<i32>
}

// CHECK-LABEL: func.func @through_call(%arg0: tensor<i32> {alula.global = @b})
// CHECK-SAME: -> (tensor<i32>, tensor<i32> {alula.global = @b})
// CHECK-NEXT: %[[R:.*]] = call @private_bump(%arg0) : (tensor<i32>) -> tensor<i32>
// CHECK-NEXT: return %[[R]], %[[R]]
func.func @through_call() -> tensor<i32> {
  call @private_bump() : () -> ()
  %b = ml_program.global_load @b : tensor<i32>
  return %b : tensor<i32>
}

// CHECK-LABEL: func.func private @private_bump(%arg0: tensor<i32>) -> tensor<i32>
func.func private @private_bump() {
  %b = ml_program.global_load @b : tensor<i32>
  %c = stablehlo.add %b, %b : tensor<i32>
  ml_program.global_store @b = %c : tensor<i32>
  return
}

// Only one branch stores: the other hands on what there was.
// CHECK-LABEL: func.func @branch
// CHECK: %[[IF:.*]] = "stablehlo.if"(%arg0)
// CHECK: stablehlo.return %arg1
// CHECK: stablehlo.return %arg2
// CHECK: return %[[IF]]
func.func @branch(%p: tensor<i1>, %x: tensor<i32>) {
  "stablehlo.if"(%p) ({
    ml_program.global_store @b = %x : tensor<i32>
    stablehlo.return
  }, {
    stablehlo.return
  }) : (tensor<i1>) -> ()
  return
}

// CHECK-LABEL: func.func @loop(%arg0: tensor<i32>, %arg1: tensor<i32> {alula.global = @b})
// CHECK: %[[W:.*]]:2 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg1)
// CHECK: stablehlo.compare LT, %iterArg, %iterArg_0
// CHECK: %[[N:.*]] = stablehlo.add %iterArg_0, %iterArg
// CHECK: stablehlo.return %iterArg, %[[N]]
// CHECK: return %[[W]]#0, %[[W]]#1
func.func @loop(%x: tensor<i32>) -> tensor<i32> {
  %r = stablehlo.while(%i = %x) : tensor<i32>
  cond {
    %b = ml_program.global_load @b : tensor<i32>
    %p = stablehlo.compare LT, %i, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %b = ml_program.global_load @b : tensor<i32>
    %c = stablehlo.add %b, %i : tensor<i32>
    ml_program.global_store @b = %c : tensor<i32>
    stablehlo.return %i : tensor<i32>
  }
  return %r : tensor<i32>
}
