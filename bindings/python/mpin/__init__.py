"""M-Pin: register once, then log in with a PIN that never leaves the device."""

from . import _errors, aio, crypto
from ._context import Context, HTTPRequest, HTTPResponse, LogLevel, Storage, StorageKind
from ._errors import *
from ._handles import Pin
from ._results import (
    OTP,
    Activation,
    Expiration,
    ImportFormat,
    LoginAnswer,
    QuickCode,
    ServiceDetails,
    SessionDetails,
    Signature,
    State,
    TrustSession,
    Verification,
    VerificationMail,
    VerificationMethod,
)
from ._signing import hash_document, verify_document
from ._trust import Trust
from ._user import User
from ._version import __version__
from .sdk import SDK, self_test, version
from .session import DeviceCode, Login, PinRequest, Profile, Provider, Session, SessionState

__all__ = [
    "__version__",
    "Activation",
    "aio",
    "Context",
    "crypto",
    "DeviceCode",
    "Expiration",
    "hash_document",
    "HTTPRequest",
    "HTTPResponse",
    "ImportFormat",
    "Login",
    "LoginAnswer",
    "LogLevel",
    "OTP",
    "Pin",
    "PinRequest",
    "Profile",
    "Provider",
    "QuickCode",
    "SDK",
    "self_test",
    "ServiceDetails",
    "Session",
    "SessionDetails",
    "SessionState",
    "Signature",
    "State",
    "Storage",
    "StorageKind",
    "Trust",
    "TrustSession",
    "User",
    "Verification",
    "VerificationMail",
    "VerificationMethod",
    "verify_document",
    "version",
]
__all__ += _errors.__all__
