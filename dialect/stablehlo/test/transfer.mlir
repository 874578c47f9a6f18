// RUN: alula-opt %s | FileCheck %s
// RUN: alula-opt %s | alula-opt | FileCheck %s
// RUN: alula-opt %s --mlir-print-op-generic | alula-opt | FileCheck %s
// RUN: alula-opt %s --emit=bytecode | alula-opt | FileCheck %s

// CHECK-LABEL: @queues
// CHECK: "stablehlo.infeed"({{.*}}) <{infeed_config = "queue", layout = {{\[\[}}0, 1], []]}> : (!stablehlo.token) -> (tensor<3x4xf32>, tensor<i1>, !stablehlo.token)
// CHECK: "stablehlo.infeed"({{.*}}) <{{.*}}> : (!stablehlo.token) -> !stablehlo.token
// CHECK: "stablehlo.outfeed"({{.*}}) <{outfeed_config = "queue"}> : (tensor<3x4xf32>, tensor<i1>, !stablehlo.token) -> !stablehlo.token
// CHECK: "stablehlo.outfeed"({{.*}}) <{{.*}}> : (!stablehlo.token) -> !stablehlo.token
func.func @queues(%t: !stablehlo.token) -> !stablehlo.token {
  %0:3 = "stablehlo.infeed"(%t) <{infeed_config = "queue", layout = [[0, 1], []]}>
      : (!stablehlo.token) -> (tensor<3x4xf32>, tensor<i1>, !stablehlo.token)
  %1 = "stablehlo.infeed"(%0#2) <{infeed_config = ""}> : (!stablehlo.token) -> !stablehlo.token
  %2 = "stablehlo.outfeed"(%0#0, %0#1, %1) <{outfeed_config = "queue"}>
      : (tensor<3x4xf32>, tensor<i1>, !stablehlo.token) -> !stablehlo.token
  %3 = "stablehlo.outfeed"(%2) <{outfeed_config = ""}> : (!stablehlo.token) -> !stablehlo.token
  return %3 : !stablehlo.token
}

// CHECK-LABEL: @messages
// CHECK: "stablehlo.send"({{.*}}) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}>
// CHECK: "stablehlo.send"({{.*}}) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, source_target_pairs = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>}>
// CHECK: "stablehlo.recv"({{.*}}) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, source_target_pairs = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>}>
// CHECK: "stablehlo.recv"({{.*}}) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 3>, is_host_transfer = true}>
func.func @messages(%x: tensor<3xf32>, %t: !stablehlo.token) -> !stablehlo.token {
  %0 = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}>
      : (tensor<3xf32>, !stablehlo.token) -> !stablehlo.token
  %1 = "stablehlo.send"(%x, %0) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>,
      source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<3xf32>, !stablehlo.token) -> !stablehlo.token
  %2:2 = "stablehlo.recv"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>,
      source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (!stablehlo.token) -> (tensor<3xf32>, !stablehlo.token)
  %3 = "stablehlo.recv"(%2#1) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 3>, is_host_transfer = true}>
      : (!stablehlo.token) -> !stablehlo.token
  return %3 : !stablehlo.token
}
