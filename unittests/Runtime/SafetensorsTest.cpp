// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Safetensors: files written byte by byte, hostile files, conversions, and what
// the writer writes.

#include "Piper/Runtime/Safetensors.h"

#include "Files/SafetensorsHeader.h"
#include "TempFolder.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using namespace piper::rt;
using namespace piper::rt::test;

/// The bytes of a file with this header and data.
static std::string fileBytes(const std::string &header,
                             const std::string &data) {
  std::string bytes;
  for (int i = 0; i < 8; ++i)
    bytes += char(uint64_t(header.size()) >> (8 * i));
  return bytes + header + data;
}

static std::string tensorHeader(const std::string &name,
                                const std::string &type,
                                const std::string &shape,
                                const std::string &offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + type + "\",\"shape\":[" + shape +
         "],\"data_offsets\":[" + offsets + "]}";
}

class SafetensorsTest : public testing::Test {
protected:
  /// The error of opening a file with these bytes, without the file's name.
  std::string openError(const std::string &bytes) {
    std::string path = folder.write("f", bytes);
    Result<SafetensorsFile> file = SafetensorsFile::open(path);
    if (file.ok())
      return "success";
    std::string message = file.takeStatus().message();
    std::string prefix = "'" + path + "': ";
    EXPECT_EQ(message.compare(0, prefix.size(), prefix), 0) << message;
    return message.substr(std::min(prefix.size(), message.size()));
  }
  std::string headerError(const std::string &header,
                          const std::string &data = "") {
    return openError(fileBytes(header, data));
  }
  SafetensorsFile open(const std::string &bytes) {
    Result<SafetensorsFile> file =
        SafetensorsFile::open(folder.write("f", bytes));
    EXPECT_TRUE(file.ok()) << file.takeStatus().str();
    return std::move(*file);
  }
  TempFolder folder;
};

TEST_F(SafetensorsTest, ReadsAFileWrittenByHand) {
  const float weights[] = {1.5f, -2.0f};
  std::string data("\x01\x00\x00\x00", 4);
  data.append(reinterpret_cast<const char *>(weights), 8);
  SafetensorsFile file =
      open(fileBytes("{\"__metadata__\":{\"format\":\"pt\"}," +
                         tensorHeader("wte", "F32", "2,1", "4,12") + "," +
                         tensorHeader("mask", "BOOL", "4", "0,4") + "}   ",
                     data));
  EXPECT_EQ(file.metadata().at("format"), "pt");
  ASSERT_EQ(file.tensors().size(), 2u);
  const SafetensorsFile::Tensor *wte = file.find("wte");
  ASSERT_TRUE(wte);
  EXPECT_EQ(wte->str(), "F32 [2, 1]");
  EXPECT_EQ(wte->numElements(), 2);
  float read[2];
  ASSERT_TRUE(file.read(*wte, 0, 2, ElementType::F32, read).ok());
  EXPECT_EQ(read[0], 1.5f);
  EXPECT_EQ(read[1], -2.0f);
  ASSERT_TRUE(file.read(*wte, 1, 1, ElementType::F32, read).ok());
  EXPECT_EQ(read[0], -2.0f);
  uint8_t mask[4];
  ASSERT_TRUE(file.read(*file.find("mask"), 0, 4, ElementType::I1, mask).ok());
  EXPECT_EQ(mask[0], 1);
  EXPECT_EQ(file.find("absent"), nullptr);
}

