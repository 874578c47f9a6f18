//===- commands.td - the host after scheduling ----------------------------===//
//
// What the schedule room makes of a host function: slots that name bytes, and
// commands on them, one for each command of the artifact that has to do with
// memory. Integers are `arith` on index and iN, control flow is `scf`.

#ifndef ALULA_DIALECT_DISPATCH_COMMANDS
#define ALULA_DIALECT_DISPATCH_COMMANDS

include "dialect/dispatch/ops.td"

def Dispatch_SlotType : TypeDef<Dispatch_Dialect, "Slot"> {
  let mnemonic = "slot";
  let summary = "a named range of bytes";
}

def Dispatch_SlotKind : I32EnumAttr<"SlotKind", "whose bytes a slot names", [
    I32EnumAttrCase<"Argument", 0, "argument">,
    I32EnumAttrCase<"Result", 1, "result">,
    I32EnumAttrCase<"Arena", 2, "arena">,
    I32EnumAttrCase<"Local", 3, "local">]> {
  let cppNamespace = "::alula::dispatch";
}

def Dispatch_SlotOp : Dispatch_Op<"slot"> {
  let summary = "a slot of its function";
  let description = [{
    `number` is the argument's or the result's, or the offset in the arena,
    where the slot has `bytes` bytes. A local slot names nothing at first.
  }];
  let arguments = (ins Dispatch_SlotKind:$kind, I64Attr:$number,
                       DefaultValuedAttr<I64Attr, "0">:$bytes);
  let results = (outs Dispatch_SlotType:$slot);
  let assemblyFormat = "$kind $number (`bytes` $bytes^)? attr-dict";
}

def Dispatch_ConstantOp : Dispatch_Op<"constant"> {
  let summary = "a slot that names a constant's bytes";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Dispatch_SlotType:$slot);
  let assemblyFormat = "$value attr-dict";
}

def Dispatch_GlobalOp
    : Dispatch_Op<"global", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a slot that names a global's bytes";
  let arguments = (ins FlatSymbolRefAttr:$global);
  let results = (outs Dispatch_SlotType:$slot);
  let assemblyFormat = "$global attr-dict";
}

def Dispatch_CheckGlobalOp : Dispatch_Op<"check_global"> {
  let summary = "ends the call with an error if a global has no value yet";
  let arguments = (ins FlatSymbolRefAttr:$global);
  let assemblyFormat = "$global attr-dict";
}

def Dispatch_DefineGlobalOp : Dispatch_Op<"define_global"> {
  let summary = "from now on a global has a value";
  let arguments = (ins FlatSymbolRefAttr:$global);
  let assemblyFormat = "$global attr-dict";
}

def Dispatch_RunOp
    : Dispatch_Op<"run", [AttrSizedOperandSegments,
          DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "runs an entry over its grid";
  let description = [{
    `workgroups`, three or none, replace the entry's grid. A run that is `beside`
    may start before those right before it have ended, as far back as the last
    one that is not: nobody writes what another one of them binds.
  }];
  let arguments = (ins SymbolRefAttr:$entry,
                       Variadic<Dispatch_SlotType>:$bindings,
                       Variadic<Index>:$constants,
                       Variadic<Index>:$workgroups,
                       UnitAttr:$beside);
  let assemblyFormat = [{
    $entry `(` $bindings `)` (`[` $constants^ `]`)?
        (`workgroups` `(` $workgroups^ `)`)? attr-dict
  }];
  let hasVerifier = 1;
}

