#include "tools/values/npy.h"
#include "tools/values/text.h"

#include <gtest/gtest.h>

using namespace alula::values;

namespace {

std::string makeNpy(std::string dict, std::string_view data, char version = 1) {
  std::string file = std::string("\x93NUMPY", 6) + version + '\0';
  file += char(dict.size());
  file += '\0';
  if (version > 1)
    file += std::string(2, '\0');
  return file + dict + std::string(data);
}

std::string read(std::string_view bytes, const Value *wanted = nullptr) {
  Value value;
  std::string error;
  return readNpy(bytes, wanted, value, error) ? printValue(value) : error;
}

TEST(Npy, ReadsOrdersAndVersions) {
  std::string data("\1\0\2\0\3\0\4\0\5\0\6\0", 12);
  EXPECT_EQ(read(makeNpy("{'descr': '<i2', 'fortran_order': False, 'shape': "
                         "(2, 3), }",
                         data)),
            "2x3xi16=[[1,2,3],[4,5,6]]");
  EXPECT_EQ(read(makeNpy("{'descr': '<i2', 'fortran_order': True, 'shape': "
                         "(2, 3), }",
                         data, 2)),
            "2x3xi16=[[1,3,5],[2,4,6]]");
  EXPECT_EQ(read(makeNpy("{'descr': '>i2', 'fortran_order': False, 'shape': "
                         "(6,), }",
                         data, 3)),
            "6xi16=256,512,768,1024,1280,1536");
  EXPECT_EQ(read(makeNpy("{'descr': '|b1', 'fortran_order': False, 'shape': "
                         "(), }",
                         "\1")),
            "i1=true");
}

TEST(Npy, WritesWhatItReads) {
  for (const char *text : {"f32", "3xf64", "2x3xcomplex<f32>", "0x2xui8"}) {
    alula_dtype type;
    std::vector<int64_t> shape;
    std::string error;
    Value value;
    ASSERT_TRUE(parseType(text, type, shape, error));
    ASSERT_TRUE(createValue(type, shape, value, error));
    std::string file = writeNpy(value);
    EXPECT_EQ((file.size() - value.size) % 64, 0u);
    EXPECT_EQ(read(file), printValue(value));
  }
}

TEST(Npy, RawVoidsNeedTheirType) {
  Value value, wrong;
  std::string error;
  ASSERT_TRUE(createValue(ALULA_DTYPE_BF16, {2}, value, error));
  ASSERT_TRUE(parseElements("1,2", value, error));
  ASSERT_TRUE(createValue(ALULA_DTYPE_F16, {2}, wrong, error));
  std::string file = writeNpy(value);
  EXPECT_EQ(read(file), "numpy type '<V2' does not say which element type it "
                        "is: write it in front, as in 2x3xbf16=@x.npy");
  EXPECT_EQ(read(file, &value), "2xbf16=1,2");
  EXPECT_EQ(read(file, &wrong), "file holds numpy type '<V2' of shape "
                                "2xinvalid, expected 2xf16");
}

TEST(Npy, BadFilesAreErrors) {
  EXPECT_EQ(read("hello"), "not an .npy file");
  EXPECT_EQ(read(std::string("\x93NUMPY\x07\0\0\0", 10)),
            "unknown .npy version 7");
  Value value;
  std::string error;
  ASSERT_TRUE(createValue(ALULA_DTYPE_F32, {2, 2}, value, error));
  std::string file = writeNpy(value);
  for (size_t size = 0; size < file.size(); ++size)
    EXPECT_NE(read(file.substr(0, size)), printValue(value)) << size;
  EXPECT_EQ(read(file.substr(0, file.size() - 1)),
            "truncated .npy data: 15 bytes, 16 needed");
  EXPECT_EQ(read(makeNpy("{'descr': '<i2', 'fortran_order': False, 'shape': "
                         "(4611686018427387904, 2), }",
                         "")),
            "4611686018427387904x2xi16: more bytes than this machine's memory");
  EXPECT_EQ(read(makeNpy("{'descr': [('a', '<i2')], 'shape': (1,), }", "12")),
            "unsupported .npy header: {'descr': [('a', '<i2')], 'shape': "
            "(1,), }");
}

} // namespace
