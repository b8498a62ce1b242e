#!/usr/bin/env python3
"""Tests several servers that share a PostgreSQL database, and with --redis a Redis server too: each request may go to any
of them, and each of them, and the database, may be killed.

Run by `make cluster-test`. The last line is "N passed, N failed".
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import checks
import requests
import restores
from audits import are_whole_together, audit, chains_are_whole, logins, make_audit, mpind
from flood import flood
from fronts import LOST_BY_PROXY, NODES, behind, killed, paused, rolled
from invariants import ANSWER, Invariants, assert_says_when
from node import LOST, PIN, PROGRAM, ROOT, Server
from phone import Phone, Refused, wait_until
from ports import free_ports
from readiness import is_ready
from relying_party import FAR, Person, answered, authorize
from replicas import replicas
from roaming import Roaming, registered
from script import Script
from sentinels import Sentinels, changed_primaries
from store_metrics import Metrics, of_database
from trips import killed_between, long_trips
from two_nodes import guess, judged, refusal, replay


#: The faults during which, with --whole, everything goes on that `Invariants` checks. The other checks that make something
#: fail do so always, or at servers of their own.
FAULTS = {"lost node", "clocks", "standstill", "unanswered", "Redis stopped"}
#: How much more memory in MB a node may need after the last of several faults than after the first.
GROWTH = 4
#: The most connections of a node to the database, as docs/postgres.md says: eight for what lasts and eight for what is
#: short-lived.
CONNECTIONS = 16
#: The most seconds until people can log in, once the database takes writes.
RETURN = 5
#: The most seconds until a page has woken and its phone is done. Without news they would wait for 30.
WOKEN = 5


class Redis:
    """A real Redis server, without a port. It ends with this process."""

    def __init__(self) -> None:
        self._script = Script("redis.sh")
        self.url = self._script.line()
        self._folder = Path(self.url.partition("socket=")[2]).parent

    @property
    def pid(self) -> int:
        return int((self._folder / "pid").read_text())

    def signal(self, how: signal.Signals) -> None:
        os.kill(self.pid, how)

    def start_again(self) -> None:
        """Starts the server after it was killed. It is empty."""
        self._script.tell()
        self._script.line()

    def close(self) -> None:
        self._script.close()


class Database:
    """A real PostgreSQL server, without a port. It ends with this process."""

    def __init__(
        self, redis: Redis | Sentinels | None = None, settings: Sequence[str] = (), prefix: Sequence[str] = (),
        script: str = "postgres.sh",
    ) -> None:  # fmt: skip
        """redis: what keeps everything that is good for minutes, in the place of the database. settings: options of the
        server. prefix: a command that runs it. script: what starts it."""
        self.redis = redis
        self.script = Script(script, *settings, prefix=prefix)
        self.url = self.script.line()
        self.folder = Path(self.url.partition("host=")[2].partition("&")[0])

    @property
    def short_lived(self) -> str:
        """The URL of what keeps everything that is good for minutes."""
        return self.redis.url if self.redis else self.url

    def crash(self) -> None:
        """Kills the server and starts it again. It has to recover from its log."""
        self.kill()
        self.start_again()

    def start_again(self) -> None:
        """Starts the server after it was killed."""
        self._tell("again")

    def add_standby(self) -> None:
        """Starts a synchronous standby. From now on the URL names both servers."""
        self._tell("standby")
        self.url = self.url.replace(f"host={self.folder}", f"host={self.folder},{self.folder}/standby")

    def promote(self) -> None:
        """Makes the standby the server that takes writes."""
        self._tell("promote")

    def psql(self, *more: str) -> list[str]:
        """A command that sends statements to the server and prints bare answers."""
        return ["psql", "-qXtA", f"--dbname={self.url.replace('postgres:', 'postgresql:')}", *more]

    def ask(self, query: str) -> str:
        """The answer of the server to a query with one value."""
        return subprocess.run(self.psql("-c", query), check=True, capture_output=True, text=True).stdout.strip()

    def signal(self, how: signal.Signals) -> None:
        """Sends a signal to the server and all its processes for connections."""
        for pid in self._processes():
            # A process for a connection may have ended since.
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, how)

    def kill(self) -> None:
        processes = self._processes()
        self.signal(signal.SIGKILL)
        wait_until(lambda: not Path(f"/proc/{processes[0]}").exists())

    def _processes(self) -> list[int]:
        pid = int((self.folder / "data/postmaster.pid").read_text().split()[0])
        return [pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]

    def _tell(self, how: str) -> None:
        subprocess.run([ROOT / "Tests/StoreEngines/postgres.sh", how, self.folder], check=True, capture_output=True)

    def close(self) -> None:
        self.script.close()


def guesser(nodes: list[Server], name: str) -> Roaming:
    """A phone whose requests have its name in the servers' logs."""
    phone = registered(nodes, f"{name}@example.com")
    phone.request_id = name
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
    assert max(took) < WOKEN, f"a page and its phone were done after {max(took):.1f} s"
    return f"{rounds} pages and their phones were woken at any node, at most {max(took):.1f} s for a login"


