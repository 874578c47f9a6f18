#ifndef ALULA_DIALECT_SDY_ATTRIBUTES
#define ALULA_DIALECT_SDY_ATTRIBUTES

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "dialect/sdy/dialect.td"

// Names of parameters are part of the portable form; the empty literals in the
// formats stand where nothing separates two pieces of the text.

class Sdy_Attr<string className, string text> : AttrDef<Sdy_Dialect, className> {
  let mnemonic = text;
}

class Sdy_List<string className, string text, string element>
    : ArrayOfAttr<Sdy_Dialect, className, text, element>;

// --- the mesh ---------------------------------------------------------------

def Sdy_MeshAxis : Sdy_Attr<"MeshAxis", "mesh_axis"> {
  let summary = "one named axis of a mesh: \"a\"=2";
  let parameters = (ins StringRefParameter<"">:$name,
                        AttrOrTypeParameter<"int64_t", "">:$size);
  let assemblyFormat = "`` $name `` `=` `` $size";
  let genVerifyDecl = 1;
}

def Sdy_Mesh : Sdy_Attr<"Mesh", "mesh"> {
  let summary = "axes and the order of devices: <[\"a\"=2, \"b\"=4]>";
  let description = [{
    Devices are counted along the axes, the last axis fastest, unless
    `device_ids` gives their order. No axes and one device is a place for
    things that live on that device alone; no axes and no device is a mesh that
    nobody has chosen yet.
  }];
  let parameters = (ins
    OptionalArrayRefParameter<"MeshAxisAttr">:$axes,
    OptionalArrayRefParameter<"int64_t">:$device_ids);
  let assemblyFormat = [{
    `<` `[` (`]`) : ($axes^ `]`)?
    (`,` `device_ids` `` `=` `` `[` $device_ids^ `]`)? `>`
  }];
  let genVerifyDecl = 1;
  let skipDefaultBuilders = 1;
  let builders = [
    AttrBuilder<(ins "::llvm::ArrayRef<MeshAxisAttr>":$axes,
                     CArg<"::llvm::ArrayRef<int64_t>", "{}">:$device_ids), [{
      // The usual order is left out, so that equal meshes are one attribute.
      return $_get($_ctxt, axes,
                   isUsualOrder(axes, device_ids) ? ::llvm::ArrayRef<int64_t>()
                                                  : device_ids);
    }]>
  ];
  let extraClassDeclaration = [{
    /// The axis called `name`, or null.
    MeshAxisAttr findAxis(::llvm::StringRef name) const;
    /// Where the axis called `name` stands, or -1.
    int64_t findAxisIndex(::llvm::StringRef name) const;
    /// The product of all axes; 1 without any.
    int64_t getDeviceCount() const;
    /// Whether this names one device and no axes.
    bool isMaximal() const {
      return getAxes().empty() && getDeviceIds().size() == 1;
    }
    bool isEmpty() const { return getAxes().empty() && getDeviceIds().empty(); }
    static bool isUsualOrder(::llvm::ArrayRef<MeshAxisAttr> axes,
                             ::llvm::ArrayRef<int64_t> deviceIds);
  }];
}

// --- shardings --------------------------------------------------------------

def Sdy_SubAxisInfo : Sdy_Attr<"SubAxisInfo", "sub_axis_info"> {
  let summary = "a part of an axis: (pre_size)size";
  let description = [{
    An axis may be seen as a product of several; `pre_size` is the product of
    those to the left of this part, `size` its own.
  }];
  let parameters = (ins AttrOrTypeParameter<"int64_t", "">:$pre_size,
                        AttrOrTypeParameter<"int64_t", "">:$size);
  let assemblyFormat = "`(` $pre_size `)` `` $size";
}

def Sdy_AxisRef : Sdy_Attr<"AxisRef", "axis_ref"> {
  let summary = "an axis or a part of one: \"a\", \"a\":(2)4";
  let parameters = (ins StringRefParameter<"">:$name,
                        OptionalParameter<"SubAxisInfoAttr">:$sub_axis_info);
  let assemblyFormat = "`` $name (`` `:` `` $sub_axis_info^)?";
  let builders = [
    AttrBuilder<(ins "::llvm::StringRef":$name),
                [{ return $_get($_ctxt, name, SubAxisInfoAttr()); }]>
  ];
  let extraClassDeclaration = [{
    /// How often this splits what it shards; 0 if the mesh lacks the axis.
    int64_t getSize(MeshAttr mesh) const;
    /// As in the text.
    std::string toString() const;
  }];
}

