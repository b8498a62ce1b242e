#!/usr/bin/env python3
"""Tests servers of an earlier version and of this one side by side on one PostgreSQL database, and with --redis a Redis server
too, as during a rolling upgrade.

Run by `make upgrade-test`, which builds the earlier version. The last line is "N passed, N failed".
"""

from __future__ import annotations

import argparse
import filecmp
import subprocess
import sys
import tempfile
from pathlib import Path

import checks
from audits import mpind
from cluster import Database, Redis, any_node, guesses, stores, storm, waking
from fronts import Crowd, patiently, rolled
from node import PIN, PROGRAM, Server
from phone import wait_until
from roaming import Roaming, registered
from two_nodes import refusal

#: What a later version might add, as mpind does it: under its advisory lock, with what a program needs to know.
STEP = """
    BEGIN;
    SELECT pg_advisory_xact_lock(x'6d70696e'::int);
    SET LOCAL lock_timeout = '2s';
    CREATE TABLE later_item (key text PRIMARY KEY, value bytea);
    ALTER TABLE lasting_item ADD COLUMN later text, ADD COLUMN last bigint NOT NULL DEFAULT 0;
    ALTER TABLE short_lived_item ADD COLUMN later text;
    INSERT INTO mpind_schema (step, needs) SELECT 'a step of a later version', count(*) FROM mpind_schema;
    COMMIT
"""


def carried(before: Server, after: Server, url: str, when: str = "") -> str:
    """What people and operators did at one version holds at the other: identities, wrong PINs, right PINs, revocations."""
    for number, (first, second) in enumerate([(before, after), (after, before)]):
        names = (f"{name}{when}{number}@example.com" for name in ("once", "twice", "revoked"))
        once, twice, revoked = (registered([first], name) for name in names)
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


def expanded(folder: Path, before: Server, after: Server, database: Database) -> str:
    """Adds to the schema what a later version might add (it expands), while people log in at both versions. No login fails.
    Servers of both versions go on as before; others also start then, and the commands of both work."""
    with Crowd(before.backend) as old, Crowd(after.backend) as new:
        for crowd in (old, new):
            crowd.go_on(10)
        wait_until(lambda: is_done(database, STEP))
        for crowd in (old, new):
            crowd.go_on(10)
    for phone in old.phones + new.phones:
        assert refusal(phone, "4321") == 401
    carried(before, after, database.url, "-expanded")
    steps(before, after)
    for like in (before, after):
        name = f"started-{like.folder.name}"
        started = Server(
            folder / name, state=after.state, log_level="debug", options=stores(database), program=like.program
        )  # fmt: skip
        try:
            started.start()
            carried(before, started, database.url, f"-{name}")
            for phone in old.phones:
                patiently(lambda phone=phone: Roaming([started], phone.user, like=phone).login(PIN))
        finally:
            started.kill()
    return f"{len(old.logged_in)} and {len(new.logged_in)} logins at the two versions, 0 failed"


def sealed(nodes: list[Server], database: Database) -> str:
    """Gives the records MACs, when no server of the earlier version runs any more: first the servers write them, and then all
    records have one. Only logins that had begun may fail, and no wrong PIN is forgotten. A record without a MAC is refused,
    until the operator takes it as it is."""
    before, after, other = nodes
    place = after.service(database.url)
    kept, twice = (registered([after], f"{name}@example.com") for name in ("sealed", "sealed-twice"))
    for wrong in ("4321", "4322"):
        assert refusal(twice, wrong) == 401
    for node in (before, other):
        node.kill()
    # What is good for minutes ends with the names of before.
    with Crowd(after.backend, lambda: lambda: True) as crowd:
        crowd.go_on(10)
        said = mpind("migrate", "--seal", *place)
        crowd.go_on(10)
    assert "records have got a MAC" in said, said
    assert mpind("migrate", "--seal", *place) == "nothing to do: all records have MACs\n"
    wait_until(lambda: Path(after.state, "rps.sealed").exists())
    kept.login(PIN)
    assert refusal(twice, "4323") == 410
    # Whoever goes back to the earlier version by mistake changes nothing.
    late = subprocess.run([str(before.program), *before.options], capture_output=True, timeout=60)
    assert late.returncode == 1, late.stderr
    database.ask("UPDATE lasting_item SET value = substr(value, 1, length(value) - 29) WHERE kind = 'identity'")
    assert refusal(kept, PIN) == 503
    after.kill()
    assert " records have got a MAC" in mpind("migrate", "--reseal", *place)
    after.start()
    kept.login(PIN)
    assert refusal(twice, PIN) == 410
    assert len(crowd.lost) <= len(crowd.phones), f"{len(crowd.lost)} logins lost"
    return f"{len(crowd.logged_in)} logins meanwhile, {len(crowd.lost)} that had begun were lost"


def is_done(database: Database, statements: str) -> bool:
    """Sends statements to the database. False if they could not get a lock; then they have changed nothing."""
    done = subprocess.run(
        database.psql("-v", "ON_ERROR_STOP=1", "-c", statements), capture_output=True, text=True, check=False
    )  # fmt: skip
    assert done.returncode == 0 or "lock timeout" in done.stderr, done.stderr
    return done.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path, required=True, metavar="MPIND", help="the server of the earlier version")
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--redis", action="store_true", help="keep what is good for minutes in Redis")
    parser.add_argument("--only", metavar="NAME", help="this check alone")
    options = parser.parse_args()
    assert not filecmp.cmp(options.before, PROGRAM, shallow=False), "both versions are the same program"
    redis = Redis() if options.redis else None
    database = Database(redis)
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
            (
                "rolled",
                lambda: rolled(folder / "rolled", first.state, stores(database), 20, [PROGRAM, options.before], is_whole=True),
            ),
            ("expanded", lambda: expanded(folder, before, after, database)),
            ("sealed", lambda: sealed(nodes, database)),
        ]
        status = checks.run(named, options.only)
        for node in nodes:
            node.kill()
    database.close()
    if redis:
        redis.close()
    return status


if __name__ == "__main__":
    sys.exit(main())