def codes(nodes: list[Server], database: Database) -> str:
    """Redeems an authorization code of the OpenID provider several times at all nodes at once. One request gets tokens, and
    these are worth nothing, because somebody else knew the code."""
    client, verifier = "codes", "v" * 43
    mpind("client", "add", client, "--auth-method", "none", "--first-party", "true", "--redirect-uri", FAR,
          *nodes[0].service(database.url))  # fmt: skip
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
    person = Person(nodes[0].backend, registered(nodes, "codes@example.com"), PIN)
    person.open(authorize(nodes[0].backend, client, code_challenge=challenge, code_challenge_method="S256"))
    code = answered(person.log_in())["code"]
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": FAR}
    form |= {"client_id": client, "code_verifier": verifier}
    with ThreadPoolExecutor(3 * NODES) as threads:
        answers = list(threads.map(lambda node: requests.post(f"{node.backend}/oidc/token", data=form), nodes * 3))
    good = [answer.json()["access_token"] for answer in answers if answer.status_code == 200]
    assert len(good) == 1, f"a code was redeemed {len(good)} times"
    assert {answer.status_code for answer in answers} <= {200, 400, 503}, answers
    for node in nodes:
        known = requests.get(f"{node.backend}/oidc/userinfo", headers={"Authorization": f"Bearer {good[0]}"})
        assert known.status_code == 401, known
    return f"a code was sent {len(answers)} times to {NODES} nodes, one got tokens, which were revoked"


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


def lost_database(folder: Path, nodes: list[Server], database: Database, count: int) -> str:
    """Kills the database while people register and log in, and operators work. What was acknowledged is there afterwards, and
    no answer was anything but right, a refusal that says "later", or a lost challenge. The first time it is away until each
    node says that it is not ready."""
    invariants = Invariants(folder / "crashed", nodes, database.url)
    took = []
    with invariants.meanwhile():
        for number in range(count):
            wait_until(lambda size=len(invariants): len(invariants) > size + 8)
            killed_at = time.monotonic()
            database.kill()
            if number == 0:
                down = invariants.readiness.until(False, killed_at)
            database.start_again()
            there = time.monotonic()
            took.append(invariants.back_at_all())
        up = invariants.readiness.until(True, there)
    assert max(took) < RETURN, took
    return (
        f"{count} kills of the database; logins {max(took):.1f} s after its return; not ready after {down:.1f} s, ready again "
        f"after {up:.1f} s; {invariants.check()}"
    )


