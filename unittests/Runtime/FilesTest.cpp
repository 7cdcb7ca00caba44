// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading errors, and writing that leaves the old file or the new one however
// it ends: an error, a full disk, a killed process.

#include "Piper/Runtime/Files.h"

#include "TempFolder.h"

#include "gtest/gtest.h"

#include <csignal>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace piper::rt;
using namespace piper::rt::test;

TEST(Files, ReadsAtAnOffset) {
  TempFolder folder;
  Result<InputFile> file = InputFile::open(folder.write("f", "0123456789"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->size(), 10);
  char bytes[4] = {};
  EXPECT_TRUE(file->read(3, 3, bytes).ok());
  EXPECT_STREQ(bytes, "345");
  EXPECT_EQ(file->read(8, 4, bytes).message(),
            "'" + folder.file("f") + "' ends at byte 10: expects 2 bytes more");
}

TEST(Files, WhatCannotBeRead) {
  TempFolder folder;
  auto message = [](const std::string &path) {
    Result<InputFile> file = InputFile::open(path);
    return file.ok() ? "success" : file.takeStatus().message();
  };
  std::string name = folder.file("absent");
  EXPECT_EQ(message(name),
            "cannot open '" + name + "': No such file or directory");
  std::string path = folder.path.string();
  EXPECT_EQ(message(path), "cannot read '" + path + "': it is not a file");
  // A pipe without a writer must not block.
  name = folder.file("pipe");
  ASSERT_EQ(mkfifo(name.c_str(), 0600), 0);
  EXPECT_EQ(message(name), "cannot read '" + name + "': it is not a file");
}

static Status replace(const std::string &path, const std::string &bytes) {
  Result<AtomicFile> file = AtomicFile::create(path);
  if (!file.ok())
    return file.takeStatus();
  // In small pieces, as a writer of many tensors does.
  for (size_t i = 0; i < bytes.size(); i += 100) {
    std::string part = bytes.substr(i, 100);
    PIPER_RETURN_IF_ERROR(file->write(part.data(), int64_t(part.size())));
  }
  return file->commit();
}

TEST(Files, AtomicFileReplaces) {
  TempFolder folder;
  ASSERT_TRUE(replace(folder.file("f"), "first").ok());
  EXPECT_EQ(folder.read("f"), "first");
  ASSERT_TRUE(replace(folder.file("f"), "second").ok());
  EXPECT_EQ(folder.read("f"), "second");
  EXPECT_EQ(folder.count(), 1u) << "nothing else stays behind";
}

TEST(Files, AtomicFileFollowsLinks) {
  TempFolder folder;
  folder.write("real", "old");
  std::filesystem::create_symlink("real", folder.path / "link");
  ASSERT_TRUE(replace(folder.file("link"), "new").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path / "link"));
  EXPECT_EQ(folder.read("real"), "new");
}

TEST(Files, WithoutCommitNothingChanges) {
  TempFolder folder;
  folder.write("f", "old");
  {
    Result<AtomicFile> file = AtomicFile::create(folder.file("f"));
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->write("new", 3).ok());
    EXPECT_EQ(folder.count(), 2u);
  }
  EXPECT_EQ(folder.read("f"), "old");
  EXPECT_EQ(folder.count(), 1u);
}

TEST(Files, WhatCannotBeWritten) {
  TempFolder folder;
  auto message = [](const std::string &path) {
    Status status = checkWritable(path);
    return status.ok() ? "success" : status.message();
  };
  EXPECT_EQ(message(folder.file("new")), "success");
  EXPECT_EQ(folder.count(), 0u);
  std::string name = folder.file("absent/f");
  EXPECT_EQ(message(name),
            "cannot write '" + name + "': No such file or directory");
  name = folder.path.string();
  EXPECT_EQ(message(name),
            "cannot write '" + name + "': it exists and is not a file");
  EXPECT_EQ(message("/dev/null"),
            "cannot write '/dev/null': it exists and is not a file");
  EXPECT_EQ(message(""), "cannot write '': expects a file name");
  EXPECT_EQ(message(name + "/"),
            "cannot write '" + name + "/': expects a file name");
  name = folder.write("f", "x") + "/g";
  EXPECT_EQ(message(name), "cannot write '" + name + "': Not a directory");
  if (geteuid() == 0)
    return; // The superuser may write everywhere.
  chmod(folder.file("f").c_str(), 0400);
  EXPECT_EQ(message(folder.file("f")),
            "cannot write '" + folder.file("f") + "': Permission denied");
}

/// Runs `work` in a child process; returns its wait status.
template <typename Work> static int inChild(Work work) {
  pid_t child = fork();
  if (child == 0) {
    work();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

// A disk that is full is a file size limit here: write fails with an error.
TEST(Files, AFullDiskLeavesTheOldFile) {
  TempFolder folder;
  folder.write("f", "old");
  int status = inChild([&] {
    signal(SIGXFSZ, SIG_IGN);
    rlimit limit = {1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    Status result = replace(folder.file("f"), std::string(5000, 'n'));
    bool right = !result.ok() && result.message() == "cannot write '" +
                                                         folder.file("f") +
                                                         "': File too large";
    _exit(right ? 0 : 1);
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(folder.read("f"), "old");
  EXPECT_EQ(folder.count(), 1u);
}

// Killed at an exact byte: the signal of the file size limit ends the child.
TEST(Files, KilledAtAnyByteTheOldFileIsIntact) {
  TempFolder folder;
  folder.write("f", "old");
  for (rlim_t byte = 1; byte < 2000; byte += 37) {
    int status = inChild([&] {
      rlimit core = {0, 0};
      setrlimit(RLIMIT_CORE, &core);
      rlimit limit = {byte, byte};
      setrlimit(RLIMIT_FSIZE, &limit);
      (void)replace(folder.file("f"), std::string(2000, 'n')).ok();
    });
    ASSERT_TRUE(WIFSIGNALED(status)) << byte;
    ASSERT_EQ(folder.read("f"), "old") << byte;
  }
}

// Killed by SIGKILL at some moment of writing over and over again: always one
// of the complete files.
TEST(Files, KilledAtAnyMomentTheFileIsComplete) {
  TempFolder folder;
  const std::string a(300, 'a'), b(70000, 'b');
  folder.write("f", a);
  for (int trial = 0; trial < 40; ++trial) {
    pid_t child = fork();
    if (child == 0)
      while (replace(folder.file("f"), b).ok() &&
             replace(folder.file("f"), a).ok()) {
      }
    usleep(useconds_t(200 + 331 * trial));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    std::string now = folder.read("f");
    ASSERT_TRUE(now == a || now == b)
        << "trial " << trial << ": " << now.size() << " bytes";
  }
}
