// One artifact for two kinds of machines: each has its own grids.
// RUN: alula-compile %s --target=cpu:x86-64-v3 --target=cpu:aarch64:cores=2:l2_bytes=1M:l3_bytes=0 --target=cpu:x86-64 -o %t.alula
// RUN: alula-inspect %t.alula | FileCheck %s
// CHECK: artifact version 1.3
// CHECK: program 0 "cpu:x86-64-v3": for 16 cores, 262144 bytes of cache each
// CHECK: options = "cpu:x86-64-v3,cpu:x86-64"
// CHECK: variant 0 "x86-64-v3": x86_64
// CHECK: variant 1 "x86-64": x86_64
// CHECK: dispatch @main_0 grid(64, 1, 1)
// CHECK: program 1 "cpu:aarch64:cores=2:l2_bytes=1M:l3_bytes=0": for 2 cores, 1048576 bytes of cache each
// CHECK: variant 0 "aarch64": aarch64
// CHECK: dispatch @main_0 grid(8, 1, 1)
// RUN: alula-inspect %t.alula --program=cpu:x86-64-v3 | FileCheck %s --check-prefix=ONE
// ONE: artifact version 1.0
// ONE-NOT: program
// RUN: not alula-inspect %t.alula --extract=aarch64 2>&1 | FileCheck %s --check-prefix=WHICH
// WHICH: it has several programs: --program chooses one of cpu:x86-64-v3, cpu:aarch64:cores=2:l2_bytes=1M:l3_bytes=0

// The same facts are one kind, of whatever architecture, and one program.
// RUN: alula-compile %s --target=cpu:x86-64-v3 --target=cpu:aarch64 -o - | alula-inspect - | FileCheck %s --check-prefix=SAME
// SAME: artifact version 1.0
// SAME: variant 1 "aarch64"

// Dumps of a kind have a folder of their own, and know for which one they are.
// RUN: rm -rf %t.stages
// RUN: alula-compile %s --target=cpu:x86-64-v3 --target=cpu:aarch64:cores=2 --dump-stages-to=%t.stages -o %t.whole.alula
// RUN: FileCheck %s --check-prefix=DUMP < %t.stages/cpu-aarch64-cores=2/04.dispatch.mlir
// DUMP: dispatch.machine = #dispatch.machine<cpu, index_bits = 64, cores = 2,
// RUN: alula-compile %t.stages/cpu-aarch64-cores=2/04.dispatch.mlir -o %t.one.alula
// RUN: alula-inspect %t.one.alula | FileCheck %s --check-prefix=RESUMED
// RESUMED-NOT: x86
// RESUMED: variant 0 "aarch64"
// RUN: not alula-compile %s --target=cpu:x86-64-v3 --target=cpu:aarch64:cores=2 --compile-to=kernel -o - 2>&1 | FileCheck %s --check-prefix=STOP
// STOP: [stage-usage] the program is compiled for several kinds of machines, which after stage 'partition' are programs of their own: name targets of one kind: cpu:x86-64-v3, cpu:aarch64:cores=2

// RUN: not alula-compile %s --target=cpu:aarch64:core=2 -o - 2>&1 | FileCheck %s --check-prefix=FACT
// FACT: no such fact of a cpu: 'core'; there are index_bits, cores,
// RUN: not alula-compile %s --target=cpu:aarch64:l2_bytes=1MB -o - 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: l2_bytes must be a number, perhaps with K, M or G: is '1MB'
// RUN: not alula-compile %s --target=cpu:aarch64:line_bytes=48 -o - 2>&1 | FileCheck %s --check-prefix=POWER
// POWER: line_bytes must be a power of two: is 48

func.func @main(%x: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %0 = stablehlo.add %x, %x : tensor<1024x1024xf32>
  return %0 : tensor<1024x1024xf32>
}
