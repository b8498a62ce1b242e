"""A MIRACL MFA server as a callback: written from the wire texts, not recorded."""

import json
from typing import Any

from mpin import HTTPRequest, HTTPResponse, crypto

URL = "https://mfa.example.com"
SETTINGS = {
    "appID": "c0ffee",
    "registerURL": "/rps/user",
    "signatureURL": "/rps/signature",
    "certivoxURL": "/dta/",
    "timePermitsURL": "/rps/timePermit",
    "mpinAuthServerURL": "/rps",
    "authenticateURL": "/authenticate",
    "mobileAuthenticateURL": "/mobileAuthenticate",
    "codeStatusURL": "/rps/codeStatus",
    "usePermits": False,
    "accessNumberUseCheckSum": True,
    "cSum": 1,
}
ANSWERS: "dict[str, Any]" = {
    "/rps/clientSettings": SETTINGS,
    "/verification": {},
    "/verification/confirmation": {"actToken": "token", "accessId": "access", "expireTime": 1893456000},
    "/rps/codeStatus": {"prerollId": "alice", "appName": "app", "registerOnly": True},
    "/page/service": {"name": "Page", "url": URL, "rps_prefix": "rps", "logo_url": "/l", "type": "online"},
    "/authorize": {"qrURL": f"{URL}/qr#abcdef"},
    "/logout": {},
}


class Server:
    """Judges proofs with mpin.crypto. `answers` are those of the next requests of a path, before the usual ones."""

    def __init__(self) -> None:
        self.shares = [crypto.random_generate(), crypto.random_generate()]
        self.secret = crypto.recombine_g2(*(crypto.get_server_secret(s) for s in self.shares))
        self.context = crypto.ServerContext(self.secret)
        self.answers: "dict[str, HTTPResponse]" = {}
        self.requests: "list[HTTPRequest]" = []
        self.issued = 0

    def __call__(self, request: HTTPRequest) -> HTTPResponse:
        self.requests.append(request)
        path, _, query = request.url[len(URL) :].partition("?")
        if path in self.answers:
            return self.answers.pop(path)
        body = json.loads(request.body or b"{}")
        status, answer = self.serve(path, query, body)
        return HTTPResponse(status, [("X-Request-Id", "r-7")], json.dumps(answer).encode())

    def serve(self, path: str, query: str, body: "dict[str, Any]") -> "tuple[int, Any]":
        if path in ANSWERS:
            return 200, ANSWERS[path]
        if path == "/rps/user":
            return 200, {"mpinId": self.mpin_id(body["userId"]), "regOTT": "07" * 16, "active": True, "customerId": "c"}
        if path.startswith("/rps/signature/"):
            id = path.rpartition("/")[2]
            return 200, {"clientSecretShare": self.share(0, id), "params": f"id={id}"}
        if path == "/dta/clientSecret":
            return 200, {"clientSecret": self.share(1, query[3:])}
        if path == "/rps/dvsregister":
            self.key, self.signer = body["publicKey"], self.mpin_id("alice")
            share = self.share(0, self.signer + self.key)
            return 200, {"mpinId": self.signer, "dvsClientSecretShare": share, "cs2url": f"{URL}/cs2", "dtas": "W10="}
        if path == "/cs2":
            return 200, {"dvsClientSecret": self.share(1, self.signer + self.key)}
        return self.login(path, body)

    def login(self, path: str, body: "dict[str, Any]") -> "tuple[int, Any]":
        if path == "/rps/pass1":
            self.pass1, self.y = body, crypto.random_generate()
            return 200, {"y": self.y.hex()}
        if path == "/rps/pass2":
            self.is_right = self.judge(bytes.fromhex(body["V"]))
            return 200, {"authOTT": "01", "OTP": "123456"}
        if path not in ("/authenticate", "/mobileAuthenticate"):
            return 404, {"message": "no such path"}
        if not self.is_right:
            return 401, {"message": "wrong PIN"}
        times = {"expireTime": 1893456000000, "nowTime": 1893455940000, "ttlSeconds": 60}
        leave = {"dvsRegister": {"token": "leave", "curve": "BN254CX"}} if body.get("scope") == "dvs" else {}
        return 200, {"code": "authz", "logoutURL": "/logout", "logoutData": {"s": 1}, **times, **leave}

    def judge(self, v: bytes) -> bool:
        id, u = bytes.fromhex(self.pass1["mpin_id"]), bytes.fromhex(self.pass1["U"])
        if "publicKey" in self.pass1:
            key = bytes.fromhex(self.pass1["publicKey"])
            return self.context.verify_dvs(key, id + key, u, self.y, v)
        return self.context.verify(0, id, u, self.y, v)

    def mpin_id(self, user: str) -> str:
        self.issued += 1
        return json.dumps({"userID": user, "v": self.issued}).encode().hex()

    def share(self, authority: int, id: str) -> str:
        return crypto.get_client_secret(self.shares[authority], crypto.hash_id(bytes.fromhex(id))).hex()