def memory(nodes: list[Server], database: Database, rounds: int) -> str:
    """Kills the database again and again while many log in. Each node then needs as much memory as after the first time, and
    has no more connections than docs/postgres.md says."""
    phones = [registered(nodes, f"piled{number}@example.com") for number in range(16)]
    sizes: list[list[float]] = []
    for _ in range(rounds):
        done = threading.Event()

        def live(phone: Roaming, done: threading.Event = done) -> None:
            while not done.is_set():
                works(phone)

        with ThreadPoolExecutor(len(phones)) as threads:
            running = [threads.submit(live, phone) for phone in phones]
            try:
                database.crash()
                for node in nodes:
                    wait_until(lambda node=node: works(Roaming([node], phones[0].user, like=phones[0])))
            finally:
                done.set()
            for each in running:
                each.result()
        sizes.append([node.memory() for node in nodes])
    first = sizes[0]

    def grown() -> float:
        return max(node.memory() - size for node, size in zip(nodes, first, strict=True))

    # What is kept for a minute may still be there.
    with contextlib.suppress(TimeoutError):
        wait_until(lambda: grown() <= GROWTH, 90)
    assert grown() <= GROWTH, f"{grown():.1f} MB more after {rounds} kills than after the first"
    found = int(database.ask("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'mpind'"))
    assert 0 < found <= len(nodes) * CONNECTIONS, f"{found} connections"
    return f"{max(first):.0f} MB after the first of {rounds} kills, {grown():+.1f} MB after the last, {found} connections"


def storm(nodes: list[Server], count: int) -> str:
    """Guesses `count` times at all nodes, as many at a time as there are threads, while the phone has several challenges
    open. Whatever the nodes do, no more than three guesses are judged."""
    phone = registered(nodes, "stormed@example.com")
    before = judged(nodes)
    with ThreadPoolExecutor(64) as attackers:
        statuses = set(attackers.map(lambda _: refusal(Roaming(nodes, phone.user, like=phone), "4321"), range(count)))
    assert statuses <= {401, 403, 410, 503}, statuses
    for node in nodes:
        wait_until(lambda node=node: refusal(Roaming([node], phone.user, like=phone), "4321") == 410)
        assert refusal(Roaming([node], phone.user, like=phone), PIN) == 410
    found = judged(nodes) - before
    assert 0 < found <= 3, f"{found} guesses were judged"
    return f"{count} guesses at {len(nodes)} nodes, {found} judged"


def rates(folder: Path, database: Database, state: str) -> str:
    """Sends more first passes for one identity than its limit allows, to all nodes at the same time. Together they admit
    the limit, and at most a tenth more."""
    limit = 30
    options = [*stores(database), "--counters", database.short_lived, "--rate-login-identity", f"{limit}/86400"]
    options += ["--rate-limits", "on", "--rate-login-address", "off", "--rate-register-address", "off"]
    nodes = [Server(folder / f"rated{n}", state=state, options=options) for n in range(NODES)]
    try:
        for node in nodes:
            node.start()
        phone = registered(nodes, "rated@example.com")
        pass1 = {"pass": 1, "mpin_id": phone.id.hex(), "U": "", "UT": ""}

        def ask(number: int) -> int:
            try:
                phone.ask("POST", nodes[number % NODES].backend + "/rps/pass1", pass1)
            except Refused as refused:
                return refused.status
            raise AssertionError("a first pass without a point was taken")

        with ThreadPoolExecutor(16) as threads:
            statuses = list(threads.map(ask, range(10 * limit)))
        assert set(statuses) == {403, 429}, set(statuses)
        admitted = statuses.count(403)
        assert 0.9 * limit <= admitted <= 1.1 * limit, f"{admitted} of {limit} were admitted"
        return f"{10 * limit} first passes at {NODES} nodes, limit {limit}, {admitted} admitted"
    finally:
        for node in nodes:
            node.kill()


