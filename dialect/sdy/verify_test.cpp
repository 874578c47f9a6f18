#include "dialect/sdy/test_module.h"

using namespace mlir;
using namespace mlir::sdy;

namespace {

class VerifyTest : public TestModule {
protected:
  /// A constraint on an 8x8 tensor.
  std::string constraint(const std::string &sharding) {
    return checkBody("%0 = sdy.sharding_constraint %t " + sharding +
                     " : tensor<8x8xf32>");
  }
  static std::string inConstraint(const std::string &rule) {
    return "'sdy.sharding_constraint' op " + rule + "\n";
  }
};

} // namespace

TEST_F(VerifyTest, Shardings) {
  EXPECT_EQ(constraint("<@m, [{\"a\", \"b\"}, {?}], replicated={\"c\"}>"),
            "fine");
  EXPECT_EQ(constraint("<@m, [{\"b\":(1)2}, {\"b\":(4)2}p0]>"), "fine");
  EXPECT_EQ(constraint("<@one, []>"), "fine");
  EXPECT_EQ(constraint("<mesh<[\"z\"=1]>, [{\"z\"}, {}]>"), "fine");
  EXPECT_EQ(constraint("<@lost, [{}, {}]>"),
            inConstraint("module has no mesh @lost"));
  EXPECT_EQ(constraint("<@one, [{}, {}]>"),
            inConstraint("sharding on a mesh of one device must have no "
                         "dimensions and no axes: #sdy.sharding<@one, [{}, "
                         "{}]>"));
  EXPECT_EQ(constraint("<@m, [{}]>"),
            inConstraint("sharding must have the rank of the tensor: 1 and 2"));
  EXPECT_EQ(constraint("<@m, [{\"x\"}, {}]>"),
            inConstraint("mesh has no axis \"x\""));
  EXPECT_EQ(constraint("<@m, [{\"a\"}, {\"a\"}]>"),
            inConstraint("axis is used twice: \"a\""));
  EXPECT_EQ(constraint("<@m, [{\"b\"}, {\"b\":(2)2}]>"),
            inConstraint("axes overlap: \"b\" and \"b\":(2)2"));
  EXPECT_EQ(constraint("<@m, [{\"b\":(1)4}, {}], replicated={\"b\":(2)2}>"),
            inConstraint("axes overlap: \"b\":(1)4 and \"b\":(2)2"));
  EXPECT_EQ(constraint("<@m, [{\"b\":(1)2, \"b\":(2)2}, {}]>"),
            inConstraint("sub-axes next to each other must be written as one: "
                         "\"b\":(1)2, \"b\":(2)2"));
  EXPECT_EQ(constraint("<@m, [{\"b\":(0)2}, {}]>"),
            inConstraint("pre-size of a sub-axis must be at least 1: "
                         "\"b\":(0)2"));
  EXPECT_EQ(constraint("<@m, [{\"b\":(2)1}, {}]>"),
            inConstraint("size of a sub-axis must be greater than 1: "
                         "\"b\":(2)1"));
  EXPECT_EQ(
      constraint("<@m, [{\"b\":(2)8}, {}]>"),
      inConstraint("sub-axis must divide its axis of size 8: \"b\":(2)8"));
  EXPECT_EQ(constraint("<@m, [{\"b\":(4611686018427387904)4}, {}]>"),
            inConstraint("sub-axis must divide its axis of size 8: "
                         "\"b\":(4611686018427387904)4"));
  EXPECT_EQ(constraint("<@m, [{\"b\":(1)8}, {}]>"),
            inConstraint("sub-axis is its whole axis of size 8: \"b\":(1)8"));
  EXPECT_EQ(constraint("<@m, [{}p1, {}]>"),
            inConstraint("a closed dimension without axes has no use for a "
                         "priority: dimension 0"));
  EXPECT_EQ(constraint("<@m, [{}, {}], replicated={\"b\", \"a\"}>"),
            inConstraint("replicated axes must be in the order of the mesh: "
                         "{\"b\", \"a\"}"));
  EXPECT_EQ(constraint("<@m, [{}, {}], unreduced={\"c\", \"a\"}>"),
            inConstraint("unreduced axes must be in the order of the mesh: "
                         "{\"c\", \"a\"}"));
  EXPECT_EQ(checkBody("%0 = sdy.reshard %k <@m, [{}]> : !t.token"),
            "'sdy.reshard' op sharding of what is no tensor must have no "
            "dimensions and no axes: #sdy.sharding<@m, [{}]> for "
            "'!t.token'\n");
  EXPECT_EQ(checkBody("%0 = \"t.op\"() {sdy.sharding = "
                      "#sdy.sharding_per_value<[<@m, [{}]>]>} : () -> "
                      "tensor<*xf32>"),
            "'t.op' op result 0: only a ranked tensor can have a sharding: "
            "'tensor<*xf32>'\n");
}

