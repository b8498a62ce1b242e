#!/usr/bin/env python3
"""Checks that the manual pages are well-formed and describe exactly what the programs' own help describes.

usage: man.py FOLDER-OF-PAGES MPIN-CLI MPIND
"""

import re
import subprocess
import sys
from pathlib import Path


def said(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, (command, done.stderr)
    return done.stdout


def help_of(program: str, *command: str) -> str:
    return said(program, "help", *command)


def subcommands(text: str) -> list[str]:
    """Returns the names under SUBCOMMANDS in a help screen."""
    listed = text.partition("SUBCOMMANDS:")[2]
    return re.findall(r"^  ([a-z][a-z0-9-]*)(?: \(default\))?(?:  |$)", listed, re.MULTILINE)


def long_options(text: str) -> set[str]:
    return set(re.findall(r"--[a-z][a-z0-9-]*", text))


def page_options(page: str) -> set[str]:
    return {f"-{name}" for name in re.findall(r"\bFl (-[a-z][a-z0-9-]*)", page)}


def page_commands(page: str) -> set[str]:
    """Returns the commands in the page's lists, such as "user show"."""
    items = " , ".join(re.findall(r"^\.It Cm (.+)$", page, re.MULTILINE))
    return {item.strip() for item in items.split(" , ")}


def page_codes(page: str) -> set[str]:
    return set(re.findall(r"^\.It ([0-9]+)$", page, re.MULTILINE))


def is_well_formed(path: Path) -> None:
    said("mandoc", "-T", "lint", "-W", "warning", str(path))
    done = subprocess.run(["man", "--warnings", "-l", str(path)], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr


def check_client(page: str, program: str) -> None:
    top = help_of(program)
    commands = [
        [name, *below] for name in subcommands(top) for below in map(str.split, subcommands(help_of(program, name)) or [""])
    ]
    names = {" ".join(command) for command in commands} | {"help"}
    assert len(commands) >= 24 and page_commands(page) == names, page_commands(page) ^ names
    options = set().union(*(long_options(help_of(program, *words).partition("OPTIONS:")[2]) for words in commands))
    assert page_options(page) == options, page_options(page) ^ options
    codes = set(re.findall(r"\b([0-9]+) [a-z]", re.sub(r"\s+", " ", top.partition("Exit codes:")[2]).partition(".")[0]))
    assert len(codes) >= 6 and page_codes(page) == codes, (page_codes(page), codes)


def check_server(page: str, program: str) -> None:
    commands: set[str] = {"help"}
    known = long_options(said(program, "serve", "--help") + help_of(program))
    for name in subcommands(help_of(program)):
        deeper = [below for below in subcommands(help_of(program, name)) if below != "run"]
        commands |= {f"{name} {below}" for below in deeper}
        known |= set().union(*(long_options(help_of(program, name, below)) for below in deeper))
        if not deeper or name == "dta":
            commands.add(name)
    assert len(commands) >= 15 and page_commands(page) == commands, page_commands(page) ^ commands
    assert page_options(page) <= known, page_options(page) - known
    assert page_codes(page) == set(re.findall(r"\b([0-9]+)\b", documented_codes())), page_codes(page)


def documented_codes() -> str:
    """Returns the sentence about exit codes in docs/operating.md."""
    text = (Path(__file__).parents[2] / "docs/operating.md").read_text()
    return text.partition("Exit codes:")[2].partition(".")[0]


def main() -> int:
    folder, client, server = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    for name in ("mpin-cli.1", "mpind.8"):
        is_well_formed(folder / name)
        print(f"ok: {name} is well-formed")
    check_client((folder / "mpin-cli.1").read_text(), client)
    print("ok: mpin-cli.1 has every command, option and exit code, and no other")
    check_server((folder / "mpind.8").read_text(), server)
    print("ok: mpind.8 has every command and exit code, and no unknown option")
    print("4 passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
