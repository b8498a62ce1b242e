"""What calls answer with."""

from __future__ import annotations

import enum
from typing import NamedTuple


class State(enum.IntEnum):
    """How far a user has come."""

    INVALID = 0
    STARTED_VERIFICATION = 1
    STARTED_REGISTRATION = 2
    ACTIVATED = 3
    REGISTERED = 4
    BLOCKED = 5


class ImportFormat(enum.IntEnum):
    """Whose storage is imported."""

    MILAGRO = 1
    MFA = 2
    CLIENT_JS = 3


class ServiceDetails(NamedTuple):
    """A service that a web page offers to clients."""

    name: str
    backend_url: str
    rps_prefix: str
    logo_url: str


class Expiration(NamedTuple):
    """When a registration ends, in seconds since 1970 of the server's clock."""

    expire_time: int
    now_time: int


class Verification(NamedTuple):
    """What a verification gives; the activation token is for start_registration_mfa."""

    expire_time: int
    access_id: str
    activation_token: str


class OTP(NamedTuple):
    """A code that is good for a short time; times in seconds since 1970 of the server's clock, 0 where it left them out."""

    otp: str
    ttl_seconds: int
    expire_time: int
    now_time: int


class SessionDetails(NamedTuple):
    """Who asks for a login. What the server does not say is empty."""

    register_only: bool
    preroll_id: str
    app_name: str
    app_icon_url: str
    customer_id: str
    customer_name: str
    customer_icon_url: str
    client_id: str
    redirect_uri: str


class Signature(NamedTuple):
    """What the verifier needs beside the hash: seconds since 1970, G1 points, a G2 point, hex, base64."""

    timestamp: int
    u: bytes
    v: bytes
    public_key: bytes
    mpin_id: str
    dtas: str
