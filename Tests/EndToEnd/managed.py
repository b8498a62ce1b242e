#!/usr/bin/env python3
"""Tests three servers whose PostgreSQL database is run by Patroni: two servers of it, of which one takes over when the other
is lost.

Run by `make patroni-test`. The last line is "N passed, N failed".
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import checks
from audits import are_whole_together
from cluster import Database, start
from invariants import Invariants
from node import Server
from phone import wait_until

#: The most seconds until each node takes registrations, after the primary was killed, and after another one takes writes.
RECOVERY, RETURN = 30, 5


class Patroni(Database):
    """Two PostgreSQL servers, a and b, that Patroni runs. One is the synchronous standby of the other."""

    def __init__(self) -> None:
        super().__init__(script="patroni.sh")
        hosts = self.url.removeprefix("postgres://mpin@").partition("/")[0].split(",")
        self._places = {name: self.url.replace(",".join(hosts), host) for name, host in zip("ab", hosts, strict=True)}

    def kill_one(self, name: str) -> None:
        """Kills a Patroni and its PostgreSQL."""
        self._tell("kill", name)

    def rejoin(self, name: str) -> None:
        """Starts a Patroni again, and waits until its PostgreSQL is the synchronous standby."""
        self._tell("start", name)
        self.await_standby()

    def await_standby(self) -> None:
        """Waits until the primary has a synchronous standby."""
        wait_until(lambda: self.ask("SELECT sync_state FROM pg_stat_replication") == "sync", 120)

    def switch_to(self, name: str) -> None:
        """Makes the other server the primary. The old one lives, and becomes the standby."""
        self._tell("switch", name)

    def primary(self) -> str | None:
        """The name of the server that takes writes; None if neither does."""
        return next((name for name in "ab" if self._answer(self._places[name], "SELECT pg_is_in_recovery()") == "f"), None)

    def ask(self, query: str) -> str:
        """The answer of the primary to a query with one value; empty if there is none."""
        return self._answer(f"{self.url}&target_session_attrs=read-write", query)

    @staticmethod
    def _answer(place: str, query: str) -> str:
        command = ["psql", "-qXtA", f"--dbname={place.replace('postgres:', 'postgresql:')}", "-c", query]
        return subprocess.run(command, check=False, capture_output=True, text=True).stdout.strip()

    def _tell(self, what: str, name: str) -> None:
        self.script.tell(f"{what} {name}")
        assert self.script.line() == f"{what} {name}"


def lost_primary(folder: Path, database: Patroni, nodes: list[Server]) -> str:
    """Kills the primary and its Patroni. The standby becomes the primary by itself, and each node takes registrations soon
    after that. Then the killed one is started again and becomes the standby of the other."""
    invariants = Invariants(folder, nodes, database.url)
    with invariants.meanwhile():
        wait_until(lambda: len(invariants) > 12)
        before = database.primary()
        assert before is not None
        begun = time.monotonic()
        database.kill_one(before)
        invariants.readiness.until(False, begun)
        wait_until(database.primary, 120)
        there = time.monotonic()
        invariants.back_at_all()
        recovered = time.monotonic()
        invariants.readiness.until(True, there)
        size = len(invariants)
        wait_until(lambda: len(invariants) > size + 12)
        database.rejoin(before)
        rejoined = time.monotonic()
        size = len(invariants)
        wait_until(lambda: len(invariants) > size + 12)
    assert database.primary() not in (None, before)
    whole, after = recovered - begun, recovered - there
    assert whole < RECOVERY, f"the first registrations came {whole:.1f} s after the kill"
    assert after < RETURN, f"the first registrations came {after:.1f} s after another server took writes"
    said = invariants.check()
    are_whole_together(folder / "audits", nodes, database.url)
    return (
        f"{before} was killed: registrations at each node after {whole:.1f} s, {after:.1f} s after the other took writes; it "
        f"was a synchronous standby {rejoined - recovered:.1f} s later; {said}"
    )


def demoted_primary(folder: Path, database: Patroni, nodes: list[Server]) -> str:
    """Makes the standby the primary, as an operator does. The old primary lives, and the nodes were connected to it."""
    invariants = Invariants(folder, nodes, database.url)
    with invariants.meanwhile():
        wait_until(lambda: len(invariants) > 12)
        before = database.primary()
        assert before is not None
        after = {"a": "b", "b": "a"}[before]
        begun = time.monotonic()
        with ThreadPoolExecutor(1) as threads:
            # patronictl returns some time after the other one takes writes.
            switching = threads.submit(database.switch_to, after)
            wait_until(lambda: database.primary() == after, 120)
            there = time.monotonic()
            invariants.back_at_all()
            recovered = time.monotonic()
            switching.result()
        invariants.readiness.until(True, there)
        database.await_standby()
        rejoined = time.monotonic()
        size = len(invariants)
        wait_until(lambda: len(invariants) > size + 12)
    assert database.primary() == after
    assert recovered - there < RETURN, f"the first registrations came {recovered - there:.1f} s after {after} took writes"
    said = invariants.check()
    are_whole_together(folder / "audits", nodes, database.url)
    return (
        f"{after} took the place of {before} within {there - begun:.1f} s: registrations at each node "
        f"{recovered - there:.1f} s later, {before} a synchronous standby after {rejoined - begun:.1f} s; {said}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", metavar="NAME", help="this check alone")
    options = parser.parse_args()
    database = Patroni()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        nodes = start(folder / "nodes", database)
        named: list[checks.Check] = [
            ("lost primary", lambda: lost_primary(folder / "first", database, nodes)),
            # What was the primary at first becomes it again.
            ("and back", lambda: lost_primary(folder / "second", database, nodes)),
            ("switchover", lambda: demoted_primary(folder / "third", database, nodes)),
        ]
        status = checks.run(named, options.only)
        for node in nodes:
            node.kill()
    database.close()
    return status


if __name__ == "__main__":
    sys.exit(main())
