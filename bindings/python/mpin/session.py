"""What an app has after a login: tokens that are renewed as they are used, and a profile of the user."""

from __future__ import annotations

import ctypes
import enum
import os
import threading
from dataclasses import dataclass, field
from typing import Any, Callable

from . import _auth
from . import _structures as structures
from ._errors import InvalidArgumentError
from ._handles import Calls, Pin, Secret, optional, path_octets, utf8
from ._native import lib
from .sdk import SDK

_FAILED = 1


class SessionState(enum.IntEnum):
    """What a session is in."""

    #: Nobody is logged in.
    SIGNED_OUT = 0
    #: A login is under way in this process.
    SIGNING_IN = 1
    #: Somebody is logged in. If the access token has expired, it can be renewed.
    SIGNED_IN = 2
    #: The access token has expired, and there is no refresh token.
    EXPIRED = 3
    #: The provider has ended the session. The profile is still there.
    REVOKED = 4


class Login(enum.IntEnum):
    """How a user logs in at a provider."""

    #: With a PIN in the app; the provider is mpind.
    PIN = 0
    #: In the system's browser.
    BROWSER = 1
    #: In the browser of another device, by a short code.
    DEVICE_CODE = 2


@dataclass(frozen=True)
class PinRequest:
    """A question for a PIN. `attempts_left`: how many more wrong PINs the server accepts; None if it does not say."""

    provider: str
    user_id: str
    attempts_left: int | None


@dataclass(frozen=True)
class DeviceCode:
    """What a device without a browser shows: the code, and the URL at which the user types it."""

    user_code: str
    url: str
    #: The URL with the code in it, for a QR code; may be empty.
    complete_url: str
    expires_in: int


@dataclass(frozen=True)
class Profile:
    """What the provider says about the user. Each text is empty if it does not say it."""

    sub: str
    name: str
    email: str
    email_verified: str
    picture: str
    updated_at: str


@dataclass(frozen=True)
class Provider:
    """A provider. An OpenID provider has an `issuer`; any other one has the endpoints."""

    name: str
    client_id: str
    issuer: str | None = None
    login: Login = Login.PIN
    client_secret: str | None = field(default=None, repr=False)
    #: The library listens at the host of a loopback URI, which gets a free port unless it names one. With any other URI
    #: the app calls Session.resume().
    redirect_uri: str | None = None
    #: By default "openid profile email offline_access".
    scope: str | None = None
    #: The origins of the APIs that may get the access token: ["https://api.example.com"].
    origins: list[str] = field(default_factory=list)
    #: Whether an answer 401 of an API ends the session instead of renewing the tokens.
    ends_on_401: bool = False
    authorization_endpoint: str | None = None
    token_endpoint: str | None = None
    userinfo_endpoint: str | None = None
    revocation_endpoint: str | None = None
    device_endpoint: str | None = None
    #: The provider's names of claims: {"sub": "id"}.
    claim_names: dict[str, str] = field(default_factory=dict)


