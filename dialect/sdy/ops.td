#ifndef ALULA_DIALECT_SDY_OPS
#define ALULA_DIALECT_SDY_OPS

include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialect/sdy/attributes.td"

// Names of operands and attributes are part of the portable form.

class Sdy_Op<string mnemonic, list<Trait> traits = []>
    : Op<Sdy_Dialect, mnemonic, traits>;

// What refers to a mesh by name is checked when the symbols are there.
class Sdy_MeshUserOp<string mnemonic, list<Trait> traits = []>
    : Sdy_Op<mnemonic, traits #
        [DeclareOpInterfaceMethods<SymbolUserOpInterface>]>;

def Sdy_MeshOp : Sdy_Op<"mesh", [Symbol, HasParent<"ModuleOp">]> {
  let summary = "gives a mesh a name";
  let arguments = (ins SymbolNameAttr:$sym_name, Sdy_Mesh:$mesh);
  let assemblyFormat = "$sym_name `=` $mesh attr-dict";
}

// --- annotations ------------------------------------------------------------

class Sdy_AnnotationOp<string mnemonic, list<Trait> traits = []>
    : Sdy_MeshUserOp<mnemonic,
        traits # [SameOperandsAndResultType, InferTypeOpInterface]> {
  let arguments = (ins AnyType:$input, Sdy_TensorSharding:$sharding);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$input $sharding attr-dict `:` type($result)";
}

def Sdy_ShardingConstraintOp : Sdy_AnnotationOp<"sharding_constraint"> {
  let summary = "says how a tensor is to be split";
}

def Sdy_ReshardOp : Sdy_AnnotationOp<"reshard", [Pure]> {
  let summary = "changes how a tensor is split";
}

def Sdy_ShardingGroupOp : Sdy_Op<"sharding_group"> {
  let summary = "all members of a group are split alike";
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$group_id);
  let assemblyFormat =
      "$input `group_id` `` `=` `` $group_id attr-dict `:` type($input)";
}

def Sdy_PropagationBarrierOp : Sdy_Op<"propagation_barrier",
    [Pure, SameOperandsAndResultType, InferTypeOpInterface]> {
  let summary = "lets shardings flow one way only";
  let arguments = (ins AnyRankedTensor:$input,
                       Sdy_PropagationDirection:$allowed_direction);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input `allowed_direction` `` `=` `` $allowed_direction attr-dict
    `:` type($input)
  }];
  let hasVerifier = 1;
}

def Sdy_ConstantOp : Sdy_Op<"constant", [Pure]> {
  let summary = "a constant that may be split differently at each use";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyStaticShapeTensor:$output);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Sdy_DataFlowEdgeOp : Sdy_MeshUserOp<"data_flow_edge",
    [SameOperandsAndResultType]> {
  let summary = "stands for all ends of an edge through a region op";
  let arguments = (ins AnyShaped:$input,
                       OptionalAttr<Sdy_TensorSharding>:$sharding);
  let results = (outs AnyShaped:$result);
  let assemblyFormat = [{
    $input (`sharding` `` `=` `` $sharding^)? attr-dict `:` type($result)
  }];
}

