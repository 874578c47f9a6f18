#include "dialect/vhlo/reader.h"

#include "dialect/newer/dialect.h"
#include "dialect/sdy/dialect.h"
#include "dialect/stablehlo/ops.h"
#include "dialect/vhlo/import_ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace alula::vhlo {

static Bytes toBytes(StringRef text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

bool isPortableArtifact(StringRef bytes) {
  if (portableVersion(bytes))
    return true;
  // The first writers left the name of MLIR as the producer.
  return bytes.starts_with("ML\xefR") &&
         mentionsDialect(toBytes(bytes), "vhlo");
}

OwningOpRef<ModuleOp> readPortable(StringRef bytes, MLIRContext *context,
                                   StringRef name, bool verifyAfterRead) {
  context->loadDialect<func::FuncDialect, newer::NewerDialect,
                       stablehlo::StablehloDialect>();
  Location location = UnknownLoc::get(context);
  if (!name.empty())
    location = FileLineColLoc::get(context, name, 0, 0);
  ArtifactDiagnostics diagnostics(location);
  Bytes file = toBytes(bytes);
  Artifact artifact;
  Error error;
  std::vector<NodeRef> order;
  if (!readArtifact(file, artifact, error) ||
      !orderNodes(artifact, order, error)) {
    diagnostics.error(error.offset) << error.text;
    return {};
  }
  if (llvm::is_contained(artifact.dialects, "sdy"))
    context->loadDialect<mlir::sdy::SdyDialect>();
  NodeImporter nodes(artifact, context, diagnostics);
  if (failed(nodes.run(order)))
    return {};
  OwningOpRef<ModuleOp> module = importOps(artifact, nodes, context);
  if (!module || (verifyAfterRead && failed(verify(*module))))
    return {};
  return module;
}

} // namespace alula::vhlo
