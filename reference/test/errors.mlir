// Errors of programs that have no value.
// RUN: not alula-interpret %s --split-input-file --max-bytes=4096 2>&1 | FileCheck %s

// CHECK: error: 'stablehlo.broadcast_in_dim' op a tensor of 2000xf32 needs 8000 bytes beside 4 in use, the limit is 4096
func.func @main() -> tensor<2000xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2000xf32>
  return %1 : tensor<2000xf32>
}

// -----

// CHECK: error: 'stablehlo.dynamic_reshape' op cannot reshape [4] to [3]: the number of elements must stay
func.func @main() -> tensor<?xi32> {
  %0 = stablehlo.iota dim = 0 : tensor<4xi32>
  %c = stablehlo.constant dense<3> : tensor<1xi32>
  %1 = stablehlo.abs %c : tensor<1xi32>
  %2 = stablehlo.dynamic_reshape %0, %1 : (tensor<4xi32>, tensor<1xi32>) -> tensor<?xi32>
  return %2 : tensor<?xi32>
}

// -----

// CHECK: error: 'stablehlo.dynamic_iota' op result 0 has type 'tensor<5xi32>' but the value is 'tensor<4xi32>'
func.func @main() -> tensor<5xi32> {
  %0 = stablehlo.constant dense<4> : tensor<1xi32>
  %1 = stablehlo.convert %0 : (tensor<1xi32>) -> tensor<1xi64>
  %2 = stablehlo.dynamic_iota %1, dim = 0 : (tensor<1xi64>) -> tensor<5xi32>
  return %2 : tensor<5xi32>
}

// -----

// CHECK: error: 'stablehlo.custom_call' op @Qr needs operands
func.func @main() {
  stablehlo.custom_call @Qr() {has_side_effect = true} : () -> ()
  return
}

// -----

// CHECK: error: 'stablehlo.infeed' op the infeed has no more data
func.func @main() {
  %0 = stablehlo.create_token : !stablehlo.token
  %1:2 = "stablehlo.infeed"(%0) : (!stablehlo.token) -> (tensor<i32>, !stablehlo.token)
  return
}

// -----

// CHECK: error: 'stablehlo.recv' op deadlock: replica 0, partition 0 waits here and no process can go on
func.func @main() {
  %0 = stablehlo.create_token : !stablehlo.token
  %1:2 = "stablehlo.recv"(%0) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true} : (!stablehlo.token) -> (tensor<i32>, !stablehlo.token)
  return
}

// -----

// CHECK: error: 'stablehlo.all_reduce' op id 1 of a process group must be below 1, the size of the grid
func.func @main() {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  %1 = "stablehlo.all_reduce"(%0) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<i32>) -> tensor<i32>
  return
}

// -----

// CHECK: error: 'func.func' op has no body to run
func.func private @main()
