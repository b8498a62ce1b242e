"""Tests whether the time of an answer reveals that an identity exists, is locked or is revoked: Welch's t-test for each
step of a login."""

from __future__ import annotations

import gc
import hashlib
import itertools
import json
import math
import random
import socket
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from mpin import crypto

STEPS = ["pass1", "pass2", "mpinAuthenticate"]
#: The limit for |t|, the absolute value of Welch's t. Without a leak, the largest of the 24 |t| is almost always below
#: 4. If something leaks, |t| grows with the number of samples. Pass 2 leaked once, because stored records of unknown
#: IDs were shorter than others.
LIMIT = 4.5
#: This fraction of the answers, the slowest ones, is left out, because other work of the machine has delayed most of
#: them.
SLOW = 0.05
#: X is the parameter of the curve y^2 = x^3 + 2, and FIELD is the prime of its field (docs/curve.md).
X = -0x4000000003C012B1
FIELD = 36 * X**4 + 36 * X**3 + 24 * X**2 + 6 * X + 1


class Connection:
    """A permanent connection that measures the time of an answer."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def close(self) -> None:
        self._socket.close()

    def post(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any], float]:
        """Returns status, answer, and the seconds from the last byte sent to the first bytes received."""
        return self.ask("POST", path, json.dumps(body).encode())

    def ask(self, method: str, path: str, content: bytes = b"") -> tuple[int, dict[str, Any], float]:
        """Sends any request. Returns status, content, and the seconds from the last byte sent to the first bytes
        received."""
        length = f"Content-Length: {len(content)}\r\n" if content else ""
        request = f"{method} {path} HTTP/1.1\r\nHost: x\r\n{length}\r\n".encode() + content
        begun = time.perf_counter()
        self._socket.sendall(request)
        answer = self._receive()
        seconds = time.perf_counter() - begun
        while b"\r\n\r\n" not in answer:
            answer += self._receive()
        head, _, text = answer.partition(b"\r\n\r\n")
        fields = dict(line.lower().split(b":", 1) for line in head.split(b"\r\n")[1:])
        while len(text) < int(fields[b"content-length"]):
            text += self._receive()
        return int(head.split(b" ", 2)[1]), json.loads(text), seconds

    def _receive(self) -> bytes:
        data = self._socket.recv(65536)
        if not data:
            raise ConnectionError("the server has closed the connection")
        return data


class Guesser:
    """A client that tries a PIN for one identity, usually a wrong one. It computes pass 1 beforehand, so that it does
    little while times are measured."""

    def __init__(self, id: bytes, token: bytes, date: int, permit: bytes | None, pin: str = "9999") -> None:
        self._id = id.hex()
        self._x = crypto.random_generate()
        scalar = crypto.pin_to_scalar(crypto.PinMapping.DECIMAL4, pin.encode())
        self._sec, u, ut = crypto.client_1(date, id, self._x, *scalar, token, permit)
        self._pass1 = {"pass": 1, "mpin_id": self._id, "U": u.hex(), "UT": (ut or b"").hex()}

    def guess(self, connection: Connection, status: int | None = None) -> list[float]:
        """Returns the times of the three steps of a login, and checks its result."""
        first, answer, pass1 = connection.post("/rps/pass1", self._pass1)
        assert first == 200, first
        v = crypto.client_2(self._x, bytes.fromhex(answer["y"]), self._sec).hex()
        proof = {"pass": 2, "mpin_id": self._id, "V": v, "WID": "0", "OTP": False}
        second, token, pass2 = connection.post("/rps/pass2", proof)
        assert second == 200, second
        third, _, end = connection.post("/mpinAuthenticate", {"mpinResponse": token})
        assert status in (None, third), f"a PIN came to {third} instead of {status}"
        return [pass1, pass2, end]


def invented() -> bytes:
    """Returns a random M-Pin ID that was never registered."""
    text = {"mobile": 1, "issued": "2026-01-01 00:00:00.000000", "userID": "user0000@example.com", "salt": "0" * 32}
    return json.dumps(text | {"salt": random.randbytes(16).hex()}).encode()


def tries(hashed: bytes) -> int:
    """Returns how many tries it takes to map a hash to a point of the curve (docs/curve.md)."""
    x = int.from_bytes(hashed, "big") % FIELD
    return next(n for n in itertools.count(1) if pow((x + n - 1) ** 3 + 2, (FIELD - 1) // 2, FIELD) == 1)


def permit_hash(date: int, id: bytes) -> bytes:
    """Returns the hash that is mapped to the point of the time permit."""
    return hashlib.sha256(date.to_bytes(4, "big") + hashlib.sha256(id).digest()).digest()


def is_quick(date: int, id: bytes) -> bool:
    """Whether both hashes of an ID are mapped at the first try. The number of tries is no secret, because anybody can
    compute it from the ID, but it would make some identities slower than others."""
    return tries(hashlib.sha256(id).digest()) == 1 and tries(permit_hash(date, id)) == 1


class Timed(Protocol):
    """A group of identities with the measured times of each step. The identities take turns."""

    name: str
    times: list[list[float]]

    @property
    def people(self) -> Sequence[object]: ...


@dataclass
class Kind:
    """A group of identities. From outside, all groups must look the same."""

    name: str
    #: The status with which /mpinAuthenticate must answer for these identities; None accepts any status.
    status: int | None
    people: list[Guesser]
    times: list[list[float]] = field(default_factory=list)


def measure(port: int, kinds: list[Kind], samples: int) -> None:
    """Measures `samples` logins of each kind. The order of the kinds is random in each round."""
    connection = Connection(port)
    turns = {kind.name: itertools.cycle(kind.people) for kind in kinds}
    gc.disable()
    try:
        for _ in range(samples):
            for kind in random.sample(kinds, len(kinds)):
                kind.times.append(next(turns[kind.name]).guess(connection, kind.status))
    finally:
        gc.enable()
        connection.close()


def login_differences(kinds: Sequence[Kind]) -> dict[str, float]:
    """Returns Welch's t of each pair of kinds that a login must not tell apart. Until the last answer these are all kinds. Its
    status tells blocked identities from others. So there only kinds with the same status are compared."""
    found = differences(kinds, STEPS[:-1])
    for status in {kind.status for kind in kinds}:
        found |= _differences_at(len(STEPS) - 1, STEPS[-1], [kind for kind in kinds if kind.status == status])
    return found


def differences(kinds: Sequence[Timed], steps: list[str]) -> dict[str, float]:
    """Returns Welch's t of each pair of kinds at each step, without the slowest answers.

    The samples are the means of the identities, not the single times. The reason is that each identity has a place of
    its own in the database, which makes some a little slower than others, whatever their kind."""
    found: dict[str, float] = {}
    for number, step in enumerate(steps):
        found |= _differences_at(number, step, kinds)
    return found


def _differences_at(number: int, step: str, kinds: Sequence[Timed]) -> dict[str, float]:
    all_times = sorted(times[number] for kind in kinds for times in kind.times)
    slow = all_times[int(len(all_times) * (1 - SLOW))]
    means = {kind.name: _means([times[number] for times in kind.times], len(kind.people), slow) for kind in kinds}
    pairs = itertools.combinations(means, 2)
    return {f"{step}, {one} and {other}": welch(means[one], means[other]) for one, other in pairs}


def _means(times: list[float], people: int, slow: float) -> list[float]:
    """Returns the mean of each identity's times, without those above `slow`. The identities took turns."""
    return [statistics.fmean(time for time in times[number::people] if time <= slow) for number in range(people)]


def welch(one: list[float], other: list[float]) -> float:
    """Returns Welch's t of two samples."""
    spread = statistics.variance(one) / len(one) + statistics.variance(other) / len(other)
    return (statistics.fmean(one) - statistics.fmean(other)) / math.sqrt(spread)
