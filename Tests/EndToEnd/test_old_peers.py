"""Tests the recipes of docs/move-from-milagro.md: our real processes with stand-ins for Milagro's servers, which send
recorded answers."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
from node import ROOT
from old_client import Mailbox, OldBrowser, OldClient, Status
from phone import wait_until
from ports import free_ports
from stand_in import Exchange, OldAuthority, OldRPA, OldRPS, ask, recorded
from test_old_client import failure, log_in

MPIND = os.environ.get("MPIND", str(ROOT / "build" / "mpind"))
#: The master shares of the two D-TAs in the example of wire section 16.
SHARES = (
    "154a9c6664148b67c569ccfa9701ab172f258fa2998f5c07a3484ac6437c4a80",
    "0d10b00e72eba63a68a932020099185e878cf2008cfe3ec87cc40cebf45854de",
)


class Parts:
    """Our processes, started with the command lines of a recipe."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.recipes = (ROOT / "docs/move-from-milagro.md").read_text()
        self._running: list[tuple[subprocess.Popen[bytes], Path]] = []
        for part in ("dta1", "dta2", "rps", "rpa", "rps-dta1", "rps-dta2", "rps-rpa"):
            subprocess.run([MPIND, "keys", "new", str(folder / f"{part}.key")], check=True)

    def start(self, heading: str, places: dict[str, str]) -> None:
        """Runs the commands under this heading of the recipes. `places`: the words to replace in them, such as
        addresses."""
        (block,) = re.findall(rf"\n### {re.escape(heading)}\n.*?```sh\n(.*?)```", self.recipes, re.DOTALL)
        for line in block.replace("\\\n", " ").splitlines():
            for place, value in places.items():
                line = line.replace(place, value)
            self.run(line.split())

    def run(self, command: list[str]) -> None:
        assert command[0] == "mpind", command
        log = self.folder / f"{command[1]}{len(self._running)}.log"
        with log.open("wb") as file:
            process = subprocess.Popen([MPIND, *command[1:]], stderr=file, cwd=self.folder)
        self._running.append((process, log))

    def wait(self) -> None:
        for process, log in self._running:
            wait_until(lambda: "mpind is ready" in log.read_text() or process.poll() is not None)
            assert process.poll() is None, log.read_text()

    def stop(self) -> None:
        for process, log in self._running:
            process.send_signal(signal.SIGTERM)
        for process, log in self._running:
            assert process.wait(60) == 0, log.read_text()


@pytest.fixture
def parts(tmp_path: Path) -> Iterator[Parts]:
    made = Parts(tmp_path)
    yield made
    made.stop()


def place(port: int) -> str:
    return f"127.0.0.1:{port}"


def test_our_rps_under_an_old_rpa(parts: Parts) -> None:
    rpa, public, private, dta1, dta2 = free_ports(5)
    old = OldRPA(rpa, f"http://{place(private)}")
    parts.start(
        "Our RPS under an old RPA",
        {
            "127.0.0.1:8005": place(rpa), "127.0.0.1:8010": place(public), "127.0.0.1:8011": place(private),
            "127.0.0.1:8001": place(dta1), "127.0.0.1:8002": place(dta2),
        },
    )  # fmt: skip
    parts.wait()
    client = OldClient(old.url, "alice@example.com")
    assert client.start_registration(user_data="opaque") is False
    assert failure(client.confirm_registration).status is Status.IDENTITY_NOT_VERIFIED
    old.confirm("alice@example.com")
    client.confirm_registration()
    client.finish_registration("1234")
    assert failure(lambda: client.authenticate("4321")).status is Status.INCORRECT_PIN
    client.authenticate("1234")
    for code in (False, True):
        browser = OldBrowser(old.url, {**client.settings, "getQrUrl": old.url + "/rps/getQrUrl"}, code)
        wrong = failure(lambda: client.authenticate_wid("4321", browser.wid))
        assert (wrong.status, wrong.http_status) == (Status.INCORRECT_PIN, 401)
        log_in(browser, lambda: client.authenticate_wid("1234", browser.wid))
        before = len(old.sessions)
        assert client.logout() and len(old.sessions) == before - 1
    old.check()
    assert {"POST /mpinVerify", "GET /mpinPermitUser", "POST /mpinAuthenticate"} <= set(old.seen)
    old.close()


