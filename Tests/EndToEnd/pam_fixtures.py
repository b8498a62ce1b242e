"""People with phones, the services of PAM that the tests configure, and the system log that they read."""

from __future__ import annotations

import email
import email.policy
import json
import os
import pathlib
import re
import socket
import threading
from collections.abc import Iterator
from typing import Any

import mpin
import pytest
import requests
from pam_terminal import Invitation, Terminal
from phone import wait_until
from relying_party import Person
from session_proxy import Proxy

PUBLIC = os.environ["MPIN_PUBLIC"]
APART = pathlib.Path(os.environ["MPIN_APART_FOLDER"])
USERS, SECRET = APART / "users", APART / "secret"
#: Users of this machine, and the people who may log in as them.
LOCAL, OTHER = "mpin-alice", "mpin-bob"
ALICE, BOB = "alice@example.com", "bob@example.com"
# Six digits, because the log contains numbers of processes and ports, in which four of them may occur.
PIN, WRONG_PIN = "139746", "999999"
SERVICE = "mpin-test"
DEVICE, TOKEN, USERINFO = "/oidc/device", "/oidc/token", "/oidc/userinfo"
USUAL = {"issuer": PUBLIC, "client_id": "host", "client_secret_file": str(SECRET), "users": str(USERS)}


class ClientPhone:
    """A phone with our client. Its user has confirmed the mail address."""

    def __init__(self, user: str) -> None:
        self._sdk = mpin.SDK(str(APART / f"phone-{user}"), backend=PUBLIC)
        self._user = self._sdk.make_new_user(user)
        self._sdk.start_registration(self._user)
        link = mailed_link(user)
        assert requests.get(link).status_code == requests.post(link).status_code == 200
        self._sdk.confirm_registration(self._user)
        self._sdk.finish_registration(self._user, PIN)

    def login_browser(self, pin: str, number: str) -> None:
        self._sdk.start_authentication(self._user)
        self._sdk.finish_authentication_an(self._user, pin, number)


def mailed_link(user: str) -> str:
    def find() -> str | None:
        for file in pathlib.Path(os.environ["MPIN_MAILS"]).glob("*.eml"):
            mail = email.message_from_bytes(file.read_bytes(), policy=email.policy.default)
            if user in mail["To"]:
                text = mail.get_body(("plain",))
                found = re.search(r"^http\S+", text.get_content(), re.MULTILINE) if text else None
                return found[0] if found else None
        return None

    return str(wait_until(find))


class SystemLog:
    """The system log of this machine, which has nobody else."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind("/dev/log")
        os.chmod("/dev/log", 0o666)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        while True:
            self.lines.append(self._socket.recv(65536).decode(errors="replace"))

    def wait_for(self, text: str) -> str:
        """Waits for a line with the text and returns it."""
        return str(wait_until(lambda: next((line for line in self.lines if text in line), None)))


class Provider(Proxy):
    """The proxy before the provider. It notes the secrets that the provider gives to the module."""

    def __init__(self, port: int, backend: str) -> None:
        self.secrets: set[str] = set()
        super().__init__(port, backend)

    def reset(self) -> None:
        super().reset()
        for path in (DEVICE, TOKEN):
            self.answers[path] = self.note

    def note(self, body: bytes) -> bytes:
        members = json.loads(body)
        names = ("device_code", "access_token", "id_token")
        self.secrets |= {str(members[name]) for name in names if members.get(name)}
        return body

    def change(self, path: str, **members: Any) -> None:
        """From now on the provider's answers have other members."""
        self.answers[path] = lambda body: self.note(json.dumps({**json.loads(body), **members}).encode())


@pytest.fixture(scope="session")
def the_provider() -> Iterator[Provider]:
    provider = Provider(int(os.environ["MPIN_PROXY_PORT"]), os.environ["MPIN_BACKEND"])
    yield provider
    provider.stop()


@pytest.fixture(scope="session")
def the_log() -> SystemLog:
    return SystemLog()


@pytest.fixture
def provider(the_provider: Provider) -> Provider:
    """The provider, which lets a module ask after a second."""
    the_provider.reset()
    the_provider.change(DEVICE, interval=1)
    return the_provider


@pytest.fixture
def log(the_log: SystemLog, provider: Provider) -> Iterator[SystemLog]:
    """The system log, in which no secret may be."""
    the_log.lines.clear()
    yield the_log
    written = "\n".join(the_log.lines)
    for secret in provider.secrets | {SECRET.read_text().strip(), PIN}:
        assert secret not in written


@pytest.fixture
def machine(log: SystemLog) -> None:
    """The machine as an operator has configured it."""
    USERS.write_text(f"# who may log in\n\n{LOCAL}\temail:{ALICE}\n")
    USERS.chmod(0o644)
    configure()


def configure(*words: str, service: str = SERVICE, **changes: str | None) -> None:
    """Writes the file of a service: its options are the usual ones with changes. None leaves an option out."""
    options = [f"{name}={value}" for name, value in {**USUAL, **changes}.items() if value is not None]
    line = " ".join([os.environ["MPIN_MODULE"], *options, *words])
    rest = "account required pam_permit.so\nsession required pam_permit.so\n"
    pathlib.Path("/etc/pam.d", service).write_text(f"auth required {line}\n{rest}")


@pytest.fixture(scope="session")
def phones(the_provider: Provider) -> dict[str, ClientPhone]:
    return {user: ClientPhone(user) for user in (ALICE, BOB)}


@pytest.fixture
def alice(phones: dict[str, ClientPhone]) -> Person:
    return Person(PUBLIC, phones[ALICE], PIN)


@pytest.fixture
def bob(phones: dict[str, ClientPhone]) -> Person:
    return Person(PUBLIC, phones[BOB], PIN)


def attempt(user: str = LOCAL, **environment: str) -> Terminal:
    """Begins a login with pamtester."""
    return Terminal("pamtester", SERVICE, user, "authenticate", **environment)


def open_link(person: Person, invitation: Invitation) -> None:
    """Opens the link in the phone's browser, in which nobody is logged in. The page shows the code and asks for a
    login."""
    person.browser.cookies.clear()
    assert invitation.code in person.open(invitation.link).text
    data, headers = {"user_code": invitation.code}, {"Origin": PUBLIC}
    assert 'id="login"' in person.open(f"{PUBLIC}/device", method="POST", data=data, headers=headers).text


def allow(person: Person, invitation: Invitation) -> None:
    """Logs in with the PIN and says yes."""
    open_link(person, invitation)
    person.log_in()
    assert "is logged in" in person.press("/authorize/confirm", step="consent", answer="yes").text