def Sdy_AxisRefList : Sdy_List<"AxisRefList", "axis_ref_list", "AxisRefAttr"> {
  let summary = "axes from major to minor: {\"a\", \"b\"}";
  let assemblyFormat = "`{` (`}`) : ($value^ `` `}`)?";
}

def Sdy_ListOfAxisRefLists : Sdy_List<"ListOfAxisRefLists",
    "list_of_axis_ref_lists", "AxisRefListAttr"> {
  let summary = "axes for each dimension: [{\"a\"}, {}]";
}

def Sdy_ManualAxes : Sdy_List<"ManualAxes", "manual_axes", "StringAttr"> {
  let summary = "whole axes that a computation handles by itself";
  let assemblyFormat = "`{` (`}`) : ($value^ `` `}`)?";
}

def Sdy_DimensionSharding : Sdy_Attr<"DimensionSharding", "dimension_sharding"> {
  let summary = "how one dimension is split: {\"a\", ?}p1";
  let description = [{
    Axes from major to minor, whether propagation may add more (`?`), and how
    early propagation looks at it (lower is earlier).
  }];
  let parameters = (ins
    OptionalArrayRefParameter<"AxisRefAttr">:$axes,
    AttrOrTypeParameter<"bool", "">:$is_closed,
    OptionalParameter<"std::optional<int64_t>">:$priority);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// Into how many pieces the dimension is split.
    int64_t getShardCount(MeshAttr mesh) const;
  }];
}

def Sdy_TensorSharding : Sdy_Attr<"TensorSharding", "sharding"> {
  let summary = "how a tensor is split: <@mesh, [{\"a\"}, {?}], replicated={\"b\"}>";
  let description = [{
    An axis that appears nowhere leaves the tensor replicated along it, but
    propagation may use it; `replicated` forbids that. Along `unreduced` axes
    the devices hold parts that still have to be combined by `reduction_op`.
    `mesh_or_ref` is a MeshAttr or a FlatSymbolRefAttr.
  }];
  let parameters = (ins
    "::mlir::Attribute":$mesh_or_ref,
    OptionalArrayRefParameter<"DimensionShardingAttr">:$dim_shardings,
    OptionalArrayRefParameter<"AxisRefAttr">:$replicated_axes,
    OptionalArrayRefParameter<"AxisRefAttr">:$unreduced_axes,
    EnumParameter<Sdy_ReductionOp>:$reduction_op);
  let hasCustomAssemblyFormat = 1;
  let builders = [
    AttrBuilder<(ins "::mlir::Attribute":$mesh_or_ref,
                     "::llvm::ArrayRef<DimensionShardingAttr>":$dim_shardings,
                     "::llvm::ArrayRef<AxisRefAttr>":$replicated_axes,
                     "::llvm::ArrayRef<AxisRefAttr>":$unreduced_axes), [{
      return $_get($_ctxt, mesh_or_ref, dim_shardings, replicated_axes,
                   unreduced_axes, ReductionOp::SUM);
    }]>
  ];
  let extraClassDeclaration = [{
    int64_t getRank() const { return getDimShardings().size(); }
    /// The mesh inside, or the one that the module around `op` calls by the
    /// name inside; null if there is none.
    MeshAttr lookupMesh(::mlir::Operation *op) const;
    /// Calls `visit` for every axis of the dimensions, then of the lists.
    void forEachAxis(::llvm::function_ref<void(AxisRefAttr)> visit) const;
  }];
}

def Sdy_TensorShardingPerValue
    : Sdy_Attr<"TensorShardingPerValue", "sharding_per_value"> {
  let summary = "a sharding for each operand or result: <[<@m, [{\"a\"}]>]>";
  let parameters = (ins
    OptionalArrayRefParameter<"TensorShardingAttr">:$shardings);
  let assemblyFormat = "`<` `[` (`]`) : ($shardings^ `]`)? `>`";
}

// --- rules ------------------------------------------------------------------

