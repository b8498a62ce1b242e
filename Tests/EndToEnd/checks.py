"""Runs named checks one after the other, each to its end."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable

Check = tuple[str, Callable[[], str]]


def run(checks: list[Check], only: str | None = None, mend: Callable[[], None] = lambda: None) -> int:
    """Runs all checks, or the one with the name `only`. A check returns what it has seen, or raises an error; then `mend`
    makes the next ones possible. Prints a line for each, and their counts. Returns the exit code of the program."""
    checks = [each for each in checks if only in (None, each[0])]
    failed = 0
    for name, check in checks:
        begun = time.monotonic()
        try:
            said = "ok: " + check()
        except Exception as problem:  # whatever it is, the other checks follow
            failed += 1
            line = traceback.extract_tb(problem.__traceback__)[-1].lineno
            said = f"FAILED: line {line}: {type(problem).__name__} {problem}"
            mend()
        print(f"{name:13} {said}  ({time.monotonic() - begun:.0f} s)", flush=True)
    print(f"{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0
