"""A client: settings, backend, users, store."""

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
    """A client: settings, backend, users, store.

    Several threads may use it. Their calls wait for each other, but cancel() never waits.
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

        storage_path: the file for users and tokens, mode 0600. May be None if `context` has a storage.
        storage_key_path: the file for the store's key, 64 hex digits, mode 0600. By default storage_path + ".key".
        storage_passphrase: the store's key is derived from it (Argon2id), instead of a key file. Give only one of both.
        backend: base URL of the server, such as "https://login.example.com". None: call set_backend() later.
        rps_prefix: path of the service below the base URL. By default "rps".
        ca_file: PEM file of the certificate authorities to trust. By default the system's.
        proxy: "http://host:port" for requests that leave this machine. By default the one that the environment names.
        pinned_keys: public keys that the backend's certificate may have, "sha256//BASE64;sha256//BASE64". By default
            any key that a trusted authority certifies.
        client_id: sent to the server in a header of every request. By default no header.
        timeout: time limit of one call in seconds, 0.001 to 4294967.
        allow_insecure: allows plain http to any host. For tests; loopback addresses are always allowed.
        context: the program's own functions, which replace the built-in ones; see mpin.Context.

        If libcurl is not installed, Python's own HTTP sends the requests.

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
        """Removes users, settings, backend, headers and trusted domains from memory. Stored data stays."""
        self._check(lib.mpin_sdk_destroy(self._handle))

    def cancel(self) -> None:
        """Ends the running call of another thread, which raises CanceledError."""
        self._check(lib.mpin_sdk_cancel(self._handle))

    def clear_users(self) -> None:
        """Removes the users from memory. They stay in the store."""
        self._check(lib.mpin_sdk_clear_users(self._handle))

    def test_backend(self, url: str, rps_prefix: str | None = None) -> None:
        """Checks that a backend answers with usable client settings. The current backend stays in use."""
        self._check(lib.mpin_sdk_test_backend(self._handle, utf8(url), optional(rps_prefix)))

    def set_backend(self, url: str, rps_prefix: str | None = None) -> None:
        """Requests the client settings of a backend and uses it from now on. After an error the former one stays."""
        self._check(lib.mpin_sdk_set_backend(self._handle, utf8(url), optional(rps_prefix)))

    def get_client_param(self, key: str) -> str:
        """One member of the client settings as text; "" if there is no such member.

        A path is returned as a URL of the backend, any other string as it is, and any other value as JSON.
        """
        return self._text(lib.mpin_sdk_get_client_param, self._handle, after=(utf8(key),))

    def set_client_id(self, client_id: str | None) -> None:
        """Sets the client id, which a header of every request contains; None: no header."""
        self._check(lib.mpin_sdk_set_client_id(self._handle, optional(client_id)))

    def add_custom_header(self, name: str, value: str) -> None:
        """Adds a header to every request. It replaces a header of the same name."""
        self._check(lib.mpin_sdk_add_custom_header(self._handle, utf8(name), utf8(value)))

    def clear_custom_headers(self) -> None:
        """Removes the added headers. The client id stays."""
        self._check(lib.mpin_sdk_clear_custom_headers(self._handle))

    def add_trusted_domain(self, domain: str) -> None:
        """Adds a trusted domain. Requests then go only to trusted domains and their subdomains, and only by https."""
        self._check(lib.mpin_sdk_add_trusted_domain(self._handle, utf8(domain)))

    def clear_trusted_domains(self) -> None:
        """Empties the list of trusted domains, so that every host is allowed."""
        self._check(lib.mpin_sdk_clear_trusted_domains(self._handle))

    def get_service_details(self, url: str) -> ServiceDetails:
        """Asks the website at `url` for the service that it offers."""
        found = sized(structures.ServiceDetails)
        self._check(lib.mpin_sdk_get_service_details(self._handle, ctypes.byref(found), utf8(url)))
        return ServiceDetails(*(getattr(found, name).decode("utf-8") for name in ServiceDetails._fields))

    def damaged_records(self) -> int:
        """The number of damaged records that were found when the store was last read."""
        count = ctypes.c_size_t()
        self._check(lib.mpin_sdk_damaged_records(self._handle, ctypes.byref(count)))
        return count.value

    def make_new_user(
        self, id: str, device_name: str | None = None, customer_id: str | None = None, app_id: str | None = None
    ) -> User:
        """Makes a user of the current backend, in state INVALID, or returns the known user with this id.

        A server may have several customers with several applications. The same id at another customer or application
        is another user; None means any, "" means the one that the server will name.
        """
        handle = ctypes.c_void_p()
        who = (utf8(id), optional(device_name), optional(customer_id), optional(app_id))
        self._check(lib.mpin_sdk_make_new_user_mfa(self._handle, ctypes.byref(handle), *who))
        return self._user(handle.value)

    def get_user(self, id: str, customer_id: str | None = None, app_id: str | None = None) -> User | None:
        """The user with this id at the current backend, or None. For customer and application, None means any."""
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
        """The users of the backend with this base URL, sorted by id."""
        return self._users(lib.mpin_sdk_list_backend_users, utf8(backend))

    def list_backends(self) -> list[str]:
        """The base URLs of all backends with users, sorted."""
        return self._text(lib.mpin_sdk_list_backends, self._handle).splitlines()

    def user_exists(self, id: str, customer_id: str | None = None, app_id: str | None = None) -> bool:
        """Whether a user is known at the current backend. For customer and application, None means any."""
        after = (utf8(id), optional(customer_id), optional(app_id))
        return bool(self._number(lib.mpin_sdk_user_exists, self._handle, after=after))

    def import_storage(self, format: ImportFormat, users: str, secure: str | None = None) -> int:
        """Adds the users that another client has stored. Returns the number of users that were added."""
        imported = ctypes.c_size_t()
        self._check(
            lib.mpin_sdk_import_storage(
                self._handle, ctypes.byref(imported), ImportFormat(format), utf8(users), optional(secure)
            )
        )
        return imported.value

    def delete_user(self, user: User) -> None:
        """Erases a user and its token from memory and from the store. The server is not told."""
        self._check(lib.mpin_sdk_delete_user(self._handle, user._handle))

    def delete_users(self) -> None:
        """Erases the users of all backends and their tokens from memory and store. The servers are not told."""
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
    """Checks the arithmetic against known answers. It needs neither network nor storage."""
    status = lib.mpin_sdk_self_test()
    if status:
        raise error_for(status)


def version() -> str:
    """The version of the library."""
    found: bytes = lib.mpin_version()
    return found.decode("ascii")
