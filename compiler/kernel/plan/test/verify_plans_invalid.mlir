// RUN: alula-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(dispatch.executable(kernel-verify-plans))'

// A reduction of rows is no map.
dispatch.executable @kind {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: tensor<4x8xf32>) -> tensor<4xf32> attributes {plan.grid = #plan.grid<most = 64, steps = 32768>} {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      // expected-error @+1 {{'stablehlo.reduce': plan: 'map' is not possible: it is 'rows'}}
      %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] {plan.stage = #plan.stage<map 0, space = [4]>} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
  }
}

// -----

// Rows of the result lie in memory as they are.
dispatch.executable @no_copy {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: tensor<4x8x9xf32>) -> tensor<8x4x9xf32> attributes {plan.grid = #plan.grid<most = 64, steps = 32768>} {
      // expected-error @+1 {{'stablehlo.transpose': plan: way 'blocks' is not possible: it is no copy of memory with the last dimension elsewhere}}
      %0 = stablehlo.transpose %x, dims = [1, 0, 2] {plan.stage = #plan.stage<inline, tile = [4, 1, 4], way = blocks>} : (tensor<4x8x9xf32>) -> tensor<8x4x9xf32>
      return %0 : tensor<8x4x9xf32>
    }
  }
}

// -----

dispatch.executable @third_dim {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: tensor<4x8x9xf32>) -> tensor<9x8x4xf32> attributes {plan.grid = #plan.grid<most = 64, steps = 32768>} {
      // expected-error @+1 {{way 'blocks' is not possible: a block has 1 in all dimensions but 0 and 2: has 2 in dimension 1}}
      %0 = stablehlo.transpose %x, dims = [2, 1, 0] {plan.stage = #plan.stage<inline, tile = [4, 2, 4], way = blocks>} : (tensor<4x8x9xf32>) -> tensor<9x8x4xf32>
      return %0 : tensor<9x8x4xf32>
    }
  }
}

// -----

dispatch.executable @ranks {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {plan.grid = #plan.grid<most = 64, steps = 32768>} {
      // expected-error @+1 {{'stablehlo.abs': plan: way 'tiles' is not possible: a tile must have 2 sizes, one for each dimension: has 1}}
      %0 = stablehlo.abs %x {plan.stage = #plan.stage<map 0, space = [4, 8], tile = [4], way = tiles>} : tensor<4x8xf32>
      return %0 : tensor<4x8xf32>
    }
  }
}

// -----

dispatch.executable @unrolled {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {plan.grid = #plan.grid<most = 64, steps = 32768>} {
      // expected-error @+1 {{'stablehlo.abs': plan: way 'elements' is not possible: dimensions are unrolled as a whole: has 4 in dimension 1}}
      %0 = stablehlo.abs %x {plan.stage = #plan.stage<map 0, space = [4, 8], tile = [1, 4], way = elements>} : tensor<4x8xf32>
      return %0 : tensor<4x8xf32>
    }
  }
}

// -----

dispatch.executable @too_many {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: tensor<4x80xf32>) -> tensor<4x80xf32> attributes {plan.grid = #plan.grid<most = 64, steps = 32768>} {
      // expected-error @+1 {{'stablehlo.abs': plan: way 'elements' is not possible: at most 64 elements are unrolled: has 80}}
      %0 = stablehlo.abs %x {plan.stage = #plan.stage<map 0, space = [4, 80], tile = [1, 80], way = elements>} : tensor<4x80xf32>
      return %0 : tensor<4x80xf32>
    }
  }
}

// -----

dispatch.executable @parts {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: tensor<4x8xf32>) -> tensor<8x8xf32> attributes {plan.grid = #plan.grid<most = 64, steps = 32768>} {
      // expected-error @+1 {{'stablehlo.concatenate': plan: way 'elements' is not possible: it is written part by part, or as it lies}}
      %0 = stablehlo.concatenate %x, %x, dim = 0 {plan.stage = #plan.stage<map 0, space = [8, 8], way = elements>} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
      return %0 : tensor<8x8xf32>
    }
  }
}

