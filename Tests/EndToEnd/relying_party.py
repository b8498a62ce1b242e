"""Relying parties of the OpenID provider: their registrations, and what their users' browsers do.

As a program: prints the file of clients for a server that the tests start.
"""

from __future__ import annotations

import hashlib
import html
import os
import re
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

SECRET = "a secret with : + and % in it, for tests only"
#: The redirect URI where a test listens as the relying party.
CALLBACK = f"http://127.0.0.1:{os.environ.get('MPIN_CALLBACK_PORT', '1')}/callback"
#: A redirect URI where nobody listens. The tests' browser stops before it and reads the answer from the URL.
FAR = "https://app.example/callback"
ORIGIN = "https://app.example"
#: Where the tests of logouts listen as relying parties that are told of them, each by the path of its name.
TOLD = f"http://127.0.0.1:{os.environ.get('MPIN_TOLD_PORT', '1')}"
#: A port where nobody listens.
DEAD = f"http://127.0.0.1:{os.environ.get('MPIN_DEAD_PORT', '1')}"
#: The registered URI after a logout, where nobody listens, and one where a test listens.
LOGGED_OUT, LOGGED_OUT_HERE = "https://app.example/logged-out", CALLBACK.replace("callback", "logged-out")
#: The audience that the client `api` is.
API = "https://api.example"
EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
DEVICE = "urn:ietf:params:oauth:grant-type:device_code"

CLIENTS: dict[str, dict[str, Any]] = {
    # The operator's own clients, whose users are not asked for consent.
    "app": {"first-party": True, "redirect-uri": [FAR, CALLBACK], "origin": [ORIGIN]},
    "post": {"first-party": True, "auth-method": "client_secret_post", "redirect-uri": [FAR]},
    "native": {"first-party": True, "auth-method": "none", "redirect-uri": ["http://127.0.0.1/callback"]},
    # A client of somebody else, whose users are asked for consent.
    "other": {"redirect-uri": [FAR, CALLBACK], "name": "Somebody's <shop>"},
    "off": {"redirect-uri": [FAR], "disabled": True},
    "pictured": {"redirect-uri": [FAR], "logo": "https://images.example/logo.svg"},
    # An application that only some users may use.
    "members": {
        "first-party": True, "redirect-uri": [FAR, CALLBACK], "allow-user": ["bob@example.com"],
        "allow-group": ["staff"],
    },
    # A service that gets access tokens of the app with small apps, and asks about them.
    "api": {"resource": [API], "grant": []},
    # The operator's own app on a device without a browser.
    "tv": {"first-party": True, "auth-method": "none", "name": "Living <room>", "grant": [DEVICE, "refresh_token"]},
    "super": {
        "first-party": True, "redirect-uri": [FAR], "audience": [API, "https://mini.example"],
        "grant": ["authorization_code", "refresh_token", EXCHANGE],
    },
}  # fmt: skip
#: Clients that are told of logouts.
for name in ("shop", "desk", "slow", "flaky", "moved", "dead"):
    CLIENTS[name] = {
        "first-party": True, "redirect-uri": [FAR, CALLBACK], "post-logout-uri": [LOGGED_OUT, LOGGED_OUT_HERE],
        "backchannel-logout-uri": f"{DEAD if name == 'dead' else TOLD}/{name}",
    }  # fmt: skip


def clients_file() -> str:
    lines = []
    for name, members in CLIENTS.items():
        lines.append(f"- id: {name}")
        if members.get("auth-method") != "none":
            lines.append(f"  secret-sha256: {hashlib.sha256(SECRET.encode()).hexdigest()}")
        rights: dict[str, Any] = {"grant": ["authorization_code", "refresh_token"]}
        rights["scope"] = ["openid", "profile", "email", *(["offline_access"] if members.get("grant", True) else [])]
        for member, value in {**rights, **members}.items():
            if isinstance(value, bool):
                lines.append(f"  {member}: {str(value).lower()}")
            elif isinstance(value, list):
                lines.append(f"  {member}: [{', '.join(value)}]")
            else:
                lines.append(f'  {member}: "{value}"')
    return "\n".join(lines) + "\n"


