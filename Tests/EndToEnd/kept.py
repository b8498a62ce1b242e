"""What people and operators do while something fails, and whether it is still there afterwards: registrations, revocations,
blocks, clients, and grants of apps."""

from __future__ import annotations

import contextlib
import itertools
import json
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import mpin
from meanwhile import repeated
from node import LOST, PIN, PROGRAM
from phone import Phone, Refused, wait_until

#: What a client may be told while something fails. 403 and 408: a challenge or token was lost.
LATER = {403, 408, 503}
#: What mpind says to an app whose session it no longer knows, and what the app makes of a wrong PIN. Neither is a fault of
#: the network.
WRONG = {"INCORRECT_PIN", "BLOCKED", "REVOKED", "NO_CREDENTIALS", "LOGIN_REQUIRED"}
APP = ["--auth-method", "none", "--first-party", "true", "--redirect-uri", "http://127.0.0.1/callback"]
APP += ["--grant", "authorization_code", "--grant", "refresh_token", "--scope", "openid", "--scope", "offline_access"]


class Kept:
    """Everything that a server has acknowledged."""

    def __init__(
        self, folder: Path, issuer: str, service: Sequence[str], register: Callable[[str], Phone], lost: Sequence[int] = ()
    ) -> None:
        """folder: a new one, by whose name all are called. issuer: the URL of the OpenID provider. service: the options by
        which operators' commands find the database. register: registers a user. lost: statuses by which a proxy says that it has lost the
        connection to a server."""
        folder.mkdir()
        self.registered: list[Phone] = []
        self.revoked: list[Phone] = []
        self.blocked: list[Phone] = []
        self.clients: list[str] = []
        self.apps: list[mpin.Session] = []
        self._folder, self._issuer, self._service, self._register = folder, issuer, service, register
        self._lost = lost
        self._numbers = itertools.count()
        self._app = f"app-{folder.name}"
        self._mpind("client", "add", self._app, *APP)
        self._kinds = [
            self._add_registration, self._add_revocation, self._add_block, self._add_client, self._add_grant
        ]  # fmt: skip
        for add in self._kinds:
            add(self._name())

    def __len__(self) -> int:
        return sum(map(len, (self.registered, self.revoked, self.blocked, self.clients, self.apps)))

    @contextlib.contextmanager
    def meanwhile(self) -> Iterator[None]:
        """Adds more of each kind until the block ends. Any of it may fail, but then with a reason that says so."""
        others = itertools.cycle(self._kinds[1:])
        # Registrations all the time, and one of the others after the other, which need more of the machine.
        with repeated(lambda: self._attempt(self._kinds[0]), lambda: self._attempt(next(others))):
            yield

    def check(self, try_until_there: Callable[[Callable[[], object]], object]) -> str:
        """Checks that all of it is there. `try_until_there` runs a request, again if the server says "later"."""
        for phone in self.registered:
            try_until_there(lambda phone=phone: phone.login(PIN))
        for phone in self.revoked:
            assert try_until_there(lambda phone=phone: _status(phone, PIN)) == 410, "a revocation is lost"
        for phone in self.blocked:
            assert try_until_there(lambda phone=phone: _status(phone, PIN)) == 410, "a block is lost"
        listed = [json.loads(line)["id"] for line in self._mpind("client", "list", "--json").splitlines()]
        lost = set(self.clients) - set(listed)
        assert not lost, f"lost clients: {lost}"
        for app in self.apps:
            wait_until(lambda app=app: _renewed(app))
        return (
            f"{len(self.registered)} registrations, {len(self.revoked)} revocations, {len(self.blocked)} blocks, "
            f"{len(self.clients)} clients and {len(self.apps)} grants"
        )

    def _attempt(self, add: Callable[[str], None]) -> None:
        try:
            add(self._name())
        except Refused as refused:
            if refused.status in self._lost:
                return
            assert refused.status in LATER, refused
            assert refused.status != 503 or refused.retry_after is not None, f"{refused} without Retry-After"
        except mpin.MPinError as error:
            assert error.status not in WRONG, error
        except (*LOST, subprocess.CalledProcessError):
            pass

    def _name(self) -> str:
        return f"{self._folder.name}-{next(self._numbers)}"

    def _add_registration(self, name: str) -> None:
        phone = self._register(f"{name}@example.com")
        self.registered.append(phone)
        phone.login(PIN)

    def _add_revocation(self, name: str) -> None:
        phone = self._register(f"{name}@example.com")
        self._mpind("user", "revoke", phone.user)
        self.revoked.append(phone)

    def _add_block(self, name: str) -> None:
        phone = self._register(f"{name}@example.com")
        for _ in range(3):
            status = _status(phone, "4321")
        assert status == 410, status
        self.blocked.append(phone)

    def _add_client(self, name: str) -> None:
        self._mpind("client", "add", name, "--redirect-uri", "https://shop.example.com/back")
        self.clients.append(name)

    def _add_grant(self, name: str) -> None:
        """Registers a user in an app, and logs it in: the app gets a refresh token."""
        sdk = mpin.SDK(str(self._folder / name), backend=self._issuer)
        user = sdk.make_new_user(f"{name}@example.com")
        sdk.start_registration(user)
        sdk.confirm_registration(user)
        sdk.finish_registration(user, PIN)
        app = mpin.Session(sdk, ask_pin=lambda _: PIN)
        app.add_provider(mpin.Provider("mpind", self._app, self._issuer, redirect_uri="http://127.0.0.1/callback"))
        app.login("mpind", user.id)
        self.apps.append(app)

    def _mpind(self, *words: str) -> str:
        command = [PROGRAM, *words, *self._service]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _status(phone: Phone, pin: str) -> int | None:
    """The status of a login that the server has judged or refuses for good: 401 or 410; None if it succeeds. Raises an error
    for all others."""
    try:
        phone.login(pin)
    except Refused as refused:
        if refused.status not in (401, 410):
            raise
        return refused.status
    return None


def _renewed(app: mpin.Session) -> bool:
    """Renews the tokens of an app with its refresh token. False if the server says "later"."""
    try:
        app.renew()
    except mpin.MPinError as error:
        if error.http_status != 503:
            raise
        return False
    return True
