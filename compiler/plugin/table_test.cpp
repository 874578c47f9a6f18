#include "compiler/plugin/table.h"

#include "compiler/plugin/build_key.h"

#include <cstring>
#include <gtest/gtest.h>
#include <memory>

using namespace alula::plugin;

namespace {
alula_plugin makeTable(uint16_t major, uint16_t minor) {
  alula_plugin table = {};
  table.struct_size = sizeof table;
  table.abi_major = major;
  table.abi_minor = minor;
  table.tier = ALULA_TIER_C;
  table.id = "probe";
  table.version = "1";
  return table;
}

alula_plugin table;
uint16_t askedMajor, askedMinor;

const alula_plugin *query(uint16_t major, uint16_t minor) {
  askedMajor = major;
  askedMinor = minor;
  return &table;
}

/// A plugin that follows the rule: its only table, if the major version is its.
const alula_plugin *queryStrictly(uint16_t major, uint16_t) {
  return major == table.abi_major ? &table : nullptr;
}

std::string read(alula_plugin_query_function query, HostVersion host,
                 Plugin &plugin) {
  plugin.path = "p.so";
  return toString(readTable(query, host, plugin));
}
} // namespace

TEST(Table, G06HostIsOlder) {
  table = makeTable(1, 3);
  Plugin plugin;
  EXPECT_EQ(read(query, {1, 0}, plugin), "");
  EXPECT_EQ(askedMajor, 1);
  EXPECT_EQ(askedMinor, 0);
}

TEST(Table, G06HostIsNewer) {
  table = makeTable(1, 0);
  Plugin plugin;
  EXPECT_EQ(read(query, {1, 3}, plugin), "");
  EXPECT_EQ(askedMinor, 3);
}

TEST(Table, G06OtherMajors) {
  table = makeTable(1, 3);
  Plugin plugin;
  EXPECT_EQ(read(query, {2, 0}, plugin),
            "[plug-abi] p.so: speaks version 1.3 of the interface, we 2.0");
  EXPECT_EQ(read(queryStrictly, {2, 0}, plugin),
            "[plug-abi] p.so: speaks no version of the interface that we do, "
            "which is 2.0");
}

TEST(Table, G07WhatIsMissingIsZero) {
  // Beyond its size there is anything but zero.
  table = makeTable(1, 0);
  memset(reinterpret_cast<char *>(&table) + offsetof(alula_plugin, options),
         0xA5, sizeof table - offsetof(alula_plugin, options));
  table.struct_size = offsetof(alula_plugin, options);
  Plugin plugin;
  EXPECT_EQ(read(query, {}, plugin), "");
  EXPECT_EQ(plugin.table.hooks, nullptr);
  EXPECT_EQ(plugin.table.create, nullptr);
  EXPECT_TRUE(plugin.options.empty());
}

/// A table with nothing behind it: AddressSanitizer sees who looks there.
const alula_plugin *shortTable;
const alula_plugin *queryShort(uint16_t, uint16_t) { return shortTable; }

TEST(Table, G07NothingBehindATableIsRead) {
  alula_plugin whole = makeTable(1, 0);
  for (size_t size :
       {offsetof(alula_plugin, version), offsetof(alula_plugin, activation),
        offsetof(alula_plugin, hooks)}) {
    whole.struct_size = static_cast<uint32_t>(size);
    auto memory = std::make_unique<char[]>(size);
    memcpy(memory.get(), &whole, size);
    shortTable = reinterpret_cast<const alula_plugin *>(memory.get());
    Plugin plugin;
    EXPECT_EQ(read(queryShort, {}, plugin), "");
    EXPECT_EQ(plugin.table.hooks, nullptr);
  }
}

TEST(Table, OptionsOfAnotherSize) {
  // Longer ones, of a newer interface, one after the other.
  struct Longer {
    alula_option option;
    char more[24];
  } options[2] = {};
  for (int i = 0; i < 2; ++i) {
    options[i].option.struct_size = sizeof(Longer);
    options[i].option.type = ALULA_OPTION_INT;
    options[i].option.name = i ? "second" : "first";
    options[i].option.default_value = "7";
  }
  table = makeTable(1, 0);
  table.options = &options[0].option;
  table.n_options = 2;
  Plugin plugin;
  EXPECT_EQ(read(query, {}, plugin), "");
  ASSERT_EQ(plugin.options.size(), 2u);
  EXPECT_STREQ(plugin.options[1].name, "second");
  options[1].option.name = "first";
  Plugin again;
  EXPECT_EQ(read(query, {}, again),
            "[plug-duplicate] plugin 'probe' has two options 'first'");
}

TEST(Table, Ids) {
  for (const char *id :
       {"", "Probe", "1probe", "a b", "a23456789012345678901234567890123"}) {
    table = makeTable(1, 0);
    table.id = id;
    Plugin plugin;
    EXPECT_NE(read(query, {}, plugin).find("is no id"), std::string::npos)
        << id;
  }
}

TEST(Table, Stages) {
  static const char *const stages[] = {"nowhere"};
  alula_hooks hooks = {};
  hooks.struct_size = sizeof hooks;
  hooks.stages = stages;
  hooks.n_stages = 1;
  table = makeTable(1, 0);
  table.hooks = &hooks;
  Plugin plugin;
  EXPECT_NE(read(query, {}, plugin).find("there is no stage 'nowhere'"),
            std::string::npos);
}

TEST(BuildKey, FirstFieldThatDiffers) {
  EXPECT_EQ(toString(compareBuildKeys("p.so", "a=1;b=2;c=3", "a=1;b=3;c=4")),
            "[plug-build-key] p.so: is built for another compiler: its 'b=2', "
            "ours 'b=3'; its key is a=1;b=2;c=3, ours is a=1;b=3;c=4");
  EXPECT_EQ(toString(compareBuildKeys("p.so", "a=1", "a=1")), "");
  EXPECT_NE(toString(compareBuildKeys("p.so", "", "a=1")), "");
  EXPECT_NE(toString(compareBuildKeys("p.so", "a=1;b=2", "a=1")), "");
}