TEST_F(VerifyTest, ReductionsOfAnnotations) {
  auto reshard = [&](const std::string &before, const std::string &after) {
    return checkBody("%0 = sdy.reshard %t <@m, [{}, {}]" + before +
                     "> : tensor<8x8xf32>\n%1 = sdy.propagation_barrier %0 "
                     "allowed_direction=NONE : tensor<8x8xf32>\n"
                     "%2 = sdy.sharding_constraint %1 <@m, [{}, {}]" +
                     after + "> : tensor<8x8xf32>");
  };
  EXPECT_EQ(reshard(", unreduced=max{\"a\"}", ""), "fine");
  EXPECT_EQ(reshard("", ", unreduced={\"a\"}"), "fine");
  EXPECT_EQ(reshard(", unreduced=max{\"a\"}", ", unreduced={\"a\"}"),
            inConstraint("axis must keep its reduction: {\"a\"} from max to "
                         "sum"));
  EXPECT_EQ(reshard(", unreduced=max{\"a\"}", ", unreduced=max{\"a\"}"),
            "fine");
  EXPECT_EQ(reshard(", unreduced=max{\"a\"}", ", unreduced=max{\"a\", \"c\"}"),
            inConstraint("axis can become unreduced by sum only: {\"c\"} by "
                         "max"));
  EXPECT_EQ(reshard("", ", unreduced=max{\"a\"}"),
            inConstraint("axis can become unreduced by sum only: {\"a\"} by "
                         "max"));
}

TEST_F(VerifyTest, AttributesOfOpsAndFunctions) {
  auto op = [&](const std::string &attr) {
    return checkBody("%0:2 = \"t.op\"() {" + attr +
                     "} : () -> (tensor<8xf32>, tuple<tensor<8xf32>>)");
  };
  EXPECT_EQ(op("sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"a\"}]>, <@m, "
               "[{\"b\"}]>]>"),
            "fine");
  EXPECT_EQ(op("sdy.sharding = 1 : i32"),
            "'t.op' op 'sdy.sharding' must be #sdy.sharding_per_value: 1 : "
            "i32\n");
  EXPECT_EQ(op("sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"a\"}]>]>"),
            "'t.op' op there must be a sharding for each result: 1 for 2\n");
  EXPECT_EQ(op("sdy.sharding = #sdy.sharding_per_value<[<@m, [{}]>, <@m, "
               "[{\"x\"}]>]>"),
            "'t.op' op result 1: mesh has no axis \"x\"\n");
  EXPECT_EQ(op("sdy.sharding_rule = 1 : i32"),
            "'t.op' op 'sdy.sharding_rule' must be #sdy.op_sharding_rule: 1 : "
            "i32\n");
  EXPECT_EQ(op("sdy.propagation_edges = 1 : i32"),
            "'t.op' op 'sdy.propagation_edges' must be "
            "#sdy.propagation_edges: 1 : i32\n");
  EXPECT_EQ(op("sdy.result_propagation_edges = [1 : i32]"),
            "'t.op' op 'sdy.result_propagation_edges' must be an array of "
            "#sdy.propagation_edges: [1 : i32]\n");
  EXPECT_EQ(op("sdy.block_arg_propagation_edges = 1 : i32"),
            "'t.op' op 'sdy.block_arg_propagation_edges' must be an array of "
            "#sdy.propagation_edges: 1 : i32\n");
  EXPECT_EQ(checkBody("\"t.op\"() {sdy.sharding = #sdy.sharding_per_value<[<"
                      "@one, []>]>} : () -> ()"),
            "fine");
  EXPECT_EQ(checkBody("%0 = \"t.op\"() {sdy.sharding = "
                      "#sdy.sharding_per_value<[<@m, []>]>} : () -> "
                      "tuple<i1, i1>"),
            "'t.op' op result 0: only a tuple of one value can have a "
            "sharding: 'tuple<i1, i1>'\n");
  EXPECT_EQ(check(meshes + "func.func private @f(tensor<8xf32> {sdy.sharding = "
                           "#sdy.sharding<@m, [{\"x\"}]>})"),
            "'func.func' op argument 0: mesh has no axis \"x\"\n");
  EXPECT_EQ(check(meshes + "func.func private @f() -> (tensor<8xf32> "
                           "{sdy.sharding = 3 : i32})"),
            "'func.func' op result 0: 'sdy.sharding' must be #sdy.sharding: 3 "
            ": i32\n");
}

