#pragma once

namespace alula::preprocess {

/// `test-preprocess`, a fixture for tests of tools and pipelines: in executables
/// with an attribute `test.value`, constants of 8080 become that. It may rest,
/// keep a log and fail.
void registerTestPass();

} // namespace alula::preprocess
