//===- collectives.td - exchanges between devices -------------------------===//
//
// One program runs on several devices at once, its participants, counted
// partition by partition of replica 0, then of replica 1, and so on. From the
// dispatch room on collectives are ops of this file: on tensors, then as a
// start and an end, then as commands. artifact/SPEC.md says what the kinds do.

#ifndef ALULA_DIALECT_DISPATCH_COLLECTIVES
#define ALULA_DIALECT_DISPATCH_COLLECTIVES

include "dialect/dispatch/collective_kinds.td"
include "dialect/dispatch/commands.td"

/// `groups` are lists of participants, or pairs of source and target;
/// `participants` says how many run the program; `channel` is the program's
/// number for the op, 0 for none.
class Dispatch_CollectiveOpBase<string mnemonic, list<Trait> traits = []>
    : Dispatch_Op<mnemonic, traits> {
  dag common = (ins Dispatch_CollectiveKind:$kind,
      DefaultValuedAttr<Dispatch_Reduction,
                        "::alula::dispatch::Reduction::None">:$reduction,
      TypedArrayAttrBase<DenseI64ArrayAttr, "groups of participants">:$groups,
      I64Attr:$participants, DefaultValuedAttr<I64Attr, "0">:$channel);
  let hasVerifier = 1;
}

def Dispatch_CollectiveOp : Dispatch_CollectiveOpBase<"collective"> {
  let summary = "an exchange between participants, from start to end";
  let description = [{
    Elements lie in row-major order, blocks one after the other. Members of a
    group run the same collectives in the same order.
  }];
  let arguments = !con(common, (ins AnyStaticShapeTensor:$operand));
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = [{
    $kind (`by` $reduction^)? $operand `groups` custom<Groups>($groups) `of`
        $participants (`channel` $channel^)? attr-dict
        `:` type($operand) `->` type($result)
  }];
}

def Dispatch_CollectiveStartOp : Dispatch_CollectiveOpBase<"collective_start"> {
  let summary = "begins an exchange";
  let description = [{
    `started` is written while the program goes on; only `collective_done`, in
    the same block, may read it.
  }];
  let arguments = !con(common, (ins AnyStaticShapeTensor:$operand));
  let results = (outs AnyStaticShapeTensor:$started);
  let assemblyFormat = [{
    $kind (`by` $reduction^)? $operand `groups` custom<Groups>($groups) `of`
        $participants (`channel` $channel^)? attr-dict
        `:` type($operand) `->` type($started)
  }];
}

def Dispatch_CollectiveDoneOp
    : Dispatch_Op<
          "collective_done", [TypesMatchWith<"the result is what was started",
                                             "started", "result", "$_self">]> {
  let summary = "waits for the end of an exchange";
  let description = "Until then the operand must keep its value.";
  let arguments = (ins AnyStaticShapeTensor:$started,
      AnyStaticShapeTensor:$operand);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = [{
    $started `of` $operand attr-dict `:` type($started) `of` type($operand)
  }];
  let hasVerifier = 1;
}

def Dispatch_ParticipantOp : Dispatch_Op<"participant", [Pure]> {
  let summary = "the number of the participant that runs the program";
  let arguments = (ins I64Attr:$participants);
  let results = (outs Index:$number);
  let assemblyFormat = "`of` $participants attr-dict";
}

// ---- Commands ----

def Dispatch_StartCollectiveOp : Dispatch_CollectiveOpBase<"start_collective"> {
  let summary = "begins an exchange between slots";
  let description = "`count` is the number of elements in a block.";
  let arguments =
      !con(common, (ins Dispatch_SlotType:$operand, Dispatch_SlotType:$result,
                       I64Attr:$count, TypeAttr:$element_type));
  let results = (outs Index:$handle);
  let assemblyFormat = [{
    $kind (`by` $reduction^)? $operand `into` $result `blocks` $count
        $element_type `groups` custom<Groups>($groups) `of` $participants
        (`channel` $channel^)? attr-dict
  }];
}

def Dispatch_AwaitCollectiveOp : Dispatch_Op<"await_collective"> {
  let summary = "waits for the end of an exchange";
  let arguments = (ins Index:$handle);
  let assemblyFormat = "$handle attr-dict";
}

#endif
