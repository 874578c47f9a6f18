#include "dialect/sdy/test_module.h"

using namespace mlir;
using namespace mlir::sdy;

namespace {

class CollectiveTest : public TestModule {
protected:
  /// `op` from a tensor split as `before` to one split as `after`.
  std::string collective(const std::string &op, const std::string &before,
                         const std::string &after) {
    std::string source = before.empty() ? ""
                                        : "%0 = sdy.reshard %t <" + before +
                                              "> : tensor<8x8xf32>\n";
    std::string operand = before.empty() ? "%t" : "%0";
    return checkBody(source + "%1 = sdy." + op + " " + operand +
                     " out_sharding=<" + after + "> : tensor<8x8xf32>");
  }
  static std::string in(const std::string &name) {
    return "'sdy." + name + "' op ";
  }
};

} // namespace

TEST_F(CollectiveTest, Shared) {
  EXPECT_EQ(collective("all_gather [{}, {}]", "", "@m, [{}, {}]"),
            in("all_gather") + "operand must have a sharding\n");
  EXPECT_EQ(collective("all_slice [{\"a\"}, {}]", "", "@m, [{\"a\"}, {}]"),
            "fine");
  EXPECT_EQ(collective("all_gather [{\"a\"}, {}]", "@m, [{\"a\"}, {}]",
                       "@m, [{\"x\"}, {}]"),
            in("all_gather") + "result: mesh has no axis \"x\"\n");
  EXPECT_EQ(collective("all_gather [{\"a\"}, {}]", "@other, [{\"a\"}, {}]",
                       "@m, [{}, {}]"),
            in("all_gather") +
                "operand and result must be of one mesh: "
                "#sdy.mesh<[\"a\"=2, \"d\"=2]> and #sdy.mesh<[\"a\"=2, "
                "\"b\"=8, \"c\"=2]>\n");
  EXPECT_EQ(collective("collective_permute", "@one, []", "@m, [{}, {}]"),
            in("collective_permute") + "shardings of operand and result must "
                                       "have one rank: 0 and 2\n");
  EXPECT_EQ(
      collective("all_gather [{\"a\"}]", "@m, [{\"a\"}, {}]", "@m, [{}, {}]"),
      in("all_gather") +
          "there must be an axis list for each dimension: 1 for 2\n");
  EXPECT_EQ(collective("all_gather [{\"x\"}, {}]", "@m, [{\"a\"}, {}]",
                       "@m, [{}, {}]"),
            in("all_gather") + "mesh has no axis \"x\"\n");
}

TEST_F(CollectiveTest, GatherAndSlice) {
  EXPECT_EQ(collective("all_gather [{\"b\":(4)2}, {\"c\"}]",
                       "@m, [{\"a\", \"b\"}, {\"c\"}]",
                       "@m, [{\"a\", \"b\":(1)4}, {}]"),
            "fine");
  EXPECT_EQ(collective("all_gather [{\"a\"}, {}]", "@m, [{\"a\", \"b\"}, {}]",
                       "@m, [{\"b\"}, {}]"),
            in("all_gather") +
                "operand is not split last along {\"a\"} in dimension 0: "
                "{\"a\", \"b\"}\n");
  EXPECT_EQ(collective("all_gather [{\"b\"}, {}]", "@m, [{\"a\", \"b\"}, {}]",
                       "@m, [{}, {}]"),
            in("all_gather") +
                "result must be split along {\"a\"} in dimension 0: {}\n");
  EXPECT_EQ(collective("all_slice [{\"b\":(4)2}, {}]", "@m, [{\"b\":(1)4}, {}]",
                       "@m, [{\"b\"}, {}]"),
            "fine");
  EXPECT_EQ(collective("all_slice [{\"a\"}, {}]", "@m, [{\"b\"}, {}]",
                       "@m, [{\"a\", \"b\"}, {}]"),
            in("all_slice") +
                "result must be split along {\"b\", \"a\"} in dimension 0: "
                "{\"a\", \"b\"}\n");
}

