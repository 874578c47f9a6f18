// RUN: alula-opt --input-raise-functions=keep=chlo.erfc %s | FileCheck %s
// RUN: sed 's/5.638259427386472e-1/5.7e-1/' %s | alula-opt --input-raise-functions - | FileCheck %s --check-prefix=OTHER

// erfc as JAX's exported programs have it, which compute x^2 and |x| twice; with
// one coefficient that differs it stays.
// CHECK-LABEL: func.func @formula
// CHECK-NEXT: %[[Y:.*]] = chlo.erfc %arg0 : tensor<6xf32>
// CHECK-NEXT: return %[[Y]]
// OTHER-LABEL: func.func @formula
// OTHER-NOT: chlo.erfc
// OTHER: stablehlo.exponential
func.func @formula(%x: tensor<6xf32>) -> tensor<6xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<6xf32>
  %one = stablehlo.constant dense<1.0> : tensor<6xf32>
  %two = stablehlo.constant dense<2.0> : tensor<6xf32>
  %least = stablehlo.constant dense<-88.7228394> : tensor<6xf32>
  %xx = stablehlo.multiply %x, %x : tensor<6xf32>
  %minus = stablehlo.negate %xx : tensor<6xf32>
  %size = stablehlo.abs %x : tensor<6xf32>
  %inverse = stablehlo.divide %one, %xx : tensor<6xf32>
  %power = stablehlo.exponential %minus : tensor<6xf32>
  %part = stablehlo.divide %one, %size : tensor<6xf32>
  %head = stablehlo.multiply %power, %part : tensor<6xf32>
  %isTwo = stablehlo.compare LT, %size, %two : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xi1>
  %a0 = stablehlo.constant dense<2.326819970068386e-2> : tensor<6xf32>
  %am1 = stablehlo.multiply %a0, %inverse : tensor<6xf32>
  %a1 = stablehlo.constant dense<-1.387039388740657e-1> : tensor<6xf32>
  %as1 = stablehlo.add %am1, %a1 : tensor<6xf32>
  %am2 = stablehlo.multiply %as1, %inverse : tensor<6xf32>
  %a2 = stablehlo.constant dense<3.687424674597105e-1> : tensor<6xf32>
  %as2 = stablehlo.add %am2, %a2 : tensor<6xf32>
  %am3 = stablehlo.multiply %as2, %inverse : tensor<6xf32>
  %a3 = stablehlo.constant dense<-5.824733027278666e-1> : tensor<6xf32>
  %as3 = stablehlo.add %am3, %a3 : tensor<6xf32>
  %am4 = stablehlo.multiply %as3, %inverse : tensor<6xf32>
  %a4 = stablehlo.constant dense<6.210004621745983e-1> : tensor<6xf32>
  %as4 = stablehlo.add %am4, %a4 : tensor<6xf32>
  %am5 = stablehlo.multiply %as4, %inverse : tensor<6xf32>
  %a5 = stablehlo.constant dense<-4.944515323274145e-1> : tensor<6xf32>
  %as5 = stablehlo.add %am5, %a5 : tensor<6xf32>
  %am6 = stablehlo.multiply %as5, %inverse : tensor<6xf32>
  %a6 = stablehlo.constant dense<3.404879937665872e-1> : tensor<6xf32>
  %as6 = stablehlo.add %am6, %a6 : tensor<6xf32>
  %am7 = stablehlo.multiply %as6, %inverse : tensor<6xf32>
  %a7 = stablehlo.constant dense<-2.741127028184656e-1> : tensor<6xf32>
  %as7 = stablehlo.add %am7, %a7 : tensor<6xf32>
  %am8 = stablehlo.multiply %as7, %inverse : tensor<6xf32>
  %a8 = stablehlo.constant dense<5.638259427386472e-1> : tensor<6xf32>
  %as8 = stablehlo.add %am8, %a8 : tensor<6xf32>
  %b0 = stablehlo.constant dense<-1.047766399936249e1> : tensor<6xf32>
  %bm1 = stablehlo.multiply %b0, %inverse : tensor<6xf32>
  %b1 = stablehlo.constant dense<1.297719955372516e1> : tensor<6xf32>
  %bs1 = stablehlo.add %bm1, %b1 : tensor<6xf32>
  %bm2 = stablehlo.multiply %bs1, %inverse : tensor<6xf32>
  %b2 = stablehlo.constant dense<-7.495518717768503> : tensor<6xf32>
  %bs2 = stablehlo.add %bm2, %b2 : tensor<6xf32>
  %bm3 = stablehlo.multiply %bs2, %inverse : tensor<6xf32>
  %b3 = stablehlo.constant dense<2.921019019210786> : tensor<6xf32>
  %bs3 = stablehlo.add %bm3, %b3 : tensor<6xf32>
  %bm4 = stablehlo.multiply %bs3, %inverse : tensor<6xf32>
  %b4 = stablehlo.constant dense<-1.015265279202700> : tensor<6xf32>
  %bs4 = stablehlo.add %bm4, %b4 : tensor<6xf32>
  %bm5 = stablehlo.multiply %bs4, %inverse : tensor<6xf32>
  %b5 = stablehlo.constant dense<4.218463358204948e-1> : tensor<6xf32>
  %bs5 = stablehlo.add %bm5, %b5 : tensor<6xf32>
  %bm6 = stablehlo.multiply %bs5, %inverse : tensor<6xf32>
  %b6 = stablehlo.constant dense<-2.820767439740514e-1> : tensor<6xf32>
  %bs6 = stablehlo.add %bm6, %b6 : tensor<6xf32>
  %bm7 = stablehlo.multiply %bs6, %inverse : tensor<6xf32>
  %b7 = stablehlo.constant dense<5.641895067754075e-1> : tensor<6xf32>
  %bs7 = stablehlo.add %bm7, %b7 : tensor<6xf32>
  %factor = stablehlo.select %isTwo, %as8, %bs7 : tensor<6xi1>, tensor<6xf32>
  %product = stablehlo.multiply %head, %factor : tensor<6xf32>
  %isLeast = stablehlo.compare LT, %minus, %least : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xi1>
  %far = stablehlo.select %isLeast, %zero, %product : tensor<6xi1>, tensor<6xf32>
  %isLeft = stablehlo.compare LT, %x, %zero : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xi1>
  %turned = stablehlo.subtract %two, %far : tensor<6xf32>
  %folded = stablehlo.select %isLeft, %turned, %far : tensor<6xi1>, tensor<6xf32>
  %square = stablehlo.multiply %x, %x : tensor<6xf32>
  %n0 = stablehlo.constant dense<7.853861353693153e-5> : tensor<6xf32>
  %nm1 = stablehlo.multiply %n0, %square : tensor<6xf32>
  %n1 = stablehlo.constant dense<-8.010193625184903e-4> : tensor<6xf32>
  %ns1 = stablehlo.add %nm1, %n1 : tensor<6xf32>
  %nm2 = stablehlo.multiply %ns1, %square : tensor<6xf32>
  %n2 = stablehlo.constant dense<5.188327685732524e-3> : tensor<6xf32>
  %ns2 = stablehlo.add %nm2, %n2 : tensor<6xf32>
  %nm3 = stablehlo.multiply %ns2, %square : tensor<6xf32>
  %n3 = stablehlo.constant dense<-2.685381193529856e-2> : tensor<6xf32>
  %ns3 = stablehlo.add %nm3, %n3 : tensor<6xf32>
  %nm4 = stablehlo.multiply %ns3, %square : tensor<6xf32>
  %n4 = stablehlo.constant dense<1.128358514861418e-1> : tensor<6xf32>
  %ns4 = stablehlo.add %nm4, %n4 : tensor<6xf32>
  %nm5 = stablehlo.multiply %ns4, %square : tensor<6xf32>
  %n5 = stablehlo.constant dense<-3.761262582423300e-1> : tensor<6xf32>
  %ns5 = stablehlo.add %nm5, %n5 : tensor<6xf32>
  %nm6 = stablehlo.multiply %ns5, %square : tensor<6xf32>
  %n6 = stablehlo.constant dense<1.128379165726710> : tensor<6xf32>
  %ns6 = stablehlo.add %nm6, %n6 : tensor<6xf32>
  %odd = stablehlo.multiply %x, %ns6 : tensor<6xf32>
  %near = stablehlo.subtract %one, %odd : tensor<6xf32>
  %again = stablehlo.abs %x : tensor<6xf32>
  %isNear = stablehlo.compare LT, %again, %one : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xi1>
  %erfc = stablehlo.select %isNear, %near, %folded : tensor<6xi1>, tensor<6xf32>
  return %erfc : tensor<6xf32>
}

