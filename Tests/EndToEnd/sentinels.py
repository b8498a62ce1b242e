"""Redis with a replica and Sentinels, and a change of its primary while people log in at several servers."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

from invariants import Invariants
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

    def kill_primary(self) -> None:
        """Kills the primary. Returns when a Sentinel names another one."""
        [before] = {self._primary(port) for port in self._ports}
        self._script.tell()
        wait_until(lambda: any(self._primary(port) != before for port in self._ports))

    def close(self) -> None:
        self._script.close()

    def _primary(self, port: str) -> str:
        command = ["redis-cli", "-p", port, "sentinel", "get-master-addr-by-name", "mpin"]
        password = os.environ | {"REDISCLI_AUTH": self._password}
        return subprocess.run(command, check=True, capture_output=True, text=True, env=password).stdout


def lost_primary(redis: Sentinels, invariants: Invariants) -> str:
    """Kills the primary while people log in. What was used there is not good at its replica, although that may not have heard
    of it, and each node logs people in again soon after the replica has become the primary."""
    with invariants.meanwhile():
        wait_until(lambda: len(invariants) > 12)
        begun = time.monotonic()
        redis.kill_primary()
        there = time.monotonic()
        took = invariants.back_at_all()
        size = len(invariants)
        wait_until(lambda: len(invariants) > size + 12)
    assert took < RETURN, f"logins only {took:.1f} s after the new primary"
    return f"a new primary after {there - begun:.1f} s, logins at each node {took:.1f} s after it; {invariants.check()}"
