#!/usr/bin/env python3
"""Tests servers behind haproxy, a PostgreSQL primary and its synchronous standby, each on a machine of its own, while the
network between two of them is cut.

Run by `make cut-test`, which needs root. The last line is "N passed, N failed".
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
from audits import are_whole_together, audit, make_audit
from cluster import Database, works
from fronts import LOST_BY_PROXY, NODES, STANDS_STILL, haproxy_command, is_up, registered
from invariants import ANSWER, Invariants
from machines import HERE, NETWORK, Machines
from node import PIN, PROGRAM, ROOT, Server
from phone import Phone, Refused, wait_until
from ports import free_ports

#: The most seconds for which a node's readiness may be wrong, and until logins go on once the database takes writes.
READINESS, RETURN = 10, 5


class FarDatabase(Database):
    """A primary and its synchronous standby, on two machines."""

    def __init__(self, machines: Machines) -> None:
        rules = Path("/run/pg_hba.conf")
        rules.write_text(f"local all all trust\nhost all,replication all {NETWORK} trust\n")
        # A connection that is cut is noticed after five seconds, not after a minute.
        settings = [f"hba_file={rules}", "wal_sender_timeout=5s", "wal_receiver_timeout=5s", "wal_retrieve_retry_interval=1s"]
        words = [word for setting in settings for word in ("-c", setting)]
        primary, standby = machines.addresses["primary"], machines.addresses["standby"]
        listen = ["-c", f"listen_addresses={primary}"]
        super().__init__(settings=[*words, *listen], prefix=machines.on("primary"))
        listen = ["-c", f"listen_addresses={standby}"]
        script = [ROOT / "Tests/StoreEngines/postgres.sh", "standby", self.folder, primary, *words, *listen]
        subprocess.run([*machines.on("standby"), *script], check=True, capture_output=True)
        # The network has no authority for certificates.
        self.url = f"postgres://mpin@{primary},{standby}/mpin?sslmode=disable"


class Site:
    """Three nodes behind haproxy. Each is on a machine of its own, haproxy is here."""

    def __init__(self, folder: Path, machines: Machines, database: Database) -> None:
        folder.mkdir()
        self.machines, self.database, self._folder = machines, database, folder
        [port] = free_ports(1)
        self.url = f"http://127.0.0.1:{port}"
        options = ["--database", database.url, "--short-lived-store", database.url, "--signals", database.url]
        options += ["--behind-proxy", "--trusted-proxy", HERE, "--public-url", self.url]
        self.nodes: list[Server] = []
        self._admin: list[str] = []
        for number in range(NODES):
            name = f"node{number}"
            [admin] = free_ports(1)
            self._admin.append(f"127.0.0.1:{admin}")
            node = Server(
                folder / name, state=self.nodes[0].state if self.nodes else None, log_level="debug",
                options=[*options, "--admin-listen", self._admin[-1]], prefix=machines.on(name),
                address=machines.addresses[name],
            )  # fmt: skip
            make_audit(node)
            node.options += audit(node)
            self.nodes.append(node)
        for node in self.nodes:
            node.start()
        self._front = subprocess.Popen(haproxy_command(folder, port, self.nodes))
        wait_until(lambda: is_up(self.url))
        # Each is for one login that fails: a login that is cut off after its attempt was reserved counts as a wrong PIN, so
        # three of them block an identity.
        self._patient = [self.register(f"patient{number}@example.com") for number in range(20)]

    def register(self, user: str) -> Phone:
        return registered(self.url, user)

    def is_ready(self, number: int) -> bool:
        """What a node says of itself, by mpind's own command on its machine."""
        command = [*self.machines.on(f"node{number}"), PROGRAM, "health", "--admin-listen", self._admin[number]]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    def is_told(self, numbers: set[int]) -> float:
        """Waits until just the nodes with these numbers say that they are not ready. Returns how many seconds that took."""
        begun = time.monotonic()
        with ThreadPoolExecutor(NODES) as threads:
            # A node that is not ready takes two seconds to say so.
            wait_until(lambda: list(threads.map(self.is_ready, range(NODES))) == [n not in numbers for n in range(NODES)])
        took = time.monotonic() - begun
        assert took < READINESS, f"the nodes' readiness was wrong for {took:.1f} s"
        return took

    def refuses(self, number: int, times: int) -> float:
        """Asks a node for logins that it cannot give. Each must be answered by 503 in time. Returns the longest time in
        seconds."""
        longest = 0.0
        for _ in range(times):
            phone = self.at(number, self._patient.pop())
            begun = time.monotonic()
            try:
                phone.login(PIN)
                raise AssertionError("a login without a database")
            except Refused as refused:
                assert refused.status == 503 and refused.retry_after is not None, refused
            longest = max(longest, time.monotonic() - begun)
        assert longest < ANSWER, f"503 took {longest:.1f} s"
        return longest

    def at(self, number: int, phone: Phone) -> Phone:
        here = Phone(self.nodes[number].backend, phone.user)
        here.id, here.token = phone.id, phone.token
        return here

    def logins_go_on(self, numbers: set[int]) -> float:
        """Waits until each of these nodes logs people in again. Returns how many seconds that took."""
        begun = time.monotonic()
        phones = [self.at(number, self._patient.pop()) for number in numbers]
        with ThreadPoolExecutor(NODES) as threads:
            list(threads.map(lambda phone: wait_until(lambda: works(phone)), phones))
        took = time.monotonic() - begun
        assert took < RETURN, f"logins only after {took:.1f} s"
        return took

    def invariants(self, name: str, most: float = ANSWER) -> Invariants:
        """Those of one cut. most: seconds until an answer."""
        keeps_lines = name != "machine"
        return Invariants(
            self._folder / name, self.nodes, self.database.url, self.url, LOST_BY_PROXY, most, keeps_lines
        )

    def is_whole(self, invariants: Invariants) -> str:
        """Checks everything after a cut. Returns what was seen."""
        said = invariants.check()
        are_whole_together(self._folder / f"{invariants.name}-audits", self.nodes, self.database.url)
        return said

    def close(self) -> None:
        self._front.terminate()
        self._front.wait()
        for node in self.nodes:
            node.kill()


