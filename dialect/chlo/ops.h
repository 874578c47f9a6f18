#pragma once

#include "dialect/stablehlo/ops.h"

#include "dialect/chlo/traits.h"

#include "dialect/chlo/dialect.h.inc"
#include "dialect/chlo/enums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/chlo/attributes.h.inc"

#define GET_OP_CLASSES
#include "dialect/chlo/ops_elementwise.h.inc"

#define GET_OP_CLASSES
#include "dialect/chlo/ops_broadcast.h.inc"

#define GET_OP_CLASSES
#include "dialect/chlo/ops_compound.h.inc"
