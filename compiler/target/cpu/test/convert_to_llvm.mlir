// RUN: alula-opt %s --cpu-convert-to-llvm | FileCheck %s
// RUN: alula-opt %s --cpu-convert-to-llvm=index-bits=32 | FileCheck %s --check-prefix=NARROW

// Memory is a bare pointer, an index a number of so many bits.
// CHECK-LABEL: llvm.func @all(
// CHECK-SAME: !llvm.ptr, %{{.*}}: i64
// CHECK-DAG: llvm.load
// CHECK-DAG: llvm.intr.sqrt
// CHECK-DAG: llvm.fmul
// CHECK: llvm.cond_br
// CHECK: llvm.store
// CHECK: llvm.call @other
// NARROW-LABEL: llvm.func @all(
// NARROW-SAME: !llvm.ptr, %{{.*}}: i32
func.func private @other(f32)

func.func @all(%m: memref<16xf32>, %i: index) {
  %0 = memref.load %m[%i] : memref<16xf32>
  %1 = math.sqrt %0 : f32
  %2 = complex.create %1, %0 : complex<f32>
  %3 = complex.re %2 : complex<f32>
  %4 = arith.mulf %3, %0 : f32
  %5 = arith.cmpf olt, %4, %0 : f32
  cf.cond_br %5, ^store, ^end
^store:
  memref.store %4, %m[%i] : memref<16xf32>
  cf.br ^end
^end:
  func.call @other(%4) : (f32) -> ()
  return
}
