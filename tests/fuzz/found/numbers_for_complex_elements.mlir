// error: dense literal: elements of a complex type must be pairs of numbers
func.func @main() -> (tensor<4xcomplex<f64>>) {
    %0 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<4xcomplex<f64>>}> : () -> tensor<4xcomplex<f64>>
    "func.return"(%0) : (tensor<4xcomplex<f64>>) -> ()
}

