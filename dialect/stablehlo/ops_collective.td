//===- ops_collective.td - communication between processes and with the host

include "dialect/stablehlo/traits.td"

class SHLO_Collective<string mnemonic, list<Trait> traits = []>
    : SHLO_InferringOp<mnemonic, traits # [
          DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let hasVerifier = 1;
}

def StableHLO_AllGatherOp : SHLO_Collective<"all_gather", [
    SHLO_PairwiseSameElementType]> {
  let arguments = (ins Variadic<SHLO_Tensor>:$operands,
                       I64Attr:$all_gather_dim,
                       StableHLO_ReplicaGroups:$replica_groups,
                       OptionalAttr<StableHLO_ChannelHandle>:$channel_handle,
                       UnitAttr:$use_global_device_ids);
  let results = (outs Variadic<SHLO_Tensor>:$results);
}

def StableHLO_AllReduceOp : SHLO_Collective<"all_reduce", [
    SHLO_Infer, SingleBlockImplicitTerminator<"ReturnOp">]> {
  let arguments = (ins Variadic<SHLO_Tensor>:$operands,
                       StableHLO_ReplicaGroups:$replica_groups,
                       OptionalAttr<StableHLO_ChannelHandle>:$channel_handle,
                       UnitAttr:$use_global_device_ids);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs Variadic<SHLO_Tensor>:$results);
}

def StableHLO_ReduceScatterOp : SHLO_Collective<"reduce_scatter"> {
  let arguments = (ins SHLO_Tensor:$operand, I64Attr:$scatter_dimension,
                       StableHLO_ReplicaGroups:$replica_groups,
                       OptionalAttr<StableHLO_ChannelHandle>:$channel_handle,
                       UnitAttr:$use_global_device_ids);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs SHLO_Tensor:$result);
}

def StableHLO_AllToAllOp : SHLO_Collective<"all_to_all", [
    SHLO_PairwiseSameElementType, SHLO_Infer]> {
  let arguments = (ins Variadic<SHLO_Tensor>:$operands,
                       I64Attr:$split_dimension, I64Attr:$concat_dimension,
                       I64Attr:$split_count,
                       StableHLO_ReplicaGroups:$replica_groups,
                       OptionalAttr<StableHLO_ChannelHandle>:$channel_handle);
  let results = (outs Variadic<SHLO_Tensor>:$results);
}

def StableHLO_CollectiveBroadcastOp
    : SHLO_Collective<"collective_broadcast", [SHLO_Infer]> {
  let arguments = (ins Variadic<SHLO_Tensor>:$operands,
                       StableHLO_ReplicaGroups:$replica_groups,
                       OptionalAttr<StableHLO_ChannelHandle>:$channel_handle,
                       UnitAttr:$has_dynamic_root);
  let results = (outs Variadic<SHLO_Tensor>:$results);
}

def StableHLO_CollectiveReduceOp
    : SHLO_Collective<"collective_reduce", [
          SHLO_Infer, SingleBlockImplicitTerminator<"ReturnOp">]> {
  let arguments = (ins Variadic<SHLO_Tensor>:$operands,
                       StableHLO_ReplicaGroups:$replica_groups,
                       OptionalAttr<StableHLO_ChannelHandle>:$channel_handle,
                       UnitAttr:$use_global_device_ids,
                       UnitAttr:$has_dynamic_root);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs Variadic<SHLO_Tensor>:$results);
}

def StableHLO_CollectivePermuteOp
    : SHLO_InferringOp<"collective_permute", [SHLO_SameElementType,
                                              SHLO_Infer]> {
  let arguments = (ins SHLO_Tensor:$operand,
                       I64ElementsAttr:$source_target_pairs,
                       OptionalAttr<StableHLO_ChannelHandle>:$channel_handle);
  let results = (outs SHLO_Tensor:$result);
  let hasVerifier = 1;
}

def StableHLO_CrossReplicaSumOp
    : SHLO_InferringOp<"cross-replica-sum", [SHLO_SameType]> {
  let arguments = (ins SHLO_Tensor:$operand, I64ElementsAttr:$replica_groups);
  let results = (outs SHLO_Tensor:$result);
  let hasVerifier = 1;
}

def StableHLO_ReplicaIdOp : SHLO_InferringOp<"replica_id", [Pure,
                                                            SHLO_Infer]> {
  let results = (outs SHLO_UI32Tensor:$result);
  let assemblyFormat = "attr-dict `:` type(results)";
}

def StableHLO_PartitionIdOp : SHLO_InferringOp<"partition_id", [Pure,
                                                                SHLO_Infer]> {
  let results = (outs SHLO_UI32Tensor:$result);
  let assemblyFormat = "attr-dict `:` type(results)";
}

// Transfers read and write an outside queue: never removed, never reordered
// among themselves.
def SHLO_Transfer : Resource<"::mlir::stablehlo::TransferResource">;
def SHLO_TransferEffects
    : MemoryEffects<[MemRead<SHLO_Transfer>, MemWrite<SHLO_Transfer>]>;

def StableHLO_InfeedOp : StableHLO_Op<"infeed", [SHLO_TransferEffects]> {
  let arguments = (ins SHLO_Token:$token,
                       DefaultValuedStrAttr<StrAttr, "">:$infeed_config,
                       OptionalAttr<ArrayAttr>:$layout);
  let results = (outs Variadic<SHLO_StaticTensorOrToken>:$results);
  let hasVerifier = 1;
}

def StableHLO_OutfeedOp
    : SHLO_InferringOp<"outfeed", [SHLO_Infer, SHLO_TransferEffects]> {
  let arguments = (ins Variadic<SHLO_AnyTensor>:$inputs, SHLO_Token:$token,
                       DefaultValuedStrAttr<StrAttr, "">:$outfeed_config);
  let results = (outs SHLO_Token:$result);
}

def StableHLO_SendOp
    : SHLO_InferringOp<"send", [SHLO_Infer, SHLO_TransferEffects]> {
  let arguments = (ins Variadic<SHLO_AnyTensor>:$inputs, SHLO_Token:$token,
      StableHLO_ChannelHandle:$channel_handle,
      DefaultValuedOptionalAttr<BoolAttr, "false">:$is_host_transfer,
      OptionalAttr<I64ElementsAttr>:$source_target_pairs);
  let results = (outs SHLO_Token:$result);
  let hasVerifier = 1;
}

def StableHLO_RecvOp : StableHLO_Op<"recv", [SHLO_TransferEffects]> {
  let arguments = (ins SHLO_Token:$token,
      StableHLO_ChannelHandle:$channel_handle,
      DefaultValuedOptionalAttr<BoolAttr, "false">:$is_host_transfer,
      OptionalAttr<I64ElementsAttr>:$source_target_pairs);
  let results = (outs Variadic<SHLO_StaticTensorOrToken>:$results);
  let hasVerifier = 1;
}
