// RUN: alula-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{'#dispatch.machine': no such fact: core; there are index_bits, cores, memory_cores,}}
module attributes {dispatch.machine = #dispatch.machine<cpu, core = 2>} {
}

// -----

// expected-error@+1 {{'#dispatch.machine': a fact must be said once: cores}}
module attributes {dispatch.machine = #dispatch.machine<cpu, cores = 2, cores = 4>} {
}

// -----

// expected-error@+1 {{'#dispatch.machine': cores must be from 1 to 2147483648: is 0}}
module attributes {dispatch.machine = #dispatch.machine<cpu, cores = 0>} {
}

// -----

// expected-error@+1 {{'#dispatch.machine': line_bytes must be a power of two: is 48}}
module attributes {dispatch.machine = #dispatch.machine<cpu, line_bytes = 48>} {
}

// -----

// expected-error@+1 {{'dispatch.machine': must be a #dispatch.machine on a module}}
module attributes {dispatch.machine = 16} {
}

// -----

// expected-error@+1 {{'dispatch.machine': must be a #dispatch.machine on a module}}
func.func private @f() attributes {dispatch.machine = #dispatch.machine<cpu>}
