// Images without objects, and where the linker can't have its files.

#include "compiler/target/cpu/link_image.h"
#include "compiler/target/cpu/test_kernels.h"

#include "llvm/ADT/ScopeExit.h"
#include "gtest/gtest.h"

#include <dirent.h>
#include <sys/resource.h>

using namespace alula::cpu;

namespace {
size_t countOpenFiles() {
  size_t count = 0;
  DIR *folder = opendir("/proc/self/fd");
  while (folder && readdir(folder))
    ++count;
  if (folder)
    closedir(folder);
  return count;
}
} // namespace

TEST(LinkImage, LeavesNoFilesOpen) {
  Machine machine = llvm::cantFail(findMachine("x86-64-v3"));
  std::string object = llvm::cantFail(compile(loopOverExp, machine));
  size_t before = countOpenFiles();
  EXPECT_NE(llvm::cantFail(linkImage({object}, {"kernel"}, machine)), "");
  auto damaged = linkImage({"no object"}, {"kernel"}, machine);
  ASSERT_FALSE(bool(damaged));
  EXPECT_NE(toText(damaged.takeError()).find("kernels for x86-64-v3 don't link"),
            std::string::npos);
  EXPECT_EQ(countOpenFiles(), before);
}

TEST(LinkImage, NeedsSomeOpenFiles) {
  Machine machine = llvm::cantFail(findMachine("x86-64-v3"));
  std::string object = llvm::cantFail(compile(loopOverExp, machine));
  rlimit was;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &was), 0);
  auto putBack =
      llvm::make_scope_exit([&] { setrlimit(RLIMIT_NOFILE, &was); });
  // None, only a pipe's two, all but the last.
  for (rlim_t more : {0, 2, 3}) {
    rlimit few = was;
    few.rlim_cur = 3 + more;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    auto image = linkImage({object}, {"kernel"}, machine);
    ASSERT_FALSE(bool(image)) << more;
    EXPECT_EQ(toText(image.takeError()),
              "can't write 'memfd:alula-link': Too many open files")
        << more;
  }
}
