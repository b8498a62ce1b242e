"""A simple phone: the client's side of the protocol, request by request, with the functions of the library's crypto
module."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

from mpin import crypto

T = TypeVar("T")


class Refused(Exception):
    """The server's status was not 200."""

    def __init__(self, step: str, status: int, retry_after: str | None) -> None:
        super().__init__(f"{step}: {status}")
        self.status = status
        self.retry_after = retry_after


class Phone:
    """A user of a server, with one identity."""

    def __init__(self, backend: str, user: str) -> None:
        self.user = user
        #: The id of its requests, which the server's log then has. Empty: the server chooses each.
        self.request_id = ""
        self._backend = backend
        self.settings = self.ask("GET", "/rps/clientSettings")
        self.id = b""
        self._reg_ott = ""
        self.token = b""

    def start_registration(self) -> bool:
        """Starts a registration. Returns whether the user is already confirmed."""
        answer = self.ask("PUT", self.settings["registerURL"], {"mobile": 1, "userId": self.user})
        self.id = bytes.fromhex(answer["mpinId"])
        self._reg_ott = answer["regOTT"]
        return bool(answer["active"])

    def finish_registration(self, pin: str, more: str = "") -> None:
        """After the confirmation: fetches both shares and computes the token. more: is added to the first query."""
        path = f"{self.settings['signatureURL']}/{self.id.hex()}?regOTT={self._reg_ott}{more}"
        first = self.ask("GET", path)
        second = self.ask("GET", f"{self.settings['certivoxURL']}clientSecret?{first['params']}")
        shares = bytes.fromhex(first["clientSecretShare"]), bytes.fromhex(second["clientSecret"])
        self.token = crypto.extract_pin(self.id, *_scalar(pin), crypto.recombine_g1(*shares))

    def register(self, pin: str) -> Self:
        """Registers where users are confirmed at once."""
        self.start_registration()
        self.finish_registration(pin)
        return self

    def pass1(self, pin: str) -> tuple[bytes, bytes, bytes]:
        """Sends pass 1. Returns what pass 2 needs: the random number x, the challenge y, and sec, which is computed
        from token, PIN and permit."""
        date, permit = self.time_permit()
        x = crypto.random_generate()
        sec, u, ut = crypto.client_1(date, self.id, x, *_scalar(pin), self.token, permit)
        body = {"pass": 1, "mpin_id": self.id.hex(), "U": u.hex(), "UT": (ut or b"").hex()}
        y = self.ask("POST", self.settings["mpinAuthServerURL"] + "/pass1", body)["y"]
        return x, bytes.fromhex(y), sec

    def pass2_body(self, begun: tuple[bytes, bytes, bytes], code: str = "0") -> dict[str, Any]:
        """Computes the body of pass 2. code: an access number, or the id in a QR code; "0" for a login on this
        device."""
        x, y, sec = begun
        v = crypto.client_2(x, y, sec).hex()
        return {"pass": 2, "mpin_id": self.id.hex(), "V": v, "WID": code, "OTP": False}

    def pass2(self, body: dict[str, Any]) -> dict[str, Any]:
        """Sends pass 2 and returns the answer with the one-time token."""
        return self.ask("POST", self.settings["mpinAuthServerURL"] + "/pass2", body)

    def authenticate(self, response: dict[str, Any]) -> dict[str, Any]:
        """Redeems the token of pass 2, for a login on this device."""
        return self.ask("POST", self.settings["authenticateURL"], {"mpinResponse": response})

    def login(self, pin: str) -> dict[str, Any]:
        """Logs in on this device."""
        return self.authenticate(self.pass2(self.pass2_body(self.pass1(pin))))

    def login_browser(self, pin: str, code: str) -> dict[str, Any]:
        """Logs a browser in. Returns the answer, which says how to end the browser's session."""
        response = self.pass2(self.pass2_body(self.pass1(pin), code))
        return self.ask("POST", self.settings["mobileAuthenticateURL"], {"mpinResponse": response})

    def report(self, status: str, code: str) -> None:
        """Tells the browser's page that the code was read, or which user is about to enter a PIN."""
        body = {"status": status, "wid": code, "userId": self.user}
        self.ask("POST", self.settings["codeStatusURL"], body)

    def logout(self, offer: dict[str, Any]) -> None:
        """Ends a browser's session with the result of login_browser()."""
        self.ask("POST", offer["logoutURL"], offer["logoutData"])

    def time_permit(self) -> tuple[int, bytes | None]:
        """Returns today's date and permit; 0 and None if the server uses no permits."""
        if not self.settings.get("usePermits", True):
            return 0, None
        first = self.ask("GET", f"{self.settings['timePermitsURL']}/{self.id.hex()}")
        query = (
            f"hash_mpin_id={first['storageId']}&app_id={self.settings['appID']}&mobile=1&signature={first['signature']}"
        )
        second = self.ask("GET", f"{self.settings['certivoxURL']}timePermit?{query}")
        shares = bytes.fromhex(first["timePermit"]), bytes.fromhex(second["timePermit"])
        return first["date"], crypto.recombine_g1(*shares)

    def ask(
        self, method: str, url: str, body: dict[str, Any] | None = None, headers: dict[str, str] | None = None
    ) -> dict[str, Any]:
        """Sends a request and returns its answer. url: an absolute URL, or a path of the backend."""
        parts = urlsplit(self._backend + url if url.startswith("/") else url)
        target = parts.path + ("?" + parts.query if parts.query else "")
        content = None if body is None else json.dumps(body)
        # Uses a new connection for each request, like Milagro's client.
        kind_of = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        with closing(kind_of(parts.netloc, timeout=60)) as connection:
            kind = {"Content-Type": "application/json"} if body else {}
            name = {"X-Request-Id": self.request_id} if self.request_id else {}
            connection.request(method, target, content, {**kind, **name, **(headers or {})})
            answer = connection.getresponse()
            text = answer.read()
        if answer.status != 200:
            raise Refused(parts.path.rsplit("/", 1)[-1], answer.status, answer.headers["Retry-After"])
        return dict(json.loads(text)) if text else {}


def wait_until(condition: Any, seconds: float = 60) -> Any:
    """Waits until `condition` returns something that counts as true, and returns it."""
    end = time.monotonic() + seconds
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > end:
            raise TimeoutError("waited too long")
        time.sleep(0.02)


def patiently(request: Callable[[], T]) -> T:
    """Sends a request again while mpind answers 503 and says when to come again, for a minute at most: on a busy machine the
    database may take too long. The proxies' own 503 does not say so, and is an error like all others."""
    end = time.monotonic() + 60
    while True:
        try:
            return request()
        except Refused as refused:
            if refused.status != 503 or refused.retry_after is None or time.monotonic() > end:
                raise


def _scalar(pin: str) -> tuple[bytes, int]:
    return crypto.pin_to_scalar(crypto.PinMapping.DECIMAL4, pin.encode())
