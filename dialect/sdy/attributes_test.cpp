#include "dialect/sdy/test_module.h"

#include "mlir/AsmParser/AsmParser.h"

using namespace mlir;
using namespace mlir::sdy;

namespace {

class AttributesTest : public TestModule {
protected:
  /// The text after a round trip, or the errors.
  std::string roundTrip(StringRef text) {
    errors.clear();
    Attribute attr = parseAttribute(text, &context);
    if (!attr)
      return errors;
    std::string printed;
    llvm::raw_string_ostream(printed) << attr;
    return printed;
  }
};

} // namespace

TEST_F(AttributesTest, ComeBackAsWritten) {
  for (StringRef text :
       {"#sdy.mesh<[]>", "#sdy.mesh<[], device_ids=[3]>",
        "#sdy.mesh<[\"a\"=2, \"b\"=2], device_ids=[0, 2, 1, 3]>",
        "#sdy.sharding<@m, []>",
        "#sdy.sharding<mesh<[\"a\"=2]>, [{\"a\", ?}p1, {?}, {}]>",
        "#sdy.sharding<@m, [{\"a\":(1)2, \"b\"}], replicated={\"c\"}, "
        "unreduced={\"d\"}>",
        "#sdy.sharding<@m, [], unreduced=max{\"b\"}>",
        "#sdy.sharding_per_value<[<@m, [{\"a\"}]>, <@m, [{?}]>]>",
        "#sdy.sharding_per_value<[]>", "#sdy<manual_axes{\"a\", \"b\"}>",
        "#sdy<manual_axes{}>", "#sdy<axis_ref_list{\"a\", \"b\":(2)4}>",
        "#sdy<list_of_axis_ref_lists[{\"a\"}, {}]>",
        "#sdy<all_to_all_param_list[{\"b\"}: 0->2, {\"c\"}: 1->3]>",
        "#sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=8, j=16, k=8} "
        "reduction={k}>",
        "#sdy.op_sharding_rule<([], [])->([])>",
        "#sdy.op_sharding_rule<([ij])->([i, j]) {i=2, j=3} "
        "need_replication={i} permutation={j} blocked_propagation={i, j}, "
        "custom>",
        "#sdy.propagation_edges<[{step-2 = [{\"y\" = operand-1 -> "
        "[operand-0, result-0]}]}, {step-0 = [{\"x\" = result-0 -> "
        "[operand-0]}]}]>"})
    EXPECT_EQ(roundTrip(text), text);
}

TEST_F(AttributesTest, WrittenInOneWay) {
  EXPECT_EQ(roundTrip("#sdy.mesh<[\"a\"=2], device_ids=[0, 1]>"),
            "#sdy.mesh<[\"a\"=2]>");
  EXPECT_EQ(roundTrip("#sdy.sharding<@m, [], unreduced=sum{\"b\"}, "
                      "replicated={\"a\"}>"),
            "#sdy.sharding<@m, [], replicated={\"a\"}, unreduced={\"b\"}>");
}

TEST_F(AttributesTest, FactorsAfterZ) {
  EXPECT_EQ(getFactorName(0), "i");
  EXPECT_EQ(getFactorName(17), "z");
  EXPECT_EQ(getFactorName(18), "z_1");
  std::string sizes;
  for (int i = 0; i < 20; ++i)
    sizes += (i ? ", " : "") + getFactorName(i) + "=2";
  std::string text =
      "#sdy.op_sharding_rule<([zz_1])->([z_2i]) {" + sizes + "}>";
  EXPECT_EQ(roundTrip(text), text);
}

