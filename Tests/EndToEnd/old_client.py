"""Milagro's C++ SDK core as a server sees it, written anew from recorded traffic, and the browser that it logs in.

Each request has its own connection, tabs in its JSON, and that core's headers. Each answer must have status 200, a
length, no compression, no interim 100 unless it was asked for, and a JSON object in which no name occurs twice. Status
contains what Milagro's core reports for other HTTP statuses. The computations on the curve are done by libmpin.
"""

from __future__ import annotations

import datetime
import enum
import json
import pathlib
import re
import socket
from typing import Any
from urllib.parse import unquote, urlsplit

from mpin import crypto
from redaction import Secrets

PIN_BITS = 14


class Status(enum.Enum):
    """The status codes of Milagro's client that a server can cause."""

    NETWORK_ERROR = enum.auto()
    RESPONSE_PARSE_ERROR = enum.auto()
    IDENTITY_NOT_AUTHORIZED = enum.auto()
    IDENTITY_NOT_VERIFIED = enum.auto()
    REQUEST_EXPIRED = enum.auto()
    REVOKED = enum.auto()
    INCORRECT_PIN = enum.auto()
    INCORRECT_ACCESS_NUMBER = enum.auto()
    HTTP_SERVER_ERROR = enum.auto()
    HTTP_REQUEST_ERROR = enum.auto()
    BAD_USER_AGENT = enum.auto()
    CLIENT_SECRET_EXPIRED = enum.auto()


class ClientError(Exception):
    def __init__(self, status: Status, http_status: int = 0) -> None:
        super().__init__(f"{status.name} (HTTP {http_status})")
        self.status = status
        self.http_status = http_status


def pin_value(pin: str) -> int:
    """Returns the number of a PIN: the absolute value of Java's string hash (32 bits, signed), modulo 10000."""
    value = 0
    for character in pin:
        value = (31 * value + ord(character)) & 0xFFFFFFFF
    signed = value - (1 << 32) if value >> 31 else value
    return abs(signed) % 10000


class Answer:
    """An answer, which is parsed as strictly as Milagro's client did."""

    def __init__(self, status: int, headers: dict[str, str], body: bytes, interim: list[int]) -> None:
        self.status = status
        self.headers = headers
        self.body = body
        self.interim = interim

    def json(self) -> dict[str, Any]:
        """Returns the body as an object; an empty body gives an empty object."""
        if not self.body:
            return {}
        try:
            value = json.loads(self.body.decode(), object_pairs_hook=_members)
        except ValueError as error:
            raise ClientError(Status.RESPONSE_PARSE_ERROR, self.status) from error
        if not isinstance(value, dict):
            raise ClientError(Status.RESPONSE_PARSE_ERROR, self.status)
        return value


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise ValueError("a member comes twice")
    return dict(pairs)


#: What these clients have sent, received and kept secret.
SECRETS = Secrets()


class Connection:
    """Sends one request on a new connection and returns its answer."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        assert parts.scheme == "http" and parts.hostname and parts.port
        self._host = f"{parts.hostname}:{parts.port}"
        self._target = parts.path + (f"?{parts.query}" if parts.query else "")
        self._socket = socket.create_connection((parts.hostname, parts.port), timeout=60)
        self._read = b""

    def exchange(self, method: str, headers: list[tuple[str, str]], body: bytes | None) -> Answer:
        with self._socket:
            fields = [("Host", self._host), *headers]
            if body is not None:
                fields.append(("Content-Length", str(len(body))))
            head = f"{method} {self._target} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields)
            self._socket.sendall(head.encode() + b"\r\n")
            interim: list[int] = []
            if ("Expect", "100-continue") in headers:
                interim.append(self._await_continue())
            if body:
                self._socket.sendall(body)
            answer = self._answer(interim)
            for text in (head.encode(), body or b"", answer.headers.get("set-cookie", "").encode(), answer.body):
                SECRETS.saw(unquote(text.decode(errors="replace")))
            return answer

    def _await_continue(self) -> int:
        """Waits for an interim 100. Milagro's client waits only one second; this function waits longer, because the
        machine may be busy."""
        status, fields = self._head()
        assert (status, fields) == (100, {}), "an interim 100, and nothing with it"
        return status

    def _answer(self, interim: list[int]) -> Answer:
        status, headers = self._head()
        assert status >= 200, "an interim answer that nobody asked for would be taken for the body"
        assert "content-encoding" not in headers, "the old client asks for no compression"
        if headers.get("transfer-encoding") == "chunked":
            body = self._chunks()
        else:
            body = self._bytes(int(headers.get("content-length", "0")))
        assert not self._read, "more than the answer"
        return Answer(status, headers, body, interim)

    def _head(self) -> tuple[int, dict[str, str]]:
        while b"\r\n\r\n" not in self._read:
            self._more()
        head, self._read = self._read.split(b"\r\n\r\n", 1)
        first, *lines = head.decode("latin-1").split("\r\n")
        assert first.startswith("HTTP/1.1 ")
        fields = [line.split(":", 1) for line in lines]
        return int(first.split()[1]), {name.strip().lower(): value.strip() for name, value in fields}

    def _chunks(self) -> bytes:
        body = b""
        while True:
            while b"\r\n" not in self._read:
                self._more()
            size, self._read = self._read.split(b"\r\n", 1)
            body += self._bytes(int(size, 16))
            assert self._bytes(2) == b"\r\n"
            if int(size, 16) == 0:
                return body

    def _bytes(self, count: int) -> bytes:
        while len(self._read) < count:
            self._more()
        body, self._read = self._read[:count], self._read[count:]
        return body

    def _more(self) -> None:
        piece = self._socket.recv(65536)
        if not piece:
            raise ClientError(Status.NETWORK_ERROR)
        self._read += piece


def send(method: str, url: str, value: dict[str, Any] | None = None) -> Answer:
    """Sends a request with the headers and the JSON layout of Milagro's SDK. It has no User-Agent."""
    if method == "GET":
        return Connection(url).exchange("GET", [("Accept", "*/*")], None)
    headers = [("Accept", "text/plain"), ("Content-Type", "application/json; charset=UTF-8")]
    if method == "PUT":
        headers.append(("Expect", "100-continue"))
    body = (json.dumps(value, indent="\t", separators=(",", " : ")) + "\n").encode()
    return Connection(url).exchange(method, headers, body)


