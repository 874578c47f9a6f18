// RUN: alula-compile --target=cpu:host %s -o %t.alula
// RUN: alula-run %t.alula --function=uniform --expected_output=i1=true --expected_output=i1=true
// RUN: alula-run %t.alula --function=normal --expected_output=i1=true --expected_output=i1=true
// RUN: alula-run %t.alula --function=each --expected_output=i1=false

// 10000 numbers have about the mean and the spread that they should: five
// standard errors are allowed.
module {
func.func private @moments(%x: tensor<10000xf64>) -> (tensor<f64>, tensor<f64>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %count = stablehlo.constant dense<10000.0> : tensor<f64>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<10000xf64>, tensor<f64>) -> tensor<f64>
  %square = stablehlo.multiply %x, %x : tensor<10000xf64>
  %squares = stablehlo.reduce(%square init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<10000xf64>, tensor<f64>) -> tensor<f64>
  %0 = stablehlo.divide %sum, %count : tensor<f64>
  %1 = stablehlo.divide %squares, %count : tensor<f64>
  return %0, %1 : tensor<f64>, tensor<f64>
}

func.func private @near(%x: tensor<f64>, %y: tensor<f64>, %tolerance: tensor<f64>) -> tensor<i1> {
  %0 = stablehlo.subtract %x, %y : tensor<f64>
  %1 = stablehlo.abs %0 : tensor<f64>
  %2 = stablehlo.compare LE, %1, %tolerance : (tensor<f64>, tensor<f64>) -> tensor<i1>
  return %2 : tensor<i1>
}

// Between 1 and 3: mean 2, mean square 13/3.
func.func @uniform() -> (tensor<i1>, tensor<i1>) {
  %low = stablehlo.constant dense<1.0> : tensor<f64>
  %high = stablehlo.constant dense<3.0> : tensor<f64>
  %shape = stablehlo.constant dense<10000> : tensor<1xi64>
  %x = stablehlo.rng %low, %high, %shape, distribution = UNIFORM : (tensor<f64>, tensor<f64>, tensor<1xi64>) -> tensor<10000xf64>
  %0:2 = call @moments(%x) : (tensor<10000xf64>) -> (tensor<f64>, tensor<f64>)
  %mean = stablehlo.constant dense<2.0> : tensor<f64>
  %square = stablehlo.constant dense<4.3333333> : tensor<f64>
  %near = stablehlo.constant dense<0.03> : tensor<f64>
  %far = stablehlo.constant dense<0.12> : tensor<f64>
  %1 = call @near(%0#0, %mean, %near) : (tensor<f64>, tensor<f64>, tensor<f64>) -> tensor<i1>
  %2 = call @near(%0#1, %square, %far) : (tensor<f64>, tensor<f64>, tensor<f64>) -> tensor<i1>
  return %1, %2 : tensor<i1>, tensor<i1>
}

// Mean 1, deviation 2: mean square 5.
func.func @normal() -> (tensor<i1>, tensor<i1>) {
  %mean = stablehlo.constant dense<1.0> : tensor<f64>
  %deviation = stablehlo.constant dense<2.0> : tensor<f64>
  %shape = stablehlo.constant dense<10000> : tensor<1xi64>
  %x = stablehlo.rng %mean, %deviation, %shape, distribution = NORMAL : (tensor<f64>, tensor<f64>, tensor<1xi64>) -> tensor<10000xf64>
  %0:2 = call @moments(%x) : (tensor<10000xf64>) -> (tensor<f64>, tensor<f64>)
  %square = stablehlo.constant dense<5.0> : tensor<f64>
  %near = stablehlo.constant dense<0.1> : tensor<f64>
  %far = stablehlo.constant dense<0.4> : tensor<f64>
  %1 = call @near(%0#0, %mean, %near) : (tensor<f64>, tensor<f64>, tensor<f64>) -> tensor<i1>
  %2 = call @near(%0#1, %square, %far) : (tensor<f64>, tensor<f64>, tensor<f64>) -> tensor<i1>
  return %1, %2 : tensor<i1>, tensor<i1>
}

// Two ops draw different numbers.
func.func @each() -> tensor<i1> {
  %low = stablehlo.constant dense<0> : tensor<i32>
  %high = stablehlo.constant dense<1000000> : tensor<i32>
  %shape = stablehlo.constant dense<9> : tensor<1xi64>
  %x = stablehlo.rng %low, %high, %shape, distribution = UNIFORM : (tensor<i32>, tensor<i32>, tensor<1xi64>) -> tensor<9xi32>
  %y = stablehlo.rng %low, %high, %shape, distribution = UNIFORM : (tensor<i32>, tensor<i32>, tensor<1xi64>) -> tensor<9xi32>
  %same = stablehlo.compare EQ, %x, %y : (tensor<9xi32>, tensor<9xi32>) -> tensor<9xi1>
  %false = stablehlo.constant dense<false> : tensor<i1>
  %0 = stablehlo.reduce(%same init: %false) applies stablehlo.or across dimensions = [0] : (tensor<9xi1>, tensor<i1>) -> tensor<i1>
  return %0 : tensor<i1>
}
}
