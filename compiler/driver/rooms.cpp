#include "compiler/driver/rooms.h"

using namespace alula::driver;

static constexpr Stage stages[roomCount] = {
    {Room::Input, "input", "", "legal StableHLO"},
    {Room::Optimize, "optimize", "", "the same, less work"},
    {Room::Partition, "partition", "", "what each device runs"},
    // Its passes, then what others do to each executable by itself.
    {Room::Dispatch, "dispatch", "executable-sources",
     "a host function and executables"},
    // Here tiles, grids and what is kept in memory are chosen,
    {Room::Plan, "plan", "", "a plan for each kernel"},
    // and here followed.
    {Room::Kernel, "kernel", "executable-configs", "executables as loops"},
    {Room::Schedule, "schedule", "", "the host as commands"},
    {Room::Target, "target", "executable-targets", "machine code"},
    {Room::Emit, "emit", "", "the artifact"}};

const Stage &alula::driver::getStage(Room room) {
  return stages[static_cast<unsigned>(room)];
}

llvm::StringRef alula::driver::getRoomName(Room room) {
  return getStage(room).name;
}

std::optional<Room> alula::driver::findRoom(llvm::StringRef name) {
  for (const Stage &stage : stages)
    if (!name.empty() && (stage.name == name || stage.alias == name))
      return stage.room;
  return std::nullopt;
}

std::string alula::driver::listStages() {
  std::string text;
  for (const Stage &stage : stages) {
    text += (text.empty() ? "" : ", ") + stage.name.str();
    if (!stage.alias.empty())
      text += " (" + stage.alias.str() + ")";
  }
  return text;
}
