// RUN: alula-opt %s -split-input-file -verify-diagnostics -schedule-verify-output

// expected-error@+1 {{'func.func': body must be a block of commands: @tensors}}
func.func @tensors(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// -----

func.func @op() {
  // expected-error@+1 {{'stablehlo.constant': no command for it}}
  %0 = stablehlo.constant dense<1> : tensor<i32>
  dispatch.return
}

// -----

func.func @tensor_operand(%a: tensor<i32>) {
  // expected-error@+1 {{'builtin.unrealized_conversion_cast': a tensor is left: 'tensor<i32>'}}
  %0 = builtin.unrealized_conversion_cast %a : tensor<i32> to i32
  dispatch.return
}

// -----

func.func @range(%a: tensor<4xf32>) attributes {dispatch.arena_bytes = 64 : i64} {
  %0 = dispatch.slot argument 0
  %1 = dispatch.slot arena 0 bytes 64
  // expected-error@+1 {{'dispatch.slot': out of range: arena 64}}
  %2 = dispatch.slot arena 64 bytes 1
  dispatch.return
}

// -----

dispatch.executable @e {
  dispatch.entry @step bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {}
}
func.func @write(%a: tensor<4xf32>) {
  %0 = dispatch.slot argument 0
  // expected-error@+1 {{'dispatch.run': writes to a slot that is read-only}}
  dispatch.run @e::@step(%0, %0)
  dispatch.return
}

// -----

func.func @swap(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = dispatch.slot result 0
  %1 = dispatch.slot local 0
  // expected-error@+1 {{'dispatch.swap': slots must be local or in the arena}}
  dispatch.swap %0, %1
  dispatch.return
}

// -----

func.func @free(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = dispatch.slot result 0
  // expected-error@+1 {{'dispatch.free': slot must be local}}
  dispatch.free %0
  dispatch.return
}

// -----

dispatch.executable @e {
  dispatch.entry @step bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {}
}
ml_program.global public @fixed(dense<1.0> : tensor<4xf32>) : tensor<4xf32>
func.func @write_global(%a: tensor<4xf32>) {
  %0 = dispatch.global @fixed
  // expected-error@+1 {{'dispatch.run': writes to a slot that is read-only}}
  dispatch.run @e::@step(%0, %0)
  dispatch.return
}

// -----

func.func @collective(%a: tensor<4xf32>) {
  %0 = dispatch.slot argument 0
  // expected-error@+1 {{'dispatch.start_collective': writes to a slot that is read-only}}
  %1 = dispatch.start_collective all_reduce by sum %0 into %0 blocks 4 f32 groups [[0, 1]] of 2
  dispatch.return
}
