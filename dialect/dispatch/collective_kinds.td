//===- collective_kinds.td - what devices exchange ------------------------===//

#ifndef ALULA_DIALECT_DISPATCH_COLLECTIVE_KINDS
#define ALULA_DIALECT_DISPATCH_COLLECTIVE_KINDS

include "mlir/IR/EnumAttr.td"

// Numbers and names are those of the artifact (alula/artifact.h).
def Dispatch_CollectiveKind
    : I32EnumAttr<"CollectiveKind", "how participants exchange arrays", [
    I32EnumAttrCase<"AllReduce", 1, "all_reduce">,
    I32EnumAttrCase<"AllGather", 2, "all_gather">,
    I32EnumAttrCase<"ReduceScatter", 3, "reduce_scatter">,
    I32EnumAttrCase<"AllToAll", 4, "all_to_all">,
    I32EnumAttrCase<"Permute", 5, "collective_permute">,
    I32EnumAttrCase<"Broadcast", 6, "collective_broadcast">]> {
  let cppNamespace = "::alula::dispatch";
}

def Dispatch_Reduction : I32EnumAttr<"Reduction", "how elements are combined", [
    I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Sum", 1, "sum">,
    I32EnumAttrCase<"Product", 2, "product">, I32EnumAttrCase<"Min", 3, "min">,
    I32EnumAttrCase<"Max", 4, "max">, I32EnumAttrCase<"And", 5, "and">,
    I32EnumAttrCase<"Or", 6, "or">, I32EnumAttrCase<"Xor", 7, "xor">]> {
  let cppNamespace = "::alula::dispatch";
}

#endif
