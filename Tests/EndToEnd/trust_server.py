"""The server of the tests of MIRACL Trust: both D-TAs, the RPS with this wire and the OpenID provider, and the RPA, each a
process of its own, and so is the receiver of pushes. It is a plugin of pytest, so every file of tests gets its
fixtures."""

from __future__ import annotations

import email
import email.policy
import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from node import ROOT
from ports import free_ports
from split import Split
from trust_phone import Client, Device, good

PROJECT = "proj-1"
#: Where links in mails and QR codes of the project lead.
LINK = "https://app.example/login"
#: The OpenID client, and the secret of its back end. Its secret is long enough to be the key of an HMAC.
CLIENT, SECRET, CALLBACK = "rp", "a-secret-of-the-tests-" * 4, "https://rp.example/login"
CLIENTS = f"""
- id: {CLIENT}
  secret-file: FOLDER/rp.secret
  redirect-uri: [{CALLBACK}]
  first-party: true
- id: several
  secret-sha256: {hashlib.sha256(SECRET.encode()).hexdigest()}
  redirect-uri: [{CALLBACK}, {CALLBACK}/2]
  first-party: true
- id: public
  auth-method: none
  redirect-uri: [{CALLBACK}]
  first-party: true
- id: stranger
  secret-sha256: {hashlib.sha256(SECRET.encode()).hexdigest()}
  redirect-uri: [{CALLBACK}]
"""


class Pushes:
    """The receiver of pushes."""

    def __init__(self, folder: Path) -> None:
        (port,) = free_ports(1)
        path = folder / "push.key"
        mpind("keys", "new", str(path))
        self.key = bytes.fromhex(path.read_text())
        self.options = ["--push-url", f"http://127.0.0.1:{port}/push", "--push-key-file", str(path)]
        program = [sys.executable, str(ROOT / "Tests/EndToEnd/push_receiver.py"), str(port)]
        self.process = subprocess.Popen(program, stdout=subprocess.PIPE, text=True)
        assert self._line() == "ready"

    def next(self, user: str) -> dict[str, Any]:
        """Waits for the next request that the receiver gets for a user."""
        while True:
            received = dict(json.loads(self._line()))
            if json.loads(received["body"])["userID"] == user:
                return received

    def end(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=60)

    def _line(self) -> str:
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, "the receiver has ended"
        return line.strip()


class TrustServer:
    """The parts, and what their operator does."""

    def __init__(self, folder: Path) -> None:
        (folder / "rp.secret").touch(mode=0o600)
        (folder / "rp.secret").write_text(SECRET)
        (folder / "clients.yaml").write_text(CLIENTS.replace("FOLDER", str(folder)))
        mpind("keys", "new", str(folder / "audit.key"))
        (folder / "audit").mkdir(mode=0o700)
        self._log = ["--audit-log", str(folder / "audit/audit.jsonl"), "--audit-key-file", str(folder / "audit.key")]
        self.pushes = Pushes(folder)
        faces = ["--trust", "--clients", str(folder / "clients.yaml"), *self._log, *self.pushes.options]
        self.parts = Split(folder / "split", "--rate-limits", "off", provider=faces)
        self.url = self.parts.issuer
        self.mails = folder / "split/provider-mail"
        self._numbers = count()

    def operate(self, *words: str) -> str:
        """Runs a command of mpind at the running server's database."""
        return mpind(*words, "--database", self.parts.database(), *self._log)

    def project(self, id: str, *options: str) -> Client:
        """Adds a project, and returns a client of it."""
        self.operate("project", "add", id, *options)
        return self.client(id)

    def client(self, project: str = PROJECT) -> Client:
        return Client(self.url, project)

    def service_token(self, project: str = PROJECT) -> str:
        made = self.operate("project", "token", "add", project, f"token-{next(self._numbers)}", "--json")
        return str(json.loads(made)["token"])

    def user(self) -> str:
        """A user id that no other test has."""
        return f"alice-{next(self._numbers)}@example.com"

    def audit_text(self) -> str:
        return Path(self._log[1]).read_text()

    def mail(self, user: str) -> str:
        """The text of the newest mail to a user."""
        for path in sorted(self.mails.glob("*.eml"), reverse=True):
            mail = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
            if user in mail["To"]:
                body = mail.get_body(("plain",))
                return str(body.get_content()) if body else ""
        raise AssertionError(f"no mail to {user}")

    def code(self, user: str) -> str:
        """The code in the newest mail to a user: the six digits, or that in the link."""
        text = self.mail(user)
        digits = re.search(r"^\s*([0-9]{6})\s*$", text, re.MULTILINE)
        if digits:
            return digits[1]
        link = re.search(r"https?://\S+/verification/confirmation\?\S+", text)
        assert link, text
        query = parse_qs(urlsplit(link[0]).query)
        assert query["user_id"] == [user]
        return query["code"][0]

    def activation_token(self, client: Client, user: str) -> str:
        """Verifies a user by mail."""
        good(client.verify(user))
        return str(good(client.confirm(user, self.code(user)))["actToken"])

    def register(self, client: Client, user: str | None = None, pin: str = "1234") -> Device:
        """Registers a device of a user, who is new unless named."""
        user = user or self.user()
        return client.register(user, self.activation_token(client, user), pin)


def mpind(*words: str) -> str:
    done = subprocess.run([ROOT / "build/mpind", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"mpind {words}: {done.stderr}"
    return done.stdout


@pytest.fixture(scope="session")
def trust(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TrustServer]:
    """The server, with the project PROJECT."""
    server = TrustServer(tmp_path_factory.mktemp("trust"))
    try:
        server.project(PROJECT, "--link-url", LINK, "--origin", "https://app.example", "--client", CLIENT)
        yield server
        server.parts.end()
    finally:
        server.parts.kill()
        server.pushes.end()


@pytest.fixture
def client(trust: TrustServer) -> Client:
    return trust.client()
