"""Tests that logins are not affected while thousands of login pages wait for a phone, at an RPA that is separate from
its RPS."""

from __future__ import annotations

import json
import re
import selectors
import socket
import statistics
import threading
import time
from collections import Counter, deque
from pathlib import Path
from typing import Any

from node import TIMED
from phone import wait_until
from split import Split

#: WAIT: the seconds for which a page asks the server to delay its answer. PAUSE: the seconds until the page asks again,
#: as in live.js.
WAIT, PAUSE = 30 if TIMED else 2, 1
#: OWN: the number of pages from the address from which the logins also come. OTHERS: the number of pages from each
#: other address.
OWN, OTHERS = 200, 200
#: The number of rounds. Each measures logins without waiting pages and then with them.
ROUNDS = 5
#: The number of logins that mpin-load makes each second.
RATE = 30
#: Options that turn off the limits on logins and registrations, because mpin-load makes all of them from one address.
#: The server's other limits stay on.
RATES = [
    f"--rate-{name}={value}"
    for name, value in [("login-address", "off"), ("login-identity", "off"), ("register-address", "off")]
]
OFFER = re.compile(rb'data-web-ott="([0-9a-f]+)"')


class Page:
    """A browser with a login page whose phone never comes."""

    def __init__(self, port: int, source: str) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60, source_address=(source, 0))
        self._web_ott = ""
        self._received = b""

    def open(self) -> None:
        self._send(b"GET /login HTTP/1.1\r\nHost: x\r\n\r\n")

    def poll(self) -> None:
        body = json.dumps({"webOTT": self._web_ott, "wait": WAIT, "status": "new"}).encode()
        self._send(b"POST /rps/access HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))

    def answer(self) -> str | None:
        """Returns None until the server's answer is complete. Then returns "page" for a login page, the status of a
        login, or an HTTP status that is not 200. Returns "closed" if the server has closed the connection."""
        data = self.socket.recv(65536)
        if not data:
            return "closed"
        self._received += data
        head, mark, body = self._received.partition(b"\r\n\r\n")
        length = re.search(rb"\r\ncontent-length: *([0-9]+)", head, re.IGNORECASE)
        if not mark or (length and len(body) < int(length[1])):
            return None
        self._received = b""
        status = int(head.split(b" ", 2)[1])
        if status != 200:
            return str(status)
        if not self._web_ott:
            self._web_ott = OFFER.findall(body)[0].decode()
            return "page"
        return str(json.loads(body)["status"])

    def _send(self, request: bytes) -> None:
        self.socket.sendall(request)


class Pages(threading.Thread):
    """Opens `count` pages and lets them poll. `own` of them come from 127.0.0.1, the others from other loopback
    addresses."""

    def __init__(self, port: int, count: int, own: int) -> None:
        super().__init__(daemon=True)
        self._port = port
        self._count = count
        self._own = own
        self._selector = selectors.DefaultSelector()
        self._resting: deque[tuple[float, Page]] = deque()
        self._last = threading.Event()
        #: Set when all pages are loaded and have begun to poll, or when the thread has failed.
        self.wait_all = threading.Event()
        #: How often each result of Page.answer() came.
        self.answers: Counter[str] = Counter()
        self.failure: Exception | None = None
        self.start()

    def end(self) -> None:
        self._last.set()
        self.join(120)
        assert not self.is_alive()

    def run(self) -> None:
        try:
            self._run()
        except Exception as problem:
            self.failure = problem
            self.wait_all.set()
        finally:
            for key in list(self._selector.get_map().values()):
                key.data.socket.close()

    def _run(self) -> None:
        opened = 0
        while not self._last.is_set():
            # Opens at most 16 pages at the same time, because thousands of real users would not come at the same
            # moment.
            while opened < self._count and opened - self.answers["page"] < 16:
                self._open(self._source(opened))
                opened += 1
            for key, _ in self._selector.select(0.05):
                self._read(key.data)
            while self._resting and self._resting[0][0] <= time.monotonic():
                self._resting.popleft()[1].poll()
            if self.answers["page"] == self._count:
                self.wait_all.set()

    def _source(self, number: int) -> str:
        other = (number - self._own) // OTHERS
        return "127.0.0.1" if number < self._own else f"127.0.{1 + other // 200}.{1 + other % 200}"

    def _open(self, source: str) -> None:
        page = Page(self._port, source)
        self._selector.register(page.socket, selectors.EVENT_READ, page)
        page.open()

    def _read(self, page: Page) -> None:
        answer = page.answer()
        if answer is None:
            return
        self.answers[answer] += 1
        assert answer in ("page", "new"), answer
        if answer == "page":
            page.poll()
        elif answer == "closed":
            self._selector.unregister(page.socket)
            page.socket.close()
        else:
            self._resting.append((time.monotonic() + PAUSE, page))


def waiting_pages(folder: Path, count: int, seconds: float) -> str:
    """Tests that no page is refused, and that a login takes as long as without the pages."""
    split = Split(folder / "split", *RATES)
    try:
        said = compared(split, count, seconds) if TIMED else served(split, count, seconds)
        split.end()
        return said
    finally:
        split.kill()


def served(split: Split, count: int, seconds: float) -> str:
    """Tests only that nothing is refused, with all pages from the address from which the logins come."""
    pages, report = with_pages(split, count, count, seconds)
    return f"{count} pages wait, {pages['new']} of their polls answered, {report['logins']} logins meanwhile, none refused"


def compared(split: Split, count: int, seconds: float) -> str:
    """Compares the times of logins without and with waiting pages, in turns, because other work of the machine changes
    them."""
    split.load(users=50, seconds=seconds, connections=20, rate=RATE)
    idle, busy = [], []
    for _ in range(ROUNDS):
        report = split.load(users=50, seconds=seconds, connections=20, rate=RATE)
        assert not report["failures"], report["failures"]
        idle.append(report["p99Milliseconds"])
        _, report = with_pages(split, count, OWN, seconds)
        busy.append(report["p99Milliseconds"])
    one, other = statistics.median(idle), statistics.median(busy)
    said = (
        f"{count} pages wait, p99 of a login {one:.1f} ms without them and {other:.1f} ms with them "
        f"({_list(idle)}; {_list(busy)}), {split.memory()} MB"
    )
    assert other <= 1.2 * one, said
    return said


def with_pages(split: Split, count: int, own: int, seconds: float) -> tuple[Counter[str], dict[str, Any]]:
    """Returns the answers to the pages, and the results of mpin-load for logins while the pages wait."""
    pages = Pages(split.port, count, own)
    try:
        assert pages.wait_all.wait(180), f"not even {count} pages: {pages.answers}"
        report = split.load(users=50, seconds=seconds, connections=20, rate=RATE)
        wait_until(lambda: pages.failure or pages.answers.total() >= 2 * count)
    finally:
        pages.end()
    # Waits until the RPA has closed the connections of these pages, so that they do not disturb what is measured next.
    wait_until(lambda: split.files() < 1000, 2 * WAIT)
    if pages.failure:
        raise pages.failure
    assert set(pages.answers) <= {"page", "new"}, f"{pages.answers}"
    assert not report["failures"], report["failures"]
    return pages.answers, report


def _list(values: list[float]) -> str:
    return " ".join(f"{value:.1f}" for value in values)
