"""Logins, here and in a browser."""

from __future__ import annotations

import ctypes
from typing import Any

from . import _structures as structures
from ._errors import FlowError
from ._handles import Calls, Pin, Secret, optional, sized, utf8
from ._native import lib
from ._results import OTP, LoginAnswer, SessionDetails
from ._user import User

#: A size in bytes that is larger than every authorization code. With a small buffer, the login must be repeated.
_LONGEST_CODE = 1 << 16


class Authentication(Calls):
    """Logins, one-time codes, and browser sessions."""

    def start_authentication(self, user: User) -> None:
        """Fetches today's time permit, if the backend uses time permits.

        A blocked user may try again. Once the operator has unblocked the user, the login works.
        """
        self._check(lib.mpin_sdk_start_authentication(self._handle, user._handle))

    def finish_authentication(self, user: User, pin: Pin) -> LoginAnswer:
        """Proves PIN and token to the server.

        Returns: the answer of the application, a JSON text whose members can be read by name. After
        IncorrectPinError check user.state, because the server may have blocked the user. The token is kept, so that
        logins work again once the operator has unblocked the user.
        """
        with Secret(pin) as secret:
            self._check(lib.mpin_sdk_finish_authentication(self._handle, user._handle, None, None, secret))
        return self.get_auth_data(user)

    def get_auth_data(self, user: User) -> LoginAnswer:
        """The answer of the application to the last login of this user; empty before the first login."""
        return LoginAnswer(self._text(lib.mpin_sdk_get_auth_data, self._handle, user._handle))

    def start_authentication_mfa(self, user: User, access_code: str) -> None:
        """Like start_authentication, for a browser's session. Tells the browser's page first which user logs in."""
        self._check(lib.mpin_sdk_start_authentication_mfa(self._handle, user._handle, utf8(access_code)))

    def check_access_number(self, access_number: str) -> None:
        """Checks the check digit of an access number, if the backend's access numbers have one. Sends nothing."""
        self._check(lib.mpin_sdk_check_access_number(self._handle, utf8(access_number)))

    def finish_authentication_an(self, user: User, pin: Pin, access_number: str) -> None:
        """Logs in a browser. access_number: the number that it shows, or the part after '#' of its QR code's URL."""
        with Secret(pin) as secret:
            self._check(
                lib.mpin_sdk_finish_authentication_an(self._handle, user._handle, secret, utf8(access_number))
            )

    def finish_authentication_mfa(self, user: User, pin: Pin, access_code: str | None = None) -> str:
        """Logs in and gets an authorization code for the application's own server."""
        code = ctypes.create_string_buffer(_LONGEST_CODE)
        size = ctypes.c_size_t(_LONGEST_CODE)
        with Secret(pin) as secret:
            self._check(
                lib.mpin_sdk_finish_authentication_mfa(
                    self._handle, user._handle, code, ctypes.byref(size), secret, optional(access_code)
                )
            )
        return code.value.decode("utf-8")

    def start_authentication_otp(self, user: User) -> None:
        """Like start_authentication, for a one-time password."""
        self._check(lib.mpin_sdk_start_authentication_otp(self._handle, user._handle))

    def finish_authentication_otp(self, user: User, pin: Pin) -> OTP:
        """Logs in and gets a one-time password. Raises FlowError if the login succeeded but there is no password."""
        return self._code(lib.mpin_sdk_finish_authentication_otp, user, pin)

    def start_authentication_reg_code(self, user: User) -> None:
        """Like start_authentication, for a registration code."""
        self._check(lib.mpin_sdk_start_authentication_reg_code(self._handle, user._handle))

    def finish_authentication_reg_code(self, user: User, pin: Pin) -> OTP:
        """Logs in and gets a code that registers another device of the same user."""
        return self._code(lib.mpin_sdk_finish_authentication_reg_code, user, pin)

    def _code(self, function: Any, user: User, pin: Pin) -> OTP:
        found = sized(structures.OTP)
        with Secret(pin) as secret:
            self._check(function(self._handle, user._handle, ctypes.byref(found), secret))
        if not found.otp:
            raise FlowError("the login succeeded, but the server issued no code")
        return OTP(found.otp.decode("utf-8"), found.ttl_seconds, found.expire_time, found.now_time)

    def can_logout(self, user: User) -> bool:
        """Whether the session of the last login can be ended from here."""
        return bool(self._number(lib.mpin_sdk_can_logout, self._handle, user._handle))

    def logout(self, user: User) -> None:
        """Ends the session of the last login. It works only once for each login."""
        self._check(lib.mpin_sdk_logout(self._handle, user._handle))

    def get_session_details(self, access_code: str) -> SessionDetails:
        """Asks which browser session shows this code. The page learns that a device has read the code."""
        found = sized(structures.SessionDetails)
        self._check(lib.mpin_sdk_get_session_details(self._handle, ctypes.byref(found), utf8(access_code)))
        texts = [getattr(found, name).decode("utf-8") for name in SessionDetails._fields[1:]]
        return SessionDetails(bool(found.register_only), *texts)

    def abort_session(self, access_code: str) -> None:
        """Tells the page that shows this code that the user has declined the login."""
        self._check(lib.mpin_sdk_abort_session(self._handle, utf8(access_code)))

    def get_access_code(self, authz_url: str) -> str:
        """Opens a browser's session at the endpoint authz_url, for a login on this device. Returns its access code."""
        return self._text(lib.mpin_sdk_get_access_code, self._handle, after=(utf8(authz_url),))
