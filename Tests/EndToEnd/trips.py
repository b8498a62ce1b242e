"""Kills a node between any two of its trips to its stores, and makes the trips long."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol

from invariants import ANSWER, LIMIT, assert_says_when, judged_for
from node import LOST, PIN, Server
from phone import Refused, patiently, wait_until
from roaming import Roaming, registered
from two_nodes import refusal

#: How much longer each trip takes, in seconds: first people only wait longer for a login, then it cannot be done in time.
LONG, TOO_LONG = 0.05, 3


class Trips:
    """Sockets that lead to those of a node's stores. Each trip has two moments: its question and its answer. At one of them
    the node can be killed; what was said then does not arrive."""

    def __init__(self, folder: Path) -> None:
        #: How many seconds later each question arrives.
        self.delay = 0.0
        self._folder = folder
        self._lock = threading.Lock()
        self._left = self._pid = 0
        folder.mkdir()

    def through(self, url: str) -> str:
        """The URL of a store by way of a socket of this object, which listens until this process ends."""
        is_postgres = url.startswith("postgres:")
        there = Path(url.partition("host=" if is_postgres else "socket=")[2].partition("&")[0])
        here = self._folder / there.name
        if not here.exists():
            if is_postgres:
                here.mkdir()
            name = ".s.PGSQL.5432" if is_postgres else ""
            self._listen(here / name, there / name)
        return url.replace(str(there), str(here))

    def kill_at(self, moment: int, pid: int) -> None:
        """Kills a process at that moment, counted from one and from now, over all its connections."""
        with self._lock:
            self._left, self._pid = moment, pid

    def has_killed(self) -> bool:
        """Whether the moment has come. If not, it never comes."""
        with self._lock:
            left, self._left = self._left, 0
        return left == 0

    def _is_last(self) -> bool:
        with self._lock:
            if self._left == 0:
                return False
            self._left -= 1
            if self._left > 0:
                return False
            os.kill(self._pid, signal.SIGKILL)
            return True

    def _listen(self, here: Path, there: Path) -> None:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(here))
        listener.listen(64)

        def accept() -> None:
            while True:
                client, _ = listener.accept()
                threading.Thread(target=self._carry, args=[client, there], daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()

    def _carry(self, client: socket.socket, there: Path) -> None:
        with client, socket.socket(socket.AF_UNIX) as server:
            try:
                server.connect(str(there))
                self._talk(client, server)
            except OSError:
                # One of them has ended.
                pass

    def _talk(self, client: socket.socket, server: socket.socket) -> None:
        """Carries what both say until one of them ends, or the moment has come."""
        has_asked = False
        while True:
            for source in select.select([client, server], [], [])[0]:
                said, asks = source.recv(1 << 16), source is client
                # News that nobody has asked for, and the rest of a long answer, are no moment.
                if not said or (asks != has_asked and self._is_last()):
                    return
                if asks and self.delay:
                    time.sleep(self.delay)
                has_asked = asks
                (server if asks else client).sendall(said)


class Act(Protocol):
    """What somebody does at a node that may be killed meanwhile, and what must hold afterwards at all nodes."""

    def __init__(self, nodes: Sequence[Server], name: str) -> None: ...

    def do(self, node: Server) -> None: ...

    def check(self, nodes: Sequence[Server]) -> None: ...


class Registration:
    """Whoever was not told of the end of a registration registers again."""

    def __init__(self, nodes: Sequence[Server], name: str) -> None:
        self._user = f"{name}@example.com"

    def do(self, node: Server) -> None:
        registered([node], self._user)

    def check(self, nodes: Sequence[Server]) -> None:
        patiently(lambda: registered(nodes, self._user).login(PIN))


class Login:
    """A proof is judged and a token that was told is redeemed once at most, and one more login succeeds."""

    def __init__(self, nodes: Sequence[Server], name: str) -> None:
        self._phone = registered(nodes, f"{name}@example.com")
        self._phone.request_id = name
        self._proof: dict[str, Any] = {}
        self._tokens: list[dict[str, Any]] = []
        self._logins = 0

    def do(self, node: Server) -> None:
        there = _at(node, self._phone)
        self._proof = there.pass2_body(there.pass1(PIN))
        self._tokens.append(there.pass2(self._proof))
        there.authenticate(self._tokens[0])
        self._logins = 1

    def check(self, nodes: Sequence[Server]) -> None:
        places = [_at(node, self._phone) for node in nodes]
        for there in places if self._proof else []:
            self._try(lambda there=there: self._tokens.append(there.pass2(self._proof)))
        assert judged_for([*nodes])[self._phone.request_id] <= 1, "a proof was judged twice"
        for there in places:
            for token in self._tokens:
                self._logins += self._try(lambda there=there, token=token: there.authenticate(token))
        assert self._logins <= 1, "a token was redeemed twice"
        patiently(lambda: self._phone.login(PIN))

    @staticmethod
    def _try(request: Callable[[], object]) -> bool:
        try:
            patiently(request)
            return True
        except Refused as refused:
            assert refused.status in {401, 403, 408}, refused
            return False


class Guess:
    """No more than three guesses are judged, and then the identity is blocked."""

    def __init__(self, nodes: Sequence[Server], name: str) -> None:
        self._phone = registered(nodes, f"{name}@example.com")
        self._phone.request_id = name
        assert refusal(self._phone, "4321") == 401

    def do(self, node: Server) -> None:
        status = refusal(_at(node, self._phone), "4321")
        if status is None:
            raise ConnectionError("the node was killed")
        assert status == 401, status

    def check(self, nodes: Sequence[Server]) -> None:
        wait_until(lambda: refusal(self._phone, "4321") == 410)
        assert refusal(self._phone, PIN) == 410, "a block is lost"
        found = judged_for([*nodes])[self._phone.request_id]
        assert 0 < found <= LIMIT, f"{found} guesses of one PIN were judged"


def _at(node: Server, phone: Roaming) -> Roaming:
    """The phone at one node, with the same id of its requests."""
    there = Roaming([node], phone.user, like=phone)
    there.request_id = phone.request_id
    return there


def killed_between(folder: Path, stores: Sequence[str], nodes: list[Server]) -> str:
    """Kills a node at each moment of its trips while somebody registers, logs in, or guesses a PIN."""
    with _far(folder, stores, nodes) as (trips, node):
        said = [
            f"{_killed_at_each_moment(trips, node, nodes, kind)} of a {kind.__name__.lower()}"
            for kind in (Registration, Login, Guess)
        ]
    return f"a node was killed at {', '.join(said)}"


def _killed_at_each_moment(trips: Trips, node: Server, nodes: list[Server], kind: type[Act]) -> int:
    """Returns how many moments there were until somebody had done it without a kill."""
    acts: list[Act] = []
    is_killed = True
    while is_killed:
        acts.append(kind(nodes, f"{kind.__name__.lower()}-between-{len(acts)}"))
        trips.kill_at(len(acts), node.pid)
        try:
            acts[-1].do(node)
        except LOST:
            assert node.process is not None and node.process.wait(60) == -signal.SIGKILL
        is_killed = trips.has_killed()
        if is_killed:
            node.end(signal.SIGKILL)
            node.start()
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda act: act.check([node, *nodes]), acts))
    assert len(acts) > 4, f"{len(acts) - 1} moments"
    return len(acts) - 1


def long_trips(folder: Path, stores: Sequence[str], nodes: list[Server]) -> str:
    """Makes each trip a little longer, for which people wait, and then so long that no login can be done in time."""
    with _far(folder, stores, nodes) as (trips, node):
        phone = registered([node], "far@example.com")
        trips.delay = LONG
        begun = time.monotonic()
        phone.login(PIN)
        took = time.monotonic() - begun
        # A login makes four, one after the other.
        assert 4 * LONG < took < ANSWER, f"{took:.1f} s"
        trips.delay = TOO_LONG
        times: list[float] = []
        try:
            Roaming([node], phone.user, like=phone, times=times).login(PIN)
            raise AssertionError("a login without a store")
        except Refused as refused:
            assert refused.status == 503, refused
            assert_says_when(refused)
        assert max(times) < ANSWER, f"{max(times):.1f} s until an answer"
        trips.delay = 0
        begun = time.monotonic()
        patiently(lambda: phone.login(PIN))
        back = time.monotonic() - begun
    return f"{took:.1f} s for a login with {LONG} s for each trip, 503 with {TOO_LONG} s, logins {back:.1f} s later"


@contextlib.contextmanager
def _far(folder: Path, stores: Sequence[str], nodes: list[Server]) -> Iterator[tuple[Trips, Server]]:
    """Starts one more node, whose trips to the stores go through an object. It ends with the block."""
    folder.mkdir()
    trips = Trips(folder / "sockets")
    options = [trips.through(word) if "://" in word else word for word in stores]
    options += ["--behind-proxy", "--public-url", nodes[0].backend]
    node = Server(folder / "node", state=nodes[0].state, log_level="debug", options=options)
    try:
        node.start()
        yield trips, node
    finally:
        node.kill()
