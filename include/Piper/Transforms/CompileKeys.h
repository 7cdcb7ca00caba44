// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The keys that a user gives for all passes: of --piper-compile and of
// `#piper.strategy` on a module.

#ifndef PIPER_TRANSFORMS_COMPILEKEYS_H
#define PIPER_TRANSFORMS_COMPILEKEYS_H

#include "Passes.h"

#include "llvm/ADT/StringSet.h"

#include <map>
#include <string>

namespace mlir::piper {

struct CompileOptions {
  PiperDirectivesOptions directives;
  PiperOptimizerOptions optimizer;
  PiperPipelineOptions pipeline;
  PiperPartitionOptions partition;
  /// The keys that were given.
  llvm::StringSet<> given;
  /// Their values as `parse` takes them, in quotes where they need some.
  std::map<std::string, std::string> texts;

  /// What `parse` found wrong with a command line, to be said where there is a
  /// program to say it at.
  std::string problem;

  /// Reads "key=value key=value ...", a value with blanks in quotes or braces.
  /// Returns an empty string, or what is wrong: an unknown key (with the legal
  /// ones), a key given twice, a value that is no number or not allowed.
  std::string parse(llvm::StringRef text);

  /// Reads the keys of a strategy; one that is given already keeps its value.
  std::string addStrategy(llvm::StringRef text);

  /// What is wrong with keys that need others; the last step. What concerns the
  /// pipeline is checked by its pass, which knows the directives.
  std::string verify() const;

  /// The keys of other passes than `piper-pipeline`.
  static SmallVector<llvm::StringRef> otherKeys();

  /// A line for each key, with its default and meaning.
  static std::string help();
};

/// Takes the keys of `piper.strategy` from a module, where it has one, to those
/// given. Emits an error for what is wrong with them.
LogicalResult takeStrategy(ModuleOp module, CompileOptions &options);

} // namespace mlir::piper

#endif // PIPER_TRANSFORMS_COMPILEKEYS_H
