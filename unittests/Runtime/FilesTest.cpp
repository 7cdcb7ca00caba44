// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading errors, and writing that leaves the old file or the new one however
// it ends: an error, a full disk, a killed process.

#include "Piper/Runtime/Files.h"
#include "Piper/Runtime/CommandFiles.h"

#include "TempFolder.h"

#include "gtest/gtest.h"

#include <csignal>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
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
  Result<OutputFile> file = OutputFile::create(path);
  if (!file.ok())
    return file.takeStatus();
  // In small pieces, as a writer of many tensors does.
  for (size_t i = 0; i < bytes.size(); i += 100) {
    std::string part = bytes.substr(i, 100);
    PIPER_RETURN_IF_ERROR(file->write(part.data(), int64_t(part.size())));
  }
  return file->commit();
}

TEST(Files, OutputFileReplaces) {
  TempFolder folder;
  ASSERT_TRUE(replace(folder.file("f"), "first").ok());
  EXPECT_EQ(folder.read("f"), "first");
  ASSERT_TRUE(replace(folder.file("f"), "second").ok());
  EXPECT_EQ(folder.read("f"), "second");
  EXPECT_EQ(folder.count(), 1u) << "nothing else stays behind";
}

TEST(Files, OutputFileFollowsLinks) {
  TempFolder folder;
  folder.write("real", "old");
  std::filesystem::create_symlink("real", folder.path / "link");
  ASSERT_TRUE(replace(folder.file("link"), "new").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path / "link"));
  EXPECT_EQ(folder.read("real"), "new");
}

TEST(Files, OutputFileMakesWhatALinkLeadsTo) {
  TempFolder folder;
  std::filesystem::create_symlink("real", folder.path / "link");
  ASSERT_TRUE(replace(folder.file("link"), "new").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path / "link"));
  EXPECT_EQ(folder.read("real"), "new");
}

TEST(Files, AHardLinkBecomesAFileOfItsOwn) {
  TempFolder folder;
  folder.write("a", "old");
  std::filesystem::create_hard_link(folder.path / "a", folder.path / "b");
  ASSERT_TRUE(replace(folder.file("b"), "new").ok());
  EXPECT_EQ(folder.read("a"), "old");
  EXPECT_EQ(folder.read("b"), "new");
}