def test_our_rpa_over_an_old_rps(parts: Parts, tmp_path: Path) -> None:
    public, private, rps = free_ports(3)
    ours, inside = f"http://{place(public)}", f"http://{place(private)}"
    old = OldRPS(rps, ours, inside)
    parts.start(
        "Our RPA over an old RPS",
        {"127.0.0.1:8005": place(public), "127.0.0.1:8012": place(private), "127.0.0.1:8011": place(rps)},
    )
    parts.wait()

    def play(flow: str, method: str, path: str, number: int = 0) -> None:
        """Sends the client's recorded request and checks the answer against the recorded one."""
        like = recorded(flow, "rpa", method, path, number)
        answer = ask(ours + like.target, like)
        assert answer.status == like.status, (path, answer.body, old._failures)
        if like.answer:
            assert answer.json() == like.answer, path

    play("std-01-clientSettings", "GET", "/rps/clientSettings")
    play(OldRPS.REGISTRATION, "PUT", "/rps/user")
    play("verify-02-confirm-before-activation-401", "GET", "/rps/signature/")
    Mailbox(tmp_path / "mail").confirm(recorded(OldRPS.REGISTRATION, "rpa", "PUT", "/rps/user").body["userId"])
    play("verify-05-confirm-after-activation", "GET", "/rps/signature/")
    play("std-04-timePermits-storage404-then-dta", "GET", "/rps/timePermit/")
    # Logs in on the phone itself, then in a browser at a page of our website.
    like = recorded(OldRPS.LOGIN, "rpa", "POST", "/mpinAuthenticate")
    own = [("Content-Type", "application/json")]
    assert ask(ours + "/mpinAuthenticate", like, headers=own).status == 200
    old._done.clear()
    log_in_at_the_website(ours, old)
    assert "<svg" in ask(ours + "/login", like, method="GET", headers=own).body.decode()
    old.check()
    assert "POST /rps/getQrUrl" in old.seen and "POST /loginResult" in old.seen
    old.close()


class Browser:
    def __init__(self, url: str) -> None:
        self._url = url
        self._cookies: dict[str, str] = {}

    def open(self, path: str, form: dict[str, str] | None = None) -> str:
        """Requests a page and returns what it shows after all redirects."""
        for _ in range(5):
            headers = [("Cookie", "; ".join(f"{name}={value}" for name, value in self._cookies.items()))]
            headers += [("Sec-Fetch-Site", "same-origin"), ("Content-Type", "application/x-www-form-urlencoded")]
            nothing = Exchange({"request": {"method": "POST" if form else "GET", "target": "", "headers": [], "body": ""},
                                "response": {"status": 0, "body": "", "headers": []}})  # fmt: skip
            answer = ask(self._url + path, nothing, urlencode(form).encode() if form else b"", headers=headers)
            for name, value in answer.headers:
                if name.lower() == "set-cookie":
                    cookie, _, content = value.split(";")[0].partition("=")
                    self._cookies[cookie] = content
            if answer.status != 303:
                return answer.body.decode()
            form, path = None, dict(answer.headers)["Location"]
        raise AssertionError("round in circles")


def hidden(page: str, name: str) -> str:
    return re.findall(rf'name="{name}" value="([0-9a-f]+)"', page)[0]


def log_in_at_the_website(ours: str, old: OldRPS) -> None:
    browser = Browser(ours)
    page = browser.open("/login/number")
    like = recorded(OldRPS.LOGIN, "rpa", "POST", "/rps/authenticate")
    number = recorded(OldRPS.LOGIN, "rps", "POST", "/rps/getAccessNumber").answer["accessNumber"]
    user = like.answer["logoutData"]["userId"]
    assert number in page
    with ThreadPoolExecutor() as beside:
        phone = beside.submit(ask, ours + "/rps/authenticate", like)
        form = {"csrf": hidden(page, "csrf"), "webOTT": hidden(page, "webOTT")}

        def question() -> str | None:
            asked = browser.open("/login/number", form)
            return asked if user in asked else None

        asked = wait_until(question)
        told = phone.result()
    assert told.status == 200, told.body
    assert user not in browser.open("/account")
    assert user in browser.open("/login/confirm", {"csrf": hidden(asked, "csrf"), "answer": "yes"})
    offer = told.json()
    assert offer["logoutURL"] == "/mpinLogout" and offer["logoutData"]["userId"] == user
    assert ask(ours + offer["logoutURL"], like, offer["logoutData"]).status == 200
    assert user not in browser.open("/account")


def test_old_authorities_under_our_rps(parts: Parts, tmp_path: Path) -> None:
    rpa, public, private, inside, dta1, dta2 = free_ports(6)
    old = [OldAuthority(dta1, SHARES[0], ""), OldAuthority(dta2, SHARES[1], "/v3")]
    credentials = {"app_id": OldAuthority.APP_ID, "app_key": OldAuthority.APP_KEY.decode(), "api_url": old[1].url + "/"}
    (tmp_path / "credentials.json").write_text(json.dumps(credentials))
    (tmp_path / "credentials.json").chmod(0o600)
    parts.start(
        "Old D-TAs under our RPS",
        {
            "127.0.0.1:8005": place(rpa), "127.0.0.1:8010": place(public), "127.0.0.1:8011": place(private),
            "127.0.0.1:8012": place(inside), "127.0.0.1:8001": place(dta1), "https://dta2.example.com/v3": old[1].url,
        },
    )  # fmt: skip
    parts.wait()
    client = OldClient(f"http://{place(rpa)}", "alice@example.com")
    assert client.settings["appID"] == OldAuthority.APP_ID
    assert urlsplit(client.settings["certivoxURL"]).path == "/v3/"
    assert client.start_registration() is False
    Mailbox(tmp_path / "mail").confirm("alice@example.com")
    client.confirm_registration()
    client.finish_registration("1234")
    assert failure(lambda: client.authenticate("4321")).status is Status.INCORRECT_PIN
    client.authenticate("1234")
    for authority in old:
        authority.check()
        prefix = urlsplit(authority.url).path
        asked = {f"GET {prefix}/{name}" for name in ("serverSecret", "clientSecret", "timePermit")}
        assert asked <= set(authority.seen)
        authority.close()
