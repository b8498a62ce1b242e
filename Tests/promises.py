#!/usr/bin/env python3
"""Checks that every test that docs/attacks.md and SECURITY.md name exists: a method of a Swift class, a class of such tests, a
Python function, a function of a C program, a test of a JavaScript file, a target of the Makefile. Every row of docs/attacks.md
must name one."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "Tests"
METHOD = re.compile(r"(?:([A-Z]\w*)\.)?(test\w+|…\w+)")
CLASS = re.compile(r"[A-Z]\w*Tests")
PYTHON = re.compile(r"(test_\w+)(?:\.py: |\.)(test_\w+)(?:\[\w+\])?")
FUNCTION = re.compile(r"(test_\w+)(?:\[\w+\])?")


class Known:
    """The tests of the repository."""

    def __init__(self) -> None:
        self.methods: dict[str, set[str]] = {}
        for path in TESTS.rglob("*.swift"):
            name = ""
            pattern = r"\b(?:class|extension) (\w+Tests)\b|^\s*func (test\w+)"
            for found in re.finditer(pattern, path.read_text(), re.MULTILINE):
                name = found[1] or name
                self.methods.setdefault(name, set()).update([found[2]] if found[2] else [])
        self.functions = {
            path.stem: set(re.findall(r"^(?:async )?def (\w+)", path.read_text(), re.MULTILINE))
            for folder in (TESTS, ROOT / "bindings/python/tests")
            for path in folder.rglob("*.py")
        }  # fmt: skip
        self.programs = {path.stem: path.read_text() for path in (TESTS / "C").glob("*.c*")}
        self.scripts = {path.name: path.read_text() for path in (TESTS / "JS").glob("*.test.mjs")}
        makefiles = [ROOT / "Makefile", *(ROOT / "Sources").glob("*/*.mk")]
        rules = re.findall(r"^([\w -]+):(?!=)", "\n".join(path.read_text() for path in makefiles), re.MULTILINE)
        self.targets = {name for rule in rules for name in rule.split()}

    def has_method(self, name: str, method: str) -> bool:
        methods = self.methods.get(name, set())
        if method.startswith("…"):
            return any(known.endswith(method[1:]) for known in methods)
        return method in methods


def wrong(text: str, known: Known) -> Iterator[str]:
    """Yields the names in `text` of which there is no test. A name without a class is one of the class before it."""
    last = ""
    for quoted, file in re.findall(r"`([^`]+)`(?: \((\w+(?:\.test)?\.\w+)\))?", re.sub(r"\s*\n\s*", " ", text)):
        if file.endswith(".mjs"):
            is_there = f'"{quoted}"' in known.scripts.get(file, "") or f"'{quoted}'" in known.scripts.get(file, "")
        elif found := PYTHON.fullmatch(quoted):
            is_there = found[2] in known.functions.get(found[1], set())
        elif found := FUNCTION.fullmatch(quoted):
            is_there = any(found[1] in functions for functions in known.functions.values())
        elif found := METHOD.fullmatch(quoted):
            last = found[1] or last
            is_there = known.has_method(last, found[2])
        elif CLASS.fullmatch(quoted):
            last, is_there = quoted, bool(known.methods.get(quoted))
        elif found := re.fullmatch(r"make ([\w-]+)", quoted):
            is_there = found[1] in known.targets
        elif quoted.endswith("_test") and re.fullmatch(r"\w+", quoted):
            is_there = quoted in known.programs
        else:
            continue
        if not is_there:
            yield quoted


def rows(known: Known) -> Iterator[str]:
    """Yields what is wrong with the rows of docs/attacks.md."""
    before = ""
    for number, line in enumerate((ROOT / "docs/attacks.md").read_text().splitlines(), 1):
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) != 3 or cells[2] in ("test", "---"):
            before = "" if not cells else before
            continue
        test = before if cells[2] in ("the same", "the same test") else cells[2]
        for program, function in re.findall(r"(\w+_test)\.c(?: \(`(\w+)`\))?", test):
            if not re.search(rf"\b{function}\b", known.programs.get(program, "\n")):
                yield f"docs/attacks.md:{number}: there is no {program}.c ({function})"
        names = re.sub(r"\w+_test\.c(?: \(`\w+`\))?", "", test)
        for name in wrong(names, known):
            yield f"docs/attacks.md:{number}: there is no {name}"
        if not test or not is_named(test):
            yield f"docs/attacks.md:{number}: the row names no test"
        before = test


def is_named(test: str) -> bool:
    return test == "not tested" or bool(re.search(r"`[^`]*[tT]est\w*[^`]*`|_test\.c|\.test\.mjs", test))


def main() -> int:
    known = Known()
    security = (ROOT / "SECURITY.md").read_text()
    found = [*rows(known), *(f"SECURITY.md: there is no {name}" for name in wrong(security, known))]
    print("".join(f"promises: error: {text}\n" for text in found), end="")
    if found:
        return 1
    print("each row of docs/attacks.md names a test or says that there is none, and each test that it and SECURITY.md name exists: 1 passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
