// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random directive lists, most of them wrong: each compiles to a plan or is one
// error, and none crashes.

#include "Piper/Dialect/PiperDialect.h"
#include "Piper/Models/TestModels.h"
#include "Piper/Transforms/Pipelines.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"

#include <random>

using namespace mlir;
using namespace mlir::piper;

namespace {

/// Directives of random keys and values. Most lists have a sound core, so that
/// many come far.
class RandomDirectives {
public:
  RandomDirectives(MLIRContext *context, unsigned seed)
      : builder(context), random(seed) {}

  ArrayAttr list() {
    SmallVector<Attribute> list;
    if (chance(2)) {
      int64_t stages = 1 + random() % 3;
      for (int64_t segment = 0; segment < 6; ++segment) {
        int64_t stage = segment * stages / 6;
        list.push_back(directive(
            "place", {{"filter", dictionary({{"SEGMENT", number(segment)}})},
                      {"devices", builder.getArrayAttr(number(stage))},
                      {"stage", number(stage)}}));
      }
    }
    if (chance(2))
      list.push_back(directive(
          "split", {{"num_microbatches", number(1 << random() % 4)}}));
    if (chance(2))
      list.push_back(directive("schedule", {{"kind", kind()}}));
    for (int i = random() % 3; i > 0; --i)
      list.push_back(anything());
    if (chance(8))
      std::shuffle(list.begin(), list.end(), random);
    if (!list.empty() && chance(8))
      list.erase(list.begin() + random() % list.size());
    return builder.getArrayAttr(list);
  }

private:
  using Entries = SmallVector<std::pair<StringRef, Attribute>>;

  bool chance(int n) { return random() % n == 0; }
  Attribute number(int64_t value) { return builder.getI64IntegerAttr(value); }
  Attribute string(StringRef text) { return builder.getStringAttr(text); }
  Attribute oneOf(ArrayRef<StringRef> texts) {
    return string(texts[random() % texts.size()]);
  }
  Attribute kind() {
    return oneOf({"gpipe", "1f1b", "zb_h1", "interleaved_1f1b", "dualpipe",
                  "zbv", "search", "none"});
  }
  Attribute dictionary(const Entries &entries) {
    NamedAttrList list;
    for (auto [key, value] : entries)
      list.set(key, value);
    return list.getDictionary(builder.getContext());
  }
  Attribute directive(StringRef op, Entries entries) {
    entries.emplace_back("op", string(op));
    return dictionary(entries);
  }

  Attribute value() {
    switch (random() % 9) {
    case 0:
      return number(int64_t(random()) - 3);
    case 1:
      return number(INT64_MIN);
    case 2:
      return oneOf({"*", "3", "-1", "", "F", "BW", "block", "1f1b"});
    case 3:
      return builder.getArrayAttr({number(random() % 3)});
    case 4:
      return builder.getArrayAttr({});
    case 5:
      return filter();
    case 6:
      return builder.getF64FloatAttr(0.5);
    case 7:
      return builder.getUnitAttr();
    default:
      return number(random() % 4);
    }
  }
  Attribute filter() {
    Entries entries;
    for (int i = random() % 3; i > 0; --i) {
      StringRef tags[] = {"layer", "name", "PASS", "SEGMENT", "STAGE", "MB"};
      StringRef tag = tags[random() % 6];
      Attribute some = tag == "PASS"   ? oneOf({"F", "B", "BI", "BW", "*"})
                       : tag == "name" ? oneOf({"embed", "block", "head", "*"})
                       : chance(5)     ? string("*")
                                       : number(random() % 6);
      entries.emplace_back(tag, chance(20) ? value() : some);
    }
    return dictionary(entries);
  }
  Attribute group() {
    SmallVector<Attribute> filters;
    for (int i = 1 + random() % 2; i > 0; --i)
      filters.push_back(filter());
    return builder.getArrayAttr(filters);
  }

  Attribute anything() {
    Entries entries;
    StringRef ops[] = {"place",     "split",   "order",     "schedule",
                       "recompute", "options", "replicate", "nothing"};
    StringRef op = ops[random() % 8];
    if (op == "order") {
      SmallVector<Attribute> groups;
      for (int i = 2 + random() % 3; i > 0; --i)
        groups.push_back(group());
      entries.emplace_back("filters", builder.getArrayAttr(groups));
    } else if (op == "options") {
      entries.emplace_back(
          std::array<StringRef, 3>{"prefetch", "buffering",
                                   "memory_limit"}[random() % 3],
          chance(3) ? value() : number(random() % 3));
    } else if (op != "split" || chance(9)) {
      entries.emplace_back("filter", filter());
    }
    if (op == "place")
      entries.emplace_back("devices",
                           builder.getArrayAttr({number(random() % 3)}));
    if (chance(4)) {
      StringRef keys[] = {"filter", "devices",         "kind", "file", "stage",
                          "limit",  "num_microbatches"};
      entries.emplace_back(keys[random() % 7], value());
    }
    return directive(op, entries);
  }

  Builder builder;
  std::mt19937 random;
};

} // namespace

TEST(DirectiveFuzz, EveryListIsAPlanOrOneError) {
  DialectRegistry registry;
  registry.insert<PiperDialect, func::FuncDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  auto model = buildLM(&context, {}, {});
  ASSERT_TRUE(bool(model));
  std::string text;
  int errors = 0;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
      return;
    ++errors;
    text += diagnostic.str() + "\n";
  });
  CompileOptions options;
  ASSERT_EQ(options.parse("threads=1"), "");
  PassManager passes(&context);
  buildCompilePipeline(passes, options);
  int compiled = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    OwningOpRef<ModuleOp> module = (*model)->clone();
    ArrayAttr list = RandomDirectives(&context, seed).list();
    (*module)->setAttr(PiperDialect::DirectivesAttrHelper::getNameStr(), list);
    errors = 0;
    text.clear();
    bool succeeds = succeeded(passes.run(*module));
    compiled += succeeds;
    std::string shown;
    llvm::raw_string_ostream(shown) << list;
    EXPECT_EQ(errors, succeeds ? 0 : 1) << "seed " << seed << "\n"
                                        << text << shown;
  }
  // Both happen, and not just now and then.
  EXPECT_GT(compiled, 50);
  EXPECT_LT(compiled, 950);
}
