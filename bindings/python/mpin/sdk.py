"""Register a user, log in with a PIN."""

from __future__ import annotations

import ctypes
import enum
import os
from types import TracebackType
from typing import Any, Callable, TypeVar, Union

from . import _native
from ._errors import BufferTooSmallError, InvalidArgumentError, InvalidHandleError, error_for
from ._native import lib

#: A str or bytes cannot be wiped; a bytearray can, by its owner.
Pin = Union[str, bytes, bytearray]

_Handle = TypeVar("_Handle", bound="_Closable")


class State(enum.IntEnum):
    """How far a user has come."""

    INVALID = 0
    STARTED_VERIFICATION = 1
    STARTED_REGISTRATION = 2
    ACTIVATED = 3
    REGISTERED = 4
    BLOCKED = 5


class _Closable:
    """The owner of one handle of the library."""

    _handle: int | None = None
    _free: Callable[[int | None], None]

    def close(self) -> None:
        """Releases the handle. Calls after it raise InvalidHandleError; a second close does nothing."""
        handle, self._handle = self._handle, None
        if handle is not None:
            self._free(handle)

    def __enter__(self: _Handle) -> _Handle:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


class User(_Closable):
    """One identity at one backend. Made by SDK.make_new_user, get_user and list_users, never directly.

    Closing it releases the handle; the user itself stays.
    """

    def __init__(self, sdk: SDK, handle: int) -> None:
        self._sdk = sdk
        self._handle = handle
        self._free = lib.mpin_user_free

    @property
    def id(self) -> str:
        """The user id."""
        return self._sdk._text(lib.mpin_user_get_id, self._handle)

    @property
    def backend(self) -> str:
        """The base URL of the backend."""
        return self._sdk._text(lib.mpin_user_get_backend, self._handle)

    @property
    def mpin_id(self) -> str:
        """The M-Pin ID in hex; empty before the registration has started."""
        return self._sdk._text(lib.mpin_user_get_mpin_id, self._handle)

    @property
    def state(self) -> State:
        """How far the user has come."""
        state = ctypes.c_int32()
        self._sdk._check(lib.mpin_user_get_state(self._handle, ctypes.byref(state)))
        return State(state.value)

    def __repr__(self) -> str:
        try:
            return f"<mpin.User {self.id!r} at {self.backend!r}: {self.state.name}>"
        except InvalidHandleError:
            return "<mpin.User: closed>"