// -----

dispatch.executable @inline {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: tensor<4x8xf32>) -> tensor<4xf32> attributes {plan.grid = #plan.grid<most = 64, steps = 32768>} {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      // expected-error @+1 {{'stablehlo.reduce': plan: 'inline' is not possible: its elements can't be computed one by one; it is 'rows'}}
      %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] {plan.stage = #plan.stage<inline>} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
  }
}

// -----

dispatch.executable @missing {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: tensor<4xf32>) -> tensor<4xf32> attributes {plan.grid = #plan.grid<most = 64, steps = 32768>} {
      // expected-error @+1 {{'stablehlo.abs': plan: has no stage, in a kernel that is planned}}
      %0 = stablehlo.abs %x : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
  }
}

// -----

dispatch.executable @space {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: tensor<4xf32>) -> tensor<4xf32> attributes {plan.grid = #plan.grid<most = 64, steps = 32768>} {
      // expected-error @+1 {{'stablehlo.abs': plan: space must be [4]: is [5]}}
      %0 = stablehlo.abs %x {plan.stage = #plan.stage<map 0, space = [5]>} : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
  }
}

// -----

dispatch.executable @numbers {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: tensor<4xf32>) -> tensor<4xf32> attributes {plan.grid = #plan.grid<most = 64, steps = 32768>} {
      %0 = stablehlo.abs %x {plan.stage = #plan.stage<map 0, space = [4]>} : tensor<4xf32>
      // expected-error @+1 {{'stablehlo.negate': plan: there is another stage 0}}
      %1 = stablehlo.negate %0 {plan.stage = #plan.stage<map 0, space = [4]>} : tensor<4xf32>
      return %1 : tensor<4xf32>
    }
  }
}

// -----

dispatch.executable @arity {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {plan.grid = #plan.grid<most = 64, steps = 32768>} {
      // expected-error @+1 {{'stablehlo.dot_general': plan: a tile must have 2 sizes, rows and columns: is [64, 64, 64]}}
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {plan.stage = #plan.stage<product 0, space = [1, 64, 64, 64], tile = [64, 64, 64]>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      return %0 : tensor<64x64xf32>
    }
  }
}

// -----

dispatch.executable @types {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: tensor<64x64xcomplex<f32>>, %w: tensor<64x64xcomplex<f32>>) -> tensor<64x64xcomplex<f32>> attributes {plan.grid = #plan.grid<most = 64, steps = 32768>} {
      // expected-error @+1 {{'stablehlo.dot_general': plan: has no tile: elements of its types are multiplied one by one}}
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {plan.stage = #plan.stage<product 0, space = [1, 64, 64, 64], tile = [64, 64]>} : (tensor<64x64xcomplex<f32>>, tensor<64x64xcomplex<f32>>) -> tensor<64x64xcomplex<f32>>
      return %0 : tensor<64x64xcomplex<f32>>
    }
  }
}

// -----

dispatch.executable @large {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {plan.grid = #plan.grid<most = 64, steps = 32768>} {
      // expected-error @+1 {{'stablehlo.dot_general': plan: a tile of [65536, 65536] takes more memory than a block may have}}
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {plan.stage = #plan.stage<product 0, space = [1, 64, 64, 64], tile = [65536, 65536]>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      return %0 : tensor<64x64xf32>
    }
  }
}

// -----