TEST_F(SafetensorsTest, LengthsThatLie) {
  EXPECT_EQ(openError(""), "expects a safetensors file of at least 8 bytes but "
                           "it has 0");
  EXPECT_EQ(openError("1234567"), "expects a safetensors file of at least 8 "
                                  "bytes but it has 7");
  EXPECT_EQ(openError(std::string(8, '\xff')),
            "expects a safetensors header of at most 100000000 bytes but it "
            "has 18446744073709551615");
  // 100,000,001 = 0x5f5e101.
  EXPECT_EQ(openError(std::string("\x01\xe1\xf5\x05\0\0\0\0{}", 10)),
            "expects a safetensors header of at most 100000000 bytes but it "
            "has 100000001");
  EXPECT_EQ(openError(std::string("\x00\xe1\xf5\x05\0\0\0\0{}", 10)),
            "the file is cut off: its header ends at byte 100000008 but it has "
            "10");
  EXPECT_EQ(openError(std::string(8, '\0')),
            "the header is not valid JSON at its byte 1");
}

TEST_F(SafetensorsTest, HeadersThatAreNoHeaders) {
  EXPECT_EQ(headerError("{"), "the header is not valid JSON at its byte 2");
  EXPECT_EQ(headerError("{} x"), "the header is not valid JSON at its byte 4");
  EXPECT_EQ(headerError("[]"), "the header: got a list where none can stand");
  EXPECT_EQ(headerError("7"),
            "the header: got the number 7 where none can stand");
  EXPECT_EQ(headerError("null"), "the header: got null where none can stand");
  EXPECT_EQ(headerError("{\"a\":1}"),
            "the header: got the number 1 where none can stand");
  EXPECT_EQ(headerError("{\"a\":\"b\"}"),
            "the header: got the string 'b' where none can stand");
  EXPECT_EQ(headerError("{\"\xff\":{}}"),
            "the header is not valid JSON at its byte 3");
  EXPECT_EQ(headerError(std::string(1000000, '[')),
            "the header: got a list where none can stand");
  std::string deep;
  for (int i = 0; i < 100000; ++i)
    deep += "{\"a\":";
  EXPECT_EQ(headerError(deep), "tensor 'a' has the unknown entry 'a'");
  EXPECT_EQ(headerError("{\"__metadata__\":{\"a\":{}}}"),
            "the metadata, entry 'a': got an object where none can stand");
  EXPECT_EQ(headerError("{\"__metadata__\":{\"a\":1}}"),
            "the metadata, entry 'a': got the number 1 where none can stand");
  EXPECT_EQ(headerError("{\"__metadata__\":{\"a\":\"\",\"a\":\"\"}}"),
            "the name 'a' stands twice in the metadata");
  EXPECT_EQ(
      headerError("\xEF\xBB\xBF{}"),
      "the header begins with a byte-order mark, which is not JSON: write "
      "the file without it");
  EXPECT_EQ(headerError("{}"), "success");
  EXPECT_EQ(headerError("{\"__metadata__\":null}"), "success");
  EXPECT_EQ(headerError("{\"__metadata__\":{\"a\":null}}"),
            "the metadata, entry 'a': got null where none can stand");
  EXPECT_EQ(headerError("{\"a\":null}"),
            "the header: got null where none can stand");
}

