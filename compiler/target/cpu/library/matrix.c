// Products of matrices and block reflectors, for the other files here.
#include "compiler/target/cpu/library/matrix.h"

// Vectors wider than the machine's only pass between inlined functions.
#pragma clang diagnostic ignored "-Wpsabi"

#define BODY "compiler/target/cpu/library/matrix.inc"
#include "compiler/target/cpu/library/for_each_element.inc"
