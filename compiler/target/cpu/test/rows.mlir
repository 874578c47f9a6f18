// RUN: rm -rf %t && mkdir -p %t
// RUN: alula-compile %s --target=cpu:x86-64-v4-bf16 -o %t.alula --dump-executable-intermediates-to=%t
// RUN: cat %t/*shares_0*.opt.ll %t/*short_1*.opt.ll | FileCheck %s

// The second loop over a row asks for the next one, once for each line.
// Quotients are products with the divisor's inverse and a correction; where a
// vector has other numbers than most have, it is divided.

// CHECK-LABEL: define {{.*}}i32 @shares_0(
// CHECK: vector.reduce.fmax
// CHECK: getelementptr i8, ptr {{.*}}, i64 4096
// CHECK: call void @llvm.prefetch.p0({{.*}}, i32 0, i32 3, i32 1)
// CHECK: vector.reduce.fadd
// CHECK: [[INVERSE:%[0-9]+]] = fdiv <16 x float> <float 1.000000e+00{{.*}}>, [[SUM:%[a-z.]+]]
// CHECK-NOT: prefetch
// CHECK: [[NEAR:%[0-9]+]] = fmul <16 x float> [[X:%[a-z0-9.]+]], [[INVERSE]]
// CHECK: [[REST:%[0-9]+]] = call <16 x float> @llvm.fma.v16f32(<16 x float> {{.*}}, <16 x float> [[NEAR]], <16 x float> [[X]])
// CHECK: call <16 x float> @llvm.fma.v16f32(<16 x float> [[REST]], <16 x float> [[INVERSE]], <16 x float> [[NEAR]])
// CHECK: fdiv <16 x float> [[X]], [[SUM]]
// CHECK: ret i32 0

// Short rows are divided while others are read.

// CHECK-LABEL: define {{.*}}i32 @short_1(
// CHECK-NOT: llvm.fma.
// CHECK: fdiv <16 x float>
// CHECK-NOT: llvm.fma.
// CHECK: ret i32 0

func.func @shares(%x: tensor<64x1024xf32>) -> tensor<64x1024xf32> {
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %most = stablehlo.reduce(%x init: %lowest) applies stablehlo.maximum across dimensions = [1] : (tensor<64x1024xf32>, tensor<f32>) -> tensor<64xf32>
  %mosts = stablehlo.broadcast_in_dim %most, dims = [0] : (tensor<64xf32>) -> tensor<64x1024xf32>
  %less = stablehlo.subtract %x, %mosts : tensor<64x1024xf32>
  %e = stablehlo.exponential %less : tensor<64x1024xf32>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x1024xf32>, tensor<f32>) -> tensor<64xf32>
  %sums = stablehlo.broadcast_in_dim %sum, dims = [0] : (tensor<64xf32>) -> tensor<64x1024xf32>
  %shares = stablehlo.divide %e, %sums : tensor<64x1024xf32>
  func.return %shares : tensor<64x1024xf32>
}

func.func @short(%x: tensor<64x256xf32>, %y: tensor<64xf32>) -> tensor<64x256xf32> {
  %ys = stablehlo.broadcast_in_dim %y, dims = [0] : (tensor<64xf32>) -> tensor<64x256xf32>
  %quotients = stablehlo.divide %x, %ys : tensor<64x256xf32>
  func.return %quotients : tensor<64x256xf32>
}
