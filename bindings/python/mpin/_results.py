"""The results of calls."""

from __future__ import annotations

import dataclasses
import enum
import json
from collections.abc import Iterator
from typing import Any, ClassVar, SupportsIndex, TypeVar, overload

_Self = TypeVar("_Self", bound="Answer")


class State(enum.IntEnum):
    """The state of a user."""

    INVALID = 0
    STARTED_VERIFICATION = 1
    STARTED_REGISTRATION = 2
    ACTIVATED = 3
    REGISTERED = 4
    BLOCKED = 5
    #: Only users of MIRACL Trust projects.
    REVOKED = 6

    def __str__(self) -> str:
        return self.name

    def __format__(self, spec: str) -> str:
        """The name of the value; its number for a numeric format, such as "d"."""
        return format(int(self) if spec[-1:] in tuple("bcdeEfFgGnoxX%") else self.name, spec)


class Answer:
    """The base of the dataclasses below. Their objects also behave as tuples of their fields, so they can be unpacked.

    dataclasses.asdict() makes a dict of such an object.
    """

    _fields: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        cls._fields = tuple(cls.__annotations__)

    def _asdict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._fields}

    def _replace(self: _Self, **changes: Any) -> _Self:
        return dataclasses.replace(self, **changes)

    def __iter__(self) -> Iterator[Any]:
        return (getattr(self, name) for name in self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __getitem__(self, index: Any) -> Any:
        return tuple(self)[index]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, tuple):
            return tuple(self) == other
        if isinstance(other, Answer):
            return type(self) is type(other) and tuple(self) == tuple(other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))


class LoginAnswer(str):
    """The application's answer to a login: its JSON text and the members of the text.

    The members are answer["userId"], answer.get("userId") and answer.data, a dict. If the text is not a JSON object, it
    has no members.
    """

    @property
    def data(self) -> dict[str, Any]:
        """The members; empty if the text is not a JSON object."""
        try:
            found = json.loads(self)
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a member, or the default if there is none."""
        return self.data.get(name, default)

    @overload
    def __getitem__(self, key: SupportsIndex | slice) -> str: ...

    @overload
    def __getitem__(self, key: str) -> Any: ...

    def __getitem__(self, key: SupportsIndex | slice | str) -> Any:
        return self.data[key] if isinstance(key, str) else super().__getitem__(key)


class ImportFormat(enum.IntEnum):
    """The client whose storage is imported."""

    MILAGRO = 1
    MFA = 2
    CLIENT_JS = 3


@dataclasses.dataclass(frozen=True, eq=False)
class ServiceDetails(Answer):
    """A service that a web page offers to clients."""

    name: str
    backend_url: str
    rps_prefix: str
    logo_url: str


@dataclasses.dataclass(frozen=True, eq=False)
class Expiration(Answer):
    """When a registration ends, in seconds since 1970 on the server's clock."""

    expire_time: int
    now_time: int


@dataclasses.dataclass(frozen=True, eq=False)
class Verification(Answer):
    """The result of a verification. The activation token is for start_registration_mfa."""

    expire_time: int
    access_id: str
    activation_token: str


@dataclasses.dataclass(frozen=True, eq=False)
class OTP(Answer):
    """A code that is valid for a short time.

    Times are in seconds since 1970 on the server's clock, and 0 if the server does not send them.
    """

    otp: str
    ttl_seconds: int
    expire_time: int
    now_time: int


@dataclasses.dataclass(frozen=True, eq=False)
class SessionDetails(Answer):
    """The browser session that asks for a login. Texts that the server does not send are empty.

    screen_address, screen_program: the IP address of the screen that shows the code, as the server saw it, and the browser that
    it says to be. If they are empty, it may be anybody's screen: let the user confirm once more before the PIN. site_address:
    that of the server or program that has opened the session in the place of the screen.
    """

    register_only: bool
    preroll_id: str
    app_name: str
    app_icon_url: str
    customer_id: str
    customer_name: str
    customer_icon_url: str
    client_id: str
    redirect_uri: str
    screen_address: str = ""
    screen_program: str = ""
    site_address: str = ""


@dataclasses.dataclass(frozen=True, eq=False)
class Signature(Answer):
    """A signature for a designated verifier, with all values that the verifier needs besides the hash.

    timestamp: the time that was signed, in seconds since 1970; u, v: the signature, two G1 points of 65 bytes;
    public_key: a G2 point of 128 bytes; mpin_id: the M-Pin ID in hex; dtas: the names of the D-TAs in base64.
    """

    timestamp: int
    u: bytes
    v: bytes
    public_key: bytes
    mpin_id: str
    dtas: str


class VerificationMethod(enum.IntEnum):
    """What a mail of a MIRACL Trust project contains."""

    LINK = 0
    CODE = 1


@dataclasses.dataclass(frozen=True, eq=False)
class VerificationMail(Answer):
    """A mail that is on its way. backoff: seconds since 1970 before which another mail is refused."""

    backoff: int
    method: VerificationMethod


@dataclasses.dataclass(frozen=True, eq=False)
class Activation(Answer):
    """The permission to register a device for a verified user id.

    expire_time: of the token, in seconds since 1970; 0 if the server does not say; access_id: the browser's session
    that asked for the verification, may be empty.
    """

    expire_time: int
    project_id: str
    user_id: str
    access_id: str
    activation_token: str


@dataclasses.dataclass(frozen=True, eq=False)
class TrustSession(Answer):
    """A page that waits for a login or a signature. Texts that the server does not send are empty.

    access_id: the part of the session's URL after the last '#'; user_id: the user id that the page suggests;
    description: what the login or signature is for, to be shown before the PIN is asked for; hash: what is to be signed,
    empty if the session is for a login; pin_length: 0 if the server does not say; screen_address, screen_program,
    site_address: as in SessionDetails.
    """

    access_id: str
    project_id: str
    user_id: str
    description: str
    hash: bytes
    project_name: str
    project_logo_url: str
    pin_length: int
    screen_address: str = ""
    screen_program: str = ""
    site_address: str = ""


@dataclasses.dataclass(frozen=True, eq=False)
class QuickCode(Answer):
    """A code that registers another device of the same user. expire_time: in seconds since 1970."""

    code: str
    expire_time: int
    ttl_seconds: int
