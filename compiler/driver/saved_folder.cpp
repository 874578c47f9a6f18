// functions/NAME.bytecode or .mlir is the program, functions/NAME.meta says in
// JSON where each of its arguments comes from: `parameter` is a file of data/,
// `constant` one of constants/, `input_arg` what the caller gives. Files of
// arrays are NumPy's, without an ending.

#include "compiler/driver/saved_folder.h"

#include "compiler/driver/program.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

#include <map>

using namespace mlir;

namespace {
struct Array {
  /// "f4", "i8", "b1".
  std::string type;
  SmallVector<int64_t> shape;
  /// In the order of rows.
  std::string bytes;
};

std::string inFolder(const Twine &a, const Twine &b) {
  llvm::SmallString<128> path;
  llvm::sys::path::append(path, a, b);
  return path.str().str();
}

/// The header of a file of NumPy's is a dictionary in Python's words.
StringRef findField(StringRef header, StringRef name) {
  size_t place = header.find(("'" + name + "':").str());
  if (place == StringRef::npos)
    return "";
  return header.drop_front(place + name.size() + 3).ltrim();
}

/// Columns first to rows first.
std::string transpose(StringRef bytes, ArrayRef<int64_t> shape, size_t size) {
  std::string result(bytes.size(), 0);
  SmallVector<int64_t> index(shape.size(), 0);
  for (size_t to = 0; to < bytes.size(); to += size) {
    size_t from = 0;
    for (size_t d = shape.size(); d > 0; --d)
      from = from * static_cast<size_t>(shape[d - 1]) +
             static_cast<size_t>(index[d - 1]);
    std::copy_n(bytes.begin() + from * size, size, result.begin() + to);
    for (size_t d = shape.size(); d > 0 && ++index[d - 1] == shape[d - 1]; --d)
      index[d - 1] = 0;
  }
  return result;
}

llvm::Expected<Array> readArray(StringRef file) {
  auto fail = [&](const Twine &what) {
    return llvm::createStringError(file + ": " + what);
  };
  auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return fail(buffer.getError().message());
  StringRef text = (*buffer)->getBuffer();
  if (!text.consume_front("\x93NUMPY") || text.size() < 4)
    return fail("is no file of an array as NumPy writes it");
  auto byte = [&](size_t i) {
    return static_cast<size_t>(static_cast<unsigned char>(text[i]));
  };
  size_t begin = text[0] == 1 ? 4 : 6;
  if (text.size() < begin)
    return fail("ends too early");
  size_t size = byte(2) | byte(3) << 8;
  if (begin == 6)
    size |= byte(4) << 16 | byte(5) << 24;
  if (text.size() - begin < size)
    return fail("ends too early");
  StringRef header = text.substr(begin, size), data = text.substr(begin + size);
  Array array;
  StringRef type = findField(header, "descr");
  if (!type.consume_front("'") || type.size() < 3 ||
      (type[0] != '<' && type[0] != '|'))
    return fail("has elements of a kind that is not known here");
  array.type = type.drop_front().split('\'').first.str();
  StringRef shape = findField(header, "shape");
  if (!shape.consume_front("("))
    return fail("has no shape");
  SmallVector<StringRef> sizes;
  shape.split(')').first.split(sizes, ',', -1, /*KeepEmpty=*/false);
  unsigned width = 0;
  uint64_t bytes = 0;
  bool isKnown = !StringRef(array.type).drop_front().getAsInteger(10, width) &&
                 width > 0 && width <= 16;
  bytes = width;
  for (StringRef each : sizes) {
    int64_t number;
    if (each.trim().empty())
      continue;
    if (each.trim().getAsInteger(10, number) || number < 0 ||
        (number && bytes > UINT64_MAX / static_cast<uint64_t>(number)))
      return fail("has no shape");
    array.shape.push_back(number);
    bytes *= static_cast<uint64_t>(number);
  }
  if (!isKnown)
    return fail("has elements of a kind that is not known here: " + array.type);
  if (data.size() != bytes)
    return fail("has " + Twine(data.size()) + " bytes of elements, not " +
                Twine(bytes));
  array.bytes = findField(header, "fortran_order").starts_with("True")
                    ? transpose(data, array.shape, width)
                    : data.str();
  return array;
}

/// As NumPy calls it.
std::string getNumpyType(Type type) {
  auto bytes = [&] { return std::to_string(type.getIntOrFloatBitWidth() / 8); };
  if (type.isInteger(1))
    return "b1";
  if (type.isF16() || type.isF32() || type.isF64())
    return "f" + bytes();
  if (type.isUnsignedInteger())
    return "u" + bytes();
  if (type.isIntOrIndex() && type.getIntOrFloatBitWidth() % 8 == 0)
    return "i" + bytes();
  if (auto complex = dyn_cast<ComplexType>(type))
    return "c" +
           std::to_string(complex.getElementType().getIntOrFloatBitWidth() / 4);
  return "";
}

class Reader {
public:
  Reader(StringRef folder, MLIRContext *context)
      : folder(folder), context(context) {}

