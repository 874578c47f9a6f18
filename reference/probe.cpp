#include "reference/probe.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace alula::reference {
namespace {

/// NumPy's name of a kind; those that it lacks become raw bytes.
std::string getNumpyType(Kind kind) {
  std::string bytes = std::to_string(getByteWidth(kind));
  switch (getDomain(kind)) {
  case Domain::Bool:
    return "|b1";
  case Domain::Signed:
    return (getByteWidth(kind) == 1 ? "|i" : "<i") + bytes;
  case Domain::Unsigned:
    return (getByteWidth(kind) == 1 ? "|u" : "<u") + bytes;
  case Domain::Float:
    if (kind == Kind::F16 || kind == Kind::F32 || kind == Kind::F64)
      return "<f" + bytes;
    return "|V" + bytes;
  case Domain::Complex:
    return "<c" + bytes;
  }
  return "|V" + bytes;
}

std::string makeHeader(const Tensor &tensor) {
  std::string text = "{'descr': '" + getNumpyType(tensor.getKind()) +
                     "', 'fortran_order': False, 'shape': (";
  for (int64_t dim : tensor.getDims())
    text += std::to_string(dim) + ",";
  text += "), }";
  // The data start at a multiple of 64 bytes.
  text.append(63 - (10 + text.size()) % 64, ' ');
  text += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += char(text.size() & 0xff);
  header += char(text.size() >> 8);
  return header + text;
}

} // namespace

bool writeProbe(llvm::StringRef directory, llvm::StringRef id, size_t number,
                const Tensor &tensor, std::string &error) {
  std::string name;
  for (char c : id)
    name += llvm::isAlnum(c) || c == '-' || c == '.' ? c : '_';
  name += "_" + std::to_string(number) + ".npy";
  llvm::SmallString<128> path(directory);
  llvm::sys::path::append(path, name);
  std::error_code code;
  llvm::raw_fd_ostream file(path, code);
  if (!code) {
    file << makeHeader(tensor);
    file.write(reinterpret_cast<const char *>(tensor.getData()),
               tensor.getByteSize());
    file.close();
    code = file.error();
    file.clear_error();
  }
  llvm::SmallString<128> indexPath(directory);
  llvm::sys::path::append(indexPath, "index.csv");
  if (!code) {
    llvm::raw_fd_ostream index(indexPath, code, llvm::sys::fs::OF_Append);
    if (!code) {
      index << id << ",tensor<";
      for (int64_t dim : tensor.getDims())
        index << dim << 'x';
      index << getName(tensor.getKind()) << ">," << path << "\n";
      index.close();
      code = index.error();
      index.clear_error();
    }
  }
  if (!code)
    return true;
  error = "cannot write " + path.str().str() + ": " + code.message();
  return false;
}

} // namespace alula::reference
