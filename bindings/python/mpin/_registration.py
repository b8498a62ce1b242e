"""How a user gets a token, and how the token changes."""

from __future__ import annotations

import ctypes

from . import _structures as structures
from ._handles import Calls, Pin, Secret, optional, sized, utf8
from ._native import lib
from ._results import Verification
from ._user import User


class Registration(Calls):
    """Verification, registration, factors and changes of the PIN."""

    def start_verification(self, user: User, client_id: str, access_code: str | None = None) -> None:
        """Asks the server to mail a code that verifies the user id. State: INVALID -> STARTED_VERIFICATION."""
        self._check(
            lib.mpin_sdk_start_verification(self._handle, user._handle, utf8(client_id), optional(access_code))
        )

    def finish_verification(self, user: User, code: str) -> Verification:
        """Sends the code that the mail contains."""
        found = sized(structures.Verification)
        self._check(
            lib.mpin_sdk_finish_verification(self._handle, user._handle, ctypes.byref(found), utf8(code))
        )
        return Verification(found.expire_time, found.access_id.decode(), found.activation_token.decode())

    def start_registration(self, user: User, activate_code: str | None = None, user_data: str | None = None) -> None:
        """Asks a Milagro server for a registration. The server then mails a link to the user.

        State: INVALID -> STARTED_REGISTRATION, or ACTIVATED if the server needs no confirmation.
        """
        self._check(
            lib.mpin_sdk_start_registration(self._handle, user._handle, optional(activate_code), optional(user_data))
        )

    def start_registration_mfa(
        self,
        user: User,
        access_code: str | None = None,
        activate_code: str | None = None,
        push_id: str | None = None,
    ) -> None:
        """Asks a MIRACL MFA server for a registration; activate_code is a registration code or an activation token."""
        self._check(
            lib.mpin_sdk_start_registration_mfa(
                self._handle, user._handle, optional(access_code), optional(activate_code), optional(push_id)
            )
        )

    def set_registration_token(self, user: User, token: str) -> None:
        """Completes the registration token with `token`, the part of it in the link that the user opens."""
        self._check(lib.mpin_sdk_set_registration_token(self._handle, user._handle, utf8(token)))

    def restart_registration(self, user: User, user_data: str | None = None) -> None:
        """Asks the server to mail the link again, for the same registration."""
        self._check(lib.mpin_sdk_restart_registration(self._handle, user._handle, optional(user_data)))

    def confirm_registration(self, user: User, push_id: str | None = None) -> None:
        """Fetches the client secret. Raises IdentityNotVerifiedError until the user has opened the link."""
        self._check(lib.mpin_sdk_confirm_registration(self._handle, user._handle, optional(push_id)))

    def finish_registration(self, user: User, pin: Pin) -> None:
        """Makes the token from the client secret and the PIN, and stores it. State: -> REGISTERED."""
        with Secret(pin) as secret:
            self._check(lib.mpin_sdk_finish_registration(self._handle, user._handle, secret))

    def add_factor(self, user: User, factor: Pin) -> None:
        """Adds a further factor, such as a second PIN, for the next call of this user that takes a PIN."""
        with Secret(factor) as secret:
            self._check(lib.mpin_sdk_add_factor(self._handle, user._handle, secret))

    def change_pin(self, user: User, old_pin: Pin, new_pin: Pin) -> None:
        """Replaces the PIN without the server. Possible only directly after a successful login with the old PIN."""
        with Secret(old_pin) as old, Secret(new_pin) as new:
            self._check(lib.mpin_sdk_change_pin(self._handle, user._handle, old, new))
