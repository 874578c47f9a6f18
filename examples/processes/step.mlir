// A step of least squares on four devices: each has a quarter of the rows, all
// have the weights and get the new ones.
module @step attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @devices = <["rows"=4]>
  func.func public @main(
      %x: tensor<64x3xf32> {sdy.sharding = #sdy.sharding<@devices, [{"rows"}, {}]>},
      %y: tensor<64xf32> {sdy.sharding = #sdy.sharding<@devices, [{"rows"}]>},
      %w: tensor<3xf32> {sdy.sharding = #sdy.sharding<@devices, [{}]>})
      -> (tensor<3xf32> {sdy.sharding = #sdy.sharding<@devices, [{}]>}) {
    %0 = sdy.manual_computation(%x, %y, %w)
        in_shardings=[<@devices, [{"rows"}, {}]>, <@devices, [{"rows"}]>, <@devices, [{}]>]
        out_shardings=[<@devices, [{}]>] manual_axes={"rows"}
        (%a: tensor<16x3xf32>, %b: tensor<16xf32>, %c: tensor<3xf32>) {
      %guess = stablehlo.dot_general %a, %c, contracting_dims = [1] x [0]
        : (tensor<16x3xf32>, tensor<3xf32>) -> tensor<16xf32>
      %error = stablehlo.subtract %guess, %b : tensor<16xf32>
      %mine = stablehlo.dot_general %error, %a, contracting_dims = [0] x [0]
        : (tensor<16xf32>, tensor<16x3xf32>) -> tensor<3xf32>
      %all = "stablehlo.all_reduce"(%mine) <{
        replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
        use_global_device_ids}> ({
      ^bb0(%l: tensor<f32>, %r: tensor<f32>):
        %sum = stablehlo.add %l, %r : tensor<f32>
        stablehlo.return %sum : tensor<f32>
      }) : (tensor<3xf32>) -> tensor<3xf32>
      %rate = stablehlo.constant dense<0.005> : tensor<3xf32>
      %move = stablehlo.multiply %all, %rate : tensor<3xf32>
      %new = stablehlo.subtract %c, %move : tensor<3xf32>
      sdy.return %new : tensor<3xf32>
    } : (tensor<64x3xf32>, tensor<64xf32>, tensor<3xf32>) -> tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}