class Person:
    """A user with a phone and a browser. The browser does not follow redirects to the relying party's site."""

    def __init__(self, backend: str, phone: Any, pin: str) -> None:
        import requests

        self.backend = backend
        self.phone = phone
        self.browser = requests.Session()
        self._pin = pin
        self._hands = ThreadPoolExecutor(1)
        self.page = ""

    def open(self, url: str, **arguments: Any) -> Any:
        """Opens a URL, follows redirects as long as they stay on the server, and returns the last answer."""
        answer = self.browser.request(arguments.pop("method", "GET"), url, allow_redirects=False, **arguments)
        while answer.status_code == 303 and answer.headers["Location"].startswith(("/", self.backend + "/")):
            target = answer.headers["Location"]
            answer = self.browser.get(self.backend + target if target[0] == "/" else target, allow_redirects=False)
        self.page = answer.text
        return answer

    def press(self, path: str, **fields: str) -> Any:
        """Submits a form of the page that is open, as a browser does."""
        data = {"id": self.login_id, **fields}
        return self.open(self.backend + path, method="POST", data=data, headers={"Origin": self.backend})

    @property
    def login_id(self) -> str:
        return self._found(r'name="id" value="([^"]+)"')

    def _found(self, pattern: str) -> str:
        found = re.search(pattern, self.page)
        assert found, self.page
        return html.unescape(found[1])

    def shown_code(self) -> str:
        """Returns the access number of the open page, which `show_number` must have asked for."""
        return self._found(r'<output id="number"[^>]*>(\d+)')

    def scanned(self, folder: Path) -> str:
        """Returns the id in the QR code of the open page, which a phone logs in to. The picture is left in `folder`."""
        script = Path(__file__).with_name("svg_to_pbm.py")
        drawn = subprocess.run(
            [sys.executable, "-B", script], input=self.page.encode(), capture_output=True, check=True)  # fmt: skip
        picture = folder / "scanned.pbm"
        picture.write_bytes(drawn.stdout)
        read = ["zbarimg", "--nodbus", "--quiet", "--raw", picture]
        text = subprocess.run(read, check=True, capture_output=True, text=True).stdout
        return text.strip().partition("#")[2]

    def show_number(self) -> None:
        assert self.open(f"{self.backend}/authorize/login?id={self.login_id}&way=number").status_code == 200

    def enter_pin(self, code: str, pin: str | None = None) -> Future[Any]:
        """Logs the browser in with the phone. The phone's request waits for the page, so it is sent in another
        thread."""
        return self._hands.submit(self.phone.login_browser, pin or self._pin, code)

    def await_phone(self, status: str = "authenticate", phone: Future[Any] | None = None) -> None:
        """Waits for the phone's login, as the page's script does. If `phone`, in which that login runs, fails, so does
        this: the page would wait until its access number ends."""
        wait = 30 if phone is None else 2
        question = {"webOTT": self._found(r'data-web-ott="([0-9a-f]+)"'), "wait": wait, "status": "new", "refusals": 0}
        answer: dict[str, Any] = {}
        while answer.get("status") != status and not answer.get("refusals"):
            if phone is not None and phone.done():
                phone.result()
            answer = self.browser.post(self.backend + "/rps/access", json=question).json()
            assert answer["status"] != "expired"

    def log_in(self) -> Any:
        """Logs in from an open login page by an access number, and returns the redirect back to the client."""
        self.show_number()
        done = self.enter_pin(self.shown_code())
        self.await_phone(phone=done)
        self.press("/authorize/login")
        answer = self.press("/authorize/confirm", step="confirmation", answer="yes")
        done.result()
        return answer


def answered(answer: Any) -> dict[str, str]:
    """Returns the parameters that a redirect carries to the relying party."""
    assert answer.status_code == 303, answer.text
    parts = urlsplit(answer.headers["Location"])
    members = parse_qsl(parts.query, keep_blank_values=True)
    assert len(dict(members)) == len(members)
    return dict(members)


def authorize(backend: str, client: str = "app", **changes: str | None) -> str:
    """Returns the URL of an authorization request. A parameter that is None is left out."""
    members: dict[str, str | None] = {
        "client_id": client, "redirect_uri": FAR, "response_type": "code", "scope": "openid", "state": "s",
    }  # fmt: skip
    members.update(changes)
    return f"{backend}/authorize?" + urlencode({name: value for name, value in members.items() if value is not None})


if __name__ == "__main__":
    print(clients_file(), end="")
