#include "dialect/dispatch/kernel_call.h"

#include "llvm/ADT/StringSwitch.h"

bool alula::dispatch::isKernelCall(llvm::StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases("alula.eig", "alula.eigh", "alula.geqp3", "alula.geqrf", true)
      .Cases("alula.hessenberg", "alula.householder_product", "alula.lu", true)
      .Cases("alula.lu_pivots_to_permutation", "alula.ormqr", "alula.schur",
             true)
      .Cases("alula.ragged_rows_product", "alula.ragged_sums_product", true)
      .Cases("alula.sparse_product", "alula.sparse_rows_product",
             "alula.sparse_sampled", true)
      .Cases("alula.svd", "alula.tridiagonal", "alula.tridiagonal_solve", true)
      .Cases("ProductOfElementaryHouseholderReflectors", "Qr", true)
      .Case("stablehlo.dynamic_rng_bit_generator", true)
      .Default(false);
}
