"""What a program can supply itself: HTTP, storage, log, clock, random numbers."""

from __future__ import annotations

import ctypes
import enum
import threading
from dataclasses import dataclass, field
from typing import Any, Callable, Protocol

from . import _structures as structures
from ._errors import CanceledError, NetworkError, RandomFailedError, StorageError, TimedOutError
from ._handles import octet_array
from ._native import lib

_KEY_SIZE = 32


class StorageKind(enum.IntEnum):
    """The two parts of a store: the users, encrypted, and the key that encrypts them."""

    USERS = 0
    SECURE = 1


class LogLevel(enum.IntEnum):
    """The importance of a line in the log."""

    DEBUG = 1
    INFO = 2
    WARNING = 3
    ERROR = 4


@dataclass(frozen=True)
class HTTPRequest:
    """A request to send. `timeout` is the remaining time in seconds. Do not log the query of `url`.

    `may_connect` tells whether the request may go to an address, such as "192.0.2.1" or "2001:db8::1". Call it before
    each connection with each address that the host name resolves to, but not with a proxy's. Without this check,
    a bad backend could make its clients contact addresses that only they can reach.
    """

    method: str
    url: str
    headers: list[tuple[str, str]]
    body: bytes
    timeout: float
    is_canceled: Callable[[], bool]
    may_connect: Callable[[str], bool] = lambda address: True


@dataclass(frozen=True)
class HTTPResponse:
    """An answer with any HTTP status."""

    status: int
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""


class Storage(Protocol):
    """A program's own storage. get() returns b"" if nothing is stored."""

    def get(self, kind: StorageKind) -> bytes: ...

    def set(self, kind: StorageKind, data: bytes) -> None: ...


@dataclass(frozen=True)
class Context:
    """The program's own callbacks; None selects the library's function. Callbacks run in the thread of the call.

    If a callback raises an exception, the call ends, and that exception is the __cause__ of the call's exception.
    `http` may raise TimeoutError, TimedOutError or CanceledError; any other exception counts as NetworkError.
    `storage_key` returns 32 bytes, `now` seconds since 1970, `random` the number of bytes in its argument.
    """

    http: Callable[[HTTPRequest], HTTPResponse] | None = None
    storage: Storage | None = None
    storage_key: Callable[[], bytes] | None = None
    log: Callable[[LogLevel, str], None] | None = None
    now: Callable[[], float] | None = None
    random: Callable[[int], bytes] | None = None


class Bridge:
    """The callbacks in the form that C calls. The object must live as long as its sdk."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._failures = threading.local()
        self.structure = structures.Context(size=ctypes.sizeof(structures.Context))
        if context.http:
            self.structure.http_execute = structures.HTTPExecute(self._http_execute)
        if context.storage:
            self.structure.storage_get = structures.StorageGet(self._storage_get)
            self.structure.storage_set = structures.StorageSet(self._storage_set)
        if context.storage_key:
            self.structure.storage_key = structures.StorageKey(self._storage_key)
        if context.log:
            self.structure.log = structures.Log(self._log)
        if context.now:
            self.structure.now = structures.Now(self._now)
        if context.random:
            self.structure.random = structures.Random(self._random)

    def take_failure(self) -> BaseException | None:
        """The exception that a callback has raised in this thread since the last call of this function, or None."""
        failure: BaseException | None = getattr(self._failures, "last", None)
        self._failures.last = None
        return failure

    def _failed(self, error: BaseException, code: int) -> int:
        self._failures.last = error
        return code

    def _http_execute(self, _: Any, request: Any, response: int) -> int:
        try:
            assert self._context.http
            answer = self._context.http(_request(request.contents, response))
            return _fill(response, answer)
        except CanceledError as error:
            return self._failed(error, CanceledError.code)
        except TimeoutError as error:
            return self._failed(error, TimedOutError.code)
        except BaseException as error:
            return self._failed(error, NetworkError.code)

    def _storage_get(self, _: Any, data: int, kind: int) -> int:
        try:
            assert self._context.storage
            stored = self._context.storage.get(StorageKind(kind))
            status: int = lib.mpin_storage_data_append(data, octet_array(stored), len(stored))
            return status
        except BaseException as error:
            return self._failed(error, StorageError.code)

    def _storage_set(self, _: Any, kind: int, octets: Any, size: int) -> int:
        try:
            assert self._context.storage
            self._context.storage.set(StorageKind(kind), ctypes.string_at(octets, size))
            return 0
        except BaseException as error:
            return self._failed(error, StorageError.code)

    def _storage_key(self, _: Any, key: Any) -> int:
        try:
            assert self._context.storage_key
            return _copy(self._context.storage_key(), key, _KEY_SIZE)
        except BaseException as error:
            return self._failed(error, StorageError.code)

    def _log(self, _: Any, level: int, text: bytes) -> None:
        try:
            assert self._context.log
            self._context.log(LogLevel(level), text.decode("utf-8", "replace"))
        except BaseException as error:
            self._failed(error, 0)

    def _now(self, _: Any, milliseconds: Any) -> int:
        try:
            assert self._context.now
            milliseconds[0] = int(self._context.now() * 1000)
            return 0
        except BaseException as error:
            return self._failed(error, -1)

    def _random(self, _: Any, out: Any, size: int) -> int:
        try:
            assert self._context.random
            return _copy(self._context.random(size), out, size)
        except BaseException as error:
            return self._failed(error, RandomFailedError.code)


def _copy(octets: bytes, out: Any, size: int) -> int:
    if len(octets) != size:
        raise ValueError(f"{len(octets)} bytes instead of {size}")
    ctypes.memmove(out, octets, size)
    return 0


def _request(request: structures.HTTPRequest, response: int) -> HTTPRequest:
    texts: list[str] = []
    while request.headers[len(texts)] is not None:
        texts.append(request.headers[len(texts)].decode("utf-8"))
    return HTTPRequest(
        request.method.decode("ascii"),
        request.url.decode("utf-8"),
        list(zip(texts[::2], texts[1::2])),
        ctypes.string_at(request.body, request.body_len) if request.body_len else b"",
        request.timeout_ms / 1000,
        lambda: _is_canceled(response),
        lambda address: _may_connect(response, address),
    )


def _may_connect(response: int, address: str) -> bool:
    """Whether the request may go to the address. False also if the call has already ended."""
    may = ctypes.c_int32()
    status = lib.mpin_http_response_may_connect(response, address.encode(), ctypes.byref(may))
    return status == 0 and may.value == 1


def _is_canceled(response: int) -> bool:
    canceled = ctypes.c_int32()
    return lib.mpin_http_response_is_canceled(response, ctypes.byref(canceled)) == 0 and canceled.value == 1


def _fill(response: int, answer: HTTPResponse) -> int:
    status: int = lib.mpin_http_response_set_status(response, answer.status)
    for name, value in answer.headers:
        status = status or lib.mpin_http_response_add_header(response, name.encode(), value.encode())
    return status or lib.mpin_http_response_append_body(response, octet_array(answer.body), len(answer.body))
