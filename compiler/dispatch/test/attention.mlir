// RUN: sed 's/^module/module attributes {dispatch.machine = #dispatch.machine<cpu, block_threads = 256, lanes = 32, attention_head = 128>}/' %s > %t.mlir
// RUN: alula-opt %t.mlir -dispatch-form-kernels | FileCheck %s --check-prefix=ONE
// RUN: alula-opt %t.mlir -pass-pipeline='builtin.module(dispatch-form-kernels,dispatch.executable(kernel-assign-plans,kernel-verify-plans))' | FileCheck %s --check-prefix=PLAN
// RUN: alula-opt %s -dispatch-form-kernels | FileCheck %s --check-prefix=ONE
// RUN: sed 's/^module/module attributes {dispatch.machine = #dispatch.machine<cpu, attention_head = 0>}/' %s > %t.none.mlir
// RUN: alula-opt %t.none.mlir -dispatch-form-kernels | FileCheck %s --check-prefix=OTHER
// RUN: sed 's/bf16/f16/g; s/0xFF80/0xFC00/' %s | alula-opt -dispatch-form-kernels | FileCheck %s --check-prefix=OTHER
// RUN: sed 's/x300x128xbf16/x15x128xbf16/g; s/x300x300x/x15x15x/g; s/<4x300x/<4x15x/g; s/<300x4x/<15x4x/g; s/<4x300x/<4x15x/g' %s | alula-opt -dispatch-form-kernels | FileCheck %s --check-prefix=OTHER

// With the mask, which nobody else reads, and what moves the result: where
// workgroups do that. Elsewhere it is several kernels, as on a core with f16,
// which it does not multiply, and with few rows.
// ONE: dispatch.launch
// ONE-NOT: dispatch.launch
// ONE: stablehlo.iota
// ONE: stablehlo.dot_general
// ONE: stablehlo.transpose
// OTHER-COUNT-3: dispatch.launch

// PLAN: stablehlo.dot_general{{.*}}plan.stage = #plan.stage<attention 0>
// PLAN: stablehlo.iota{{.*}}plan.stage = #plan.stage<attention 0>
// PLAN: stablehlo.reduce{{.*}}plan.stage = #plan.stage<attention 0>
// PLAN: stablehlo.transpose{{.*}}plan.stage = #plan.stage<attention 0>
// PLAN-NOT: #plan.stage<{{[^a]}}
module {
func.func @main(%q: tensor<4x300x128xbf16>, %k: tensor<4x300x128xbf16>, %v: tensor<4x300x128xbf16>) -> tensor<300x4x128xbf16> {
  %ninf = stablehlo.constant dense<0xFF80> : tensor<bf16>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %scale = stablehlo.constant dense<0.125> : tensor<4x300x300xbf16>
  %hidden = stablehlo.constant dense<0xFF80> : tensor<4x300x300xbf16>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x300x128xbf16>, tensor<4x300x128xbf16>) -> tensor<4x300x300xbf16>
  %scaled = stablehlo.multiply %s, %scale : tensor<4x300x300xbf16>
  %i = stablehlo.iota dim = 1 : tensor<4x300x300xi32>
  %j = stablehlo.iota dim = 2 : tensor<4x300x300xi32>
  %seen = stablehlo.compare GE, %i, %j : (tensor<4x300x300xi32>, tensor<4x300x300xi32>) -> tensor<4x300x300xi1>
  %x = stablehlo.select %seen, %scaled, %hidden : tensor<4x300x300xi1>, tensor<4x300x300xbf16>
  %m = stablehlo.reduce(%x init: %ninf) applies stablehlo.maximum across dimensions = [2] : (tensor<4x300x300xbf16>, tensor<bf16>) -> tensor<4x300xbf16>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<4x300xbf16>) -> tensor<4x300x300xbf16>
  %d = stablehlo.subtract %x, %mb : tensor<4x300x300xbf16>
  %w = stablehlo.convert %d : (tensor<4x300x300xbf16>) -> tensor<4x300x300xf32>
  %e = stablehlo.exponential %w : tensor<4x300x300xf32>
  %t = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<4x300x300xf32>, tensor<f32>) -> tensor<4x300xf32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [0, 1] : (tensor<4x300xf32>) -> tensor<4x300x300xf32>
  %p = stablehlo.divide %e, %tb : tensor<4x300x300xf32>
  %pw = stablehlo.convert %p : (tensor<4x300x300xf32>) -> tensor<4x300x300xbf16>
  %o = stablehlo.dot_general %pw, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x300x300xbf16>, tensor<4x300x128xbf16>) -> tensor<4x300x128xbf16>
  %r = stablehlo.transpose %o, dims = [1, 0, 2] : (tensor<4x300x128xbf16>) -> tensor<300x4x128xbf16>
  return %r : tensor<300x4x128xbf16>
}
}
