// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The file form: exact text, round trips of every kind, the three shapes of a
// file, and every message.

#include "TestSchedules.h"

#include "Piper/Schedule/JSON.h"

using namespace piper::schedule;

TEST(JSON, ExactText) {
  EXPECT_EQ(toJSON(make("1f1b", 2, 1, 1)),
            R"({"kind":"1f1b","P":2,"V":1,"M":1,"stage_rank":[0,1],)"
            R"("chains":[[0,1]],"cap":null,)"
            R"("ranks":[[["F",0,0],["B",0,0]],[["F",1,0],["B",1,0]]]})");
  Schedule s = make("zb_h1", 1, 1, 1);
  s.cap = {3};
  EXPECT_EQ(toJSON(s), R"({"kind":"zb_h1","P":1,"V":1,"M":1,"stage_rank":[0],)"
                       R"("chains":[[0]],"cap":3,)"
                       R"("ranks":[[["F",0,0],["BI",0,0],["BW",0,0]]]})");
  std::string dual = toJSON(make("dualpipe", 2, 2, 4));
  EXPECT_NE(dual.find(R"("chains":[[0,1],[2,3]],"mb_chain":[0,0,1,1])"),
            std::string::npos);
  EXPECT_NE(dual.find(R"(["FB",3,3,0,0])"), std::string::npos);
}

TEST(JSON, RoundTripOfEveryKind) {
  for (const KindInfo &kind : kinds()) {
    Schedule s = make(kind.name, 4, kind.chunks ? kind.chunks : 3, 8);
    s.cap = {100, 101, 102, 103};
    auto back = fromJSON(toJSON(s));
    ASSERT_TRUE(back) << back.error();
    ASSERT_EQ(back->size(), 1u);
    const Schedule &t = back->front();
    EXPECT_EQ(t.kind, s.kind);
    EXPECT_EQ(t.P, s.P);
    EXPECT_EQ(t.V, s.V);
    EXPECT_EQ(t.M, s.M);
    EXPECT_EQ(t.stageRank, s.stageRank);
    EXPECT_EQ(t.chains, s.chains);
    EXPECT_EQ(t.mbChain, s.mbChain);
    EXPECT_EQ(t.cap, s.cap);
    EXPECT_EQ(t.ranks, s.ranks);
  }
}

static const char *const small =
    R"({"kind":"mine","note":7,"P":1,"V":1,"M":1,"stage_rank":[0],)"
    R"("cap":2,"ranks":[[["F",0,0],["B",0,0]]]})";

TEST(JSON, ShapesOfAFile) {
  std::string one = small;
  for (std::string text : {one, "[" + one + "," + one + "]",
                           "{\"entries\": [" + one + "], \"about\": 1}"}) {
    auto read = fromJSON(text);
    ASSERT_TRUE(read) << read.error();
    EXPECT_EQ(read->size(), text[0] == '[' ? 2u : 1u);
    EXPECT_EQ(read->front().kind, "mine");
    EXPECT_EQ(read->front().chains, (std::vector<std::vector<int>>{{0}}));
    EXPECT_EQ(read->front().cap, std::vector<int>{2});
    EXPECT_TRUE(verify(read->front()).empty());
  }
  EXPECT_TRUE(fromJSON("[]")->empty());
}

/// `small` with one piece of text replaced.
static std::string changed(const std::string &from, const std::string &to) {
  std::string text = small;
  text.replace(text.find(from), from.size(), to);
  auto read = fromJSON(text);
  return read ? "no error" : read.error();
}

