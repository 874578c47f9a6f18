// General square matrices: Hessenberg and Schur form, eigenvalues and vectors.
#include "compiler/target/cpu/library/linear_algebra.h"
#include "compiler/target/cpu/library/matrix.h"

#define BODY "compiler/target/cpu/library/hessenberg.inc"
#include "compiler/target/cpu/library/for_each_element.inc"
#undef BODY
#define BODY "compiler/target/cpu/library/schur_real.inc"
#include "compiler/target/cpu/library/for_each_element.inc"
#undef BODY
#define BODY "compiler/target/cpu/library/schur_complex.inc"
#include "compiler/target/cpu/library/for_each_element.inc"
#undef BODY
#define BODY "compiler/target/cpu/library/schur.inc"
#include "compiler/target/cpu/library/for_each_element.inc"
#undef BODY
#define BODY "compiler/target/cpu/library/eigen_general.inc"
#include "compiler/target/cpu/library/for_each_element.inc"
