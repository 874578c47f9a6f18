// RUN: alula-opt --split-input-file --verify-diagnostics --input-lower-composite %s

// A function of another module can't be called.
module {
  module @inner {
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      // expected-error@+1 {{'stablehlo.composite': decomposition must be a function of the module: f is none}}
      %0 = stablehlo.composite "my.lowered" %x {decomposition = @f}
          : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      return %x : tensor<4xf32>
    }
  }
}

// -----

module {
  module @inner {
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      // expected-error@+1 {{'stablehlo.composite': decomposition must have the composite's type: '() -> ()' and '(tensor<4xf32>) -> tensor<4xf32>'}}
      %0 = stablehlo.composite "my.lowered" %x {decomposition = @f}
          : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      return %x : tensor<4xf32>
    }
  }
  func.func private @f() {
    return
  }
}
