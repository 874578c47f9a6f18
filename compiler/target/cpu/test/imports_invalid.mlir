// A dynamic import has no number to give back: what it returns is whether it has
// failed.
// RUN: not alula-compile --target=cpu:host %s --compile-from=kernel -o %t.alula 2>&1 | FileCheck %s
// CHECK: error: 'func.func': a dynamic import must return tensors or nothing: @f
func.func @main(%a: tensor<f32>) -> tensor<f32> {
  %0 = dispatch.launch @e::@e(%a) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
dispatch.executable @e {
  dispatch.entry @e bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    llvm.func @f(!llvm.ptr) -> f32 attributes {dispatch.import = "dynamic"}
    func.func @e(%a: memref<f32>, %b: memref<f32>) attributes {kernel.bindings = 2 : i64, kernel.constants = 0 : i64} {
      %null = llvm.mlir.zero : !llvm.ptr
      %0 = llvm.call @f(%null) : (!llvm.ptr) -> f32
      memref.store %0, %b[] : memref<f32>
      return
    }
  }
}
