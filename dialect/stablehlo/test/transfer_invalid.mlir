// RUN: alula-opt %s -split-input-file -verify-diagnostics

func.func @infeed_nothing(%t: !stablehlo.token) {
  // expected-error@+1 {{'stablehlo.infeed': results must end with a token: there are none}}
  "stablehlo.infeed"(%t) <{infeed_config = ""}> : (!stablehlo.token) -> ()
  return
}

// -----

func.func @infeed_no_token(%t: !stablehlo.token) {
  // expected-error@+1 {{'stablehlo.infeed': results must end with a token: last is 'tensor<i32>'}}
  %0 = "stablehlo.infeed"(%t) <{infeed_config = ""}> : (!stablehlo.token) -> tensor<i32>
  return
}

// -----

func.func @infeed_two_tokens(%t: !stablehlo.token) {
  // expected-error@+1 {{'stablehlo.infeed': results before the last must be tensors: result 0 is '!stablehlo.token'}}
  %0:2 = "stablehlo.infeed"(%t) <{infeed_config = ""}> : (!stablehlo.token) -> (!stablehlo.token, !stablehlo.token)
  return
}

// -----

func.func @infeed_layout_count(%t: !stablehlo.token) {
  // expected-error@+1 {{'stablehlo.infeed': layout must have an entry for each tensor: 1 tensors, 2 entries}}
  %0:2 = "stablehlo.infeed"(%t) <{infeed_config = "", layout = [[0, 1], [0]]}> : (!stablehlo.token) -> (tensor<3x3xi32>, !stablehlo.token)
  return
}

// -----

func.func @infeed_layout_entry(%t: !stablehlo.token) {
  // expected-error@+1 {{'stablehlo.infeed': layout must have arrays of integers: has 0 : i64}}
  %0:2 = "stablehlo.infeed"(%t) <{infeed_config = "", layout = [0]}> : (!stablehlo.token) -> (tensor<3x3xi32>, !stablehlo.token)
  return
}

// -----

func.func @infeed_layout_dim(%t: !stablehlo.token) {
  // expected-error@+1 {{'stablehlo.infeed': layout must have arrays of integers: has []}}
  %0:2 = "stablehlo.infeed"(%t) <{infeed_config = "", layout = [[0, []]]}> : (!stablehlo.token) -> (tensor<3x3xi32>, !stablehlo.token)
  return
}

// -----

func.func @send_to_host(%x: tensor<3xi32>, %t: !stablehlo.token) {
  // expected-error@+1 {{'stablehlo.send': channel type must be DEVICE_TO_HOST (2) if is_host_transfer is true: is 1}}
  %0 = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, is_host_transfer = true}> : (tensor<3xi32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

func.func @send_to_device(%x: tensor<3xi32>, %t: !stablehlo.token) {
  // expected-error@+1 {{'stablehlo.send': channel type must be DEVICE_TO_DEVICE (1) if is_host_transfer is false: is 2}}
  %0 = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>, is_host_transfer = false}> : (tensor<3xi32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

func.func @send_pairs(%x: tensor<3xi32>, %t: !stablehlo.token) {
  // expected-error@+1 {{'stablehlo.send': source_target_pairs must have unique sources: 0 is repeated}}
  %0 = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, is_host_transfer = false, source_target_pairs = dense<[[0, 1], [0, 2]]> : tensor<2x2xi64>}> : (tensor<3xi32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

func.func @recv_from_host(%t: !stablehlo.token) {
  // expected-error@+1 {{'stablehlo.recv': channel type must be HOST_TO_DEVICE (3) if is_host_transfer is true: is 2}}
  %0:2 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<3xi32>, !stablehlo.token)
  return
}

// -----

func.func @recv_from_device(%t: !stablehlo.token) {
  // expected-error@+1 {{'stablehlo.recv': channel type must be DEVICE_TO_DEVICE (1) if is_host_transfer is false: is 0}}
  %0:2 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 0>, is_host_transfer = false}> : (!stablehlo.token) -> (tensor<3xi32>, !stablehlo.token)
  return
}

// -----

func.func @recv_nothing(%t: !stablehlo.token) {
  // expected-error@+1 {{'stablehlo.recv': results must end with a token: there are none}}
  "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> ()
  return
}

// -----

func.func @recv_no_token(%t: !stablehlo.token) {
  // expected-error@+1 {{'stablehlo.recv': results must end with a token: last is 'tensor<3xi32>'}}
  %0 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> tensor<3xi32>
  return
}

// -----

func.func @recv_two_tokens(%t: !stablehlo.token) {
  // expected-error@+1 {{'stablehlo.recv': results before the last must be tensors: result 0 is '!stablehlo.token'}}
  %0:2 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> (!stablehlo.token, !stablehlo.token)
  return
}

// -----

func.func @recv_pairs(%t: !stablehlo.token) {
  // expected-error@+1 {{'stablehlo.recv': source_target_pairs must have shape [N, 2]: is [1, 3]}}
  %0:2 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, is_host_transfer = false, source_target_pairs = dense<0> : tensor<1x3xi64>}> : (!stablehlo.token) -> (tensor<3xi32>, !stablehlo.token)
  return
}
