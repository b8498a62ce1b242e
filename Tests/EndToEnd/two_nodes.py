"""Tests two processes that share one database: what was used at one cannot be used at the other, and wrong PINs at both
are counted together."""

from __future__ import annotations

import itertools
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from node import LOST, PIN, Server, accepted, registered
from phone import Phone, Refused, wait_until

#: The number of requests that are sent at the same time.
AT_ONCE = 8
#: The number of wrong PINs that block an identity.
LIMIT = 3


def two_nodes(folder: Path, people: int, guesses: int) -> str:
    """Runs two servers on one database. Replays the logins of `people` identities at both, and then tries `guesses`
    wrong PINs at both for each of `people` other identities, AT_ONCE of them at a time."""
    one = Server(folder / "one", log_level="debug")
    nodes = [one]
    try:
        one.start()
        nodes.append(Server(folder / "two", state=one.state, log_level="debug"))
        nodes[1].start()
        for number in range(people):
            replay(nodes, f"replayed{number}@example.com")
        for number in range(people):
            # Every fourth time, a node is killed during the guesses.
            guess(nodes, f"guessed{number}@example.com", guesses, is_killed=number % 4 == 3)
    finally:
        for node in nodes:
            node.kill()
    return f"{people} logins replayed at both, {people} x {guesses} guesses at both, at most {LIMIT} of each judged"


def replay(nodes: list[Server], user: str) -> None:
    """Sends copies of one pass 2, and then of its token, to both nodes at the same time. Exactly one must be
    accepted."""
    phones = at_nodes(registered(nodes[0], user), nodes)
    body = phones[0].pass2_body(phones[0].pass1(PIN))
    answers = at_once([partial(phone.pass2, body) for phone in phones * (AT_ONCE // 2)])
    assert len(answers) == 1, f"{len(answers)} copies of a pass 2 were taken"
    logins = at_once([partial(phone.authenticate, answers[0]) for phone in phones * (AT_ONCE // 2)])
    assert len(logins) == 1, f"{len(logins)} copies of a token were taken"
    for phone in phones:
        assert not accepted(lambda: phone.authenticate(answers[0])), "a token was taken twice"
        assert not accepted(lambda: phone.pass2(body)), "a pass 2 was taken twice"


def guess(nodes: list[Server], user: str, guesses: int, is_killed: bool) -> None:
    """Sends wrong PINs for one identity to both nodes at the same time, until it is blocked at both."""
    phones = at_nodes(registered(nodes[0], user), nodes)
    before = judged(nodes)
    with ThreadPoolExecutor(AT_ONCE) as attackers:
        turns = list(itertools.islice(itertools.cycle(phones), guesses))
        attack = attackers.map(lambda phone: refusal(phone, "4321"), turns)
        if is_killed:
            nodes[1].end(signal.SIGKILL)
            nodes[1].start()
        statuses = set(attack)
    # 401: a wrong PIN. 403: the challenge of this guess no longer exists, because another wrong guess has deleted all
    # open challenges of the identity, newer challenges have replaced it, or the node was killed after pass 1. 408: the
    # node was killed before the token of this pass 2 was redeemed. 410: the identity is blocked. 503: other guesses in
    # progress have reserved all remaining attempts.
    assert statuses <= {401, 403, 408, 410, 503, None}, statuses
    # An attempt that a kill has interrupted counts as wrong after ten seconds, so this waits for the block.
    for phone in phones:
        wait_until(lambda: refusal(phone, "4321") == 410)
        assert refusal(phone, PIN) == 410, "the right PIN of a blocked identity"
    found = judged(nodes) - before
    assert 0 < found <= LIMIT, f"{found} guesses were judged"


def judged(nodes: list[Server], request_id: str = "") -> int:
    """Counts the proofs that nodes have judged: all, or those of requests with an id (Phone.request_id)."""
    lines = (line for node in nodes for line in node.log_text().splitlines())
    return sum('"message":"proof judged"' in line and (not request_id or f'"{request_id}"' in line) for line in lines)


def refusal(phone: Phone, pin: str) -> int | None:
    """Returns the status of a login that must fail; None if the node is down."""
    try:
        phone.login(pin)
    except Refused as refused:
        return refused.status
    except LOST:
        return None
    raise AssertionError(f"PIN {pin} was taken")


def at_nodes(phone: Phone, nodes: list[Server]) -> list[Phone]:
    """Returns the phone for each node, after a successful login at each."""
    phones = [Phone(node.backend, phone.user) for node in nodes]
    for each in phones:
        each.id, each.token = phone.id, phone.token
        each.login(PIN)
    return phones


def at_once(requests: list[Callable[[], dict[str, Any]]]) -> list[dict[str, Any]]:
    """Sends the requests at the same time. Returns the answers to those that were accepted."""

    def answer(request: Callable[[], dict[str, Any]]) -> dict[str, Any] | None:
        try:
            return request()
        except Refused:
            return None

    with ThreadPoolExecutor(len(requests)) as threads:
        return [given for given in threads.map(answer, requests) if given is not None]
