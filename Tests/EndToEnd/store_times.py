#!/usr/bin/env python3
"""Tests that the time of an answer reveals nothing either where the state is in PostgreSQL, or what is good for minutes in
Redis beside it: the checks of `make times-test`, with fewer samples.

Run by `make store-times-test`. The last line is "N passed, N failed".
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from pathlib import Path

import checks
from cluster import Database, Redis, stores
from node import Server
from permit_times import permit_times
from soak import answer_times

#: The samples of one identity.
EACH = 50


def times(folder: Path, redis: Redis | None, samples: int, only: str | None) -> int:
    """Runs the checks at a server with its own database."""
    database = Database(redis)
    folder.mkdir()
    server = Server(folder / "server", options=stores(database))
    server.start()

    def mend() -> None:
        server.kill()
        server.start()

    def forget() -> None:
        if redis:
            redis.signal(signal.SIGKILL)
            redis.start_again()
        else:
            database.ask("TRUNCATE short_lived_item")

    named: list[checks.Check] = [
        ("answer times", lambda: answer_times(server, samples, each=EACH, forget=forget)),
        ("busy times", lambda: answer_times(server, samples // 2, each=EACH // 2, connections=16, forget=forget)),
        ("permit times", lambda: permit_times(server, samples)),
    ]
    try:
        return checks.run(named, only, mend)
    finally:
        server.kill()
        database.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=6000, help="answers whose times are compared, of each kind")
    parser.add_argument("--redis", action="store_true", help="keep what is good for minutes in Redis")
    parser.add_argument("--only", metavar="NAME", help="this check alone")
    options = parser.parse_args()
    redis = Redis() if options.redis else None
    with tempfile.TemporaryDirectory() as folder:
        status = times(Path(folder) / "stores", redis, options.samples, options.only)
    if redis:
        redis.close()
    return status


if __name__ == "__main__":
    sys.exit(main())