TEST_F(CollectiveTest, AllToAll) {
  EXPECT_EQ(collective("all_to_all [{\"b\"}: 0->1]", "@m, [{\"a\", \"b\"}, {}]",
                       "@m, [{\"a\"}, {\"b\"}]"),
            "fine");
  EXPECT_EQ(collective("all_to_all [{\"b\"}: 0->2]", "@m, [{\"b\"}, {}]",
                       "@m, [{}, {\"b\"}]"),
            in("all_to_all") + "dimension must be 0 to 1: 2\n");
  EXPECT_EQ(collective("all_to_all [{\"b\"}: 0->0]", "@m, [{\"b\"}, {}]",
                       "@m, [{}, {\"b\"}]"),
            in("all_to_all") + "dimension is used twice: 0\n");
  EXPECT_EQ(collective("all_to_all [{\"b\"}: 0->1]", "@m, [{\"b\"}, {}]",
                       "@m, [{}, {}]"),
            in("all_to_all") +
                "result must be split along {\"b\"} in dimension 1: {}\n");
  EXPECT_EQ(
      collective("all_to_all []", "@m, [{\"b\"}, {}]", "@m, [{\"b\"}, {}]"),
      in("all_to_all") + "there must be a parameter\n");
  EXPECT_EQ(
      checkBody("%0 = \"t.op\"() {sdy.sharding = #sdy.sharding_per_value<[<@m, "
                "[{\"a\"}, {}, {\"b\"}, {}]>]>} : () -> tensor<8x8x8x8xf32>\n"
                "%1 = sdy.all_to_all [{\"b\"}: 2->3, {\"a\"}: 0->1] %0 "
                "out_sharding=<@m, [{}, {\"a\"}, {}, {\"b\"}]> : "
                "tensor<8x8x8x8xf32>"),
      "'sdy.all_to_all' op source dimensions must rise: 0 after 2\n");
}

TEST_F(CollectiveTest, Permute) {
  EXPECT_EQ(collective("collective_permute", "@m, [{\"a\"}, {}]",
                       "@m, [{\"b\":(2)2}, {}]"),
            "fine");
  EXPECT_EQ(collective("collective_permute", "@back, [{\"a\"}, {}]",
                       "@forth, [{\"a\"}, {}]"),
            "fine");
  EXPECT_EQ(collective("collective_permute", "@m, [{\"a\"}, {}]",
                       "@other, [{\"a\"}, {}]"),
            in("collective_permute") +
                "meshes must have the same axes: #sdy.mesh<[\"a\"=2, "
                "\"b\"=8, \"c\"=2]> and #sdy.mesh<[\"a\"=2, \"d\"=2]>\n");
  EXPECT_EQ(collective("collective_permute", "@m, [{\"a\"}, {}]",
                       "@m, [{\"b\"}, {}]"),
            in("collective_permute") +
                "dimension 0 must stay in as many pieces: 2 and 8\n");
  EXPECT_EQ(collective("collective_permute", "@m, [{\"a\"}, {}]",
                       "@m2, [{\"c\"}, {}]"),
            in("collective_permute") + "meshes of two names must differ in the "
                                       "order of devices: @m and @m2\n");
}