// OTHER-LABEL: func.func @composites
// CHECK-LABEL: func.func @composites
func.func @composites(%x: tensor<6xf32>, %y: tensor<6xf64>) -> (tensor<6xf32>, tensor<6xf64>) {
  // CHECK: chlo.erf %arg0 : tensor<6xf32>
  %0 = stablehlo.composite "chlo.erf" %x {decomposition = @f, version = 1 : i32} : (tensor<6xf32>) -> tensor<6xf32>
  // What an option keeps stays.
  // CHECK: stablehlo.composite "chlo.erfc"
  // OTHER: chlo.erfc %arg1 : tensor<6xf64>
  %1 = stablehlo.composite "chlo.erfc" %y {decomposition = @g} : (tensor<6xf64>) -> tensor<6xf64>
  // Nobody knows what the attribute means, or has such a function.
  // CHECK: stablehlo.composite "chlo.erf"
  // CHECK: stablehlo.composite "chlo.erf_inv"
  %2 = stablehlo.composite "chlo.erf" %0 {composite_attributes = {exact = true}, decomposition = @f} : (tensor<6xf32>) -> tensor<6xf32>
  %3 = stablehlo.composite "chlo.erf_inv" %2 {decomposition = @f} : (tensor<6xf32>) -> tensor<6xf32>
  return %3, %1 : tensor<6xf32>, tensor<6xf64>
}
func.func private @f(%x: tensor<6xf32>) -> tensor<6xf32> {
  return %x : tensor<6xf32>
}
func.func private @g(%x: tensor<6xf64>) -> tensor<6xf64> {
  return %x : tensor<6xf64>
}
