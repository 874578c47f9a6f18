#include "compiler/preprocess/tokenizer.h"

#include "gtest/gtest.h"

using namespace alula::preprocess;

namespace {
using Words = std::vector<std::string>;

Words split(llvm::StringRef command) {
  auto words = tokenize(command);
  if (words)
    return *words;
  ADD_FAILURE() << llvm::toString(words.takeError());
  return {};
}

std::string complain(llvm::StringRef command) {
  auto words = tokenize(command);
  return words ? "fine" : llvm::toString(words.takeError());
}

std::string fill(llvm::StringRef word) {
  auto filled = fillPlaceholders(word, {"d0", "cpu", "folder"});
  return filled ? *filled : "error: " + llvm::toString(filled.takeError());
}

TEST(Tokenizer, splitsOnBlanks) {
  EXPECT_EQ(split(" tool\t-a\n  b "), (Words{"tool", "-a", "b"}));
}

// The words of H5.
TEST(Tokenizer, quotes) {
  EXPECT_EQ(split(R"(argv-dump '' 'a b' "c\"d" e\ f x;y)"),
            (Words{"argv-dump", "", "a b", "c\"d", "e f", "x;y"}));
}

TEST(Tokenizer, noShell) {
  EXPECT_EQ(split("a | b > c $HOME * `d`"),
            (Words{"a", "|", "b", ">", "c", "$HOME", "*", "`d`"}));
}

TEST(Tokenizer, backslashInSingleQuotesIsLiteral) {
  EXPECT_EQ(split(R"('a\b' 'c\')"), (Words{R"(a\b)", R"(c\)"}));
}

TEST(Tokenizer, neighboursJoin) {
  EXPECT_EQ(split(R"(--p='x y'z"1 2"\ )"), (Words{"--p=x yz1 2 "}));
  EXPECT_EQ(split(R"(""'' a"")"), (Words{"", "a"}));
}

TEST(Tokenizer, errorsHaveColumns) {
  EXPECT_EQ(complain("tool 'oops"), "quote at column 6 has no end");
  EXPECT_EQ(complain("tool \"oops\\\""), "quote at column 6 has no end");
  EXPECT_EQ(complain("tool\\"),
            "backslash at column 5 has nothing to its right");
  EXPECT_EQ(complain(""), "command has no words");
  EXPECT_EQ(complain(" \t\n"), "command has no words");
  EXPECT_EQ(complain(llvm::StringRef("a\0b", 3)), "column 2 is a zero byte");
}

TEST(Placeholders, areReplacedOnce) {
  EXPECT_EQ(fill("{name}-{target}:{workdir}/x"), "d0-cpu:folder/x");
  EXPECT_EQ(fill("{{name}} {{{name}}}"), "{name} {d0}");
  EXPECT_EQ(fill("plain"), "plain");
  EXPECT_EQ(fill(""), "");
}

TEST(Placeholders, unknownOnesAreErrors) {
  for (auto [word, shown] :
       {std::pair{"{nmae}", "{nmae}"}, {"a{", "{"}, {"a}b", "}"}})
    EXPECT_EQ(fill(word),
              std::string("error: no such placeholder: '") + shown +
                  "'; there are {name}, {target} and {workdir}, and {{ and }} "
                  "are braces");
}
} // namespace
