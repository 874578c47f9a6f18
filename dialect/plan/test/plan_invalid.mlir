// RUN: alula-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{there is no stage 'loops'}}
func.func private @f() attributes {a = #plan.stage<loops 0>}

// -----

// expected-error @+1 {{a stage has no 'tiles'}}
func.func private @f() attributes {a = #plan.stage<product 0, tiles = [4]>}

// -----

// expected-error @+1 {{'tile' is said twice}}
func.func private @f() attributes {a = #plan.stage<product 0, tile = [4], tile = [4]>}

// -----

// expected-error @+1 {{there is no memory 'cache'}}
func.func private @f() attributes {a = #plan.stage<rows 0, memory = cache>}

// -----

// expected-error @+1 {{there is no way 'quickly'}}
func.func private @f() attributes {a = #plan.stage<sort 0, way = quickly>}

// -----

// expected-error @+1 {{'map' has no tile without a way}}
func.func private @f() attributes {a = #plan.stage<map 0, tile = [4]>}

// -----

// expected-error @+1 {{way 'strips' needs a tile}}
func.func private @f() attributes {a = #plan.stage<inline, way = strips>}

// -----

// expected-error @+1 {{'sort' has no way 'tiles'}}
func.func private @f() attributes {a = #plan.stage<sort 0, tile = [4], way = tiles>}

// -----

// expected-error @+1 {{'map' has no way 'digits'}}
func.func private @f() attributes {a = #plan.stage<map 0, way = digits>}

// -----

// expected-error @+1 {{'inline' must have no number}}
func.func private @f() attributes {a = #plan.stage<inline 2>}

// -----

// expected-error @+1 {{'map' must have a number}}
func.func private @f() attributes {a = #plan.stage<map>}

// -----

// expected-error @+1 {{'sort' has no tile}}
func.func private @f() attributes {a = #plan.stage<sort 0, tile = [4]>}

// -----

// expected-error @+1 {{a tile must have sizes of at least 1: has 0}}
func.func private @f() attributes {a = #plan.stage<product 0, tile = [0, 4]>}

// -----

// expected-error @+1 {{'columns' has no memory, parts, terms, and is not fused}}
func.func private @f() attributes {a = #plan.stage<columns 0, terms = 4>}

// -----

// expected-error @+1 {{a grid must have workgroups, or most and steps, of at least 1}}
func.func private @f() attributes {plan.grid = #plan.grid<workgroups = 4, most = 8>}

// -----

// expected-error @+1 {{'func.func': plan.grid must be a #plan.grid of a kernel: is 4}}
func.func private @f() attributes {a = #plan.stage<inline>, plan.grid = 4}

// -----

// expected-error @+1 {{'func.func': plan.tile must be 'plan.stage' or 'plan.grid': is 4}}
func.func private @f() attributes {a = #plan.stage<inline>, plan.tile = 4}

// -----

// expected-error @+1 {{plan.stage must be a #plan.stage: is 5 : i64}}
func.func private @f() attributes {plan.stage = 5}

// -----

// expected-error @+1 {{parts and terms must be at least 1}}
func.func private @f() attributes {a = #plan.stage<rows 0, parts = -1>}
