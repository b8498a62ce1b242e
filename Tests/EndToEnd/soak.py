#!/usr/bin/env python3
"""What a server must stand for a long time: kills and restarts under load, overload, slow clients, hours of logins; and
that the time of an answer tells nothing.

Run by `make soak`; the numbers of a long run are options. The last line is "N passed, N failed".
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

from answer_times import Guesser, Kind, differences, invented, measure
from phone import Phone, Refused, wait_until
from ports import free_ports

ROOT = Path(__file__).resolve().parents[2]
PIN = "1234"
LOST = (OSError, HTTPException)
#: Whether speeds are compared: seconds on a busy machine say nothing about them.
TIMED = "--short" not in sys.argv
#: Who brings a wrong PIN, and what authenticate says.
KINDS = {"wrong": 401, "locked": 410, "revoked": 410}
#: How a refusal under load may look.
POLITE = ("429 with Retry-After", "503 with Retry-After")
#: Browsers that wait for an answer when the server is told to end.
WAITING = 20


class Server:
    """A real mpind on ports of its own, started and ended as often as wanted, with the same state."""

    def __init__(self, folder: Path) -> None:
        self.port, *others = free_ports(4)
        self.backend = f"http://127.0.0.1:{self.port}"
        self.state = str(folder / "state")
        self._log = (folder / "mpind.log").open("ab")
        names = ["--port", "--private-port", "--dta1-port", "--dta2-port"]
        ports = [text for pair in zip(names, [self.port, *others]) for text in map(str, pair)]
        self._command = [
            str(ROOT / "build/mpind"), "--all-in-one", "--state-dir", self.state, "--force-activate",
            "--rate-limits", "off", "--log-level", "error", *ports,
        ]  # fmt: skip
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, *more: str) -> float:
        """Seconds until it answered; more: options beside the usual ones."""
        begun = time.monotonic()
        self.process = subprocess.Popen([*self._command, *more], stderr=self._log)
        wait_until(self._answers, 60)
        return time.monotonic() - begun

    def end(self, how: signal.Signals) -> float:
        """Seconds until the process was gone."""
        assert self.process is not None
        begun = time.monotonic()
        self.process.send_signal(how)
        status = self.process.wait(60)
        assert status in (0, -how), f"mpind ended with {status}"
        return time.monotonic() - begun

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def memory(self) -> float:
        """Resident memory in MB."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * resource.getpagesize() / 1e6

    def files(self) -> int:
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def load(self, **options: Any) -> dict[str, Any]:
        """What mpin-load says; its complaints are not ours."""
        words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        command = [str(ROOT / ".build/release/mpin-load"), "--url", self.backend, "--pid", str(self.pid), "--json"]
        done = subprocess.run(command + words, capture_output=True, text=True, check=False)
        assert done.stdout, done.stderr
        return dict(json.loads(done.stdout))

    def revoke(self, user: str) -> None:
        command = [str(ROOT / "build/mpind"), "user", "revoke", user, "--state-dir", self.state]
        subprocess.run(command, check=True, capture_output=True)

    def _answers(self) -> bool:
        assert self.process is not None and self.process.poll() is None, "mpind did not start"
        try:
            Phone(self.backend, "")
            return True
        except LOST:
            return False


