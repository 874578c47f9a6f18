// RUN: alula-opt --verify-diagnostics "--input-refine-arguments=types=tensor<2xq32>" %s

// expected-error@+1 {{'func.func': type to refine to can't be read: tensor<2xq32>}}
func.func @main(%x: tensor<?xf32>) {
  return
}
