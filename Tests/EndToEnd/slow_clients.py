"""Tests the server with thousands of connections that send one byte every two seconds."""

from __future__ import annotations

import selectors
import socket
import threading
import time
from collections import deque
from typing import Any

from node import TIMED, Server

#: The seconds between two bytes that a slow connection sends.
PAUSE = 2
HEAD = b"POST /rps/pass1 HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
#: The first bytes of each connection, for slow headers and for slow bodies. After that, the connections send more of
#: the header or of the body byte by byte, but never all of it.
BEGINNINGS = {"header": HEAD + b"X-Slow: ", "body": HEAD + b"Content-Length: 60000\r\n\r\n{"}


class Crawlers(threading.Thread):
    """Keeps `count` connections open. If the server closes one, another is opened in its place."""

    def __init__(self, port: int, count: int, beginning: bytes) -> None:
        super().__init__(daemon=True)
        self._port = port
        self._coming = deque(range(count))
        self._beginning = beginning
        self._selector = selectors.DefaultSelector()
        self._last = threading.Event()
        self.complete = threading.Event()
        #: The lifetimes in seconds of the connections that have ended.
        self.lives: list[float] = []
        self.start()

    def end(self) -> None:
        """Opens no more connections, and returns when the server has closed all of them."""
        self._last.set()
        self.join(120)
        assert not self.is_alive(), "a slow connection was not ended"

    def run(self) -> None:
        crawled = time.monotonic()
        while self._selector.get_map() or self._coming:
            for key, _ in self._selector.select(0.02 if self._coming else 0.2):
                self._read(key)
            # Opens at most 50 connections before it looks again for connections that the server has closed.
            for _ in range(min(50, len(self._coming))):
                self._open(self._coming.popleft())
            if not self._coming:
                self.complete.set()
            if time.monotonic() > crawled + PAUSE:
                crawled = time.monotonic()
                self._crawl()

    def _open(self, number: int) -> None:
        born = time.monotonic()
        # The server allows one client address 1,000 connections, so several addresses are used.
        address = f"127.0.1.{1 + number % 20}"
        made = socket.create_connection(("127.0.0.1", self._port), timeout=60, source_address=(address, 0))
        made.sendall(self._beginning)
        made.setblocking(False)
        self._selector.register(made, selectors.EVENT_READ, (number, born))

    def _read(self, key: selectors.SelectorKey) -> None:
        connection: Any = key.fileobj
        try:
            if connection.recv(4096):
                return
        except BlockingIOError:
            return
        except ConnectionError:
            pass
        number, born = key.data
        self.lives.append(time.monotonic() - born)
        self._selector.unregister(connection)
        connection.close()
        if not self._last.is_set():
            self._coming.append(number)

    def _crawl(self) -> None:
        for key in self._selector.get_map().values():
            connection: Any = key.fileobj
            try:
                connection.send(b"x")
            except OSError:
                pass  # its end is about to be read


def slow_clients(server: Server, count: int, seconds: float, limits: dict[str, int]) -> str:
    """Checks that the server ends slow connections when their time is over, even if clients connect again and again,
    and that other clients are not affected.

    limits: the seconds that the server allows for a header, and for a body.
    """
    calm = server.load(users=50, seconds=seconds, connections=2)["p95Milliseconds"] if TIMED else 0
    said = []
    for part, limit in limits.items():
        crawlers = Crawlers(server.port, count, BEGINNINGS[part])
        try:
            assert crawlers.complete.wait(120), f"not even {count} connections"
            busy = server.load(users=50, seconds=seconds, connections=2)
        finally:
            crawlers.end()
        lives = crawlers.lives
        assert not busy["failures"], busy
        assert min(lives) >= limit, f"a slow {part} was cut off after {min(lives):.1f} s"
        said.append(f"{len(lives)} slow {part} connections, {count} at once, each ended within {max(lives):.1f} s")
        if TIMED:
            # The 3 s are a tolerance: while all slow connections are open, the server needs a moment to accept a new
            # one.
            assert max(lives) < limit + 3, f"a slow {part} lived {max(lives):.1f} s"
            assert busy["p95Milliseconds"] < 2 * max(calm, 5), f"p95 {calm:.1f} ms without, {busy} with them"
            said[-1] += f", p95 {calm:.1f} ms without and {busy['p95Milliseconds']:.1f} with them"
    return "; ".join(said)
