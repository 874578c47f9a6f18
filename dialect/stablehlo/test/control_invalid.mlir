// RUN: alula-opt %s -split-input-file -verify-diagnostics

func.func @if_pred(%p: tensor<1xi1>, %a: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.if': pred must be a scalar: operands are 'tensor<1xi1>'}}
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %a : tensor<f32>
  }, {
    stablehlo.return %a : tensor<f32>
  }) : (tensor<1xi1>) -> tensor<f32>
  return
}

// -----

func.func @if_arguments(%p: tensor<i1>, %a: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.if': branches must not take arguments: branch 1 takes 1}}
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %a : tensor<f32>
  }, {
  ^bb0(%x: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return
}

// -----

func.func @if_types(%p: tensor<i1>, %a: tensor<f32>, %b: tensor<f64>) {
  // expected-error@+1 {{'stablehlo.if': branches must return compatible types: branch 0 returns 'tensor<f32>', branch 1 returns 'tensor<f64>'}}
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %a : tensor<f32>
  }, {
    stablehlo.return %b : tensor<f64>
  }) : (tensor<i1>) -> tensor<f32>
  return
}

// -----

func.func @if_result(%p: tensor<i1>, %a: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.if': result types must agree with the inferred ones: inferred 'tensor<f32>', got 'tensor<f64>'}}
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %a : tensor<f32>
  }, {
    stablehlo.return %a : tensor<f32>
  }) : (tensor<i1>) -> tensor<f64>
  return
}

// -----

// What branches return differently is unknown after them, up to the larger size.
func.func @if_sizes(%p: tensor<i1>, %a: tensor<?xf32, #stablehlo.bounds<3>>, %b: tensor<?xf32, #stablehlo.bounds<5>>) {
  // expected-error@+1 {{inferred 'tensor<?xf32, #stablehlo.bounds<5>>', got 'tensor<6xf32>'}}
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %a : tensor<?xf32, #stablehlo.bounds<3>>
  }, {
    stablehlo.return %b : tensor<?xf32, #stablehlo.bounds<5>>
  }) : (tensor<i1>) -> tensor<6xf32>
  return
}

// -----

func.func @case_nothing(%i: tensor<i32>) {
  // expected-error@+1 {{'stablehlo.case': needs a branch: has none}}
  %0 = "stablehlo.case"(%i) : (tensor<i32>) -> tensor<f32>
  return
}

// -----

func.func @case_index(%i: tensor<2xi32>, %a: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.case': index must be a scalar: operands are 'tensor<2xi32>'}}
  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %a : tensor<f32>
  }) : (tensor<2xi32>) -> tensor<f32>
  return
}

// -----