TEST_F(SafetensorsTest, TensorsThatLie) {
  auto one = [&](const std::string &type, const std::string &shape,
                 const std::string &offsets, size_t bytes) {
    return headerError("{" + tensorHeader("w", type, shape, offsets) + "}",
                       std::string(bytes, 'x'));
  };
  EXPECT_EQ(one("F32", "2", "0,8", 8), "success");
  EXPECT_EQ(one("F32", "", "0,4", 4), "success");
  EXPECT_EQ(one("F32", "0,5", "0,0", 0), "success");
  EXPECT_EQ(one("F8_E4M3", "2", "0,2", 2),
            "tensor 'w': expects a type out of F64, F32, BF16, F16, I64, I32, "
            "U8, BOOL but got 'F8_E4M3'");
  EXPECT_EQ(one("F32", "2", "0", 8), "tensor 'w': expects 2 offsets but got 1");
  EXPECT_EQ(one("F32", "2", "0,8,16", 8),
            "tensor 'w': expects 2 offsets but got 3");
  EXPECT_EQ(one("F32", "2", "8,0", 8),
            "tensor 'w': its bytes 8 to 0 end before they start");
  EXPECT_EQ(one("F32", "2", "0,12", 8),
            "tensor 'w': its bytes 0 to 12 do not lie in the file, which has 8 "
            "bytes of data");
  EXPECT_EQ(one("F32", "2", "0,9223372036854775807", 8),
            "tensor 'w': its bytes 0 to 9223372036854775807 do not lie in the "
            "file, which has 8 bytes of data");
  EXPECT_EQ(
      one("F32", "2", "0,9223372036854775808", 8),
      "tensor 'w', entry 'data_offsets': got the number 9223372036854775808 "
      "where none can stand");
  EXPECT_EQ(one("F32", "2", "-4,8", 8), "tensor 'w', entry 'data_offsets': got "
                                        "the number -4 where none can stand");
  EXPECT_EQ(
      one("F32", "2.5", "0,8", 8),
      "tensor 'w', entry 'shape': got the number 2.5 where none can stand");
  EXPECT_EQ(one("F32", "[2]", "0,8", 8),
            "tensor 'w', entry 'shape': got a list where none can stand");
  EXPECT_EQ(one("F32", "true", "0,8", 8),
            "tensor 'w', entry 'shape': got a boolean where none can stand");
  EXPECT_EQ(one("F32", "3", "0,8", 8),
            "tensor 'w': expects 12 bytes for F32 [3] but got 8");
  EXPECT_EQ(one("F32", "4294967296,4294967296", "0,8", 8),
            "tensor 'w': its shape F32 [4294967296, 4294967296] is too large");
  // 2^62 elements of 4 bytes are 2^64 = 0 bytes in 64 bits.
  EXPECT_EQ(one("F32", "4611686018427387904", "0,0", 0),
            "tensor 'w': its shape F32 [4611686018427387904] is too large");
  EXPECT_EQ(one("F32", "2", "4,12", 12),
            "there are 4 unused bytes before tensor 'w'");
  EXPECT_EQ(one("F32", "2", "0,8", 11),
            "the file has 3 bytes after its last tensor");
  EXPECT_EQ(headerError("{" + tensorHeader("a", "U8", "4", "0,4") + "," +
                            tensorHeader("b", "U8", "4", "3,7") + "}",
                        "1234567"),
            "tensors 'a' and 'b' overlap");
  EXPECT_EQ(headerError("{" + tensorHeader("a", "U8", "4", "0,4") + "," +
                            tensorHeader("a", "U8", "4", "4,8") + "}",
                        "12345678"),
            "the name 'a' stands twice in the header");
  EXPECT_EQ(headerError("{\"a\":{\"dtype\":\"U8\",\"shape\":[1]}}", "1"),
            "tensor 'a' has no 'data_offsets'");
  EXPECT_EQ(headerError("{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\"}}", "1"),
            "the name 'dtype' stands twice in tensor 'a'");
  EXPECT_EQ(headerError("{\"a\":{\"stride\":[1]}}", "1"),
            "tensor 'a' has the unknown entry 'stride'");
  EXPECT_EQ(headerError("{\"a\":{\"dtype\":[1]}}", "1"),
            "tensor 'a', entry 'dtype': got a list where none can stand");
  EXPECT_EQ(
      headerError("{\"a\":{\"shape\":\"x\"}}", "1"),
      "tensor 'a', entry 'shape': got the string 'x' where none can stand");
}

// Every prefix of a good file is an error.
TEST_F(SafetensorsTest, TruncatedFiles) {
  std::string good =
      fileBytes("{" + tensorHeader("a", "F32", "2", "0,8") + "," +
                    tensorHeader("b", "U8", "3", "8,11") + "}",
                "12345678abc");
  EXPECT_EQ(openError(good), "success");
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_NE(openError(good.substr(0, size)), "success") << size;
}

