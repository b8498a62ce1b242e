"""Redis with a replica and Sentinels, and changes of its primary while people log in at several servers."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from invariants import ANSWER, Invariants
from phone import wait_until
from script import Script

#: The most seconds until each node logs people in, once a Sentinel names the new primary.
RETURN = 3


class Sentinels:
    """A primary, its replica and three Sentinels. They end with this process."""

    def __init__(self, folder: Path) -> None:
        """folder: for the file with their password."""
        file = folder / "redis-password"
        file.touch(0o600)
        self._password = os.urandom(16).hex()
        file.write_text(self._password + "\n")
        self._script = Script("sentinel.sh", file)
        self.url = self._script.line()
        hosts = self.url.removeprefix("redis://").partition("/")[0].split(",")
        self._ports = [host.rpartition(":")[2] for host in hosts]

    def hand_over(self) -> None:
        """Tells a Sentinel to make the replica the primary. The old primary lives and becomes the replica."""
        before = self._primary()
        assert self._ask(self._ports[0], "sentinel", "failover", "mpin") == "OK"
        self._wait_for_another(before)

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Stops the primary (SIGSTOP) until the block ends, which begins when a Sentinel names another one."""
        before = self._primary()
        pid = self._pid(before)
        os.kill(pid, signal.SIGSTOP)
        try:
            self._wait_for_another(before)
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    def kill_primary(self) -> None:
        """Kills the primary. Returns when a Sentinel names another one."""
        before = self._primary()
        os.kill(self._pid(before), signal.SIGKILL)
        self._wait_for_another(before)

    def has_replica(self) -> bool:
        """Whether the primary has a replica that is up to date."""
        return "state=online" in self._ask(self._primary(), "info", "replication")

    def close(self) -> None:
        self._script.close()

    def _wait_for_another(self, before: str) -> None:
        wait_until(lambda: any(self._named(port) != before for port in self._ports))

    def _primary(self) -> str:
        """The port of the primary. Waits until all Sentinels name the same one."""
        return str(wait_until(lambda: self._named_by_all()))

    def _named_by_all(self) -> str | None:
        named = {self._named(port) for port in self._ports}
        return named.pop() if len(named) == 1 else None

    def _named(self, port: str) -> str:
        return self._ask(port, "sentinel", "get-master-addr-by-name", "mpin").splitlines()[-1]

    def _pid(self, port: str) -> int:
        [line] = [line for line in self._ask(port, "info", "server").splitlines() if line.startswith("process_id:")]
        return int(line.partition(":")[2])

    def _ask(self, port: str, *words: str) -> str:
        password = os.environ | {"REDISCLI_AUTH": self._password}
        command = ["redis-cli", "-p", port, *words]
        return subprocess.run(command, check=True, capture_output=True, text=True, env=password).stdout.strip()


def changed_primaries(redis: Sentinels, invariants: Callable[[str], Invariants]) -> str:
    """Changes the primary while people log in: by a word to a Sentinel, by stopping it for a while, and by killing it. What was
    used there is not good at the next one, although that may not have heard of it, nor at the old one if it lives, and
    each node logs people in again soon. invariants: makes those of one change."""
    ways = {"handed-over": handed_over, "stopped": stopped, "killed": killed}
    return "; ".join(f"{name}: {changed(redis, invariants(name), way)}" for name, way in ways.items())


def changed(redis: Sentinels, invariants: Invariants, way: Callable[[Sentinels, Invariants], tuple[float, float]]) -> str:
    with invariants.meanwhile():
        wait_until(lambda: len(invariants) > 12)
        begun = time.monotonic()
        there, took = way(redis, invariants)
        invariants.readiness.until(True, there)
        goes_on(invariants)
    assert took < RETURN, f"logins only {took:.1f} s after {there - begun:.1f} s, when they could go on"
    return f"after {there - begun:.1f} s logins could go on, and did at each node {took:.1f} s later; {invariants.check()}"


def handed_over(redis: Sentinels, invariants: Invariants) -> tuple[float, float]:
    """Returns when logins could go on, and how many seconds later each node logged people in."""
    redis.hand_over()
    there = time.monotonic()
    took = invariants.back_at_all()
    wait_until(redis.has_replica)
    return there, took


def stopped(redis: Sentinels, invariants: Invariants) -> tuple[float, float]:
    """The same. A node first waits for an answer, five seconds, before it looks for another primary."""
    begun = time.monotonic()
    with redis.stopped():
        there = max(time.monotonic(), begun + ANSWER)
        invariants.back_at_all()
        took = time.monotonic() - there
    # The old one is there again, and at first it does not know that another one is the primary.
    goes_on(invariants)
    wait_until(redis.has_replica)
    return there, took


def killed(redis: Sentinels, invariants: Invariants) -> tuple[float, float]:
    """The same."""
    redis.kill_primary()
    return time.monotonic(), invariants.back_at_all()


def goes_on(invariants: Invariants) -> None:
    size = len(invariants)
    wait_until(lambda: len(invariants) > size + 12)
