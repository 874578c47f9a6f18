// RUN: alula-opt %s --pass-pipeline='builtin.module(dispatch.executable(kernel-convert-stablehlo-to-loops))' --split-input-file | FileCheck %s

// Each tensor is a pointer, results come last; what tools have lowered passes
// the first element of its memrefs.
dispatch.executable @e {
  dispatch.entry @tensors bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  dispatch.entry @memrefs bindings([#dispatch<access write>]) constants 1 workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func private @f(tensor<8xf32>, index) -> tensor<8xf32> attributes {dispatch.import = "static"}
    func.func private @"?g"(memref<?xf32, strided<[1], offset: ?>>, index) -> i32 attributes {dispatch.import = "dynamic"}
    // CHECK-LABEL: func.func @tensors(
    // CHECK-SAME: %[[A:.*]]: memref<f32>, %[[C:.*]]: memref<f32>)
    // CHECK: %[[VIEW_A:.*]] = memref.reinterpret_cast %[[A]]
    // CHECK: %[[VIEW_C:.*]] = memref.reinterpret_cast %[[C]]
    // CHECK: %[[ADDRESS_A:.*]] = memref.extract_aligned_pointer_as_index %[[VIEW_A]]
    // CHECK: %[[POINTER_A:.*]] = llvm.inttoptr
    // CHECK: %[[ADDRESS_C:.*]] = memref.extract_aligned_pointer_as_index %[[VIEW_C]]
    // CHECK: %[[POINTER_C:.*]] = llvm.inttoptr
    // CHECK: llvm.call @f(%[[POINTER_A]], %{{.*}}, %[[POINTER_C]]) : (!llvm.ptr, i64, !llvm.ptr) -> ()
    func.func @tensors(%a: tensor<8xf32>) -> tensor<8xf32> {
      %n = arith.constant 8 : index
      %0 = func.call @f(%a, %n) : (tensor<8xf32>, index) -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }
    // CHECK-LABEL: func.func @memrefs(
    // CHECK: %[[BASE:.*]], %[[OFFSET:.*]], %{{.*}}, %{{.*}} = memref.extract_strided_metadata
    // CHECK: memref.extract_aligned_pointer_as_index %[[BASE]]
    // CHECK: arith.muli %[[OFFSET]], %c4
    // CHECK: llvm.call @"?g"(%{{.*}}, %{{.*}}) : (!llvm.ptr, i64) -> i32
    // CHECK: %[[THERE:.*]] = llvm.mlir.addressof @"?g"
    // CHECK: llvm.icmp "ne" %[[THERE]]
    func.func @memrefs(%a: memref<f32>, %n: index) {
      %view = memref.reinterpret_cast %a to offset: [%n], sizes: [%n], strides: [1] : memref<f32> to memref<?xf32, strided<[1], offset: ?>>
      %0 = func.call @"?g"(%view, %n) : (memref<?xf32, strided<[1], offset: ?>>, index) -> i32
      %1 = dispatch.has_import @"?g" : i1
      scf.if %1 {
        %2 = arith.sitofp %0 : i32 to f32
        memref.store %2, %a[] : memref<f32>
      }
      return
    }
    // CHECK: llvm.func @f(!llvm.ptr, i64, !llvm.ptr) attributes {dispatch.import = "static"}
    // CHECK: llvm.func @"?g"(!llvm.ptr, i64) -> i32 attributes {dispatch.import = "dynamic"}
    // CHECK-NOT: declared
  }
}