def said(told: float, took: float) -> str:
    return f"not ready after {told:.1f} s, 503 after {took:.1f} s"


def cut_node(site: Site) -> str:
    """Cuts a node from the primary. The proxy and the other nodes reach both."""
    invariants = site.invariants("node")
    with invariants.meanwhile():
        site.machines.cut("node0", "primary")
        told = site.is_told({0})
        took = site.refuses(0, 3)
        wait_until(lambda size=len(invariants.kept.registered): len(invariants.kept.registered) > size + 3)
        assert all(works(site.at(number, invariants.kept.registered[0])) for number in (1, 2))
        site.machines.mend()
        back = site.logins_go_on({0})
        site.is_told(set())
    return f"{said(told, took)}, logins {back:.1f} s after its end; whole: {site.is_whole(invariants)}"


def cut_standby(site: Site) -> str:
    """Cuts the primary from its synchronous standby: nothing can be acknowledged. All nodes reach both."""
    invariants = site.invariants("standby")
    with invariants.meanwhile():
        site.machines.cut("primary", "standby")
        told = site.is_told(set(range(NODES)))
        took = max(site.refuses(number, 1) for number in range(NODES))
        size = len(invariants)
        assert site.refuses(0, 1) > 0 and len(invariants) == size, "something was acknowledged without the standby"
        site.machines.mend()
        begun = time.monotonic()
        wait_until(lambda: site.database.ask("SELECT sync_state FROM pg_stat_replication") == "sync")
        synchronous = time.monotonic() - begun
        back = site.logins_go_on(set(range(NODES)))
        site.is_told(set())
    return (
        f"{said(told, took)}, a standby {synchronous:.1f} s after its end, logins {back:.1f} s later; "
        f"whole: {site.is_whole(invariants)}"
    )


def cut_primary(site: Site) -> str:
    """Cuts the primary off from all, promotes the standby, and then ends the primary before anybody reaches it again."""
    invariants = site.invariants("primary")
    with invariants.meanwhile():
        site.machines.cut_off("primary")
        told = site.is_told(set(range(NODES)))
        took = max(site.refuses(number, 1) for number in range(NODES))
        assert isinstance(site.database, FarDatabase)
        site.database.promote()
        back = site.logins_go_on(set(range(NODES)))
        site.is_told(set())
        site.database.kill()
        site.machines.mend()
        wait_until(lambda size=len(invariants.kept.registered): len(invariants.kept.registered) > size + 3)
    return f"{said(told, took)}, logins {back:.1f} s after the promotion; whole: {site.is_whole(invariants)}"


def lost_machine(site: Site) -> str:
    """Loses the machine of a node: nothing more is heard of it. The database must not keep its connections, nor the locks of
    its transactions. Then the machine is back."""
    node = site.nodes[0]
    query = f"SELECT count(*) FROM pg_stat_activity WHERE client_addr = '{site.machines.addresses['node0']}'"
    invariants = site.invariants("machine", STANDS_STILL)
    with invariants.meanwhile():
        before = int(site.database.ask(query))
        assert before > 0
        site.machines.cut_off("node0")
        node.kill()
        begun = time.monotonic()
        try:
            wait_until(lambda: site.database.ask(query) == "0", 120)
            took = time.monotonic() - begun
        finally:
            site.machines.mend()
            node.start()
        site.logins_go_on(set(range(NODES)))
    return f"{before} connections ended after {took:.0f} s; whole: {site.is_whole(invariants)}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", metavar="NAME", help="this check alone")
    options = parser.parse_args()
    machines = Machines(["primary", "standby", *(f"node{number}" for number in range(NODES))])
    database = FarDatabase(machines)
    with tempfile.TemporaryDirectory() as folder:
        site = Site(Path(folder) / "site", machines, database)
        named: list[checks.Check] = [
            ("node", lambda: cut_node(site)),
            ("lost machine", lambda: lost_machine(site)),
            ("standby", lambda: cut_standby(site)),
            ("primary", lambda: cut_primary(site)),
        ]
        try:
            status = checks.run(named, options.only, machines.mend)
        finally:
            site.close()
    database.close()
    return status


if __name__ == "__main__":
    sys.exit(main())
