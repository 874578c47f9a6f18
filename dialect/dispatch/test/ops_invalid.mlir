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

// -----

dispatch.executable @kernels {
  // expected-error@+1 {{'dispatch.entry': number of constants must be from 0 to 4294967295: is -1}}
  dispatch.entry @add bindings([#dispatch<access read>]) constants -1 workgroups [1, 1, 1] scratch 0
  builtin.module {}
}

// -----

func.func @main(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  // expected-error@+1 {{'dispatch.launch': grid must have three sizes: has 2}}
  %0 = dispatch.launch @kernels::@add(%x) workgroups(%n, %n) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>, %n: index) -> tensor<?xf32> {
  // expected-error@+1 {{'dispatch.launch': each dynamic dimension of the results needs a size: there are 1, 2 are given}}
  %0 = dispatch.launch @kernels::@add(%x) result_dims(%n, %n) : (tensor<4xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'dispatch.launch': in_place must have a number for each result: has 2, there are 1}}
  %0 = dispatch.launch @kernels::@add(%x) in_place [0, 0] : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'dispatch.launch': in_place must name an input or be -1: is 1, there are 1}}
  %0 = dispatch.launch @kernels::@add(%x) in_place [1] : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // expected-error@+1 {{'dispatch.launch': one result may take the place of an input: two take that of 0}}
  %0:2 = dispatch.launch @kernels::@add(%x) in_place [0, 0] : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

dispatch.executable @kernels {
  dispatch.entry @add bindings([#dispatch<access read>]) workgroups [1, 1, 1] scratch 0
  builtin.module {}
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'dispatch.launch': result 0 takes the place of input 0: access of binding 0 of @kernels::@add must be read_write}}
  %0 = dispatch.launch @kernels::@add(%x) in_place [0] : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

dispatch.executable @kernels {
  dispatch.entry @add bindings([#dispatch<access read>, #dispatch<access write>]) constants 2 workgroups [1, 1, 1] scratch 0
  builtin.module {}
}
func.func @main(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  // expected-error@+1 {{'dispatch.launch': constants must be as many as the entry has: 1, @kernels::@add has 2}}
  %0 = dispatch.launch @kernels::@add(%x)[%n] : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<?xf32> {
  // expected-error@+1 {{'dispatch.view': each dynamic dimension of the results needs a size: there are 1, 0 are given}}
  %0 = dispatch.view %x : tensor<4xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xi16> {
  // expected-error@+1 {{'dispatch.view': bytes must stay: 16 become 8}}
  %0 = dispatch.view %x : tensor<4xf32> -> tensor<4xi16>
  return %0 : tensor<4xi16>
}

// -----

func.func @main(%n: index) {
  // expected-error@+1 {{'dispatch.run': grid must have three sizes: has 1}}
  dispatch.run @kernels::@add() workgroups(%n)
  return
}

// -----

func.func @main() {
  // expected-error@+1 {{'dispatch.run': no such entry: @kernels::@add}}
  dispatch.run @kernels::@add()
  return
}

// -----

dispatch.executable @kernels {
  dispatch.entry @add bindings([#dispatch<access read>]) workgroups [1, 1, 1] scratch 0
  builtin.module {}
}
func.func @main() {
  // expected-error@+1 {{'dispatch.run': bindings and constants must be the entry's: 0 and 0, @kernels::@add has 1 and 0}}
  dispatch.run @kernels::@add()
  return
}

// -----

func.func @main() {
  // expected-error@+1 {{'dispatch.call': no such function: nobody}}
  dispatch.call @nobody() into()
  return
}

// -----

func.func private @other(tensor<4xf32>)
func.func @main() {
  // expected-error@+1 {{'dispatch.call': inputs and outputs must be the function's: 0 and 0, @other has 1 and 0}}
  dispatch.call @other() into()
  return
}

// -----

func.func @main() {
  // expected-error@+1 {{'dispatch.custom_call': types must be tensors: has i32}}
  dispatch.custom_call "f"() into() version 1 : [i32]
  return
}

// -----

func.func @main() {
  // expected-error@+1 {{'dispatch.custom_call': each slot needs a type: 0 slots, 1 types}}
  dispatch.custom_call "f"() into() version 1 : [tensor<4xf32>]
  return
}

// -----

func.func @main() {
  %0 = dispatch.slot argument 0
  // expected-error@+1 {{'dispatch.custom_call': each dynamic dimension needs a size: there are 1, 0 are given}}
  dispatch.custom_call "f"(%0) into() version 1 : [tensor<?xf32>]
  return
}

// -----

func.func @main() {
  %0 = dispatch.slot argument 0
  // expected-error@+1 {{'dispatch.custom_call': values must be two lists of orders, units and texts: [array<i64: 0>]}}
  dispatch.custom_call "f"(%0) into() version 4 {values = [array<i64: 0>]} : [tensor<4xf32>]
  return
}

// -----

func.func @main() {
  %0 = dispatch.slot argument 0
  // expected-error@+1 {{'dispatch.custom_call': the configuration of a call with values must be a dictionary: 1 : i64}}
  dispatch.custom_call "f"(%0) into() version 4 {config = 1, values = [[array<i64: 0>], []]} : [tensor<4xf32>]
  return
}

// -----

func.func @main(%n: index) {
  // expected-error@+1 {{'dispatch.pack': each integer of the result needs a number: 1 for 'tensor<2xi32>'}}
  %0 = dispatch.pack %n : tensor<2xi32>
  return
}

// -----

func.func @main(%p: tensor<2x5x32xf32>) {
  // expected-error@+1 {{'dispatch.from_panels': rows and columns must name each dimension once: [1] and [1] of 'tensor<40x5xf32>'}}
  %0 = dispatch.from_panels %p rows = [1] columns = [1] : tensor<2x5x32xf32> -> tensor<40x5xf32>
  return
}

// -----

func.func @main(%p: tensor<2x5x32xf32>) {
  // expected-error@+1 {{'dispatch.from_panels': panels must hold the result's 5 rows of 30 columns: 'tensor<2x5x32xf32>' for 'tensor<5x30xf32>'}}
  %0 = dispatch.from_panels %p rows = [0] columns = [1] : tensor<2x5x32xf32> -> tensor<5x30xf32>
  return
}

// -----

func.func @main(%p: tensor<2x1x32x4xui8>) {
  // expected-error@+1 {{'dispatch.from_panels': panels must hold the result's 5 rows of 40 columns: 'tensor<2x1x32x4xui8>' for 'tensor<5x40xi8>'}}
  %0 = dispatch.from_panels %p rows = [0] columns = [1] : tensor<2x1x32x4xui8> -> tensor<5x40xi8>
  return
}

// -----

func.func @main(%p: tensor<2x2x32x2xf16>) {
  // expected-error@+1 {{'dispatch.from_panels': panels must hold the result's 4 rows of 40 columns: 'tensor<2x2x32x2xf16>' for 'tensor<4x40xbf16>'}}
  %0 = dispatch.from_panels %p rows = [0] columns = [1] : tensor<2x2x32x2xf16> -> tensor<4x40xbf16>
  return
}

// -----

func.func @no_global() {
  // expected-error@+1 {{'dispatch.global': no such global: g}}
  %g = dispatch.global @g
  dispatch.return
}