class Session(Calls):
    """The session of an app, which is stored in a file and shared by all processes that open it.

    Several threads may use it. If the access token must be renewed, one of them does it, and the others wait.
    """

    _read_last_error = staticmethod(lib.mpin_session_get_last_error)

    def __init__(
        self,
        sdk: SDK,
        path: str | os.PathLike[str] | None = None,
        *,
        ask_pin: Callable[[PinRequest], Pin | None] | None = None,
        open_browser: Callable[[str], bool] | None = None,
        show_code: Callable[[DeviceCode], None] | None = None,
        on_event: Callable[[SessionState, str], None] | None = None,
        login_timeout: float = 300.0,
        renews: bool = True,
    ) -> None:
        """Opens the session that is stored at `path`, by default the path of the sdk's store followed by ".session".
        With an empty path nothing is stored: the session is in memory, and ends with this object.

        ask_pin: asks the user for the PIN; None means that the user has cancelled.
        open_browser: opens the system's browser at a URL and returns whether it could, such as webbrowser.open.
        show_code: shows the code of a login by device code.
        on_event: is told of each new state, with the provider's name.
        login_timeout: how long a login in a browser may take, in seconds.
        renews: False for a part of an app that may be ended at any time: another process renews the tokens, and calls that
        would do so raise RenewFailedError.

        A function that is None makes the logins that need it impossible. The functions run in the thread of the call
        and must not call the same sdk.
        """
        self._free = lib.mpin_session_free
        self._failures = threading.local()
        if not 0.001 <= login_timeout < 2**32 / 1000:
            raise InvalidArgumentError("login_timeout")
        # The session uses the callbacks of the sdk, so the sdk must live as long.
        self._sdk = sdk
        self._config = structures.SessionConfig(
            size=ctypes.sizeof(structures.SessionConfig),
            path=None if path is None else path_octets(path),
            login_timeout_ms=int(login_timeout * 1000),
            never_renews=not renews,
        )
        if ask_pin:
            self._config.ask_pin = structures.AskPin(self._ask_pin(ask_pin))
        if open_browser:
            self._config.open_browser = structures.OpenBrowser(self._open_browser(open_browser))
        if show_code:
            self._config.show_code = structures.ShowCode(self._show_code(show_code))
        if on_event:
            self._config.event = structures.SessionEvent(self._event(on_event))
        handle = ctypes.c_void_p()
        sdk._check(lib.mpin_session_new(sdk._handle, ctypes.byref(handle), ctypes.byref(self._config)))
        self._handle = handle.value

    def _attempts_left(self) -> int | None:
        return None

    def _failure(self) -> BaseException | None:
        failure: BaseException | None = getattr(self._failures, "last", None)
        self._failures.last = None
        return failure

    def _ask_pin(self, ask: Callable[[PinRequest], Pin | None]) -> Callable[[Any, Any, Any], int]:
        def call(_: Any, request: Any, out: Any) -> int:
            try:
                asked = request.contents
                left = asked.attempts_left
                pin = ask(PinRequest(asked.provider.decode(), asked.user_id.decode(), None if left < 0 else left))
                if not pin:
                    return _FAILED
                with Secret(pin) as text:
                    if len(text) > _PIN_BUFFER_SIZE:
                        raise InvalidArgumentError("the PIN is too long")
                    ctypes.memmove(out, text, len(text))
                return 0
            except BaseException as error:
                self._failures.last = error
                return _FAILED

        return call

    def _open_browser(self, open_url: Callable[[str], bool]) -> Callable[[Any, bytes], int]:
        def call(_: Any, url: bytes) -> int:
            try:
                return 0 if open_url(url.decode()) else _FAILED
            except BaseException as error:
                self._failures.last = error
                return _FAILED

        return call

    def _show_code(self, show: Callable[[DeviceCode], None]) -> Callable[[Any, Any], None]:
        def call(_: Any, code: Any) -> None:
            try:
                shown = code.contents
                complete_url = shown.complete_url.decode()
                show(DeviceCode(shown.user_code.decode(), shown.url.decode(), complete_url, shown.expires_in))
            except BaseException as error:
                self._failures.last = error

        return call

    def _event(self, tell: Callable[[SessionState, str], None]) -> Callable[[Any, int, bytes], None]:
        def call(_: Any, state: int, provider: bytes) -> None:
            try:
                tell(SessionState(state), provider.decode())
            except BaseException as error:
                self._failures.last = error

        return call

    def add_provider(self, provider: Provider) -> None:
        """Adds a provider, or replaces the one of the same name."""
        texts = {
            name: optional(getattr(provider, name))
            for name, kind in structures.Provider._fields_
            if kind is ctypes.c_char_p and name not in ("origins", "claim_names")
        }
        names = " ".join(f"{ours}={theirs}" for ours, theirs in provider.claim_names.items())
        described = structures.Provider(
            size=ctypes.sizeof(structures.Provider),
            login=provider.login,
            ends_on_401=provider.ends_on_401,
            origins=utf8(" ".join(provider.origins)),
            claim_names=utf8(names),
            **texts,
        )
        self._check(lib.mpin_session_add_provider(self._handle, ctypes.byref(described)))

    def login(self, provider: str, user_id: str | None = None) -> None:
        """Logs a user in. The new session replaces the one before.

        user_id: for a login by PIN, a registered user of the sdk; else a hint for the provider's page.
        """
        self._check(lib.mpin_session_login(self._handle, utf8(provider), optional(user_id)))

    def resume(self, url: str) -> None:
        """Passes the URL on at which the provider's answer has reached the app, while another thread is in login()."""
        self._check(lib.mpin_session_resume(self._handle, utf8(url)))

    def logout(self, everywhere: bool = False) -> None:
        """Logs the user out, and has the provider revoke the tokens, later if it cannot be reached.

        everywhere: also ends the session at the provider that the login has begun.
        """
        self._check(lib.mpin_session_logout(self._handle, everywhere))

    def cancel(self) -> None:
        """Ends the running calls of other threads, which raise CanceledError."""
        self._check(lib.mpin_session_cancel(self._handle))

    @property
    def state(self) -> SessionState:
        """What the session is in."""
        return SessionState(self._number(lib.mpin_session_get_state, self._handle))

    @property
    def last_provider(self) -> str:
        """The provider of the last login, also after a logout; "" if there was none."""
        return self._text(lib.mpin_session_get_last_provider, self._handle)

    @property
    def profile(self) -> Profile:
        """What the provider says about the user."""
        claims = (name.encode() for name in Profile.__dataclass_fields__)
        return Profile(*(self._text(lib.mpin_session_get_claim, self._handle, after=(name,)) for name in claims))

    def access_token(self, scope: str | None = None, min_ttl: int = 60, may_interact: bool = False) -> str:
        """The access token, valid for `min_ttl` more seconds. If need be, the tokens are renewed first.

        may_interact: whether the user may be asked for the PIN, when the provider has ended the session.

        Raises: NoCredentialsError, LoginRequiredError, NoRefreshTokenError, RenewFailedError, LargeMinTTLError,
            NetworkError; after a NetworkError the user is still logged in.
        """
        after = (optional(scope), min_ttl, may_interact)
        return self._text(lib.mpin_session_get_access_token, self._handle, after=after)

    @property
    def id_token(self) -> str:
        """The ID token of the last login or renewal; "" if there is none. It is not for APIs."""
        return self._text(lib.mpin_session_get_id_token, self._handle)

    @property
    def scope(self) -> str:
        """The scopes of the access token, separated by spaces."""
        return self._text(lib.mpin_session_get_scope, self._handle)

    @property
    def expiry(self) -> int:
        """When the access token expires, in seconds since 1970; 0 if the provider does not say."""
        number = ctypes.c_int64()
        self._check(lib.mpin_session_get_expiry(self._handle, ctypes.byref(number)))
        return number.value

    def has_valid(self, min_ttl: int = 0) -> bool:
        """Whether the access token is valid for `min_ttl` more seconds."""
        return bool(self._number(lib.mpin_session_has_valid, self._handle, after=(min_ttl,)))

    @property
    def can_renew(self) -> bool:
        """Whether there is a refresh token."""
        return bool(self._number(lib.mpin_session_can_renew, self._handle))

    def renew(self) -> None:
        """Renews the tokens, also if they are valid."""
        self._check(lib.mpin_session_renew(self._handle))

    def revoke(self) -> None:
        """Has the provider revoke the tokens, and ends the session. If that fails, the session stays."""
        self._check(lib.mpin_session_revoke(self._handle))

    def clear(self) -> None:
        """Ends the session here, and tells nobody."""
        self._check(lib.mpin_session_clear(self._handle))

    def authorization(self, url: str, rejected: str | None = None, may_interact: bool = False) -> str:
        """The value of the header Authorization for a request to an API, whose origin the provider must name.

        rejected: the value that the API has answered with 401: send the request again, once, with the new value.
        """
        after = (utf8(url), optional(rejected), may_interact)
        return self._text(lib.mpin_session_authorize, self._handle, after=after)

    def requests_auth(self, may_interact: bool = False) -> _auth.RequestsAuth:
        """The argument `auth` for the package requests: adds the token, and renews it once if the API answers 401."""
        return _auth.RequestsAuth(self, may_interact)

    def httpx_auth(self, may_interact: bool = False) -> Any:
        """The argument `auth` for httpx, for its blocking and its asynchronous client, as requests_auth()."""
        return _auth.httpx_auth(self, may_interact)

    def handover(self, audience: str | None = None, scope: str | None = None) -> str:
        """A new access token to pass on to a smaller app, for one service and some of the scopes. It cannot be renewed."""
        size = ctypes.c_size_t(1 << 16)
        text = ctypes.create_string_buffer(size.value)
        self._check(
            lib.mpin_session_handover(self._handle, text, ctypes.byref(size), optional(audience), optional(scope))
        )
        return text.value.decode("utf-8")


#: The size of the buffer for a PIN, MPIN_PIN_BUFFER_SIZE of mpin.h.
_PIN_BUFFER_SIZE = 64
