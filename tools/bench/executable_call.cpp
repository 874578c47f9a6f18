#include "tools/bench/executable_call.h"

#include "artifact/reader.h"
#include "artifact/writer.h"
#include "tools/values/value_io.h"

#include <charconv>
#include <cstring>

using namespace alula::artifact;

namespace alula::bench {
namespace {

bool parseNumbers(std::string_view text, std::vector<int64_t> &numbers) {
  while (!text.empty()) {
    size_t comma = std::min(text.find(','), text.size());
    int64_t number;
    auto [end, code] =
        std::from_chars(text.data(), text.data() + comma, number);
    if (code != std::errc() || end != text.data() + comma)
      return false;
    numbers.push_back(number);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return true;
}

class Builder {
public:
  Builder(const ExecutableCall &call, std::string &error)
      : call(call), error(error) {}

  bool run(std::string &bytes) {
    std::string content;
    if (!values::readFile(call.file, content, error))
      return false;
    // The reader wants eight bytes at a time.
    aligned.resize((content.size() + 7) / 8);
    if (!content.empty())
      memcpy(aligned.data(), content.data(), content.size());
    Diagnostic diagnostic;
    if (!openArtifact(aligned.data(), content.size(), {}, artifact,
                      diagnostic) ||
        !verifyArtifact(artifact, diagnostic))
      return fail(call.file + ": " + diagnostic.text);
    if (artifact.programs.size)
      return fail(call.file + ": has programs for several kinds of machines: "
                              "compile the executable for one");
    if (!findKernel())
      return false;
    copyKernels();
    copyVariants();
    if (!addFunction())
      return false;
    bytes = writer.finish(diagnostic);
    return !bytes.empty() || fail(diagnostic.text);
  }

private:
  bool fail(std::string text) {
    error = std::move(text);
    return false;
  }

  bool findKernel() {
    std::string known;
    for (uint64_t i = 0; i < artifact.kernels.size; ++i) {
      std::string name = artifact.getString(artifact.kernels[i].name);
      if (name == call.entry || std::to_string(i) == call.entry) {
        kernel = i;
        return true;
      }
      known += (known.empty() ? "'" : ", '") + name + "'";
    }
    return fail(call.file + " has no entry '" + call.entry + "'; it has " +
                (known.empty() ? "none" : known));
  }

  void copyKernels() {
    for (const alula_file_kernel &each : artifact.kernels) {
      KernelSpec spec;
      spec.name = artifact.getString(each.name);
      for (uint32_t i = 0; i < each.binding_count; ++i)
        spec.accesses.push_back(artifact.lists[each.first_access + i]);
      spec.constantCount = each.constant_count;
      spec.scratchBytes = each.scratch_bytes;
      writer.addKernel(spec);
    }
    for (const alula_file_import &each : artifact.imports)
      writer.addImport(artifact.getString(each.name), each.flags != 0);
  }

  void copyVariants() {
    for (const alula_file_variant &each : artifact.variants) {
      VariantSpec spec;
      spec.name = artifact.getString(each.name);
      spec.target = artifact.getString(each.target);
      for (uint32_t i = 0; i < each.feature_count; ++i)
        spec.features.emplace_back(
            artifact.getString(artifact.lists[each.first_feature + i]));
      spec.kind = static_cast<alula_image_kind>(each.image_kind);
      const uint8_t *image = artifact.images.data + each.image_offset;
      spec.image.assign(reinterpret_cast<const char *>(image),
                        each.image_bytes);
      for (uint64_t i = 0; i < artifact.kernels.size; ++i)
        spec.entries.push_back(artifact.entries[each.first_entry + i]);
      writer.addVariant(std::move(spec));
    }
  }

  bool addFunction() {
    const alula_file_kernel &chosen = artifact.kernels[kernel];
    std::vector<int64_t> grid, numbers;
    if (!parseNumbers(call.workgroups, grid) || grid.size() != 3)
      return fail("--workgroups must be three numbers: is '" + call.workgroups +
                  "'");
    for (int64_t size : grid)
      if (size < 1 || size > UINT32_MAX)
        return fail("--workgroups must be from 1 to 4294967295: is " +
                    std::to_string(size));
    if (!parseNumbers(call.constants, numbers) ||
        numbers.size() != chosen.constant_count)
      return fail("--constants: the entry takes " +
                  std::to_string(chosen.constant_count) + ": given are '" +
                  call.constants + "'");
    if (call.bindings.size() != chosen.binding_count)
      return fail("--binding: the entry has " +
                  std::to_string(chosen.binding_count) + ": given are " +
                  std::to_string(call.bindings.size()));

    FunctionWriter &function = writer.addFunction("main");
    std::vector<uint32_t> types, slots;
    std::vector<uint64_t> sizes;
    for (size_t i = 0; i < call.bindings.size(); ++i) {
      values::Value value;
      if (!values::readValue(call.bindings[i], value, error))
        return fail("--binding " + std::to_string(i) + ": " + error);
      types.push_back(
          writer.addType(value.type, std::vector<Dim>(value.shape.begin(),
                                                      value.shape.end())));
      sizes.push_back(alula_dtype_get_packed_bytes(value.type, value.size));
      function.addArgument("binding" + std::to_string(i), types.back());
    }
    uint32_t results = 0;
    for (uint32_t i = 0; i < chosen.binding_count; ++i) {
      uint32_t access = artifact.lists[chosen.first_access + i];
      uint32_t argument = function.argument(i);
      if (!(access & ALULA_ACCESS_WRITE)) {
        slots.push_back(argument);
        continue;
      }
      function.addResult("binding" + std::to_string(i), types[i]);
      slots.push_back(function.result(results++));
      if ((access & ALULA_ACCESS_READ) && sizes[i])
        function.copy(slots.back(), function.immediate(0), argument,
                      function.immediate(0),
                      function.immediate(int64_t(sizes[i])));
    }
    std::vector<Operand> constants;
    for (int64_t number : numbers)
      constants.push_back(function.immediate(number));
    function.dispatch(uint32_t(kernel), function.immediate(grid[0]),
                      function.immediate(grid[1]), function.immediate(grid[2]),
                      slots, constants);
    return true;
  }

  const ExecutableCall &call;
  std::string &error;
  std::vector<uint64_t> aligned;
  Artifact artifact;
  uint64_t kernel = 0;
  ArtifactWriter writer;
};

} // namespace

bool makeArtifact(const ExecutableCall &call, std::string &bytes,
                  std::string &error) {
  return Builder(call, error).run(bytes);
}

} // namespace alula::bench
