// Grids of processes. On two replicas all-reduce adds; infeed gives functions'
// results in order; messages pass between devices.
// RUN: alula-interpret %s --split-input-file --print=none
// RUN: alula-interpret %s --function=sum --replicas=2 --input=3xi32=1,2,3 --expected_output=3xi32=2,4,6

module {
  func.func @sum(%x: tensor<3xi32>) -> tensor<3xi32> {
    %0 = "stablehlo.all_reduce"(%x) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %s = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %s : tensor<i32>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<3xi32>) -> tensor<3xi32>
    return %0 : tensor<3xi32>
  }
  func.func @ring(%x: tensor<i32>) -> tensor<i32> {
    %0 = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>} : (tensor<i32>) -> tensor<i32>
    return %0 : tensor<i32>
  }
  func.func @main() {
    %a = stablehlo.constant dense<7> : tensor<i32>
    %b = stablehlo.constant dense<8> : tensor<i32>
    %c = stablehlo.constant dense<9> : tensor<i32>
    %r:3 = "interpreter.run_parallel"(%a, %b, %c) {programs = [[@ring, @ring, @ring]]} : (tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i32>)
    check.expect_eq_const %r#0, dense<0> : tensor<i32>
    check.expect_eq_const %r#1, dense<7> : tensor<i32>
    check.expect_eq_const %r#2, dense<8> : tensor<i32>
    return
  }
}
