#!/usr/bin/python3
"""Writes bindings/js/status.js and status.d.ts from the statuses of include/mpin.h; --check only compares them."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NOTE = "// Written by Sources/Wasm/status.py from include/mpin.h: its version, and the statuses without MPIN_.\n\n"


def statuses() -> dict[str, int]:
    """The definitions between `typedef ... mpin_status;` and the function that names them."""
    header = (ROOT / "include/mpin.h").read_text()
    section = header.split("typedef int32_t mpin_status;")[1].split("mpin_status_name(mpin_status status)")[0]
    return {name: int(number) for name, number in re.findall(r"^#define MPIN_(\w+) (\d+)$", section, re.MULTILINE)}


def version() -> str:
    return re.search(r'^#define MPIN_VERSION "(.*)"$', (ROOT / "include/mpin.h").read_text(), re.MULTILINE)[1]


def files() -> dict[str, str]:
    members = "".join(f"  {name}: {number},\n" for name, number in statuses().items())
    types = "".join(f"  readonly {name}: {number};\n" for name, number in statuses().items())
    return {
        "status.js": f"{NOTE}export const VERSION = \"{version()}\";\n\nexport const Status = Object.freeze({{\n{members}}});\n",
        "status.d.ts": f"{NOTE}export declare const VERSION: string;\n\nexport declare const Status: {{\n{types}}};\n"
        "export type StatusName = keyof typeof Status;\n",
    }


def main() -> int:
    old = False
    for name, text in files().items():
        path = ROOT / "bindings/js" / name
        if sys.argv[1:] != ["--check"]:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            print(f"bindings/js/{name} is not what include/mpin.h says: run Sources/Wasm/status.py", file=sys.stderr)
            old = True
    return int(old)


if __name__ == "__main__":
    sys.exit(main())