TEST_F(VerifyTest, Rules) {
  auto rule = [&](const std::string &text) {
    return checkBody("%0 = \"t.op\"(%t) {sdy.sharding_rule = "
                     "#sdy.op_sharding_rule<" +
                     text + ">} : (tensor<8x8xf32>) -> tensor<8xf32>");
  };
  EXPECT_EQ(rule("([i, j])->([i]) {i=8, j=8} reduction={j}"), "fine");
  EXPECT_EQ(rule("([i, j], [i])->([i]) {i=8, j=8}"),
            "'t.op' op sharding rule must have a mapping for each operand and "
            "at least one: 2 for 1\n");
  EXPECT_EQ(rule("([i])->([i]) {i=8}"),
            "'t.op' op operand 0: mapping must have the rank of the tensor: 1 "
            "and 2\n");
  EXPECT_EQ(rule("([i, k])->([i]) {i=8, j=8}"),
            "'t.op' op operand 0: factor has no size: k\n");
  EXPECT_EQ(rule("([i, i])->([i]) {i=8}"),
            "'t.op' op operand 0: factor is used twice: i\n");
  EXPECT_EQ(rule("([ij, k])->([i]) {i=8, j=1, k=8}"),
            "'t.op' op operand 0: factor of size 1 must stand alone: j\n");
  EXPECT_EQ(rule("([i, j])->([i]) {i=8, j=8, k=2}"),
            "'t.op' op factor is used by no dimension: k=2\n");
  EXPECT_EQ(rule("([i, j])->([i]) {i=8, j=8} permutation={j, i}"),
            "'t.op' op permutation factors must rise: i after j\n");
  EXPECT_EQ(rule("([i, j])->([i]) {i=8, j=8} reduction={k}"),
            "'t.op' op reduction factor has no size: k\n");
  EXPECT_EQ(rule("([i, j])->([i]) {i=8, j=8} reduction={j} permutation={j}"),
            "'t.op' op factor can be only one of reduction, need_replication "
            "and permutation: j\n");
  EXPECT_EQ(rule("([i, j])->([i]) {i=8, j=8} reduction={i}"),
            "'t.op' op reduction factor must not be in a result: i\n");
  EXPECT_EQ(checkBody("%0 = \"t.op\"(%k) {sdy.sharding_rule = "
                      "#sdy.op_sharding_rule<([i])->([i]) {i=8}>} : "
                      "(!t.token) -> tensor<8xf32>"),
            "'t.op' op operand 0: sharding rule needs a tensor of static "
            "shape: '!t.token'\n");
}

TEST_F(VerifyTest, Traces) {
  auto edges = [&](const std::string &text, const std::string &mesh = "@m") {
    return checkBody("%0 = \"t.op\"(%t) {sdy.sharding = "
                     "#sdy.sharding_per_value<[<" +
                     mesh +
                     ", [{}]>]>, sdy.propagation_edges = "
                     "#sdy.propagation_edges<[{step-0 = [" +
                     text + "]}]>} : (tensor<8x8xf32>) -> tensor<8xf32>");
  };
  EXPECT_EQ(edges("{\"a\" = operand-0 -> [result-0]}"), "fine");
  EXPECT_EQ(edges("{\"a\" = operand-1 -> [result-0]}"),
            "'t.op' op propagation edges name an operand that the op lacks: 1 "
            "of 1\n");
  EXPECT_EQ(edges("{\"a\" = operand-0 -> [result-7]}"),
            "'t.op' op propagation edges name a result that the op lacks: 7 of "
            "1\n");
  EXPECT_EQ(edges("{\"x\" = operand-0 -> [result-0]}"),
            "'t.op' op mesh has no axis \"x\"\n");
  EXPECT_EQ(checkBody("%0 = sdy.reshard %t <@m, [{}, {}]> : tensor<8x8xf32>\n"
                      "%1 = \"t.op\"(%0) {sdy.sharding = "
                      "#sdy.sharding_per_value<[<@other, [{}]>]>, "
                      "sdy.propagation_edges = "
                      "#sdy.propagation_edges<[{step-0 = [{\"a\" = operand-0 "
                      "-> [result-0]}]}]>} : (tensor<8x8xf32>) -> "
                      "tensor<8xf32>"),
            "'t.op' op propagation edges must stay in one mesh: "
            "#sdy.mesh<[\"a\"=2, \"b\"=8, \"c\"=2]> and others\n");
  EXPECT_EQ(checkBody("%0 = \"t.op\"(%t) {sdy.propagation_edges = "
                      "#sdy.propagation_edges<[{step-0 = [{\"a\" = operand-0 "
                      "-> [result-0]}]}]>} : (tensor<8x8xf32>) -> "
                      "tensor<8xf32>"),
            "'t.op' op propagation edges must name a value with a sharding: "
            "#sdy.propagation_edges<[{step-0 = [{\"a\" = operand-0 -> "
            "[result-0]}]}]>\n");
}

