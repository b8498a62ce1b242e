#!/usr/bin/env python3
"""Compares the cost of a login with SQLite, with PostgreSQL, and with PostgreSQL and Redis. The servers run at the same
time, and the load goes to each in turn, so that the machine is the same for all. Also counts the processor time of the
database and of Redis.

Run by `make engines-test`. The last line is "N passed, N failed".
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import checks
from cluster import Database, Redis, stores
from node import Server
from size import postgres_time, sql, times

#: How much more a login may cost mpind with PostgreSQL and Redis, at 32 connections. At 8 less is done together.
LIMIT = 1.25


@dataclass
class Engine:
    """A server with its stores, and the processor time of each part for a login, in microseconds."""

    name: str
    server: Server
    mpind: list[float] = field(default_factory=list)
    database: list[float] = field(default_factory=list)
    redis: list[float] = field(default_factory=list)
    speeds: list[float] = field(default_factory=list)

    def forget(self) -> None:
        for numbers in (self.mpind, self.database, self.redis, self.speeds):
            numbers.clear()


def engines(folder: Path, database: Database, redis: Redis) -> list[Engine]:
    """Starts the three servers. The two with PostgreSQL have a database each."""
    made = [Engine("SQLite", Server(folder / "sqlite"))]
    for name, short in (("PostgreSQL", None), ("PostgreSQL and Redis", redis)):
        place = f"engine{len(made)}"
        sql(database.url, f"CREATE DATABASE {place}")
        url = database.url.replace("///mpin?", f"///{place}?")
        database.redis = short
        options = [word if word != database.url else url for word in stores(database)]
        made.append(Engine(name, Server(folder / place, options=options)))
    for engine in made:
        engine.server.start()
    return made


def redis_time(redis: Redis) -> float:
    """The processor time of the Redis server until now, in seconds."""
    return sum(times(redis.pid)[:2]) / os.sysconf("SC_CLK_TCK")


def measure(made: list[Engine], database: Database, redis: Redis, connections: int, rounds: int, seconds: float) -> None:
    """Loads each server in turn. The first round only warms up."""
    for number in range(rounds + 1):
        for engine in made if number % 2 else reversed(made):
            before = (postgres_time(database), redis_time(redis))
            report = engine.server.load(users=100, seconds=seconds, connections=connections)
            assert not report["failures"], report["failures"]
            if number == 0:
                continue
            work = (report["logins"] + report["registrations"]) / 1e6
            engine.mpind.append(report["cpuMicroseconds"])
            engine.speeds.append(report["loginsPerSecond"])
            engine.database.append((postgres_time(database) - before[0]) / work)
            engine.redis.append((redis_time(redis) - before[1]) / work)


def compare(made: list[Engine], connections: int) -> str:
    """Checks what a login costs mpind. Returns a description."""
    lines = [f"{connections} connections"]
    for engine in made:
        ratios = [own / base for own, base in zip(engine.mpind, made[0].mpind, strict=True)]
        ratio = statistics.median(ratios)
        lines.append(
            f"{engine.name}: {statistics.median(engine.mpind):.0f} us of mpind a login, {ratio:.2f} times the first "
            f"({min(ratios):.2f} to {max(ratios):.2f}), {statistics.median(engine.database):.0f} us of PostgreSQL, "
            f"{statistics.median(engine.redis):.0f} us of Redis, {statistics.median(engine.speeds):.0f} logins/s"
        )
    said = "\n    ".join(lines)
    assert connections < 32 or ratio <= LIMIT, said
    return said


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--only", metavar="NAME", help="this check alone")
    options = parser.parse_args()
    redis, database = Redis(), Database()
    with tempfile.TemporaryDirectory() as name:
        made = engines(Path(name), database, redis)

        def cost(connections: int) -> str:
            for engine in made:
                engine.forget()
            measure(made, database, redis, connections, options.rounds, options.seconds)
            return compare(made, connections)

        try:
            return checks.run([(f"cost at {count}", lambda count=count: cost(count)) for count in (32, 8)], options.only)
        finally:
            for engine in made:
                engine.server.kill()
            database.close()
            redis.close()


if __name__ == "__main__":
    sys.exit(main())