class SDK(_Closable):
    """One client: settings, backend, users, store.

    It may be used from several threads: calls wait for each other, but cancel() never waits.
    """

    def __init__(
        self,
        storage_path: str | os.PathLike[str],
        *,
        storage_key_path: str | os.PathLike[str] | None = None,
        backend: str | None = None,
        rps_prefix: str | None = None,
        ca_file: str | os.PathLike[str] | None = None,
        timeout: float = 30.0,
        allow_insecure: bool = False,
    ) -> None:
        """Opens the store, creating it if need be, and sets the backend if one is given.

        storage_path: the file of users and tokens. storage_key_path: the file of the store's key; by default
        storage_path + ".key". backend: a base URL. rps_prefix: by default "rps". ca_file: PEM file of the certificate
        authorities to trust; by default the system's. timeout: seconds that one call may take. allow_insecure: plain
        http to any host, for tests.
        """
        self._free = lib.mpin_sdk_free
        if not 0.001 <= timeout < 2**32 / 1000:
            raise InvalidArgumentError("timeout")
        handle = ctypes.c_void_p()
        self._check(lib.mpin_sdk_new(ctypes.byref(handle)))
        self._handle = handle.value
        config = _native.Config(
            size=ctypes.sizeof(_native.Config),
            storage_path=_path(storage_path),
            storage_key_path=None if storage_key_path is None else _path(storage_key_path),
            backend=_optional(backend),
            rps_prefix=_optional(rps_prefix),
            ca_file=None if ca_file is None else _path(ca_file),
            timeout_ms=int(timeout * 1000),
            allow_insecure=allow_insecure,
        )
        try:
            self._check(lib.mpin_sdk_init(self._handle, ctypes.byref(config)))
        except BaseException:
            self.close()
            raise

    def cancel(self) -> None:
        """Ends the call that is under way in another thread: it raises CanceledError."""
        self._check(lib.mpin_sdk_cancel(self._handle))

    def clear_users(self) -> None:
        """Forgets the users in memory; the store keeps them."""
        self._check(lib.mpin_sdk_clear_users(self._handle))

    def test_backend(self, url: str, rps_prefix: str | None = None) -> None:
        """Asks a backend for its client settings and keeps nothing."""
        self._check(lib.mpin_sdk_test_backend(self._handle, _utf8(url), _optional(rps_prefix)))

    def set_backend(self, url: str, rps_prefix: str | None = None) -> None:
        """Asks a backend for its client settings and uses it from now on. On failure the former backend stays."""
        self._check(lib.mpin_sdk_set_backend(self._handle, _utf8(url), _optional(rps_prefix)))

    def get_client_param(self, key: str) -> str:
        """One member of the client settings: strings as they are, others as JSON, none as an empty text."""
        return self._text(lib.mpin_sdk_get_client_param, self._handle, _utf8(key))

    def make_new_user(self, id: str, device_name: str | None = None) -> User:
        """A user of the current backend in state INVALID; for an id that is known here, the known user."""
        handle = ctypes.c_void_p()
        self._check(lib.mpin_sdk_make_new_user(self._handle, ctypes.byref(handle), _utf8(id), _optional(device_name)))
        return self._user(handle.value)

    def get_user(self, id: str) -> User | None:
        """The user of that id at the current backend, if there is one."""
        handle = ctypes.c_void_p()
        self._check(lib.mpin_sdk_get_user(self._handle, ctypes.byref(handle), _utf8(id)))
        return None if handle.value is None else self._user(handle.value)

    def list_users(self) -> list[User]:
        """The users of the current backend, sorted by id."""
        return self._users(lib.mpin_sdk_list_users)

    def list_all_users(self) -> list[User]:
        """The users of all backends, sorted by id."""
        return self._users(lib.mpin_sdk_list_all_users)

    def delete_user(self, user: User) -> None:
        """Erases a user with its token here, in memory and in the store. The server is not told."""
        self._check(lib.mpin_sdk_delete_user(self._handle, user._handle))

    def start_registration(self, user: User, activate_code: str | None = None, user_data: str | None = None) -> None:
        """Asks the server for a registration; it then mails the user a link.

        State: INVALID -> STARTED_REGISTRATION, or ACTIVATED if the server asks for no confirmation.
        """
        self._check(
            lib.mpin_sdk_start_registration(self._handle, user._handle, _optional(activate_code), _optional(user_data))
        )

    def restart_registration(self, user: User, user_data: str | None = None) -> None:
        """Asks for the mail again, for the same registration."""
        self._check(lib.mpin_sdk_restart_registration(self._handle, user._handle, _optional(user_data)))

    def confirm_registration(self, user: User, push_id: str | None = None) -> None:
        """Fetches the client secret, once the user has opened the link; IdentityNotVerifiedError before."""
        self._check(lib.mpin_sdk_confirm_registration(self._handle, user._handle, _optional(push_id)))

    def finish_registration(self, user: User, pin: Pin) -> None:
        """Makes the token from the client secret and the PIN, and stores it. State: -> REGISTERED."""
        with _Secret(pin) as secret:
            self._check(lib.mpin_sdk_finish_registration(self._handle, user._handle, secret))

    def start_authentication(self, user: User) -> None:
        """Fetches today's time permit, if the backend uses them."""
        self._check(lib.mpin_sdk_start_authentication(self._handle, user._handle))

    def finish_authentication(self, user: User, pin: Pin) -> str:
        """Proves PIN and token to the server.

        Returns: the answer of the application, JSON text. After IncorrectPinError look at user.state: the server may
        have blocked the user.
        """
        with _Secret(pin) as secret:
            self._check(lib.mpin_sdk_finish_authentication(self._handle, user._handle, None, None, secret))
        return self.get_auth_data(user)

    def get_auth_data(self, user: User) -> str:
        """The answer of the application to the last login of this user; empty before one."""
        return self._text(lib.mpin_sdk_get_auth_data, self._handle, user._handle)

    def _check(self, status: int) -> None:
        """Raises the exception of a status that is not OK, with what the library says about it."""
        if status:
            raise error_for(status, self._last_error())

    def _last_error(self) -> str:
        size = ctypes.c_size_t(1024)
        text = ctypes.create_string_buffer(size.value)
        status = lib.mpin_sdk_last_error(self._handle, text, ctypes.byref(size))
        if status == BufferTooSmallError.code:
            text = ctypes.create_string_buffer(size.value)
            status = lib.mpin_sdk_last_error(self._handle, text, ctypes.byref(size))
        return text.value.decode("utf-8", "replace") if status == 0 else ""

    def _text(self, function: Any, handle: int | None, *arguments: Any) -> str:
        """The text output of a function. It may grow between the question for its size and the answer."""
        first, rest = ((), arguments) if function is lib.mpin_sdk_get_client_param else (arguments, ())
        size = ctypes.c_size_t()
        self._check(function(handle, *first, None, ctypes.byref(size), *rest))
        while True:
            text = ctypes.create_string_buffer(size.value)
            status = function(handle, *first, text, ctypes.byref(size), *rest)
            if status != BufferTooSmallError.code:
                self._check(status)
                return text.value.decode("utf-8")

    def _user(self, handle: int | None) -> User:
        if handle is None:
            raise InvalidHandleError("the library made no user")
        return User(self, handle)

    def _users(self, function: Any) -> list[User]:
        count = ctypes.c_size_t()
        self._check(function(self._handle, None, ctypes.byref(count)))
        while True:
            handles = (ctypes.c_void_p * count.value)()
            status = function(self._handle, handles, ctypes.byref(count))
            if status != BufferTooSmallError.code:
                self._check(status)
                return [self._user(handle) for handle in handles[: count.value]]


