// RUN: alula-opt %s --schedule-run-together | FileCheck %s
// RUN: alula-opt %s --schedule-run-together --schedule-convert-tensors-to-commands | FileCheck %s --check-prefix=COMMANDS

module attributes {dispatch.machine = #dispatch.machine<cpu, cores = 4>} {

dispatch.executable @narrow {
  dispatch.entry @narrow bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [2, 1, 1] scratch 0 {dispatch.narrow}
  builtin.module {
    func.func @narrow(%x: tensor<8xf32>) -> tensor<8xf32> {
      return %x : tensor<8xf32>
    }
  }
}
dispatch.executable @wide {
  dispatch.entry @wide bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [16, 1, 1] scratch 0
  builtin.module {
    func.func @wide(%x: tensor<8xf32>) -> tensor<8xf32> {
      return %x : tensor<8xf32>
    }
  }
}
dispatch.executable @update {
  dispatch.entry @update bindings([#dispatch<access read_write>]) workgroups [1, 1, 1] scratch 0 {dispatch.narrow}
  builtin.module {
    func.func @update(%x: tensor<8xf32>) -> tensor<8xf32> {
      return %x : tensor<8xf32>
    }
  }
}

// Two chains go side by side; with two times two workgroups no core is left.
// CHECK-LABEL: func.func @chains
// CHECK: %[[A:.*]] = dispatch.launch @narrow::@narrow(%arg0) :
// CHECK-NEXT: %[[B:.*]] = dispatch.launch @narrow::@narrow(%arg1) {dispatch.beside}
// CHECK-NEXT: %[[C:.*]] = dispatch.launch @narrow::@narrow(%[[A]]) :
// CHECK-NEXT: %[[D:.*]] = dispatch.launch @narrow::@narrow(%[[B]]) {dispatch.beside}
// CHECK-NEXT: %[[E:.*]] = dispatch.launch @narrow::@narrow(%arg0) :
// Neither writes what the other one needs, %b not where %a is.
// COMMANDS-LABEL: func.func @chains
// COMMANDS-DAG: %[[X:.*]] = dispatch.slot argument 0
// COMMANDS-DAG: %[[Y:.*]] = dispatch.slot argument 1
// COMMANDS-DAG: %[[AT_A:.*]] = dispatch.slot arena 0 bytes 32
// COMMANDS-DAG: %[[AT_B:.*]] = dispatch.slot arena 64 bytes 32
// COMMANDS: dispatch.run @narrow::@narrow(%[[X]], %[[AT_A]]){{$}}
// COMMANDS-NEXT: dispatch.run @narrow::@narrow(%[[Y]], %[[AT_B]]) {beside}
// COMMANDS-NEXT: dispatch.run @narrow::@narrow(%[[AT_A]], %{{.*}}){{$}}
// COMMANDS-NEXT: dispatch.run @narrow::@narrow(%[[AT_B]], %{{.*}}) {beside}
// COMMANDS-NEXT: dispatch.run @narrow::@narrow(%[[X]], %{{.*}}){{$}}
func.func @chains(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %a = dispatch.launch @narrow::@narrow(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %c = dispatch.launch @narrow::@narrow(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %b = dispatch.launch @narrow::@narrow(%y) : (tensor<8xf32>) -> tensor<8xf32>
  %d = dispatch.launch @narrow::@narrow(%b) : (tensor<8xf32>) -> tensor<8xf32>
  %e = dispatch.launch @narrow::@narrow(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %c, %d, %e : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// Not with what has work for all cores, is in place, or has a grid of its own.
// CHECK-LABEL: func.func @alone
// CHECK-NOT: beside
func.func @alone(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %one = arith.constant 1 : index
  %a = dispatch.launch @wide::@wide(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %b = dispatch.launch @narrow::@narrow(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %c = dispatch.launch @update::@update(%y) in_place [0] : (tensor<8xf32>) -> tensor<8xf32>
  %d = dispatch.launch @narrow::@narrow(%x) workgroups(%one, %one, %one) : (tensor<8xf32>) -> tensor<8xf32>
  return %a, %b, %c, %d : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// A view of what is there comes along; nothing passes a loop.
// CHECK-LABEL: func.func @views
// CHECK: %[[V:.*]] = dispatch.view %arg1
// CHECK-NEXT: %[[A:.*]] = dispatch.launch @narrow::@narrow(%arg0) :
// CHECK-NEXT: dispatch.launch @narrow::@narrow(%[[V]]) {dispatch.beside}
// CHECK-NEXT: dispatch.launch @wide::@wide(%[[A]])
// CHECK: stablehlo.while
// CHECK: dispatch.launch @narrow::@narrow(%{{.*}}) :
// CHECK-NEXT: dispatch.launch @narrow::@narrow(%{{.*}}) {dispatch.beside}
// CHECK: return
// CHECK: dispatch.launch @narrow::@narrow(%arg0) :
func.func @views(%x: tensor<8xf32>, %y: tensor<2x4xf32>, %p: tensor<i1>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %a = dispatch.launch @narrow::@narrow(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %w = dispatch.launch @wide::@wide(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %v = dispatch.view %y : tensor<2x4xf32> -> tensor<8xf32>
  %b = dispatch.launch @narrow::@narrow(%v) : (tensor<8xf32>) -> tensor<8xf32>
  %q, %r, %s = stablehlo.while(%i = %p, %j = %a, %k = %b) : tensor<i1>, tensor<8xf32>, tensor<8xf32>
  cond {
    stablehlo.return %i : tensor<i1>
  } do {
    %m = dispatch.launch @narrow::@narrow(%j) : (tensor<8xf32>) -> tensor<8xf32>
    %n = dispatch.launch @narrow::@narrow(%k) : (tensor<8xf32>) -> tensor<8xf32>
    stablehlo.return %i, %m, %n : tensor<i1>, tensor<8xf32>, tensor<8xf32>
  }
  %z = dispatch.launch @narrow::@narrow(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %w, %r, %s, %z : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
}
