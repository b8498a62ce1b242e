#!/usr/bin/env python3
"""Tests servers of an earlier version and of this one side by side on one PostgreSQL database, as during a rolling upgrade.

Run by `make upgrade-test`, which builds the earlier version. The last line is "N passed, N failed".
"""

from __future__ import annotations

import argparse
import filecmp
import sys
import tempfile
from pathlib import Path

import checks
from audits import mpind
from cluster import Database, any_node, guesses, stores, storm, waking
from fronts import rolled
from node import PIN, PROGRAM, Server
from roaming import Roaming, registered
from two_nodes import refusal


def carried(before: Server, after: Server, url: str) -> str:
    """What people and operators did at one version holds at the other: identities, wrong PINs, right PINs, revocations."""
    for number, (first, second) in enumerate([(before, after), (after, before)]):
        once, twice, revoked = (registered([first], f"{name}{number}@example.com") for name in ("once", "twice", "revoked"))
        assert refusal(once, "4321") == 401
        for wrong in ("4321", "4322"):
            assert refusal(twice, wrong) == 401
        mpind("user", "revoke", revoked.user, "--database", url, program=first.program)
        once, twice, revoked = (Roaming([second], each.user, like=each) for each in (once, twice, revoked))
        once.login(PIN)
        assert [refusal(twice, "4323"), refusal(twice, PIN), refusal(revoked, PIN)] == [410, 410, 410]
    return "identities, wrong PINs and revocations of each version hold at the other"


def steps(before: Server, after: Server) -> str:
    """Sends every other request of a login to the other version, in both orders."""
    ways = 0
    for first, second in [(before, after), (after, before)]:
        phone = registered([first], f"steps{ways}@example.com")
        one, other = (Roaming([node], phone.user, like=phone) for node in (first, second))
        for at in [(one, other, one), (one, one, other), (other, one, one), (one, other, other)]:
            begun = at[0].pass1(PIN)
            at[2].authenticate(at[1].pass2(at[1].pass2_body(begun)))
            ways += 1
    return f"{ways} logins whose requests went to both versions in turn"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path, required=True, metavar="MPIND", help="the server of the earlier version")
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--only", metavar="NAME", help="this check alone")
    options = parser.parse_args()
    assert not filecmp.cmp(options.before, PROGRAM, shallow=False), "both versions are the same program"
    database = Database()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        first = Server(folder / "0", log_level="debug", options=stores(database), program=options.before)
        # The earlier version makes the tables.
        first.start()
        others = [
            Server(folder / str(number), state=first.state, log_level="debug", options=stores(database), program=program)
            for number, program in enumerate([PROGRAM, options.before], 1)
        ]
        for node in others:
            node.start()
        before, after, _ = nodes = [first, *others]
        named: list[checks.Check] = [
            ("any node", lambda: any_node(nodes, options.people)),
            ("steps", lambda: steps(before, after)),
            ("carried", lambda: carried(before, after, database.url)),
            ("guesses", lambda: guesses([before, after], options.people // 5, 60)),
            ("and back", lambda: guesses([after, before], options.people // 5, 60)),
            ("storm", lambda: storm(nodes, 300)),
            ("waking", lambda: waking(nodes, 6)),
            ("rolled", lambda: rolled(folder / "rolled", first.state, stores(database), 20, [PROGRAM, options.before], False)),
        ]
        status = checks.run(named, options.only)
        for node in nodes:
            node.kill()
    database.close()
    return status


if __name__ == "__main__":
    sys.exit(main())