def Dispatch_CallOp
    : Dispatch_Op<"call", [AttrSizedOperandSegments,
          DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "calls a host function";
  let description = [{
    `inputs` are the slots of its arguments, `outputs` of its results;
    `input_dims` the sizes of the arguments' dynamic dimensions. The results are
    the sizes of its results' dynamic dimensions.
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee,
                       Variadic<Dispatch_SlotType>:$inputs,
                       Variadic<Dispatch_SlotType>:$outputs,
                       Variadic<Index>:$input_dims);
  let results = (outs Variadic<Index>:$output_dims);
  let assemblyFormat = [{
    $callee `(` $inputs `)` `into` `(` $outputs `)`
        (`[` $input_dims^ `]`)? attr-dict (`->` type($output_dims)^)?
  }];
}

def Dispatch_CustomCallOp
    : Dispatch_Op<"custom_call", [AttrSizedOperandSegments]> {
  let summary = "calls a function of the embedder";
  let description = [{
    `types` are those of the operands, then of the results; `dims` the sizes of
    all their dynamic dimensions. `config` is the backend's, as bytes or as a
    dictionary.

    `values` are a list of the operands and a list of the results that the
    program's call has: for an array the order of its dimensions in memory, the
    major one first; a unit for a token; "sizes" for an operand with the sizes
    of a dynamic result.
  }];
  let arguments = (ins StrAttr:$name, Variadic<Dispatch_SlotType>:$inputs,
                       Variadic<Dispatch_SlotType>:$outputs,
                       Variadic<Index>:$dims, TypeArrayAttr:$types,
                       I64Attr:$api_version, OptionalAttr<AnyAttr>:$config,
                       OptionalAttr<ArrayAttr>:$values,
                       UnitAttr:$has_side_effect);
  let assemblyFormat = [{
    $name `(` $inputs `)` `into` `(` $outputs `)` (`[` $dims^ `]`)?
        `version` $api_version (`side_effect` $has_side_effect^)?
        attr-dict `:` $types
  }];
  let hasVerifier = 1;
}

def Dispatch_LoadOp : Dispatch_Op<"load"> {
  let summary = "the integer at a byte offset";
  let arguments = (ins Dispatch_SlotType:$slot, Index:$offset,
                       TypeAttr:$element_type);
  let results = (outs AnyInteger:$result);
  let assemblyFormat = [{
    $slot `[` $offset `]` `as` $element_type attr-dict `:` type($result)
  }];
}

def Dispatch_ArgumentDimOp : Dispatch_Op<"argument_dim", [Pure]> {
  let summary = "the size of an argument's dimension";
  let arguments = (ins I64Attr:$argument, I64Attr:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "$argument `,` $dim attr-dict";
}

def Dispatch_BindResultOp : Dispatch_Op<"bind_result"> {
  let summary = "gives a dynamic result its storage";
  let arguments = (ins I64Attr:$number, Variadic<Index>:$dims);
  let assemblyFormat = "$number `(` $dims `)` attr-dict";
}

def Dispatch_AllocOp : Dispatch_Op<"alloc"> {
  let summary = "a local slot names new memory";
  let arguments = (ins Dispatch_SlotType:$slot, Index:$bytes);
  let assemblyFormat = "$slot `,` $bytes attr-dict";
}

def Dispatch_FreeOp : Dispatch_Op<"free"> {
  let summary = "a local slot gives its memory back";
  let arguments = (ins Dispatch_SlotType:$slot);
  let assemblyFormat = "$slot attr-dict";
}

def Dispatch_SwapOp : Dispatch_Op<"swap"> {
  let summary = "two slots exchange what they name";
  let arguments = (ins Dispatch_SlotType:$a, Dispatch_SlotType:$b);
  let assemblyFormat = "$a `,` $b attr-dict";
}

def Dispatch_CopyOp : Dispatch_Op<"copy"> {
  let summary = "copies the first bytes of a slot";
  let arguments = (ins Dispatch_SlotType:$source, Dispatch_SlotType:$target,
                       Index:$bytes);
  let assemblyFormat = "$source `to` $target `,` $bytes attr-dict";
}

def Dispatch_ReturnOp : Dispatch_Op<"return", [Terminator]> {
  let summary = "ends a host function";
  let assemblyFormat = "attr-dict";
}

#endif
