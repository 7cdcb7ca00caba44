# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The lit tests: which files are tests, the tools and names they may use.
#
#   %python        the Python that runs lit: standard library only
#   %piper-python  the Python of PIPER_PYTHON, with PyTorch (REQUIRES: python)
#   %numpy-python  a Python with numpy (REQUIRES: numpy)
#   %scripts       the folder scripts/ of the source tree
#   %source        the source tree
#   %build         the build folder
#   %mlir-include  the headers and .td files of MLIR

import os
import subprocess
import sys

import lit.formats
from lit.llvm import llvm_config
from lit.llvm.subst import ToolSubst

config.name = "Piper"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "oracle"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.piper_build_dir, "test")

llvm_config.use_default_substitutions()  # FileCheck, count, not, %python

# A variable of FileCheck ends with its function unless its name starts with $;
# a failure shows the lines around the error and no more.
llvm_config.with_environment(
    "FILECHECK_OPTS",
    "-enable-var-scope --dump-input=fail --dump-input-filter=error --dump-input-context=4",
)

tools = ["piper-opt", "piper-run", "piper-model", "piper-schedule", "piper-lsp-server", "piper-reduce",
         "piper-check-cells"]
# A tool that is not built is left as it stands: its tests fail, others run.
llvm_config.add_tool_substitutions(
    [ToolSubst(tool, unresolved="ignore") for tool in tools], [config.piper_tools_dir]
)
llvm_config.with_environment("PATH", config.llvm_tools_dir, append_path=True)
llvm_config.with_environment("PATH", config.piper_tools_dir, append_path=True)

config.substitutions.append(("%scripts", os.path.join(config.piper_source_dir, "scripts")))
config.substitutions.append(("%source", config.piper_source_dir))
config.substitutions.append(("%build", config.piper_build_dir))
config.substitutions.append(("%mlir-include", config.mlir_include_dir))

# The instruction set of the kernels, where scripts/run-tests.py chooses one.
llvm_config.with_system_environment(["PIPER_CPU", "ONEDNN_MAX_CPU_ISA"])

python = os.environ.get("PIPER_PYTHON", "")
if python:
    config.available_features.add("python")
    config.environment["PIPER_PYTHON"] = python
    config.substitutions.append(("%piper-python", f'"{python}"'))


def find_numpy():
    """A Python with numpy: that of lit, of PIPER_PYTHON or of the system."""
    for candidate in (sys.executable, python, "/usr/bin/python3"):
        if candidate and os.path.exists(candidate):
            if subprocess.run([candidate, "-c", "import numpy"], capture_output=True).returncode == 0:
                return candidate
    return ""


numpy_python = find_numpy()
if numpy_python:
    config.available_features.add("numpy")
    config.substitutions.append(("%numpy-python", f'"{numpy_python}"'))

if config.piper_sanitizer == "address":
    config.available_features.add("asan")
    # LLVM's own poisoning is off in the distribution's library and on in its
    # headers: the two must not meet.
    options = os.environ.get("ASAN_OPTIONS", "")
    config.environment["ASAN_OPTIONS"] = ":".join(filter(None, [options, "allow_user_poisoning=0"]))
