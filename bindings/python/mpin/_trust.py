"""Users of a MIRACL Trust project."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Mapping
from typing import Any

from . import _structures as structures
from ._context import Context
from ._errors import BufferTooSmallError, ErrorDetails, InvalidArgumentError
from ._handles import Calls, Pin, Secret, octet_array, optional, path_octets, sized, utf8
from ._native import lib
from ._results import (
    Activation,
    ImportFormat,
    QuickCode,
    Signature,
    TrustSession,
    VerificationMail,
    VerificationMethod,
)
from ._user import User
from .sdk import SDK


class Trust(Calls):
    """The client of a MIRACL Trust project, at the service of MIRACL or at a server with the same wire, such as mpind.

    The names are those of the Trust SDKs. Several threads may use it. Their calls wait for each other, but cancel()
    never waits.
    """

    def __init__(
        self,
        storage_path: str | os.PathLike[str] | None = None,
        *,
        project_id: str,
        url: str | None = None,
        device_name: str | None = None,
        storage_key_path: str | os.PathLike[str] | None = None,
        storage_passphrase: Pin | None = None,
        ca_file: str | os.PathLike[str] | None = None,
        proxy: str | None = None,
        pinned_keys: str | None = None,
        timeout: float = 30.0,
        allow_insecure: bool = False,
        context: Context | None = None,
    ) -> None:
        """Opens the store, creating it if need be, and uses a project. Nothing is sent.

        project_id: the project's id.
        url: base URL of the service. By default that of MIRACL.
        device_name: what the server lists this device as. By default nothing.

        The other options are those of mpin.SDK.

        Raises: InvalidArgumentError, StorageError, UnsupportedFormatError, UntrustedDomainError.
        """
        self._sdk = SDK(
            storage_path,
            storage_key_path=storage_key_path,
            storage_passphrase=storage_passphrase,
            ca_file=ca_file,
            proxy=proxy,
            pinned_keys=pinned_keys,
            timeout=timeout,
            allow_insecure=allow_insecure,
            context=context,
        )
        self._free = self._close
        self._handle = self._sdk._handle
        try:
            self.set_project(project_id, url, device_name)
        except BaseException:
            self.close()
            raise

    def _close(self, _: int | None) -> None:
        self._sdk.close()

    def _failure(self) -> BaseException | None:
        return self._sdk._failure()

    def _last_error(self, status: int) -> ErrorDetails:
        """Adds what only a server of MIRACL Trust says."""
        found = sized(structures.TrustError)
        details = super()._last_error(status)
        if not details.text or lib.mpin_trust_get_last_error(self._handle, ctypes.byref(found)):
            return details
        return details._replace(
            retry_at=found.retry_at or None,
            error_code=found.code.decode("utf-8", "replace"),
            project_id=found.project_id.decode("utf-8", "replace"),
            access_id=found.access_id.decode("utf-8", "replace"),
        )

    def cancel(self) -> None:
        """Ends the running call of another thread, which raises CanceledError."""
        self._sdk.cancel()

    def set_project(self, project_id: str, url: str | None = None, device_name: str | None = None) -> None:
        """Uses another project from now on. Nothing is sent."""
        self._check(
            lib.mpin_trust_set_project(self._handle, utf8(project_id), optional(url), optional(device_name))
        )

    # Users

    def get_user(self, user_id: str) -> User | None:
        """The project's user with this id on this device, or None."""
        return self._sdk.get_user(user_id)

    def list_users(self) -> list[User]:
        """The project's users on this device, sorted by id."""
        return self._sdk.list_users()

    def list_all_users(self) -> list[User]:
        """The users of all projects and backends, sorted by id."""
        return self._sdk.list_all_users()

    def delete_user(self, user: User) -> None:
        """Erases a user and its token from memory and from the store. The server is not told."""
        self._sdk.delete_user(user)

    def change_pin(self, user: User, old_pin: Pin, new_pin: Pin) -> None:
        """Replaces the PIN without the server. Possible only directly after a successful login with the old PIN."""
        self._sdk.change_pin(user, old_pin, new_pin)

    def export_users(self, path: str | os.PathLike[str]) -> int:
        """Writes the project's users to a new file, as client-js stores them. Returns their number.

        In this file, which has mode 0600, the tokens lie unsealed: whoever reads it needs only the PIN to log in.
        Delete it as soon as it is read.
        """
        exported = ctypes.c_size_t()
        self._check(lib.mpin_trust_export_users(self._handle, ctypes.byref(exported), path_octets(path)))
        return exported.value

    def import_users(self, users: str) -> int:
        """Adds the users of all projects that client-js has stored under its key `mfa`. Returns the number of users
        that were added."""
        return self._sdk.import_storage(ImportFormat.CLIENT_JS, users)

    # Registration

    def send_verification_email(self, user_id: str, access_id: str | None = None) -> VerificationMail:
        """Asks the server to mail a link or a code that verifies the user id.

        access_id: of the browser's session for which the user registers.

        Raises RequestBackoffError, whose retry_at says when another mail may be requested.
        """
        found = sized(structures.TrustVerification)
        self._check(
            lib.mpin_trust_send_verification_email(
                self._handle, ctypes.byref(found), utf8(user_id), optional(access_id)
            )
        )
        return VerificationMail(found.backoff, VerificationMethod(found.method))

    def get_activation_token(self, user_id: str, code: str) -> Activation:
        """Exchanges the code of a mail for an activation token.

        Raises VerificationFailedError for a code that is wrong, used or expired.
        """
        return self._activation(lib.mpin_trust_get_activation_token, utf8(user_id), utf8(code))

    def get_activation_token_by_link(self, link: str) -> Activation:
        """Exchanges the link of a mail, or one from the project's back end, for an activation token."""
        return self._activation(lib.mpin_trust_get_activation_token_by_link, utf8(link))

    def _activation(self, function: Any, *arguments: bytes) -> Activation:
        found = sized(structures.TrustActivation)
        self._check(function(self._handle, ctypes.byref(found), *arguments))
        made = Activation(
            found.expire_time,
            found.project_id.decode(),
            found.user_id.decode(),
            found.access_id.decode(),
            found.activation_token.decode(),
        )
        ctypes.memset(ctypes.byref(found), 0, ctypes.sizeof(found))
        return made

    def start_registration(self, user_id: str, activation_token: str, push_token: str | None = None) -> User:
        """Registers this device and fetches the client secret. The token is used up.

        activation_token: from get_activation_token() or the project's back end, or a QuickCode; push_token: where push
        messages reach this device. Ask for a PIN of user.registration_pin_length digits
        next.

        Raises ActivationTokenInvalidError, ProjectMismatchError.
        """
        handle = ctypes.c_void_p()
        self._check(
            lib.mpin_trust_start_registration(
                self._handle, ctypes.byref(handle), utf8(user_id), utf8(activation_token), optional(push_token)
            )
        )
        return self._sdk._user(handle.value)

    def finish_registration(self, user: User, pin: Pin) -> None:
        """Makes the token from the client secret and the PIN, and stores it. State: -> REGISTERED.

        After PinInvalidError and PinInputCanceledError it can be called again.
        """
        with Secret(pin) as secret:
            self._check(lib.mpin_trust_finish_registration(self._handle, user._handle, secret))

    def register(
        self, user_id: str, activation_token: str, ask: Callable[[int], Pin], push_token: str | None = None
    ) -> User:
        """Registers in one call. ask: is called once with the number of digits and returns the PIN."""
        user = self.start_registration(user_id, activation_token, push_token)
        self.finish_registration(user, ask(user.registration_pin_length))
        return user

    # Logins

    def authenticate(self, user: User, pin: Pin) -> str:
        """Logs in to the application itself. Returns a JWT for its own server, which is valid for a short time.

        Raises IncorrectPinError (retry_at is the end of a temporary block), RevokedError.
        """
        size = ctypes.c_size_t(8192)
        jwt = ctypes.create_string_buffer(size.value)
        with Secret(pin) as secret:
            status = lib.mpin_trust_authenticate(self._handle, user._handle, jwt, ctypes.byref(size), secret)
        if status == BufferTooSmallError.code:  # The login has succeeded.
            return self._text(lib.mpin_trust_get_jwt, self._handle, user._handle)
        self._check(status)
        return jwt.value.decode("utf-8")

    def authenticate_with_qr_code(self, user: User, qr_code: str, pin: Pin) -> None:
        """Logs the browser in whose page shows a QR code. qr_code: the URL in it.

        Raises also SessionInvalidError.
        """
        with Secret(pin) as secret:
            self._check(
                lib.mpin_trust_authenticate_with_qr_code(self._handle, user._handle, utf8(qr_code), secret)
            )

    def authenticate_with_app_link(self, user: User, app_link: str, pin: Pin) -> None:
        """Logs the browser in that has opened the application on this device by a link."""
        with Secret(pin) as secret:
            self._check(
                lib.mpin_trust_authenticate_with_app_link(self._handle, user._handle, utf8(app_link), secret)
            )

    def authenticate_with_push_payload(self, payload: Mapping[str, object], pin: Pin) -> None:
        """Logs the browser in that has asked for it by a push message.

        payload: the message, with the members userID, qrURL and, if the service sends it, projectID.

        Raises also UserNotFoundError, ProjectMismatchError.
        """
        project, user, url = (payload.get(name) for name in ("projectID", "userID", "qrURL"))
        if not isinstance(user, str) or not isinstance(url, str) or not isinstance(project, (str, type(None))):
            raise InvalidArgumentError("a push message has the texts userID and qrURL")
        with Secret(pin) as secret:
            self._check(
                lib.mpin_trust_authenticate_with_push_payload(
                    self._handle, optional(project), utf8(user), utf8(url), secret
                )
            )

    def generate_quick_code(self, user: User, pin: Pin) -> QuickCode:
        """Logs in and gets a code that registers another device of the same user.

        Raises also OperationNotAllowedError.
        """
        found = sized(structures.TrustQuickCode)
        with Secret(pin) as secret:
            self._check(
                lib.mpin_trust_generate_quick_code(self._handle, user._handle, ctypes.byref(found), secret)
            )
        made = QuickCode(found.code.decode(), found.expire_time, found.ttl_seconds)
        ctypes.memset(ctypes.byref(found), 0, ctypes.sizeof(found))
        return made

    # Sessions of a browser

    def get_session_details(self, session_url: str) -> TrustSession:
        """Asks which session a QR code, an app link or a push message belongs to. Its page learns that a device has
        read the code. Raises SessionInvalidError."""
        found = sized(structures.TrustSession)
        self._check(lib.mpin_trust_get_session_details(self._handle, ctypes.byref(found), utf8(session_url)))
        return TrustSession(
            found.access_id.decode(),
            found.project_id.decode(),
            found.user_id.decode(),
            found.description.decode(),
            bytes(found.hash[: found.hash_len]),
            found.project_name.decode(),
            found.project_logo_url.decode(),
            found.pin_length,
            found.screen_address.decode(),
            found.screen_program.decode(),
            found.site_address.decode(),
        )

    def abort_session(self, session_url: str) -> None:
        """Tells the session's page that the user has declined."""
        self._check(lib.mpin_trust_abort_session(self._handle, utf8(session_url)))

    # Signatures

    def sign(self, user: User, hash: bytes, pin: Pin) -> Signature:
        """Signs a hash of 1 to 256 bytes now. The project's back end has the service verify it."""
        found = sized(structures.Signature)
        with Secret(pin) as secret:
            self._check(
                lib.mpin_trust_sign(
                    self._handle, user._handle, ctypes.byref(found), octet_array(hash), len(hash), secret
                )
            )
        return Signature(
            found.timestamp,
            bytes(found.u),
            bytes(found.v),
            bytes(found.public_key),
            found.mpin_id.decode(),
            found.dtas.decode(),
        )

    def sign_session(self, user: User, session_url: str, hash: bytes, pin: Pin) -> None:
        """Signs what a session's page asks for. hash: that of get_session_details(), to which the user has agreed."""
        with Secret(pin) as secret:
            self._check(
                lib.mpin_trust_sign_session(
                    self._handle, user._handle, utf8(session_url), octet_array(hash), len(hash), secret
                )
            )
