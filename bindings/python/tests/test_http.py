"""The transport that sends requests if libcurl is not installed."""

import pathlib
import re
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

import mpin
from mpin import Context, HTTPRequest, HTTPResponse
from mpin._http import Transport

LIMIT = 1 << 20


class Handler(BaseHTTPRequestHandler):
    """Gives an answer for each path and records the requests."""

    seen: "list[tuple[str, str, dict[str, str], bytes]]" = []
    protocol_version = "HTTP/1.1"
    is_over = threading.Event()

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.seen.append((self.command, self.path, dict(self.headers), body))
        if self.path == "/silent":
            self.is_over.wait()
            return
        size = re.match(r"/size/(\d+)", self.path)
        answer = b"x" * int(size[1]) if size else b"hello"
        self.send_response(302 if self.path == "/elsewhere" else 200)
        self.send_header("Location", "/there")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_POST = do_PUT = do_GET

    def log_message(self, format: str, *args: object) -> None:
        """Writes no log."""


class Server(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Ignores clients that close the connection."""


def serve(context: "ssl.SSLContext | None" = None) -> Iterator[str]:
    server = Server(("127.0.0.1", 0), Handler)
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    Handler.seen.clear()
    Handler.is_over.clear()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http{'s' if context else ''}://127.0.0.1:{server.server_address[1]}"
    finally:
        Handler.is_over.set()
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def plain() -> Iterator[str]:
    yield from serve()


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> "tuple[pathlib.Path, pathlib.Path]":
    folder = tmp_path_factory.mktemp("tls")
    key, own = folder / "key.pem", folder / "certificate.pem"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=test".split()
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(own)]
    subprocess.run(command, check=True, capture_output=True)
    return own, key


@pytest.fixture
def tls(certificate: "tuple[pathlib.Path, pathlib.Path]") -> Iterator[str]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    yield from serve(context)


def request(url: str, timeout: float = 5, **more: object) -> HTTPRequest:
    values: "dict[str, object]" = {"method": "GET", "headers": [], "body": b"", "is_canceled": lambda: False, **more}
    return HTTPRequest(url=url, timeout=timeout, **values)  # type: ignore[arg-type]


def test_a_request_arrives_as_it_was_meant(plain: str) -> None:
    answer = Transport()(request(f"{plain}/a?b=c", method="PUT", headers=[("X-Name", "wärme")], body=b"\0body"))
    assert (answer.status, answer.body) == (200, b"hello")
    assert ("Location", "/there") in answer.headers
    method, path, headers, body = Handler.seen[0]
    assert (method, path, body) == ("PUT", "/a?b=c", b"\0body")
    assert headers["X-Name"].encode("latin-1").decode() == "wärme"


def test_a_redirect_is_not_followed(plain: str) -> None:
    assert Transport()(request(f"{plain}/elsewhere")).status == 302
    assert len(Handler.seen) == 1


def test_one_mebibyte_and_no_more(plain: str) -> None:
    assert len(Transport()(request(f"{plain}/size/{LIMIT}")).body) == LIMIT
    assert len(Transport()(request(f"{plain}/size/{3 * LIMIT}")).body) == LIMIT + 1
    context = Context(http=lambda asked: Transport()(request(f"{plain}/size/{3 * LIMIT}")))
    with mpin.SDK(context=Context(context.http, Memory())) as sdk, pytest.raises(mpin.ResponseParseError):
        sdk.test_backend(plain)


class Memory:
    def get(self, kind: mpin.StorageKind) -> bytes:
        return b""

    def set(self, kind: mpin.StorageKind, data: bytes) -> None:
        """Stores nothing."""


def test_the_deadline_and_a_cancel_end_it(plain: str) -> None:
    started = time.monotonic()
    with pytest.raises(TimeoutError):
        Transport()(request(f"{plain}/silent", timeout=0.3))
    canceled = threading.Event()
    threading.Timer(0.2, canceled.set).start()
    with pytest.raises(mpin.CanceledError):
        Transport()(request(f"{plain}/silent", timeout=30, is_canceled=canceled.is_set))
    assert time.monotonic() - started < 20


@pytest.mark.parametrize("is_canceled, timeout", [(True, 30), (False, 0.1)])
def test_nothing_is_sent_after_the_end(
    plain: str, monkeypatch: pytest.MonkeyPatch, is_canceled: bool, timeout: float
) -> None:
    """The name server answers only after the call has ended."""
    is_over, look_up = threading.Event(), socket.getaddrinfo

    def late(*arguments: Any, **more: Any) -> Any:
        is_over.wait()
        return look_up(*arguments, **more)

    monkeypatch.setattr(socket, "getaddrinfo", late)
    before = set(threading.enumerate())
    with pytest.raises((mpin.CanceledError, TimeoutError)):
        Transport()(request(f"{plain}/late", timeout, method="POST", body=b"body", is_canceled=lambda: is_canceled))
    left = set(threading.enumerate()) - before
    is_over.set()
    for thread in left:
        thread.join(30)
    assert left and not any(thread.is_alive() for thread in left)
    assert Handler.seen == []


def test_nobody_there_is_told(plain: str) -> None:
    with mpin.SDK(context=Context(Transport(), Memory()), timeout=1) as sdk:
        with pytest.raises(mpin.NetworkError) as raised:
            sdk.test_backend("http://127.0.0.1:1")
    assert isinstance(raised.value.__cause__, ConnectionRefusedError)


def test_a_certificate_must_be_trusted(tls: str, certificate: "tuple[pathlib.Path, pathlib.Path]") -> None:
    with pytest.raises(ssl.SSLCertVerificationError):
        Transport()(request(tls))
    assert Handler.seen == []
    assert Transport(ca_file=certificate[0])(request(tls)).status == 200
    with pytest.raises(ssl.SSLCertVerificationError):
        Transport(ca_file=certificate[0])(request(tls.replace("127.0.0.1", "localhost")))


def test_a_key_must_be_a_pinned_one(tls: str, certificate: "tuple[pathlib.Path, pathlib.Path]") -> None:
    script = "openssl pkey -in $0 -pubout -outform der | openssl dgst -sha256 -binary | openssl base64 -A"
    digest = subprocess.check_output(["sh", "-c", script, str(certificate[1])], text=True)
    other = "sha256//" + "A" * 43 + "="
    assert Transport(certificate[0], pinned_keys=f"{other};sha256//{digest}")(request(tls)).status == 200
    Handler.seen.clear()
    with pytest.raises(mpin.NetworkError, match="pinned"):
        Transport(certificate[0], pinned_keys=other)(request(tls))
    assert Handler.seen == []


def test_a_proxy_gets_what_leaves_this_machine(plain: str) -> None:
    transport = Transport(proxy=plain)
    assert transport(request("http://nowhere.invalid/x?y=1")).status == 200
    assert Handler.seen[-1][1] == "http://nowhere.invalid/x?y=1"
    with pytest.raises(ConnectionRefusedError):
        transport(request("http://127.0.0.1:1"))
    with pytest.raises(mpin.NetworkError, match="http://host:port"):
        Transport(proxy="https://127.0.0.1:1")(request("http://nowhere.invalid"))


def test_it_takes_the_place_of_libcurl_where_that_is_not_installed(tmp_path: pathlib.Path, plain: str) -> None:
    (tmp_path / "libcurl.so.4").touch()
    script = f"import mpin\nmpin.SDK({str(tmp_path / 'store')!r}, timeout=1).test_backend({plain!r})"
    command = ["env", f"LD_LIBRARY_PATH={tmp_path}", sys.executable, "-c", script]
    said = subprocess.run(command, capture_output=True, text=True).stderr
    assert "RESPONSE_PARSE_ERROR" in said, said


def test_an_address_that_the_request_may_not_go_to_is_not_connected_to(plain: str) -> None:
    asked: "list[str]" = []

    def no(address: str) -> bool:
        asked.append(address)
        return False

    with pytest.raises(mpin.NetworkError, match="no address that this request may go to"):
        Transport()(HTTPRequest("GET", f"{plain}/", [], b"", 10, lambda: False, no))
    assert asked == ["127.0.0.1"] and Handler.seen == []
