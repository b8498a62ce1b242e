"""Servers of the stores, which a script of Tests/StoreEngines starts and ends."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from node import ROOT


class Script:
    """A script that starts servers, prints what they are reached by, and does what the lines of its input say. It and its
    servers end when its input ends: with this process at the latest."""

    def __init__(self, name: str, *words: str | Path, prefix: Sequence[str] = ()) -> None:
        """words: its arguments. prefix: a command that runs it."""
        self._name = name
        self._process = subprocess.Popen(
            [*prefix, ROOT / "Tests/StoreEngines" / name, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def line(self) -> str:
        """Waits for its next line."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline().decode().strip()
        assert line, f"{self._name} ended"
        return line

    def tell(self, line: str = "") -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