TEST_F(AttributesTest, ErrorsOfMeshes) {
  EXPECT_EQ(roundTrip("#sdy.mesh<[\"a\"=0]>"),
            "mesh axis \"a\": size must be at least 1: 0\n"
            "failed to parse Sdy_Mesh parameter 'axes' which is to be a "
            "`::llvm::ArrayRef<MeshAxisAttr>`\n");
  auto mesh = [&](StringRef text) {
    return roundTrip(("#sdy.mesh<" + text + ">").str());
  };
  EXPECT_EQ(mesh("[\"a\"=2, \"a\"=2]"), "mesh: axis name used twice: \"a\"\n");
  EXPECT_EQ(mesh("[], device_ids=[-1]"),
            "mesh: device id must not be negative: -1\n");
  EXPECT_EQ(mesh("[], device_ids=[0, 1]"),
            "mesh: without axes there is at most one device: 2\n");
  EXPECT_EQ(mesh("[\"a\"=2], device_ids=[1, 0, 2]"),
            "mesh: device ids must be as many as the devices: 3 ids for 2 "
            "devices\n");
  EXPECT_EQ(mesh("[\"a\"=3], device_ids=[1, 1, 0]"),
            "mesh: device ids must be 0 to 2, each once: 1 appears twice\n");
  EXPECT_EQ(mesh("[\"a\"=2], device_ids=[2, 1]"),
            "mesh: device ids must be 0 to 1, each once: 0 is missing\n");
  EXPECT_EQ(mesh("[\"a\"=4294967296, \"b\"=4294967296]"),
            "mesh: more than 2^62 devices\n");
  std::string many = "[\"a0\"=1";
  for (int i = 1; i < 1025; ++i)
    many += ", \"a" + std::to_string(i) + "\"=1";
  EXPECT_EQ(mesh(many + "]"), "mesh: more than 1024 axes: 1025\n");
}

TEST_F(AttributesTest, ErrorsOfText) {
  auto sharding = [&](StringRef text) {
    std::string result = roundTrip(("#sdy.sharding<@m, " + text + ">").str());
    return result.substr(0, result.find('\n'));
  };
  EXPECT_EQ(sharding("[{\"a\"}p01]"),
            "priority must be written p0, p1, ...: p01");
  EXPECT_EQ(sharding("[{\"a\"}q1]"),
            "priority must be written p0, p1, ...: q1");
  EXPECT_EQ(sharding("[{?, \"a\"}]"), "expected '}'");
  EXPECT_EQ(sharding("[], shared={\"a\"}"),
            "expected one replicated={...} or unreduced={...}: shared");
  EXPECT_EQ(sharding("[], replicated={\"a\"}, replicated={\"b\"}"),
            "expected one replicated={...} or unreduced={...}: replicated");
  EXPECT_EQ(sharding("[], unreduced=mean{\"a\"}"),
            "reduction must be sum, max or min: mean");
  auto rule = [&](StringRef text) {
    std::string result =
        roundTrip(("#sdy.op_sharding_rule<" + text + ">").str());
    return result.substr(0, result.find('\n'));
  };
  EXPECT_EQ(rule("([a])->([i])"), "factor must be i to z, z_1, z_2, ...: a");
  EXPECT_EQ(rule("([z_0])->([i])"),
            "factor must be i to z, z_1, z_2, ...: z_0");
  EXPECT_EQ(rule("([i])->([i]) {j=2}"),
            "factors must come in order: j where i is due");
  EXPECT_EQ(rule("([i])->([i]) {i=2} reduction={ij}"),
            "expected a single factor, then: j");
  EXPECT_EQ(roundTrip("#sdy.propagation_edges<[{step-0 = [{\"a\" = input-0 -> "
                      "[result-0]}]}]>")
                .substr(0, 37),
            "expected operand or result: input\nfai");
}

TEST_F(AttributesTest, ErrorsOfTraces) {
  auto edges = [&](StringRef text) {
    return roundTrip(("#sdy.propagation_edges<[" + text + "]>").str());
  };
  EXPECT_EQ(edges("{step-1 = [{\"a\" = operand-0 -> [result-0]}]}, {step-1 = "
                  "[{\"a\" = operand-0 -> [result-0]}]}"),
            "propagation edges: step appears twice: 1\n");
  EXPECT_EQ(edges("{step 2 = [{\"a\" = operand-0 -> [result-0]}]}")
                .substr(0, 25),
            "expected '-' and a number");
  auto noStep = PropagationOneStepAttr::get(&context, -1, {});
  errors.clear();
  EXPECT_FALSE(PropagationEdgesAttr::getChecked(
      [&] { return emitError(UnknownLoc::get(&context)); }, &context,
      {noStep}));
  EXPECT_EQ(errors, "propagation edges: step must not be negative: -1\n");
  EXPECT_EQ(edges("{step-1 = [{\"a\" = operand-0 -> [operand-0]}]}"),
            "propagation edges: source is a target in step 1 for axis \"a\"\n");
  EXPECT_EQ(edges("{step-1 = [{\"a\" = operand-0 -> [result-0, result-0]}]}"),
            "propagation edges: target appears twice in step 1 for axis "
            "\"a\"\n");
}