def Sdy_FuncDataFlowEdgeOp : Sdy_Op<"func_data_flow_edge",
    [SameOperandsAndResultType]> {
  let summary = "the same for an argument of a function or a result of a call";
  let arguments = (ins AnyShaped:$operand);
  let results = (outs AnyShaped:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
  let hasVerifier = 1;
}

// --- regions ----------------------------------------------------------------

def Sdy_ReturnOp : Sdy_Op<"return", [Pure, ReturnLike, Terminator]> {
  let summary = "ends a region of this dialect";
  let arguments = (ins Variadic<AnyType>:$results);
  let assemblyFormat = "attr-dict ($results^ `:` type($results))?";
}

def Sdy_ManualComputationOp : Sdy_MeshUserOp<"manual_computation",
    [RecursiveMemoryEffects, IsolatedFromAbove,
     SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "a program for each device along some axes";
  let description = [{
    Inside, tensors have the shape that one device holds along `manual_axes`,
    and every exchange is an explicit collective. Axes that are not manual stay
    in the hands of propagation.
  }];
  let arguments = (ins Variadic<AnyType>:$tensors,
                       Sdy_TensorShardingPerValue:$in_shardings,
                       Sdy_TensorShardingPerValue:$out_shardings,
                       Sdy_ManualAxes:$manual_axes);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` operands `)`
    `in_shardings` `` `=` `` custom<ShardingList>($in_shardings)
    `out_shardings` `` `=` `` custom<ShardingList>($out_shardings)
    `manual_axes` `` `=` `` $manual_axes
    custom<BodyWithArguments>($body)
    attr-dict `:` functional-type(operands, results)
  }];
}

def Sdy_NamedComputationOp : Sdy_MeshUserOp<"named_computation",
    [RecursiveMemoryEffects, RecursivelySpeculatable, IsolatedFromAbove,
     SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "a call whose body stands inside";
  let arguments = (ins StrAttr:$name, Variadic<AnyType>:$operands,
                       OptionalAttr<Sdy_TensorShardingPerValue>:$in_shardings,
                       OptionalAttr<Sdy_TensorShardingPerValue>:$out_shardings);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `<` $name `>` `` `(` $operands `)`
    (`in_shardings` `` `=` `` custom<ShardingList>($in_shardings)^)?
    (`out_shardings` `` `=` `` custom<ShardingList>($out_shardings)^)?
    custom<BodyWithArguments>($body)
    attr-dict `:` functional-type($operands, results)
  }];
}

// --- collectives ------------------------------------------------------------

// Without a `reduction_op` the values are added; older readers know no other
// reduction, so the attribute is left out for it.

class Sdy_CollectiveOp<string mnemonic>
    : Sdy_MeshUserOp<mnemonic, [SameOperandsAndResultType, InferTypeOpInterface]> {
  let results = (outs AnyShaped:$result);
}

class Sdy_AxesPerDimOp<string mnemonic, dag attribute, string format>
    : Sdy_CollectiveOp<mnemonic> {
  let arguments = !con((ins AnyShaped:$tensor), attribute,
                       (ins Sdy_TensorSharding:$out_sharding));
  let assemblyFormat = format #
      " $tensor `out_sharding` `` `=` `` $out_sharding attr-dict `:` type($result)";
}

def Sdy_AllGatherOp : Sdy_AxesPerDimOp<"all_gather",
    (ins Sdy_ListOfAxisRefLists:$gathering_axes), "$gathering_axes"> {
  let summary = "joins what the last axes of each dimension split";
}

def Sdy_AllSliceOp : Sdy_AxesPerDimOp<"all_slice",
    (ins Sdy_ListOfAxisRefLists:$slicing_axes), "$slicing_axes"> {
  let summary = "splits each dimension along more axes";
}

def Sdy_AllToAllOp : Sdy_AxesPerDimOp<"all_to_all",
    (ins Sdy_AllToAllParamList:$params), "$params"> {
  let summary = "moves axes from one dimension to another";
}

def Sdy_CollectivePermuteOp : Sdy_AxesPerDimOp<"collective_permute", (ins), ""> {
  let summary = "splits each dimension as often as before, along other axes";
}

def Sdy_AllReduceOp : Sdy_AxesPerDimOp<"all_reduce",
    (ins Sdy_AxisRefList:$reduction_axes,
         OptionalAttr<Sdy_ReductionOp>:$reduction_op),
    "($reduction_op^)? $reduction_axes"> {
  let summary = "combines partial values along axes";
}

def Sdy_ReduceScatterOp : Sdy_AxesPerDimOp<"reduce_scatter",
    (ins Sdy_ListOfAxisRefLists:$reduce_scatter_axes,
         OptionalAttr<Sdy_ReductionOp>:$reduction_op),
    "($reduction_op^)? $reduce_scatter_axes"> {
  let summary = "combines partial values and splits the result";
}

def Sdy_ShardedToUnreducedOp : Sdy_AxesPerDimOp<"sharded_to_unreduced",
    (ins Sdy_ListOfAxisRefLists:$axes), "$axes"> {
  let summary = "sharded axes become unreduced: zeros beside one's own part";
}

def Sdy_ReplicatedToUnreducedOp : Sdy_AxesPerDimOp<"replicated_to_unreduced",
    (ins Sdy_AxisRefList:$axes), "$axes"> {
  let summary = "replicated axes become unreduced: one device keeps the value";
}

#endif
