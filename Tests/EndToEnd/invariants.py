"""What must hold whatever fails: people, operators, attackers and thieves of tokens are at work meanwhile, and afterwards
everything is as the servers have said."""

from __future__ import annotations

import contextlib
import itertools
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fronts import patiently
from kept import LATER, Kept
from node import LOST, PIN, Server
from phone import Phone, Refused, wait_until
from roaming import Roaming, registered

#: The most seconds from a request to its answer: five, which mpind promises for all answers of its stores together, and one
#: for everything else on a busy machine.
ANSWER = 6
#: The number of wrong PINs that block an identity.
LIMIT = 3


@dataclass
class Login:
    """A login whose proof and token are sent again and again."""

    phone: Phone
    proof: dict[str, Any]
    tokens: list[dict[str, Any]]
    redeemed: int = 0


class Invariants:
    """All of them, for one fault."""

    def __init__(self, folder: Path, nodes: list[Server], database: str) -> None:
        """folder: a new one, by whose name all are called. nodes: run with --behind-proxy and --log-level debug."""
        self.times: list[float] = []
        self._nodes, self._name = nodes, folder.name
        self._kept = Kept(folder, nodes[0].backend, database, lambda user: registered(nodes, user, self.times))
        self._logins: list[Login] = []
        self._guessed: list[Phone] = []
        self._numbers = itertools.count()
        # A login before the fault, and one whose token is not yet redeemed.
        self._spend()
        self._logins.append(self._login())
        # Two wrong PINs before the fault are not forgotten: one more blocks.
        self._nearly_blocked = self._person()
        for _ in range(LIMIT - 1):
            assert _refusal(self._nearly_blocked) == 401
        self._guessed.append(self._person())

    def __len__(self) -> int:
        """The number of what was acknowledged."""
        return len(self._kept)

    def around(self, check: Callable[[], str]) -> str:
        """Runs a check that makes something fail, and checks everything afterwards. Returns what both have seen."""
        with self.meanwhile():
            said = check()
        return f"{said}; {self.check()}"

    def back_at_all(self) -> float:
        """Waits until people can register and log in at every node. Returns how many seconds that took."""
        begun = time.monotonic()
        with ThreadPoolExecutor(len(self._nodes)) as threads:
            list(threads.map(lambda node: wait_until(lambda: self._works_at(node), 120), self._nodes))
        return time.monotonic() - begun

    def _works_at(self, node: Server) -> bool:
        """Whether somebody can register and log in at a node now."""
        try:
            registered([node], f"{self._name}-{next(self._numbers)}@example.com").login(PIN)
            return True
        except (Refused, *LOST):
            return False

    @contextlib.contextmanager
    def meanwhile(self) -> Iterator[None]:
        """Lets all be at work until the block ends."""
        done = threading.Event()
        problems: list[Exception] = []

        def live(act: Callable[[], None]) -> None:
            while not done.wait(0.05):
                try:
                    _tolerantly(act)
                except Exception as problem:
                    problems.append(problem)
                    return

        threads = [threading.Thread(target=live, args=[act]) for act in (self._spend, self._guess)]
        with self._kept.meanwhile():
            for thread in threads:
                thread.start()
            try:
                yield
            finally:
                done.set()
                for thread in threads:
                    thread.join()
        if problems:
            raise problems[0]

    def check(self) -> str:
        """Checks everything when nothing fails any more. Returns what was seen."""
        longest = max(self.times)
        assert longest < ANSWER, f"an answer took {longest:.1f} s"
        kept = self._kept.check(patiently)
        self._check_guesses()
        self._check_logins()
        return (
            f"{kept} are there; {len(self._guessed)} people's PINs guessed, at most {LIMIT} judged; {len(self._logins)} logins "
            f"good once; answers within {longest:.1f} s"
        )

    def _person(self) -> Phone:
        name = f"{self._name}-{next(self._numbers)}"
        phone = registered(self._nodes, f"{name}@example.com", self.times)
        phone.request_id = name
        return phone

    def _login(self) -> Login:
        """A login of somebody new until the token is there: a login that is cut off counts as a wrong PIN."""
        phone = self._person()
        proof = phone.pass2_body(phone.pass1(PIN))
        return Login(phone, proof, [phone.pass2(proof)])

    def _spend(self) -> None:
        """Logs in, and sends the proof and the token twice."""
        login = self._login()
        self._logins.append(login)
        for _ in range(2):
            self._send_again(login)

    def _send_again(self, login: Login) -> None:
        """Sends the token and the proof of a login. A proof has been taken, so it is refused."""
        for token in login.tokens:
            login.redeemed += _is_taken(lambda token=token: login.phone.authenticate(token))
        assert login.redeemed <= 1, "a token was redeemed twice"
        assert not _is_taken(lambda: login.phone.pass2(login.proof)), "a proof was taken twice"

    def _guess(self) -> None:
        """Guesses the PIN of the last person until somebody is blocked, and then that of another one."""
        phone = self._guessed[-1]
        status = _refusal(phone)
        assert status in {401, 410, None} | LATER, status
        if status == 410:
            self._guessed.append(self._person())

    def _check_guesses(self) -> None:
        self._guessed.append(self._nearly_blocked)
        for phone in self._guessed:
            wait_until(lambda phone=phone: _refusal(phone) == 410)
            assert patiently(lambda phone=phone: _refusal(phone, PIN)) == 410, "a block is lost"
        found = judged_for(self._nodes)
        most = max(found[phone.request_id] for phone in self._guessed)
        assert 0 < most <= LIMIT, f"{most} guesses of one PIN were judged"

    def _check_logins(self) -> None:
        """Sends all tokens and proofs once more to every node."""
        for login in self._logins:
            for node in self._nodes:
                there = Login(Roaming([node], login.phone.user, like=login.phone), login.proof, login.tokens, login.redeemed)
                self._send_again(there)
                login.redeemed = there.redeemed


def judged_for(nodes: list[Server]) -> Counter[str]:
    """How many proofs nodes have judged, by the ids of the requests (Phone.request_id)."""
    lines = (line for node in nodes for line in node.log_text().splitlines())
    return Counter(json.loads(line)["request_id"] for line in lines if '"message":"proof judged"' in line)


def assert_says_when(refused: Refused) -> None:
    """503 is only for a while, so it says when to come again."""
    assert refused.status != 503 or refused.retry_after is not None, f"{refused} without Retry-After"


def _tolerantly(act: Callable[[], None]) -> None:
    try:
        act()
    except Refused as refused:
        assert refused.status in LATER, refused
        assert_says_when(refused)
    except LOST:
        pass


def _is_taken(request: Callable[[], object]) -> bool:
    """Whether a request succeeds that may be refused."""
    try:
        request()
        return True
    except Refused as refused:
        assert refused.status in LATER, refused
        assert_says_when(refused)
    except LOST:
        pass
    return False


def _refusal(phone: Phone, pin: str = "4321") -> int | None:
    """The status of a login that must fail; None if the node is down."""
    try:
        phone.login(pin)
    except Refused as refused:
        assert_says_when(refused)
        if pin == PIN and refused.status == 503:
            raise
        return refused.status
    except LOST:
        return None
    raise AssertionError(f"PIN {pin} was taken")
