// QR factorizations and products of their reflectors.
#include "compiler/target/cpu/library/linear_algebra.h"
#include "compiler/target/cpu/library/matrix.h"

#define BODY "compiler/target/cpu/library/qr.inc"
#include "compiler/target/cpu/library/for_each_element.inc"
#undef BODY
#define BODY "compiler/target/cpu/library/qr_pivoted.inc"
#include "compiler/target/cpu/library/for_each_element.inc"
