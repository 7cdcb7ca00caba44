#!/usr/bin/env python3
# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs the unit tests and the lit tests of a build folder and adds up their
# counts: the last line is "N passed, N failed".

import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile


def unit_tests(build):
    """The gtest programs that ctest knows, as command lines."""
    out = subprocess.run(["ctest", "--show-only=json-v1", "-L", "gtest"], cwd=build,
                         check=True, capture_output=True, text=True).stdout
    return [test["command"] for test in json.loads(out)["tests"]]


def run_unit_test(command, folder):
    name = pathlib.Path(command[0]).name
    report = folder / (name + ".json")
    run = subprocess.run(command + ["--gtest_brief=1", f"--gtest_output=json:{report}"],
                         capture_output=True, text=True)
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


def run_lit(build, folder, jobs):
    site = build / "test" / "lit.site.cfg.py"
    if not site.exists():
        return 0, 0, 0, ""
    lit = next((path for path in ("/usr/lib/llvm-22/build/utils/lit/lit.py",
                                  "/usr/lib/llvm-22/bin/lit", shutil.which("lit"))
                if path and os.path.exists(path)), None)
    if not lit:
        return 0, 1, 0, "lit was not found: install llvm-22-tools\n"
    report = folder / "lit.json"
    run = subprocess.run([sys.executable, lit, "-q", "-j", str(jobs), "--output", str(report),
                          str(build / "test")], capture_output=True, text=True)
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
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            runs = [pool.submit(run_unit_test, command, folder) for command in unit_tests(build)]
            for run in concurrent.futures.as_completed(runs):
                test, good, bad, skipped, text, skips = run.result()
                print(text, end="")
                print(f"{test}: {good} passed, {bad} failed, {skipped} skipped", flush=True)
                print("".join(f"  {line}\n" for line in skips), end="")
                passed, failed = passed + good, failed + bad
        good, bad, skipped, text = run_lit(build, folder, jobs)
        print(text, end="")
        print(f"lit: {good} passed, {bad} failed, {skipped} skipped")
        passed, failed = passed + good, failed + bad
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
