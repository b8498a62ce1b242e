"""Tests the website of docs/log-your-users-in.md, exactly as it is written there. A phone must be able to log a browser
in."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from node import PIN, ROOT, Server, registered
from phone import Refused, wait_until
from ports import free_ports

SNIPPETS = re.findall(r"```python\n(.*?)```", (ROOT / "docs/log-your-users-in.md").read_text(), re.DOTALL)
OWN_PAGE = {"Sec-Fetch-Site": "same-origin"}


class Visitor:
    """A browser that visits the guide's website."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.cookie = ""

    def ask(self, method: str, path: str, headers: dict[str, str] | None = None) -> str:
        with closing(http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)) as connection:
            connection.request(method, path, headers={"Cookie": self.cookie, **(headers or {})})
            answer = connection.getresponse()
            assert answer.status == 200
            given = answer.headers["Set-Cookie"]
            if given:
                assert "; HttpOnly; SameSite=Lax" in given
                self.cookie = given.split(";")[0]
            return answer.read().decode()

    def answers(self) -> bool:
        try:
            return "Who are you?" in self.ask("GET", "/")
        except OSError:
            return False


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("mpind"))
    running.start()
    yield running
    running.close()


@pytest.fixture
def visitor(server: Server, tmp_path: Path) -> Iterator[Visitor]:
    (tmp_path / "website.py").write_text(SNIPPETS[0])
    port = free_ports(1)[0]
    addresses = [server.backend, f"http://127.0.0.1:{server.private_port}", str(port)]
    with (tmp_path / "log").open("wb") as log:
        website = subprocess.Popen([sys.executable, str(tmp_path / "website.py"), *addresses], stderr=log)
    try:
        browser = Visitor(port)
        wait_until(browser.answers)
        yield browser
        assert "Traceback" not in (tmp_path / "log").read_text()
    finally:
        website.terminate()
        website.wait(60)


def test_the_website_of_the_guide_lets_a_phone_log_a_browser_in(server: Server, visitor: Visitor, tmp_path: Path) -> None:
    phone = registered(server, "carol@example.com")
    page = visitor.ask("GET", "/login")
    url, _, code = re.findall(r"<p id=code>(.*?)</p>", page)[0].partition("#")
    assert url == server.backend and "<svg" in page
    before = visitor.cookie
    with pytest.raises(Refused) as refusal:
        phone.login_browser("4321", code)
    assert refusal.value.status == 401
    assert visitor.ask("POST", "/done", {"Sec-Fetch-Site": "cross-site"}) == "/login"
    with ThreadPoolExecutor() as beside:
        login = beside.submit(phone.login_browser, PIN, code)
        said = str(wait_until(lambda: visitor.ask("POST", "/done", OWN_PAGE).replace("wait", "")))
        login.result()
    assert said == "/" and visitor.cookie != before
    assert "Welcome, carol@example.com" in visitor.ask("GET", "/")
    assert visitor.ask("POST", "/done", OWN_PAGE) == "/login", "the code is used up"
    visitor.cookie = before
    assert "Who are you?" in visitor.ask("GET", "/")


def test_the_token_of_the_guide_opens_a_private_listener(server: Server, tmp_path: Path) -> None:
    state = Path(server.state)
    scope: dict[str, str] = {}
    snippet = SNIPPETS[1].replace("rps-rpa.key", str(state / "rps-rpa.key"))
    exec(snippet, scope)
    public, private = free_ports(2)
    command = [
        str(ROOT / "build/mpind"), "rps", "--listen", f"127.0.0.1:{public}", "--private-listen", f"127.0.0.1:{private}",
        "--database", str(tmp_path / "rps.sqlite"), "--key-file", str(state / "rps.key"),
        "--dta1-url", f"http://127.0.0.1:{server.dta1_port}", "--dta1-key-file", str(state / "rps-dta1.key"),
        "--dta2-url", f"http://127.0.0.1:{server.dta2_port}", "--dta2-key-file", str(state / "rps-dta2.key"),
        "--rpa-key-file", str(state / "rps-rpa.key"), "--audit-log", str(tmp_path / "log/audit.jsonl"),
        "--audit-key-file", str(tmp_path / "audit.key"),
    ]  # fmt: skip
    (tmp_path / "log").mkdir()
    subprocess.run([str(ROOT / "build/mpind"), "keys", "new", str(tmp_path / "audit.key")], check=True)
    with (tmp_path / "mpind.log").open("wb") as log:
        rps = subprocess.Popen(command, stderr=log)

    def ask(token: str) -> int | None:
        try:
            with closing(http.client.HTTPConnection("127.0.0.1", private, timeout=60)) as connection:
                body = json.dumps({"authOTT": "00"})
                connection.request("POST", "/authenticate", body, {"Authorization": f"Bearer {token}"})
                return connection.getresponse().status
        except OSError:
            assert rps.poll() is None, (tmp_path / "mpind.log").read_text()
            return None

    try:
        assert wait_until(lambda: ask(scope["TOKEN"])) == 408, "an unknown authOTT"
        assert ask("0" * 64) == 401
    finally:
        rps.terminate()
        rps.wait(60)