def _check(answer: Answer, special: dict[int, Status] | None = None) -> dict[str, Any]:
    """Returns the members of the answer. Every status but 200 is an error, because some of Milagro's clients do not
    know 201."""
    status = answer.status
    assert not 201 <= status <= 299, "the old client aborts on these"
    if status == 200:
        return answer.json()
    if 300 <= status <= 399:
        raise ClientError(Status.NETWORK_ERROR, status)
    if status == 406:
        raise ClientError(Status.BAD_USER_AGENT, status)
    general = Status.HTTP_SERVER_ERROR if status >= 500 else Status.HTTP_REQUEST_ERROR
    raise ClientError((special or {}).get(status, general), status)


def _text(answer: dict[str, Any], *names: str) -> list[str]:
    """Returns the named members, which must be texts."""
    if not all(isinstance(answer.get(name), str) for name in names):
        raise ClientError(Status.RESPONSE_PARSE_ERROR, 200)
    return [answer[name] for name in names]


AUTHENTICATION = {
    401: Status.INCORRECT_PIN,
    403: Status.IDENTITY_NOT_AUTHORIZED,
    408: Status.REQUEST_EXPIRED,
    409: Status.CLIENT_SECRET_EXPIRED,
    410: Status.INCORRECT_PIN,
    412: Status.INCORRECT_ACCESS_NUMBER,
}


