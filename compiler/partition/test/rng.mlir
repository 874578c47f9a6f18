// RUN: split-file %s %t
// RUN: alula-opt %t/divided.mlir --partition-propagate-shardings --partition-make-local | FileCheck --check-prefix=DIVIDED %s
// RUN: alula-opt %t/whole.mlir --partition-propagate-shardings --partition-make-local | FileCheck --check-prefix=WHOLE %s

// Each device computes the words of its places: the counter moves as far as if
// one drew them all.
// DIVIDED-NOT: rng_bit_generator
// DIVIDED: stablehlo.constant dense<3528531795> : tensor<2x8xui64>
// DIVIDED: stablehlo.constant dense<16> : tensor<ui64>
// DIVIDED: return %{{.*}}, %{{.*}} : tensor<2xui64>, tensor<2x8xui16>

//--- divided.mlir
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @m = <["a"=4]>
  func.func public @main(%k: tensor<2xui64>) -> (tensor<2xui64>, tensor<8x8xui16> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {}]>}) {
    %s, %b = stablehlo.rng_bit_generator %k, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8x8xui16>)
    return %s, %b : tensor<2xui64>, tensor<8x8xui16>
  }
}

// What isn't divided is drawn by the routine; so are bits narrower than a byte.
// WHOLE: stablehlo.rng_bit_generator %arg0, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8xui32>)
// WHOLE: stablehlo.rng_bit_generator %arg0, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8xui4>)

//--- whole.mlir
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @m = <["a"=4]>
  func.func public @main(%k: tensor<2xui64>) -> (tensor<8xui32> {sdy.sharding = #sdy.sharding<@m, [{}]>}, tensor<8xui4> {sdy.sharding = #sdy.sharding<@m, [{"a"}]>}) {
    %s, %b = stablehlo.rng_bit_generator %k, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8xui32>)
    %t, %c = stablehlo.rng_bit_generator %k, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8xui4>)
    return %b, %c : tensor<8xui32>, tensor<8xui4>
  }
}