  OwningOpRef<ModuleOp> run() {
    std::string name = findName();
    if (name.empty())
      return nullptr;
    std::string functions = inFolder(folder, "functions");
    if (!readMeta(inFolder(functions, name + ".meta")))
      return nullptr;
    auto program = readProgramFile(functions, name);
    if (!program)
      return nullptr;
    func::FuncOp entry;
    for (auto function : program->getOps<func::FuncOp>())
      if (function.isPublic()) {
        if (entry) {
          fail("the program has several public functions: @" +
               entry.getSymName() + ", @" + function.getSymName());
          return nullptr;
        }
        entry = function;
      }
    if (!entry || entry.isExternal()) {
      fail("the program has no public function");
      return nullptr;
    }
    if (!bind(entry))
      return nullptr;
    return program;
  }

private:
  bool fail(const Twine &what) {
    emitError(FileLineColLoc::get(context, folder, 0, 0)) << what.str();
    return false;
  }

  /// Of the only function.
  std::string findName() {
    std::vector<std::string> names;
    std::error_code error;
    for (llvm::sys::fs::directory_iterator
             file(inFolder(folder, "functions"), error),
         end;
         file != end && !error; file.increment(error))
      if (llvm::sys::path::extension(file->path()) == ".meta")
        names.push_back(llvm::sys::path::stem(file->path()).str());
    llvm::sort(names);
    if (names.size() == 1)
      return names.front();
    if (names.empty())
      fail("is no folder of a program as torch_xla saves it: it has no "
           "functions/NAME.meta");
    else
      fail("has several functions: " + llvm::join(names, ", "));
    return "";
  }

  bool readMeta(const std::string &file) {
    auto buffer = llvm::MemoryBuffer::getFile(file);
    if (!buffer)
      return fail(file + ": " + buffer.getError().message());
    auto parsed = llvm::json::parse((*buffer)->getBuffer());
    if (!parsed)
      return fail(file + ": " + llvm::toString(parsed.takeError()));
    meta = std::move(*parsed);
    const llvm::json::Object *object = meta.getAsObject();
    locations = object ? object->getArray("input_locations") : nullptr;
    if (!locations)
      return fail(file + ": has no 'input_locations'");
    return true;
  }

  OwningOpRef<ModuleOp> readProgramFile(const std::string &functions,
                                        const std::string &name) {
    std::string tried;
    for (StringRef ending : {".bytecode", ".mlir"}) {
      std::string file = inFolder(functions, name + ending);
      if (!llvm::sys::fs::exists(file))
        continue;
      auto buffer = llvm::MemoryBuffer::getFile(file);
      if (!buffer) {
        fail(file + ": " + buffer.getError().message());
        return nullptr;
      }
      return alula::driver::readProgram(std::move(*buffer), context);
    }
    fail("has no functions/" + name + ".bytecode and no functions/" + name +
         ".mlir");
    return nullptr;
  }

