#include "artifact/writer.h"

#include "alula/kernel_abi.h"
#include "artifact/elf.h"
#include "artifact/file_builder.h"
#include "artifact/hash.h"
#include "artifact/reader.h"
#include "artifact/utf8.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace alula::artifact {

/// Whether launches of an image of CUDA are calls of libraries.
static bool hasCalls(std::string_view image) {
  alula_cuda_image header;
  if (image.size() < sizeof header)
    return false;
  memcpy(&header, image.data(), sizeof header);
  size_t at = sizeof header +
              size_t(header.kernel_count) * sizeof(alula_cuda_kernel) +
              size_t(header.module_count) * sizeof(alula_cuda_module) +
              size_t(header.code_count) * sizeof(alula_cuda_code);
  for (uint32_t i = 0; i < header.launch_count; ++i) {
    alula_cuda_launch launch;
    if (at + sizeof launch > image.size())
      return false;
    memcpy(&launch, image.data() + at, sizeof launch);
    if (launch.flags & ALULA_CUDA_LAUNCH_CALL)
      return true;
    at += sizeof launch;
  }
  return false;
}

uint32_t ArtifactWriter::addString(std::string_view text) {
  auto found = stringIds.find(text);
  if (found != stringIds.end())
    return found->second;
  auto offset = uint32_t(strings.size());
  for (std::string_view rest = text; !rest.empty();) {
    size_t length = measureCharacter(rest.data(), rest.size());
    strings += length ? rest.substr(0, length) : "?";
    rest.remove_prefix(length ? length : 1);
  }
  strings += '\0';
  stringIds.emplace(std::string(text), offset);
  return offset;
}

uint32_t ArtifactWriter::addType(alula_dtype dtype,
                                 const std::vector<Dim> &shape) {
  std::vector<alula_file_dim> wanted;
  for (const Dim &dim : shape)
    wanted.push_back(
        {dim.size, dim.minimum, dim.maximum, addString(dim.symbol), 0});
  for (uint32_t i = 0; i < types.size(); ++i)
    if (types[i].dtype == uint32_t(dtype) && types[i].rank == wanted.size() &&
        (wanted.empty() || memcmp(&dims[types[i].first_dim], wanted.data(),
                                  wanted.size() * sizeof(alula_file_dim)) == 0))
      return i;
  types.push_back(
      {uint32_t(dtype), uint32_t(wanted.size()), uint32_t(dims.size()), 0});
  dims.insert(dims.end(), wanted.begin(), wanted.end());
  return uint32_t(types.size() - 1);
}

uint64_t ArtifactWriter::placeConstant(uint64_t size) {
  uint64_t offset =
      (dataBytes + ALULA_ALIGNMENT - 1) / ALULA_ALIGNMENT * ALULA_ALIGNMENT;
  dataBytes = offset + size;
  return offset;
}

uint32_t ArtifactWriter::addBorrowedConstant(std::string_view bytes,
                                             uint32_t type) {
  uint64_t hash = hashBytes(bytes.data(), bytes.size());
  auto [first, last] = constantIds.equal_range(hash);
  for (; first != last; ++first)
    if (contents[first->second] == bytes) {
      if (constantTypes[first->second] == ALULA_NONE)
        constantTypes[first->second] = type;
      return first->second;
    }
  auto index = uint32_t(constants.size());
  constants.push_back({placeConstant(bytes.size()), bytes.size(), 0, 0});
  constantTypes.push_back(type);
  contents.push_back(bytes);
  constantIds.emplace(hash, index);
  return index;
}

uint32_t ArtifactWriter::addConstant(std::string bytes, uint32_t type) {
  size_t known = constants.size();
  ownedContents.push_back(std::move(bytes));
  uint32_t index = addBorrowedConstant(ownedContents.back(), type);
  if (index < known)
    ownedContents.pop_back();
  return index;
}

