"""One client: settings, backend, users, store."""

from __future__ import annotations

import ctypes
import dataclasses
import os
from typing import Any

from . import _structures as structures
from ._authentication import Authentication
from ._context import Bridge, Context
from ._errors import BufferTooSmallError, InvalidArgumentError, InvalidHandleError, error_for
from ._http import Transport, has_curl
from ._handles import Pin, Secret, optional, path_octets, sized, utf8
from ._native import lib
from ._registration import Registration
from ._results import ImportFormat, ServiceDetails
from ._signing import Signing
from ._user import User


class SDK(Registration, Authentication, Signing):
    """One client: settings, backend, users, store.

    It may be used from several threads: calls wait for each other, but cancel() never waits.
    """

    _bridge: Bridge | None = None

    def __init__(
        self,
        storage_path: str | os.PathLike[str] | None = None,
        *,
        storage_key_path: str | os.PathLike[str] | None = None,
        storage_passphrase: Pin | None = None,
        backend: str | None = None,
        rps_prefix: str | None = None,
        ca_file: str | os.PathLike[str] | None = None,
        proxy: str | None = None,
        pinned_keys: str | None = None,
        client_id: str | None = None,
        timeout: float = 30.0,
        allow_insecure: bool = False,
        context: Context | None = None,
    ) -> None:
        """Opens the store, creating it if need be, and sets the backend if one is given.

        storage_path: the file that keeps users and tokens, mode 0600. None only where `context` has a storage.
        storage_key_path: the file of the store's key, 64 hex digits, mode 0600. By default storage_path + ".key".
        storage_passphrase: makes the store's key (Argon2id), in the place of a file. At most one of the two.
        backend: base URL of the server, such as "https://login.example.com". None: set_backend() names it later.
        rps_prefix: path of the service below the base URL. By default "rps".
        ca_file: PEM file of the certificate authorities to trust. By default the system's.
        proxy: "http://host:port" for requests that leave this machine. By default that of the environment.
        pinned_keys: public keys that the backend's certificate may have, "sha256//BASE64;sha256//BASE64". By default
            any that a trusted authority vouches for.
        client_id: names the client to the server in a header of every request. By default no header.
        timeout: seconds that one call may take, 0.001 to 4294967.
        allow_insecure: plain http to any host. For tests; loopback addresses need it not.
        context: functions of the program's own in the place of the built-in ones: see mpin.Context.

        Where libcurl is not installed, requests go out by Python's own HTTP.

        Raises: InvalidArgumentError, StorageError, UnsupportedFormatError; with a backend what set_backend() raises.
        """
        self._free = lib.mpin_sdk_free
        if not 0.001 <= timeout < 2**32 / 1000:
            raise InvalidArgumentError("timeout")
        if not (context and context.http) and not has_curl():
            context = dataclasses.replace(context or Context(), http=Transport(ca_file, proxy, pinned_keys))
        self._bridge = Bridge(context) if context else None
        handle = ctypes.c_void_p()
        self._check(lib.mpin_sdk_new(ctypes.byref(handle)))
        self._handle = handle.value
        with Secret(storage_passphrase or b"") as passphrase:
            config = structures.Config(
                size=ctypes.sizeof(structures.Config),
                storage_path=_optional_path(storage_path),
                storage_key_path=_optional_path(storage_key_path),
                backend=optional(backend),
                rps_prefix=optional(rps_prefix),
                ca_file=_optional_path(ca_file),
                timeout_ms=int(timeout * 1000),
                allow_insecure=allow_insecure,
                storage_passphrase=None if storage_passphrase is None else ctypes.cast(passphrase, ctypes.c_char_p),
                proxy=optional(proxy),
                pinned_keys=optional(pinned_keys),
                client_id=optional(client_id),
                context=ctypes.pointer(self._bridge.structure) if self._bridge else None,
            )
            try:
                self._check(lib.mpin_sdk_init(self._handle, ctypes.byref(config)))
            except BaseException:
                self.close()
                raise

    def destroy(self) -> None:
        """Forgets users, settings and backend in memory. What is stored stays stored."""
        self._check(lib.mpin_sdk_destroy(self._handle))

    def cancel(self) -> None:
        """Ends the call that is under way in another thread: it raises CanceledError."""
        self._check(lib.mpin_sdk_cancel(self._handle))

    def clear_users(self) -> None:
        """Forgets the users in memory; the store keeps them."""
        self._check(lib.mpin_sdk_clear_users(self._handle))

    def test_backend(self, url: str, rps_prefix: str | None = None) -> None:
        """Asks a backend for its client settings and keeps nothing."""
        self._check(lib.mpin_sdk_test_backend(self._handle, utf8(url), optional(rps_prefix)))

    def set_backend(self, url: str, rps_prefix: str | None = None) -> None:
        """Asks a backend for its client settings and uses it from now on. On failure the former backend stays."""
        self._check(lib.mpin_sdk_set_backend(self._handle, utf8(url), optional(rps_prefix)))

    def get_client_param(self, key: str) -> str:
        """One member of the client settings: strings as they are, others as JSON, none as an empty text."""
        return self._text(lib.mpin_sdk_get_client_param, self._handle, after=(utf8(key),))

    def set_client_id(self, client_id: str | None) -> None:
        """Names the client to the server in a header of every request; None: no header."""
        self._check(lib.mpin_sdk_set_client_id(self._handle, optional(client_id)))

    def add_custom_header(self, name: str, value: str) -> None:
        """Adds a header to every request. One of the same name is replaced."""
        self._check(lib.mpin_sdk_add_custom_header(self._handle, utf8(name), utf8(value)))

    def clear_custom_headers(self) -> None:
        """Forgets the added headers; the client id stays."""
        self._check(lib.mpin_sdk_clear_custom_headers(self._handle))

    def add_trusted_domain(self, domain: str) -> None:
        """With one or more trusted domains, requests go to them only, and by https."""
        self._check(lib.mpin_sdk_add_trusted_domain(self._handle, utf8(domain)))

    def clear_trusted_domains(self) -> None:
        """Every host is allowed."""
        self._check(lib.mpin_sdk_clear_trusted_domains(self._handle))

    def get_service_details(self, url: str) -> ServiceDetails:
        """Asks the page at `url` for its service."""
        found = sized(structures.ServiceDetails)
        self._check(lib.mpin_sdk_get_service_details(self._handle, ctypes.byref(found), utf8(url)))
        return ServiceDetails(*(getattr(found, name).decode("utf-8") for name in ServiceDetails._fields))

    def damaged_records(self) -> int:
        """How many records of the store were damaged when it was last read."""
        count = ctypes.c_size_t()
        self._check(lib.mpin_sdk_damaged_records(self._handle, ctypes.byref(count)))
        return count.value

    def make_new_user(
        self, id: str, device_name: str | None = None, customer_id: str | None = None, app_id: str | None = None
    ) -> User:
        """A user of the current backend in state INVALID; for an id that is known here, the known user.

        At a server of several customers the same id at another customer, or another of its applications, is another
        user: None means any, "" the one that the server will name.
        """
        handle = ctypes.c_void_p()
        who = (utf8(id), optional(device_name), optional(customer_id), optional(app_id))
        self._check(lib.mpin_sdk_make_new_user_mfa(self._handle, ctypes.byref(handle), *who))
        return self._user(handle.value)

    def get_user(self, id: str, customer_id: str | None = None, app_id: str | None = None) -> User | None:
        """The user of that id at the current backend, if there is one; customer and application: None for any."""
        handle = ctypes.c_void_p()
        who = (utf8(id), optional(customer_id), optional(app_id))
        self._check(lib.mpin_sdk_get_user_mfa(self._handle, ctypes.byref(handle), *who))
        return None if handle.value is None else self._user(handle.value)

    def list_users(self) -> list[User]:
        """The users of the current backend, sorted by id."""
        return self._users(lib.mpin_sdk_list_users)

    def list_all_users(self) -> list[User]:
        """The users of all backends, sorted by id."""
        return self._users(lib.mpin_sdk_list_all_users)

    def list_backend_users(self, backend: str) -> list[User]:
        """The users of one backend, current or not."""
        return self._users(lib.mpin_sdk_list_backend_users, utf8(backend))

    def list_backends(self) -> list[str]:
        """The base URLs that there are users of, sorted."""
        return self._text(lib.mpin_sdk_list_backends, self._handle).splitlines()

    def user_exists(self, id: str, customer_id: str | None = None, app_id: str | None = None) -> bool:
        """Whether a user is known at the current backend; customer and application: None for any."""
        after = (utf8(id), optional(customer_id), optional(app_id))
        return bool(self._number(lib.mpin_sdk_user_exists, self._handle, after=after))

    def import_storage(self, format: ImportFormat, users: str, secure: str | None = None) -> int:
        """Takes over the users that another client has stored; their number."""
        imported = ctypes.c_size_t()
        self._check(
            lib.mpin_sdk_import_storage(
                self._handle, ctypes.byref(imported), ImportFormat(format), utf8(users), optional(secure)
            )
        )
        return imported.value

    def delete_user(self, user: User) -> None:
        """Erases a user with its token here, in memory and in the store. The server is not told."""
        self._check(lib.mpin_sdk_delete_user(self._handle, user._handle))

    def delete_users(self) -> None:
        """Erases the users of all backends with their tokens, in memory and in the store."""
        self._check(lib.mpin_sdk_delete_users(self._handle))

    def _failure(self) -> BaseException | None:
        return self._bridge.take_failure() if self._bridge else None

    def _user(self, handle: int | None) -> User:
        if handle is None:
            raise InvalidHandleError("the library made no user")
        return User(self, handle)

    def _users(self, function: Any, *after: Any) -> list[User]:
        count = ctypes.c_size_t()
        self._check(function(self._handle, None, ctypes.byref(count), *after))
        while True:
            handles = (ctypes.c_void_p * count.value)()
            status = function(self._handle, handles, ctypes.byref(count), *after)
            if status != BufferTooSmallError.code:
                self._check(status)
                return [self._user(handle) for handle in handles[: count.value]]


def _optional_path(path: str | os.PathLike[str] | None) -> bytes | None:
    return None if path is None else path_octets(path)


def self_test() -> None:
    """Checks the arithmetic against known answers, without network or storage."""
    status = lib.mpin_sdk_self_test()
    if status:
        raise error_for(status)


def version() -> str:
    """The version of the library."""
    found: bytes = lib.mpin_version()
    return found.decode("ascii")
