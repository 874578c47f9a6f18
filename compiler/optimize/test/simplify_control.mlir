// RUN: alula-opt %s -split-input-file -optimize-simplify-control | FileCheck %s

// CHECK-LABEL: func.func @known
// CHECK-NOT: stablehlo.{{if|case}}
// CHECK: %[[A:.*]] = stablehlo.negate %arg0
// CHECK: %[[B:.*]] = stablehlo.abs %[[A]]
// CHECK: return %[[B]]
func.func @known(%x: tensor<2xf32>) -> tensor<2xf32> {
  %no = stablehlo.constant dense<false> : tensor<i1>
  %far = stablehlo.constant dense<-3> : tensor<i32>
  %0 = "stablehlo.if"(%no) ({
    stablehlo.return %x : tensor<2xf32>
  }, {
    %1 = stablehlo.negate %x : tensor<2xf32>
    stablehlo.return %1 : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  %2 = "stablehlo.case"(%far) ({
    stablehlo.return %x : tensor<2xf32>
  }, {
    %3 = stablehlo.abs %0 : tensor<2xf32>
    stablehlo.return %3 : tensor<2xf32>
  }) : (tensor<i32>) -> tensor<2xf32>
  return %2 : tensor<2xf32>
}

// -----

// CHECK-LABEL: func.func @carried
// CHECK: %[[R:.*]] = stablehlo.while(%[[I:.*]] = %arg0)
// CHECK: stablehlo.compare LT, %[[I]], %arg1
// CHECK: stablehlo.add %[[I]], %arg1
// CHECK: return %[[R]], %arg1
func.func @carried(%a: tensor<i32>, %n: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %r:2 = stablehlo.while(%i = %a, %m = %n) : tensor<i32>, tensor<i32>
    cond {
      %p = stablehlo.compare LT, %i, %m : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.add %i, %m : tensor<i32>
      stablehlo.return %j, %m : tensor<i32>, tensor<i32>
    }
  return %r#0, %r#1 : tensor<i32>, tensor<i32>
}

// -----

// Does not fire: values that change places are changed.
// CHECK-LABEL: func.func @swapped
// CHECK: stablehlo.while({{.*}}, {{.*}}, {{.*}})
func.func @swapped(%a: tensor<i32>, %b: tensor<i32>, %p: tensor<i1>) -> tensor<i32> {
  %r:3 = stablehlo.while(%x = %a, %y = %b, %q = %p) : tensor<i32>, tensor<i32>, tensor<i1>
    cond {
      stablehlo.return %q : tensor<i1>
    } do {
      %not = stablehlo.not %q : tensor<i1>
      stablehlo.return %y, %x, %not : tensor<i32>, tensor<i32>, tensor<i1>
    }
  return %r#0 : tensor<i32>
}
