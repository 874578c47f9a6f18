// How tools end.

#pragma once

namespace alula::options {

/// 64 and more are others': 70 a crash inside the tool or a plugin, 128 + N the
/// signal N.
enum Status : int {
  Fine = 0,
  /// The program, the artifact or a value is wrong, or a result differs.
  WrongInput = 1,
  WrongUsage = 2,
  /// A file can't be read or written.
  NoFile = 3,
};

} // namespace alula::options
