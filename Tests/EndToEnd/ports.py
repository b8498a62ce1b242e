"""Finds free TCP ports for the servers of the tests: `ports.py N` prints N of them."""

from __future__ import annotations

import random
import socket
import sys
from contextlib import ExitStack


def free_ports(count: int) -> list[int]:
    """Returns loopback ports on which nobody listens. They are below those that the system gives to clients, so no
    client takes one before the server binds it, nor while the server is down between two starts."""
    ports: list[int] = []
    with ExitStack() as held:
        while len(ports) < count:
            port = random.randrange(15000, 32000)
            try:
                held.enter_context(socket.create_server(("127.0.0.1", port)))
                claim(port)
            except OSError:
                continue
            ports.append(port)
    return ports


def claim(port: int) -> None:
    """Keeps the port from other test programs of this machine while this program runs. A Unix socket with an abstract
    name, the same as in the server's tests, marks the port as taken."""
    with socket.socket(socket.AF_UNIX) as name:
        name.bind(f"\0mpin-test-{port}")
        name.detach()


if __name__ == "__main__":
    print(*free_ports(int(sys.argv[1])))