// Panels of 128 bytes hold 32 columns.
dispatch.executable @panels {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: tensor<64x64xf32>, %p: tensor<4x64x32xf32>) -> tensor<64x128xf32> attributes {plan.grid = #plan.grid<most = 64, steps = 32768>} {
      %w = dispatch.from_panels %p rows = [0] columns = [1] {plan.stage = #plan.stage<inline>} : tensor<4x64x32xf32> -> tensor<64x128xf32>
      // expected-error @+1 {{'stablehlo.dot_general': plan: a tile must begin where a panel does: 40 columns are no multiple of 32}}
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {plan.stage = #plan.stage<product 0, space = [1, 64, 128, 64], tile = [64, 40]>} : (tensor<64x64xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
      return %0 : tensor<64x128xf32>
    }
  }
}

// -----

dispatch.executable @panels_of_a_kernel {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: tensor<1x16x16x8xf32>, %p: tensor<3x8x32xf32>) -> tensor<1x16x16x96xf32> attributes {plan.grid = #plan.grid<most = 64, steps = 32768>} {
      %w = dispatch.from_panels %p rows = [0, 1, 2] columns = [3] {plan.stage = #plan.stage<inline>} : tensor<3x8x32xf32> -> tensor<1x1x8x96xf32>
      // expected-error @+1 {{'stablehlo.convolution': plan: a tile must begin where a panel does: 48 columns are no multiple of 32}}
      %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, plan.stage = #plan.stage<product 0, space = [1, 16, 16, 96, 8], tile = [4, 16, 48]>} : (tensor<1x16x16x8xf32>, tensor<1x1x8x96xf32>) -> tensor<1x16x16x96xf32>
      return %0 : tensor<1x16x16x96xf32>
    }
  }
}

// -----

dispatch.executable @nobody {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {plan.grid = #plan.grid<most = 64, steps = 32768>} {
      // expected-error @+1 {{'stablehlo.abs': plan: there is no product and no columns 0 before it to be the epilogue of}}
      %0 = stablehlo.abs %x {plan.stage = #plan.stage<epilogue 0>} : tensor<64x64xf32>
      return %0 : tensor<64x64xf32>
    }
  }
}

// -----

// What an epilogue reads must be there.
dispatch.executable @absent {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) attributes {plan.grid = #plan.grid<most = 64, steps = 32768>} {
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {plan.stage = #plan.stage<product 0, space = [1, 64, 64, 64], tile = [64, 64]>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      // expected-error @+1 {{'stablehlo.abs': plan: can't be an epilogue: it reads nothing of stage 0}}
      %1 = stablehlo.abs %x {plan.stage = #plan.stage<epilogue 0>} : tensor<64x64xf32>
      return %0, %1 : tensor<64x64xf32>, tensor<64x64xf32>
    }
  }
}

// -----

dispatch.executable @turned {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {plan.grid = #plan.grid<most = 64, steps = 32768>} {
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {plan.stage = #plan.stage<product 0, space = [1, 64, 64, 64], tile = [64, 64]>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      // expected-error @+1 {{'stablehlo.transpose': plan: can't be an epilogue: its elements are not made of those at the same places of 'stablehlo.dot_general'}}
      %1 = stablehlo.transpose %0, dims = [1, 0] {plan.stage = #plan.stage<epilogue 0>} : (tensor<64x64xf32>) -> tensor<64x64xf32>
      return %1 : tensor<64x64xf32>
    }
  }
}

// -----

dispatch.executable @outside {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) attributes {plan.grid = #plan.grid<most = 64, steps = 32768>} {
      // expected-error @+1 {{'stablehlo.dot_general': plan: is read outside of its epilogue, which has no memory for it: only the last op may be}}
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {plan.stage = #plan.stage<product 0, space = [1, 64, 64, 64], tile = [64, 64]>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      %1 = stablehlo.abs %0 {plan.stage = #plan.stage<epilogue 0>} : tensor<64x64xf32>
      return %0, %1 : tensor<64x64xf32>, tensor<64x64xf32>
    }
  }
}

// -----