uint32_t ArtifactWriter::addExternalConstant(std::string_view fileName,
                                             std::string_view name,
                                             uint32_t type) {
  const alula_file_type &record = types[type];
  uint64_t bytes = alula_dtype_get_bytes(record.dtype);
  for (uint32_t i = 0; i < record.rank; ++i)
    bytes *= uint64_t(dims[record.first_dim + i].size);
  bytes = alula_dtype_get_packed_bytes(record.dtype, bytes);
  // A type that is not static is the verifier's to find.
  constants.push_back({type, bytes, addString(fileName), addString(name)});
  constantTypes.push_back(type);
  contents.emplace_back();
  return uint32_t(constants.size() - 1);
}

uint32_t ArtifactWriter::addGlobal(std::string_view name, uint32_t type,
                                   bool isMutable, uint32_t initial) {
  globals.push_back({addString(name), type,
                     isMutable ? uint32_t(ALULA_GLOBAL_MUTABLE) : 0, initial});
  return uint32_t(globals.size() - 1);
}

uint32_t ArtifactWriter::addKernel(const KernelSpec &kernel) {
  addString(kernel.name);
  kernels.push_back(kernel);
  return uint32_t(kernels.size() - 1);
}

uint32_t ArtifactWriter::addCustomCall(const CustomCallSpec &spec) {
  auto addBlob = [&](const std::string &bytes) {
    return bytes.empty() ? ALULA_NONE : addConstant(bytes.data(), bytes.size());
  };
  // The place in LISTS is known at the end: kernels and variants come first.
  customCalls.push_back(
      {addString(spec.name), spec.apiVersion,
       uint32_t(spec.operandTypes.size()), uint32_t(spec.resultTypes.size()),
       uint32_t(customCallTypes.size()), addBlob(spec.config),
       addBlob(spec.attributes),
       spec.hasSideEffect ? uint32_t(ALULA_CUSTOM_CALL_SIDE_EFFECT) : 0});
  customCallTypes.insert(customCallTypes.end(), spec.operandTypes.begin(),
                         spec.operandTypes.end());
  customCallTypes.insert(customCallTypes.end(), spec.resultTypes.begin(),
                         spec.resultTypes.end());
  return uint32_t(customCalls.size() - 1);
}

uint32_t
ArtifactWriter::addGroups(uint32_t participantCount,
                          const std::vector<std::vector<uint32_t>> &groups) {
  std::vector<uint32_t> numbers;
  for (const std::vector<uint32_t> &group : groups) {
    numbers.push_back(uint32_t(group.size()));
    numbers.insert(numbers.end(), group.begin(), group.end());
  }
  for (size_t i = 0; i < groupTables.size(); ++i) {
    const alula_file_group_table &known = groupTables[i];
    if (known.participant_count == participantCount &&
        known.group_count == groups.size() &&
        known.number_count == numbers.size() &&
        std::equal(numbers.begin(), numbers.end(),
                   groupNumbers.begin() + known.first_number))
      return uint32_t(i);
  }
  // The place in LISTS is known at the end.
  groupTables.push_back({participantCount, uint32_t(groups.size()),
                         uint32_t(groupNumbers.size()),
                         uint32_t(numbers.size())});
  groupNumbers.insert(groupNumbers.end(), numbers.begin(), numbers.end());
  return uint32_t(groupTables.size() - 1);
}

uint32_t ArtifactWriter::addCollective(const CollectiveSpec &spec) {
  collectives.push_back({uint32_t(spec.kind), uint32_t(spec.reduction),
                         uint32_t(spec.dtype), spec.groups, spec.count,
                         spec.channel, 0});
  return uint32_t(collectives.size() - 1);
}

void ArtifactWriter::addImport(std::string_view name, bool isOptional) {
  imports.push_back(
      {addString(name), isOptional ? uint32_t(ALULA_IMPORT_OPTIONAL) : 0});
}

