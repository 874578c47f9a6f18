// RUN: alula-opt %s --split-input-file --verify-diagnostics

func.func @stranger(%x: tensor<4xf32>) {
  // expected-error @+1 {{no participant 2, there are 2}}
  %0 = dispatch.collective all_reduce by sum %x groups [[0, 2]] of 2 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @twice(%x: tensor<4xf32>) {
  // expected-error @+1 {{participant 1 is in two groups}}
  %0 = dispatch.collective all_reduce by sum %x groups [[0, 1], [1]] of 2 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @sizes(%x: tensor<4xf32>) {
  // expected-error @+1 {{groups must have the same size: 1 and 2}}
  %0 = dispatch.collective all_gather %x groups [[0, 1], [2]] of 3 : tensor<4xf32> -> tensor<8xf32>
  return
}

// -----

func.func @nobody(%x: tensor<4xf32>) {
  // expected-error @+1 {{must have a group}}
  %0 = dispatch.collective all_gather %x groups [] of 3 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @pairs(%x: tensor<4xf32>) {
  // expected-error @+1 {{groups must be pairs, with each source and each target once: 2, 1}}
  %0 = dispatch.collective collective_permute %x groups [[0, 1], [2, 1]] of 3 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @reduction(%x: tensor<4xf32>) {
  // expected-error @+1 {{all_reduce of 'f32' can't reduce by xor}}
  %0 = dispatch.collective all_reduce by xor %x groups [[0, 1]] of 2 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @no_reduction(%x: tensor<4xf32>) {
  // expected-error @+1 {{all_reduce of 'f32' can't reduce by none}}
  %0 = dispatch.collective all_reduce %x groups [[0, 1]] of 2 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @count(%x: tensor<4xf32>) {
  // expected-error @+1 {{all_gather of 'tensor<4xf32>' can't give 'tensor<7xf32>'}}
  %0 = dispatch.collective all_gather %x groups [[0, 1]] of 2 : tensor<4xf32> -> tensor<7xf32>
  return
}

// -----

func.func @other_operand(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %0 = dispatch.collective_start all_reduce by sum %x groups [[0, 1]] of 2 : tensor<4xf32> -> tensor<4xf32>
  // expected-error @+1 {{must end what a 'dispatch.collective_start' of its block has begun with this operand}}
  %1 = dispatch.collective_done %0 of %y : tensor<4xf32> of tensor<4xf32>
  return
}

// -----

func.func @command(%x: tensor<4xf32>) -> tensor<4xf32> {
  %x0 = dispatch.slot argument 0
  %y0 = dispatch.slot result 0
  // expected-error @+1 {{collective_broadcast of 'f32' can't reduce by sum}}
  %h = dispatch.start_collective collective_broadcast by sum %x0 into %y0 blocks 4 f32 groups [[0, 1]] of 2
  dispatch.return
}
