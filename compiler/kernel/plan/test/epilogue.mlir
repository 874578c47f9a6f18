// RUN: alula-compile %s --target=cpu:x86-64-v3 --compile-to=plan -o - | FileCheck %s

// What follows each block; what is between may be read twice.
// CHECK-LABEL: func.func @twice_
// CHECK: stablehlo.dot_general {{.*}}#plan.stage<product [[N:[0-9]+]]
// CHECK: stablehlo.logistic {{.*}}#plan.stage<epilogue [[N]]>
// CHECK: stablehlo.multiply {{.*}}#plan.stage<epilogue [[N]]>
func.func @twice(%x: tensor<256x256xf32>, %w: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %1 = stablehlo.logistic %0 : tensor<256x256xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<256x256xf32>
  return %2 : tensor<256x256xf32>
}

// A type of as many bits keeps indices too.
// CHECK-LABEL: func.func @bits_
// CHECK: stablehlo.dot_general {{.*}}#plan.stage<product [[N:[0-9]+]]
// CHECK: stablehlo.bitcast_convert {{.*}}#plan.stage<epilogue [[N]]>
func.func @bits(%x: tensor<256x256xf32>, %w: tensor<256x256xf32>) -> tensor<256x256xi32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %1 = stablehlo.bitcast_convert %0 : (tensor<256x256xf32>) -> tensor<256x256xi32>
  return %1 : tensor<256x256xi32>
}

// Elements at other places are no epilogue: the product is written.
// CHECK-LABEL: func.func @turned_
// CHECK: stablehlo.dot_general
// CHECK-NOT: plan.stage<epilogue
// CHECK-LABEL: func.func @whole_
func.func @turned(%x: tensor<256x256xf32>, %w: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<256x256xf32>) -> tensor<256x256xf32>
  %2 = stablehlo.negate %1 : tensor<256x256xf32>
  return %2 : tensor<256x256xf32>
}

// The product itself is a result too: nothing follows it block by block.
// CHECK: stablehlo.dot_general
// CHECK-NOT: plan.stage<epilogue
func.func @whole(%x: tensor<320x256xf32>, %w: tensor<256x256xf32>) -> (tensor<320x256xf32>, tensor<320x256xf32>) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<320x256xf32>, tensor<256x256xf32>) -> tensor<320x256xf32>
  %1 = stablehlo.negate %0 : tensor<320x256xf32>
  return %0, %1 : tensor<320x256xf32>, tensor<320x256xf32>
}