class OldClient:
    """A phone with one user, at one backend."""

    NEEDED = (
        "registerURL", "signatureURL", "certivoxURL", "timePermitsURL", "appID", "mpinAuthServerURL",
        "authenticateURL", "mobileAuthenticateURL",
    )  # fmt: skip

    def __init__(self, backend: str, user: str) -> None:
        self.backend = backend
        self.user = user
        self.settings = self._client_settings()
        self.mpin_id = b""
        self.blocked = False
        self._reg_ott = ""
        self._secret = b""
        self._token = b""
        self._permit: tuple[int, str] | None = None
        self._logout: tuple[str, Any] | None = None

    def _client_settings(self) -> dict[str, Any]:
        settings = _check(send("GET", self.backend + "/rps/clientSettings"))
        _text(settings, *self.NEEDED)
        for name, value in settings.items():
            if isinstance(value, str) and value.startswith("/"):
                settings[name] = self.backend + value
            elif isinstance(value, str):
                settings[name] = re.sub("^ws(s?)://", r"http\1://", value)
        return settings

    # Registration

    def start_registration(self, user_data: str = "") -> bool:
        """Starts a registration. Returns whether the user is already confirmed."""
        body: dict[str, Any] = {"userId": self.user, "mobile": 1}
        if user_data:
            body["userData"] = user_data
        return self._register(self.settings["registerURL"], body)

    def restart_registration(self) -> bool:
        body = {"userId": self.user, "mobile": 1, "regOTT": self._reg_ott}
        return self._register(f"{self.settings['registerURL']}/{self.mpin_id.hex()}", body)

    def _register(self, url: str, body: dict[str, Any]) -> bool:
        answer = send("PUT", url, body)
        assert answer.interim == [100]
        members = _check(answer, {403: Status.IDENTITY_NOT_AUTHORIZED})
        mpin_id, self._reg_ott = _text(members, "mpinId", "regOTT")
        if "active" not in members:
            raise ClientError(Status.RESPONSE_PARSE_ERROR, 200)
        self.mpin_id = bytes.fromhex(mpin_id)
        # Milagro's client stores M-Pin IDs without user ids, and reads the user id from the M-Pin ID. If one M-Pin ID
        # did not contain it, the client could not read any of its users.
        assert json.loads(self.mpin_id)["userID"] == self.user
        return members["active"] is True

    def confirm_registration(self) -> None:
        """Fetches both client secret shares."""
        url = f"{self.settings['signatureURL']}/{self.mpin_id.hex()}?regOTT={self._reg_ott}"
        unverified = {400: Status.IDENTITY_NOT_VERIFIED, 401: Status.IDENTITY_NOT_VERIFIED}
        share, params = _text(_check(send("GET", url), unverified), "clientSecretShare", "params")
        second = _check(
            send("GET", f"{self.settings['certivoxURL']}clientSecret?{params}"), {408: Status.REQUEST_EXPIRED}
        )
        (other,) = _text(second, "clientSecret")
        self._secret = crypto.recombine_g1(bytes.fromhex(share), bytes.fromhex(other))

    def finish_registration(self, pin: str) -> None:
        self._token = crypto.extract_pin(self.mpin_id, _scalar(pin), PIN_BITS, self._secret)
        SECRETS.hid(self._token.hex(), self._secret.hex())
        self._secret, self._reg_ott = b"", ""

    # Login

    def authenticate(self, pin: str) -> dict[str, Any]:
        """Logs in on this device and returns the RPA's answer."""
        return self._redeem(self.settings["authenticateURL"], self.passes(pin))

    def authenticate_otp(self, pin: str) -> tuple[str, dict[str, Any]]:
        """Logs in and returns the one-time digits and the RPA's answer, which must say how long they are valid."""
        passed = self.passes(pin, otp=True)
        (digits,) = _text(passed, "OTP")
        answer = self._redeem(self.settings["authenticateURL"], passed)
        times = [answer.get(name) for name in ("expireTime", "ttlSeconds", "nowTime")]
        if not all(isinstance(time, int) and time for time in times):
            raise ClientError(Status.RESPONSE_PARSE_ERROR, 200)
        return digits, answer

    def authenticate_access_number(self, pin: str, number: str) -> None:
        """Logs a browser in."""
        if self.settings.get("cSum", 0) and not self.is_access_number(number):
            raise ClientError(Status.INCORRECT_ACCESS_NUMBER)
        self.authenticate_wid(pin, number)

    def authenticate_wid(self, pin: str, wid: str) -> None:
        answer = self._redeem(self.settings["mobileAuthenticateURL"], self.passes(pin, wid))
        if answer.get("logoutURL") and answer.get("logoutData"):
            self._logout = (answer["logoutURL"], answer["logoutData"])

    def is_access_number(self, number: str) -> bool:
        if not self.settings.get("accessNumberUseCheckSum", True) or len(number) != 7:
            return True
        total = sum(int(digit) * weight for digit, weight in zip(number, range(7, 1, -1)))
        return (11 - total % 11) % 11 % 10 == int(number[6])

    def passes(self, pin: str, wid: str = "0", otp: bool = False) -> dict[str, Any]:
        """Fetches the permit and runs pass 1 and pass 2. Returns the whole answer of pass 2."""
        date, permit = self._time_permit()
        x = crypto.random_generate()
        sec, u, ut = crypto.client_1(date, self.mpin_id, x, _scalar(pin), PIN_BITS, self._token, permit)
        server = self.settings["mpinAuthServerURL"]
        pass1 = {"pass": 1, "mpin_id": self.mpin_id.hex(), "UT": (ut or b"").hex(), "U": u.hex()}
        (y,) = _text(_check(send("POST", server + "/pass1", pass1)), "y")
        v = crypto.client_2(x, bytes.fromhex(y), sec)
        pass2 = {"pass": 2, "OTP": otp, "WID": wid, "V": v.hex(), "mpin_id": self.mpin_id.hex()}
        return _check(send("POST", server + "/pass2", pass2))

    def _redeem(self, url: str, passed: dict[str, Any]) -> dict[str, Any]:
        try:
            return _check(send("POST", url, {"mpinResponse": passed}), AUTHENTICATION)
        except ClientError as error:
            if error.http_status == 410:
                self.blocked = True
                self._token = b""
            raise

    def _time_permit(self) -> tuple[int, bytes | None]:
        """Fetches the permit. The first share is requested each time; the second one is kept for its day."""
        if not self.settings.get("usePermits", True):
            return 0, None
        revoked = {410: Status.REVOKED}
        answer = _check(send("GET", f"{self.settings['timePermitsURL']}/{self.mpin_id.hex()}"), revoked)
        share, signature, storage_id = _text(answer, "timePermit", "signature", "storageId")
        date = answer.get("date")
        assert type(date) is int and abs(date - _today()) <= 1
        if self._permit is None or self._permit[0] != date:
            self._permit = (date, self._second_permit(date, signature, storage_id))
        return date, crypto.recombine_g1(bytes.fromhex(share), bytes.fromhex(self._permit[1]))

    def _second_permit(self, date: int, signature: str, storage_id: str) -> str:
        """Asks the permit storage first, then D-TA 2. Milagro's client cannot parse the plain hex of the storage, so it
        always needs D-TA 2."""
        storage = self.settings.get("timePermitsStorageURL")
        if storage:
            assert send("GET", f"{storage}/{self.settings['appID']}/{date}/{storage_id}").status in (200, 404)
        url = (
            f"{self.settings['certivoxURL']}timePermit?hash_mpin_id={storage_id}"
            f"&app_id={self.settings['appID']}&mobile=1&signature={signature}"
        )
        (share,) = _text(_check(send("GET", url), {410: Status.REVOKED}), "timePermit")
        return share

    # Reports about access numbers and QR codes, and logout

    def report_code(self, status: str, wid: str, user: str = "") -> dict[str, Any]:
        body = {"status": status, "wid": wid}
        if user:
            body["userId"] = user
        return _check(send("POST", self.settings["codeStatusURL"], body))

    def can_logout(self) -> bool:
        return self._logout is not None

    def logout(self) -> bool:
        assert self._logout is not None
        path, data = self._logout
        self._logout = None
        return send("POST", self.backend + path, data).status == 200


