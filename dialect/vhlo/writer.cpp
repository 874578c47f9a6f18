#include "dialect/vhlo/writer.h"

#include "dialect/vhlo/artifact_writer.h"
#include "dialect/vhlo/export_ops.h"

using namespace mlir;

namespace alula::vhlo {

LogicalResult writePortable(ModuleOp module, const WriteOptions &options,
                            std::string &bytes) {
  Version opset = options.target.opset();
  if (opset < Version::minimum() || opset > Version::current())
    return module.emitError("target version ")
           << options.target.str() << " is not one of "
           << Version::minimum().str() << " to " << Version::current().str();
  Artifact artifact;
  Version needed;
  if (failed(exportModule(module, options, artifact, needed)))
    return failure();
  std::string producer = std::string(producerPrefix) + options.target.str();
  artifact.producer = producer;
  bytes = writeArtifact(artifact);
  return success();
}

FailureOr<Version> lowestVersion(ModuleOp module, bool allowOtherDialects) {
  WriteOptions options;
  options.allowOtherDialects = allowOtherDialects;
  Artifact artifact;
  Version needed;
  if (failed(exportModule(module, options, artifact, needed)))
    return failure();
  return needed;
}

} // namespace alula::vhlo
