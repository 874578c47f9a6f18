//===- check.td - the check ops of StableHLO's test files -----------------===//

#ifndef ALULA_REFERENCE_CHECK
#define ALULA_REFERENCE_CHECK

include "mlir/IR/OpBase.td"

def Check_Dialect : Dialect {
  let name = "check";
  let cppNamespace = "::alula::reference::check";
  let summary = "assertions about the values of a program";
  let dependentDialects = [];
}

class Check_Op<string mnemonic> : Op<Check_Dialect, mnemonic>;

def Check_ExpectEqOp : Check_Op<"expect_eq"> {
  let summary = "fails unless both tensors are equal, NaN equal to NaN";
  let arguments = (ins AnyType:$lhs, AnyType:$rhs);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` custom<SameOrTwoTypes>(type($lhs), type($rhs))
  }];
}

def Check_ExpectEqConstOp : Check_Op<"expect_eq_const"> {
  let summary = "fails unless the tensor equals the constant";
  let arguments = (ins AnyType:$lhs, ElementsAttr:$value);
  let assemblyFormat = "$lhs `,` custom<Constant>($value, type($lhs)) attr-dict";
}

def Check_ExpectAlmostEqOp : Check_Op<"expect_almost_eq"> {
  let summary = "fails unless the tensors differ by at most the tolerance";
  let arguments = (ins AnyType:$lhs, AnyType:$rhs,
                       DefaultValuedOptionalAttr<F64Attr, "1e-4">:$tolerance);
  let assemblyFormat = [{
    $lhs `,` $rhs (`,` `tolerance` `=` $tolerance^)? attr-dict
        `:` custom<SameOrTwoTypes>(type($lhs), type($rhs))
  }];
}

def Check_ExpectAlmostEqConstOp : Check_Op<"expect_almost_eq_const"> {
  let summary = "fails unless the tensor is near the constant";
  let arguments = (ins AnyType:$lhs, ElementsAttr:$value,
                       DefaultValuedOptionalAttr<F64Attr, "1e-4">:$tolerance);
  let assemblyFormat = [{
    $lhs `,` custom<Constant>($value, type($lhs))
        (`,` `tolerance` `=` $tolerance^)? attr-dict
  }];
}

def Check_ExpectCloseOp : Check_Op<"expect_close"> {
  let summary = "fails unless the tensors are some representable values apart";
  let arguments = (ins AnyType:$actual, AnyType:$expected,
      DefaultValuedAttr<UI64Attr, "1">:$max_ulp_difference,
      DefaultValuedOptionalAttr<UI64Attr, "0">:$min_ulp_difference);
  let assemblyFormat = [{
    $actual `,` $expected
        `,` `max_ulp_difference` `=` $max_ulp_difference
        (`,` `min_ulp_difference` `=` $min_ulp_difference^)?
        `:` attr-dict type($actual) `,` type($expected)
  }];
}

def Check_ExpectSerializedEqOp : Check_Op<"expect_serialized_eq"> {
  let summary = "fails unless a probe has seen this tensor";
  let arguments = (ins AnyType:$expected, StrAttr:$probe_id,
      DefaultValuedOptionalAttr<UI32Attr, "0">:$iteration);
  let assemblyFormat = [{
    $expected `,` `probe_id` `=` $probe_id (`,` `iter` `=` $iteration^)?
        attr-dict `:` type($expected)
  }];
}

#endif