def clocks(folder: Path, database: Database, nodes: list[Server]) -> str:
    """Adds a node and sets the clock of its machine wrong while it runs. 15 seconds change nothing, however the requests
    of a login are spread. With five minutes the node is not ready, and no login fails."""
    [port] = free_ports(1)
    address = f"127.0.0.1:{port}"
    clock = folder / "clock"
    clock.write_text("+0")
    wrong = Server(
        folder / "clocked", state=nodes[0].state,
        options=[*stores(database), "--admin-listen", address, "--behind-proxy", "--public-url", nodes[0].backend],
        prefix=[
            "faketime", "-f", "+0", "env", "-u", "FAKETIME", f"FAKETIME_TIMESTAMP_FILE={clock}", "FAKETIME_NO_CACHE=1",
            "FAKETIME_DONT_FAKE_MONOTONIC=1",
        ],
    )  # fmt: skip
    said: list[str] = []
    try:
        wrong.start()
        for seconds, is_ready in [(0, True), (15, True), (-15, True), (300, False), (-300, False), (0, True)]:
            clock.write_text(f"{seconds:+d}")
            found = health(address)
            assert found["checks"]["clock"] == ("UP" if is_ready else "DOWN"), (seconds, found)
            assert (found["status"] == "UP") == is_ready, (seconds, found)
            offset = Metrics(address).value("mpin_clock_offset_seconds")
            assert abs(offset - seconds) < 2, f"{seconds:+d} s, in the metrics {offset:+.1f} s"
            phone = registered(nodes, f"clock{len(said)}@example.com")
            for _ in range(10):
                Roaming([*nodes, wrong], phone.user, like=phone).login(PIN)
            said.append(f"{seconds:+d} s {found['status']}")
    finally:
        end_child(wrong)
    return ", ".join(said) + ", no login failed"


def end_child(server: Server) -> None:
    """Kills a server that another program has started. That program then ends by itself."""
    assert server.process is not None
    for child in Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split():
        os.kill(int(child), signal.SIGKILL)
    server.process.wait(60)


def health(address: str) -> dict[str, Any]:
    """Asks a server for its health by mpind's own command, whose exit code must say the same."""
    command = [str(PROGRAM), "health", "--admin-listen", address]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    assert (done.returncode == 0) == (report["status"] == "UP"), done
    live = subprocess.run([*command, "--live"], capture_output=True, text=True, check=False)
    assert live.returncode == 0, live
    return report


def standstill(nodes: list[Server], database: Database) -> str:
    """Stops the database for a while (SIGSTOP). Requests get 503 in bounded time, no node is ready, and logins go on
    afterwards."""
    phone = registered(nodes, "stopped@example.com")
    wait_until(lambda: all(map(is_ready, nodes)))
    database.signal(signal.SIGSTOP)
    begun = time.monotonic()
    try:
        phone.login(PIN)
    except Refused as refused:
        assert refused.status == 503, refused
        assert_says_when(refused)
    else:
        raise AssertionError("a login without a database")
    finally:
        took = time.monotonic() - begun
        are_ready = [is_ready(node) for node in nodes]
        database.signal(signal.SIGCONT)
    assert took < ANSWER, took
    assert not any(are_ready), are_ready
    begun = time.monotonic()
    wait_until(lambda: works(phone))
    back = time.monotonic() - begun
    assert back < RETURN, back
    wait_until(lambda: all(map(is_ready, nodes)))
    return f"503 after {took:.1f} s; logins {back:.1f} s after the database went on"


#: Lets the commits of transactions that have changed an identity wait while somebody has a lock.
WAIT_AT_COMMIT = """
    CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock(7); RETURN NULL; END';
    CREATE CONSTRAINT TRIGGER wait AFTER UPDATE ON lasting_item DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW WHEN (NEW.kind = 'identity') EXECUTE FUNCTION wait()
"""


