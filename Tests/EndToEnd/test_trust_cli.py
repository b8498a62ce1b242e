"""`mpin-cli trust` at our server: every command, option and exit code, with both D-TAs, the RPS and the RPA in processes of
their own."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from node import ROOT, Server
from test_trust_client import claims
from trust_phone import Client, good
from trust_server import LINK, PROJECT, TrustServer, mpind

DONE, FAILED, WRONG_PIN, BLOCKED, USAGE = 0, 1, 3, 4, 64
PROGRAM = str(ROOT / "build/mpin-cli")


class Cli:
    """The program with one store."""

    def __init__(self, folder: Path, trust: TrustServer) -> None:
        folder.mkdir(exist_ok=True)
        self._trust = trust
        self._environment = {
            name: value for name, value in os.environ.items() if not name.startswith("MPIN_")
        } | {"MPIN_PROJECT": PROJECT, "MPIN_PROJECT_URL": trust.url, "MPIN_STORE": str(folder / "store")}  # fmt: skip
        self.heard = ""

    def run(self, expected: int, *words: str, typed: str = "", **environment: str) -> str:
        """Runs a command without a terminal, which must end with this exit code, and returns what it prints."""
        done = subprocess.run(
            [PROGRAM, "trust", *words, *self._pins(words)], input=typed, capture_output=True, text=True, timeout=60,
            env=self._environment | environment, check=False, start_new_session=True)  # fmt: skip
        self.heard = done.stderr
        assert done.returncode == expected, (words, done.returncode, done.stdout, done.stderr)
        return done.stdout

    def told(self, expected: int, *words: str, typed: str = "") -> dict[str, Any]:
        return dict(json.loads(self.run(expected, *words, "--json", typed=typed)))

    def register(self, user: str, pin: str = "1234", as_link: bool = True, *words: str) -> None:
        """Registers with the link in the mail, or with the code in it."""
        command = [PROGRAM, "trust", "register", user, *words, *self._pins(["register"])]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=self._environment) as process:  # fmt: skip
            assert process.stderr
            assert process.stderr.readline() == f"A mail with a link is on its way to {user}.\n"
            code = self._trust.code(user)
            link = f"{LINK}?user_id={user.replace('@', '%40')}&code={code}"
            out, heard = process.communicate(f"{link if as_link else code}\n{pin}\n", timeout=60)
            assert (process.returncode, out) == (DONE, "OK\n"), (out, heard)

    @staticmethod
    def _pins(words: Any) -> list[str]:
        return [] if words[0] in ("session", "abort", "list", "delete", "export", "import") else ["--pin-fd", "0"]


@pytest.fixture
def cli(tmp_path: Path, trust: TrustServer) -> Cli:
    return Cli(tmp_path, trust)


@pytest.fixture
def user(cli: Cli, trust: TrustServer) -> str:
    """A registered user."""
    user = trust.user()
    cli.register(user)
    return user


def page(client: Client, **wish: str) -> dict[str, Any]:
    return dict(good(client.post("/rps/v2/session", {"projectId": PROJECT, **wish})))


def test_register_log_in_and_list(cli: Cli, user: str, trust: TrustServer) -> None:
    told = claims(cli.run(DONE, "login", user, typed="1234\n").strip())
    assert (told["sub"], told["aud"]) == (user, PROJECT)
    assert cli.heard == f"Login at {PROJECT} as {user}\n"
    assert claims(cli.told(DONE, "login", user, typed="1234\n")["jwt"])["sub"] == user
    assert cli.run(DONE, "list") == f"{user}\tregistered\t{trust.url}\n"
    # The users of another project are not listed.
    assert cli.run(DONE, "list", MPIN_PROJECT="other") == "nobody is registered here\n"
    assert cli.told(WRONG_PIN, "login", user, typed="4321\n")["result"] == "INCORRECT_PIN"
    assert cli.told(FAILED, "login", user, typed="12345\n")["result"] == "PIN_INVALID"
    # A renewal is not seen.
    trust.operate("user", "renew", user)
    for _ in range(2):
        cli.run(DONE, "login", user, typed="1234\n")
        assert cli.heard == f"Login at {PROJECT} as {user}\n"
    lines = [line for line in trust.audit_text().splitlines() if user in line]
    assert any('"event":"renewed"' in line for line in lines), lines


def test_a_mail_that_came_before(cli: Cli, trust: TrustServer) -> None:
    user = trust.user()
    cli.run(FAILED, "register", user, typed="")
    refused = cli.told(FAILED, "register", user)
    assert refused["result"] == "REQUEST_BACKOFF" and refused["retryAt"] > 0
    assert "; try again at 20" in cli.run(FAILED, "register", user)
    assert "VERIFICATION_FAILED" in cli.run(FAILED, "register", user, "--no-mail", typed="nope\n")
    other = trust.user()
    cli.run(FAILED, "register", other, typed="")
    link = f"{LINK}?user_id={other.replace('@', '%40')}&code={trust.code(other)}\n"
    assert f"the link is for {other}" in cli.run(FAILED, "register", user, "--no-mail", typed=link)
    cli.run(DONE, "register", user, "--no-mail", typed=f"{trust.code(user)}\n0042\n")
    assert "Link or code" not in cli.heard, "a program types, and not a person"
    assert claims(cli.run(DONE, "login", user, typed="0042\n"))["sub"] == user


def test_tokens_and_quick_codes(cli: Cli, trust: TrustServer, client: Client, tmp_path: Path) -> None:
    user = trust.user()
    token = trust.activation_token(client, user)
    cli.run(DONE, "register", user, "--with-token", typed=f"{token}\n1234\n")
    assert "ACTIVATION_TOKEN_INVALID" in cli.run(FAILED, "register", user, "--with-token", typed=f"{token}\n1234\n")
    # The user still has the identity from before.
    quick = cli.told(DONE, "quickcode", user, typed="1234\n")
    assert quick["secondsToLive"] > 0
    cli.run(WRONG_PIN, "quickcode", user, typed="4321\n")
    second = Cli(tmp_path / "second", trust)
    second.run(DONE, "register", user, "--with-token", typed=f"{quick['code']}\n9876\n")
    assert claims(second.run(DONE, "login", user, typed="9876\n"))["sub"] == user
    trust.project("long-pins", "--pin-length", "6")
    long = trust.client("long-pins")
    chosen = ["register", other := trust.user(), "--with-token", "--project", "long-pins"]
    assert "PIN_INVALID" in cli.run(FAILED, *chosen, typed=f"{trust.activation_token(long, other)}\n1234\n")


def test_log_in_a_page(cli: Cli, user: str, client: Client) -> None:
    shown = page(client, description="the shop")
    assert "for: the shop" in cli.run(DONE, "session", shown["qrURL"])
    assert client.access(shown)["status"] == "wid"
    login = ["login", user, "--qr", shown["qrURL"]]
    assert "nothing is known about the screen" in cli.run(FAILED, *login, typed="1234\n")
    assert client.access(shown)["status"] == "wid", "no PIN was sent"
    assert cli.run(DONE, *login, "--any-screen", typed="1234\n") == "OK\n"
    assert f" as {user}: the shop\n" in cli.heard
    assert cli.heard.endswith("a screen that we know nothing about, opened by 127.0.0.1\n"), cli.heard
    assert client.access(shown)["status"] == "authenticated"
    # A browser sends its origin.
    browser = {"Origin": LINK, "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"}
    wish = {"projectId": PROJECT}
    shown = good(client.http.post(client.url + "/rps/v2/session", json=wish, headers=browser, timeout=60))
    assert "screen: 127.0.0.1\n" in cli.run(DONE, "session", shown["qrURL"])
    message = json.dumps({"projectID": PROJECT, "userID": user, "qrURL": shown["qrURL"]})
    cli.run(WRONG_PIN, "login", "--push", message, typed="4321\n")
    cli.run(DONE, "login", "--push", message, typed="1234\n")
    assert cli.heard.endswith("Firefox, Linux at 127.0.0.1 shows the code: it must be the screen before you\n"), cli.heard
    assert client.access(shown)["userId"] == user
    shown = page(client)
    assert cli.told(DONE, "abort", shown["qrURL"])["result"] == "OK"
    assert client.access(shown)["status"] == "abort"
    assert "SESSION_INVALID" in cli.run(FAILED, "login", user, "--qr", f"{LINK}#{'0' * 32}", typed="1234\n")
    for_another = message.replace(user, "other")
    assert "for another user" in cli.run(FAILED, "login", user, "--push", for_another, typed="1234\n")
    assert "other is not registered here" in cli.run(FAILED, "login", "--push", for_another, typed="1234\n")


def test_signatures(cli: Cli, user: str, trust: TrustServer, client: Client, tmp_path: Path) -> None:
    (tmp_path / "contract").write_bytes(b"I owe you one beer.")
    digest = hashlib.sha256(b"I owe you one beer.").hexdigest()
    token = {"Authorization": f"Bearer {trust.service_token()}"}
    for what in (["--file", str(tmp_path / "contract")], ["--hash", digest]):
        signed = json.loads(cli.run(DONE, "sign", user, *what, typed="1234\n"))
        assert digest in cli.heard and signed["signature"]["hash"] == digest
        answer = client.http.post(
            client.url + "/dvs/verify", json=signed, headers={**client.headers, **token}, timeout=60)
        assert claims(good(answer)["certificate"])["hash"] == digest
    cli.run(WRONG_PIN, "sign", user, "--hash", digest, typed="4321\n")
    shown = page(client, userId=user, description="pay", hash=digest)
    assert digest in cli.run(DONE, "session", shown["qrURL"])
    assert "mpin-cli trust sign" in cli.run(FAILED, "login", user, "--qr", shown["qrURL"], typed="1234\n")
    assert "nothing is known" in cli.run(FAILED, "sign", user, "--qr", shown["qrURL"], typed="1234\n")
    cli.run(DONE, "sign", user, "--qr", shown["qrURL"], "--any-screen", typed="1234\n")
    assert client.access(shown)["status"] == "signed"
    plain = page(client)
    assert "mpin-cli trust login" in cli.run(FAILED, "sign", user, "--qr", plain["qrURL"], typed="1234\n")
    assert "cannot be read" in cli.run(FAILED, "sign", user, "--file", str(tmp_path / "none"), typed="1234\n")


def test_another_pin_and_a_deletion(cli: Cli, user: str) -> None:
    cli.run(DONE, "change-pin", user, typed="1234\n5678\n")
    cli.run(WRONG_PIN, "login", user, typed="1234\n")
    cli.run(DONE, "login", user, typed="5678\n")
    cli.run(DONE, "delete", user)
    assert "is not registered here" in cli.run(FAILED, "login", user, typed="5678\n")


def test_export_and_import(cli: Cli, user: str, trust: TrustServer, tmp_path: Path) -> None:
    file = tmp_path / "mfa.json"
    cli.run(USAGE, "export", str(file))
    assert not file.exists() and "unsealed" in cli.heard
    assert cli.run(DONE, "export", str(file), "--unsealed") == "1 users\n"
    assert f"unsealed in {file}" in cli.heard and file.stat().st_mode & 0o777 == 0o600
    assert json.loads(file.read_text())[0]["userId"] == user
    cli.run(FAILED, "export", str(file), "--unsealed")
    other = Cli(tmp_path / "other", trust)
    file.chmod(0o644)
    assert "STORAGE_ERROR" in other.run(FAILED, "import", str(file))
    file.chmod(0o600)
    assert other.told(DONE, "import", str(file))["count"] == 1
    assert claims(other.run(DONE, "login", user, typed="1234\n"))["sub"] == user


def test_blocked_and_revoked_users(cli: Cli, user: str, trust: TrustServer) -> None:
    codes = [cli.run(code, "login", user, typed="4321\n") for code in (WRONG_PIN, WRONG_PIN, BLOCKED)]
    assert "INCORRECT_PIN" in codes[0] and "try again at" not in codes[0], codes
    assert "REVOKED" in codes[2], codes
    other = trust.user()
    cli.register(other, "1234", False)
    trust.operate("user", "revoke", other)
    assert cli.told(BLOCKED, "login", other, typed="1234\n")["result"] == "REVOKED"
    assert f"{other}\trevoked" in cli.run(DONE, "list")


def test_a_block_that_ends(cli: Cli, tmp_path: Path) -> None:
    """The exit code is that of all blocks, and the text says until when."""
    server = Server(tmp_path / "server", mails=tmp_path / "mails", options=["--block", "temporary"])
    server.start()
    try:
        mpind("project", "add", "app", "--state-dir", server.state)
        service = mpind("project", "token", "add", "app", "t", "--json", "--state-dir", server.state)
        client = Client(server.backend, "app")
        bearer = {"Authorization": f"Bearer {json.loads(service)['token']}"}
        url, user = client.url + "/activate/initiate", "alice@example.com"
        token = good(client.http.post(url, json={"userId": user}, headers=bearer, timeout=60))["actToken"]
        here = {"MPIN_PROJECT": "app", "MPIN_PROJECT_URL": server.backend}
        cli.run(DONE, "register", user, "--with-token", typed=f"{token}\n1234\n", **here)
        told = [cli.run(code, "login", user, typed="4321\n", **here) for code in (WRONG_PIN, WRONG_PIN, BLOCKED)]
        assert ["; try again at 20" in text for text in told] == [False, False, True], told
    finally:
        server.close()


def test_wrong_usage(cli: Cli, user: str) -> None:
    cli.run(USAGE, "login")
    cli.run(USAGE, "login", user, "--qr", "https://x")
    cli.run(USAGE, "login", user, "--push", "{}")
    cli.run(USAGE, "login", user, "--qr", "https://x#1", "--push", '{"userID":"a","qrURL":"https://x#1"}')
    cli.run(USAGE, "register", user, "--no-mail", "--with-token")
    cli.run(USAGE, "register", user, "--qr", "x")
    cli.run(USAGE, "sign", user)
    cli.run(USAGE, "sign", user, "--hash", "0g")
    cli.run(USAGE, "sign", user, "--hash", "00", "--file", "x")
    assert "--project or MPIN_PROJECT" in cli.run(FAILED, "list", MPIN_PROJECT="")
    assert "is not registered here at the project" in cli.run(FAILED, "quickcode", "nobody", typed="1234\n")
    assert "NETWORK_ERROR" in cli.run(FAILED, "session", "https://x#1", "--url", "http://127.0.0.1:1")
