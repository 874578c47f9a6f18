// RUN: alula-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{'dispatch.executable': must hold one module: @kernels holds 0}}
dispatch.executable @kernels {
}

// -----

// expected-error@+1 {{'dispatch.executable': must hold one module: @kernels holds 2}}
dispatch.executable @kernels {
  builtin.module {}
  builtin.module {}
}

// -----

dispatch.executable @kernels {
  // expected-error@+1 {{'dispatch.entry': grid must have three sizes: has 2}}
  dispatch.entry @add bindings([#dispatch<access read>]) workgroups [1, 1] scratch 0
  builtin.module {}
}

// -----

dispatch.executable @kernels {
  // expected-error@+1 {{'dispatch.entry': grid size must be from 1 to 4294967295: is 0}}
  dispatch.entry @add bindings([#dispatch<access read>]) workgroups [1, 0, 1] scratch 0
  builtin.module {}
}

// -----

dispatch.executable @kernels {
  // expected-error@+1 {{'dispatch.entry': grid size must be from 1 to 4294967295: is 4294967296}}
  dispatch.entry @add bindings([#dispatch<access read>]) workgroups [1, 1, 4294967296] scratch 0
  builtin.module {}
}

// -----

dispatch.executable @kernels {
  // expected-error@+1 {{'dispatch.entry': scratch size must not be negative}}
  dispatch.entry @add bindings([#dispatch<access read>]) workgroups [1, 1, 1] scratch -8
  builtin.module {}
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'dispatch.launch': no such entry: @kernels::@add}}
  %0 = dispatch.launch @kernels::@add(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

dispatch.executable @kernels {
  dispatch.entry @add bindings([#dispatch<access read>, #dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {}
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'dispatch.launch': inputs and results must be the entry's bindings: 1 and 1, @kernels::@add has 3}}
  %0 = dispatch.launch @kernels::@add(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