TEST_F(VerifyTest, ManualComputations) {
  auto manual = [&](const std::string &in, const std::string &out,
                    const std::string &axes, const std::string &local,
                    const std::string &body = "") {
    return checkBody("%0 = sdy.manual_computation(%t) in_shardings=[" + in +
                     "] out_shardings=[" + out + "] manual_axes={" + axes +
                     "} (%x: " + local + ") {\n" + body + "sdy.return %x : " +
                     local + "\n} : (tensor<8x8xf32>) -> tensor<8x8xf32>");
  };
  std::string op = "'sdy.manual_computation' op ";
  std::string split = "<@m, [{\"a\"}, {}]>";
  EXPECT_EQ(manual(split, split, "\"a\"", "tensor<4x8xf32>"), "fine");
  EXPECT_EQ(manual(split, split, "\"b\"", "tensor<8x8xf32>"), "fine");
  EXPECT_EQ(manual(split, split, "\"a\"", "tensor<8x8xf32>"),
            op + "operand 0: type inside must be 'tensor<4x8xf32>': "
                 "'tensor<8x8xf32>'\n");
  EXPECT_EQ(manual(split, "<@m, [{}, {}]>", "\"a\"", "tensor<4x8xf32>"),
            op + "result 0: type inside must be 'tensor<8x8xf32>': "
                 "'tensor<4x8xf32>'\n");
  EXPECT_EQ(manual(split + ", " + split, split, "\"a\"", "tensor<4x8xf32>"),
            op + "there must be a sharding for each operand: 2 for 1\n");
  EXPECT_EQ(
      manual("<@m, [{\"b\", \"a\"}, {}]>", split, "\"a\"", "tensor<4x8xf32>"),
      op + "operand 0: manual axes must come before the others in "
           "dimension 0: \"a\" after \"b\"\n");
  EXPECT_EQ(manual("<@m, [{\"a\", \"b\"}, {}]>", split, "\"a\", \"b\"",
                   "tensor<4x8xf32>"),
            op + "operand 0: dimension 0 must be divisible by its manual axes: "
                 "8 by 16\n");
  EXPECT_EQ(manual(split, split, "\"a\", \"a\"", "tensor<4x8xf32>"),
            op + "manual axis is named twice: \"a\"\n");
  EXPECT_EQ(manual(split, split, "\"a\", \"x\"", "tensor<4x8xf32>"),
            op + "mesh has no axis \"x\"\n");
  EXPECT_EQ(
      manual(split, "<@other, [{\"a\"}, {}]>", "\"a\"", "tensor<4x8xf32>"),
      op + "shardings must be of one mesh: #sdy.mesh<[\"a\"=2, \"b\"=8, "
           "\"c\"=2]> and #sdy.mesh<[\"a\"=2, \"d\"=2]>\n");
  EXPECT_EQ(manual(split, split, "\"a\"", "tensor<4x8xf32>",
                   "%1 = sdy.reshard %x <@m, [{}, {\"a\"}]> : "
                   "tensor<4x8xf32>\n"),
            "'sdy.reshard' op axis belongs to the manual computation around "
            "it: \"a\"\n");
  EXPECT_EQ(manual(split, split, "\"a\"", "tensor<4x8xf32>",
                   "sdy.manual_computation() in_shardings=[] out_shardings=[] "
                   "manual_axes={\"a\"} () { sdy.return } : () -> ()\n"),
            op + "manual axis belongs to the manual computation around it: "
                 "\"a\"\n");
  EXPECT_EQ(checkBody("%0 = sdy.manual_computation(%t) in_shardings=[<@m, "
                      "[{}, {}]>] out_shardings=[<@m, [{}, {}]>] "
                      "manual_axes={} () { %1 = \"t.op\"() : () -> "
                      "tensor<8x8xf32>\nsdy.return %1 : tensor<8x8xf32> } : "
                      "(tensor<8x8xf32>) -> tensor<8x8xf32>"),
            op + "body must have as many operands as the op: 0 and 1\n");
}