TEST(Files, PermissionsStay) {
  TempFolder folder;
  chmod(folder.write("f", "old").c_str(), 0751);
  ASSERT_TRUE(replace(folder.file("f"), "new").ok());
  struct stat info;
  ASSERT_EQ(stat(folder.file("f").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0751u);
}

// A pipe is written as it is, and only when there is something to write: to
// open it would wait for a reader, to close it end what reads.
TEST(Files, APipeIsWrittenDirectly) {
  TempFolder folder;
  std::string pipe = folder.file("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_TRUE(checkWritable(pipe).ok());
  int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_TRUE(replace(pipe, "through").ok());
  char bytes[8] = {};
  EXPECT_EQ(::read(reader, bytes, 7), 7);
  EXPECT_STREQ(bytes, "through");
  close(reader);
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

// What stands before and after in the file of a descriptor stays.
TEST(Files, ADescriptorIsWrittenWhereItStands) {
  TempFolder folder;
  int file = ::open(folder.file("f").c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_EQ(::write(file, "before ", 7), 7);
  ASSERT_TRUE(replace("/dev/fd/" + std::to_string(file), "now").ok());
  ASSERT_EQ(::write(file, " after", 6), 6);
  close(file);
  EXPECT_EQ(folder.read("f"), "before now after");
}

TEST(Files, WhatKilledWritesLeaveIsRemovedByTheNext) {
  TempFolder folder;
  folder.write(".f.12-0.tmp", "left");
  std::string busy = folder.write(".f.13-1.tmp", "of a process that writes");
  int lock = ::open(busy.c_str(), O_WRONLY);
  ASSERT_EQ(flock(lock, LOCK_EX), 0);
  folder.write(".g.12-0.tmp", "another's");
  folder.write(".f.x-0.tmp", "nobody's");
  ASSERT_TRUE(replace(folder.file("f"), "new").ok());
  EXPECT_FALSE(std::filesystem::exists(folder.file(".f.12-0.tmp")));
  EXPECT_TRUE(std::filesystem::exists(busy));
  EXPECT_EQ(folder.count(), 4u);
  close(lock);
  ASSERT_TRUE(replace(folder.file("f"), "new").ok());
  EXPECT_EQ(folder.count(), 3u) << "f, .g and .f.x";
}

TEST(Files, PublishedFilesGoOnBeingWritten) {
  TempFolder folder;
  folder.write("f", "old");
  Result<OutputFile> file = OutputFile::create(folder.file("f"));
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->write("a", 1).ok());
  EXPECT_EQ(folder.read("f"), "old");
  ASSERT_TRUE(file->publish().ok());
  EXPECT_EQ(folder.read("f"), "a");
  ASSERT_TRUE(file->write("b", 1).ok());
  EXPECT_EQ(folder.read("f"), "ab");
  EXPECT_EQ(folder.count(), 1u);
}

TEST(Files, ABatchIsWrittenAsAWholeOrNotAtAll) {
  TempFolder folder;
  folder.write("a", "old");
  Status status = writeFiles({{folder.file("a"), "new"}, {"/dev/full", "x"}});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.message(),
            "cannot write '/dev/full': No space left on device");
  EXPECT_EQ(folder.read("a"), "old");
  EXPECT_EQ(folder.count(), 1u);
  ASSERT_TRUE(
      writeFiles({{folder.file("a"), "new"}, {folder.file("b"), "too"}}).ok());
  EXPECT_EQ(folder.read("a"), "new");
  EXPECT_EQ(folder.read("b"), "too");
  EXPECT_EQ(folder.count(), 2u);
}

TEST(Files, NoOutputIsAnInputOrAnotherOutput) {
  TempFolder folder;
  std::string in = folder.write("in", "x"), out = folder.file("out");
  std::filesystem::create_symlink("in", folder.path / "link");
  std::filesystem::create_symlink("new", folder.path / "to-new");
  std::filesystem::create_directory_symlink(".", folder.path / "here");
  std::filesystem::create_hard_link(in, folder.path / "hard");
  CommandFiles files;
  auto add = [&](const std::string &path) {
    Status status = files.addOutput(path);
    return status.ok() ? "success" : status.message();
  };
  files.addInput(in);
  files.addInput(folder.file("absent"));
  EXPECT_EQ(add(folder.file("link")), "'" + in + "' would be overwritten by '" +
                                          folder.file("link") + "'");
  EXPECT_EQ(add(folder.file("here/in")), "'" + in +
                                             "' would be overwritten by '" +
                                             folder.file("here/in") + "'");
  EXPECT_EQ(add(folder.file("hard")), "success");
  EXPECT_EQ(add(out), "success");
  EXPECT_EQ(add(out), "'" + out + "' is to be written twice");
  EXPECT_EQ(add(folder.file("here/./out")),
            "'" + folder.file("here/./out") +
                "' is to be written twice, also as '" + out + "'");
  EXPECT_EQ(add(folder.file("to-new")), "success");
  EXPECT_EQ(add(folder.file("new")), "'" + folder.file("new") +
                                         "' is to be written twice, also as '" +
                                         folder.file("to-new") + "'");
  EXPECT_EQ(add("/dev/null"), "success");
  EXPECT_EQ(add("/dev/null"), "success") << "takes everything";
  EXPECT_EQ(add("-"), "success");
  EXPECT_EQ(add("/dev/stdout"),
            "'/dev/stdout' is to be written twice, also as '-'");
  EXPECT_EQ(add("/dev/fd/2"), "success");
  EXPECT_EQ(add(folder.file("absent/f")), "cannot write '" +
                                              folder.file("absent/f") +
                                              "': No such file or directory");
  // What is added after an output may be it.
  files.addInput(out);
}

TEST(Files, WithoutCommitNothingChanges) {
  TempFolder folder;
  folder.write("f", "old");
  {
    Result<OutputFile> file = OutputFile::create(folder.file("f"));
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
  EXPECT_EQ(message(name), "cannot write '" + name + "': it is a folder");
  std::filesystem::create_symlink("round", folder.path / "round");
  EXPECT_EQ(message(folder.file("round")),
            "cannot write '" + folder.file("round") +
                "': Too many levels of symbolic links");
  std::filesystem::create_symlink("absent/", folder.path / "slash");
  EXPECT_EQ(message(folder.file("slash")),
            "cannot write '" + folder.file("slash") + "': it is a link to '" +
                folder.file("absent/") + "', which is no file");
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::string socketName = folder.file("socket");
  socketName.copy(address.sun_path, sizeof(address.sun_path) - 1);
  int end = socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(bind(end, reinterpret_cast<sockaddr *>(&address), sizeof(address)),
            0);
  EXPECT_EQ(message(socketName),
            "cannot write '" + socketName + "': it is a socket");
  close(end);
  name = folder.file(std::string(256, 'n'));
  EXPECT_EQ(message(name), "cannot write '" + name + "': File name too long");
  int reading = ::open("/dev/null", O_RDONLY);
  name = "/dev/fd/" + std::to_string(reading);
  EXPECT_EQ(message(name),
            "cannot write '" + name + "': it is open for reading only");
  close(reading);
  EXPECT_EQ(message(name), "cannot write '" + name + "': Bad file descriptor");
  EXPECT_EQ(message("/dev/null"), "success");
  EXPECT_EQ(message(""), "cannot write '': expects a file name");
  name = folder.path.string();
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
