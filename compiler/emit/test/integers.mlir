// RUN: alula-compile --target=cpu:host %s --compile-from=kernel -o %t.alula
// RUN: alula-run %t.alula --function=binary --input=2xi8=7,2 --input=19xi8=9,5,14,3,1,3,4,3,4,2,7,2,7,28,1,1,2,7,5
// RUN: alula-run %t.alula --function=binary --input=2xi8=-7,2 --input=19xi8=-5,-9,-14,-3,-1,-4,-3,124,125,-7,2,2,-7,-28,-2,62,0,-5,-5
// RUN: alula-run %t.alula --function=binary --input=2xi8=100,3 --input=19xi8=103,97,44,33,1,33,34,33,34,3,100,3,100,32,12,12,0,103,103
// RUN: alula-run %t.alula --function=casts --input=3xi16=-2,300,1 --input=8xi64=-2,65534,44,300,-1,1,1,-2
// RUN: alula-run %t.alula --function=compare --input=2xi16=-1,1 --input=10xi1=0,1,1,1,0,0,0,0,1,1
// RUN: alula-run %t.alula --function=compare --input=2xi16=2,2 --input=10xi1=1,0,0,1,0,1,0,1,0,1
// RUN: not alula-run %t.alula --function=binary --input=2xi8=7,0 --input=19xi8=7,7,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not alula-run %t.alula --function=casts --input=3xi16=0,0,0 --input=8xi64=1,0,0,0,0,0,0,0 2>&1 | FileCheck %s --check-prefix=ASSERT

// The expected numbers are C's (for / and %, on int8_t) and the rules of arith.
// ZERO: ceil_div of 7 and 0 has no result
// ASSERT: extsi is as expected
func.func @binary(%a: tensor<2xi8>, %e: tensor<19xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tensor.extract %a[%c0] : tensor<2xi8>
  %y = tensor.extract %a[%c1] : tensor<2xi8>
  %i0 = arith.constant 0 : index
  %e0 = tensor.extract %e[%i0] : tensor<19xi8>
  %r0 = arith.addi %x, %y : i8
  %k0 = arith.cmpi eq, %r0, %e0 : i8
  cf.assert %k0, "addi is as expected"
  %i1 = arith.constant 1 : index
  %e1 = tensor.extract %e[%i1] : tensor<19xi8>
  %r1 = arith.subi %x, %y : i8
  %k1 = arith.cmpi eq, %r1, %e1 : i8
  cf.assert %k1, "subi is as expected"
  %i2 = arith.constant 2 : index
  %e2 = tensor.extract %e[%i2] : tensor<19xi8>
  %r2 = arith.muli %x, %y : i8
  %k2 = arith.cmpi eq, %r2, %e2 : i8
  cf.assert %k2, "muli is as expected"
  %i3 = arith.constant 3 : index
  %e3 = tensor.extract %e[%i3] : tensor<19xi8>
  %r3 = arith.divsi %x, %y : i8
  %k3 = arith.cmpi eq, %r3, %e3 : i8
  cf.assert %k3, "divsi is as expected"
  %i4 = arith.constant 4 : index
  %e4 = tensor.extract %e[%i4] : tensor<19xi8>
  %r4 = arith.remsi %x, %y : i8
  %k4 = arith.cmpi eq, %r4, %e4 : i8
  cf.assert %k4, "remsi is as expected"
  %i5 = arith.constant 5 : index
  %e5 = tensor.extract %e[%i5] : tensor<19xi8>
  %r5 = arith.floordivsi %x, %y : i8
  %k5 = arith.cmpi eq, %r5, %e5 : i8
  cf.assert %k5, "floordivsi is as expected"
  %i6 = arith.constant 6 : index
  %e6 = tensor.extract %e[%i6] : tensor<19xi8>
  %r6 = arith.ceildivsi %x, %y : i8
  %k6 = arith.cmpi eq, %r6, %e6 : i8
  cf.assert %k6, "ceildivsi is as expected"
  %i7 = arith.constant 7 : index
  %e7 = tensor.extract %e[%i7] : tensor<19xi8>
  %r7 = arith.divui %x, %y : i8
  %k7 = arith.cmpi eq, %r7, %e7 : i8
  cf.assert %k7, "divui is as expected"
  %i8 = arith.constant 8 : index
  %e8 = tensor.extract %e[%i8] : tensor<19xi8>
  %r8 = arith.ceildivui %x, %y : i8
  %k8 = arith.cmpi eq, %r8, %e8 : i8
  cf.assert %k8, "ceildivui is as expected"
  %i9 = arith.constant 9 : index
  %e9 = tensor.extract %e[%i9] : tensor<19xi8>
  %r9 = arith.minsi %x, %y : i8
  %k9 = arith.cmpi eq, %r9, %e9 : i8
  cf.assert %k9, "minsi is as expected"
  %i10 = arith.constant 10 : index
  %e10 = tensor.extract %e[%i10] : tensor<19xi8>
  %r10 = arith.maxsi %x, %y : i8
  %k10 = arith.cmpi eq, %r10, %e10 : i8
  cf.assert %k10, "maxsi is as expected"
  %i11 = arith.constant 11 : index
  %e11 = tensor.extract %e[%i11] : tensor<19xi8>
  %r11 = arith.minui %x, %y : i8
  %k11 = arith.cmpi eq, %r11, %e11 : i8
  cf.assert %k11, "minui is as expected"
  %i12 = arith.constant 12 : index
  %e12 = tensor.extract %e[%i12] : tensor<19xi8>
  %r12 = arith.maxui %x, %y : i8
  %k12 = arith.cmpi eq, %r12, %e12 : i8
  cf.assert %k12, "maxui is as expected"
  %i13 = arith.constant 13 : index
  %e13 = tensor.extract %e[%i13] : tensor<19xi8>
  %r13 = arith.shli %x, %y : i8
  %k13 = arith.cmpi eq, %r13, %e13 : i8
  cf.assert %k13, "shli is as expected"
  %i14 = arith.constant 14 : index
  %e14 = tensor.extract %e[%i14] : tensor<19xi8>
  %r14 = arith.shrsi %x, %y : i8
  %k14 = arith.cmpi eq, %r14, %e14 : i8
  cf.assert %k14, "shrsi is as expected"
  %i15 = arith.constant 15 : index
  %e15 = tensor.extract %e[%i15] : tensor<19xi8>
  %r15 = arith.shrui %x, %y : i8
  %k15 = arith.cmpi eq, %r15, %e15 : i8
  cf.assert %k15, "shrui is as expected"
  %i16 = arith.constant 16 : index
  %e16 = tensor.extract %e[%i16] : tensor<19xi8>
  %r16 = arith.andi %x, %y : i8
  %k16 = arith.cmpi eq, %r16, %e16 : i8
  cf.assert %k16, "andi is as expected"
  %i17 = arith.constant 17 : index
  %e17 = tensor.extract %e[%i17] : tensor<19xi8>
  %r17 = arith.ori %x, %y : i8
  %k17 = arith.cmpi eq, %r17, %e17 : i8
  cf.assert %k17, "ori is as expected"
  %i18 = arith.constant 18 : index
  %e18 = tensor.extract %e[%i18] : tensor<19xi8>
  %r18 = arith.xori %x, %y : i8
  %k18 = arith.cmpi eq, %r18, %e18 : i8
  cf.assert %k18, "xori is as expected"
  return
}