TEST_F(CollectiveTest, Reductions) {
  EXPECT_EQ(collective("all_reduce {\"a\", \"b\"}",
                       "@m, [{\"c\"}, {}], unreduced={\"a\", \"b\"}",
                       "@m, [{\"c\"}, {}]"),
            "fine");
  EXPECT_EQ(collective("all_reduce max {\"a\"}",
                       "@m, [{\"c\"}, {}], unreduced=max{\"a\"}",
                       "@m, [{\"c\"}, {}]"),
            "fine");
  EXPECT_EQ(collective("all_reduce max {\"a\"}",
                       "@m, [{}, {}], unreduced={\"a\"}", "@m, [{}, {}]"),
            in("all_reduce") +
                "reduction must be that of the operand: max and sum\n");
  EXPECT_EQ(collective("all_reduce {\"a\"}", "@m, [{\"a\"}, {}]",
                       "@m, [{\"a\"}, {}]"),
            in("all_reduce") +
                "reduction axis must not split the operand or be "
                "replicated: {\"a\"}\n");
  EXPECT_EQ(
      collective("all_reduce {\"b\", \"a\"}", "@m, [{}, {}]", "@m, [{}, {}]"),
      in("all_reduce") +
          "reduction axes must be in the order of the mesh: {\"b\", "
          "\"a\"}\n");
  EXPECT_EQ(collective("all_reduce {\"a\"}", "@m, [{}, {}], unreduced={\"a\"}",
                       "@m, [{}, {}], unreduced={\"a\"}"),
            in("all_reduce") +
                "result must not be unreduced along a reduction axis: "
                "{\"a\"}\n");
  EXPECT_EQ(collective("all_reduce {\"a\"}", "@m, [{}, {}]",
                       "@m, [{}, {}], unreduced={\"b\"}"),
            in("all_reduce") +
                "result must not be unreduced along axes that the operand "
                "is not: {\"b\"}\n");
  EXPECT_EQ(collective("reduce_scatter [{}, {\"a\"}]",
                       "@m, [{}, {}], unreduced={\"a\"}", "@m, [{}, {\"a\"}]"),
            "fine");
  EXPECT_EQ(collective("reduce_scatter [{}, {\"a\"}]",
                       "@m, [{}, {}], unreduced={\"a\"}", "@m, [{\"a\"}, {}]"),
            in("reduce_scatter") +
                "result must be split along {} in dimension 0: {\"a\"}\n");
}

TEST_F(CollectiveTest, Unreduced) {
  EXPECT_EQ(collective("sharded_to_unreduced [{\"b\"}, {}]",
                       "@m, [{\"a\", \"b\"}, {}], unreduced={\"c\"}",
                       "@m, [{\"a\"}, {}], unreduced={\"b\", \"c\"}"),
            "fine");
  EXPECT_EQ(collective("sharded_to_unreduced [{\"b\"}, {}]",
                       "@m, [{\"b\"}, {}]", "@m, [{}, {}]"),
            in("sharded_to_unreduced") +
                "result must be unreduced along {\"b\"}: {}\n");
  EXPECT_EQ(
      collective("sharded_to_unreduced [{\"b\"}, {}]", "@m, [{\"b\"}, {}]",
                 "@m, [{}, {}], unreduced=max{\"b\"}"),
      in("sharded_to_unreduced") + "result must be unreduced by sum: max\n");
  EXPECT_EQ(collective("replicated_to_unreduced {\"b\"}", "@m, [{\"a\"}, {}]",
                       "@m, [{\"a\"}, {}], unreduced={\"b\"}"),
            "fine");
  EXPECT_EQ(collective("replicated_to_unreduced {}", "@m, [{\"a\"}, {}]",
                       "@m, [{\"a\"}, {}]"),
            in("replicated_to_unreduced") + "there must be an axis\n");
  EXPECT_EQ(collective("replicated_to_unreduced {\"a\"}", "@m, [{\"a\"}, {}]",
                       "@m, [{\"a\"}, {}]"),
            in("replicated_to_unreduced") +
                "axis must be replicated in the operand: {\"a\"}\n");
  EXPECT_EQ(collective("replicated_to_unreduced {\"c\", \"a\"}", "@m, [{}, {}]",
                       "@m, [{}, {}], unreduced={\"a\", \"c\"}"),
            in("replicated_to_unreduced") +
                "moved axes must be in the order of the mesh: {\"c\", "
                "\"a\"}\n");
}
