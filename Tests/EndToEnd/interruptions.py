"""Kills and restarts a server while it serves requests."""

from __future__ import annotations

import json
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from typing import Any

from node import LOST, PIN, TIMED, Server, accepted, registered
from phone import Phone, Refused, wait_until

#: The number of browsers that wait for an answer when the server is told to end.
WAITING = 20


class Crowd:
    """Phones that register and log in without a pause, and remember what the server has acknowledged.

    A phone has one login at a time. With two, a restart could lose pass 1 of the one, and its pass 2 would then be
    judged against pass 1 of the other, as a wrong PIN.
    """

    def __init__(self, server: Server, threads: int) -> None:
        self._server = server
        self.registered: list[Phone] = []
        self._idle: list[Phone] = []
        self._stop = threading.Event()
        self._lock = threading.Lock()
        #: Every pass 2 that the server has accepted: the phone, the body of pass 2, and the answer, which contains the
        #: one-time token. After a restart, the server must accept neither the body nor the token a second time.
        self.used: list[tuple[Phone, dict[str, Any], dict[str, Any]]] = []
        self.refusals: Counter[str] = Counter()
        self._threads = [threading.Thread(target=self._work) for _ in range(threads)]
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while not self._stop.is_set():
            try:
                self._register_or_log_in()
            except LOST:
                time.sleep(0.02)
            except Refused as refusal:
                with self._lock:
                    self.refusals[str(refusal)] += 1

    def assert_only_interrupted(self) -> None:
        """Checks that the server has refused only logins that a restart interrupted. Their challenge (403) or token
        (408) was in memory and is lost."""
        unexpected = set(self.refusals) - {"pass2: 403", "mpinAuthenticate: 408"}
        assert not unexpected, self.refusals

    def _register_or_log_in(self) -> None:
        with self._lock:
            known = self._take() if self._idle and random.random() < 0.7 else None
        if known is None:
            phone = registered(self._server, f"{random.randbytes(8).hex()}@example.com")
            with self._lock:
                self.registered.append(phone)
                self._idle.append(phone)
            return
        try:
            self._log_in(known)
        finally:
            with self._lock:
                self._idle.append(known)

    def _take(self) -> Phone:
        return self._idle.pop(random.randrange(len(self._idle)))

    def _log_in(self, phone: Phone) -> None:
        body = phone.pass2_body(phone.pass1(PIN))
        answer = phone.pass2(body)
        with self._lock:
            self.used.append((phone, body, answer))
        phone.authenticate(answer)


@contextmanager
def crowd(server: Server, threads: int = 4) -> Iterator[Crowd]:
    people = Crowd(server, threads)
    try:
        yield people
    finally:
        people.end()


def kills(server: Server, cycles: int) -> str:
    """Kills the server (SIGKILL) under load. No acknowledged registration may be lost, and no used proof or token may
    work again."""
    slowest = 0.0
    phones: list[Phone] = []
    for _ in range(cycles):
        # Uses new phones in each cycle, because an attempt that a kill interrupts counts as wrong, and three such
        # attempts block an identity.
        with crowd(server) as people:
            wait_until(lambda: len(people.used) > 10, 60)
            server.end(signal.SIGKILL)
        people.assert_only_interrupted()
        phones += people.registered
        slowest = max(slowest, server.start())
        for phone, body, answer in people.used[-20:]:
            assert not accepted(lambda: phone.authenticate(answer)), "a token was taken twice"
            assert not accepted(lambda: phone.authenticate(phone.pass2(body))), "a pass 2 was taken twice"
    for phone in phones:
        phone.login(PIN)
    assert slowest < (2 if TIMED else 60), f"ready only after {slowest:.1f} s"
    return f"{cycles} kills, {len(phones)} registrations all there, ready within {slowest:.2f} s"


def restarts(server: Server, cycles: int) -> str:
    """Ends the server (SIGTERM) under load. It must answer running requests and end soon."""
    slowest = 0.0
    with crowd(server) as people, ThreadPoolExecutor(WAITING) as waiting:
        for cycle in range(cycles):
            asked = threading.Semaphore(0)
            browsers = [waiting.submit(wait_as_browser, server.port, asked) for _ in range(WAITING)]
            for _ in browsers:
                assert asked.acquire(timeout=60), "the browsers could not ask"
            wait_until(lambda: len(people.used) > 20 * (cycle + 1), 60)
            slowest = max(slowest, server.end(signal.SIGTERM))
            answers = Counter(browser.result() for browser in browsers)
            assert answers == {200: WAITING}, f"requests in progress were answered with {answers}"
            server.start()
    people.assert_only_interrupted()
    assert slowest <= (10 if TIMED else 30), f"it took {slowest:.1f} s to end"
    for phone in people.registered:
        phone.login(PIN)
    return f"{cycles} restarts, {cycles * WAITING} requests in progress answered, gone within {slowest:.2f} s"


def wait_as_browser(port: int, asked: threading.Semaphore) -> int:
    """Asks for the result of a login that will not come, waits for the answer, and returns its status."""
    with closing(HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.request("POST", "/rps/getAccessNumber", "")
        token = json.loads(connection.getresponse().read())["webOTT"]
        connection.request("POST", "/rps/access", json.dumps({"webOTT": token, "wait": 10, "status": "new"}))
        asked.release()
        return connection.getresponse().status


