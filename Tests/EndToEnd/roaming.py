"""A phone each of whose requests goes to another of several servers."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from node import PIN
from phone import Phone


class Place(Protocol):
    """What takes requests: a node (node.Server), or a proxy."""

    backend: str


@dataclass
class Proxy:
    """A proxy before all nodes. backend: its URL."""

    backend: str


class Roaming(Phone):
    """A phone each of whose requests goes to any node, as a load balancer would send it."""

    def __init__(
        self, nodes: Sequence[Place], user: str, like: Phone | None = None, times: list[float] | None = None
    ) -> None:
        """like: a phone whose identity this one has, too. times: gets the seconds of each request until its answer."""
        self._nodes, self._times = nodes, times
        super().__init__("", user)
        if like is not None:
            self.id, self.token = like.id, like.token

    @property
    def _backend(self) -> str:
        return random.choice(self._nodes).backend

    @_backend.setter
    def _backend(self, _: str) -> None:
        pass

    def ask(
        self, method: str, url: str, body: dict[str, Any] | None = None, headers: dict[str, str] | None = None
    ) -> dict[str, Any]:
        begun = time.monotonic()
        try:
            return super().ask(method, url, body, headers)
        finally:
            if self._times is not None:
                self._times.append(time.monotonic() - begun)


def registered(nodes: Sequence[Place], user: str, times: list[float] | None = None) -> Roaming:
    return Roaming(nodes, user, times=times).register(PIN)
