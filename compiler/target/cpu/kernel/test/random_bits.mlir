// RUN: alula-compile --target=cpu:host %s -o %t.alula
// RUN: alula-run %t.alula --function=threefry --input=2xui64=1,2 --expected_output=2xui64=1,5 --expected_output=5xui32=43444564,2150618427,3979645651,3745730563,1672743891 --expected_output=3xui64=9236835810183407956,16087790271692313299,18212823393184779219 --expected_output=3xui8=84,59,211

// The numbers are XLA's.
func.func @threefry(%state: tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>, tensor<3xui64>, tensor<3xui8>) {
  %next, %0 = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>)
  %unused1, %1 = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui64>)
  %unused2, %2 = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui8>)
  return %next, %0, %1, %2 : tensor<2xui64>, tensor<5xui32>, tensor<3xui64>, tensor<3xui8>
}
