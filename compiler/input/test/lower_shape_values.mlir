// RUN: alula-interpret --split-input-file --print=none --passes=input-lower-shape %s

// What arith says of integers, whose values MLIR's documents and Python give.
func.func @rounding() {
  %a = arith.constant dense<[7, -7, 7, -7, 6, -6, 0]> : tensor<7xi32>
  %b = arith.constant dense<[2, 2, -2, -2, 3, 3, -5]> : tensor<7xi32>
  %0 = arith.divsi %a, %b : tensor<7xi32>
  check.expect_eq_const %0, dense<[3, -3, -3, 3, 2, -2, 0]> : tensor<7xi32>
  %1 = arith.floordivsi %a, %b : tensor<7xi32>
  check.expect_eq_const %1, dense<[3, -4, -4, 3, 2, -2, 0]> : tensor<7xi32>
  %2 = arith.ceildivsi %a, %b : tensor<7xi32>
  check.expect_eq_const %2, dense<[4, -3, -3, 4, 2, -2, 0]> : tensor<7xi32>
  %3 = arith.remsi %a, %b : tensor<7xi32>
  check.expect_eq_const %3, dense<[1, -1, 1, -1, 0, 0, 0]> : tensor<7xi32>
  return
}

// -----

func.func @unsigned() {
  %a = arith.constant dense<[-1, 7, 128]> : tensor<3xi8>
  %b = arith.constant dense<[2, -1, 16]> : tensor<3xi8>
  %0 = arith.divui %a, %b : tensor<3xi8>
  check.expect_eq_const %0, dense<[127, 0, 8]> : tensor<3xi8>
  %1 = arith.ceildivui %a, %b : tensor<3xi8>
  check.expect_eq_const %1, dense<[-128, 1, 8]> : tensor<3xi8>
  %2 = arith.remui %a, %b : tensor<3xi8>
  check.expect_eq_const %2, dense<[1, 7, 0]> : tensor<3xi8>
  %3 = arith.maxui %a, %b : tensor<3xi8>
  check.expect_eq_const %3, dense<[-1, -1, -128]> : tensor<3xi8>
  %4 = arith.minsi %a, %b : tensor<3xi8>
  check.expect_eq_const %4, dense<[-1, -1, -128]> : tensor<3xi8>
  %5 = arith.cmpi ult, %a, %b : tensor<3xi8>
  check.expect_eq_const %5, dense<[false, true, false]> : tensor<3xi1>
  %6 = arith.cmpi slt, %a, %b : tensor<3xi8>
  check.expect_eq_const %6, dense<[true, false, true]> : tensor<3xi1>
  %7 = arith.extui %a : tensor<3xi8> to tensor<3xi32>
  check.expect_eq_const %7, dense<[255, 7, 128]> : tensor<3xi32>
  %8 = arith.extsi %a : tensor<3xi8> to tensor<3xi32>
  check.expect_eq_const %8, dense<[-1, 7, -128]> : tensor<3xi32>
  %9 = arith.uitofp %a : tensor<3xi8> to tensor<3xf32>
  check.expect_eq_const %9, dense<[255.0, 7.0, 128.0]> : tensor<3xf32>
  %10 = arith.fptoui %9 : tensor<3xf32> to tensor<3xi8>
  check.expect_eq_const %10, dense<[-1, 7, -128]> : tensor<3xi8>
  %11 = arith.shrui %a, %b : tensor<3xi8>
  check.expect_eq_const %11, dense<[63, 0, 0]> : tensor<3xi8>
  return
}

// -----

// A bit that is set is -1.
func.func @bits() {
  %a = arith.constant dense<[false, false, true, true]> : tensor<4xi1>
  %b = arith.constant dense<[false, true, false, true]> : tensor<4xi1>
  %0 = arith.addi %a, %b : tensor<4xi1>
  check.expect_eq_const %0, dense<[false, true, true, false]> : tensor<4xi1>
  %1 = arith.subi %a, %b : tensor<4xi1>
  check.expect_eq_const %1, dense<[false, true, true, false]> : tensor<4xi1>
  %2 = arith.cmpi slt, %a, %b : tensor<4xi1>
  check.expect_eq_const %2, dense<[false, false, true, false]> : tensor<4xi1>
  %3 = arith.cmpi ult, %a, %b : tensor<4xi1>
  check.expect_eq_const %3, dense<[false, true, false, false]> : tensor<4xi1>
  %4 = arith.extsi %a : tensor<4xi1> to tensor<4xi32>
  check.expect_eq_const %4, dense<[0, 0, -1, -1]> : tensor<4xi32>
  %5 = arith.extui %a : tensor<4xi1> to tensor<4xi32>
  check.expect_eq_const %5, dense<[0, 0, 1, 1]> : tensor<4xi32>
  %6 = arith.constant dense<[2, 3, -1, 0]> : tensor<4xi32>
  %7 = arith.trunci %6 : tensor<4xi32> to tensor<4xi1>
  check.expect_eq_const %7, dense<[false, true, true, false]> : tensor<4xi1>
  %8 = arith.maxsi %a, %b : tensor<4xi1>
  check.expect_eq_const %8, dense<[false, false, false, true]> : tensor<4xi1>
  %9 = arith.maxui %a, %b : tensor<4xi1>
  check.expect_eq_const %9, dense<[false, true, true, true]> : tensor<4xi1>
  %10 = arith.minsi %a, %b : tensor<4xi1>
  check.expect_eq_const %10, dense<[false, true, true, true]> : tensor<4xi1>
  return
}

// -----

func.func @lists() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %big = arith.constant 4000000000 : index
  %0 = arith.muli %big, %c5 : index
  %1 = tensor.from_elements %c5, %0 : tensor<2xindex>
  %2 = arith.index_cast %1 : tensor<2xindex> to tensor<2xi64>
  check.expect_eq_const %2, dense<[5, 20000000000]> : tensor<2xi64>
  // An index that is only known when it runs.
  %c1_is_less = arith.cmpi slt, %c1, %c2 : index
  %3 = arith.select %c1_is_less, %c1, %c0 : index
  %4 = tensor.extract %1[%3] : tensor<2xindex>
  %5 = arith.index_cast %4 : index to i64
  %6 = tensor.from_elements %5 : tensor<1xi64>
  check.expect_eq_const %6, dense<[20000000000]> : tensor<1xi64>
  %x = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %7 = tensor.extract %x[%c1, %c2] : tensor<2x3xf32>
  %8 = tensor.extract %x[%c0, %3] : tensor<2x3xf32>
  %9 = arith.addf %7, %8 : f32
  %10 = tensor.from_elements %9, %7, %8, %9 : tensor<2x2xf32>
  check.expect_eq_const %10, dense<[[8.0, 6.0], [2.0, 8.0]]> : tensor<2x2xf32>
  return
}
