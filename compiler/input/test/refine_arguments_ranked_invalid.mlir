// RUN: alula-opt --verify-diagnostics "--input-refine-arguments=types=tensor<*xf32>" %s

// expected-error@+1 {{'func.func': refined type must be ranked: argument 0 is 'tensor<?xf32>', asked for 'tensor<*xf32>'}}
func.func @main(%x: tensor<?xf32>) {
  return
}
