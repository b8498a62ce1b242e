#!/usr/bin/env python3
"""Compares the cost of a login with 1,000 and with 1,000,000 identities, in SQLite and in PostgreSQL. Both servers run at
the same time, and the load goes to each in turn, so that the machine is the same for both.

Run by `make size`. The last line is "N passed, N failed".
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import checks
from cluster import Database, stores
from node import Server, registered
from phone import wait_until

#: How much more a login may cost mpind.
LIMIT = 1.15
CONNECTIONS = 8


@dataclass
class Place:
    """A server with so many identities, and what was measured at it."""

    size: int
    server: Server
    #: The URL of its PostgreSQL database; None: SQLite.
    url: str | None = None
    started: float = 0
    reports: list[dict[str, Any]] = field(default_factory=list)
    #: The processor time of PostgreSQL for a login, in seconds.
    database_costs: list[float] = field(default_factory=list)

    def fill(self) -> None:
        """Makes a first identity by a registration, and the others as copies of it under other keys, as nobody could
        register a million people in a test. The server does not run meanwhile."""
        self.server.start()
        registered(self.server, "copied@example.com")
        self.server.end(signal.SIGTERM)
        if self.url is None:
            fill_sqlite(Path(self.server.state) / "rps.sqlite", self.size)
        else:
            fill_postgres(self.url, self.size)
        self.started = self.server.start()

    def median(self, name: str) -> float:
        return float(statistics.median(report[name] for report in self.reports))


def keys(count: int) -> list[str]:
    return sorted(hashlib.sha256(str(number).encode()).hexdigest() for number in range(count))


def fill_sqlite(file: Path, size: int) -> None:
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA synchronous = off")
    [value] = connection.execute("SELECT value FROM item WHERE kind = 'identity'").fetchone()
    rows = (("identity", key, value) for key in keys(size - 1))
    connection.executemany("INSERT INTO item (kind, key, value) VALUES (?, ?, ?)", rows)
    connection.commit()
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def fill_postgres(url: str, size: int) -> None:
    sql(url, f"""
        INSERT INTO lasting_item (kind, key, value)
            SELECT 'identity', encode(sha256(convert_to(number::text, 'UTF8')), 'hex'),
                (SELECT value FROM lasting_item WHERE kind = 'identity' LIMIT 1)
            FROM generate_series(1, {size - 1}) number""")  # fmt: skip
    sql(url, "VACUUM ANALYZE lasting_item")
    sql(url, "CHECKPOINT")


def sql(url: str, text: str) -> str:
    place = url.replace("postgres:", "postgresql:")
    done = subprocess.run(["psql", "-qXtA", "-d", place, "-c", text], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def postgres_time(database: Database) -> float:
    """The processor time of the PostgreSQL server until now, in seconds, with its processes that have ended."""
    main = int((database.folder / "data/postmaster.pid").read_text().split()[0])
    while True:
        children = Path(f"/proc/{main}/task/{main}/children").read_text().split()
        try:
            ticks = sum(sum(times(pid)[:2]) for pid in children) + sum(times(main))
        except (FileNotFoundError, ProcessLookupError):
            # A process has ended meanwhile, for example one of the autovacuum. All are read again.
            continue
        return ticks / os.sysconf("SC_CLK_TCK")


def times(pid: int | str) -> list[int]:
    """utime, stime, cutime and cstime of a process in ticks."""
    return [int(text) for text in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15]]


def select_time(database: Database, place: Place, folder: Path, seconds: int) -> float:
    """The processor time of PostgreSQL for a prepared SELECT of one identity by its key, in seconds: the unit S."""
    script = folder / "select.sql"
    script.write_text(
        f"\\set number random(1, {place.size - 1})\n"
        "SELECT value FROM lasting_item\n"
        "    WHERE kind = 'identity' AND key = encode(sha256(convert_to(:number::text, 'UTF8')), 'hex');\n"
    )
    assert place.url is not None
    before = postgres_time(database)
    bench = Path(max(Path("/usr/lib/postgresql").glob("*/bin/pgbench"), key=lambda path: int(path.parts[4])))
    command = [str(bench), "-n", "-M", "prepared", "-c", str(CONNECTIONS), "-T", str(seconds), "-f", str(script)]
    place_url = place.url.replace("postgres:", "postgresql:")
    done = subprocess.run([*command, place_url], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = re.search(r"actually processed: (\d+)", done.stdout)
    assert found is not None, done.stdout
    return (postgres_time(database) - before) / int(found[1])


def measure(places: list[Place], rounds: int, seconds: float, database: Database | None) -> None:
    """Loads each place in turn. The first round only warms up."""
    for number in range(rounds + 1):
        for place in places if number % 2 else reversed(places):
            before = postgres_time(database) if database else 0
            report = place.server.load(users=100, seconds=seconds, connections=CONNECTIONS)
            assert not report["failures"], report["failures"]
            if number == 0:
                continue
            place.reports.append(report)
            if database:
                work = report["logins"] + report["registrations"]
                place.database_costs.append((postgres_time(database) - before) / work)


def compare(places: list[Place]) -> str:
    """Checks what a login costs mpind, and its memory. Returns a description."""
    small, large = places
    memory = [place.server.memory() for place in places]
    ratios = [two["cpuMicroseconds"] / one["cpuMicroseconds"] for one, two in zip(small.reports, large.reports, strict=True)]
    ratio = statistics.median(ratios)
    lines = [f"{ratio:.2f} times the cost ({min(ratios):.2f} to {max(ratios):.2f})"]
    for place, megabytes in zip(places, memory, strict=True):
        lines.append(
            f"{place.size} identities: {place.median('cpuMicroseconds'):.0f} us of mpind a login, "
            f"{place.median('loginsPerSecond'):.0f} logins/s, p99 {place.median('p99Milliseconds'):.0f} ms, "
            f"{megabytes:.0f} MB, started in {place.started:.2f} s"
        )
    said = "\n    ".join(lines)
    assert ratio <= LIMIT, said
    assert memory[1] <= memory[0] + 8, said
    return said


def sqlite(folder: Path, sizes: list[int], rounds: int, seconds: float) -> str:
    places = [Place(size, Server(folder / f"sqlite{size}")) for size in sizes]
    try:
        for place in places:
            place.fill()
        measure(places, rounds, seconds, None)
        file = Path(places[1].server.state) / "rps.sqlite"
        return compare(places) + f"\n    {file.stat().st_size / 1e6:.0f} MB for {sizes[1]} identities"
    finally:
        for place in places:
            place.server.kill()


def postgres(folder: Path, sizes: list[int], rounds: int, seconds: float) -> str:
    """Also counts the work of the database in S, the cost of one prepared SELECT in a table of the same size."""
    database = Database()
    places: list[Place] = []
    try:
        for size in sizes:
            url = database.url.replace("///mpin?", f"///size{size}?")
            sql(database.url, f"CREATE DATABASE size{size}")
            options = [word if word != database.url else url for word in stores(database)]
            places.append(Place(size, Server(folder / f"postgres{size}", options=options), url))
        for place in places:
            place.fill()
        before = [whole_table_reads(place) for place in places]
        measure(places, rounds, seconds, database)
        said = compare(places)
        costs = []
        for place in places:
            unit = select_time(database, place, folder, 3)
            cost = statistics.median(place.database_costs)
            costs.append(cost / unit)
            said += f"\n    {place.size} identities: {cost * 1e6:.0f} us of PostgreSQL a login = {cost / unit:.1f} S"
            said += f" (S = {unit * 1e6:.1f} us), {updates(place)}"
        assert costs[1] <= costs[0], f"a login costs PostgreSQL {costs} S"
        for place, earlier in zip(places, before, strict=True):
            place.server.end(signal.SIGTERM)
            said += f"\n    {place.size} identities: {lookups(place, earlier)}; {vacuumed(place)}"
        return said
    finally:
        for place in places:
            place.server.kill()
        database.close()


def updates(place: Place) -> str:
    """How the rows were changed. A HOT update leaves the indexes as they are."""
    assert place.url is not None
    sql(place.url, "SELECT pg_stat_force_next_flush()")
    text = sql(place.url, """
        SELECT n_tup_upd, n_tup_hot_upd, autovacuum_count, pg_total_relation_size(relid) / 1000000
        FROM pg_stat_user_tables WHERE relname = 'lasting_item'""")  # fmt: skip
    changed, hot, vacuums, megabytes = map(int, text.split("|"))
    assert changed > 0 and hot >= 0.8 * changed, f"{hot} of {changed} updates are HOT"
    return f"{100 * hot // changed} % of {changed} updates HOT, {vacuums} autovacuums, {megabytes} MB"


TABLES = ("lasting_item", "short_lived_item")


def whole_table_reads(place: Place) -> dict[str, int]:
    """How often each table of items was read as a whole until now (a sequential scan)."""
    return {table: statistic(place, table, "seq_scan") for table in TABLES}


def lookups(place: Place, before: dict[str, int]) -> str:
    """Checks that all these logins have found what lasts by an index, and what is short-lived, too: that table is small, and
    the collector of what has expired may read it as a whole. The server has ended. A process of PostgreSQL adds to the
    statistics at its end at the latest, so this waits for that."""
    assert place.url is not None
    url = place.url
    there = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    wait_until(lambda: sql(url, f"{there} AND backend_type = 'client backend'") == "0")
    found = whole_table_reads(place)
    by_index = {table: statistic(place, table, "idx_scan") for table in TABLES}
    logins = sum(report["logins"] for report in place.reports)
    assert all(count >= logins for count in by_index.values()), f"{logins} logins, but by an index {by_index}"
    read = {table: found[table] - before[table] for table in TABLES}
    assert read["lasting_item"] == 0 and read["short_lived_item"] < logins / 10, f"tables were read as a whole: {read}"
    return f"{by_index['lasting_item']} reads of the table by an index, 0 of all of it"


def vacuumed(place: Place) -> str:
    """Changes 3 % of the identities, as their logins would, and waits until autovacuum has cleaned the table."""
    assert place.url is not None
    before = statistic(place, "lasting_item", "autovacuum_count")
    count = max(place.size * 3 // 100, 1000)
    for _ in range(-(-count // place.size)):
        sql(place.url, f"""
            UPDATE lasting_item SET value = value || ''::bytea
            WHERE (kind, key) IN (SELECT kind, key FROM lasting_item WHERE kind = 'identity' LIMIT {count})""")  # fmt: skip
    begun = time.monotonic()
    wait_until(lambda: statistic(place, "lasting_item", "autovacuum_count") > before, 300)
    return f"autovacuum after {time.monotonic() - begun:.0f} s"


def statistic(place: Place, table: str, name: str) -> int:
    assert place.url is not None
    return int(sql(place.url, f"SELECT coalesce({name}, 0) FROM pg_stat_user_tables WHERE relname = '{table}'"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs=2, default=[1_000, 1_000_000])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--only", metavar="NAME", help="this check alone")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        named: list[checks.Check] = [
            ("sqlite", lambda: sqlite(folder, options.sizes, options.rounds, options.seconds)),
            ("postgres", lambda: postgres(folder, options.sizes, options.rounds, options.seconds)),
        ]
        return checks.run(named, options.only)


if __name__ == "__main__":
    sys.exit(main())