TEST_F(VerifyTest, OtherOps) {
  EXPECT_EQ(checkBody("%0 = sdy.propagation_barrier %t "
                      "allowed_direction=BOTH : tensor<8x8xf32>"),
            "'sdy.propagation_barrier' op direction must not be BOTH, which "
            "blocks nothing\n");
  EXPECT_EQ(checkBody("%0 = sdy.constant() {value = dense<0> : tensor<2xi8>} "
                      ": () -> tensor<3xi8>"),
            "'sdy.constant' op result must have the type of the value: "
            "'tensor<3xi8>' and 'tensor<2xi8>'\n");
  EXPECT_EQ(checkBody("%0 = sdy.named_computation<\"n\">(%t) (%x: "
                      "tensor<4xf32>) { sdy.return %x : tensor<4xf32> } : "
                      "(tensor<8x8xf32>) -> tensor<4xf32>"),
            "'sdy.named_computation' op arguments of the body must have the "
            "types of the operands: 'tensor<4xf32>' and 'tensor<8x8xf32>'\n");
  EXPECT_EQ(checkBody("%0 = sdy.named_computation<\"n\">(%t) (%x: "
                      "tensor<8x8xf32>) { sdy.return %x : tensor<8x8xf32> } : "
                      "(tensor<8x8xf32>) -> tensor<4xf32>"),
            "'sdy.named_computation' op body must return the types of the "
            "results: 'tensor<8x8xf32>' and 'tensor<4xf32>'\n");
  EXPECT_EQ(checkBody("%0 = \"t.op\"() : () -> tensor<?xf32>\n%1 = "
                      "sdy.data_flow_edge %0 : tensor<?xf32>"),
            "'sdy.data_flow_edge' op shape must be static: 'tensor<?xf32>'\n");
  EXPECT_EQ(checkBody("%0 = sdy.data_flow_edge %t : tensor<8x8xf32>\n"
                      "\"t.op\"(%t) : (tensor<8x8xf32>) -> ()"),
            "'sdy.data_flow_edge' op input must have no other use\n");
  EXPECT_EQ(checkBody("%0 = sdy.reshard %t <@m, [{}, {}]> : tensor<8x8xf32>\n"
                      "%1 = sdy.data_flow_edge %0 : tensor<8x8xf32>"),
            "'sdy.data_flow_edge' op input must not come from an annotation: "
            "sdy.reshard\n");
  EXPECT_EQ(checkBody("%0 = sdy.func_data_flow_edge %t : tensor<8x8xf32>"),
            "fine");
  EXPECT_EQ(checkBody("%0 = \"t.op\"() : () -> tensor<8xf32>\n%1 = "
                      "sdy.func_data_flow_edge %0 : tensor<8xf32>"),
            "'sdy.func_data_flow_edge' op operand must be a result of a call: "
            "t.op\n");
  EXPECT_EQ(checkBody("%0 = sdy.func_data_flow_edge %t : tensor<8x8xf32>\n"
                      "\"t.op\"(%t) : (tensor<8x8xf32>) -> ()"),
            "'sdy.func_data_flow_edge' op operand must have no other use\n");
  EXPECT_EQ(checkBody("%0 = \"t.op\"() : () -> tensor<?xf32>\n%1 = "
                      "sdy.func_data_flow_edge %0 : tensor<?xf32>"),
            "'sdy.func_data_flow_edge' op shape must be static: "
            "'tensor<?xf32>'\n");
  EXPECT_EQ(checkBody("\"t.op\"() ({ ^bb0(%x: tensor<2xf32>): %0 = "
                      "sdy.func_data_flow_edge %x : tensor<2xf32> }) : () -> "
                      "()"),
            "'sdy.func_data_flow_edge' op operand must be an argument of a "
            "function\n");
}
