"""Stand-ins for Milagro's servers, made from recordings. Each sends the recorded answers and requests. Where a test
needs it, values such as times or shares are replaced by current ones."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import http.server
import json
import pathlib
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from mpin import crypto

TRANSCRIPTS = pathlib.Path(__file__).parents[1] / "Vectors/transcripts"
#: Headers that are not taken from the recording, because they belong to one connection or are made for each answer.
OWN = {"content-length", "connection", "host", "date", "transfer-encoding"}


class Exchange:
    """A request and its answer, as recorded."""

    def __init__(self, recorded: dict[str, Any]) -> None:
        request, response = recorded["request"], recorded["response"]
        self.method, self.target, self.body = request["method"], request["target"], request["body"]
        self.headers = [(name, value) for name, value in request["headers"] if name.lower() not in OWN]
        self.status, self.answer = response["status"], response["body"]
        self.answer_headers = [(name, value) for name, value in response["headers"] if name.lower() not in OWN]

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.target).query, keep_blank_values=True))

    def reply(self, **fresh: Any) -> Reply:
        """Returns the recorded answer, with the members in `fresh` replaced."""
        return Reply(self.status, {**self.answer, **fresh} if fresh else self.answer, self.answer_headers)


class Reply:
    def __init__(self, status: int, body: Any, headers: Iterable[tuple[str, str]] = ()) -> None:
        self.status = status
        self.body = body if isinstance(body, bytes) else (json.dumps(body) if body else "").encode()
        self.headers = [(name, value) for name, value in headers if name.lower() not in OWN]

    def json(self) -> dict[str, Any]:
        return dict(json.loads(self.body))


def recorded(flow: str, hop: str, method: str, path: str, number: int = 0) -> Exchange:
    """Returns a recorded exchange of this flow whose target begins with `path`. Skips the first `number` of them. hop:
    the server that was asked."""
    found = [
        exchange
        for exchange in json.loads((TRANSCRIPTS / f"{flow}.json").read_text())["exchanges"]
        if exchange["hop"] == hop
        and exchange["request"]["method"] == method
        and exchange["request"]["target"].startswith(path)
    ]
    return Exchange(found[number])


def ask(url: str, like: Exchange, body: Any = None, method: str = "", headers: Any = None) -> Reply:
    """Sends the recorded request to this URL, with the recorded body or another one."""
    parts = urlsplit(url)
    assert parts.hostname and parts.port
    content = like.body if body is None else body
    if not isinstance(content, bytes):
        content = (json.dumps(content) if content else "").encode()
    with closing(http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)) as connection:
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        fields = {name: value for name, value in (headers or like.headers) if name.lower() != "expect"}
        method = method or like.method
        connection.request(method, target, None if method == "GET" else content, fields)
        answer = connection.getresponse()
        return Reply(answer.status, answer.read(), answer.getheaders())


class Request:
    def __init__(self, method: str, target: str, headers: list[tuple[str, str]], body: bytes) -> None:
        self.method, self.target, self.headers, self.content = method, target, headers, body
        self.path = urlsplit(target).path
        self.query = dict(parse_qsl(urlsplit(target).query, keep_blank_values=True))

    def json(self) -> dict[str, Any]:
        return dict(json.loads(self.content)) if self.content else {}

    def header(self, name: str) -> str | None:
        return next((value for field, value in self.headers if field.lower() == name.lower()), None)

    def is_like(self, exchange: Exchange) -> None:
        """Checks that the body has the members of the recorded request, with the same types. It may have more
        members."""
        body = self.json()
        for name, value in (exchange.body or {}).items():
            assert type(body.get(name)) is type(value), f"{self.method} {self.path}: {name} is {body.get(name)!r}"


class StandIn:
    """A server on its own port. check() reports the assertions that have failed in its handlers."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.seen: list[str] = []
        self._failures: list[BaseException] = []
        stand_in = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def serve(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                reply = stand_in.guarded(Request(self.command, self.path, self.headers.items(), body))
                self.send_response_only(reply.status)
                for name, value in reply.headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(reply.body)))
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(reply.body)
                self.close_connection = True

            do_GET = do_POST = do_PUT = do_OPTIONS = serve

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def guarded(self, request: Request) -> Reply:
        self.seen.append(f"{request.method} {request.path}")
        try:
            return self.reply(request)
        except BaseException as failure:
            self._failures.append(failure)
            return Reply(500, {})

    def reply(self, request: Request) -> Reply:
        raise NotImplementedError

    def check(self) -> None:
        for failure in self._failures:
            raise failure

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class OldAuthority(StandIn):
    """Milagro's D-TA. Its master share is that of wire section 16, because the share of the recorded D-TA is
    unknown."""

    APP_ID, APP_KEY = "c0ffee00c98e11e4b69d02547e1fd4a1", b"9d1f3a5b7c2e4f60818a9bacbdcedff0"

    def __init__(self, port: int, share: str, prefix: str) -> None:
        self._share = bytes.fromhex(share)
        self._prefix = prefix
        super().__init__(port)
        self.url += prefix
        # Checks the recorded signature, to be sure that this stand-in computes signatures from the same data as
        # Milagro's D-TA.
        like = recorded("std-50-dta", "dta1", "GET", "/serverSecret")
        assert like.query["signature"] == self._tag("serverSecret", like.query["app_id"], like.query["expires"])

    def _tag(self, *fields: str) -> str:
        return hmac.new(self.APP_KEY, "".join(fields).encode(), hashlib.sha256).hexdigest()

    def reply(self, request: Request) -> Reply:
        assert request.path.startswith(self._prefix + "/")
        path = request.path.removeprefix(self._prefix)
        answers: dict[str, Callable[[dict[str, str]], Reply]] = {
            "/serverSecret": self._server_secret,
            "/clientSecret": self._client_secret,
            "/timePermit": self._time_permit,
        }
        if path not in answers:
            return recorded("std-50-dta", "dta1", "GET", "/nope").reply()
        like = recorded("std-50-dta", "dta1", "GET", path)
        assert request.query.keys() <= like.query.keys(), request.query.keys()
        return answers[path](request.query)

    def _server_secret(self, query: dict[str, str]) -> Reply:
        exchanges = [recorded("std-50-dta", "dta1", "GET", "/serverSecret", number) for number in (0, 2)]
        if query["signature"] != self._tag("serverSecret", self.APP_ID, query["expires"]):
            return exchanges[1].reply()
        return exchanges[0].reply(serverSecret=crypto.get_server_secret(self._share).hex())

    def _client_secret(self, query: dict[str, str]) -> Reply:
        exchanges = [recorded("std-50-dta", "dta1", "GET", "/clientSecret", number) for number in (0, 5)]
        signed = ("clientSecret", self.APP_ID, query["hash_mpin_id"], query["hash_user_id"], query["expires"])
        if query["signature"] != self._tag(*signed):
            return exchanges[1].reply()
        secret = crypto.get_client_secret(self._share, bytes.fromhex(query["hash_mpin_id"]))
        return exchanges[0].reply(clientSecret=secret.hex())

    def _time_permit(self, query: dict[str, str]) -> Reply:
        exchanges = [recorded("std-50-dta", "dta1", "GET", "/timePermit?", number) for number in (0, 1)]
        if query["signature"] != self._tag(query["hash_mpin_id"]):
            return exchanges[1].reply()
        permit = crypto.get_client_permit(
            int(time.time()) // 86400, self._share, bytes.fromhex(query["hash_mpin_id"])
        )
        return exchanges[0].reply(timePermit=permit.hex())