TEST(JSON, Refusals) {
  EXPECT_EQ(fromJSON("{").error().substr(0, 9), "not JSON:");
  EXPECT_EQ(fromJSON("").error().substr(0, 9), "not JSON:");
  EXPECT_EQ(fromJSON("7").error(), "expects an object, a list of objects, or "
                                   "{\"entries\": []}");
  EXPECT_EQ(fromJSON("[7]").error(), "entry 0: expects an object");
  EXPECT_EQ(fromJSON("{\"entries\": 7}").error(), "'entries' expects a list");
  EXPECT_EQ(changed("\"P\":1,", ""), "entry 0: key 'P' is missing");
  EXPECT_EQ(changed("\"M\":1", "\"M\":1.5"),
            "entry 0: 'M' expects an integer but got 1.5");
  EXPECT_EQ(changed("\"M\":1", "\"M\":99999999999"),
            "entry 0: 'M' expects at most 1000000000 but got 99999999999");
  EXPECT_EQ(changed("\"stage_rank\":[0],", ""),
            "entry 0: key 'stage_rank' is missing");
  EXPECT_EQ(changed("\"stage_rank\":[0]", "\"stage_rank\":0"),
            "entry 0: 'stage_rank' expects a list of integers but got 0");
  EXPECT_EQ(changed("\"cap\":2", "\"cap\":\"2\""),
            "entry 0: 'cap' expects an integer but got \"2\"");
  EXPECT_EQ(changed("\"cap\":2", "\"chains\":3"),
            "entry 0: 'chains' expects a list of lists but got 3");
  EXPECT_EQ(changed("\"cap\":2", "\"chains\":[3]"),
            "entry 0: 'chains' expects a list of integers but got 3");
  EXPECT_EQ(changed("\"cap\":2", "\"mb_chain\":3"),
            "entry 0: 'mb_chain' expects a list of integers but got 3");
  EXPECT_EQ(changed("\"ranks\"", "\"lists\""),
            "entry 0: key 'ranks' is missing");
  EXPECT_EQ(changed("\"ranks\":", "\"ranks\":5,\"lists\":"),
            "entry 0: 'ranks' expects a list of action lists but got 5");
  EXPECT_EQ(changed("[[[", "[7,[["),
            "entry 0: 'ranks[0]' expects a list of actions");
  const std::string expects =
      "entry 0: 'ranks[0]' expects [\"F\"|\"B\"|\"BI\"|\"BW\", stage, mb] or "
      "[\"FB\", stage, mb, stage, mb] but got ";
  EXPECT_EQ(changed("[\"F\",0,0]", "[\"G\",0,0]"), expects + "[\"G\",0,0]");
  EXPECT_EQ(changed("[\"F\",0,0]", "[\"FB\",0,0]"), expects + "[\"FB\",0,0]");
  EXPECT_EQ(changed("[\"F\",0,0]", "[]"), expects + "[]");
  EXPECT_EQ(changed("[\"F\",0,0]", "[[0],0,0]"), expects + "array");
  EXPECT_EQ(changed("[\"F\",0,0]", "[\"F\",0,\"0\"]"),
            "entry 0: 'ranks[0]' expects an integer but got \"0\"");
}

// Only `cap` may be null, which is no limit.
TEST(JSON, NullIsNotAbsent) {
  EXPECT_EQ(changed("\"cap\":2", "\"cap\":null"), "no error");
  EXPECT_EQ(changed("\"mine\"", "null"),
            "entry 0: 'kind' expects a string but got null");
  EXPECT_EQ(changed("\"mine\"", "5"),
            "entry 0: 'kind' expects a string but got 5");
  EXPECT_EQ(changed("\"cap\":2", "\"chains\":null"),
            "entry 0: 'chains' expects a list of lists but got null");
  EXPECT_EQ(changed("\"cap\":2", "\"mb_chain\":null"),
            "entry 0: 'mb_chain' expects a list of integers but got null");
  EXPECT_EQ(changed("\"P\":1", "\"P\":null"),
            "entry 0: 'P' expects an integer but got null");
  EXPECT_EQ(changed("\"stage_rank\":[0]", "\"stage_rank\":null"),
            "entry 0: 'stage_rank' expects a list of integers but got null");
}

TEST(JSON, ByteOrderMark) {
  EXPECT_EQ(fromJSON(std::string("\xEF\xBB\xBF") + small).error(),
            "the file begins with a byte-order mark, which is not JSON: write "
            "it without");
}

// Deeper than any stack, where a value, an entry or the whole file stands.
TEST(JSON, DeepNesting) {
  std::string deep = std::string(300000, '[') + std::string(300000, ']');
  EXPECT_EQ(changed("\"M\":1", "\"M\":" + deep),
            "entry 0: 'M' expects an integer but got array");
  EXPECT_EQ(changed("[\"F\",0,0]", deep).substr(0, 28),
            "entry 0: 'ranks[0]' expects ");
  EXPECT_EQ(fromJSON(deep).error(), "entry 0: expects an object");
  EXPECT_EQ(fromJSON("{\"entries\":" + deep + "}").error(),
            "entry 0: expects an object");
}
