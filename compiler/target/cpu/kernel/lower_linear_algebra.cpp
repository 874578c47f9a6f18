// Factorizations and solvers: calls of the kernel library.

#include "compiler/target/cpu/kernel/call_signature.h"
#include "compiler/target/cpu/kernel/families.h"
#include "compiler/target/cpu/kernel/library_call.h"

#include "compiler/kernel/library/linear_algebra.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;

void alula::cpu::emitCholesky(Operation *op, Lowering &lowering) {
  auto cholesky = cast<stablehlo::CholeskyOp>(op);
  Value a = cholesky.getA();
  LibraryCall call(lowering, "cholesky", getElementType(a));
  call.addInput(a);
  call.addOutput(cast<OpResult>(cholesky.getResult()));
  call.addNull();
  call.addBatch(a, 2);
  call.addSize(lowering.getShape(a).back());
  call.addFlag(cholesky.getLower());
  call.addCancel();
  call.run();
}

void alula::cpu::emitTriangularSolve(Operation *op, Lowering &lowering) {
  auto solve = cast<stablehlo::TriangularSolveOp>(op);
  Value a = solve.getA(), b = solve.getB();
  LibraryCall call(lowering, "triangular_solve", getElementType(a));
  call.addInput(a);
  call.addInput(b);
  call.addOutput(cast<OpResult>(solve.getResult()));
  call.addBatch(b, 2);
  SmallVector<Value> sizes = lowering.getShape(b);
  call.addSize(sizes[sizes.size() - 2]);
  call.addSize(sizes.back());
  call.addFlag(solve.getLeftSide());
  call.addFlag(solve.getLower());
  call.addFlag(solve.getUnitDiagonal());
  call.addFlag(static_cast<int64_t>(solve.getTransposeA()) -
               static_cast<int64_t>(stablehlo::Transpose::NO_TRANSPOSE));
  call.addCancel();
  call.run();
}

namespace {
/// The calls by name. Operands, results and flags are those of
/// python/jax_plugins/alula/README.md.
class CallEmitter {
public:
  CallEmitter(stablehlo::CustomCallOp op, Lowering &lowering)
      : op(op), lowering(lowering), a(op.getInputs()[0]),
        rank(cast<RankedTensorType>(a.getType()).getRank()) {}

  using Emit = void (CallEmitter::*)();
  void eig();
  void eigh();
  void geqp3();
  void geqrf();
  void hessenberg();
  void householderProduct();
  void lu();
  void luPivotsToPermutation();
  void ormqr();
  void schur();
  void svd();
  void tridiagonal();
  void tridiagonalSolve();

private:
  LibraryCall start(StringRef name) {
    return LibraryCall(lowering, name, getElementType(a));
  }
  OpResult result(unsigned i) { return op->getResult(i); }
  Value size(Value tensor, int64_t fromEnd) {
    auto type = cast<RankedTensorType>(tensor.getType());
    return lowering.getDim(tensor, type.getRank() - fromEnd);
  }
  /// Scratch whose bytes are a polynomial of degree two of sizes, x not below
  /// y, from the size of a group of reflectors on; below that they are fewer.
  void addScratch(LibraryCall &call, Value x, Value y,
                  llvm::function_ref<int64_t(int64_t, int64_t)> countBytes);
  void addScratch(LibraryCall &call, Value n,
                  llvm::function_ref<int64_t(int64_t)> countBytes) {
    addScratch(call, n, lowering.index(0),
               [&](int64_t size, int64_t) { return countBytes(size); });
  }
  /// A result of vectors of at most `length`. What nobody reads has no size
  /// from outside.
  void addVectors(LibraryCall &call, unsigned i, Value length) {
    auto type = cast<RankedTensorType>(result(i).getType());
    if (type.hasStaticShape() || !result(i).use_empty())
      return call.addOutput(result(i));
    SmallVector<Value> sizes = lowering.getShape(a);
    sizes.resize(static_cast<size_t>(type.getRank() - 1));
    sizes.push_back(length);
    call.addUnused(sizes);
  }
  bool flag(StringRef name) {
    auto config = op->getAttrOfType<DictionaryAttr>("mhlo.backend_config");
    auto value = config ? config.getAs<BoolAttr>(name) : BoolAttr();
    if (!value)
      lowering.decline(op, "without the flag '" + name + "'");
    return value && value.getValue();
  }