class _Secret:
    """A PIN as the library reads it, wiped when the call is over."""

    def __init__(self, pin: Pin) -> None:
        octets = pin.encode("utf-8") if isinstance(pin, str) else pin
        if 0 in octets:
            raise InvalidArgumentError("the PIN has a NUL")
        self._text = ctypes.create_string_buffer(len(octets) + 1)
        for index, octet in enumerate(octets):
            self._text[index] = bytes((octet,))

    def __enter__(self) -> ctypes.Array[ctypes.c_char]:
        return self._text

    def __exit__(self, *_: object) -> None:
        ctypes.memset(self._text, 0, len(self._text))


def _utf8(text: str) -> bytes:
    """A text as the library reads it, which is up to its first NUL: one that has a NUL would be cut short."""
    if "\0" in text:
        raise InvalidArgumentError("a text has a NUL")
    return text.encode("utf-8")


def _optional(text: str | None) -> bytes | None:
    return None if text is None else _utf8(text)


def _path(path: str | os.PathLike[str]) -> bytes:
    octets = os.fsencode(path)
    if b"\0" in octets:
        raise InvalidArgumentError("a path has a NUL")
    return octets


def self_test() -> None:
    """Checks the arithmetic against known answers, without network or storage."""
    status = lib.mpin_sdk_self_test()
    if status:
        raise error_for(status)


def version() -> str:
    """The version of the library."""
    found: bytes = lib.mpin_version()
    return found.decode("ascii")
