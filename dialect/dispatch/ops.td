//===- ops.td - host function and kernels ---------------------------------===//
//
// The one IR of our own: a host function that launches kernels, and
// executables that hold them. Kernel bodies are whatever the stage speaks:
// StableHLO when outlined, linalg after the dispatch room, LLVM at the end.

#ifndef ALULA_DIALECT_DISPATCH_OPS
#define ALULA_DIALECT_DISPATCH_OPS

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Dispatch_Dialect : Dialect {
  let name = "dispatch";
  let cppNamespace = "::alula::dispatch";
  let summary = "host function, launches, executables";
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    /// The machine of modules that name none; see machine.h. Whoever makes a
    /// context sets it when the dialect is loaded.
    void setDefaultMachine(const MachineFacts &facts) { defaultMachine = facts; }
    const MachineFacts &getDefaultMachine() const;

  private:
    std::optional<MachineFacts> defaultMachine;

  public:
  }];
}

class Dispatch_Op<string mnemonic, list<Trait> traits = []>
    : Op<Dispatch_Dialect, mnemonic, traits>;

def Dispatch_Access : I32EnumAttr<"Access", "what a kernel does to a binding", [
    I32EnumAttrCase<"Read", 0, "read">, I32EnumAttrCase<"Write", 1, "write">,
    I32EnumAttrCase<"ReadWrite", 2, "read_write">]> {
  let cppNamespace = "::alula::dispatch";
  let genSpecializedAttr = 0;
}
def Dispatch_AccessAttr
    : EnumAttr<Dispatch_Dialect, Dispatch_Access, "access">;
def Dispatch_AccessArrayAttr
    : TypedArrayAttrBase<Dispatch_AccessAttr, "access to each binding">;

def Dispatch_ObjectAttr : AttrDef<Dispatch_Dialect, "Object"> {
  let mnemonic = "object";
  let summary = "a file of code from elsewhere, for some targets";
  let description = [{
    `target` says for which: "cpu", "cpu:x86_64", "cpu:x86-64-v3",
    "cpu:x86_64+avx2,vector_bytes=32", "cuda:sm_80"; empty: whichever the file
    is for. `path` is where the file was found; `data` is what was in it then,
    with its hash, and is all that counts from then on. `entry` is the name that
    the code has in it, if that is not the name of the executable's only entry.
    `tool` is the command that brought it.
  }];
  let parameters = (ins OptionalParameter<"::mlir::StringAttr">:$target,
                        OptionalParameter<"::mlir::StringAttr">:$path,
                        OptionalParameter<"::mlir::StringAttr">:$entry,
                        OptionalParameter<"::mlir::StringAttr">:$tool,
                        OptionalParameter<"::mlir::StringAttr">:$sha256,
                        OptionalParameter<"::mlir::StringAttr">:$data);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    /// The path without folders, for people; "inline" without a path.
    ::llvm::StringRef getFileName() const;
    ::llvm::StringRef getTargetPattern() const {
      return getTarget() ? getTarget().getValue() : "";
    }
    ::llvm::StringRef getBytes() const {
      return getData() ? getData().getValue() : "";
    }
  }];
}
def Dispatch_MachineAttr : AttrDef<Dispatch_Dialect, "Machine"> {
  let mnemonic = "machine";
  let summary = "the machine that a program is compiled for";
  let description = [{
    `dispatch.machine` on the module. `kind` names the driver that runs it;
    `facts` are all that rooms may know of it (machine.h). In text, facts that
    are left out are those of the default machine.
  }];
  let parameters = (ins StringRefParameter<"the driver's kind">:$kind,
                        "::alula::dispatch::MachineFacts":$facts);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Dispatch_ObjectArrayAttr
    : TypedArrayAttrBase<Dispatch_ObjectAttr, "objects">;

def Dispatch_ExecutableOp
    : Dispatch_Op<"executable", [IsolatedFromAbove, NoTerminator,
                                 NoRegionArguments, SingleBlock, Symbol,
                                 SymbolTable]> {
  let summary = "code that is compiled by itself";
  let description = [{
    Holds the entries that the host may launch and one module with their
    bodies. Nothing in it refers outside.

    `objects` are code of other compilers: instead of the bodies, which may then
    be missing, or functions that the bodies call. Those are declared in the
    module, without a body and with `dispatch.import`: "static" is in an object,
    "bitcode" in an object of bitcode and may be inlined, "dynamic" is found by
    its name when the artifact is loaded; one whose name begins with `?` may be
    missing then.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       OptionalAttr<StrAttr>:$sym_visibility,
                       OptionalAttr<Dispatch_ObjectArrayAttr>:$objects);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The module with the bodies; null if there is none.
    ::mlir::ModuleOp getInnerModule();
    /// All its code is in objects.
    bool isExternal();
  }];
}

