#include "pjrt/ffi/attributes.h"

#include "alula/artifact.h"

#include <gtest/gtest.h>

using namespace alula::pjrt;
using namespace alula::pjrt::ffi;

namespace {
/// Bytes of a configuration.
struct Config {
  std::string bytes;

  Config &count(uint32_t value) {
    bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
    return *this;
  }
  Config &byte(int value) {
    bytes += static_cast<char>(value);
    return *this;
  }
  Config &text(const std::string &value) {
    count(static_cast<uint32_t>(value.size())).bytes += value;
    return *this;
  }
};

Config makeAttributes() {
  Config config;
  config.count(4);
  config.text("a").byte(ALULA_CALL_ATTRIBUTE_SCALAR).byte(ALULA_DTYPE_F64);
  config.bytes.append(8, '\1');
  config.text("b").byte(ALULA_CALL_ATTRIBUTE_DICTIONARY).count(1);
  config.text("c").byte(ALULA_CALL_ATTRIBUTE_STRING).text("inside");
  config.text("d").byte(ALULA_CALL_ATTRIBUTE_ARRAY).byte(ALULA_DTYPE_I16);
  config.count(3).bytes += "112233";
  config.text("e").byte(ALULA_CALL_ATTRIBUTE_ARRAY).byte(ALULA_DTYPE_F32);
  config.count(0);
  return config;
}

std::string readAll(const std::string &bytes) {
  ConfigReader reader(bytes.data(), bytes.size());
  Attributes attributes;
  std::unique_ptr<Error> error(as<Error>(attributes.read(reader)));
  return error ? error->message : "";
}
} // namespace

TEST(Attributes, AreTables) {
  std::string bytes = makeAttributes().bytes;
  ConfigReader reader(bytes.data(), bytes.size());
  Attributes attributes;
  ASSERT_EQ(attributes.read(reader), nullptr);
  EXPECT_TRUE(reader.isAtEnd());
  const XLA_FFI_Attrs &table = attributes.get();
  ASSERT_EQ(table.size, 4);
  auto **values = static_cast<void **>(table.attrs);
  auto *array = static_cast<XLA_FFI_Array *>(values[2]);
  EXPECT_EQ(array->size, 3u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(array->data) % 8, 0u);
  EXPECT_EQ(memcmp(array->data, "112233", 6), 0);
  EXPECT_NE(static_cast<XLA_FFI_Array *>(values[3])->data, nullptr);
  auto *inner = static_cast<XLA_FFI_Attrs *>(values[1]);
  auto *text =
      static_cast<XLA_FFI_ByteSpan *>(static_cast<void **>(inner->attrs)[0]);
  EXPECT_EQ(getText(*text), "inside");
}

TEST(Attributes, ThatEndEarlyAreBroken) {
  std::string bytes = makeAttributes().bytes;
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_EQ(readAll(bytes.substr(0, size)),
              "alula: the configuration of a custom call is broken")
        << size;
  EXPECT_EQ(readAll(bytes), "");
}

TEST(Attributes, OfHugeCountsAreBroken) {
  Config config;
  config.count(~0u);
  EXPECT_NE(readAll(config.bytes), "");
  Config array;
  array.count(1).text("a").byte(ALULA_CALL_ATTRIBUTE_ARRAY);
  array.byte(ALULA_DTYPE_C128).count(~0u);
  EXPECT_NE(readAll(array.bytes), "");
  Config nested;
  for (int i = 0; i < 1000; ++i)
    nested.count(1).text("a").byte(ALULA_CALL_ATTRIBUTE_DICTIONARY);
  EXPECT_NE(readAll(nested.bytes), "");
}

TEST(Attributes, WithoutAFormAreNamed) {
  Config list;
  list.count(1).text("l").byte(ALULA_CALL_ATTRIBUTE_LIST).count(0);
  EXPECT_EQ(readAll(list.bytes), "the attribute 'l' is a list of attributes, "
                                 "for which XLA's FFI has no form");
  Config packed;
  packed.count(1).text("p").byte(ALULA_CALL_ATTRIBUTE_ARRAY);
  packed.byte(ALULA_DTYPE_I4).count(2).byte(0x21);
  EXPECT_EQ(readAll(packed.bytes), "the attribute 'p' is of packed elements of "
                                   "type i4, for which XLA's FFI has no form");
  Config unknown;
  unknown.count(1).text("u").byte(ALULA_CALL_ATTRIBUTE_SCALAR).byte(200);
  EXPECT_NE(readAll(unknown.bytes), "");
  Config kind;
  kind.count(1).text("k").byte(77);
  EXPECT_NE(readAll(kind.bytes), "");
}

TEST(CallValues, AreOrders) {
  Config config;
  config.count(3).byte(ALULA_CALL_VALUE_TOKEN).byte(ALULA_CALL_VALUE_SIZES);
  config.byte(ALULA_CALL_VALUE_ARRAY).byte(2).byte(1).byte(0);
  auto read = [](const std::string &bytes, std::vector<CallValue> &values) {
    ConfigReader reader(bytes.data(), bytes.size());
    std::unique_ptr<Error> error(as<Error>(reader.readValues(values)));
    return !error;
  };
  std::vector<CallValue> values;
  ASSERT_TRUE(read(config.bytes, values));
  EXPECT_EQ(values[2].order, (std::vector<uint8_t>{1, 0}));
  for (size_t size = 0; size < config.bytes.size(); ++size) {
    std::vector<CallValue> some;
    EXPECT_FALSE(read(config.bytes.substr(0, size), some)) << size;
  }
  // No such dimension, no such kind, twice the same.
  for (const std::vector<int> &bad :
       {std::vector<int>{1, 2, 2, 0}, {3}, {1, 2, 1, 1}}) {
    Config wrong;
    wrong.count(1);
    for (int byte : bad)
      wrong.byte(byte);
    std::vector<CallValue> some;
    EXPECT_FALSE(read(wrong.bytes, some));
  }
}
