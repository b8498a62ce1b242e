#!/usr/bin/env python3
"""Checks that the manual pages and the HTML reference of the C headers are well-formed, and that they contain every
function and constant.

usage: reference.py FOLDER-OF-PAGES FOLDER-OF-HTML HEADER...
"""

import html
import re
import subprocess
import sys
from pathlib import Path


def said(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, ""), (command, done.stdout, done.stderr)
    return done.stdout


def code(header: str) -> str:
    return re.sub(r"/\*.*?\*/", "", Path(header).read_text(), flags=re.DOTALL)


def main() -> int:
    pages, folder, headers = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]
    functions = {name for header in headers for name in re.findall(r"^MPIN_API[^;(]*?(\w+)\(", code(header), re.MULTILINE)}
    constants = {
        name
        for header in headers
        for name in re.findall(r"^#define (MPIN_\w+) \S", code(header), re.MULTILINE)
        if name not in {"MPIN_API", "MPIN_CHECK"}
    }
    assert len(functions) > 120 and len(constants) > 60, (len(functions), len(constants))

    own = [page for page in sorted(pages.glob("*.3")) if not page.is_symlink()]
    for page in own:
        said("mandoc", "-T", "lint", "-W", "warning", str(page))
    print(f"ok: {len(own)} manual pages are well-formed")

    for name in sorted(functions):
        page = pages / f"{name}.3"
        text = page.read_text()
        assert re.search(rf"^\.Nm {name}\b", text, re.MULTILINE) and f".Fo {name}\n" in text, name
        assert re.search(rf"^\.It (.* , )?Fn {name}\b", text, re.MULTILINE), name
    print(f"ok: man names each of {len(functions)} functions, what it takes and what it does")

    text = "\n".join(page.read_text() for page in own)
    missing = {name for name in constants if f".It Dv {name} " not in text}
    assert not missing, missing
    groups = re.findall(r"^\.It Xr (\w+) 3$", (pages / "mpin.3").read_text(), re.MULTILINE)
    assert len(groups) >= 12 and all((pages / f"{group}.3").is_file() for group in groups), groups
    print(f"ok: {len(constants)} constants; mpin(3) lists {len(groups)} groups")

    shown = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page.read_text())) for page in folder.glob("group__*.html"))
    words = set(re.findall(r"\w+", shown))
    assert not (functions | constants) - words, (functions | constants) - words
    print("ok: the HTML reference names them all")
    print("4 passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
