#!/usr/bin/env python3
# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs the unit tests and the lit tests of a build folder and adds up their
# counts: the last line is "N passed, N failed". What has numbers runs once for
# every instruction set that this CPU can stand for, and once with all it has.

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


# The levels of PIPER_CPU, and what limits oneDNN to the same.
INSTRUCTION_SETS = {"baseline": "SSE41", "avx2": "AVX2", "avx512": "AVX512_CORE"}
# The lit tests with numbers; those of passes compute none.
WITH_NUMBERS = ["Runtime", "FieldCases", "Matrix"]


def limited_to(name):
    """The environment in which everything uses one instruction set, or all of them."""
    limits = {"PIPER_CPU": name, "ONEDNN_MAX_CPU_ISA": INSTRUCTION_SETS[name]} if name else {}
    rest = {key: value for key, value in os.environ.items() if key not in ("PIPER_CPU", "ONEDNN_MAX_CPU_ISA")}
    return {**rest, **limits}


def choose_sets(build):
    """The sets that this CPU has and those it lacks, as the kernels themselves see it."""
    tests = build / "bin" / "PiperRuntimeCPUTests"
    if not tests.exists():
        return [], []
    lacks = [name for name in INSTRUCTION_SETS if "expects an instruction set of this CPU" in subprocess.run(
        [tests, "--gtest_filter=InstructionSet.TheProcess*"], env=limited_to(name), capture_output=True,
        text=True).stdout]
    return [name for name in INSTRUCTION_SETS if name not in lacks], lacks


def unit_tests(build):
    """The gtest programs that ctest knows: name, command line, properties."""
    out = subprocess.run(["ctest", "--show-only=json-v1", "-L", "gtest"], cwd=build,
                         check=True, capture_output=True, text=True).stdout
    return [(test["name"], test["command"], {p["name"]: p["value"] for p in test["properties"]})
            for test in json.loads(out)["tests"]]


def run_unit_test(test, folder):
    name, command, properties = test
    report = folder / (name + ".json")
    environment = {**limited_to(""), **dict(pair.split("=", 1) for pair in properties.get("ENVIRONMENT", []))}
    run = subprocess.run(command + ["--gtest_brief=1", f"--gtest_output=json:{report}"],
                         capture_output=True, text=True, env=environment)
    if "PASS_REGULAR_EXPRESSION" in properties:
        good = any(re.search(text, run.stdout + run.stderr) for text in properties["PASS_REGULAR_EXPRESSION"])
        return name, int(good), int(not good), 0, "" if good else run.stdout + run.stderr, []
    passed = failed = skipped = 0
    if report.exists():
        for suite in json.loads(report.read_text())["testsuites"]:
            for test in suite["testsuite"]:
                if test.get("failures"):
                    failed += 1
                elif test.get("result") == "SKIPPED":
                    skipped += 1
                else:
                    passed += 1
    # A program that dies has no report, or one that hides how it ended.
    if run.returncode != 0 and failed == 0:
        failed = 1
    text = run.stdout + run.stderr if failed else ""
    skips = [line for line in run.stdout.splitlines() if "Skipped" in line]
    return name, passed, failed, skipped, text, skips


def run_lit(build, folder, jobs, instruction_set, folders):
    site = build / "test" / "lit.site.cfg.py"
    if not site.exists():
        return 0, 0, 0, ""
    lit = next((path for path in ("/usr/lib/llvm-22/build/utils/lit/lit.py",
                                  "/usr/lib/llvm-22/bin/lit", shutil.which("lit"))
                if path and os.path.exists(path)), None)
    if not lit:
        return 0, 1, 0, "lit was not found: install llvm-22-tools\n"
    report = folder / f"lit{instruction_set}.json"
    run = subprocess.run([sys.executable, lit, "-q", "-j", str(jobs), "--output", str(report),
                          *(str(build / "test" / name) for name in folders)],
                         capture_output=True, text=True, env=limited_to(instruction_set))
    if not report.exists():
        return 0, 1, 0, run.stdout + run.stderr
    counts = {}
    names = ""
    for test in json.loads(report.read_text())["tests"]:
        counts[test["code"]] = counts.get(test["code"], 0) + 1
        if test["code"] in ("UNSUPPORTED", "SKIPPED"):
            names += f"  skipped: {test['name']}\n"
    passed = counts.pop("PASS", 0) + counts.pop("XFAIL", 0)
    skipped = counts.pop("UNSUPPORTED", 0) + counts.pop("SKIPPED", 0)
    return passed, sum(counts.values()), skipped, names + run.stdout + run.stderr


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    jobs = os.cpu_count() or 1
    passed = failed = 0
    sets, lacks = choose_sets(build)
    print(f"instruction sets: {', '.join(sets + ['native'])}" + "".join(
        f"; skipped: {name}, which this CPU lacks" for name in lacks), flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            runs = [pool.submit(run_unit_test, test, folder) for test in unit_tests(build)]
            for run in concurrent.futures.as_completed(runs):
                test, good, bad, skipped, text, skips = run.result()
                print(text, end="")
                print(f"{test}: {good} passed, {bad} failed, {skipped} skipped", flush=True)
                print("".join(f"  {line}\n" for line in skips), end="")
                passed, failed = passed + good, failed + bad
        for name in [""] + sets:
            good, bad, skipped, text = run_lit(build, folder, jobs, name, WITH_NUMBERS if name else [""])
            print(text, end="")
            print(f"lit{name and '.' + name}: {good} passed, {bad} failed, {skipped} skipped", flush=True)
            passed, failed = passed + good, failed + bad
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
