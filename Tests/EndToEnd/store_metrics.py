"""What a server's metrics say of its PostgreSQL database: each value changes by a cause."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Protocol

from phone import wait_until


class Database(Protocol):
    """The database's server (cluster.Database)."""

    def ask(self, query: str) -> str: ...
    def psql(self, *more: str) -> list[str]: ...
    def signal(self, how: signal.Signals) -> None: ...
    def kill(self) -> None: ...
    def start_again(self) -> None: ...


class Metrics:
    """The metrics of the server whose admin listener is at this address."""

    def __init__(self, address: str) -> None:
        self.address = address

    def value(self, name: str, **labels: str) -> float:
        """The sum of all values that have these labels."""
        with urllib.request.urlopen(f"http://{self.address}/metrics", timeout=20) as answer:
            lines = re.findall(rf"^{name}(?:{{(.*)}})? (\S+)$", answer.read().decode(), re.MULTILINE)
        wanted = {f'{label}="{text}"' for label, text in labels.items()}
        return sum(float(value) for has, value in lines if wanted <= set(has.split(",")))

    def check(self) -> tuple[Any, float]:
        """Asks for the health of the server, and returns what that and the metrics say of the database."""
        try:
            with urllib.request.urlopen(f"http://{self.address}/health/ready", timeout=20) as answer:
                report = json.load(answer)
        except urllib.error.HTTPError as error:
            report = json.load(error)
        return report["checks"]["store"], self.value("mpin_health_check", check="store")

    def failures(self, kind: str) -> float:
        return self.value("mpin_store_errors_total", store="lasting", kind=kind)


def of_database(address: str, database: Database, wait_at_commit: str, login: Callable[[], bool]) -> str:
    """address: of the admin listener of a server with one connection for each kind of state (&pool=1).
    wait_at_commit: the statements that let commits wait for the lock 7. login: tries to log in once at this server."""
    metrics = Metrics(address)
    assert metrics.value("mpin_clock_offset_seconds") != 0 and abs(metrics.value("mpin_clock_offset_seconds")) < 1
    wait_until(login)
    for store in ("lasting", "short-lived", "counters"):
        assert metrics.value("mpin_store_connections_most", store=store) == 1, store
        wait_until(lambda store=store: metrics.value("mpin_store_connections", store=store) == 0)
    assert metrics.check() == ("UP", 1)
    waited = waiting(metrics, database)
    before = {kind: metrics.failures(kind) for kind in ("unknown", "unavailable", "conflict")}
    with refusing(database):
        assert not login()
    assert metrics.failures("conflict") > before["conflict"]
    with ThreadPoolExecutor(1) as threads, locked(database):
        database.ask(wait_at_commit)
        lost = threads.submit(login)
        waits = "SELECT count(*) > 0 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        wait_until(lambda: lost.done() or database.ask(waits) == "t")
        database.kill()
        assert not lost.result()
    assert metrics.failures("unknown") > before["unknown"], "the commit whose answer was lost"
    assert metrics.check() == ("DOWN", 0)
    wait_until(lambda: metrics.failures("unavailable") > before["unavailable"])
    database.start_again()
    database.ask("DROP TRIGGER wait ON lasting_item; DROP FUNCTION wait")
    wait_until(lambda: metrics.check() == ("UP", 1))
    return f"{waited:.0f} waited for a connection; conflicts, lost commits and an unavailable database counted"


def waiting(metrics: Metrics, database: Database) -> float:
    """Stops the database while two want the only connection. Returns how many have waited."""

    def use(name: str) -> float:
        return metrics.value(f"mpin_store_{name}", store="lasting")

    waits, seconds = use("waits_total"), use("wait_seconds_total")
    database.signal(signal.SIGSTOP)
    seen = threading.Event()

    def ask() -> None:
        # Who waits too long gives up.
        while not seen.is_set():
            metrics.check()

    threads = [threading.Thread(target=ask) for _ in range(2)]
    try:
        for thread in threads:
            thread.start()
        wait_until(lambda: use("connections") == 1 and use("waiting") >= 1)
    finally:
        seen.set()
        database.signal(signal.SIGCONT)
        for thread in threads:
            thread.join()
    wait_until(lambda: use("connections") == 0 and use("waiting") == 0)
    assert use("waits_total") > waits and use("wait_seconds_total") > seconds
    return use("waits_total") - waits


@contextmanager
def refusing(database: Database) -> Iterator[None]:
    """Each change of an identity meets another transaction, as the database says."""
    database.ask("""
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN RAISE EXCEPTION SQLSTATE ''40001''; END';
        CREATE TRIGGER refuse BEFORE UPDATE ON lasting_item FOR EACH ROW WHEN (NEW.kind = 'identity') EXECUTE FUNCTION refuse()
    """)
    try:
        yield
    finally:
        database.ask("DROP TRIGGER refuse ON lasting_item; DROP FUNCTION refuse")


@contextmanager
def locked(database: Database) -> Iterator[None]:
    """Holds the lock 7 as long as the database's server lives, at most to the end."""
    with subprocess.Popen(
        database.psql(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, bufsize=1
    ) as holder:
        assert holder.stdin is not None and holder.stdout is not None
        holder.stdin.write("SELECT pg_advisory_lock(7);\n")
        holder.stdout.readline()
        yield
        holder.stdin.close()
