#pragma once

#include "compiler/objects/target_key.h"
#include "compiler/target/cpu/machine.h"

namespace alula::cuda {

/// The key of "sm_80"; an error if it names no device.
llvm::Expected<objects::TargetKey> findDevice(llvm::StringRef name);

/// What kernels are compiled for a device by: its facts, the newest processor
/// that LLVM knows and that the device can run the code of, and the lowest
/// version of PTX that has its instructions.
llvm::Expected<cpu::Machine> findMachine(llvm::StringRef name);

} // namespace alula::cuda