// Random changes of a good header: no crash, and what is accepted tiles the
// data.
TEST_F(SafetensorsTest, ChangedHeaders) {
  std::string good = "{" + tensorHeader("a", "F32", "2", "0,8") + "," +
                     tensorHeader("b", "U8", "3", "8,11") + "}";
  std::mt19937 random(1);
  int accepted = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    std::string text = good;
    for (int change = 0; change < 1 + trial % 3; ++change)
      text[random() % text.size()] = char(random() % 256);
    Result<SafetensorsHeader> header = parseSafetensorsHeader(text, 100, 111);
    if (!header.ok()) {
      EXPECT_NE(header.takeStatus().message(), "");
      continue;
    }
    ++accepted;
    int64_t bytes = 0;
    for (const SafetensorsFile::Tensor &tensor : header->tensors)
      bytes += tensor.bytes;
    EXPECT_EQ(bytes, 11) << text;
  }
  EXPECT_GT(accepted, 0) << "a changed name is a good name";
}

// The file shrinks between the header and the data.
TEST_F(SafetensorsTest, FileThatShrinks) {
  SafetensorsFile file = open(
      fileBytes("{" + tensorHeader("w", "F32", "2", "0,8") + "}", "12345678"));
  std::filesystem::resize_file(file.path(), file.find("w")->offset + 5);
  float values[2];
  Status status = file.read(*file.find("w"), 0, 2, ElementType::F32, values);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.str(), "'" + file.path() +
                              "' ends at byte 67: expects 3 bytes more\n"
                              "  note: while reading tensor 'w'");
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// Writes one tensor of elements T and reads it as `to`.
template <typename To, typename From>
static std::vector<To> convert(TempFolder &folder, FileType from,
                               const std::vector<From> &values, ElementType to,
                               std::string *error = nullptr) {
  std::string path = folder.file("c");
  EXPECT_TRUE(
      writeSafetensors(
          path, {{"t", from, {int64_t(values.size())}, values.data()}}, {})
          .ok());
  Result<SafetensorsFile> file = SafetensorsFile::open(path);
  EXPECT_TRUE(file.ok());
  std::vector<To> result(values.size());
  Status status = file->read(*file->find("t"), 0, int64_t(values.size()), to,
                             result.data());
  if (error)
    *error = status.ok() ? "" : status.message();
  else
    EXPECT_TRUE(status.ok()) << status.str();
  return result;
}

TEST_F(SafetensorsTest, WidensHalfTypesExactly) {
  // binary16: 1, -2, 65504 (the largest), 2^-24 (the smallest), 2^-14, -0, inf.
  std::vector<uint16_t> half = {0x3C00, 0xC000, 0x7BFF, 0x0001,
                                0x0400, 0x8000, 0x7C00};
  std::vector<float> expected = {1,
                                 -2,
                                 65504,
                                 0x1p-24f,
                                 0x1p-14f,
                                 -0.0f,
                                 std::numeric_limits<float>::infinity()};
  EXPECT_EQ(convert<float>(folder, FileType::F16, half, ElementType::F32),
            expected);
  EXPECT_TRUE(std::signbit(
      convert<float>(folder, FileType::F16, half, ElementType::F32)[5]));
  EXPECT_EQ(convert<double>(folder, FileType::F16, half, ElementType::F64),
            std::vector<double>(expected.begin(), expected.end()));
  EXPECT_TRUE(std::isnan(convert<float>(folder, FileType::F16,
                                        std::vector<uint16_t>{0x7E00},
                                        ElementType::F32)[0]));
  // bfloat16: 1, -2, 1 + 2^-7, 2^-133 (the smallest).
  std::vector<uint16_t> brain = {0x3F80, 0xC000, 0x3F81, 0x0001};
  EXPECT_EQ(convert<float>(folder, FileType::BF16, brain, ElementType::F32),
            (std::vector<float>{1, -2, 1.0078125f, 0x1p-133f}));
}