void ArtifactWriter::addVariant(VariantSpec variant) {
  addString(variant.name);
  addString(variant.target);
  for (const std::string &feature : variant.features)
    addString(feature);
  variants.push_back(std::move(variant));
}

bool ArtifactWriter::addElfVariant(VariantSpec variant,
                                   Diagnostic &diagnostic) {
  const auto *bytes = reinterpret_cast<const uint8_t *>(variant.image.data());
  size_t size = variant.image.size();
  ElfImage image;
  if (!readElfImage(bytes, size, variant.target.c_str(), image, diagnostic))
    return false;
  variant.kind = ALULA_IMAGE_ELF;
  variant.entries.clear();
  for (const KernelSpec &kernel : kernels) {
    uint64_t address;
    if (!findElfSymbol(bytes, size, kernel.name.c_str(), address, diagnostic))
      return false;
    variant.entries.push_back(address);
  }
  addVariant(std::move(variant));
  return true;
}

FunctionWriter &ArtifactWriter::addFunction(std::string_view name,
                                            bool exported) {
  functions.emplace_back(new FunctionWriter(*this, uint32_t(functions.size())));
  FunctionWriter &function = *functions.back();
  function.name = addString(name);
  function.flags = exported ? uint32_t(ALULA_FUNCTION_EXPORTED) : 0;
  return function;
}

void ArtifactWriter::addFact(std::string_view key, std::string_view value) {
  facts.push_back({addString(key), addString(value)});
}

uint32_t ArtifactWriter::addImmediate(int64_t value) {
  auto [found, isNew] =
      immediateIds.emplace(value, uint32_t(immediates.size()));
  if (isNew)
    immediates.push_back(value);
  return found->second;
}

