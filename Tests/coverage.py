#!/usr/bin/env python3
"""Prints how many lines of each module the tests execute. Fails if they are too few in a module.

    coverage.py SUMMARY.json      the output of `llvm-cov export -summary-only`
"""

import collections
import json
import re
import sys

# The smallest allowed percentage of executed lines, for each module of the client.
REQUIRED = {"MPinSDK": 90, "MPinABI": 90, "MPinSession": 95, "BN254CX": 90, "MPinCrypto": 90, "MPinHTTP": 90,
    "MPinSecrets": 90, "MPinWire": 80}


def main() -> int:
    lines: "dict[str, list[int]]" = collections.defaultdict(lambda: [0, 0])
    for file in json.load(open(sys.argv[1]))["data"][0]["files"]:
        module = re.search(r"/Sources/(\w+)/", file["filename"])
        if module and module[1] in REQUIRED and "/checkouts/" not in file["filename"]:
            counts = file["summary"]["lines"]
            lines[module[1]][0] += counts["covered"]
            lines[module[1]][1] += counts["count"]
    failed = [name for name in REQUIRED if name not in lines]
    for name, (covered, count) in sorted(lines.items()):
        share = 100 * covered / max(count, 1)
        enough = share >= REQUIRED[name]
        print(f"  {name:<11} {share:5.1f} % of {count} lines{'' if enough else f', less than {REQUIRED[name]} %'}")
        if not enough:
            failed.append(name)
    print(f"coverage: {len(REQUIRED) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


sys.exit(main())
