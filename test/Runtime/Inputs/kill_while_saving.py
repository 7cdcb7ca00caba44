# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Kills a command at random moments of its life and checks the file that it saves:
#   kill_while_saving.py TIMES FILE OLD NEW COMMAND...
# FILE, which starts as a copy of OLD, must always be OLD or NEW, byte by byte. The
# moments are in the second half of the command's life, where it saves. What killed
# processes were writing (.FILE.*.tmp) must be gone after one run that is not killed.

import glob
import os
import random
import signal
import subprocess
import sys
import time


def contents(path):
    with open(path, "rb") as file:
        return file.read()


def run(command):
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main():
    times, path, old, new, *command = sys.argv[1:]
    old, new = contents(old), contents(new)
    if old == new:
        sys.exit("kill_while_saving: the two files are equal")
    draw = random.Random(11)
    begin = time.monotonic()
    run(command).wait()
    life = time.monotonic() - begin
    found = {"old": 0, "new": 0}
    for _ in range(int(times)):
        with open(path, "wb") as file:
            file.write(old)
        process = run(command)
        time.sleep(life * (1.05 - 0.5 * draw.random()))
        process.send_signal(signal.SIGKILL)
        process.wait()
        now = contents(path)
        if now != old and now != new:
            sys.exit(f"kill_while_saving: the file has {len(now)} bytes, neither the old nor the new ones")
        found["old" if now == old else "new"] += 1
    run(command).wait()
    folder, name = os.path.split(path)
    left = glob.glob(os.path.join(glob.escape(folder), f".{glob.escape(name)}.*.tmp"))
    if left:
        sys.exit(f"kill_while_saving: the last save, which was not killed, left {left}")
    print(f"{found['old']} times the old file, {found['new']} times the new one")


if __name__ == "__main__":
    main()