TEST_F(SafetensorsTest, ConvertsIntegersThatFit) {
  std::string error;
  std::vector<int64_t> large = {1, -5, int64_t(1) << 31};
  EXPECT_EQ(convert<int32_t>(folder, FileType::I64,
                             std::vector<int64_t>{1, -5, 2147483647},
                             ElementType::I32),
            (std::vector<int32_t>{1, -5, 2147483647}));
  convert<int32_t>(folder, FileType::I64, large, ElementType::I32, &error);
  EXPECT_EQ(error, "'" + folder.file("c") +
                       "': tensor 't': element 2 is 2147483648, which is no "
                       "i32");
  EXPECT_EQ(convert<int64_t>(folder, FileType::U8, std::vector<uint8_t>{0, 255},
                             ElementType::I64),
            (std::vector<int64_t>{0, 255}));
  convert<uint8_t>(folder, FileType::Bool, std::vector<uint8_t>{0, 1, 2},
                   ElementType::I1, &error);
  EXPECT_EQ(error, "'" + folder.file("c") +
                       "': tensor 't': element 2 is 2, which is no i1");
}

TEST_F(SafetensorsTest, NoConversionLosesAnything) {
  std::string error;
  convert<float>(folder, FileType::F64, std::vector<double>{0.1},
                 ElementType::F32, &error);
  EXPECT_EQ(error,
            "'" + folder.file("c") + "': tensor 't': expects F32 but got F64");
  EXPECT_FALSE(canReadAs(FileType::F32, ElementType::BF16));
  EXPECT_FALSE(canReadAs(FileType::I32, ElementType::F32));
  EXPECT_FALSE(canReadAs(FileType::U8, ElementType::I1));
  EXPECT_FALSE(canReadAs(FileType::Bool, ElementType::I32));
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

TEST_F(SafetensorsTest, WritesTheFormat) {
  const double d = 3;
  const float f[2] = {1, 2};
  const uint8_t u[3] = {7, 8, 9};
  Status status = writeSafetensors(folder.file("w"),
                                   {{"u\"\n", FileType::U8, {3}, u},
                                    {"f", FileType::F32, {1, 2}, f},
                                    {"d", FileType::F64, {}, &d}},
                                   {{"kind", "test"}});
  ASSERT_TRUE(status.ok()) << status.str();
  std::string header =
      R"({"__metadata__":{"kind":"test"},)"
      R"("d":{"dtype":"F64","shape":[],"data_offsets":[0,8]},)"
      R"("f":{"dtype":"F32","shape":[1,2],"data_offsets":[8,16]},)"
      R"("u\"\n":{"dtype":"U8","shape":[3],"data_offsets":[16,19]}})";
  header.append((8 - header.size() % 8) % 8, ' ');
  std::string data(reinterpret_cast<const char *>(&d), 8);
  data.append(reinterpret_cast<const char *>(f), 8);
  data.append(reinterpret_cast<const char *>(u), 3);
  EXPECT_EQ(folder.read("w"), fileBytes(header, data));
}

TEST_F(SafetensorsTest, WhatCannotBeWritten) {
  const uint8_t u[1] = {7};
  auto error = [&](std::vector<TensorToWrite> tensors) {
    Status status = writeSafetensors(folder.file("w"), std::move(tensors), {});
    return status.ok() ? "success" : status.message();
  };
  std::string start = "cannot write '" + folder.file("w") + "': ";
  EXPECT_EQ(error({{"a", FileType::U8, {1}, u}, {"a", FileType::U8, {1}, u}}),
            start + "two tensors have the name 'a'");
  EXPECT_EQ(error({{"__metadata__", FileType::U8, {1}, u}}),
            start + "the format reserves the name '__metadata__'");
  EXPECT_EQ(error({{"\xff", FileType::U8, {1}, u}}),
            start + "the name of a tensor is not UTF-8");
  EXPECT_EQ(folder.count(), 0u);
}