class OldRPA(StandIn):
    """Milagro's demo application. It knows one URL of the RPS, sends no bearer tokens, and declares its JSON as a
    form."""

    def __init__(self, port: int, rps: str) -> None:
        self._rps = rps
        #: For each user who has not confirmed yet, the RPS's request to send the mail.
        self.waiting: dict[str, dict[str, Any]] = {}
        self.sessions: set[str] = set()
        super().__init__(port)

    def reply(self, request: Request) -> Reply:
        match request.method, request.path:
            case _, path if path.startswith("/rps/"):
                return self._forward(request)
            case "POST", "/mpinVerify":
                request.is_like(recorded("verify-01-register-needs-confirmation", "rpa", "POST", "/mpinVerify"))
                assert request.header("RPS-BASE-URL") == self.url and not request.header("Authorization")
                body = request.json()
                self.waiting[body["userId"]] = body
                return recorded("verify-01-register-needs-confirmation", "rpa", "POST", "/mpinVerify").reply()
            case "GET", "/mpinPermitUser":
                assert "mpin_id" in request.query
                return recorded("std-04-timePermits-storage404-then-dta", "rpa", "GET", "/mpinPermitUser").reply()
            case "POST", "/mpinAuthenticate":
                return self._authenticate(request.json()["mpinResponse"]["authOTT"])
            case "POST", "/logout":
                self.sessions.remove(request.json()["sessionToken"])
                return recorded("std-11-logout", "rpa", "POST", "/logout").reply()
        raise AssertionError(f"the old RPA was asked {request.method} {request.target}")

    def _forward(self, request: Request) -> Reply:
        """Forwards a client's request with all its headers, including Host, and adds two headers."""
        like = Exchange({"request": {"method": request.method, "target": "", "headers": [], "body": ""},
                         "response": {"status": 0, "body": "", "headers": []}})  # fmt: skip
        headers = [
            (name, value) for name, value in request.headers if name.lower() not in OWN - {"host"}
        ] + [("Connection", "close"), ("Accept-Encoding", "gzip")]
        return ask(self._rps + request.target, like, request.content, headers=headers)

    def confirm(self, user: str) -> None:
        """Confirms a registration, as when the user opens the link in the mail."""
        wish = self.waiting.pop(user)
        like = recorded("verify-04-activate-by-mail-link", "rps", "POST", "/user/")
        answer = ask(f"{self._rps}/user/{wish['mpinId']}", like, {"activateKey": wish["activateKey"]})
        assert (answer.status, answer.body) == (like.status, b""), answer.body

    def _authenticate(self, auth_ott: str) -> Reply:
        like = recorded("std-10-access-number-login", "rps", "POST", "/authenticate")
        token = hashlib.sha256(auth_ott.encode()).hexdigest()
        answer = ask(f"{self._rps}/authenticate", like, {"authOTT": auth_ott, "logoutData": {"sessionToken": token}})
        verdict = answer.json()
        assert verdict["status"] == answer.status and like.answer.keys() <= verdict.keys(), verdict
        login = recorded("std-10-access-number-login", "rpa", "POST", "/mpinAuthenticate")
        if answer.status == 200:
            result = recorded("std-10-access-number-login", "rps", "POST", "/loginResult")
            data = {"sessionToken": token, "userId": verdict["userId"]}
            body = {"authOTT": auth_ott, "status": 200, "message": verdict["message"], "logoutData": data}
            assert body.keys() == result.body.keys()
            told = ask(f"{self._rps}/loginResult", result, body)
            assert (told.status, told.body) == (result.status, b""), told.body
            self.sessions.add(token)
        reply = login.reply()
        reply.status = answer.status
        return reply


