//===- ops_compound.td - ops that are programs of their own: products over
// groups of rows, the largest elements, scans

include "dialect/chlo/traits.td"

// A product in which consecutive parts of one lhs dimension belong to groups
// of the given sizes. By the part that this dimension plays: a result
// dimension [b,m,k],[g,b,k,n] -> [b,m,n], a contracted one
// [b,m,k],[b,k,n] -> [g,b,m,n], a batch one [b,m,k],[b,k,n] -> [b,m,n].
def CHLO_RaggedDotOp : CHLO_Op<"ragged_dot", [Pure]> {
  let arguments = (ins SHLO_Tensor:$lhs, SHLO_Tensor:$rhs,
      SHLO_IntTensor:$group_sizes,
      CHLO_RaggedDotDimensionNumbers:$ragged_dot_dimension_numbers,
      OptionalAttr<CHLO_PrecisionConfigAttr>:$precision_config);
  let results = (outs SHLO_Tensor:$result);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The dimensions before the ragged one that group_sizes may have.
    ::llvm::SmallVector<int64_t> getGroupPrefixDims();
    /// What the operands tell about the result's shape.
    ::llvm::SmallVector<int64_t> getResultShape();
  }];
}

// The k largest elements of the last dimension and their indices.
def CHLO_TopKOp : CHLO_InferringOp<"top_k", [Pure, SHLO_Infer]> {
  let arguments = (ins SHLO_Tensor:$operand, I64Attr:$k,
                       DefaultValuedOptionalAttr<BoolAttr, "true">:$is_stable);
  let results = (outs SHLO_Tensor:$values, SHLO_Tensor:$indices);
  let assemblyFormat = [{
    `(` $operand `,` `k` `=` $k (`,` `is_stable` `=` $is_stable^)? `)`
        attr-dict
        `:` type($operand) `->` `(` type($values) `,` type($indices) `)`
  }];
}

// Runs the body on each slice of the inputs along `dimension`, with carries
// that go from one slice to the next. The body returns the outputs' slices and
// then the carries.
def CHLO_ScanOp
    : CHLO_InferringOp<"scan", [
          AttrSizedOperandSegments, AttrSizedResultSegments, IsolatedFromAbove,
          RecursiveMemoryEffects, SHLO_Infer,
          DeclareOpInterfaceMethods<OpAsmOpInterface,
                                    ["getAsmBlockArgumentNames"]>]> {
  let arguments = (ins Variadic<SHLO_AnyTensor>:$inputs,
      Variadic<SHLO_AnyTensor>:$inits,
      ConfinedAttr<I64Attr, [IntNonNegative]>:$dimension,
      OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$scan_dim_size,
      DefaultValuedOptionalAttr<BoolAttr, "false">:$is_reverse,
      OptionalAttr<BoolAttr>:$is_associative);
  let results = (outs Variadic<SHLO_AnyTensor>:$outputs,
                      Variadic<SHLO_AnyTensor>:$carries);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  // The body's terminator can be trusted once the body is verified.
  let hasRegionVerifier = 1;
}
