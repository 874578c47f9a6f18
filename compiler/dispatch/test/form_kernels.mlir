// RUN: alula-opt %s -split-input-file -dispatch-form-kernels | FileCheck %s

// A chain of maps is one kernel.
// CHECK-LABEL: func.func @chain
// CHECK: %[[R:.*]] = dispatch.launch @chain_0::@chain_0(%arg0, %arg1)
// CHECK-NEXT: return %[[R]]
// CHECK: dispatch.executable @chain_0
// CHECK: stablehlo.add
// CHECK: stablehlo.multiply
func.func @chain(%a: tensor<65536xf32>, %b: tensor<65536xf32>) -> tensor<65536xf32> {
  %0 = stablehlo.add %a, %b : tensor<65536xf32>
  %1 = stablehlo.multiply %0, %b : tensor<65536xf32>
  return %1 : tensor<65536xf32>
}

// -----

// A product takes its epilogue, and a splat constant is copied into the kernel.
// CHECK-LABEL: func.func @epilogue
// CHECK: dispatch.launch @epilogue_0::@epilogue_0(%arg0, %arg1)
// CHECK-NOT: dispatch.launch
// CHECK: stablehlo.constant dense<0.000000e+00>
// CHECK: stablehlo.dot_general
// CHECK: stablehlo.maximum
func.func @epilogue(%a: tensor<200x300xf32>, %b: tensor<300x400xf32>) -> tensor<200x400xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<200x400xf32>
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<200x300xf32>, tensor<300x400xf32>) -> tensor<200x400xf32>
  %1 = stablehlo.maximum %0, %zero : tensor<200x400xf32>
  return %1 : tensor<200x400xf32>
}

// -----

// Does not fire: a large value with another reader keeps a kernel of its own.
// CHECK-LABEL: func.func @shared
// CHECK: %[[S:.*]] = dispatch.launch @shared_0::@shared_0(%arg0)
// CHECK: %[[T:.*]] = dispatch.launch @shared_1::@shared_1(%[[S]])
// CHECK: return %[[S]], %[[T]]
func.func @shared(%a: tensor<65536xf32>) -> (tensor<65536xf32>, tensor<65536xf32>) {
  %0 = stablehlo.sine %a : tensor<65536xf32>
  %1 = stablehlo.reverse %0, dims = [0] : tensor<65536xf32>
  %2 = stablehlo.abs %1 : tensor<65536xf32>
  return %0, %2 : tensor<65536xf32>, tensor<65536xf32>
}

// -----

// Two large products never share a kernel.
// CHECK-LABEL: func.func @two
// CHECK-COUNT-2: dispatch.launch
func.func @two(%a: tensor<200x200xf32>) -> tensor<200x200xf32> {
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<200x200xf32>, tensor<200x200xf32>) -> tensor<200x200xf32>
  %1 = stablehlo.dot_general %0, %a, contracting_dims = [1] x [0] : (tensor<200x200xf32>, tensor<200x200xf32>) -> tensor<200x200xf32>
  return %1 : tensor<200x200xf32>
}

// -----

// Small neighbours share a kernel, each result that is read outside leaves it.
// CHECK-LABEL: func.func @small
// CHECK: %[[R:.*]]:2 = dispatch.launch @small_0::@small_0(%arg0)
// CHECK-NEXT: return %[[R]]#0, %[[R]]#1
func.func @small(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.dot_general %0, %a, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// A loop over little is part of a kernel.
// CHECK-LABEL: func.func @loop
// CHECK: dispatch.launch @loop_0::@loop_0(%arg0)
// CHECK-NEXT: return
func.func @loop(%a: tensor<i32>) -> tensor<i32> {
  %n = stablehlo.constant dense<10> : tensor<i32>
  %r = stablehlo.while(%i = %a) : tensor<i32>
    cond {
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.add %i, %i : tensor<i32>
      stablehlo.return %j : tensor<i32>
    }
  return %r : tensor<i32>
}

// -----

// A loop over much stays on the host and launches what is inside.
// CHECK-LABEL: func.func @large_loop
// CHECK: stablehlo.while
// CHECK: dispatch.launch
// CHECK: stablehlo.return
// CHECK: dispatch.launch
func.func @large_loop(%a: tensor<65536xf32>, %n: tensor<i32>) -> tensor<65536xf32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %x = %a) : tensor<i32>, tensor<65536xf32>
    cond {
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.add %i, %one : tensor<i32>
      %y = stablehlo.sine %x : tensor<65536xf32>
      stablehlo.return %j, %y : tensor<i32>, tensor<65536xf32>
    }
  return %r#1 : tensor<65536xf32>
}

