//===- plan.td - how a kernel is computed ----------------------------------===//
//
// Attributes alone: each op of a kernel's body has the stage that computes it,
// as `plan.stage`; the kernel has the rule for its grid, as `plan.grid`.

#ifndef ALULA_DIALECT_PLAN
#define ALULA_DIALECT_PLAN

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::alula::plan";
  let summary = "how kernels are computed: stages, tiles, memory, grids";
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
}

def Plan_Kind : I32EnumAttr<"Kind", "what a stage does", [
    I32EnumAttrCase<"Inline", 0, "inline">,
    I32EnumAttrCase<"Map", 1, "map">,
    I32EnumAttrCase<"Rows", 2, "rows">,
    I32EnumAttrCase<"Columns", 3, "columns">,
    I32EnumAttrCase<"Product", 4, "product">,
    I32EnumAttrCase<"Epilogue", 5, "epilogue">,
    I32EnumAttrCase<"Window", 6, "window">,
    I32EnumAttrCase<"Sort", 7, "sort">,
    I32EnumAttrCase<"Scatter", 8, "scatter">,
    I32EnumAttrCase<"Call", 9, "call">,
    I32EnumAttrCase<"Control", 10, "control">,
    I32EnumAttrCase<"Attention", 11, "attention">]> {
  let cppNamespace = "::alula::plan";
  let genSpecializedAttr = 0;
}

def Plan_Memory : I32EnumAttr<"Memory", "where results in a loop over rows are", [
    I32EnumAttrCase<"Unsaid", 0, "unsaid">,
    I32EnumAttrCase<"Value", 1, "value">,
    I32EnumAttrCase<"Inline", 2, "inline">,
    I32EnumAttrCase<"Again", 3, "again">,
    I32EnumAttrCase<"Row", 4, "row">,
    I32EnumAttrCase<"Whole", 5, "whole">]> {
  let cppNamespace = "::alula::plan";
  let genSpecializedAttr = 0;
}

def Plan_Way : I32EnumAttr<"Way", "which of several ways is taken", [
    I32EnumAttrCase<"Unsaid", 0, "unsaid">,
    I32EnumAttrCase<"Insertion", 1, "insertion">,
    I32EnumAttrCase<"First", 2, "first">,
    I32EnumAttrCase<"Digits", 3, "digits">,
    I32EnumAttrCase<"Merge", 4, "merge">,
    I32EnumAttrCase<"Ordered", 5, "ordered">,
    I32EnumAttrCase<"Free", 6, "free">,
    I32EnumAttrCase<"Scan", 7, "scan">,
    I32EnumAttrCase<"Memory", 8, "memory">,
    I32EnumAttrCase<"Registers", 9, "registers">,
    I32EnumAttrCase<"Elements", 10, "elements">,
    I32EnumAttrCase<"Tiles", 11, "tiles">,
    I32EnumAttrCase<"Blocks", 12, "blocks">,
    I32EnumAttrCase<"Strips", 13, "strips">]> {
  let cppNamespace = "::alula::plan";
  let genSpecializedAttr = 0;
}

def Plan_StageAttr : AttrDef<Plan_Dialect, "Stage"> {
  let mnemonic = "stage";
  let summary = "the stage that computes an op";
  let description = [{
    `#plan.stage<product 2, space = [512, 512, 512], tile = [256, 128]>`

    Stages are numbered in each block. `inline` ops are in none: whoever reads
    an element computes it. An `epilogue` op belongs to the product or columns
    of its number, and is computed from its tiles. Several ops may be `rows` of
    one number: they share a loop over rows. All ops of an `attention` have its
    number: no memory but for the last one's result, tiles that the machine has.

    `space` is what the stage iterates over, `?` a size that only the call knows.

    | kind | tile | others |
    |---|---|---|
    | `product` of matrices | rows, columns of a block; none: loops of scalars | |
    | `product`, a convolution | outputs of each phase in each spatial dimension, features | |
    | `columns` | of the kept dimensions from the one that is cut on; rows at once | |
    | `map`, `inline` | of each dimension; for `elements`, 1 or all of it | |
    | `rows` | how many rows are reduced side by side | `parts`, `terms`, `memory`, `fused` |

    `parts` of a row are reduced side by side; no sum has more than `terms`
    terms before it is added to others. `memory` is for ops that share a loop:
    `value`, one for each row; `inline`, who reads an element computes it;
    `again`, the same in several loops; `row`, kept for one row; `whole`, read
    outside of the loop. A `fused` reduction is computed in the loop that
    writes its operand.

    Some stages have a `way`; where none is said, the fastest that is possible.

    | kind | way |
    |---|---|
    | `sort` | `insertion`; `digits` of the number that orders a row; `merge` of runs; `first`: the first few alone, where no others are read |
    | `scatter` | `ordered`, one update after the other; `free`, where no two meet |
    | `window` | accumulators in `registers`, or in `memory` beside those of its neighbours; `scan`: each window from the one before |
    | `map`, and `inline` where it is written to memory after all, e.g. because the kernel returns it | `elements` in row-major order, of which those of a tile are unrolled; in `tiles`; a transpose of memory by the kernel library, in `blocks` that stay in a cache, or in `strips` that are written past the caches |
  }];
  let parameters = (ins "::alula::plan::Kind":$kind,
                        DefaultValuedParameter<"int64_t", "-1">:$number,
                        OptionalArrayRefParameter<"int64_t">:$space,
                        OptionalArrayRefParameter<"int64_t">:$tile,
                        "::alula::plan::Memory":$memory,
                        "int64_t":$parts, "int64_t":$terms, "bool":$fused,
                        "::alula::plan::Way":$way);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Plan_GridAttr : AttrDef<Plan_Dialect, "Grid"> {
  let mnemonic = "grid";
  let summary = "how a kernel is shared among workgroups";
  let description = [{
    Either `workgroups`, just so many, or as many as there is work for: `steps`
    for each of at most `most`.
  }];
  let parameters = (ins DefaultValuedParameter<"int64_t", "0">:$workgroups,
                        DefaultValuedParameter<"int64_t", "0">:$most,
                        DefaultValuedParameter<"int64_t", "0">:$steps);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif
