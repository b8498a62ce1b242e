#!/usr/bin/env python3
"""Writes the results of mpin-bench and mpin-load into Sources/NUMBERS.md, or checks that page.

    numbers.py bench|load FILE            rewrites that part of the page from the JSON in FILE
    numbers.py --check bench|load FILE    fails if page and JSON have different rows, or rows that contradict each other
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "Sources/NUMBERS.md"

Rows = list[list[str]]


def said(*command: str) -> str:
    """The first line that a program prints; empty if the program cannot be run."""
    try:
        output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""
    return output.partition("\n")[0].strip()


def found(pattern: str, path: str) -> str:
    match = re.search(pattern, Path(path).read_text(), re.MULTILINE)
    return match[1] if match else "unknown"


def circumstances() -> str:
    """Returns the version, the date and a description of the machine."""
    version = found(r'^#define MPIN_VERSION "(.*)"', str(ROOT / "include/mpin.h"))
    commit = said("git", "rev-parse", "--short", "HEAD")
    date = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    processor = found(r"^model name\s*: (.*)", "/proc/cpuinfo")
    memory = int(found(r"^MemTotal:\s*(\d+)", "/proc/meminfo")) / 1e6
    system = found(r'^PRETTY_NAME="(.*)"', "/etc/os-release")
    swift = re.sub(r".*version (\S+).*", r"\1", said("swift", "--version"))
    gmp = said("dpkg-query", "-W", "-f", "${Version}\n", "libgmp10")
    return (
        f"Version {version}, commit {commit}, {date}. {processor}, {os.cpu_count()} processors, {memory:.0f} GB;\n"
        f"{system}, Linux {platform.release().partition('-')[0]}, Swift {swift}, GMP {gmp}."
    )


def number(value: float) -> str:
    """Returns the number as text with about three digits: without decimals from 100 on, with three decimals below 2."""
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3
    return f"{value:,.{digits}f}"


def bench_rows(timings: list[dict[str, Any]]) -> Rows:
    """Returns the rows of the bench, in U (the time in which GMP multiplies two numbers of 4 limbs) and in
    microseconds. All microseconds are computed with the median U of the run, so that the rows agree even if the speed
    of the machine changes in between."""
    unit = unit_of(timings)
    rows = [["operation", "U", "µs"]]
    for timing in timings:
        rows.append([f"`{timing['name']}`", number(timing["ratio"]), number(timing["ratio"] * unit / 1000)])
    return rows


def unit_of(timings: list[dict[str, Any]]) -> float:
    """Returns the nanoseconds of one U: the median of the values that were measured together with the rows."""
    units = sorted(float(timing["unit"]) for timing in timings)
    return units[len(units) // 2]


# The parts of some operations. Their sum must equal the whole operation within PER_CENT.
PARTS = {
    "login_server": ["challenge", "server_2"],
    "login_client": ["random_generate", "client_1", "client_2"],
    "pairing": ["miller_loop", "final_exponentiation"],
}
PER_CENT = 5

# What a login at a project of MIRACL Trust may cost its client, in U: pass 1 with the point that is kept with the token
# (mapping the M-Pin ID would cost 1,000 U more), and pass 2. A busy machine measures a few per cent more than the page.
MOST = {("client_1_dvs", "client_2"): 9_200}


def too_slow(units: dict[str, float], per_cent: float = 0) -> list[str]:
    wrong = []
    for parts, most in MOST.items():
        total = sum(units[part] for part in parts)
        if total > most * (1 + per_cent / 100):
            wrong.append(f"{' + '.join(parts)} {number(total)} U are more than {number(most)} U")
    return wrong


def disagreements(units: dict[str, float]) -> list[str]:
    wrong = []
    for whole, parts in PARTS.items():
        total = sum(units[part] for part in parts)
        if abs(units[whole] - total) > total * PER_CENT / 100:
            wrong.append(f"{whole} {number(units[whole])} U is not {' + '.join(parts)}, {number(total)} U")
    return wrong


def units_of_page(text: str) -> dict[str, float]:
    rows = re.findall(r"^\| `(\w+)` \| ([\d.,]+) \| ([\d.,]+) \|$", text, re.MULTILINE)
    return {name: float(units.replace(",", "")) for name, units, _ in rows}


def load_rows(report: dict[str, Any]) -> Rows:
    openid, trust = report["openID"], report["trust"]
    signature = openid["signatureMicroseconds"]
    return [
        ["a server under load", ""],
        ["logins a second", number(report["loginsPerSecond"])],
        ["latency, half of them within", f"{number(report['p50Milliseconds'])} ms"],
        ["latency, 95 of 100 within", f"{number(report['p95Milliseconds'])} ms"],
        ["latency, 99 of 100 within", f"{number(report['p99Milliseconds'])} ms"],
        ["CPU of a login", f"{number(report['cpuUnits'])} U, {number(report['cpuMicroseconds'])} µs"],
        ["registrations a second", number(report["registrationsPerSecond"])],
        [f"memory after {report['registrations']:,} registrations", f"{number(report['megabytesAfterRegistrations'])} MB"],
        ["memory after the logins", f"{number(report['megabytesAtEnd'])} MB"],
        ["OpenID logins a second", number(openid["loginsPerSecond"])],
        ["CPU of an OpenID login", f"{number(openid['cpuMicroseconds'])} µs"],
        ["the RSA signature in it", f"{number(signature)} µs"],
        ["the rest, in plain logins", number(openid["times"])],
        ["CPU of a login page", f"{number(openid['pageMicroseconds'])} µs"],
        ["Trust logins a second", number(trust["loginsPerSecond"])],
        ["CPU of a Trust login", f"{number(trust['cpuMicroseconds'])} µs"],
        ["the RSA signature of its token", f"{number(trust['signatureMicroseconds'])} µs"],
        ["the rest of it, in plain logins", number(trust["times"])],
    ]


def table(rows: Rows) -> str:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    lines.insert(1, "|---" + "|---:" * (len(rows[0]) - 1) + "|")
    return "\n".join(lines)


def part(name: str) -> re.Pattern[str]:
    return re.compile(f"(?<=<!-- {name} -->\n).*?(?=<!-- end of {name} -->)", re.DOTALL)


def names(rows: list[str]) -> list[str]:
    """Returns the first column of each row, with its numbers replaced by "N", because some of them are measured."""
    return [re.sub(r"[\d,]+", "N", row.split("|")[1].strip()) for row in rows if row.startswith("| ")]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("part", choices=["bench", "load"])
    parser.add_argument("file", type=Path)
    args = parser.parse_args()
    measured = json.loads(args.file.read_text())
    new = table(bench_rows(measured) if args.part == "bench" else load_rows(measured))
    page = PAGE.read_text()
    old = part(args.part).search(page)
    if old is None:
        sys.exit(f"{PAGE.name}: no part named {args.part}")
    mine, theirs = names(old[0].splitlines()), names(new.splitlines())
    if args.check and mine != theirs:
        sys.exit(f"{PAGE.name} is not of this version, run `make bench load`: {sorted(set(mine) ^ set(theirs))}")
    wrong: list[str] = []
    if args.part == "bench":
        units = units_of_page(old[0] if args.check else new)
        wrong = disagreements(units) + too_slow(units)
        if args.check:
            wrong += too_slow({timing["name"]: timing["ratio"] for timing in measured}, PER_CENT)
    if wrong:
        advice = "" if args.check else ": measure again, on a machine with nothing else to do"
        sys.exit(f"{PAGE.name}: {'; '.join(wrong)}{advice}")
    if args.check:
        print(f"{len(mine) - 1} rows: 1 passed")
        return 0
    unit = unit_of(measured) if args.part == "bench" else measured["unitNanoseconds"]
    text = f"{circumstances()} One U was {unit:.1f} ns.\n\n{new}\n"
    PAGE.write_text(part(args.part).sub(lambda _: text, page))
    return 0


if __name__ == "__main__":
    sys.exit(main())
