#include "tools/values/value_io.h"

#include "tools/values/compare.h"
#include "tools/values/text.h"

#include <gtest/gtest.h>

#include <unistd.h>

using namespace alula::values;

namespace {

class ValueIo : public testing::Test {
protected:
  void SetUp() override {
    char pattern[] = "/tmp/alula-values-XXXXXX";
    folder = mkdtemp(pattern);
  }
  void TearDown() override {
    for (const std::string &name : names)
      unlink(getPath(name).c_str());
    rmdir(folder.c_str());
  }
  std::string getPath(const std::string &name) const {
    return folder + "/" + name;
  }
  std::string use(const std::string &name) {
    names.push_back(name);
    return getPath(name);
  }

  std::string folder;
  std::vector<std::string> names;
};

std::string read(const std::string &spec) {
  Value value;
  std::string error;
  return readValue(spec, value, error) ? printValue(value) : error;
}

Value get(const std::string &spec) {
  Value value;
  std::string error;
  EXPECT_TRUE(readValue(spec, value, error)) << error;
  return value;
}

TEST_F(ValueIo, TextNeedsNoFile) {
  EXPECT_EQ(read("2xf32=1,2"), "2xf32=1,2");
  EXPECT_EQ(read("2xf32"), "2xf32=0,0");
  EXPECT_EQ(read("2xf32="), "2xf32: has 2 elements, but 0 values are given");
}

TEST_F(ValueIo, FilesComeBack) {
  std::string error;
  Value value = get("2x2xbf16=1,2,3,0.5");
  std::string raw = use("x.bin"), npy = use("x.npy");
  ASSERT_TRUE(writeValue(raw, value, error)) << error;
  ASSERT_TRUE(writeValue("@" + npy, value, error)) << error;
  EXPECT_EQ(read("2x2xbf16=@" + raw), "2x2xbf16=[[1,2],[3,0.5]]");
  EXPECT_EQ(read("2x2xbf16=@" + npy), "2x2xbf16=[[1,2],[3,0.5]]");
  EXPECT_EQ(read("2x3xbf16=@" + raw),
            raw + ": has 8 bytes, but 2x3xbf16 takes 12");
  EXPECT_EQ(read("@" + raw), raw + ": a raw file needs its type in front, as "
                                   "in 2x3xf32=@" +
                                 raw);
  EXPECT_EQ(read("@" + getPath("none.npy")),
            getPath("none.npy") + ": No such file or directory");
  EXPECT_FALSE(writeValue(getPath("no/x.bin"), value, error));
  EXPECT_EQ(error, getPath("no/x.bin") + ": No such file or directory");
  EXPECT_FALSE(writeValue("", value, error));
  EXPECT_EQ(error, "expected '-' or a file name");
}

std::string compare(const std::string &expected, const std::string &actual,
                    Tolerance tolerance = {}) {
  std::string error;
  return compareValues(get(expected), get(actual), tolerance, error) ? "same"
                                                                     : error;
}

TEST_F(ValueIo, Comparison) {
  EXPECT_EQ(compare("2x2xi32=1,2,3,4", "2x2xi32=1,2,3,4"), "same");
  EXPECT_EQ(compare("2x2xi32=1,2,3,4", "2x2xi32=1,2,7,8"),
            "at index [1,0]: expected 3, got 7 (2 of 4 elements differ)");
  EXPECT_EQ(compare("f32=1", "f32=1.000001"), "same");
  EXPECT_EQ(compare("f32=1", "f32=1.000001", {0, 0}),
            "at index []: expected 1, got 1.000001 (1 of 1 elements differ)");
  EXPECT_EQ(compare("3xf32=nan,inf,-inf", "3xf32=-nan,inf,-inf"), "same");
  EXPECT_EQ(compare("f32=inf", "f32=-inf"),
            "at index []: expected inf, got -inf (1 of 1 elements differ)");
  EXPECT_EQ(compare("2xcomplex<f32>=1,2", "2xcomplex<f32>=(1,0),(2,3)"),
            "at index [1]: expected (2,0), got (2,3) (1 of 2 elements differ)");
  EXPECT_EQ(compare("2xf32=100,0", "2xf32=100,0.0005"),
            "at index [1]: expected 0, got 5e-04 (1 of 2 elements differ)");
  EXPECT_EQ(compare("2xf32=100,0", "2xf32=100,0.0005", {-1, -1, true}), "same");
  EXPECT_EQ(compare("2xf32=0.01,0", "2xf32=0.01,0.0005", {-1, -1, true}),
            "at index [1]: expected 0, got 5e-04 (1 of 2 elements differ)");
  EXPECT_EQ(compare("2xf32", "2xf64"),
            "expected a value of type 2xf32, got 2xf64");
}

} // namespace
