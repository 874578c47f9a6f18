// RUN: alula-opt --input-lower-globals --split-input-file --verify-diagnostics %s

// expected-error@+1 {{'ml_program.global': type must be a tensor of static shape: @g is 'tensor<?xf32>'}}
ml_program.global private mutable @g : tensor<?xf32>

// -----

// expected-error@+1 {{'ml_program.global': type must be a tensor of static shape: @g is 'i32'}}
ml_program.global private mutable @g(1 : i32) : i32

// -----

// expected-error@+1 {{'ml_program.global': initial value must have the global's type: @g is 'tensor<2xf32>'}}
ml_program.global private mutable @g(dense<1> : tensor<2xi32>) : tensor<2xf32>

// -----

ml_program.global private mutable @g : tensor<2xf32>
func.func @main() -> tensor<3xf32> {
  // expected-error@+1 {{'ml_program.global_load' op cannot load from global typed 'tensor<2xf32>' as 'tensor<3xf32>'}}
  %0 = ml_program.global_load @g : tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

ml_program.global private @g(dense<1.0> : tensor<f32>) : tensor<f32>
func.func @main(%x: tensor<f32>) {
  // expected-error@+1 {{'ml_program.global_store' op cannot store to an immutable global}}
  ml_program.global_store @g = %x : tensor<f32>
  return
}

// -----

ml_program.global private mutable @g : tensor<f32>
func.func @main(%x: tensor<4xf32>) -> tensor<f32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  // expected-error@+1 {{'stablehlo.reduce': a region must not store globals: stores @g}}
  %0 = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    ml_program.global_store @g = %a : tensor<f32>
    stablehlo.return %b : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

ml_program.global private mutable @g : tensor<i1>
func.func @main(%x: tensor<i1>) -> tensor<i1> {
  // expected-error@+1 {{'stablehlo.while': a condition must not store globals: stores @g}}
  %r = stablehlo.while(%i = %x) : tensor<i1>
  cond {
    ml_program.global_store @g = %i : tensor<i1>
    stablehlo.return %i : tensor<i1>
  } do {
    stablehlo.return %i : tensor<i1>
  }
  return %r : tensor<i1>
}

// -----

module attributes {mhlo.num_partitions = 2 : i32} {
  // expected-error@+1 {{'ml_program.global': programs with globals must run on one device: mhlo.num_partitions is 2}}
  ml_program.global private mutable @g : tensor<i1>
}

// -----

ml_program.global private mutable @g : tensor<i32>
func.func @main(%t: !ml_program.token) -> tensor<i32> {
  // expected-error@+1 {{'ml_program.global_load_graph': no native code: of ml_program there are globals of the module, their loads and stores in functions}}
  %0, %1 = ml_program.global_load_graph @g ordering(() -> !ml_program.token) : tensor<i32>
  return %0 : tensor<i32>
}

// -----

// expected-error@+1 {{'ml_program.func': no native code: of ml_program there are globals of the module, their loads and stores in functions}}
ml_program.func @main(%x: tensor<i32>) -> tensor<i32> {
  ml_program.return %x : tensor<i32>
}

// -----

ml_program.global private mutable @g : tensor<f32>
func.func private @inner(%x: tensor<f32>) -> tensor<f32> {
  ml_program.global_store @g = %x : tensor<f32>
  return %x : tensor<f32>
}
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{'stablehlo.composite': a decomposition must not touch globals: @inner does}}
  %0 = stablehlo.composite "a.b" %x {decomposition = @inner} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
