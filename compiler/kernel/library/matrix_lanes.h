// Batches of small matrices, as many side by side as a vector has lanes: for
// the files of linear algebra.
#pragma once

#include "compiler/kernel/library/code_forms.h"
#include "compiler/kernel/library/machine_facts.h"
#include "compiler/kernel/library/matrix.h"
#include "compiler/kernel/library/thread_forms.h"
#include "compiler/kernel/library/transpose.h"

// Vectors wider than the machine's only pass between inlined functions.
#pragma clang diagnostic ignored "-Wpsabi"

#define BODY "compiler/kernel/library/matrix_lanes.inc"
#include "compiler/kernel/library/for_each_element.inc"
#undef BODY