def _scalar(pin: str) -> bytes:
    SECRETS.hid(pin)
    return pin_value(pin).to_bytes(32, "big")


def _today() -> int:
    now = datetime.datetime.now(datetime.timezone.utc)
    return int(now.timestamp()) // 86400


class OldBrowser:
    """The browser's page for a login. It shows an access number or a QR code, polls, and redeems the token that it
    gets."""

    def __init__(self, backend: str, settings: dict[str, Any], code: bool = False) -> None:
        self.backend = backend
        self._settings = settings
        self._cookies: dict[str, str] = {}
        name, url = ("qrUrl", "getQrUrl") if code else ("accessNumber", "getAccessNumberURL")
        answer = self._post(settings[url], None)
        shown, self._web_ott = _text(answer, name, "webOTT")
        assert answer["localTimeEnd"] - answer["localTimeStart"] == answer["ttlSeconds"] * 1000
        #: The access number, or the id in the QR code, which the phone reads from the screen.
        self.wid = shown.split("#")[-1]

    def poll(self) -> dict[str, Any]:
        answer = self._post(self._settings["accessNumberURL"], {"webOTT": self._web_ott})
        assert answer["statusCode"] == 0 and answer["redirectURL"] == ""
        return answer

    def redeem(self, auth_ott: str) -> dict[str, Any]:
        return self._post(self._settings["authenticateURL"], {"mpinResponse": {"authOTT": auth_ott}})

    def get(self, path: str) -> Answer:
        return self._remember(Connection(self.backend + path).exchange("GET", self._headers(), None))

    def _post(self, url: str, value: dict[str, Any] | None) -> dict[str, Any]:
        """Sends a request as XMLHttpRequest does: without a body there is no content type."""
        body = b"" if value is None else json.dumps(value).encode()
        headers = self._headers() + ([("Content-Type", "application/json")] if value else [])
        return _check(self._remember(Connection(url).exchange("POST", headers, body)), AUTHENTICATION)

    def _headers(self) -> list[tuple[str, str]]:
        cookies = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        return [("Accept", "*/*"), ("Origin", self.backend)] + ([("Cookie", cookies)] if cookies else [])

    def _remember(self, answer: Answer) -> Answer:
        given = answer.headers.get("set-cookie")
        if given:
            name, value = given.split(";")[0].split("=", 1)
            self._cookies[name] = value
        return answer


class Mailbox:
    """The folder to which mails are written."""

    def __init__(self, folder: pathlib.Path) -> None:
        self._folder = folder

    def confirm(self, user: str) -> None:
        """Opens the newest link for the user: loads the page, then presses its button."""
        mails = [path.read_text() for path in sorted(self._folder.glob("*.eml"))]
        mail = [text for text in mails if f"To: <{user}>" in text][-1]
        link = re.search(r"^http://\S+/mpinActivate\?\S+", mail, re.MULTILINE)
        assert link
        page = Connection(link[0]).exchange("GET", [("Accept", "text/html")], None)
        assert page.status == 200 and b"<form" in page.body
        assert Connection(link[0]).exchange("POST", [("Accept", "text/html")], b"").status == 200
