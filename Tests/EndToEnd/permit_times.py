"""Tests whether the time to get a permit reveals that an identity is registered: Welch's t-test, at the RPS and at D-TA
2."""

from __future__ import annotations

import gc
import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlencode, urlsplit

from answer_times import LIMIT, Connection, differences, invented, permit_hash, tries
from node import Server, registered

STEPS = ["timePermit", "timePermit of D-TA 2"]
#: The number of identities of each kind. The requests take turns among them.
PEOPLE = 100
#: The test uses only identities whose hash takes at least this many tries until it is mapped to a point of the curve.
#: Anybody who knows an ID can compute its number of tries. If the server mapped the hashes of registered IDs only, the
#: time for many tries would reveal that an ID is registered.
TRIES = 4


@dataclass
class Kind:
    """A group of identities: all of them are registered, or none is."""

    name: str
    people: list[bytes]
    times: list[list[float]] = field(default_factory=list)


def permit_times(server: Server, samples: int) -> str:
    """Takes `samples` answers for each kind and compares their times."""
    settings = registered(server, "first@example.com").settings
    date = _ask_date(server)
    kinds = [
        Kind("known", _slow(date, PEOPLE, lambda n: registered(server, f"permit{n:05}@example.com").id)),
        Kind("unknown", _slow(date, PEOPLE, lambda _: invented())),
    ]
    rps = Connection(server.port)
    dta2 = Connection(urlsplit(settings["certivoxURL"]).port or 0)
    turns = {kind.name: itertools.cycle(kind.people) for kind in kinds}
    for kind in kinds:
        for _ in range(PEOPLE):
            _ask(rps, dta2, next(turns[kind.name]))
    gc.disable()
    try:
        for _ in range(samples):
            for kind in random.sample(kinds, len(kinds)):
                kind.times.append(_ask(rps, dta2, next(turns[kind.name])))
    finally:
        gc.enable()
        rps.close()
        dta2.close()
    found = differences(kinds, STEPS)
    assert all(abs(t) < LIMIT for t in found.values()), {name: round(t, 1) for name, t in found.items()}
    return f"{samples} samples a kind, " + ", ".join(f"t {t:.1f} ({name})" for name, t in found.items())


def _ask(rps: Connection, dta2: Connection, id: bytes) -> list[float]:
    status, first, one = rps.ask("GET", "/rps/timePermit/" + id.hex())
    assert status == 200, status
    query = {"hash_mpin_id": first["storageId"], "signature": first["signature"]}
    status, _, other = dta2.ask("GET", "/timePermit?" + urlencode(query))
    assert status == 200, status
    return [one, other]


def _ask_date(server: Server) -> int:
    connection = Connection(server.port)
    try:
        return int(connection.ask("GET", "/rps/timePermit/" + invented().hex())[1]["date"])
    finally:
        connection.close()


def _slow(date: int, count: int, make: Callable[[int], bytes]) -> list[bytes]:
    """Returns `count` identities for which the map takes at least TRIES tries."""
    found: list[bytes] = []
    for number in itertools.count():
        id = make(number)
        if tries(permit_hash(date, id)) >= TRIES:
            found.append(id)
        if len(found) == count:
            break
    return found
