// RUN: alula-opt %s -split-input-file | alula-opt -split-input-file | FileCheck %s
// RUN: alula-opt %s -split-input-file -emit=generic | alula-opt -split-input-file | FileCheck %s

// All facts are printed.
// CHECK: dispatch.machine = #dispatch.machine<cpu, index_bits = 64, cores = 2, memory_cores = 2, l1_bytes = 65536, l2_bytes = 1048576, l3_bytes = 0, line_bytes = 32, lanes = 4, panel_bytes = 64, block_rows = 512, block_columns = 128, shared_bytes = 0, block_threads = 1, attention_head = 0, launch_steps = 1024, workgroup_steps = 2048, call_steps = 512, kernel_ops = 64, alignment = 32, vector_bytes = 16, vector_registers = 32, bf16_dot = 1, int8_dot = 1>
module attributes {dispatch.machine = #dispatch.machine<cpu, index_bits = 64, cores = 2, memory_cores = 2, l1_bytes = 65536, l2_bytes = 1048576, l3_bytes = 0, line_bytes = 32, lanes = 4, panel_bytes = 64, block_rows = 512, block_columns = 128, shared_bytes = 0, block_threads = 1, attention_head = 0, launch_steps = 1024, workgroup_steps = 2048, call_steps = 512, kernel_ops = 64, alignment = 32, vector_bytes = 16, vector_registers = 32, bf16_dot = 1, int8_dot = 1>} {
}

// -----

// Facts that are not said are those of the portable machine, in any order.
// CHECK: dispatch.machine = #dispatch.machine<cuda, index_bits = 32, cores = 108, {{.*}}, l2_bytes = 262144, l3_bytes = 4194304, line_bytes = 64, lanes = 32, panel_bytes = 128,
module attributes {dispatch.machine = #dispatch.machine<cuda, lanes = 32, cores = 108, index_bits = 32>} {
}
