"""A proxy between an app and its provider, which counts requests and makes the network fail as a test wants."""

from __future__ import annotations

import http.client
import threading
from collections import Counter
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable
from urllib.parse import urlsplit

#: Changes the body of a request or answer; None means that the connection is closed without an answer.
Change = Callable[[bytes], "bytes | None"]


class Proxy:
    """Forwards all requests to `backend` while it is up."""

    def __init__(self, port: int, backend: str) -> None:
        self.backend = urlsplit(backend).netloc
        self.asked: Counter[str] = Counter()
        #: By path: changes of requests before they are sent, of answers, and of the URL.
        self.requests: dict[str, Change] = {}
        self.answers: dict[str, Change] = {}
        self.targets: dict[str, Callable[[str], str]] = {}
        #: The header Date of answers, if it is not to be the provider's.
        self.date: str | None = None
        #: An API on the same origin, which takes access tokens: it answers 401 to those in this set.
        self.refused: set[str] = set()
        self.refuses_all = False
        self.api_tokens: list[str] = []
        self.api_bodies: list[bytes] = []
        self._port = port
        self._lock = threading.Lock()
        self.start()

    def start(self) -> None:
        handler = type("Handler", (Handler,), {"proxy": self})
        self._server = Server(("127.0.0.1", self._port), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def stop(self) -> None:
        """Nobody listens any more: the app is offline."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def reset(self) -> None:
        self.asked.clear()
        for changes in (self.requests, self.answers, self.targets):
            changes.clear()
        self.refused.clear()
        self.refuses_all = False
        self.api_tokens.clear()
        self.api_bodies.clear()
        self.date = None

    def count(self, path: str) -> None:
        with self._lock:
            self.asked[path] += 1

    def renewals(self) -> int:
        return self.asked["renewal"]


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


class Handler(BaseHTTPRequestHandler):
    proxy: Proxy

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._serve(b"")

    def do_POST(self) -> None:
        if self.headers.get("Transfer-Encoding") == "chunked":
            return self._serve(b"".join(iter(self._chunk, b"")))
        self._serve(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def _chunk(self) -> bytes:
        chunk = self.rfile.read(int(self.rfile.readline(), 16))
        self.rfile.readline()
        return chunk

    def do_PUT(self) -> None:
        self.do_POST()

    def _serve(self, body: bytes) -> None:
        path = urlsplit(self.path).path
        self.proxy.count(path)
        if b"grant_type=refresh_token" in body:
            self.proxy.count("renewal")
        if path == "/api":
            return self._api(body)
        if path == "/away":
            elsewhere = f"http://localhost:{self.server.server_address[1]}/api"
            return self._answer(302, [("Location", elsewhere)], b"")
        sent = self.proxy.requests.get(path, lambda same: same)(body)
        if sent is None:
            return self._hang_up()
        status, headers, answer = self._forward(self.proxy.targets.get(path, lambda same: same)(self.path), sent)
        received = self.proxy.answers.get(path, lambda same: same)(answer)
        if received is None:
            return self._hang_up()
        self._answer(status, headers, received)

    def _forward(self, target: str, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        headers = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "content-length")}
        with closing(http.client.HTTPConnection(self.proxy.backend, timeout=60)) as connection:
            connection.request(self.command, target, body or None, {**headers, "Host": self.headers["Host"]})
            answer = connection.getresponse()
            return answer.status, answer.getheaders(), answer.read()

    def _answer(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() == "date" and self.proxy.date:
                value = self.proxy.date
            if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def _api(self, body: bytes) -> None:
        """Answers 200 if the provider accepts the token and the test does not refuse it, else 401."""
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        self.proxy.api_tokens.append(token)
        self.proxy.api_bodies.append(body)
        status = 401
        if token not in self.proxy.refused and not self.proxy.refuses_all:
            self.command = "GET"
            status = self._forward("/oidc/userinfo", b"")[0]
        self._answer(status, [], b"")

    def _hang_up(self) -> None:
        self.close_connection = True
        self.connection.close()