  /// The argument's value, or its place among the caller's.
  bool bind(func::FuncOp entry) {
    unsigned count = entry.getNumArguments();
    if (locations->size() != count)
      return fail("'input_locations' has " + Twine(locations->size()) +
                  " entries, the program " + Twine(count) + " arguments");
    llvm::BitVector bound(count);
    std::map<int64_t, unsigned> given;
    auto builder = OpBuilder::atBlockBegin(&entry.front());
    for (unsigned i = 0; i < count; ++i) {
      const llvm::json::Object *location = (*locations)[i].getAsObject();
      StringRef type =
          location ? location->getString("type_").value_or("") : "";
      int64_t position =
          location ? location->getInteger("position").value_or(-1) : -1;
      if (type == "input_arg") {
        if (position < 0 || !given.try_emplace(position, i).second)
          return fail("'input_locations': argument " + Twine(i) +
                      " has no position of its own");
        continue;
      }
      std::string file, name;
      if (type == "parameter") {
        name = location->getString("name").value_or("").str();
        file = inFolder(inFolder(folder, "data"), name);
      } else if (type == "constant") {
        name = "constants/" + std::to_string(position);
        file =
            inFolder(inFolder(folder, "constants"), std::to_string(position));
      } else {
        return fail("'input_locations': argument " + Twine(i) +
                    " has an unknown type: '" + type + "'");
      }
      // Names are of files in the folder, not of others.
      if (name.empty() || name.find("..") != std::string::npos ||
          StringRef(name).drop_front(type == "constant" ? 10 : 0).contains('/'))
        return fail("'input_locations': argument " + Twine(i) +
                    " has no name of a file: '" + name + "'");
      if (!replace(builder, entry.getArgument(i), name, file))
        return false;
      bound.set(i);
    }
    return order(entry, given, bound);
  }

  bool replace(OpBuilder &builder, BlockArgument argument,
               const std::string &name, const std::string &file) {
    auto array = readArray(file);
    if (!array)
      return fail(llvm::toString(array.takeError()));
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || !type.hasStaticShape() ||
        getNumpyType(type.getElementType()) != array->type ||
        type.getShape() != ArrayRef<int64_t>(array->shape)) {
      std::string wanted;
      llvm::raw_string_ostream os(wanted);
      os << argument.getType();
      std::string shape;
      for (int64_t size : array->shape)
        shape += std::to_string(size) + "x";
      return fail("'" + name + "' is " + shape + array->type +
                  ", the program takes " + wanted);
    }
    DenseElementsAttr value;
    if (type.getElementType().isInteger(1)) {
      SmallVector<bool> bits;
      for (char c : array->bytes)
        bits.push_back(c != 0);
      value = DenseElementsAttr::get(type, bits);
    } else {
      value = DenseElementsAttr::getFromRawBuffer(
          type, ArrayRef<char>(array->bytes.data(), array->bytes.size()));
    }
    auto constant = builder.create<stablehlo::ConstantOp>(
        NameLoc::get(builder.getStringAttr(name)), value);
    argument.replaceAllUsesWith(constant.getResult());
    return true;
  }