  stablehlo::CustomCallOp op;
  Lowering &lowering;
  Value a;
  int64_t rank;
};

void CallEmitter::addScratch(
    LibraryCall &call, Value x, Value y,
    llvm::function_ref<int64_t(int64_t, int64_t)> countBytes) {
  auto knownX = getConstantIntValue(x), knownY = getConstantIntValue(y);
  if (knownX && knownY)
    return call.addScratch(lowering.index(countBytes(*knownX, *knownY)));
  // The polynomial that has these values, of what sizes are beyond `base`.
  const int64_t base = ALULA_REFLECTOR_GROUP;
  auto count = [&](int64_t x, int64_t y) {
    return countBytes(base + x, base + y);
  };
  int64_t one = count(0, 0);
  int64_t xx = (count(2, 0) - 2 * count(1, 0) + one) / 2;
  int64_t alongX = count(1, 0) - one - xx;
  int64_t up = count(1, 1) - count(1, 0);
  int64_t xy = count(2, 1) - count(2, 0) - up;
  int64_t yAndYy = up - xy;
  int64_t yy = (count(2, 2) - count(2, 0) - 2 * yAndYy - 4 * xy) / 2;
  int64_t alongY = yAndYy - yy;
  // The same of the sizes themselves.
  one += base * (base * (xx + xy + yy) - alongX - alongY);
  alongX -= base * (2 * xx + xy);
  alongY -= base * (2 * yy + xy);
  Value bytes = lowering.index(one);
  auto addTerm = [&](int64_t factor, Value term) {
    if (factor)
      bytes = lowering.add(bytes, lowering.mul(lowering.index(factor), term));
  };
  addTerm(alongX, x);
  addTerm(alongY, y);
  addTerm(xx, lowering.mul(x, x));
  addTerm(xy, lowering.mul(x, y));
  addTerm(yy, lowering.mul(y, y));
  call.addScratch(bytes);
}

void CallEmitter::lu() {
  LibraryCall call = start("lu");
  call.addInput(a);
  call.addOutput(result(0));
  addVectors(call, 1, lowering.min(size(a, 2), size(a, 1)));
  addVectors(call, 2, size(a, 2));
  call.addBatch(a, 2);
  call.addSize(size(a, 2));
  call.addSize(size(a, 1));
  call.addCancel();
  call.run();
}

void CallEmitter::luPivotsToPermutation() {
  LibraryCall call = start("lu_pivots_to_permutation");
  call.addInput(a);
  call.addOutput(result(0));
  call.addBatch(a, 1);
  call.addSize(size(a, 1));
  call.addSize(size(result(0), 1));
  call.run();
}

void CallEmitter::geqrf() {
  LibraryCall call = start("qr");
  call.addInput(a);
  call.addOutput(result(0));
  addVectors(call, 1, lowering.min(size(a, 2), size(a, 1)));
  call.addBatch(a, 2);
  call.addSize(size(a, 2));
  call.addSize(size(a, 1));
  addScratch(call, size(a, 2), size(a, 1), [&](int64_t m, int64_t n) {
    return alula_qr_scratch_bytes(m, n, call.getElementBytes());
  });
  call.addCancel();
  call.run();
}

void CallEmitter::geqp3() {
  LibraryCall call = start("qr_pivoted");
  call.addInput(a);
  call.addInput(op.getInputs()[1]);
  call.addOutput(result(0));
  addVectors(call, 1, size(a, 1));
  addVectors(call, 2, lowering.min(size(a, 2), size(a, 1)));
  call.addBatch(a, 2);
  call.addSize(size(a, 2));
  call.addSize(size(a, 1));
  addScratch(call, size(a, 2), size(a, 1), [&](int64_t m, int64_t n) {
    return alula_qr_pivoted_scratch_bytes(m, n, call.getElementBytes());
  });
  call.addCancel();
  call.run();
}

void CallEmitter::householderProduct() {
  LibraryCall call = start("householder_product");
  Value taus = op.getInputs()[1];
  call.addInput(a);
  call.addInput(taus);
  call.addOutput(result(0));
  call.addBatch(a, 2);
  call.addSize(size(a, 2));
  call.addSize(size(a, 1));
  call.addSize(size(taus, 1));
  addScratch(call, size(a, 2), size(a, 1), [&](int64_t m, int64_t n) {
    return alula_householder_product_scratch_bytes(m, n,
                                                   call.getElementBytes());
  });
  call.addCancel();
  call.run();
}

void CallEmitter::ormqr() {
  LibraryCall call = start("householder_multiply");
  Value taus = op.getInputs()[1], c = op.getInputs()[2];
  call.addInput(a);
  call.addInput(taus);
  call.addInput(c);
  call.addOutput(result(0));
  call.addBatch(c, 2);
  call.addSize(size(c, 2));
  call.addSize(size(c, 1));
  call.addSize(size(a, 1));
  call.addSize(size(taus, 1));
  call.addFlag(flag("left"));
  call.addFlag(flag("adjoint"));
  addScratch(call, size(c, 2), size(c, 1), [&](int64_t m, int64_t n) {
    return alula_householder_multiply_scratch_bytes(m, n,
                                                    call.getElementBytes());
  });
  call.addCancel();
  call.run();
}

void CallEmitter::eigh() {
  LibraryCall call = start("eigen_symmetric");
  call.addInput(a);
  addVectors(call, 1, size(a, 1));
  call.addOutput(result(0));
  call.addNull();
  call.addBatch(a, 2);
  call.addSize(size(a, 1));
  call.addFlag(flag("lower"));
  addScratch(call, size(a, 1), [&](int64_t n) {
    return alula_eigen_symmetric_scratch_bytes(n, call.getElementBytes());
  });
  call.addCancel();
  call.run();
}

void CallEmitter::tridiagonal() {
  LibraryCall call = start("tridiagonal");
  call.addInput(a);
  call.addOutput(result(0));
  for (unsigned i = 1; i < 4; ++i)
    addVectors(call, i, size(a, 1));
  call.addBatch(a, 2);
  call.addSize(size(a, 1));
  call.addFlag(flag("lower"));
  addScratch(call, size(a, 1), [&](int64_t n) {
    return alula_tridiagonal_scratch_bytes(n, call.getElementBytes());
  });
  call.addCancel();
  call.run();
}

void CallEmitter::svd() {
  LibraryCall call = start("svd");
  bool isFull = flag("full_matrices");
  call.addInput(a);
  call.addOutput(result(0));
  for (unsigned i = 1; i < 3; ++i)
    op->getNumResults() == 3 ? call.addOutput(result(i)) : call.addNull();
  call.addNull();
  call.addBatch(a, 2);
  call.addSize(size(a, 2));
  call.addSize(size(a, 1));
  call.addFlag(isFull);
  Value m = size(a, 2), n = size(a, 1);
  addScratch(call, lowering.b.createOrFold<arith::MaxSIOp>(m, n),
             lowering.min(m, n), [&](int64_t large, int64_t small) {
               return alula_svd_scratch_bytes(large, small, isFull,
                                              call.getElementBytes());
             });
  call.addCancel();
  call.run();
}

void CallEmitter::hessenberg() {
  LibraryCall call = start("hessenberg");
  call.addInput(a);
  call.addOutput(result(0));
  addVectors(call, 1, size(a, 1));
  call.addBatch(a, 2);
  call.addSize(size(a, 1));
  addScratch(call, size(a, 1), [&](int64_t n) {
    return alula_hessenberg_scratch_bytes(n, call.getElementBytes());
  });
  call.addCancel();
  call.run();
}

void CallEmitter::schur() {
  LibraryCall call = start("schur");
  Type element = getElementTypeOrSelf(a.getType());
  if (auto complex = dyn_cast<ComplexType>(element))
    element = complex.getElementType();
  bool isNarrow = element.isF32();
  call.addInput(a);
  call.addOutput(result(0));
  op->getNumResults() == 2 ? call.addOutput(result(1)) : call.addNull();
  call.addNull();
  call.addBatch(a, 2);
  call.addSize(size(a, 1));
  addScratch(call, size(a, 1), [&](int64_t n) {
    return alula_schur_scratch_bytes(n, isNarrow, call.getElementBytes());
  });
  call.addCancel();
  call.run();
}

void CallEmitter::eig() {
  LibraryCall call = start("eigen_general");
  unsigned next = 1;
  call.addInput(a);
  call.addOutput(result(0));
  flag("left") ? call.addOutput(result(next++)) : call.addNull();
  flag("right") ? call.addOutput(result(next++)) : call.addNull();
  call.addNull();
  call.addBatch(a, 2);
  call.addSize(size(a, 1));
  addScratch(call, size(a, 1), [&](int64_t n) {
    return alula_eigen_general_scratch_bytes(n, call.getElementBytes());
  });
  call.addCancel();
  call.run();
}

void CallEmitter::tridiagonalSolve() {
  LibraryCall call = start("tridiagonal_solve");
  for (unsigned i = 0; i < 4; ++i)
    call.addInput(op.getInputs()[i]);
  call.addOutput(result(0));
  call.addNull();
  call.addBatch(a, 1);
  call.addSize(size(a, 1));
  call.addSize(size(op.getInputs()[3], 1));
  call.addFlag(flag("perturb"));
  addScratch(call, size(a, 1), [&](int64_t n) {
    return alula_tridiagonal_solve_scratch_bytes(n, call.getElementBytes());
  });
  call.run();
}
} // namespace

