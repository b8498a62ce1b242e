"""What nodes say of their readiness, at their listeners for health, all the time."""

from __future__ import annotations

import contextlib
import functools
import http.client
import time
from collections.abc import Iterator
from dataclasses import dataclass

from meanwhile import repeated
from node import LOST, Server
from phone import wait_until

#: The most seconds for which a node's readiness may be wrong. A node checks itself once a second at most, and counts what
#: has not answered after two seconds as down.
READINESS = 5


@dataclass
class Said:
    """An answer, and when it was asked for and came (time.monotonic())."""

    asked: float
    came: float
    is_ready: bool


class Readiness:
    """Asks all nodes, again and again."""

    def __init__(self, nodes: list[Server]) -> None:
        """nodes: those without a listener for health are not asked."""
        self._said: dict[Server, list[Said]] = {node: [] for node in nodes if node.health_port}

    @contextlib.contextmanager
    def meanwhile(self) -> Iterator[None]:
        """Asks until the block ends."""

        def ask(node: Server) -> None:
            asked = time.monotonic()
            with contextlib.suppress(*LOST):
                answer = is_ready(node)
                self._said[node].append(Said(asked, time.monotonic(), answer))

        with repeated(*(functools.partial(ask, node) for node in self._said), pause=0.1):
            yield

    def until(self, is_ready: bool, since: float) -> float:
        """Waits, while the block of `meanwhile` runs, until each node has said that it is ready, or that it is not. since:
        when that became true; what was asked before does not count. Returns the longest time in seconds after that."""
        assert self._said, "no listeners for health"
        took = max(self._first(said, is_ready, since) for said in self._said.values()) - since
        assert took < READINESS, f"a node said only after {took:.1f} s that it is {'' if is_ready else 'not '}ready"
        return took

    @staticmethod
    def _first(said: list[Said], is_ready: bool, since: float) -> float:
        def found() -> float | None:
            return next((each.came for each in list(said) if each.asked >= since and each.is_ready == is_ready), None)

        return float(wait_until(found, 30))


def is_ready(node: Server) -> bool:
    """Asks a node's listener for health whether it is ready."""
    host = node.address.partition(":")[0]
    with contextlib.closing(http.client.HTTPConnection(host, node.health_port, timeout=20)) as connection:
        connection.request("GET", "/health/ready")
        answer = connection.getresponse()
        answer.read()
        assert answer.status in (200, 503), answer.status
        return answer.status == 200
