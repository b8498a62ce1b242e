#!/usr/bin/env python3
"""Writes C source that defines every function of the public headers with an empty body.

Compiled with debug information it is a library with exactly the types of the headers: a witness of their ABI, for
abidw. The real library is Swift and carries no C types.

    witness.py HEADER... >witness.c
"""

import re
import subprocess
import sys

PROTOTYPE = re.compile(r"((?:const )?\w+)\s+(\*?)(mpin_\w+)\s*\(([^;{]*)\)$", re.DOTALL)


def prototypes(header: str) -> list[tuple[str, str, str]]:
    """Returns the result type, the name and the parameters of each function that the header declares."""
    text = subprocess.run(
        ["gcc", "-E", "-P", "-DMPIN_NO_ATTRIBUTES", header], check=True, capture_output=True, text=True
    ).stdout
    found = []
    # The text is split at semicolons. The members of structures end with semicolons, too, so they are removed first.
    for statement in re.sub(r"\{[^{}]*\}", "{}", text).split(";"):
        match = PROTOTYPE.match(statement.strip())
        if match:
            found.append((f"{match[1]} {match[2]}", match[3], " ".join(match[4].split())))
    return found


def main() -> None:
    for header in sys.argv[1:]:
        print(f'#include "{header}"')
    seen: set[str] = set()
    for header in sys.argv[1:]:
        for result, name, parameters in prototypes(header):
            if name in seen:
                continue
            seen.add(name)
            body = "" if result.strip() == "void" else "return 0;"
            print(f"{result}{name}({parameters}) {{ {body} }}")


main()