dispatch.executable @parts {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: tensor<4x64xi32>) -> tensor<4xi32> attributes {plan.grid = #plan.grid<most = 64, steps = 32768>} {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      // expected-error @+1 {{'stablehlo.reduce': plan: 16 parts are not possible}}
      %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.maximum across dimensions = [1] {plan.stage = #plan.stage<rows 0, space = [4, 64], parts = 16>} : (tensor<4x64xi32>, tensor<i32>) -> tensor<4xi32>
      return %0 : tensor<4xi32>
    }
  }
}

// -----

dispatch.executable @terms {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: tensor<4x64xi32>) -> tensor<4xi32> attributes {plan.grid = #plan.grid<most = 64, steps = 32768>} {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      // expected-error @+1 {{'stablehlo.reduce': plan: has no terms: is no sum of floats}}
      %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.maximum across dimensions = [1] {plan.stage = #plan.stage<rows 0, space = [4, 64], terms = 16>} : (tensor<4x64xi32>, tensor<i32>) -> tensor<4xi32>
      return %0 : tensor<4xi32>
    }
  }
}

// -----

dispatch.executable @columns {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: tensor<8x64xf32>) -> tensor<64xf32> attributes {plan.grid = #plan.grid<most = 64, steps = 32768>} {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      // expected-error @+1 {{'stablehlo.reduce': plan: a tile must lie in its space: has 16 of 8 rows}}
      %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] {plan.stage = #plan.stage<columns 0, space = [64, 8], tile = [64, 16]>} : (tensor<8x64xf32>, tensor<f32>) -> tensor<64xf32>
      return %0 : tensor<64xf32>
    }
  }
}

// -----

dispatch.executable @column_arity {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: tensor<8x64xf32>) -> tensor<64xf32> attributes {plan.grid = #plan.grid<most = 64, steps = 32768>} {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      // expected-error @+1 {{'stablehlo.reduce': plan: a tile must have from 2 to 2 sizes, columns and rows at once: is [64]}}
      %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] {plan.stage = #plan.stage<columns 0, space = [64, 8], tile = [64]>} : (tensor<8x64xf32>, tensor<f32>) -> tensor<64xf32>
      return %0 : tensor<64xf32>
    }
  }
}

// -----

dispatch.executable @memory {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {plan.grid = #plan.grid<most = 64, steps = 32768>} {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      // Its result is one value.
      %m = stablehlo.reduce(%x init: %zero) applies stablehlo.maximum across dimensions = [1] {plan.stage = #plan.stage<rows 0, space = [4, 8], memory = value>} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
      %b = stablehlo.broadcast_in_dim %m, dims = [0] {plan.stage = #plan.stage<rows 0, space = [4, 8], memory = inline>} : (tensor<4xf32>) -> tensor<4x8xf32>
      // expected-error @+1 {{'stablehlo.subtract': plan: memory must be 'whole': is 'row'; it is read outside of the loop}}
      %0 = stablehlo.subtract %x, %b {plan.stage = #plan.stage<rows 0, space = [4, 8], memory = row>} : tensor<4x8xf32>
      return %0 : tensor<4x8xf32>
    }
  }
}

// -----

dispatch.executable @order {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {plan.grid = #plan.grid<most = 64, steps = 32768>} {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      // Its result is one value.
      %m = stablehlo.reduce(%x init: %zero) applies stablehlo.maximum across dimensions = [1] {plan.stage = #plan.stage<rows 0, space = [4, 8], memory = value>} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
      // expected-error @+1 {{'stablehlo.broadcast_in_dim': plan: reads rows 0, which are computed after it: must be one of them or come after them}}
      %b = stablehlo.broadcast_in_dim %m, dims = [0] {plan.stage = #plan.stage<inline>} : (tensor<4xf32>) -> tensor<4x8xf32>
      // Its loop is here.
      %0 = stablehlo.subtract %x, %b {plan.stage = #plan.stage<rows 0, space = [4, 8], memory = whole>} : tensor<4x8xf32>
      return %0 : tensor<4x8xf32>
    }
  }
}

// -----

dispatch.executable @pinned {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0 {pinned}
  builtin.module {
    // expected-error @+1 {{'func.func': plan: the grid of @k was chosen by somebody else: must be 1 workgroups}}
    func.func @k(%x: tensor<4xf32>) -> tensor<4xf32> attributes {plan.grid = #plan.grid<workgroups = 2>} {
      %0 = stablehlo.abs %x {plan.stage = #plan.stage<map 0, space = [4]>} : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
  }
}

// -----

dispatch.executable @digits {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: tensor<99xf32>) -> tensor<99xf32> attributes {plan.grid = #plan.grid<most = 64, steps = 32768>} {
      // expected-error @+1 {{'stablehlo.sort': plan: way 'digits' is not possible: its rows are not of a known length, or not ordered by one number of each element}}
      %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %1 = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %1 : tensor<i1>
      }) {plan.stage = #plan.stage<sort 0, space = [99], way = digits>} : (tensor<99xf32>) -> tensor<99xf32>
      return %0 : tensor<99xf32>
    }
  }
}

// -----

dispatch.executable @first {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: tensor<99xf32>) -> tensor<99xf32> attributes {plan.grid = #plan.grid<most = 64, steps = 32768>} {
      // expected-error @+1 {{'stablehlo.sort': plan: way 'first' is not possible: all of its elements are read}}
      %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %1 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %1 : tensor<i1>
      }) {plan.stage = #plan.stage<sort 0, space = [99], way = first>} : (tensor<99xf32>) -> tensor<99xf32>
      return %0 : tensor<99xf32>
    }
  }
}

