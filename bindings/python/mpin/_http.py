"""HTTP with Python's own library, for systems without libcurl. It follows the rules of the built-in transport."""

from __future__ import annotations

import base64
import contextlib
import ctypes
import functools
import hashlib
import http.client
import ipaddress
import os
import socket
import ssl
import threading
import time
import urllib.parse
import urllib.request

from ._context import HTTPRequest, HTTPResponse
from ._errors import CanceledError, NetworkError

_CURL = "libcurl.so.4"
#: The largest accepted body of an answer, in bytes. Of a larger body, one byte more than this is passed on, so that the
#: library refuses the answer.
_LIMIT = 1 << 20
#: The time between two checks for a cancel, in seconds.
_PAUSE = 0.05


@functools.lru_cache(maxsize=None)
def has_curl() -> bool:
    """Whether the library can send requests itself."""
    try:
        return hasattr(ctypes.CDLL(_CURL), "curl_multi_poll")
    except OSError:
        return False


class Transport:
    """Sends requests. TLS is verified, redirects are not followed; deadline and cancel take effect within _PAUSE."""

    def __init__(
        self, ca_file: str | os.PathLike[str] | None = None, proxy: str | None = None, pinned_keys: str | None = None
    ) -> None:
        self._ca_file = ca_file
        self._proxy = proxy
        self._pins = pinned_keys.split(";") if pinned_keys else None

    def __call__(self, request: HTTPRequest) -> HTTPResponse:
        end = time.monotonic() + request.timeout
        exchange = _Exchange(self._connection(request), request, self._pins)
        thread = threading.Thread(target=exchange.run, daemon=True)
        thread.start()
        while thread.is_alive():
            thread.join(_PAUSE)
            if request.is_canceled():
                exchange.abandon()
                raise CanceledError()
            if time.monotonic() >= end and thread.is_alive():
                exchange.abandon()
                raise TimeoutError("no answer within the time allowed")
        if exchange.error:
            raise exchange.error
        assert exchange.answer
        return exchange.answer

    def _connection(self, request: HTTPRequest) -> http.client.HTTPConnection:
        url = urllib.parse.urlsplit(request.url)
        host, port = url.hostname or "", url.port or (443 if url.scheme == "https" else 80)
        proxy = self._proxy_for(url.scheme, host)
        connection: http.client.HTTPConnection
        if url.scheme != "https":
            connection = http.client.HTTPConnection(*(proxy or (host, port)), timeout=request.timeout)
        else:
            context = ssl.create_default_context(cafile=self._ca_file)
            context.minimum_version = ssl.TLSVersion.TLSv1_2
            connection = http.client.HTTPSConnection(*(proxy or (host, port)), timeout=request.timeout, context=context)
            if proxy:
                connection.set_tunnel(host, port)
        if not proxy:
            # Replaces http.client's function that makes the socket, because that function would connect to any address
            # of a host name.
            connection._create_connection = functools.partial(_connect, request)  # type: ignore[attr-defined]
        return connection

    def _proxy_for(self, scheme: str, host: str) -> tuple[str, int] | None:
        """The proxy for a host: the configured one, else the environment's. None for this machine's own addresses."""
        if _is_loopback(host):
            return None
        text = self._proxy
        if text is None and not urllib.request.proxy_bypass(host):
            text = urllib.request.getproxies().get(scheme)
        if not text:
            return None
        proxy = urllib.parse.urlsplit(text if "://" in text else f"http://{text}")
        if proxy.scheme != "http" or proxy.username is not None:
            raise NetworkError("without libcurl the proxy must be http://host:port")
        return proxy.hostname or "", proxy.port or 1080


class _Exchange:
    """One request, in its own thread, because a name lookup or a handshake cannot be interrupted from inside."""

    def __init__(self, connection: http.client.HTTPConnection, request: HTTPRequest, pins: list[str] | None) -> None:
        self._connection = connection
        self._request = request
        self._pins = pins
        self._is_abandoned = False
        self.answer: HTTPResponse | None = None
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.answer = self._answer()
        except BaseException as error:
            self.error = error
        finally:
            self._connection.close()

    def abandon(self) -> None:
        """Wakes the thread if it waits for the server. If it has no connection yet, it will not send the request."""
        self._is_abandoned = True
        connected = self._connection.sock
        if connected is not None:
            with contextlib.suppress(OSError):
                socket.socket.shutdown(connected, socket.SHUT_RDWR)

    def _answer(self) -> HTTPResponse:
        request, connection = self._request, self._connection
        connection.connect()
        if self._is_abandoned:
            raise CanceledError()
        if self._pins and isinstance(connection.sock, ssl.SSLSocket):
            _check_pin(connection.sock.getpeercert(True) or b"", self._pins)
        connection.putrequest(request.method, _target(request.url, connection), skip_accept_encoding=True)
        for name, value in request.headers:
            connection.putheader(name, value.encode("utf-8").decode("latin-1"))
        if request.method != "GET":
            connection.putheader("Content-Length", str(len(request.body)))
        connection.endheaders(request.body or None)
        answer = connection.getresponse()
        body = answer.read(_LIMIT + 1)
        if len(body) <= _LIMIT and answer.length:
            raise NetworkError("the answer breaks off")
        return HTTPResponse(answer.status, answer.getheaders(), body)


def _connect(
    request: HTTPRequest, place: tuple[str, int], timeout: float | None = None, source: tuple[str, int] | None = None
) -> socket.socket:
    """A socket to the first address of the host that answers and that the request may go to."""
    error: Exception = NetworkError(f"{place[0]} has no address that this request may go to")
    for family, kind, protocol, _, address in socket.getaddrinfo(*place, 0, socket.SOCK_STREAM):
        if not request.may_connect(str(address[0]).partition("%")[0]):
            continue
        made = socket.socket(family, kind, protocol)
        try:
            made.settimeout(timeout)
            made.connect(address)
            return made
        except OSError as failure:
            made.close()
            error = failure
    raise error


def _target(text: str, connection: http.client.HTTPConnection) -> str:
    """The target in the request line: path and query, or the whole URL if plain http goes through a proxy."""
    url = urllib.parse.urlsplit(text)
    target = (url.path or "/") + (f"?{url.query}" if url.query else "")
    return target if url.scheme == "https" or url.hostname == connection.host else f"http://{url.netloc}{target}"


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _check_pin(certificate: bytes, pins: list[str]) -> None:
    found = base64.b64encode(hashlib.sha256(_public_key(certificate)).digest()).decode()
    if f"sha256//{found}" not in pins:
        raise NetworkError("the server has none of the pinned keys")


def _public_key(certificate: bytes) -> bytes:
    """The SubjectPublicKeyInfo of a certificate: the sixth member after the version (RFC 5280 4.1)."""
    start, _ = _content(certificate, 0)
    place, _ = _content(certificate, start)
    if certificate[place] == 0xA0:
        place = _content(certificate, place)[1]
    for _ in range(5):
        place = _content(certificate, place)[1]
    return certificate[place : _content(certificate, place)[1]]


def _content(der: bytes, place: int) -> tuple[int, int]:
    """The beginning and the end of the content of the value at `place` (X.690 8.1.3)."""
    size, place = der[place + 1], place + 2
    if size & 0x80:
        count = size & 0x7F
        size, place = int.from_bytes(der[place : place + count], "big"), place + count
    return place, place + size
