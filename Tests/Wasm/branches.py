#!/usr/bin/env python3
"""Counts what may take a time that depends on data in the functions of the WebAssembly module: branches, `select`,
divisions. Compares the counts of the functions that handle secrets with Tests/Wasm/branches.txt.

WebAssembly does not say whether an engine runs `select` as a branch, and valgrind cannot follow secrets through a
module, as `make ctime` does through libmpin.so. So a person has to read each function of the table once, and this test
tells when one has changed. `branches.py --write` writes the table anew.
"""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLE = Path(__file__).with_suffix(".txt")
KINDS = ["if", "br_if", "br_table", "select", "div", "rem"]
INSTRUCTION = re.compile(r"\| +(if|br_if|br_table|select|i(?:32|64)\.(div|rem)_[su])\b")
FUNCTION = re.compile(r"^[0-9a-f]+ func\[\d+\] <(.+)>:$")
#: Our own modules, what GMP computes with secrets, and the product and shifts of 128 bits.
SECRET = re.compile(
    r"\$e\d+(BN254CX|MPinCrypto|MPinABI|MPinSecrets)|__gmpn_(sec_|cnd_|mul_1$|addmul_1$|submul_1$|add_n$|sub_n$"
    r"|mul_basecase$|sqr_basecase$|lshift$|rshift$|copyi$)|__multi3|__(ash|lsh)[lr]ti3|sodium_|crypto_|SHA256_|memcpy|memset"
)
#: Of these the functions that see public values only: identities, hashes and their points.
PUBLIC = re.compile(r"Vartime|optionalOctets|hash_id|hash_date|map_to_g1|mapToG1|hashDate")


def counts() -> dict[str, Counter[str]]:
    command = ["wasm-objdump", "--disassemble", ROOT / "build/wasm/mpin-named.wasm"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found: dict[str, Counter[str]] = {}
    name = ""
    for line in text.splitlines():
        if function := FUNCTION.match(line):
            name = function[1]
            if SECRET.match(name) and not PUBLIC.search(name):
                found[name] = Counter()
        elif name in found and (instruction := INSTRUCTION.search(line)):
            found[name][instruction[2] or instruction[1]] += 1
    return found


def demangled(names: list[str]) -> list[str]:
    """The names of Swift functions as people read them. A name that two functions share keeps its mangled form."""
    command = ["swift", "demangle", "--compact", "--simplified"]
    text = subprocess.run(command, input="\n".join(names), check=True, capture_output=True, text=True).stdout
    readable = text.splitlines()
    often = Counter(readable)
    return [short if often[short] == 1 else name for name, short in zip(names, readable)]


def function_of(row: str) -> str:
    return row[9 * len(KINDS) :]


def table() -> str:
    found = counts()
    names = sorted(found)
    rows = [
        " ".join(f"{found[name][kind]:8}" for kind in KINDS) + "  " + shown for name, shown in zip(names, demangled(names))
    ]
    rows.sort(key=function_of)
    return "\n".join(["#" + " ".join(f"{kind:>8}" for kind in KINDS)[1:] + "  function", *rows]) + "\n"


def main() -> None:
    now = table()
    if sys.argv[1:] == ["--write"]:
        TABLE.write_text(now)
        return
    before = TABLE.read_text()
    if now != before:
        changed = sorted(set(now.splitlines()) ^ set(before.splitlines()), key=function_of)
        sys.exit("Counts of branches changed; read these functions, then branches.py --write:\n" + "\n".join(changed))
    print("1 passed")


if __name__ == "__main__":
    main()
