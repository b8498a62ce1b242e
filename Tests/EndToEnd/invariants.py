"""What must hold whatever fails: people, operators, attackers and thieves of tokens are at work meanwhile, and afterwards
everything is as the servers have said."""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import audits
from kept import LATER, Kept
from meanwhile import repeated
from node import LOST, PIN, Server
from phone import Phone, Refused, patiently, wait_until
from readiness import Readiness
from roaming import Place, Proxy, Roaming, registered

#: The most seconds from a request to its answer: five, which mpind promises for all answers of its stores together, and one
#: for everything else on a busy machine.
ANSWER = 6
#: The number of wrong PINs that block an identity.
LIMIT = 3
#: How many guess the PIN of one person at the same time.
GUESSERS = 8


@dataclass
class Login:
    """A login whose proof and token are sent again and again."""

    phone: Phone
    proof: dict[str, Any]
    tokens: list[dict[str, Any]]
    redeemed: int = 0


@dataclass
class Guessed:
    """Somebody whose PIN is guessed, and the status of each guess: None if there was no answer."""

    phone: Phone
    told: list[int | None] = field(default_factory=list)


class Invariants:
    """All of them, for one fault."""

    def __init__(
        self, folder: Path, nodes: list[Server], database: str, proxy: str = "", lost: Sequence[int] = (),
        most: float = ANSWER, keeps_lines: bool = True,
    ) -> None:  # fmt: skip
        """folder: a new one, by whose name all are called. nodes: run with --behind-proxy and --log-level debug, and an audit
        log (audits.audit). proxy: the URL of a proxy, to which all requests go; without it they go to any node. lost: statuses
        by which the proxy says that it has lost the connection to a node. most: seconds until an answer. keeps_lines: no
        node is killed, so none can lose a line of its audit log that it was about to write."""
        self.times: list[float] = []
        self.name, self._nodes, self._most, self._keeps_lines = folder.name, nodes, most, keeps_lines
        self._places: list[Place] = [Proxy(proxy)] if proxy else list(nodes)
        self._later = LATER | set(lost)
        self.kept = Kept(folder, proxy or nodes[0].backend, nodes[0].service(database), lambda user: self._registered(user), lost)
        self.readiness = Readiness(nodes)
        self._logins: list[Login] = []
        self._guessed: list[Guessed] = []
        self._next = threading.Lock()
        self._numbers = itertools.count()
        # A login before the fault, and one whose token is not yet redeemed.
        self._spend()
        self._logins.append(self._login())
        # Two wrong PINs before the fault are not forgotten: one more blocks.
        self._nearly_blocked = Guessed(self._person())
        for _ in range(LIMIT - 1):
            assert self._try(self._nearly_blocked) == 401
        self._guessed.append(Guessed(self._person()))

    def __len__(self) -> int:
        """The number of what was acknowledged."""
        return len(self.kept)

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
            registered([node], f"{self._new_name()}@example.com").login(PIN)
            return True
        except (Refused, *LOST):
            return False

    @contextlib.contextmanager
    def meanwhile(self) -> Iterator[None]:
        """Lets all be at work until the block ends."""
        spend, guess = (functools.partial(self._tolerantly, act) for act in (self._spend, self._guess))
        with (
            self.kept.meanwhile(), self.readiness.meanwhile(),
            repeated(spend, pause=0.05), repeated(*[guess] * GUESSERS, pause=0.2),
        ):  # fmt: skip
            yield

    def check(self) -> str:
        """Checks everything when nothing fails any more. Returns what was seen."""
        longest = max(self.times)
        assert longest < self._most, f"an answer took {longest:.1f} s"
        kept = self.kept.check(patiently)
        self._check_guesses()
        self._check_logins()
        self._check_audit()
        guesses = sum(len(guessed.told) for guessed in self._guessed)
        return (
            f"{kept} are there; {guesses} guesses of {len(self._guessed)} people's PINs, at most {LIMIT} of each judged; "
            f"{len(self._logins)} logins good once; answers within {longest:.1f} s"
        )

    def _new_name(self) -> str:
        """A name that nobody else has, not even among `kept`."""
        return f"{self.name}-other-{next(self._numbers)}"

    def _registered(self, user: str) -> Phone:
        return registered(self._places, user, self.times)

    def _person(self) -> Phone:
        name = self._new_name()
        phone = self._registered(f"{name}@example.com")
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
            login.redeemed += self._is_taken(lambda token=token: login.phone.authenticate(token))
        assert login.redeemed <= 1, "a token was redeemed twice"
        assert not self._is_taken(lambda: login.phone.pass2(login.proof)), "a proof was taken twice"

    def _guess(self) -> None:
        """Guesses the PIN of the last person, as the other guessers do. Once that one is blocked, all wait for another one and
        then begin together."""
        guessed = self._guessed[-1]
        status = self._try(guessed)
        assert status in {401, 410, None} | self._later, status
        if status == 410:
            with self._next:
                if guessed is self._guessed[-1]:
                    self._guessed.append(Guessed(self._person()))

    def _try(self, guessed: Guessed, pin: str = "4321") -> int | None:
        """The status of a login that must fail; None if the node is down."""
        try:
            guessed.phone.login(pin)
        except Refused as refused:
            assert_says_when(refused)
            guessed.told.append(refused.status)
            if pin == PIN and refused.status == 503:
                raise
            return refused.status
        except LOST:
            guessed.told.append(None)
            return None
        raise AssertionError(f"PIN {pin} was taken")

    def _check_guesses(self) -> None:
        self._guessed.append(self._nearly_blocked)

        def is_blocked(guessed: Guessed) -> None:
            wait_until(lambda: self._try(guessed) == 410)
            assert patiently(lambda: self._try(guessed, PIN)) == 410, "a block is lost"

        with ThreadPoolExecutor(GUESSERS) as threads:
            list(threads.map(is_blocked, self._guessed))
        found = judged_for(self._nodes)
        most = max(found[guessed.phone.request_id] for guessed in self._guessed)
        assert 0 < most <= LIMIT, f"{most} guesses of one PIN were judged"

    def _check_logins(self) -> None:
        """Sends all tokens and proofs once more to every node."""
        for login in self._logins:
            for node in self._nodes:
                there = Login(Roaming([node], login.phone.user, like=login.phone), login.proof, login.tokens, login.redeemed)
                self._send_again(there)
                login.redeemed = there.redeemed

    def _check_audit(self) -> None:
        """Checks that the nodes' audit logs have a line for each verdict that somebody has heard, and each node's log one for
        each proof that it has judged."""

        def missing() -> list[str]:
            logs = [(judged_for([node]), audits.logins(node)) for node in self._nodes]
            return [text for guessed in self._guessed for text in self._missing(guessed, logs)] + [
                f"the login of {login.phone.user}"
                for login in self._logins
                if sum((lines.get(login.phone.user, Counter())[200] for _, lines in logs)) != 1
            ]

        # A line is written soon after the answer.
        if self._keeps_lines:
            with contextlib.suppress(TimeoutError):
                wait_until(lambda: not missing(), 5)
            assert not missing(), f"not in the audit logs, or twice: {missing()}"

    @staticmethod
    def _missing(guessed: Guessed, logs: list[tuple[Counter[str], dict[str, Counter[int]]]]) -> Iterator[str]:
        told = Counter(guessed.told)
        heard = {status: told[status] for status in (401, 410)}
        name, user = guessed.phone.request_id, guessed.phone.user
        found = sum((lines.get(user, Counter()) for _, lines in logs), Counter[int]())
        for status, count in heard.items():
            if found[status] < count:
                yield f"{count - found[status]} x {status} for {user}"
        for judged, lines in logs:
            if judged[name] > lines.get(user, Counter()).total():
                yield f"{judged[name]} judged proofs of {user}"

    def _tolerantly(self, act: Callable[[], None]) -> None:
        try:
            act()
        except Refused as refused:
            assert refused.status in self._later, refused
            assert_says_when(refused)
        except LOST:
            pass

    def _is_taken(self, request: Callable[[], object]) -> bool:
        """Whether a request succeeds that may be refused."""
        try:
            request()
            return True
        except Refused as refused:
            assert refused.status in self._later, refused
            assert_says_when(refused)
        except LOST:
            pass
        return False


def judged_for(nodes: list[Server]) -> Counter[str]:
    """How many proofs nodes have judged, by the ids of the requests (Phone.request_id)."""
    lines = (line for node in nodes for line in node.log_text().splitlines())
    return Counter(json.loads(line)["request_id"] for line in lines if '"message":"proof judged"' in line)


def assert_says_when(refused: Refused) -> None:
    """503 is only for a while, so it says when to come again."""
    assert refused.status != 503 or refused.retry_after is not None, f"{refused} without Retry-After"