func.func @casts(%a: tensor<3xi16>, %e: tensor<8xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %x0 = tensor.extract %a[%c0] : tensor<3xi16>
  %x1 = tensor.extract %a[%c1] : tensor<3xi16>
  %x2 = tensor.extract %a[%c2] : tensor<3xi16>
  %b = arith.trunci %x2 : i16 to i1
  %t = arith.trunci %x1 : i16 to i8
  %0 = arith.extsi %x0 : i16 to i64
  %j0 = arith.constant 0 : index
  %e0 = tensor.extract %e[%j0] : tensor<8xi64>
  %k0 = arith.cmpi eq, %0, %e0 : i64
  cf.assert %k0, "extsi is as expected"
  %1 = arith.extui %x0 : i16 to i64
  %j1 = arith.constant 1 : index
  %e1 = tensor.extract %e[%j1] : tensor<8xi64>
  %k1 = arith.cmpi eq, %1, %e1 : i64
  cf.assert %k1, "extui is as expected"
  %2 = arith.extui %t : i8 to i64
  %j2 = arith.constant 2 : index
  %e2 = tensor.extract %e[%j2] : tensor<8xi64>
  %k2 = arith.cmpi eq, %2, %e2 : i64
  cf.assert %k2, "trunci is as expected"
  %i3 = arith.index_cast %x1 : i16 to index
  %3 = arith.index_cast %i3 : index to i64
  %j3 = arith.constant 3 : index
  %e3 = tensor.extract %e[%j3] : tensor<8xi64>
  %k3 = arith.cmpi eq, %3, %e3 : i64
  cf.assert %k3, "index_cast is as expected"
  %4 = arith.extsi %b : i1 to i64
  %j4 = arith.constant 4 : index
  %e4 = tensor.extract %e[%j4] : tensor<8xi64>
  %k4 = arith.cmpi eq, %4, %e4 : i64
  cf.assert %k4, "extsi of i1 is as expected"
  %5 = arith.extui %b : i1 to i64
  %j5 = arith.constant 5 : index
  %e5 = tensor.extract %e[%j5] : tensor<8xi64>
  %k5 = arith.cmpi eq, %5, %e5 : i64
  cf.assert %k5, "extui of i1 is as expected"
  %6 = arith.select %b, %5, %4 : i64
  %j6 = arith.constant 6 : index
  %e6 = tensor.extract %e[%j6] : tensor<8xi64>
  %k6 = arith.cmpi eq, %6, %e6 : i64
  cf.assert %k6, "select is as expected"
  %7 = arith.extsi %x0 : i16 to i64
  %j7 = arith.constant 7 : index
  %e7 = tensor.extract %e[%j7] : tensor<8xi64>
  %k7 = arith.cmpi eq, %7, %e7 : i64
  cf.assert %k7, "last is as expected"
  return
}