class OldRPS(StandIn):
    """Milagro's RPS, with its public and private paths on one listener. It sends the recorded values, except the times
    in a registration, because the recorded times have passed."""

    REGISTRATION = "verify-01-register-needs-confirmation"
    LOGIN, CODE = "std-10-access-number-login", "native-04-qr-login"

    def __init__(self, port: int, rpa: str, rpa_private: str) -> None:
        self._rpa, self._private = rpa, rpa_private
        self._active = False
        self._shown = threading.Event()
        self._told: dict[str, Any] = {}
        self._done = threading.Event()
        super().__init__(port)

    def reply(self, request: Request) -> Reply:
        flow = self.LOGIN
        match request.method, request.path.removeprefix("/rps"):
            case "GET", "/clientSettings":
                return recorded("std-01-clientSettings", "rps", "GET", "/rps/clientSettings").reply()
            case "PUT", "/user":
                return self._register(request)
            case "GET", path if path.startswith("/signature/"):
                name = "verify-05-confirm-after-activation" if self._active else "verify-02-confirm-before-activation-401"
                return self._same(request, recorded(name, "rps", "GET", "/rps/signature/"))
            case "POST", path if path.startswith("/user/"):
                like = recorded("verify-04-activate-by-mail-link", "rps", "POST", "/user/")
                wish = recorded(self.REGISTRATION, "rpa", "POST", "/mpinVerify").body
                assert request.json() == {"activateKey": wish["activateKey"]}
                assert request.path == "/user/" + wish["mpinId"]
                self._active = True
                return like.reply()
            case "GET", path if path.startswith("/user/"):
                return Reply(405, {"version": "0.3", "message": "METHOD NOT ALLOWED"})
            case _, path if path.startswith("/registration/"):
                return Reply(404, {"version": "0.3", "message": "NOT FOUND"})
            case "GET", path if path.startswith("/timePermit/"):
                return self._permit(request)
            case "POST", "/pass1" | "/pass2":
                return self._same(request, recorded(flow, "rps", "POST", request.path))
            case "POST", "/getAccessNumber":
                return recorded(flow, "rps", "POST", "/rps/getAccessNumber").reply()
            case "POST", "/getQrUrl":
                return recorded(self.CODE, "rps", "POST", "/rps/getQrUrl").reply()
            case "POST", "/access":
                number = 3 if self._done.is_set() else 2 if self._shown.is_set() else 0
                like = recorded(flow, "rps", "POST", "/rps/access", number)
                assert request.json()["webOTT"] == like.body["webOTT"]
                return like.reply()
            case "POST", "/authenticate" if request.path.startswith("/rps/"):
                return self._phone(request)
            case "POST", "/authenticate":
                like = recorded(flow, "rps", "POST", "/authenticate")
                request.is_like(like)
                assert request.json()["authOTT"] == like.body["authOTT"]
                return like.reply()
            case "POST", "/loginResult":
                request.is_like(recorded(flow, "rps", "POST", "/loginResult"))
                self._told = request.json()
                self._done.set()
                return recorded(flow, "rps", "POST", "/loginResult").reply()
        raise AssertionError(f"the old RPS was asked {request.method} {request.target}")

    def _same(self, request: Request, like: Exchange) -> Reply:
        """Checks that the RPA has forwarded the client's request unchanged."""
        assert request.target == like.target and (request.json() or "") == like.body, request.target
        return like.reply()

    def _register(self, request: Request) -> Reply:
        like = recorded(self.REGISTRATION, "rps", "PUT", "/rps/user")
        assert request.json() == like.body
        question = recorded(self.REGISTRATION, "rpa", "POST", "/mpinVerify")
        expires = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3600))
        answer = ask(f"{self._private}/mpinVerify", question, {**question.body, "expireTime": expires})
        assert (answer.status, answer.json()) == (question.status, question.answer), (answer.status, answer.body)
        return like.reply()

    def _permit(self, request: Request) -> Reply:
        like = recorded("std-04-timePermits-storage404-then-dta", "rps", "GET", "/rps/timePermit/")
        question = recorded("std-04-timePermits-storage404-then-dta", "rpa", "GET", "/mpinPermitUser")
        answer = ask(self._private + question.target, question)
        assert answer.status == 200, answer.body
        return self._same(request, like)

    def _phone(self, request: Request) -> Reply:
        like = recorded(self.LOGIN, "rps", "POST", "/rps/authenticate")
        assert request.json() == like.body
        self._shown.set()
        assert self._done.wait(60), "no login result"
        assert self._told["status"] == 200
        return like.reply(logoutURL=self._told["logoutURL"], logoutData=self._told["logoutData"])
