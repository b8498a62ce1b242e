"""Machines in one network, as namespaces of this machine: a bridge with a port for each. The test itself is at the bridge.
Needs root, and a network and /run of its own (cut.sh)."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

#: The test's own address, and the network.
HERE, NETWORK = "10.77.0.254", "10.77.0.0/24"


class Machines:
    """The machines by their names, which may have at most 15 characters."""

    def __init__(self, names: Sequence[str]) -> None:
        self.addresses = {name: f"10.77.0.{number}" for number, name in enumerate(names, 1)}
        _run("ip", "link", "set", "lo", "up")
        _run("ip", "link", "add", "name", "switch", "type", "bridge")
        _run("ip", "address", "add", f"{HERE}/24", "dev", "switch")
        _run("ip", "link", "set", "switch", "up")
        for name, address in self.addresses.items():
            _run("ip", "netns", "add", name)
            _run("ip", "link", "add", "name", name, "type", "veth", "peer", "name", "eth0", "netns", name)
            _run("ip", "link", "set", name, "master", "switch", "up")
            _run("ip", "-n", name, "address", "add", f"{address}/24", "dev", "eth0")
            for link in ("lo", "eth0"):
                _run("ip", "-n", name, "link", "set", link, "up")

    @staticmethod
    def on(name: str) -> list[str]:
        """The beginning of a command that runs on a machine."""
        return ["nsenter", f"--net=/run/netns/{name}"]

    def cut(self, one: str, other: str) -> None:
        """What two machines send to each other is lost from now on, without a word. All others reach both."""
        for name in (one, other):
            _run("bridge", "link", "set", "dev", name, "isolated", "on")

    def cut_off(self, name: str) -> None:
        """What a machine sends, and what is sent to it, is lost from now on."""
        _run("bridge", "link", "set", "dev", name, "state", "0")

    def mend(self) -> None:
        """Ends all cuts."""
        for name in self.addresses:
            _run("bridge", "link", "set", "dev", name, "isolated", "off", "state", "3")


def _run(*words: str) -> None:
    subprocess.run(words, check=True)
