"""A device of a user of MIRACL Trust: what a client sends, request by request, with the arithmetic of the library's crypto
module (TRUST wire sections 4 and 5)."""

from __future__ import annotations

import base64
import json
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import requests
from mpin import crypto

CLIENT = "MIRACL Client.js/8.8.0 accept/1"
PIN = "1234"
Body = dict[str, Any]


@dataclass
class Keys:
    """The key pair of a registration. z is secret."""

    z: bytes
    public: bytes

    @classmethod
    def new(cls) -> Keys:
        return cls(*crypto.get_dvs_keypair())


@dataclass
class Begun:
    """What a client keeps between its passes."""

    x: bytes
    sec: bytes
    body: Body

    def proof(self, y: str, wid: str | None = None) -> Body:
        """The body of pass 2 after the challenge y."""
        v = crypto.client_2(self.x, bytes.fromhex(y), self.sec)
        return {"mpin_id": self.body["mpin_id"], "V": v.hex(), **({"WID": wid} if wid else {})}


@dataclass
class Device:
    """What a client stores of a registration."""

    id: str
    public_key: bytes
    dtas: str
    token: bytes

    @classmethod
    def made(cls, answer: Body, shares: list[str], keys: Keys, pin: str = PIN) -> Device:
        """answer: that of /registration. The token is z (CS1 + CS2) - pin A."""
        first, second = (bytes.fromhex(share) for share in shares)
        secret = crypto.get_g1_multiple(keys.z, crypto.recombine_g1(first, second))
        keyed = bytes.fromhex(answer["mpinId"]) + keys.public
        return cls(answer["mpinId"], keys.public, answer["dtas"], crypto.extract_pin(keyed, *scalar(pin), secret))

    @property
    def keyed(self) -> bytes:
        """What is hashed to the point of the identity."""
        return bytes.fromhex(self.id) + self.public_key

    @property
    def members(self) -> Body:
        """The members of the M-Pin ID."""
        return dict(json.loads(bytes.fromhex(self.id)))

    def begin(self, pin: str = PIN, scope: str = "jwt") -> Begun:
        x = crypto.random_generate()
        sec, u, _ = crypto.client_1(0, self.keyed, x, *scalar(pin), self.token)
        body = {
            "scope": [scope], "mpin_id": self.id, "dtas": self.dtas, "publicKey": self.public_key.hex(), "U": u.hex(),
            "UT": "",
        }  # fmt: skip
        return Begun(x, sec, body)

    def sign(self, message: bytes, pin: str = PIN, at: int | None = None) -> tuple[Body, int]:
        """Signs `message`. Returns the signature and its time."""
        seconds = int(time.time()) if at is None else at
        x = crypto.random_generate()
        u, _, v = crypto.client(0, self.keyed, x, *scalar(pin), self.token, None, seconds, message)
        signature = {
            "hash": message.hex(), "u": u.hex(), "v": v.hex(), "mpinId": self.id, "publicKey": self.public_key.hex(),
            "dtas": self.dtas,
        }  # fmt: skip
        return signature, seconds


class Client:
    """Sends the requests of one project's client. No answer raises an error here, whatever its status."""

    def __init__(self, url: str, project: str) -> None:
        self.url = url
        self.project = project
        self.http = requests.Session()

    @property
    def headers(self) -> dict[str, str]:
        return {"X-MIRACL-CID": self.project, "X-MIRACL-CLIENT": CLIENT}

    def post(self, target: str, body: Body, method: str = "POST") -> requests.Response:
        return self.http.request(method, self.url + target, json=body, headers=self.headers, timeout=60)

    def get(self, url: str) -> requests.Response:
        """url: an absolute URL, or a path of the server."""
        absolute = url if urlsplit(url).scheme else self.url + url
        return self.http.get(absolute, headers=self.headers, timeout=60)

    # Registration

    def verify(self, user: str, **more: Any) -> requests.Response:
        body = {"userId": user, "projectId": self.project, "deviceName": "phone", "scope": [], **more}
        return self.post("/verification/email", body)

    def confirm(self, user: str, code: str) -> requests.Response:
        return self.post("/verification/confirmation", {"userId": user, "code": code})

    def enrol(self, user: str, token: str, keys: Keys, **more: Any) -> requests.Response:
        body = {"userId": user, "deviceName": "phone", "activationToken": token, "publicKey": keys.public.hex()}
        return self.post("/registration", {**body, **more})

    def register(self, user: str, token: str, pin: str = PIN, **more: Any) -> Device:
        """Registers a device with an activation token or a QuickCode, and fetches both shares."""
        keys = Keys.new()
        answer = good(self.enrol(user, token, keys, **more))
        return Device.made(answer, [good(self.get(url))["dvsClientSecret"] for url in answer["secretUrls"]], keys, pin)

    # Logins

    def prove(self, device: Device, pin: str = PIN, scope: str = "jwt", wid: str | None = None) -> str:
        """Makes both passes. Returns the one-time token."""
        begun = device.begin(pin, scope)
        y = good(self.post("/rps/v2/pass1", begun.body))["y"]
        return str(good(self.post("/rps/v2/pass2", begun.proof(y, wid)))["authOTT"])

    def authenticate(self, token: str) -> requests.Response:
        return self.post("/rps/v2/authenticate", {"authOTT": token, "wam": "dvs"})

    def login(
        self, device: Device, pin: str = PIN, scope: str = "jwt", wid: str | None = None
    ) -> requests.Response:
        return self.authenticate(self.prove(device, pin, scope, wid))

    def quick_code(self, device: Device) -> requests.Response:
        jwt = good(self.login(device, scope="reg-code"))["jwt"]
        return self.post("/verification/quickcode", {"projectId": self.project, "jwt": jwt, "deviceName": "phone"})

    # Sessions of browsers

    def report(self, wid: str, status: str, **more: Any) -> requests.Response:
        return self.post("/rps/v2/codeStatus", {"wid": wid, "status": status, **more})

    def access(self, session: Body) -> Body:
        """Asks how far the session of a browser is."""
        return good(self.post("/rps/v2/access", {"webOTT": session["webOTT"]}))


def good(answer: requests.Response) -> Body:
    """The members of an answer that must have the status 200, which is the only one that client-js takes."""
    assert answer.status_code == 200, f"{answer.url}: {answer.status_code} {answer.text}"
    return dict(answer.json())


def refused(answer: requests.Response, status: int, code: str) -> dict[str, str]:
    """Checks an error, and returns its context. All values in it must be texts."""
    body = answer.json()
    assert (answer.status_code, body.get("error")) == (status, code), answer.text
    context = body.get("context", {})
    assert body["info"] and body["requestID"] and all(isinstance(value, str) for value in context.values()), body
    return dict(context)


def wid(link: str) -> str:
    """The session that a QR code, an app link or a push leads to (TRUST wire section 2.2)."""
    return link.rpartition("#")[2]


def scalar(pin: str) -> tuple[bytes, int]:
    return crypto.pin_to_scalar(crypto.PinMapping.DECIMAL6, pin.encode())


def base64_json(value: Any) -> str:
    return base64.b64encode(json.dumps(value).encode()).decode()
