// Products of matrices and block reflectors, for the other files here.
#include "compiler/kernel/library/matrix.h"
#include "compiler/kernel/library/code_forms.h"
#include "compiler/kernel/library/linear_algebra.h"
#include "compiler/kernel/library/machine_facts.h"
#include "compiler/kernel/library/transpose.h"

// Vectors wider than the machine's only pass between inlined functions.
#pragma clang diagnostic ignored "-Wpsabi"

#define BODY "compiler/kernel/library/matrix.inc"
#include "compiler/kernel/library/for_each_element.inc"
