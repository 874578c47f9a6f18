// What failing checks say.
// RUN: not alula-interpret %s --function=equal 2>&1 | FileCheck %s --check-prefix=EQUAL
// RUN: not alula-interpret %s --function=almost 2>&1 | FileCheck %s --check-prefix=ALMOST
// RUN: not alula-interpret %s --function=close 2>&1 | FileCheck %s --check-prefix=CLOSE
// RUN: not alula-interpret %s --function=call 2>&1 | FileCheck %s --check-prefix=CALL
// RUN: not alula-interpret %s --function=assertion 2>&1 | FileCheck %s --check-prefix=ASSERTION
// RUN: not alula-interpret %s --function=probe 2>&1 | FileCheck %s --check-prefix=PROBE

// EQUAL: checks_fail.mlir":[[@LINE+4]]:3): error: 'check.expect_eq' op check failed: expected 4, actual 2, index [1], 1 of 2 elements differ
func.func @equal() {
  %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %1 = stablehlo.constant dense<[1, 4]> : tensor<2xi32>
  check.expect_eq %0, %1 : tensor<2xi32>
  return
}

// ALMOST: 'check.expect_almost_eq_const' op check failed: expected 1.000000e+00, actual 1.500000e+00, index [], 1 of 1 elements differ
func.func @almost() {
  %0 = stablehlo.constant dense<1.5> : tensor<f64>
  check.expect_almost_eq_const %0, dense<1.0> : tensor<f64>, tolerance = 0.25
  return
}

// CLOSE: 'check.expect_close' op check failed: expected inf, actual 1.000000e+00, index [0, 1], 1 of 2 elements differ
func.func @close() {
  %0 = stablehlo.constant dense<[[1.0, 1.0]]> : tensor<1x2xf16>
  %1 = stablehlo.constant dense<[[1.0, 0x7C00]]> : tensor<1x2xf16>
  check.expect_close %0, %1, max_ulp_difference = 3 : tensor<1x2xf16>, tensor<1x2xf16>
  return
}

// CALL: 'stablehlo.custom_call' op check failed: expected a tensor of [2] i32, actual [1] i32
func.func @call() {
  %0 = stablehlo.constant dense<[1]> : tensor<1xi32>
  %1 = stablehlo.constant dense<[1, 4]> : tensor<2xi32>
  stablehlo.custom_call @check.expect_eq(%0, %1) {has_side_effect = true} : (tensor<1xi32>, tensor<2xi32>) -> ()
  return
}

// ASSERTION: 'stablehlo.custom_call' op need 4 columns, got 3
func.func @assertion() {
  %0 = stablehlo.constant dense<false> : tensor<i1>
  %1 = stablehlo.constant dense<3> : tensor<i32>
  stablehlo.custom_call @shape_assertion(%0, %1) {has_side_effect = true, error_message = "need 4 columns, got {0}"} : (tensor<i1>, tensor<i32>) -> ()
  return
}

// PROBE: 'check.expect_serialized_eq' op check failed: the probe "p" has no iteration 1
func.func @probe() {
  %0 = stablehlo.constant dense<3> : tensor<i32>
  %1 = interpreter.probe %0, probe_id = "p" : tensor<i32>
  check.expect_serialized_eq %1, probe_id = "p" : tensor<i32>
  check.expect_serialized_eq %1, probe_id = "p", iter = 1 : tensor<i32>
  return
}