void alula::cpu::emitCustomCall(Operation *op, Lowering &lowering) {
  auto call = cast<stablehlo::CustomCallOp>(op);
  StringRef name = call.getCallTargetName();
  auto emit =
      llvm::StringSwitch<CallEmitter::Emit>(name)
          .Case("alula.eig", &CallEmitter::eig)
          .Case("alula.eigh", &CallEmitter::eigh)
          .Case("alula.geqp3", &CallEmitter::geqp3)
          .Cases("alula.geqrf", "Qr", &CallEmitter::geqrf)
          .Case("alula.hessenberg", &CallEmitter::hessenberg)
          .Cases("alula.householder_product",
                 "ProductOfElementaryHouseholderReflectors",
                 &CallEmitter::householderProduct)
          .Case("alula.lu", &CallEmitter::lu)
          .Case("alula.lu_pivots_to_permutation",
                &CallEmitter::luPivotsToPermutation)
          .Case("alula.ormqr", &CallEmitter::ormqr)
          .Case("alula.schur", &CallEmitter::schur)
          .Case("alula.svd", &CallEmitter::svd)
          .Case("alula.tridiagonal", &CallEmitter::tridiagonal)
          .Case("alula.tridiagonal_solve", &CallEmitter::tridiagonalSolve)
          .Default(nullptr);
  auto emitOther = llvm::StringSwitch<void (*)(Operation *, Lowering &)>(name)
                       .Case("alula.ragged_rows_product", emitRaggedProduct)
                       .Case("alula.ragged_sums_product", emitRaggedProduct)
                       .Case("alula.sparse_product", emitSparseProduct)
                       .Case("alula.sparse_rows_product", emitSparseProduct)
                       .Case("alula.sparse_sampled", emitSparseSampled)
                       .Default(nullptr);
  if (!emit && !emitOther)
    return lowering.decline(op, "for a call of '" + name + "'");
  StringRef wanted = findSignatureProblem(call);
  if (!wanted.empty())
    return lowering.decline(op, "for a call of '" + name + "' that is not " +
                                    wanted);
  if (emitOther)
    return emitOther(op, lowering);
  CallEmitter emitter(call, lowering);
  (emitter.*emit)();
}
