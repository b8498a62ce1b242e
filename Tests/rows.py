#!/usr/bin/env python3
"""Checks that each row of the checklist of the OpenID provider has a test that names it, as `Row 8: ...`,
`Rows 2 to 5`, `test_rows_7_8_and_20_...` or `testRows1And73...`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent
FILES = ["EndToEnd/test_*.py", "MPinOpenIDTests/**/*.swift", "MPinServerTests/OpenID*.swift"]
#: The rows are 1 to 75. Row 47 is about features that the provider does not have yet.
LAST, LATER = 75, {47}
NUMBER = r"\d+(?:(?: to |_to_)\d+)?"
SENTENCE = re.compile(rf"(?:\b|_)rows?[ _]({NUMBER}(?:(?:, and |, | and |_and_|_){NUMBER})*)", re.IGNORECASE)
CAMEL = re.compile(r"\btestRows?((?:\d+(?:And)?)+)")


def numbers(text: str) -> set[int]:
    """Returns the rows that a text names."""
    flowing = re.sub(r"\s*\n[ \t]*(?:///?|#)?[ \t]*", " ", text)
    found: set[int] = set()
    for sentence in SENTENCE.findall(flowing):
        for first, last in re.findall(r"(\d+)(?:(?: to |_to_)(\d+))?", sentence):
            found |= set(range(int(first), int(last or first) + 1))
    for name in CAMEL.findall(text):
        found |= {int(number) for number in re.findall(r"\d+", name)}
    return found


def main() -> int:
    paths = [path for pattern in FILES for path in sorted(TESTS.glob(pattern))]
    named = set().union(*(numbers(path.read_text()) for path in paths))
    missing = sorted(set(range(1, LAST + 1)) - LATER - named)
    invented = sorted(number for number in named if not 1 <= number <= LAST)
    for number in missing:
        print(f"rows: error: no test names row {number} of the checklist")
    for number in invented:
        print(f"rows: error: a test names row {number}, which the checklist does not have")
    if missing or invented:
        return 1
    print(f"{LAST - len(LATER)} rows of the checklist have tests: 1 passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