std::string ArtifactWriter::finish(Diagnostic &diagnostic) const {
  auto getId = [&](const std::string &text) {
    return stringIds.find(text)->second;
  };
  std::vector<uint32_t> lists, code;
  std::vector<uint64_t> entries;
  std::vector<alula_file_kernel> kernelRecords;
  for (const KernelSpec &kernel : kernels) {
    kernelRecords.push_back(
        {getId(kernel.name), uint32_t(kernel.accesses.size()),
         kernel.constantCount, uint32_t(lists.size()), kernel.scratchBytes});
    lists.insert(lists.end(), kernel.accesses.begin(), kernel.accesses.end());
  }
  std::vector<alula_file_variant> variantRecords;
  std::string images;
  for (const VariantSpec &variant : variants) {
    images.resize((images.size() + ALULA_ALIGNMENT - 1) / ALULA_ALIGNMENT *
                  ALULA_ALIGNMENT);
    variantRecords.push_back(
        {getId(variant.name), getId(variant.target), uint32_t(variant.kind),
         ALULA_KERNEL_ABI, uint32_t(lists.size()),
         uint32_t(variant.features.size()), uint32_t(entries.size()), 0,
         images.size(), variant.image.size()});
    for (const std::string &feature : variant.features)
      lists.push_back(getId(feature));
    entries.insert(entries.end(), variant.entries.begin(),
                   variant.entries.end());
    images += variant.image;
  }
  // Version 1.1 is what knows custom calls and external constants, 1.2 imports
  // and PTX, 1.3 collectives, 1.4 images of CUDA, 1.5 calls in them, 1.6
  // `together`.
  uint16_t minor = !customCalls.empty();
  for (const alula_file_constant &constant : constants)
    if (constant.external_file)
      minor = 1;
  for (const VariantSpec &variant : variants)
    if (variant.kind == ALULA_IMAGE_PTX)
      minor = 2;
  if (!imports.empty())
    minor = 2;
  if (!groupTables.empty())
    minor = 3;
  // 1.3 packs elements of 2 and 4 bits.
  for (const alula_file_type &type : types)
    if (alula_dtype_get_packing(type.dtype) > 1)
      minor = 3;
  for (const VariantSpec &variant : variants)
    if (variant.kind == ALULA_IMAGE_CUDA)
      minor = std::max<uint16_t>(minor, hasCalls(variant.image) ? 5 : 4);
  for (const auto &function : functions)
    if (function->hasTogether)
      minor = 6;
  std::vector<alula_file_custom_call> customCallRecords = customCalls;
  for (alula_file_custom_call &record : customCallRecords)
    record.first_type += uint32_t(lists.size());
  lists.insert(lists.end(), customCallTypes.begin(), customCallTypes.end());
  std::vector<alula_file_group_table> groupRecords = groupTables;
  for (alula_file_group_table &record : groupRecords)
    record.first_number += uint32_t(lists.size());
  lists.insert(lists.end(), groupNumbers.begin(), groupNumbers.end());
  std::vector<alula_file_function> functionRecords;
  std::vector<alula_file_value> values;
  std::vector<alula_file_slot> slots;
  std::vector<alula_file_block> blocks;
  for (const auto &function : functions) {
    functionRecords.push_back(
        {function->name, function->flags, uint32_t(values.size()),
         uint32_t(function->arguments.size()),
         uint32_t(function->results.size()), function->registerCount,
         uint32_t(slots.size()), uint32_t(function->slots.size()),
         uint32_t(blocks.size()), uint32_t(function->blocks.size()),
         function->arenaBytes});
    values.insert(values.end(), function->arguments.begin(),
                  function->arguments.end());
    values.insert(values.end(), function->results.begin(),
                  function->results.end());
    slots.insert(slots.end(), function->slots.begin(), function->slots.end());
    for (const std::vector<uint32_t> &block : function->blocks) {
      blocks.push_back({code.size(), code.size() + block.size()});
      code.insert(code.end(), block.begin(), block.end());
    }
  }

  std::vector<FileBuilder::Piece> data;
  for (size_t i = 0; i < constants.size(); ++i)
    if (!constants[i].external_file)
      data.push_back({constants[i].offset, contents[i]});

  FileBuilder file;
  file.add(ALULA_SECTION_STRINGS, strings.data(), strings.size());
  file.add(ALULA_SECTION_DIMS, dims);
  file.add(ALULA_SECTION_TYPES, types);
  file.add(ALULA_SECTION_VALUES, values);
  file.add(ALULA_SECTION_FUNCTIONS, functionRecords);
  file.add(ALULA_SECTION_SLOTS, slots);
  file.add(ALULA_SECTION_BLOCKS, blocks);
  file.add(ALULA_SECTION_CODE, code);
  file.add(ALULA_SECTION_IMMEDIATES, immediates);
  file.add(ALULA_SECTION_GLOBALS, globals);
  file.add(ALULA_SECTION_CONSTANTS, constants);
  file.add(ALULA_SECTION_KERNELS, kernelRecords);
  file.add(ALULA_SECTION_VARIANTS, variantRecords);
  file.add(ALULA_SECTION_LISTS, lists);
  file.add(ALULA_SECTION_ENTRIES, entries);
  file.add(ALULA_SECTION_FACTS, facts);
  file.add(ALULA_SECTION_IMAGES, images.data(), images.size());
  file.add(ALULA_SECTION_DATA, dataBytes, std::move(data));
  file.add(ALULA_SECTION_CUSTOM_CALLS, customCallRecords);
  file.add(ALULA_SECTION_IMPORTS, imports);
  file.add(ALULA_SECTION_GROUPS, groupRecords);
  file.add(ALULA_SECTION_COLLECTIVES, collectives);
  std::string bytes = file.finish(minor);

  // The verifier wants aligned bytes; a string promises 16 from the heap.
  Artifact artifact;
  if (!openArtifact(bytes.data(), bytes.size(), {.checkData = false}, artifact,
                    diagnostic) ||
      !verifyArtifact(artifact, diagnostic))
    return {};
  return bytes;
}

} // namespace alula::artifact