def Sdy_DimMapping : Sdy_Attr<"DimMapping", "dim_mapping"> {
  let summary = "factors of a dimension, major to minor: ij";
  let parameters = (ins OptionalArrayRefParameter<"int64_t">:$factor_indices);
  let hasCustomAssemblyFormat = 1;
}

def Sdy_TensorMapping : Sdy_Attr<"TensorMapping", "tensor_mapping"> {
  let summary = "factors of each dimension: [i, jk]";
  let parameters = (ins
    OptionalArrayRefParameter<"DimMappingAttr">:$dim_mappings);
  let assemblyFormat = "`` `[` (`]`) : ($dim_mappings^ `]`)? ``";
}

def Sdy_OpShardingRule : Sdy_Attr<"OpShardingRule", "op_sharding_rule"> {
  let summary = "which dimensions of an op may be split together";
  let description = [{
    `<([i, k], [k, j])->([i, j]) {i=8, j=16, k=8} reduction={k}>` is the rule of
    a matrix product: dimensions with one letter are split alike, and splitting
    `k` asks for a sum at the end. Factors of `need_replication` may not be
    split, those of `permutation` ask for an exchange with the neighbours,
    and along those of `blocked_propagation` nothing is propagated. `custom`
    says that the rule comes from the user.
  }];
  let parameters = (ins
    OptionalArrayRefParameter<"int64_t">:$factor_sizes,
    OptionalArrayRefParameter<"TensorMappingAttr">:$operand_mappings,
    OptionalArrayRefParameter<"TensorMappingAttr">:$result_mappings,
    OptionalArrayRefParameter<"int64_t">:$reduction_factors,
    OptionalArrayRefParameter<"int64_t">:$need_replication_factors,
    OptionalArrayRefParameter<"int64_t">:$permutation_factors,
    OptionalArrayRefParameter<"int64_t">:$blocked_propagation_factors,
    DefaultValuedParameter<"bool", "false">:$is_custom_rule);
  let hasCustomAssemblyFormat = 1;
}

// --- parameters of collectives, traces of propagation -----------------------

def Sdy_AllToAllParam : Sdy_Attr<"AllToAllParam", "all_to_all_param"> {
  let summary = "axes that move between dimensions: {\"a\"}: 0->1";
  let parameters = (ins ArrayRefParameter<"AxisRefAttr">:$axes,
                        AttrOrTypeParameter<"int64_t", "">:$src_dim,
                        AttrOrTypeParameter<"int64_t", "">:$tgt_dim);
  let assemblyFormat = "`` `{` $axes `}` `` `:` $src_dim `` `->` `` $tgt_dim";
}

def Sdy_AllToAllParamList : Sdy_List<"AllToAllParamList",
    "all_to_all_param_list", "AllToAllParamAttr">;

def Sdy_EdgeValueRef : Sdy_Attr<"EdgeValueRef", "edge_value_ref"> {
  let summary = "operand-0 or result-1";
  let parameters = (ins EnumParameter<Sdy_EdgeNodeType>:$type,
                        AttrOrTypeParameter<"int64_t", "">:$index);
  let hasCustomAssemblyFormat = 1;
}

def Sdy_AxisToPropagationDetails : Sdy_Attr<"AxisToPropagationDetails",
    "axis_to_propagation_details"> {
  let summary = "from where to where an axis went: {\"a\" = operand-0 -> [result-0]}";
  let parameters = (ins "AxisRefAttr":$axis_name, "EdgeValueRefAttr":$source,
                        ArrayRefParameter<"EdgeValueRefAttr">:$targets);
  let assemblyFormat =
      "`{` $axis_name `=` $source `->` `[` `` $targets `]` `}`";
}

def Sdy_PropagationOneStep
    : Sdy_Attr<"PropagationOneStep", "propagation_one_step"> {
  let summary = "what one step of propagation did: {step-0 = [...]}";
  let parameters = (ins
    AttrOrTypeParameter<"int64_t", "">:$step_index,
    ArrayRefParameter<"AxisToPropagationDetailsAttr">:$axis_entries);
  let hasCustomAssemblyFormat = 1;
}

def Sdy_PropagationEdges : Sdy_List<"PropagationEdges", "propagation_edges",
                                    "PropagationOneStepAttr"> {
  let assemblyFormat = "`<` `[` $value `]` `>`";
  let genVerifyDecl = 1;
}

#endif
