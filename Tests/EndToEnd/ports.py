"""Finds free TCP ports for the servers of the tests: `ports.py N` prints N of them, and keeps them until nobody reads its
output any more. The Swift tests choose theirs by the same rules (FreePorts.swift)."""

from __future__ import annotations

import random
import select
import socket
import sys
from contextlib import ExitStack


def free_ports(count: int) -> list[int]:
    """Returns loopback ports on which nobody listens. They are below those that the system gives to clients, so no
    client takes one before the server binds it, nor while the server is down between two starts. No other test program
    of this machine gets them while this program runs."""
    ports: list[int] = []
    with ExitStack() as bound:
        while len(ports) < count:
            port = random.randrange(10000, first_client_port())
            try:
                bound.enter_context(socket.create_server(("127.0.0.1", port)))
                claim(port)
            except OSError:
                continue
            ports.append(port)
    return ports


def first_client_port() -> int:
    """The first of the ports that the system gives to clients: 32768 on most machines."""
    with open("/proc/sys/net/ipv4/ip_local_port_range") as file:
        return int(file.read().split()[0])


def claim(port: int) -> None:
    """Keeps the port from the other test programs of this machine while this program runs. A Unix socket with an
    abstract name marks the port as taken."""
    with socket.socket(socket.AF_UNIX) as name:
        name.bind(f"\0mpin-test-{port}")
        name.detach()


def await_end_of_reader() -> None:
    """Returns when no program has the other end of the pipe open to which this one writes."""
    pipe = select.poll()
    pipe.register(sys.stdout, 0)
    pipe.poll()


if __name__ == "__main__":
    print(*free_ports(int(sys.argv[1])), flush=True)
    await_end_of_reader()