def Dispatch_EntryOp : Dispatch_Op<"entry", [Symbol]> {
  let summary = "a kernel: its place among its siblings and its bindings";
  let description = [{
    Bindings are first the inputs of a launch, then those of its results that
    are not computed in place. `constant_count` integers follow. `workgroups` is
    the grid of a launch that brings none.

    A grid that is `pinned` was chosen by somebody else and stays. For whoever
    chooses it: `workgroup_size` says how many work-items a workgroup stands
    for, `workgroup_count` and `added_constants` name functions of the inner
    module that the host computes the grid, or more constants, by from the
    constants of a launch; both are inlined where it is launched.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       Dispatch_AccessArrayAttr:$bindings,
                       DenseI64ArrayAttr:$workgroups,
                       DefaultValuedAttr<I64Attr, "0">:$scratch_bytes,
                       DefaultValuedAttr<I64Attr, "0">:$constant_count,
                       OptionalAttr<DenseI64ArrayAttr>:$workgroup_size,
                       OptionalAttr<FlatSymbolRefAttr>:$workgroup_count,
                       OptionalAttr<FlatSymbolRefAttr>:$added_constants,
                       UnitAttr:$pinned);
  let assemblyFormat = [{
    $sym_name `bindings` `(` $bindings `)`
        (`constants` $constant_count^)? `workgroups` $workgroups
        `scratch` $scratch_bytes attr-dict
  }];
  let hasVerifier = 1;
}

def Dispatch_LaunchOp
    : Dispatch_Op<"launch", [Pure, AttrSizedOperandSegments,
          DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "runs an entry over its grid";
  let description = [{
    Inputs are tensors that the kernel reads, results are tensors that it
    writes whole. `constants` are the integers of this call. `workgroups`, three
    or none, replace the entry's grid. `result_dims` are the sizes of the
    results' dynamic dimensions, one result after the other.

    `in_place` has for each result the number of the input whose memory it is
    computed in, or -1. Such a pair is one binding, the input's, with access
    `read_write`: it begins as the input and ends as the result. The input's
    value survives all the same; who places values copies it where needed.
  }];
  let arguments = (ins SymbolRefAttr:$entry,
                       Variadic<AnyRankedTensor>:$inputs,
                       Variadic<Index>:$constants,
                       Variadic<Index>:$workgroups,
                       Variadic<Index>:$result_dims,
                       OptionalAttr<DenseI64ArrayAttr>:$in_place);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $entry `(` $inputs `)` (`[` $constants^ `]`)?
        (`workgroups` `(` $workgroups^ `)`)?
        (`result_dims` `(` $result_dims^ `)`)? (`in_place` $in_place^)?
        attr-dict `:` functional-type($inputs, results)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::TypeRange":$results,
                   "::mlir::SymbolRefAttr":$entry,
                   "::mlir::ValueRange":$inputs), [{
      build($_builder, $_state, results, entry, inputs,
            /*constants=*/::mlir::ValueRange(),
            /*workgroups=*/::mlir::ValueRange(),
            /*result_dims=*/::mlir::ValueRange(),
            /*in_place=*/::mlir::DenseI64ArrayAttr());
    }]>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The input that a result is computed in place over.
    std::optional<unsigned> getInPlaceInput(unsigned result);
  }];
}

def Dispatch_ViewOp : Dispatch_Op<"view", [Pure]> {
  let summary = "the same bytes as another type";
  let description = [{
    Reshapes and bit casts without a copy. Element by element the bytes in
    memory are the same. `result_dims` are the sizes of the result's dynamic
    dimensions.
  }];
  let arguments = (ins AnyRankedTensor:$source, Variadic<Index>:$result_dims);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $source (`result_dims` `(` $result_dims^ `)`)? attr-dict
        `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Dispatch_PackOp : Dispatch_Op<"pack", [Pure]> {
  let summary = "integers that the host knows, as a tensor";
  let description = [{
    Each number, cut to the element type, is an element, in row-major order. A
    kernel that reads the tensor is passed the numbers as constants.
  }];
  let arguments = (ins Variadic<Index>:$numbers);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$numbers attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Dispatch_FromPanelsOp : Dispatch_Op<"from_panels", [Pure]> {
  let summary = "a tensor that lies in panels, as a product reads it";
  let description = [{
    The result as a matrix, whose rows are numbered by the dimensions `rows` and
    whose columns by `columns`: element (r, c) is [c / w, r, c % w] of `panels`,
    where w is the width of a panel, its last size. The last panel may have
    columns to spare.

    Rows of narrow elements lie in groups, and `panels` has one dimension more:
    element (r, c) is [c / w, r / g, c % w, r % g], where g is the last size; the
    last group may have rows to spare. Integers of 4 and 8 bits may be of the
    other sign in panels than in the result: half of what they count is added or
    taken away (panel_layout.h).
  }];
  let arguments = (ins AnyStaticShapeTensor:$panels, DenseI64ArrayAttr:$rows,
                       DenseI64ArrayAttr:$columns);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = [{
    $panels `rows` `=` $rows `columns` `=` $columns attr-dict
        `:` type($panels) `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t getWidth() { return getPanels().getType().getShape().back(); }
  }];
}

def Dispatch_AssertOp : Dispatch_Op<"assert"> {
  let summary = "ends the call with an error if a condition does not hold";
  let description = "`{0}` in the message is the first number.";
  let arguments = (ins I1:$condition, StrAttr:$message,
                       Variadic<Index>:$numbers);
  let assemblyFormat = [{
    $condition `,` $message (`(` $numbers^ `)`)? attr-dict
  }];
}

def Dispatch_HasImportOp : Dispatch_Op<"has_import", [Pure]> {
  let summary = "whether an import that may be missing is there";
  let arguments = (ins FlatSymbolRefAttr:$import);
  let results = (outs AnyTypeOf<[I1, 0DTensorOf<[I1]>]>:$result);
  let assemblyFormat = "$import attr-dict `:` type($result)";
}

def Dispatch_VariantOp : Dispatch_Op<"variant", [Symbol]> {
  let summary = "machine code of every executable for one kind of machine";
  let description = [{
    `features` must all be there for the code to run. `image` is an ELF file
    that exports each entry under its name.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$target,
                       StrArrayAttr:$features, StrAttr:$image);
  let assemblyFormat = [{
    $sym_name `target` $target `features` $features attr-dict
  }];
}

#endif