class Crowd:
    """Phones that register and log in without a pause, and remember what the server has acknowledged.

    A phone has one login at a time: where a restart takes the first half of one login, its second half must not find
    that of another, for which it is a wrong PIN.
    """

    def __init__(self, server: Server, threads: int) -> None:
        self._server = server
        self.registered: list[Phone] = []
        self._idle: list[Phone] = []
        self._stop = threading.Event()
        self._lock = threading.Lock()
        #: Bodies of pass 2 and answers to it: good for nothing any more once they were used.
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
        """A login that a restart cuts in two finds its first half gone. Nothing else may be refused."""
        unexpected = set(self.refusals) - {"pass2: 403", "mpinAuthenticate: 408"}
        assert not unexpected, self.refusals

    def _register_or_log_in(self) -> None:
        with self._lock:
            known = self._take() if self._idle and random.random() < 0.7 else None
        if known is None:
            phone = Phone(self._server.backend, f"{random.randbytes(8).hex()}@example.com")
            phone.start_registration()
            phone.finish_registration(PIN)
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
    """kill -9 under load: no acknowledged registration is lost, nothing that was used works again."""
    slowest = 0.0
    registered: list[Phone] = []
    for _ in range(cycles):
        # New phones each time: an attempt that a kill cuts short counts, and three of them block.
        with crowd(server) as people:
            wait_until(lambda: len(people.used) > 10, 60)
            server.end(signal.SIGKILL)
        people.assert_only_interrupted()
        registered += people.registered
        slowest = max(slowest, server.start())
        for phone, body, answer in people.used[-20:]:
            assert not accepted(lambda: phone.authenticate(answer)), "a token was taken twice"
            assert not accepted(lambda: phone.authenticate(phone.pass2(body))), "a pass 2 was taken twice"
    for phone in registered:
        phone.login(PIN)
    assert slowest < (2 if TIMED else 60), f"ready only after {slowest:.1f} s"
    return f"{cycles} kills, {len(registered)} registrations all there, ready within {slowest:.2f} s"


def accepted(request: Callable[[], object]) -> bool:
    try:
        request()
        return True
    except Refused:
        return False


