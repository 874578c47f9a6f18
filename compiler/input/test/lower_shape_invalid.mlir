// RUN: alula-opt %s --input-lower-shape --split-input-file --verify-diagnostics

func.func @rank(%x: tensor<*xf32>) -> tensor<?xindex> {
  // expected-error @+1 {{'shape.shape_of': no native code: rank of the operand must be known: is 'tensor<*xf32>'}}
  %0 = shape.shape_of %x : tensor<*xf32> -> tensor<?xindex>
  return %0 : tensor<?xindex>
}

// -----

func.func @length(%a: tensor<?xindex>, %b: tensor<2xindex>) -> tensor<?xindex> {
  // expected-error @+1 {{'shape.broadcast': no native code: rank of a shape must be known: its list is 'tensor<?xi64>'}}
  %0 = shape.broadcast %a, %b : tensor<?xindex>, tensor<2xindex> -> tensor<?xindex>
  return %0 : tensor<?xindex>
}

// -----

func.func @dimension(%x: tensor<?x3xf32>) -> index {
  %c2 = arith.constant 2 : index
  // expected-error @+1 {{'tensor.dim': no native code: there must be a dimension 2: there are 2}}
  %0 = tensor.dim %x, %c2 : tensor<?x3xf32>
  return %0 : index
}

// -----

func.func @element(%x: tensor<3xf32>) -> f32 {
  %c3 = arith.constant 3 : index
  // expected-error @+1 {{'tensor.extract': no native code: index must be inside of 'tensor<3xf32>': is 3}}
  %0 = tensor.extract %x[%c3] : tensor<3xf32>
  return %0 : f32
}

// -----

func.func @element_rank(%x: tensor<*xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{'tensor.cast': no native code: rank of the operand must be known: is 'tensor<*xf32>'}}
  %0 = tensor.cast %x : tensor<*xf32> to tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @split(%x: tensor<?x3xf32>, %i: index) -> !shape.shape {
  %0 = shape.shape_of %x : tensor<?x3xf32> -> !shape.shape
  // expected-error @+1 {{'shape.split_at': no native code: where a shape is split must be a constant in it}}
  %head, %tail = "shape.split_at"(%0, %i) : (!shape.shape, index) -> (!shape.shape, !shape.shape)
  return %head : !shape.shape
}

// -----

func.func @ranks(%x: tensor<?x3xf32>, %y: tensor<?xf32>) -> !shape.shape {
  %0 = shape.shape_of %x : tensor<?x3xf32> -> !shape.shape
  %1 = shape.shape_of %y : tensor<?xf32> -> !shape.shape
  // expected-error @+1 {{'shape.max': no native code: shapes must have one rank: have 2 and 1}}
  %2 = shape.max %0, %1 : !shape.shape, !shape.shape -> !shape.shape
  return %2 : !shape.shape
}

// -----

func.func @witness(%w: !shape.witness) {
  // expected-error @-1 {{'func.func': no native code: values must be tensors, numbers or shapes: has '!shape.witness'}}
  return
}

// -----

func.func @meet(%a: !shape.size) -> !shape.size {
  // expected-error @+1 {{'shape.meet': no native code: of shape there is what computes sizes and requires something of them}}
  %0 = shape.meet %a, %a : !shape.size, !shape.size -> !shape.size
  return %0 : !shape.size
}

// -----

func.func @empty() -> tensor<2xf32> {
  // expected-error @+1 {{'tensor.empty': no native code: of tensor there is what makes lists of sizes, reads elements and says shapes otherwise}}
  %0 = tensor.empty() : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @extended(%a: i32) -> i32 {
  // expected-error @+1 {{'arith.addui_extended': no native code: of arith there is what computes one number of numbers}}
  %0, %1 = arith.addui_extended %a, %a : i32, i1
  return %0 : i32
}

// -----

func.func @unordered(%a: f32) -> i1 {
  // expected-error @+1 {{'arith.cmpf': no native code: predicate must be oeq, ogt, oge, olt, ole or une: is ueq}}
  %0 = arith.cmpf ueq, %a, %a : f32
  return %0 : i1
}

// -----

func.func @vector() {
  // expected-error @+1 {{'arith.constant': no native code: constant must be a number or a tensor: is 'vector<2xi32>'}}
  %0 = arith.constant dense<0> : vector<2xi32>
  return
}

// -----

func.func @vectors(%a: vector<2xi32>) {
  // expected-error @+1 {{'arith.addi': no native code: operands must be numbers or tensors with a rank: has 'vector<2xi32>'}}
  %0 = arith.addi %a, %a : vector<2xi32>
  return
}

// -----

func.func @blocks(%a: i1) {
  // expected-error @+1 {{'cf.br': no native code: functions must have one block}}
  cf.br ^next
^next:
  return
}

// -----

func.func @other_size(%x: tensor<2x3xf32>) -> tensor<?x?xf32> {
  %0 = tensor.cast %x : tensor<2x3xf32> to tensor<?x?xf32>
  // expected-error @+1 {{'tensor.cast': no native code: size must be what the type says: dimension 0 is 2, not 3}}
  %1 = tensor.cast %0 : tensor<?x?xf32> to tensor<3x?xf32>
  %2 = tensor.cast %1 : tensor<3x?xf32> to tensor<?x?xf32>
  return %2 : tensor<?x?xf32>
}