func.func @while_cond_arguments(%a: tensor<f32>, %p: tensor<i1>) {
  // expected-error@+1 {{'stablehlo.while': cond must take the operands' types: takes ('tensor<f64>'), operands are ('tensor<f32>')}}
  %0 = "stablehlo.while"(%a) ({
  ^bb0(%x: tensor<f64>):
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @while_body_arguments(%a: tensor<f32>, %p: tensor<i1>) {
  // expected-error@+1 {{'stablehlo.while': body must take the operands' types: takes (), operands are ('tensor<f32>')}}
  %0 = "stablehlo.while"(%a) ({
  ^bb0(%x: tensor<f32>):
    stablehlo.return %p : tensor<i1>
  }, {
    stablehlo.return %a : tensor<f32>
  }) : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @while_body_result(%a: tensor<f32>, %b: tensor<f64>, %p: tensor<i1>) {
  // expected-error@+1 {{'stablehlo.while': body must return the operands' types: returns ('tensor<f64>'), operands are ('tensor<f32>')}}
  %0 = stablehlo.while(%x = %a) : tensor<f32>
  cond {
    stablehlo.return %p : tensor<i1>
  } do {
    stablehlo.return %b : tensor<f64>
  }
  return
}

// -----

func.func @while_cond_result(%a: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.while': cond must return tensor<i1>: returns ('tensor<f32>')}}
  %0 = stablehlo.while(%x = %a) : tensor<f32>
  cond {
    stablehlo.return %x : tensor<f32>
  } do {
    stablehlo.return %x : tensor<f32>
  }
  return
}

// -----

func.func @while_result(%a: tensor<f32>, %p: tensor<i1>) {
  // expected-error@+1 {{'stablehlo.while': result types must agree with the inferred ones: inferred 'tensor<f32>', got 'tensor<f64>'}}
  %0 = "stablehlo.while"(%a) ({
  ^bb0(%x: tensor<f32>):
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<f32>) -> tensor<f64>
  return
}

// -----

func.func @barrier(%a: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.optimization_barrier': types of operand 0 and result 0 must be equal: 'tensor<f32>' and 'tensor<f64>'}}
  %0 = "stablehlo.optimization_barrier"(%a) : (tensor<f32>) -> tensor<f64>
  return
}

// -----

func.func @barrier_count(%a: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.optimization_barrier': number of operands and results must be equal: 1 operands, 0 results}}
  "stablehlo.optimization_barrier"(%a) : (tensor<f32>) -> ()
  return
}

// -----

func.func @tuple(%a: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.tuple': result types must agree with the inferred ones: inferred 'tuple<tensor<f32>>', got 'tuple<tensor<f64>>'}}
  %0 = "stablehlo.tuple"(%a) : (tensor<f32>) -> tuple<tensor<f64>>
  return
}

// -----

func.func @tuple_index(%a: tuple<tensor<f32>>) {
  // expected-error@+1 {{'stablehlo.get_tuple_element': index must be in range [0, 1): 1 is not}}
  %0 = stablehlo.get_tuple_element %a[1] : (tuple<tensor<f32>>) -> tensor<f32>
  return
}

// -----

func.func @tuple_negative_index(%a: tuple<tensor<f32>>) {
  // expected-error@+1 {{'stablehlo.get_tuple_element': index must be in range [0, 1): -1 is not}}
  %0 = "stablehlo.get_tuple_element"(%a) {index = -1 : i32} : (tuple<tensor<f32>>) -> tensor<f32>
  return
}

// -----

func.func @tuple_element(%a: tuple<tensor<f32>>) {
  // expected-error@+1 {{'stablehlo.get_tuple_element': result types must agree with the inferred ones: inferred 'tensor<f32>', got 'tensor<f64>'}}
  %0 = stablehlo.get_tuple_element %a[0] : (tuple<tensor<f32>>) -> tensor<f64>
  return
}

// -----

func.func @async_body(%a: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.async_start': body must have one op and a terminator: has not}}
  %0 = "stablehlo.async_start"(%a) ({
  ^bb0(%x: tensor<4xf32>):
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
  return
}

// -----

func.func @async_op(%a: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.async_start': body must have a collective or a slice op: has stablehlo.abs}}
  %0 = "stablehlo.async_start"(%a) ({
  ^bb0(%x: tensor<4xf32>):
    %1 = stablehlo.abs %x : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
  return
}

// -----

func.func @async_arguments(%a: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.async_start': body must take the operands' types: takes 'tensor<5xf32>', operands are 'tensor<4xf32>'}}
  %0 = "stablehlo.async_start"(%a) ({
  ^bb0(%x: tensor<5xf32>):
    %1 = stablehlo.slice %x [0:1] : (tensor<5xf32>) -> tensor<1xf32>
    stablehlo.return %1 : tensor<1xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<1xf32>>
  return
}

// -----

func.func @async_results(%a: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.async_start': body must return one value: returns 2}}
  %0 = "stablehlo.async_start"(%a) ({
  ^bb0(%x: tensor<4xf32>):
    %1 = stablehlo.slice %x [0:1] : (tensor<4xf32>) -> tensor<1xf32>
    stablehlo.return %1, %1 : tensor<1xf32>, tensor<1xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<1xf32>, tensor<1xf32>>
  return
}

// -----

func.func @async_future(%a: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.async_start': result types must agree with the inferred ones: inferred '!stablehlo.future<tensor<1xf32>>', got '!stablehlo.future<tensor<2xf32>>'}}
  %0 = "stablehlo.async_start"(%a) ({
  ^bb0(%x: tensor<4xf32>):
    %1 = stablehlo.slice %x [0:1] : (tensor<4xf32>) -> tensor<1xf32>
    stablehlo.return %1 : tensor<1xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<2xf32>>
  return
}

// -----

func.func @async_done(%f: !stablehlo.future<tensor<f32>, tensor<f32>>) {
  // expected-error@+1 {{'stablehlo.async_done': operand must be a future of one type: operands are '!stablehlo.future<tensor<f32>, tensor<f32>>'}}
  %0 = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<f32>, tensor<f32>>) -> tensor<f32>
  return
}