// -----

dispatch.executable @meeting {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access read>, #dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: tensor<9xi32>, %i: tensor<3x1xi32>, %u: tensor<3xi32>) -> tensor<9xi32> attributes {plan.grid = #plan.grid<most = 64, steps = 32768>} {
      // expected-error @+1 {{'stablehlo.scatter': plan: way 'free' is not possible: two updates may meet}}
      %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        stablehlo.return %b : tensor<i32>
      }) {plan.stage = #plan.stage<scatter 0, space = [3], way = free>} : (tensor<9xi32>, tensor<3x1xi32>, tensor<3xi32>) -> tensor<9xi32>
      return %0 : tensor<9xi32>
    }
  }
}

// -----

dispatch.executable @scan {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: tensor<9xf32>, %zero: tensor<f32>) -> tensor<8xf32> attributes {plan.grid = #plan.grid<most = 64, steps = 32768>} {
      // expected-error @+1 {{'stablehlo.reduce_window': plan: way 'scan' is not possible: its windows are not all that is before or after an element in one dimension}}
      %0 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 2>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %1 = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %1 : tensor<f32>
      }) {plan.stage = #plan.stage<window 0, space = [8], way = scan>} : (tensor<9xf32>, tensor<f32>) -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }
  }
}

// -----

dispatch.executable @memory {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: tensor<9xf32>, %zero: tensor<f32>) -> tensor<8xf32> attributes {plan.grid = #plan.grid<most = 64, steps = 32768>} {
      // expected-error @+1 {{'stablehlo.reduce_window': plan: way 'memory' is not possible: its last dimension has windows of several elements}}
      %0 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 2>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %1 = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %1 : tensor<f32>
      }) {plan.stage = #plan.stage<window 0, space = [8], way = memory>} : (tensor<9xf32>, tensor<f32>) -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }
  }
}

// -----

// There is nothing that workgroups could do at once.
dispatch.executable @attention {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {plan.grid = #plan.grid<most = 64, steps = 32768>} {
      // expected-error @+1 {{'stablehlo.exponential': plan: 'attention' is not possible: it is no part of one that workgroups compute}}
      %0 = stablehlo.exponential %x {plan.stage = #plan.stage<attention 0>} : tensor<4x8xf32>
      return %0 : tensor<4x8xf32>
    }
  }
}
