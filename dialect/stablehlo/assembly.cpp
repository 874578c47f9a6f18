#include "dialect/stablehlo/assembly.h"