  /// The caller's arguments in the order of their positions; those that the
  /// program does not use are there too.
  bool order(func::FuncOp entry, const std::map<int64_t, unsigned> &given,
             const llvm::BitVector &bound) {
    unsigned count = entry.getNumArguments();
    SmallVector<unsigned> sources;
    std::map<int64_t, Type> unused;
    if (const llvm::json::Array *all =
            meta.getAsObject()->getArray("unused_inputs"))
      for (const llvm::json::Value &each : *all)
        if (!addUnused(each, unused))
          return false;
    Block &body = entry.front();
    SmallVector<DictionaryAttr> attributes;
    auto position = given.begin();
    auto other = unused.begin();
    int64_t next = 0;
    for (; position != given.end() || other != unused.end(); ++next) {
      if (position != given.end() && position->first == next) {
        BlockArgument old = body.getArgument(position->second);
        old.replaceAllUsesWith(body.addArgument(old.getType(), old.getLoc()));
        attributes.push_back(
            function_interface_impl::getArgAttrDict(entry, position->second));
        ++position;
      } else if (other != unused.end() && other->first == next) {
        body.addArgument(other->second, entry.getLoc());
        attributes.push_back(DictionaryAttr::get(context));
        ++other;
      } else {
        return fail("'input_locations': no argument has position " +
                    Twine(next));
      }
    }
    body.eraseArguments(0, count);
    entry.setArgAttrsAttr(ArrayAttr());
    entry.setFunctionType(
        FunctionType::get(context, body.getArgumentTypes(),
                          entry.getFunctionType().getResults()));
    SmallVector<Attribute> all;
    for (DictionaryAttr each : attributes)
      all.push_back(each ? each : DictionaryAttr::get(context));
    if (!all.empty())
      entry.setArgAttrsAttr(ArrayAttr::get(context, all));
    return true;
  }

  /// [{"position": 1, …}, {"shape": [2, 3], "dtype": "float32"}].
  bool addUnused(const llvm::json::Value &value,
                 std::map<int64_t, Type> &unused) {
    const llvm::json::Array *pair = value.getAsArray();
    const llvm::json::Object *location =
        pair && pair->size() == 2 ? (*pair)[0].getAsObject() : nullptr;
    const llvm::json::Object *signature =
        location ? (*pair)[1].getAsObject() : nullptr;
    const llvm::json::Array *shape =
        signature ? signature->getArray("shape") : nullptr;
    int64_t position =
        location ? location->getInteger("position").value_or(-1) : -1;
    if (position < 0 || !shape)
      return fail("'unused_inputs': has an entry without position or shape");
    StringRef name = signature->getString("dtype").value_or("");
    Builder builder(context);
    Type element = llvm::StringSwitch<Type>(name)
                       .Case("float64", builder.getF64Type())
                       .Case("float32", builder.getF32Type())
                       .Case("float16", builder.getF16Type())
                       .Case("bfloat16", builder.getBF16Type())
                       .Case("int64", builder.getI64Type())
                       .Case("int32", builder.getI32Type())
                       .Case("int16", builder.getIntegerType(16))
                       .Case("int8", builder.getI8Type())
                       .Case("uint8", builder.getIntegerType(8, false))
                       .Case("bool", builder.getI1Type())
                       .Default(Type());
    if (!element)
      return fail("'unused_inputs': argument " + Twine(position) +
                  " is no array: '" + name + "'");
    SmallVector<int64_t> sizes;
    for (const llvm::json::Value &size : *shape) {
      auto number = size.getAsInteger();
      if (!number || *number < 0)
        return fail("'unused_inputs': argument " + Twine(position) +
                    " has no shape");
      sizes.push_back(*number);
    }
    unused[position] = RankedTensorType::get(sizes, element);
    return true;
  }

  StringRef folder;
  MLIRContext *context;
  llvm::json::Value meta = nullptr;
  const llvm::json::Array *locations = nullptr;
};
} // namespace

OwningOpRef<ModuleOp> alula::driver::readSavedFolder(StringRef folder,
                                                     MLIRContext *context) {
  context->loadDialect<stablehlo::StablehloDialect, func::FuncDialect>();
  return Reader(folder, context).run();
}

uint64_t alula::driver::hashSavedFolder(StringRef folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (llvm::sys::fs::recursive_directory_iterator file(folder, error), end;
       file != end && !error; file.increment(error))
    if (llvm::sys::fs::is_regular_file(file->path()))
      files.push_back(file->path());
  llvm::sort(files);
  std::string hashes;
  for (StringRef file : files) {
    auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/false,
                                              /*RequiresNullTerminator=*/false);
    hashes += file.drop_front(folder.size()).str() + "\n";
    if (buffer)
      hashes += llvm::utohexstr(llvm::xxh3_64bits((*buffer)->getBuffer()));
  }
  return llvm::xxh3_64bits(hashes);
}
