#include "artifact/cuda_image_writer.h"

#include <cstring>

namespace alula::artifact {

CudaLaunchSpec
CudaLaunchSpec::makeCall(std::string text, uint32_t launches,
                         std::vector<alula_cuda_argument> arguments) {
  CudaLaunchSpec call;
  call.entry = std::move(text);
  call.module = ALULA_NONE;
  call.arguments = std::move(arguments);
  call.grid[0] = launches;
  call.flags = ALULA_CUDA_LAUNCH_CALL;
  return call;
}

uint32_t CudaImageWriter::addString(std::string_view text) {
  std::string wanted(text);
  wanted += '\0';
  size_t found = ('\0' + strings).find('\0' + wanted);
  if (found != std::string::npos)
    return uint32_t(found);
  auto offset = uint32_t(strings.size());
  strings += wanted;
  return offset;
}

uint32_t CudaImageWriter::addModule(std::string_view text, uint32_t chip,
                                    bool isExact) {
  std::string bytes(text);
  bytes += '\0';
  uint32_t flags = isExact ? uint32_t(ALULA_CUDA_CODE_EXACT) : 0;
  for (uint32_t i = 0; i < modules.size(); ++i) {
    const Code &code = codes[modules[i].first_code];
    if (code.record.chip == chip && code.record.flags == flags &&
        code.bytes == bytes)
      return i;
  }
  modules.push_back({uint32_t(codes.size()), 1});
  codes.push_back(
      {{ALULA_CUDA_PTX, chip, flags, 0, 0, bytes.size()}, std::move(bytes)});
  return uint32_t(modules.size() - 1);
}

void CudaImageWriter::addCubin(std::string_view bytes, uint32_t chip,
                               bool isExact) {
  codes.push_back(
      {{ALULA_CUDA_CUBIN, chip, isExact ? uint32_t(ALULA_CUDA_CODE_EXACT) : 0,
        0, 0, bytes.size()},
       std::string(bytes)});
  ++modules.back().code_count;
}

void CudaImageWriter::addKernel(const std::vector<CudaLaunchSpec> &specs) {
  kernels.push_back({uint32_t(launches.size()), uint32_t(specs.size())});
  for (const CudaLaunchSpec &spec : specs) {
    alula_cuda_launch launch = {};
    launch.entry = addString(spec.entry);
    launch.module = spec.module;
    launch.first_argument = uint32_t(arguments.size());
    launch.argument_count = uint32_t(spec.arguments.size());
    memcpy(launch.grid, spec.grid, sizeof launch.grid);
    memcpy(launch.grid_axis, spec.gridAxis, sizeof launch.grid_axis);
    memcpy(launch.block, spec.block, sizeof launch.block);
    memcpy(launch.cluster, spec.cluster, sizeof launch.cluster);
    launch.shared_bytes = spec.sharedBytes;
    launch.flags = spec.flags;
    launches.push_back(launch);
    arguments.insert(arguments.end(), spec.arguments.begin(),
                     spec.arguments.end());
  }
}

std::string CudaImageWriter::finish(std::vector<uint64_t> &entries) const {
  alula_cuda_image header = {};
  memcpy(header.magic, ALULA_CUDA_MAGIC, sizeof header.magic);
  header.kernel_count = uint32_t(kernels.size());
  header.module_count = uint32_t(modules.size());
  header.code_count = uint32_t(codes.size());
  header.launch_count = uint32_t(launches.size());
  header.argument_count = uint32_t(arguments.size());
  header.string_bytes = uint32_t(strings.size());
  uint64_t tables = sizeof header + kernels.size() * sizeof kernels[0] +
                    modules.size() * sizeof modules[0] +
                    codes.size() * sizeof(alula_cuda_code) +
                    launches.size() * sizeof launches[0] +
                    arguments.size() * sizeof arguments[0] + strings.size();
  auto align = [](uint64_t at) { return (at + 15) / 16 * 16; };

  std::string image;
  auto add = [&](const void *bytes, size_t size) {
    image.append(static_cast<const char *>(bytes), size);
  };
  add(&header, sizeof header);
  entries.clear();
  for (const alula_cuda_kernel &kernel : kernels) {
    entries.push_back(image.size());
    add(&kernel, sizeof kernel);
  }
  add(modules.data(), modules.size() * sizeof modules[0]);
  uint64_t at = align(tables);
  for (const Code &code : codes) {
    alula_cuda_code record = code.record;
    record.offset = at;
    at = align(at + record.bytes);
    add(&record, sizeof record);
  }
  add(launches.data(), launches.size() * sizeof launches[0]);
  add(arguments.data(), arguments.size() * sizeof arguments[0]);
  image += strings;
  for (const Code &code : codes) {
    image.resize(align(image.size()));
    image += code.bytes;
  }
  return image;
}

} // namespace alula::artifact