// -----

// Reductions of the same rows, and what is made of them and the rows, are one
// kernel.
// CHECK-LABEL: func.func @rows
// CHECK: %[[R:.*]] = dispatch.launch @rows_0::@rows_0(%arg0)
// CHECK-NEXT: return %[[R]]
func.func @rows(%x: tensor<512x1024xf32>) -> tensor<512x1024xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.maximum across dimensions = [1] : (tensor<512x1024xf32>, tensor<f32>) -> tensor<512xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<512xf32>) -> tensor<512x1024xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<512x1024xf32>
  %3 = stablehlo.exponential %2 : tensor<512x1024xf32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<512x1024xf32>, tensor<f32>) -> tensor<512xf32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<512xf32>) -> tensor<512x1024xf32>
  %6 = stablehlo.divide %3, %5 : tensor<512x1024xf32>
  return %6 : tensor<512x1024xf32>
}

// -----

// Does not fire: columns, one row, and rows that meet others.
// CHECK-LABEL: func.func @no_rows
// CHECK-COUNT-5: dispatch.launch
// CHECK-NEXT: return
func.func @no_rows(%x: tensor<512x512xf32>, %y: tensor<1x65536xf32>) -> (tensor<512x512xf32>, tensor<1x65536xf32>, tensor<512x512xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<512x512xf32>, tensor<f32>) -> tensor<512xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<512xf32>) -> tensor<512x512xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<512x512xf32>
  %3 = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<1x65536xf32>, tensor<f32>) -> tensor<1xf32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<1xf32>) -> tensor<1x65536xf32>
  %5 = stablehlo.subtract %y, %4 : tensor<1x65536xf32>
  %6 = stablehlo.reduce(%x init: %zero) applies stablehlo.maximum across dimensions = [1] : (tensor<512x512xf32>, tensor<f32>) -> tensor<512xf32>
  %7 = stablehlo.broadcast_in_dim %6, dims = [1] : (tensor<512xf32>) -> tensor<512x512xf32>
  %8 = stablehlo.subtract %x, %7 : tensor<512x512xf32>
  return %2, %5, %8 : tensor<512x512xf32>, tensor<1x65536xf32>, tensor<512x512xf32>
}

// -----

// A scatter computes its indices; its updates, which all cores may, not.
// CHECK-LABEL: func.func @scatter
// CHECK: %[[Y:.*]] = dispatch.launch @scatter_0::@scatter_0(%arg2)
// CHECK: dispatch.launch @scatter_1::@scatter_1(%arg1, %arg0, %[[Y]]) in_place [1]
// CHECK: dispatch.executable @scatter_0
// CHECK: stablehlo.exponential
// CHECK: dispatch.executable @scatter_1
// CHECK: stablehlo.compare
// CHECK: stablehlo.select
// CHECK: stablehlo.broadcast_in_dim
// CHECK: stablehlo.scatter
func.func @scatter(%x: tensor<100000xf32>, %i: tensor<50000xi32>, %y: tensor<50000xf32>) -> tensor<100000xf32> {
  %zero = stablehlo.constant dense<0> : tensor<50000xi32>
  %size = stablehlo.constant dense<100000> : tensor<50000xi32>
  %0 = stablehlo.compare LT, %i, %zero : (tensor<50000xi32>, tensor<50000xi32>) -> tensor<50000xi1>
  %1 = stablehlo.add %i, %size : tensor<50000xi32>
  %2 = stablehlo.select %0, %1, %i : tensor<50000xi1>, tensor<50000xi32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<50000xi32>) -> tensor<50000x1xi32>
  %4 = stablehlo.exponential %y : tensor<50000xf32>
  %5 = "stablehlo.scatter"(%x, %3, %4) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %6 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %6 : tensor<f32>
  }) : (tensor<100000xf32>, tensor<50000x1xi32>, tensor<50000xf32>) -> tensor<100000xf32>
  return %5 : tensor<100000xf32>
}