def unanswered(nodes: list[Server], database: Database) -> str:
    """Lets the commit wait that reserves the attempt of a login. The request gets 503 in bounded time, although the server
    makes a change again if it does not know whether it was made. Logins go on afterwards."""
    phone = registered(nodes, "unanswered@example.com")
    proof = phone.pass2_body(phone.pass1(PIN))
    with subprocess.Popen(database.psql(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as holder:
        assert holder.stdin is not None and holder.stdout is not None
        holder.stdin.write("SELECT pg_advisory_lock(7);\n")
        holder.stdout.readline()
        database.ask(WAIT_AT_COMMIT)
        begun = time.monotonic()
        try:
            phone.pass2(proof)
            raise AssertionError("a login without a commit")
        except Refused as refused:
            assert refused.status == 503, refused
            assert_says_when(refused)
        took = time.monotonic() - begun
        assert database.ask("SELECT count(*) > 0 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted") == "t"
        holder.stdin.close()
    assert took < ANSWER, took
    database.ask("DROP TRIGGER wait ON lasting_item; DROP FUNCTION wait")
    wait_until(lambda: works(phone))
    return f"503 after {took:.1f} s"


def metrics(folder: Path, database: Database, nodes: list[Server]) -> str:
    """Adds a node whose metrics show what happens to it: full connections, conflicts, lost commits, no database."""
    [port] = free_ports(1)
    address, url = f"127.0.0.1:{port}", database.url + "&pool=1"
    options = ["--admin-listen", address, "--rate-limits", "on", "--rate-login-address", "off"]
    options += [word for name in ("database", "short-lived-store", "signals", "counters") for word in (f"--{name}", url)]
    options += ["--public-url", nodes[0].backend, "--behind-proxy"]
    node = Server(folder / "metrics", state=nodes[0].state, options=options)
    phone = registered(nodes, "metrics@example.com")
    try:
        node.start()
        there = Roaming([node], phone.user, like=phone)
        return of_database(address, database, WAIT_AT_COMMIT, lambda: works(there))
    finally:
        node.kill()


def lost_redis(folder: Path, database: Database, nodes: list[Server], count: int) -> str:
    """Kills Redis while people log in. Logins that have begun fail, and each node logs people in again within three seconds
    of its return. Wrong PINs are not forgotten, and a node says that it is not ready."""
    assert isinstance(database.redis, Redis)
    redis = database.redis
    invariants = Invariants(folder / "lost-redis", nodes, database.url)
    [port] = free_ports(1)
    watched = Server(
        folder / "watched", state=nodes[0].state, options=[*stores(database), "--admin-listen", f"127.0.0.1:{port}"]
    )
    guessed, phone = (guesser(nodes, name) for name in ("guessed-before", "losing"))
    assert [refusal(guessed, "4321"), refusal(guessed, "4322")] == [401, 401]
    done = threading.Event()
    logged_in: list[str] = []
    statuses: set[int] = set()

    def live() -> None:
        while not done.is_set():
            try:
                phone.login(PIN)
                logged_in.append(phone.user)
            except Refused as refused:
                statuses.add(refused.status)

    took = []
    threads = [threading.Thread(target=live) for _ in range(3)]
    try:
        watched.start()
        for thread in threads:
            thread.start()
        with invariants.meanwhile():
            for _ in range(count):
                size = len(logged_in)
                wait_until(lambda size=size: len(logged_in) > size + 5)
                killed_at = time.monotonic()
                redis.signal(signal.SIGKILL)
                invariants.readiness.until(False, killed_at)
                for node in nodes:
                    wait_until(lambda node=node: refusal(Roaming([node], phone.user, like=phone), PIN) == 503)
                assert health(f"127.0.0.1:{port}")["checks"]["short-lived"] == "DOWN"
                told = Metrics(f"127.0.0.1:{port}")
                assert told.value("mpin_health_check", check="short-lived") == 0
                assert told.value("mpin_store_errors_total", store="short-lived", kind="unavailable") > 0
                redis.start_again()
                begun = time.monotonic()
                for node in nodes:
                    wait_until(lambda node=node: works(Roaming([node], phone.user, like=phone)))
                took.append(time.monotonic() - begun)
                wait_until(lambda: health(f"127.0.0.1:{port}")["status"] == "UP")
                invariants.readiness.until(True, begun)
    finally:
        done.set()
        for thread in threads:
            thread.join()
        watched.kill()
    # 403 and 408: a challenge or token was lost.
    assert statuses <= {403, 408, 503}, statuses
    assert max(took) < 3, took
    assert [refusal(guessed, "4323"), refusal(guessed, PIN)] == [410, 410]
    assert judged(nodes, guessed.request_id) == 3, "more than three guesses were judged"
    return (
        f"{count} kills of Redis; {len(logged_in)} logins, the first ones at most {max(took):.1f} s after its return; "
        f"{invariants.check()}"
    )


def redis_stands_still(database: Database, nodes: list[Server]) -> str:
    """Stops Redis for a while (SIGSTOP). Requests get 503 in bounded time, and logins go on afterwards."""
    assert isinstance(database.redis, Redis)
    phone = registered(nodes, "still@example.com")
    database.redis.signal(signal.SIGSTOP)
    begun = time.monotonic()
    try:
        status = refusal(phone, PIN)
    finally:
        took = time.monotonic() - begun
        database.redis.signal(signal.SIGCONT)
    assert status == 503, status
    assert took < ANSWER, took
    begun = time.monotonic()
    wait_until(lambda: works(phone))
    back = time.monotonic() - begun
    assert back < 3, back
    return f"503 after {took:.1f} s; logins {back:.1f} s after it went on"


def restored(folder: Path, database: Database, nodes: list[Server]) -> str:
    """Restores the database and the D-TAs' shares under another name."""
    logs = [Path(audit(node)[1]) for node in nodes]
    return restores.restored(folder, nodes, database.url, logs, audit(nodes[0]))


def copied(folder: Path, database: Database) -> str:
    """Moves a server from its SQLite file into a database and back, as docs/postgres.md says. The first copy is killed
    again and again. Whoever was registered logs in, and wrong PINs and revocations are not forgotten on the way."""
    url = database.url.replace("///mpin?", "///moved?")
    subprocess.run(["createdb", f"--maintenance-db={database.url.replace('postgres:', 'postgresql:')}", "moved"], check=True)
    first = Server(folder / "copied")
    nodes = [first, Server(folder / "moved", state=first.state, options=["--database", url])]
    file, back = f"{first.state}/rps.sqlite", f"{first.state}/back.sqlite"
    try:
        first.start()
        people = [registered([first], f"moving{number}@example.com") for number in range(30)]
        once, revoked = people[:2]
        assert refusal(once, "4321") == 401
        mpind("user", "revoke", revoked.user, "--state-dir", first.state)
        first.end(signal.SIGTERM)
        kills = copy_with_kills(["copy", "--from", file, "--to", url])
        nodes[1].start()
        moved = [Roaming(nodes[1:], phone.user, like=phone) for phone in people]
        assert [refusal(moved[0], "4321"), refusal(moved[1], PIN)] == [401, 410]
        for phone in moved[2:]:
            phone.login(PIN)
        nodes[1].end(signal.SIGTERM)
        mpind("copy", "--from", url, "--to", back)
        last = Server(folder / "back", state=first.state, options=["--database", back])
        nodes.append(last)
        last.start()
        home = [Roaming([last], phone.user, like=phone) for phone in people]
        # Two wrong PINs before: one in each database.
        assert [refusal(home[0], "4321"), refusal(home[0], PIN), refusal(home[1], PIN)] == [410, 410, 410]
        for phone in home[2:]:
            phone.login(PIN)
    finally:
        for node in nodes:
            node.kill()
    return f"{len(people)} identities into a database ({kills} copies killed) and back"


def copy_with_kills(words: list[str]) -> int:
    """Runs a command, kills it at its first page, the next one later, until it ends by itself. Returns the number of
    kills."""
    for kills in range(1000):
        running = subprocess.Popen([PROGRAM, *words], stdout=subprocess.DEVNULL)
        try:
            running.wait(0.02 * (kills + 1))
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()
            continue
        assert running.returncode == 0, running.returncode
        return kills
    raise AssertionError("never done")


def failover(folder: Path, redis: Redis | None, is_whole: bool) -> str:
    """Kills the primary while people register, operators work and somebody guesses, and promotes its synchronous standby.
    Nothing that was acknowledged is lost (also blocks and wrong PINs), and no fourth guess is judged. is_whole: all requests
    go through haproxy, and the standby is promoted after each node has said that it is not ready."""
    database = Database(redis)
    database.add_standby()
    with with_haproxy(folder / "failover", database, is_whole) as (proxy, nodes):
        invariants = Invariants(folder / "failed-over", nodes, database.url, proxy, LOST_BY_PROXY if proxy else ())
        with invariants.meanwhile():
            wait_until(lambda: len(invariants) > 12)
            begun = time.monotonic()
            database.kill()
            if is_whole:
                invariants.readiness.until(False, begun)
            database.promote()
            begun = time.monotonic()
            took = invariants.back_at_all()
            wait_until(lambda size=len(invariants): len(invariants) > size + 8)
            invariants.readiness.until(True, begun)
        assert took < RETURN, f"the first registrations came {took:.1f} s after the promotion"
        said = invariants.check()
        are_whole_together(folder / "failed-over-audits", nodes, database.url)
        return f"{took:.1f} s until it took writes at each node; {said}"


def flooded_failover(folder: Path, redis: Redis | None, count: int) -> str:
    """Kills the primary in the middle of very many guesses of one PIN, and promotes its synchronous standby."""
    database = Database(redis)
    database.add_standby()
    with started(folder / "flooded", database) as nodes:
        said = flood(nodes, count, database.kill, database.promote)
        are_whole_together(folder / "flooded-audits", nodes, database.url)
        return said


def sentinels(folder: Path) -> str:
    """Changes the primary of a Redis with a replica and Sentinels while people log in at servers of their own."""
    with contextlib.closing(Sentinels(folder)) as redis:
        database = Database(redis)
        with started(folder / "sentinels", database) as nodes:
            said = changed_primaries(redis, lambda name: Invariants(folder / f"sentinel-{name}", nodes, database.url))
            are_whole_together(folder / "sentinels-audits", nodes, database.url)
            return said


@contextlib.contextmanager
def with_haproxy(folder: Path, database: Database, is_wanted: bool) -> Iterator[tuple[str, list[Server]]]:
    """As `started`, with haproxy before the nodes if that is wanted. Also yields its URL, or an empty one."""
    if not is_wanted:
        with started(folder, database) as nodes:
            yield "", nodes
        return
    with contextlib.closing(database):
        with behind(folder, "haproxy", f"{folder}-state", stores(database), is_whole=True) as place:
            yield place


@contextlib.contextmanager
def started(folder: Path, database: Database) -> Iterator[list[Server]]:
    """Nodes with a database of their own, which ends with them and the block."""
    nodes = start(folder, database)
    try:
        yield nodes
    finally:
        for node in nodes:
            node.kill()
        database.close()


def audited(nodes: list[Server]) -> str:
    """Logs in with right and wrong PINs at any node. Each verdict has one line in one node's audit log, and no line of any
    node is altered or missing, after all that the other checks have done to the nodes."""
    phone = registered(nodes, "audited@example.com")
    told = [200] * 10
    for _ in range(10):
        phone.login(PIN)
    for pin in ("4321", "4322", "4323", PIN):
        told.append(refusal(phone, pin) or 0)
    found = [status for node in nodes for status in logins(node).get(phone.user, Counter()).elements()]
    assert sorted(found) == sorted(told) and told[-4:] == [401, 401, 410, 410], (told, found)
    return f"{chains_are_whole(nodes)} lines in {len(nodes)} chains, one for each of {len(told)} verdicts"


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
    _, log, _, key = audit(nodes[0])
    config.write_text(
        f'state-dir: "{nodes[0].state}"\ndatabase: "{database.url}"\naudit-log: "{log}"\naudit-key-file: "{key}"\n'
    )
    by_url, by_config = nodes[0].service(database.url), ["--config", str(config)]
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--guesses", type=int, default=300)
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--redis", action="store_true", help="keep what is good for minutes in Redis")
    parser.add_argument("--whole", action="store_true", help="also the checks that take long")
    parser.add_argument("--only", metavar="NAME", help="this check alone")
    options = parser.parse_args()
    redis = Redis() if options.redis else None
    database = Database(redis)
    with tempfile.TemporaryDirectory() as folder:
        nodes = start(Path(folder), database)

        def proxied(proxy: str) -> str:
            return killed(Path(folder) / proxy, proxy, nodes[0].state, stores(database), 20, options.whole)

        def stopped(name: str) -> str:
            return paused(Path(folder) / name, nodes[0].state, stores(database), 20, options.whole)

        def restarted(name: str) -> str:
            return rolled(Path(folder) / name, nodes[0].state, stores(database), 20, [PROGRAM], is_whole=options.whole)

        def holding(name: str, check: Callable[[], str]) -> Callable[[], str]:
            place = Path(folder) / f"during-{name.replace(' ', '-')}"
            return lambda: Invariants(place, nodes, database.url, keeps_lines=name != "lost node").around(check)

        named: list[checks.Check] = [
            ("any node", lambda: any_node(nodes, options.people)),
            ("guesses", lambda: guesses(nodes, options.people // 5, 60)),
            ("waking", lambda: waking(nodes, 6)),
            ("codes", lambda: codes(nodes, database)),
            ("operators", lambda: operators(nodes, database, Path(folder))),
            ("lost node", lambda: lost_node(nodes, 20)),
            ("haproxy", lambda: proxied("haproxy")),
            ("nginx", lambda: proxied("nginx")),
            ("stopped node", lambda: stopped("paused")),
            ("restarts", lambda: restarted("restarts")),
            ("D-TA", lambda: replicas(Path(folder))),
            ("lost database", lambda: lost_database(Path(folder), nodes, database, options.kills)),
            ("storm", lambda: storm(nodes, options.guesses)),
            ("rates", lambda: rates(Path(folder), database, nodes[0].state)),
            ("clocks", lambda: clocks(Path(folder), database, nodes)),
            ("metrics", lambda: metrics(Path(folder), database, nodes)),
            ("standstill", lambda: standstill(nodes, database)),
            ("unanswered", lambda: unanswered(nodes, database)),
            ("restored", lambda: restored(Path(folder), database, nodes)),
            ("copied", lambda: copied(Path(folder), database)),
            ("failover", lambda: failover(Path(folder), redis, options.whole)),
        ]
        if redis:
            # These do not depend on where short-lived items are.
            skipped = {"operators", "lost node", "haproxy", "nginx", "stopped node", "D-TA"}
            skipped |= {"clocks", "metrics", "restored", "copied"}
            named = [each for each in named if each[0] not in skipped]
            named += [
                ("lost Redis", lambda: lost_redis(Path(folder), database, nodes, options.kills)),
                ("Redis stopped", lambda: redis_stands_still(database, nodes)),
            ]
        if options.whole:
            named = [(name, holding(name, check) if name in FAULTS else check) for name, check in named]
            named.append(("between trips", lambda: killed_between(Path(folder) / "between", stores(database), nodes)))
            named.append(("long trips", lambda: long_trips(Path(folder) / "long", stores(database), nodes)))
            named.append(("flood", lambda: flood(nodes, 2000)))
            named.append(("flooded", lambda: flooded_failover(Path(folder), redis, 2000)))
            if redis:
                named.append(("Sentinels", lambda: sentinels(Path(folder))))
            else:
                named.append(("memory", lambda: memory(nodes, database, 1 + options.kills)))
        # After all that happened to the nodes.
        named.append(("audit", lambda: audited(nodes)))
        status = checks.run(named, options.only)
        for node in nodes:
            node.kill()
    database.close()
    if redis:
        redis.close()
    return status


def stores(database: Database) -> list[str]:
    """The options of a server that keeps everything in the database, or what is good for minutes in Redis."""
    short = database.short_lived
    return ["--database", database.url, "--short-lived-store", short, "--signals", short]


def start(folder: Path, database: Database) -> list[Server]:
    """Starts nodes with one state folder (keys, D-TAs) and one database, each with an audit log of its own. The public URL is
    that of the first, and no proxy is before them: the tests themselves choose a node, and the ids of requests."""
    folder.mkdir(exist_ok=True)
    nodes: list[Server] = []
    options = [*stores(database), "--behind-proxy"]
    for number in range(NODES):
        state = nodes[0].state if nodes else None
        nodes.append(Server(folder / str(number), state=state, log_level="debug", options=options, has_health=True))
        make_audit(nodes[-1])
        nodes[-1].options += ["--public-url", nodes[0].backend, *audit(nodes[-1])]
        nodes[-1].start()
    return nodes


if __name__ == "__main__":
    sys.exit(main())