def restarts(server: Server, cycles: int) -> str:
    """SIGTERM under load: what has been asked is answered, and the end comes soon."""
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
    """Asks for the outcome of a login that will not come, and waits for the answer: its status."""
    with closing(HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.request("POST", "/rps/getAccessNumber", "")
        token = json.loads(connection.getresponse().read())["webOTT"]
        connection.request("POST", "/rps/access", json.dumps({"webOTT": token, "wait": 10, "status": "new"}))
        asked.release()
        return connection.getresponse().status


def overload(server: Server, seconds: float) -> str:
    """Three times what it can do: the work done stays, the rest is refused politely, and then all is as before."""
    peak = server.load(users=100, seconds=seconds, connections=8)
    # One phone an identity: four logins of one at a time are all that there can be.
    many = 400 if TIMED else 100
    crush = server.load(users=many, seconds=seconds, connections=many, rate=3 * peak["loginsPerSecond"])
    after = server.load(users=20, seconds=min(seconds, 5), connections=8)
    assert crush["logins"] > 0 and after["logins"] > 0
    impolite = {text: count for text, count in crush["failures"].items() if not text.endswith(POLITE)}
    assert not impolite, impolite
    assert not after["failures"], after
    refused = sum(crush["failures"].values())
    if TIMED:
        assert crush["loginsPerSecond"] >= 0.8 * peak["loginsPerSecond"], (crush, peak)
        # It began at once, and took less than ten seconds with its registrations.
        assert after["loginsPerSecond"] >= 0.8 * peak["loginsPerSecond"], (after, peak)
    return (
        f"{peak['loginsPerSecond']:.0f} logins/s at its peak, {crush['loginsPerSecond']:.0f} at three times the demand "
        f"and {refused} refused, {after['loginsPerSecond']:.0f} after it"
    )


def slow_clients(server: Server, count: int, seconds: float) -> str:
    """Connections that send a byte now and then are ended, and nobody else notices them."""
    calm = server.load(users=50, seconds=seconds, connections=2)
    # A caller may have 1,000 connections: these are many callers.
    sockets = [
        socket.create_connection(("127.0.0.1", server.port), source_address=(f"127.0.1.{1 + n % 20}", 0))
        for n in range(count)
    ]
    for each in sockets:
        each.sendall(b"POST /rps/pass1 HTTP/1.1\r\nHost: x\r\nX-Slow: ")
    stop = threading.Event()

    def drip() -> None:
        while not stop.wait(1):
            for each in sockets:
                try:
                    each.send(b"x", socket.MSG_DONTWAIT)
                except OSError:
                    pass

    dripping = threading.Thread(target=drip)
    dripping.start()
    begun = time.monotonic()
    try:
        busy = server.load(users=50, seconds=seconds, connections=2)
        # What the connection had for an answer, then its end.
        for each in sockets:
            each.settimeout(max(0.1, begun + (20 if TIMED else 60) - time.monotonic()))
            try:
                while each.recv(4096):
                    pass
            except ConnectionError:
                pass
    finally:
        stop.set()
        dripping.join()
        for each in sockets:
            each.close()
    assert not busy["failures"], busy
    if TIMED:
        assert busy["p50Milliseconds"] < 2 * max(calm["p50Milliseconds"], 2), (busy, calm)
    return f"{count} slow connections ended within {time.monotonic() - begun:.0f} s"


def steadiness(server: Server, rounds: int, seconds: float) -> str:
    """Memory and open files do not grow with the logins, nor does a login take longer."""
    server.load(users=100, seconds=seconds, connections=8)
    sizes, files, medians = [], [], []
    for _ in range(rounds):
        medians.append(server.load(users=10, seconds=seconds, connections=8)["p50Milliseconds"])
        sizes.append(server.memory())
        files.append(server.files())
    # The last connections of a load may be about to end.
    wait_until(lambda: server.files() <= min(files) + 8)
    assert sizes[-1] <= sizes[0] * 1.05 + 2, f"memory grows: {sizes}"
    if TIMED:
        assert medians[-1] < 2 * medians[0] + 5, f"logins get slower: {medians}"
    return f"{sizes[0]:.1f} MB at first, {sizes[-1]:.1f} MB at the end, {server.files()} open files"


def answer_times(server: Server, samples: int) -> str:
    """Wrong PINs of unknown, known, locked and revoked identities take the same time at every step."""
    # At most 1,000 wrong PINs an identity are what an operator can allow.
    people = range(samples // 900 + 1)
    phones = {name: [Phone(server.backend, f"{name}{n:04}@example.com") for n in people] for name in KINDS}
    for phone in (phone for group in phones.values() for phone in group):
        phone.start_registration()
        phone.finish_registration(PIN)
    date, permit = phones["wrong"][0].time_permit()
    token = phones["wrong"][0].token
    kinds = [
        Kind(name, status, [Guesser(phone.id, phone.token, date, permit) for phone in phones[name]])
        for name, status in KINDS.items()
    ]
    measure(server.port, [Kind("", None, kinds[1].people)], 3 * len(people))
    for phone in phones["revoked"]:
        server.revoke(phone.user)
    server.end(signal.SIGTERM)
    server.start("--max-attempts", "1000")
    kinds.append(Kind("unknown", 401, [Guesser(invented(), token, date, permit) for _ in people]))
    measure(server.port, kinds, samples)
    found = differences(kinds)
    worst = max(found, key=lambda name: abs(found[name]))
    # Few samples of a busy machine scatter more.
    limit = 4.5 if TIMED else 6
    assert abs(found[worst]) < limit, {name: round(t, 1) for name, t in found.items() if abs(t) >= limit}
    server.end(signal.SIGTERM)
    server.start()
    return f"{samples} samples a kind, largest |t| {abs(found[worst]):.1f} ({worst})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cycles", type=int, default=20, help="kills, and restarts")
    parser.add_argument("--seconds", type=float, default=15, help="of each load")
    parser.add_argument("--rounds", type=int, default=8, help="loads of the steadiness check")
    parser.add_argument("--slow", type=int, default=5000, help="slow connections")
    parser.add_argument("--samples", type=int, default=10000, help="answers whose times are compared, of each kind")
    parser.add_argument("--short", action="store_true", help="all in less than a minute")
    parser.add_argument("--only", metavar="NAME", help="this check alone")
    options = parser.parse_args()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    if options.short:
        options.cycles, options.seconds, options.rounds, options.slow = 3, 1.5, 2, 200
        options.samples = 100
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder))
        server.start()
        checks: list[tuple[str, Callable[[], str]]] = [
            ("kill -9", lambda: kills(server, options.cycles)),
            ("SIGTERM", lambda: restarts(server, options.cycles)),
            ("overload", lambda: overload(server, options.seconds)),
            ("slow clients", lambda: slow_clients(server, options.slow, options.seconds)),
            ("answer times", lambda: answer_times(server, options.samples)),
            ("steadiness", lambda: steadiness(server, options.rounds, options.seconds)),
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
        if server.process is not None and server.process.poll() is None:
            server.end(signal.SIGTERM)
    print(f"{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