// -----

// Indices in another shape are the same memory, whatever they are read for.
// CHECK-LABEL: func.func @shaped
// CHECK: dispatch.launch @shaped_0::@shaped_0(
// CHECK-NOT: dispatch.launch
func.func @shaped(%x: tensor<1000x64xf32>, %i: tensor<5000xi32>, %y: tensor<5000x64xf32>) -> tensor<1000x64xf32> {
  %0 = stablehlo.broadcast_in_dim %i, dims = [0] : (tensor<5000xi32>) -> tensor<5000x1xi32>
  %1 = "stablehlo.scatter"(%x, %0, %y) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<1000x64xf32>, tensor<5000x1xi32>, tensor<5000x64xf32>) -> tensor<1000x64xf32>
  return %1 : tensor<1000x64xf32>
}

// -----

// Nor the indices of windows, which are read again and again.
// CHECK-LABEL: func.func @windows
// CHECK: dispatch.launch @windows_0::@windows_0(%arg1)
// CHECK: dispatch.launch @windows_1::@windows_1(
func.func @windows(%x: tensor<1000x64xf32>, %i: tensor<5000x1xi32>, %y: tensor<5000x64xf32>) -> tensor<1000x64xf32> {
  %0 = stablehlo.add %i, %i : tensor<5000x1xi32>
  %1 = "stablehlo.scatter"(%x, %0, %y) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<1000x64xf32>, tensor<5000x1xi32>, tensor<5000x64xf32>) -> tensor<1000x64xf32>
  return %1 : tensor<1000x64xf32>
}

// -----

// Other dimensions of the same bytes are no kernel.
// CHECK-LABEL: func.func @view
// CHECK: %[[D:.*]] = dispatch.launch
// CHECK: %[[R:.*]] = dispatch.view %[[D]] : tensor<512x64xf32> -> tensor<512x16x4xf32>
// CHECK: return %[[R]]
func.func @view(%x: tensor<512x64xf32>, %w: tensor<64x64xf32>) -> tensor<512x16x4xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<512x64xf32>, tensor<64x64xf32>) -> tensor<512x64xf32>
  %1 = stablehlo.reshape %0 : (tensor<512x64xf32>) -> tensor<512x16x4xf32>
  return %1 : tensor<512x16x4xf32>
}

// What is returned and no kernel wrote is copied by one.
// CHECK-LABEL: func.func @returned
// CHECK: %[[R:.*]] = dispatch.launch @{{.*}} : (tensor<512x64xf32>) -> tensor<64x512xf32>
// CHECK: return %[[R]]
func.func @returned(%x: tensor<512x64xf32>) -> tensor<64x512xf32> {
  %0 = stablehlo.reshape %x : (tensor<512x64xf32>) -> tensor<64x512xf32>
  return %0 : tensor<64x512xf32>
}

// CHECK-LABEL: func.func @dynamic_view
// CHECK: %[[D:.*]] = dispatch.launch
// CHECK: %[[R:.*]] = dispatch.view %[[D]] result_dims(%{{.*}}) : tensor<?x64xf32> -> tensor<?x8x8xf32>
// CHECK: return %[[R]]
func.func @dynamic_view(%x: tensor<?x64xf32>, %w: tensor<64x64xf32>) -> tensor<?x8x8xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  %n = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x64xf32>) -> tensor<i32>
  %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %8 = stablehlo.constant dense<8> : tensor<2xi32>
  %shape = stablehlo.concatenate %n1, %8, dim = 0 : (tensor<1xi32>, tensor<2xi32>) -> tensor<3xi32>
  %1 = stablehlo.dynamic_reshape %0, %shape : (tensor<?x64xf32>, tensor<3xi32>) -> tensor<?x8x8xf32>
  return %1 : tensor<?x8x8xf32>
}
