// RUN: alula-opt %s | FileCheck %s
// RUN: alula-opt %s --emit=generic | alula-opt | FileCheck %s

// CHECK-LABEL: @while
// CHECK-SAME: (%[[A:.*]]: tensor<i32>, %[[T:.*]]: !stablehlo.token)
func.func @while(%a: tensor<i32>, %t: !stablehlo.token) -> tensor<i32> {
  // CHECK: %[[W:.*]]:2 = stablehlo.while(%[[X:.*]] = %[[A]], %[[Y:.*]] = %[[T]]) : tensor<i32>, !stablehlo.token attributes {note = 1 : i32}
  // CHECK-NEXT: cond {
  // CHECK-NEXT: stablehlo.compare LT, %[[X]], %[[A]]
  // CHECK: } do {
  // CHECK-NEXT: stablehlo.add %[[X]], %[[X]]
  // CHECK-NEXT: stablehlo.return %{{.*}}, %[[Y]] : tensor<i32>, !stablehlo.token
  %0:2 = stablehlo.while(%x = %a, %y = %t) : tensor<i32>, !stablehlo.token attributes {note = 1 : i32}
  cond {
    %1 = stablehlo.compare LT, %x, %a : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %x, %x : tensor<i32>
    stablehlo.return %1, %y : tensor<i32>, !stablehlo.token
  }
  return %0#0 : tensor<i32>
}

// CHECK-LABEL: @while_nothing
func.func @while_nothing(%p: tensor<i1>) {
  // CHECK: stablehlo.while()
  // CHECK-NEXT: cond {
  stablehlo.while()
  cond {
    stablehlo.return %p : tensor<i1>
  } do {
    stablehlo.return
  }
  return
}

// CHECK-LABEL: @branches
func.func @branches(%p: tensor<i1>, %i: tensor<i32>, %a: tensor<2xf32>, %b: tensor<?xf32>) {
  // CHECK: "stablehlo.if"(%{{.*}}) ({
  // CHECK: }) : (tensor<i1>) -> tensor<?xf32>
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %a : tensor<2xf32>
  }, {
    stablehlo.return %b : tensor<?xf32>
  }) : (tensor<i1>) -> tensor<?xf32>
  // CHECK: "stablehlo.case"(%{{.*}}) ({
  %1:2 = "stablehlo.case"(%i) ({
    stablehlo.return %a, %a : tensor<2xf32>, tensor<2xf32>
  }) : (tensor<i32>) -> (tensor<2xf32>, tensor<2xf32>)
  return
}

// CHECK-LABEL: @tuples_and_tokens
func.func @tuples_and_tokens(%a: tensor<i32>, %f: tensor<f32>) {
  // CHECK: stablehlo.tuple %{{.*}}, %{{.*}} : tuple<tensor<i32>, tensor<f32>>
  %0 = stablehlo.tuple %a, %f : tuple<tensor<i32>, tensor<f32>>
  // CHECK: stablehlo.get_tuple_element %{{.*}}[1] : (tuple<tensor<i32>, tensor<f32>>) -> tensor<f32>
  %1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<i32>, tensor<f32>>) -> tensor<f32>
  // CHECK: stablehlo.tuple : tuple<>
  %2 = stablehlo.tuple : tuple<>
  // CHECK: stablehlo.create_token : !stablehlo.token
  %3 = stablehlo.create_token : !stablehlo.token
  // CHECK: stablehlo.after_all %{{.*}}, %{{.*}} : !stablehlo.token
  %4 = stablehlo.after_all %3, %3 : !stablehlo.token
  // CHECK: stablehlo.after_all : !stablehlo.token
  %5 = stablehlo.after_all : !stablehlo.token
  // CHECK: stablehlo.optimization_barrier()
  stablehlo.optimization_barrier()
  // CHECK: stablehlo.optimization_barrier %{{.*}}, %{{.*}} : tensor<i32>, !stablehlo.token
  %6:2 = stablehlo.optimization_barrier %a, %5 : tensor<i32>, !stablehlo.token
  return
}

// CHECK-LABEL: @async
func.func @async(%a: tensor<4xf32>) -> tensor<1xf32> {
  // CHECK: "stablehlo.async_start"(%{{.*}}) ({
  // CHECK: }) : (tensor<4xf32>) -> !stablehlo.future<tensor<1xf32>>
  %0 = "stablehlo.async_start"(%a) ({
  ^bb0(%x: tensor<4xf32>):
    %2 = stablehlo.slice %x [0:1] : (tensor<4xf32>) -> tensor<1xf32>
    stablehlo.return %2 : tensor<1xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<1xf32>>
  // CHECK: "stablehlo.async_done"(%{{.*}}) : (!stablehlo.future<tensor<1xf32>>) -> tensor<1xf32>
  %1 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<1xf32>>) -> tensor<1xf32>
  return %1 : tensor<1xf32>
}
