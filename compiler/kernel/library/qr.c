// QR factorizations and products of their reflectors.
#include "compiler/kernel/library/linear_algebra.h"
#include "compiler/kernel/library/matrix.h"

#define BODY "compiler/kernel/library/qr.inc"
#include "compiler/kernel/library/for_each_element.inc"
#undef BODY
#define BODY "compiler/kernel/library/qr_pivoted.inc"
#include "compiler/kernel/library/for_each_element.inc"