func.func @compare(%a: tensor<2xi16>, %e: tensor<10xi1>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tensor.extract %a[%c0] : tensor<2xi16>
  %y = tensor.extract %a[%c1] : tensor<2xi16>
  %i0 = arith.constant 0 : index
  %e0 = tensor.extract %e[%i0] : tensor<10xi1>
  %r0 = arith.cmpi eq, %x, %y : i16
  %k0 = arith.cmpi eq, %r0, %e0 : i1
  cf.assert %k0, "eq is as expected"
  %i1 = arith.constant 1 : index
  %e1 = tensor.extract %e[%i1] : tensor<10xi1>
  %r1 = arith.cmpi ne, %x, %y : i16
  %k1 = arith.cmpi eq, %r1, %e1 : i1
  cf.assert %k1, "ne is as expected"
  %i2 = arith.constant 2 : index
  %e2 = tensor.extract %e[%i2] : tensor<10xi1>
  %r2 = arith.cmpi slt, %x, %y : i16
  %k2 = arith.cmpi eq, %r2, %e2 : i1
  cf.assert %k2, "slt is as expected"
  %i3 = arith.constant 3 : index
  %e3 = tensor.extract %e[%i3] : tensor<10xi1>
  %r3 = arith.cmpi sle, %x, %y : i16
  %k3 = arith.cmpi eq, %r3, %e3 : i1
  cf.assert %k3, "sle is as expected"
  %i4 = arith.constant 4 : index
  %e4 = tensor.extract %e[%i4] : tensor<10xi1>
  %r4 = arith.cmpi sgt, %x, %y : i16
  %k4 = arith.cmpi eq, %r4, %e4 : i1
  cf.assert %k4, "sgt is as expected"
  %i5 = arith.constant 5 : index
  %e5 = tensor.extract %e[%i5] : tensor<10xi1>
  %r5 = arith.cmpi sge, %x, %y : i16
  %k5 = arith.cmpi eq, %r5, %e5 : i1
  cf.assert %k5, "sge is as expected"
  %i6 = arith.constant 6 : index
  %e6 = tensor.extract %e[%i6] : tensor<10xi1>
  %r6 = arith.cmpi ult, %x, %y : i16
  %k6 = arith.cmpi eq, %r6, %e6 : i1
  cf.assert %k6, "ult is as expected"
  %i7 = arith.constant 7 : index
  %e7 = tensor.extract %e[%i7] : tensor<10xi1>
  %r7 = arith.cmpi ule, %x, %y : i16
  %k7 = arith.cmpi eq, %r7, %e7 : i1
  cf.assert %k7, "ule is as expected"
  %i8 = arith.constant 8 : index
  %e8 = tensor.extract %e[%i8] : tensor<10xi1>
  %r8 = arith.cmpi ugt, %x, %y : i16
  %k8 = arith.cmpi eq, %r8, %e8 : i1
  cf.assert %k8, "ugt is as expected"
  %i9 = arith.constant 9 : index
  %e9 = tensor.extract %e[%i9] : tensor<10xi1>
  %r9 = arith.cmpi uge, %x, %y : i16
  %k9 = arith.cmpi eq, %r9, %e9 : i1
  cf.assert %k9, "uge is as expected"
  return
}
