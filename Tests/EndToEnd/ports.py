"""TCP ports for the servers of the tests: `ports.py N` prints N of them."""

from __future__ import annotations

import random
import socket
import sys
from contextlib import ExitStack


def free_ports(count: int) -> list[int]:
    """Loopback ports that nobody listens on, below those that the system gives to clients: nobody takes one before the
    server binds it, nor while it is down between two starts."""
    ports: list[int] = []
    with ExitStack() as held:
        while len(ports) < count:
            port = random.randrange(15000, 32000)
            try:
                held.enter_context(socket.create_server(("127.0.0.1", port)))
            except OSError:
                continue
            ports.append(port)
    return ports


if __name__ == "__main__":
    print(*free_ports(int(sys.argv[1])))
