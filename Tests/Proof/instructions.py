#!/usr/bin/env python3
"""Counts the instructions of one run of each operation of the bench, with callgrind. They are the same in every run,
even on a busy machine, on which times differ. So a change of the engine can be compared with the commit before.

    instructions.py MPIN_BENCH                 prints `name count` for each operation
    instructions.py MPIN_BENCH --against FILE  compares with the output of an earlier run; 1 % more is allowed
"""

import pathlib
import re
import subprocess
import sys
import tempfile

# The number of runs of each operation in mpin-bench, which must be the same there.
RUNS = 16
LARGEST = 1.01


def count(bench):
    """Returns the number of instructions of each operation, in their order."""
    with tempfile.TemporaryDirectory() as folder:
        # Removes the debug information, because valgrind cannot read that of every compiler.
        program = f"{folder}/bench"
        subprocess.run(["strip", "--strip-debug", "-o", program, bench], check=True)
        # mpin-bench calls sched_yield before and after each measured part, and nowhere else, so every second dump of
        # callgrind is a measured part.
        run = subprocess.run(
            ["valgrind", "--tool=callgrind", "--dump-before=sched_yield", f"--callgrind-out-file={folder}/out", program,
             "--count"],
            check=True, capture_output=True, text=True)
        dumps = sorted(pathlib.Path(folder).glob("out.*"), key=lambda path: int(path.suffix[1:]))[1::2]
        totals = [int(re.search(r"^(?:summary|totals): (\d+)", dump.read_text(), re.M)[1]) for dump in dumps]
    names = run.stdout.split()
    if len(totals) != len(names):
        sys.exit(f"instructions: {len(names)} operations, but {len(totals)} counts")
    return {name: total // RUNS for name, total in zip(names, totals)}


def compare(now, before):
    """Checks that no operation takes more instructions than allowed. Returns whether that is so."""
    is_good = now.keys() == before.keys()
    if not is_good:
        print("other operations:", *sorted(now.keys() ^ before.keys()))
    for name in now.keys() & before.keys():
        if now[name] > LARGEST * before[name]:
            is_good = False
            print(f"FAILED: {name}: {now[name] / before[name] - 1:+.2%}")
    return is_good


def main():
    bench, *rest = sys.argv[1:] or sys.exit(__doc__)
    now = count(bench)
    if not rest:
        print(*(f"{name} {number}" for name, number in now.items()), sep="\n")
        return
    lines = pathlib.Path(rest[1]).read_text().split("\n")
    before = {name: int(number) for name, number in (line.split() for line in lines if line)}
    for name, number in now.items():
        print(f"{name:24} {before.get(name, 0):12} {number:12} {number / before.get(name, number) - 1:+8.2%}")
    sys.exit(not compare(now, before))


main()
