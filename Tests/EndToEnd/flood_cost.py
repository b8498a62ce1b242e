#!/usr/bin/env python3
"""Tests what a flood of wrong PINs costs those who log in with right ones, at a running server.

People log in with right PINs at a fixed rate, one after the other, and another process guesses PINs of other identities, many
at the same moment. In turn nobody comes, only the people, only the flood, and both. What a right login costs under the flood is
mpind's processor time for both, less that for the same number of guesses when only the flood comes, for each right login. It
is compared with mpind's processor time for a right login when only the people come, less what mpind needs when nobody comes.

The more requests come, the less each costs, as mpind does some work once for those that come together. That is counted for
the right logins. With many guesses it is more than what the limit allows, so the check with few guesses is the sharp one.

Run by `make flood-cost-test`. The last line is "N passed, N failed".
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import statistics
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import checks
from answer_times import Connection, Guesser
from node import PIN, Server, registered

#: How much more a right login may cost.
LIMIT = 1.10
#: Right logins a second, and over how many connections.
RATE, PEOPLE = 60, 8
#: Guesses for each right login: a few, which would spoil the joint checks of proofs if there were any, and a flood.
FLOODS = {"few guesses": 0.15, "many guesses": 2.0}
#: The connections of a flood, and the identities of each. All guess at the same moment, and then wait.
GUESSERS, IDENTITIES = 8, 16

SPAWN = multiprocessing.get_context("spawn")


@dataclass
class Window:
    """What happened for a while, in seconds of mpind's processor time and in logins."""

    time: float
    right: int = 0
    wrong: int = 0


class Senders:
    """A process that logs in or guesses at a fixed rate, each connection for identities of its own."""

    def __init__(self, port: int, guessers: list[list[Guesser]], status: int, rate: float, is_even: bool) -> None:
        """guessers: for each connection. status: what each of their logins comes to. rate: all of them together, a second.
        is_even: whether the connections take turns; else all send at the same moment."""
        self._words = (port, guessers, status, rate, is_even)

    def __enter__(self) -> Senders:
        self._done: Event = SPAWN.Event()
        self._count: Any = SPAWN.Value("q", 0)
        self._process = SPAWN.Process(target=send, args=(*self._words, self._done, self._count))
        self._process.start()
        while self.count() < 10:
            assert self._process.exitcode is None, "a sender has failed"
            time.sleep(0.02)
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._process.join()
        assert self._process.exitcode == 0, "a sender has failed"

    def count(self) -> int:
        return int(self._count.value)


def send(port: int, guessers: list[list[Guesser]], status: int, rate: float, is_even: bool, done: Event, count: Any) -> None:
    """What the process of `Senders` does."""
    begun = time.monotonic() + 0.1
    period = len(guessers) / rate
    problems: list[BaseException] = []

    def live(number: int, people: list[Guesser]) -> None:
        connection = Connection(port)
        due = begun + (period * number / len(guessers) if is_even else 0)
        turn = 0
        while not done.wait(max(0, due - time.monotonic())):
            people[turn % len(people)].guess(connection, status)
            with count.get_lock():
                count.value += 1
            turn += 1
            # Who is late waits for the next turn, so that all keep sending at the moments that they should.
            due += period * max(1, math.ceil((time.monotonic() - due) / period))
        connection.close()

    def watched(number: int, people: list[Guesser]) -> None:
        try:
            live(number, people)
        except BaseException as problem:
            problems.append(problem)
            done.set()

    threads = [threading.Thread(target=watched, args=each) for each in enumerate(guessers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]


def processor_time(pid: int) -> float:
    """The processor time of another process in seconds, exact to a nanosecond: Linux's clock for it."""
    return time.clock_gettime((~pid << 3) | 2)


def window(server: Server, seconds: float, people: Senders | None = None, flood: Senders | None = None) -> Window:
    """Measures for a while."""
    senders = [people, flood]
    counts = [each.count() if each else 0 for each in senders]
    begun = processor_time(server.pid)
    time.sleep(seconds)
    spent = processor_time(server.pid) - begun
    right, wrong = ((each.count() if each else 0) - count for each, count in zip(senders, counts, strict=True))
    return Window(spent, right, wrong)


def cost(people: Senders, flood: Senders, rounds: int, seconds: float, server: Server) -> str:
    """Compares what a right login costs with and without the flood, in turn; the first round only warms up."""
    costs, ratios, rates = [], [], []
    for number in range(rounds + 1):
        idle = window(server, seconds)
        with people:
            alone = window(server, seconds, people)
            with flood:
                both = window(server, seconds, people, flood)
        with flood:
            only = window(server, seconds, None, flood)
        assert min(alone.right, both.right, both.wrong, only.wrong) > 0, (alone, both, only)
        if number:
            costs.append((alone.time - idle.time) / alone.right)
            # What only the flood costs contains what mpind needs when nobody comes.
            guesses = idle.time + (only.time - idle.time) / only.wrong * both.wrong
            ratios.append((both.time - guesses) / both.right / costs[-1])
            rates.append((both.right / seconds, both.wrong / seconds))
    ratio = statistics.median(ratios)
    right, wrong = map(statistics.median, zip(*rates, strict=True))
    said = (
        f"{ratio:.2f} times the processor time of a right login ({min(ratios):.2f} to {max(ratios):.2f}), which is "
        f"{statistics.median(costs) * 1e6:.0f} us without the flood; {right:.0f} right and {wrong:.0f} wrong a second"
    )
    assert ratio <= LIMIT, said
    return said


def guessers(server: Server, name: str, pin: str, connections: int) -> list[list[Guesser]]:
    """Registers identities for each connection, and prepares their logins."""

    def guesser(user: str) -> Guesser:
        phone = registered(server, user)
        date, permit = phone.time_permit()
        return Guesser(phone.id, phone.token, date, permit, pin)

    return [[guesser(f"{name}{n}-{m}@example.com") for m in range(IDENTITIES)] for n in range(connections)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--only", metavar="NAME", help="this check alone")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        # So that no identity is blocked, and each guess is judged.
        server = Server(Path(folder), options=["--max-attempts", "1000"])
        server.start()
        try:
            right = guessers(server, "right", PIN, PEOPLE)
            wrong = guessers(server, "wrong", "4321", GUESSERS)
            people = Senders(server.port, right, 200, RATE, is_even=True)
            floods = {name: Senders(server.port, wrong, 401, RATE * share, is_even=False) for name, share in FLOODS.items()}
            return checks.run(
                [
                    (name, lambda flood=flood: cost(people, flood, options.rounds, options.seconds, server))
                    for name, flood in floods.items()
                ],
                options.only,
            )
        finally:
            server.kill()


if __name__ == "__main__":
    sys.exit(main())
