"""An identity at a backend, a customer and an application."""

from __future__ import annotations

import ctypes

from . import _structures as structures
from ._errors import InvalidHandleError
from ._handles import Calls, Closable, sized
from ._native import lib
from ._results import Expiration, State


class User(Closable):
    """An identity: a user id at a backend and, if the server has several, at a customer and an application.

    SDK.make_new_user, get_user and list_users make these objects; never make one directly.

    Closing it releases the handle; the user itself stays.
    """

    def __init__(self, sdk: Calls, handle: int) -> None:
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
    def customer_id(self) -> str:
        """The customer, as the server named it at registration, or as the program named it before; may be empty."""
        return self._sdk._text(lib.mpin_user_get_customer_id, self._handle)

    @property
    def app_id(self) -> str:
        """The customer's application, named in the same way; may be empty."""
        return self._sdk._text(lib.mpin_user_get_app_id, self._handle)

    @property
    def device_name(self) -> str:
        """The device name, as given to SDK.make_new_user; may be empty."""
        return self._sdk._text(lib.mpin_user_get_device_name, self._handle)

    @property
    def state(self) -> State:
        """The state of the user."""
        return State(self._sdk._number(lib.mpin_user_get_state, self._handle))

    @property
    def state_legacy(self) -> int:
        """The state with the numbers of the Milagro cores."""
        return self._sdk._number(lib.mpin_user_get_state_legacy, self._handle)

    @property
    def pin_length(self) -> int:
        """The number of digits of the user's PIN, 4 to 6; 0 if all of these are allowed."""
        return self._sdk._number(lib.mpin_user_get_pin_length, self._handle)

    @property
    def registration_pin_length(self) -> int:
        """The number of digits of the PIN to choose at the end of the registration that is under way, as pin_length."""
        return self._sdk._number(lib.mpin_user_get_registration_pin_length, self._handle)

    @property
    def verification_type(self) -> str:
        """How the server has verified the user id, such as "em" by mail; empty if it does not say."""
        return self._sdk._text(lib.mpin_user_get_verification_type, self._handle)

    @property
    def can_sign(self) -> bool:
        """Whether the user has a signing key."""
        return bool(self._sdk._number(lib.mpin_user_get_can_sign, self._handle))

    @property
    def is_registration_token_set(self) -> bool:
        """Whether the registration token is complete."""
        return bool(self._sdk._number(lib.mpin_user_is_registration_token_set, self._handle))

    @property
    def registration_expiration(self) -> Expiration:
        """When the registration ends; both times are 0 if the server does not send them."""
        found = sized(structures.Expiration)
        self._sdk._check(lib.mpin_user_get_registration_expiration(self._handle, ctypes.byref(found)))
        return Expiration(found.expire_time, found.now_time)

    def __repr__(self) -> str:
        try:
            return f"<mpin.User {self.id!r} at {self.backend!r}: {self.state.name}>"
        except InvalidHandleError:
            return "<mpin.User: closed>"
