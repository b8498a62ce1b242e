#!/usr/bin/env python3
"""Registers 10,000 devices with key pairs at a real server, which must need at most 8 MiB more than after 1,000. The last
line is "N passed"."""

from __future__ import annotations

import json
import subprocess
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import requests
from node import ROOT, Server
from trust_phone import Client, Keys, good

FIRST, ALL, LIMIT = 1000, 10_000, 8 * 1.048576
PHONES = 4


def operate(server: Server, *words: str) -> str:
    command = [str(ROOT / "build/mpind"), "project", *words, "--state-dir", server.state]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def register(server: Server, numbers: range, token: str) -> None:
    """Registers a user for each number, and fetches both shares."""
    mine = threading.local()

    def one(number: int) -> None:
        if not hasattr(mine, "client"):
            mine.client = Client(server.backend, "app")
            mine.back_end = requests.Session()
            mine.back_end.headers["Authorization"] = f"Bearer {token}"
        user = {"userId": f"user{number}@example.com"}
        begun = good(mine.back_end.post(server.backend + "/activate/initiate", json=user, timeout=60))
        answer = good(mine.client.enrol(user["userId"], begun["actToken"], Keys.new()))
        for url in answer["secretUrls"]:
            good(mine.client.get(url))

    with ThreadPoolExecutor(PHONES) as pool:
        list(pool.map(one, numbers))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder), options=["--trust"])
        server.start()
        operate(server, "add", "app")
        token = json.loads(operate(server, "token", "add", "app", "t", "--json"))["token"]
        register(server, range(FIRST), token)
        before = server.memory()
        register(server, range(FIRST, ALL), token)
        after = server.memory()
        server.close()
    print(f"{before:.1f} MB after {FIRST:,} registrations with key pairs, {after:.1f} MB after {ALL:,}")
    assert after <= before + LIMIT, f"more than {LIMIT:.1f} MB more"
    print("1 passed")


if __name__ == "__main__":
    main()
