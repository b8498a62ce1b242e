#!/usr/bin/env python3
"""Compares the cost of a login with that of an earlier version. Both servers run, with SQLite and all parts in one process,
and the load goes to each in turn, so that the machine is the same for both.

Run by `make cost-test`. The last line is "N passed, N failed".
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

import checks
from node import Server

#: For a number of connections: what part of the earlier version's processor time a login may cost, and within how many
#: milliseconds 99 of 100 logins must be done.
LIMITS = {32: (0.70, 30.0), 8: (0.85, None)}


def cost(before: Server, after: Server, connections: int, rounds: int, seconds: float) -> str:
    """Loads both servers in turn; the first round only warms up. Returns a description."""
    ratios, times = [], []
    for number in range(rounds + 1):
        reports = {}
        for server in (before, after) if number % 2 else (after, before):
            reports[server] = server.load(users=100, seconds=seconds, connections=connections)
            assert not reports[server]["failures"], reports[server]["failures"]
        if number:
            ratios.append(reports[after]["cpuMicroseconds"] / reports[before]["cpuMicroseconds"])
            times.append(reports[after]["p99Milliseconds"])
    ratio, p99 = statistics.median(ratios), statistics.median(times)
    limit, latest = LIMITS[connections]
    said = f"{ratio:.2f} of the processor time before ({min(ratios):.2f} to {max(ratios):.2f}), p99 {p99:.1f} ms"
    assert ratio <= limit and (latest is None or p99 <= latest), said
    return said


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path, required=True, metavar="MPIND", help="the server of the earlier version")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--only", metavar="NAME", help="this check alone")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        before, after = Server(folder / "before", program=options.before), Server(folder / "after")
        try:
            for server in (before, after):
                server.start()
            return checks.run(
                [
                    (f"cost at {count}", lambda count=count: cost(before, after, count, options.rounds, options.seconds))
                    for count in LIMITS
                ],
                options.only,
            )
        finally:
            for server in (before, after):
                server.kill()


if __name__ == "__main__":
    sys.exit(main())
