// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes, names and attributes of a Program, and the printed form of a Status.

#include "Piper/Runtime/Program.h"
#include "Piper/Runtime/Status.h"

#include "gtest/gtest.h"

#include <limits>

using namespace piper::rt;

TEST(Program, ElementTypes) {
  EXPECT_EQ(elementBytes(ElementType::F32), 4);
  EXPECT_EQ(elementBytes(ElementType::F64), 8);
  EXPECT_EQ(elementBytes(ElementType::BF16), 2);
  EXPECT_EQ(elementBytes(ElementType::I1), 1);
  EXPECT_EQ(elementBytes(ElementType::I32), 4);
  EXPECT_EQ(elementBytes(ElementType::I64), 8);
  EXPECT_EQ((TensorType{ElementType::BF16, {2, 3}}).str(), "tensor<2x3xbf16>");
  EXPECT_EQ((TensorType{ElementType::I64, {}}).str(), "tensor<i64>");
}

TEST(Program, SizesSaturate) {
  EXPECT_EQ((TensorType{ElementType::F32, {2, 3, 4}}).numBytes(), 96);
  EXPECT_EQ((TensorType{ElementType::F64, {}}).numBytes(), 8);
  EXPECT_EQ((TensorType{ElementType::F32, {4, 0}}).numBytes(), 0);
  EXPECT_EQ((TensorType{ElementType::F32, {4, -1}}).numElements(), 0);
  int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_EQ((TensorType{ElementType::F32, {most, most}}).numElements(), most);
  EXPECT_EQ((TensorType{ElementType::F32, {most / 2}}).numBytes(), most);
}

TEST(Program, AttributesHaveKinds) {
  Attributes attributes;
  attributes.set("dims", std::vector<int64_t>{0, 2});
  attributes.set("keep_dims", int64_t(1));
  attributes.set("eps", 0.5);
  attributes.set("schedule", std::string("cosine"));
  EXPECT_EQ(attributes.getInts("dims"), (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(attributes.getInt("keep_dims"), 1);
  EXPECT_EQ(attributes.getFloat("eps"), 0.5);
  EXPECT_EQ(attributes.getString("schedule"), "cosine");
  EXPECT_EQ(attributes.getInt("absent", 7), 7);
  // Another kind reads as absent.
  EXPECT_EQ(attributes.getInt("eps", 3), 3);
  EXPECT_EQ(attributes.find("absent"), nullptr);
}

TEST(Status, PrintsNotesInOrder) {
  Status status = Status::error("expects 4 but got 5");
  status.addNote("first").addNote("second");
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.str(), "expects 4 but got 5\n  note: first\n  note: second");
  EXPECT_EQ(Status::error("x").addNote("y").str(), "x\n  note: y");
  EXPECT_TRUE(Status::success().ok());
  EXPECT_EQ(Status().str(), "success");
}

TEST(Status, ResultCarriesEither) {
  Result<std::string> value = std::string("text");
  EXPECT_TRUE(value.ok());
  EXPECT_EQ(*value, "text");
  Result<std::string> error = Status::error("why");
  EXPECT_FALSE(error.ok());
  EXPECT_EQ(error.takeStatus().message(), "why");
}
