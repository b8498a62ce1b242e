#!/usr/bin/env python3
"""Tests several servers that share a PostgreSQL database: each request may go to any of them, and each of them, and the
database, may be killed.

Run by `make cluster-test`. The last line is "N passed, N failed".
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from node import LOST, PIN, ROOT, Server
from phone import Phone, Refused, wait_until
from two_nodes import guess, refusal, replay

NODES = 3


class Database:
    """A real PostgreSQL server, without a port. It ends with this process."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [ROOT / "Tests/StoreEngines/postgres.sh"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().decode().strip()
        self.folder = Path(self.url.partition("host=")[2].partition("&")[0])

    def crash(self) -> None:
        """Kills the server and starts it again. It has to recover from its log."""
        pid = int((self.folder / "data/postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        for each in [pid, *map(int, children)]:
            subprocess.run(["kill", "-9", str(each)], check=False)
        wait_until(lambda: not Path(f"/proc/{pid}").exists())
        subprocess.run([ROOT / "Tests/StoreEngines/postgres.sh", "again", self.folder], check=True, capture_output=True)

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


class Roaming(Phone):
    """A phone each of whose requests goes to any node, as a load balancer would send it."""

    def __init__(self, nodes: list[Server], user: str, like: Phone | None = None) -> None:
        """like: a phone whose identity this one has, too."""
        self._nodes = nodes
        super().__init__("", user)
        if like is not None:
            self.id, self.token = like.id, like.token

    @property
    def _backend(self) -> str:
        return random.choice(self._nodes).backend

    @_backend.setter
    def _backend(self, _: str) -> None:
        pass


def registered(nodes: list[Server], user: str) -> Roaming:
    phone = Roaming(nodes, user)
    phone.start_registration()
    phone.finish_registration(PIN)
    return phone


def any_node(nodes: list[Server], people: int) -> str:
    """Registers people and logs them in, each request at any node."""

    def life(number: int) -> None:
        phone = registered(nodes, f"roaming{number}@example.com")
        for _ in range(3):
            phone.login(PIN)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(life, range(people)))
    return f"{people} registrations and {3 * people} logins, each request at any of {len(nodes)} nodes"


def guesses(nodes: list[Server], people: int, count: int) -> str:
    """Replays and guesses at two nodes at once; every second time, a node is killed meanwhile."""
    for number in range(people):
        replay(nodes[:2], f"replayed{number}@example.com")
        guess(nodes[:2], f"guessed{number}@example.com", count, is_killed=number % 2 == 1)
    return f"{people} logins replayed, {people} x {count} guesses, at most 3 of each judged"


def waking(nodes: list[Server], rounds: int) -> str:
    """A page waits at one node, its phone logs in at any, and the page goes on at any. The phone's answer waits for the
    page's, so both ways are woken."""
    phone = registered(nodes, "browser@example.com")
    took = []

    def page(shown: dict[str, Any]) -> None:
        question = {"webOTT": shown["webOTT"], "wait": 30, "status": "new"}
        waiting = Roaming(nodes, "")
        answer = waiting.ask("POST", "/rps/access", question)
        while "authOTT" not in answer:
            answer = waiting.ask("POST", "/rps/access", {**question, "status": answer["status"]})
        there = random.choice(nodes).backend
        redeemed = {"mpinResponse": {"authOTT": answer["authOTT"]}}
        waiting.ask("POST", there + waiting.settings["authenticateURL"], redeemed, {"Origin": there})

    for _ in range(rounds):
        shown = phone.ask("POST", "/rps/getAccessNumber", {})
        with ThreadPoolExecutor(1) as pages:
            waiting = pages.submit(page, shown)
            begun = time.monotonic()
            phone.login_browser(PIN, shown["accessNumber"])
            waiting.result()
            took.append(time.monotonic() - begun)
    return f"{rounds} pages and their phones were woken at any node, at most {max(took):.1f} s for a login"


def lost_node(nodes: list[Server], count: int) -> str:
    """Kills one node while people log in at the others: none of their logins fails. `count` is the number of logins
    that each makes at least."""
    phones = [registered(nodes[1:], f"during{number}@example.com") for number in range(4)]
    done = threading.Event()

    def log_in(phone: Roaming) -> int:
        logins = 0
        while not done.is_set() or logins < count:
            phone.login(PIN)
            logins += 1
        return logins

    with ThreadPoolExecutor(len(phones)) as threads:
        running = [threads.submit(log_in, phone) for phone in phones]
        nodes[0].end(signal.SIGKILL)
        nodes[0].start()
        done.set()
        total = sum(each.result() for each in running)
    registered(nodes[:1], "after@example.com").login(PIN)
    return f"{total} logins while a node was killed and started again, 0 failed"


def lost_database(nodes: list[Server], database: Database, count: int) -> str:
    """Kills the database while people register and log in. Whoever was registered can log in afterwards, and no answer
    was anything but right, a refusal that says "later", or a lost challenge."""
    known: list[Roaming] = [registered(nodes, "before@example.com")]
    done = threading.Event()
    statuses: set[int] = set()

    def live(name: str) -> None:
        number = 0
        while not done.is_set():
            number += 1
            try:
                known.append(registered(nodes, f"{name}{number}@example.com"))
                known[-1].login(PIN)
            except Refused as refused:
                statuses.add(refused.status)

    threads = [threading.Thread(target=live, args=(name,)) for name in ("a", "b", "c")]
    for thread in threads:
        thread.start()
    took = []
    for _ in range(count):
        wait_until(lambda size=len(known): len(known) > size + 5)
        database.crash()
        begun = time.monotonic()
        for node in nodes:
            phone = wait_until(lambda node=node: at_node(node, known[0]))
            wait_until(lambda phone=phone: works(phone))
        took.append(time.monotonic() - begun)
    done.set()
    for thread in threads:
        thread.join()
    # 403 and 408: a challenge or token was in an UNLOGGED table, which is empty after a crash.
    assert statuses <= {403, 408, 503}, statuses
    for phone in known:
        phone.login(PIN)
    return f"{len(known)} registrations outlived {count} kills of the database; logins {max(took):.1f} s after its return"


def at_node(node: Server, phone: Phone) -> Roaming | None:
    """Returns the phone with all its requests to one node; None if the node refuses."""
    try:
        return Roaming([node], phone.user, like=phone)
    except (Refused, *LOST):
        return None


def works(phone: Phone) -> bool:
    try:
        phone.login(PIN)
        return True
    except (Refused, *LOST):
        return False


def operators(nodes: list[Server], database: Database, folder: Path) -> str:
    """What a command changes in the database holds at every node. The commands find the database by its URL, or by the
    server's configuration."""
    phone = registered(nodes, "operated@example.com")
    config = folder / "mpind.yaml"
    config.write_text(f'state-dir: "{nodes[0].state}"\ndatabase: "{database.url}"\n')
    by_url, by_config = ["--database", database.url], ["--config", str(config)]
    assert f'"user":"{phone.user}"' in mpind("user", "list", "--json", *by_url)
    mpind("client", "add", "shop", "--redirect-uri", "https://shop.example.com/back", *by_config)
    assert '"id":"shop"' in mpind("client", "list", "--json", *by_url)
    mpind("user", "revoke", phone.user, *by_config)
    for node in nodes:
        assert refusal(Roaming([node], phone.user, like=phone), PIN) == 410
    backup = folder / "backup"
    mpind("backup", str(backup), *by_config)
    assert sorted(file.name for file in backup.iterdir()) == ["dta1.sqlite", "dta2.sqlite"]
    return "user list, client add, user revoke, backup of the D-TAs"


def mpind(*words: str) -> str:
    """Runs a command of mpind and returns its output."""
    done = subprocess.run([ROOT / "build/mpind", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--only", metavar="NAME", help="this check alone")
    options = parser.parse_args()
    failed = 0
    database = Database()
    with tempfile.TemporaryDirectory() as folder:
        nodes = start(Path(folder), database)
        checks: list[tuple[str, Callable[[], str]]] = [
            ("any node", lambda: any_node(nodes, options.people)),
            ("guesses", lambda: guesses(nodes, options.people // 5, 60)),
            ("waking", lambda: waking(nodes, 6)),
            ("operators", lambda: operators(nodes, database, Path(folder))),
            ("lost node", lambda: lost_node(nodes, 20)),
            ("lost database", lambda: lost_database(nodes, database, 2)),
        ]
        checks = [each for each in checks if options.only in (None, each[0])]
        for name, check in checks:
            begun = time.monotonic()
            try:
                said = "ok: " + check()
            except Exception as problem:  # whatever it is, the other checks follow
                failed += 1
                said = f"FAILED: {type(problem).__name__} {problem}"
            print(f"{name:13} {said}  ({time.monotonic() - begun:.0f} s)", flush=True)
        for node in nodes:
            node.kill()
    database.close()
    print(f"{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


def start(folder: Path, database: Database) -> list[Server]:
    """Starts nodes with one state folder (keys, D-TAs) and one database."""
    store = [word for name in ("--database", "--short-lived-store", "--signals") for word in (name, database.url)]
    nodes: list[Server] = []
    for number in range(NODES):
        state = nodes[0].state if nodes else None
        nodes.append(Server(folder / str(number), state=state, log_level="debug", options=store))
        nodes[-1].start()
    return nodes


if __name__ == "__main__":
    sys.exit(main())
