"""One exception for each status of the library. MPinError is their base class.

The exceptions for wrong arguments are ValueErrors, too.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["MPinError"]
# Written by Sources/Packaging/statuses.py.
__all__ += [
    "PinInputCanceledError", "CryptoError", "StorageError", "NetworkError", "ResponseParseError", "FlowError",
    "IdentityNotAuthorizedError", "IdentityNotVerifiedError", "RequestExpiredError", "RevokedError",
    "IncorrectPinError", "IncorrectAccessNumberError", "HTTPServerError", "HTTPRequestError", "BadUserAgentError",
    "ClientSecretExpiredError", "BadClientVersionError", "UntrustedDomainError", "RegistrationExpiredError",
    "OperationNotAllowedError", "VerificationFailedError", "InvalidHandleError", "InvalidArgumentError",
    "BufferTooSmallError", "CanceledError", "TimedOutError", "PinInvalidError", "UnsupportedFormatError",
    "TooManyRequestsError", "RandomFailedError", "RequestBackoffError", "ActivationTokenInvalidError",
    "ProjectMismatchError", "UnsupportedCurveError", "SessionInvalidError", "UserNotFoundError", "NoCredentialsError",
    "NoRefreshTokenError", "RenewFailedError", "ExchangeFailedError", "RevokeFailedError", "LargeMinTTLError",
    "LoginRequiredError", "InteractionNotAllowedError", "ProviderUnknownError", "LoginRefusedError",
    "TokenInvalidError", "ForkedError", "WrongParameterError", "InvalidPointError", "WrongOrderError", "BadPinError",
    "CryptoRandomFailedError", "CryptoBufferTooSmallError", "CryptoInvalidHandleError",
]

#: The exception of each code except OK.
BY_CODE: dict[int, type[MPinError]] = {}


class ErrorDetails(NamedTuple):
    """The library's description of a failure."""

    text: str = ""
    http_status: int | None = None
    retry_after: int | None = None
    server_error: str = ""
    request_id: str = ""
    attempts_left: int | None = None
    retry_at: int | None = None
    error_code: str = ""
    project_id: str = ""
    access_id: str = ""


class MPinError(Exception):
    """A call of the library failed."""

    #: The number of the status in mpin.h or mpin_crypto.h.
    code: int = -1
    #: The name of the status without its prefix, such as "INCORRECT_PIN".
    status: str = "UNKNOWN"
    #: The HTTP status; None if no server has answered.
    http_status: int | None = None
    #: How many seconds the server asks to wait; None if it does not ask.
    retry_after: int | None = None
    #: The server's error text; may be empty.
    server_error: str = ""
    #: The server's id of the request; may be empty.
    request_id: str = ""
    #: After a wrong PIN: how many more wrong PINs the server accepts before it blocks the user; None if it does not
    #: say.
    attempts_left: int | None = None
    #: At a MIRACL Trust project: when another mail may be requested, or when a temporary block ends, in seconds since
    #: 1970; None if the server does not say.
    retry_at: int | None = None
    #: At a MIRACL Trust project: the server's name of the error, such as "REQUEST_BACKOFF"; may be empty.
    error_code: str = ""
    #: After a refused verification: the project that asked for it, and its browser session; may be empty.
    project_id: str = ""
    access_id: str = ""

    def __init_subclass__(cls, code: int | None = None, status: str = "") -> None:
        if code is not None:
            cls.code, cls.status = code, status
            BY_CODE[code] = cls

    def __init__(self, message: str = "") -> None:
        super().__init__(f"{self.status}: {message}" if message else self.status)


# Written by Sources/Packaging/statuses.py.


class PinInputCanceledError(MPinError, code=1, status="PIN_INPUT_CANCELED"):
    """The PIN is empty: the user cancelled."""


class CryptoError(MPinError, code=2, status="CRYPTO_ERROR"):
    """A cryptographic operation refused its input, or the user has no token."""


class StorageError(MPinError, code=3, status="STORAGE_ERROR"):
    """The store could not be read or written, or a record in it is damaged."""


class NetworkError(MPinError, code=4, status="NETWORK_ERROR"):
    """There was no HTTP answer, or it was a redirect."""


class ResponseParseError(MPinError, code=5, status="RESPONSE_PARSE_ERROR"):
    """The answer is not JSON or lacks a member."""


class FlowError(MPinError, code=6, status="FLOW_ERROR"):
    """The call came in the wrong order, the user is in the wrong state, or no backend is set."""


class IdentityNotAuthorizedError(MPinError, code=7, status="IDENTITY_NOT_AUTHORIZED"):
    """The server does not accept this identity (HTTP 403)."""


class IdentityNotVerifiedError(MPinError, code=8, status="IDENTITY_NOT_VERIFIED"):
    """The identity is not confirmed yet, or its registration has ended."""


class RequestExpiredError(MPinError, code=9, status="REQUEST_EXPIRED"):
    """The request came too late (HTTP 408)."""


class RevokedError(MPinError, code=10, status="REVOKED"):
    """The identity is suspended: it gets no time permit (HTTP 410). At a MIRACL Trust project: the server no longer
    accepts the identity, and its state is REVOKED."""


class IncorrectPinError(MPinError, code=11, status="INCORRECT_PIN"):
    """The PIN is wrong. The user may be BLOCKED now: see User.state. The token is kept. Once the operator has unblocked
    the user, logins work again."""


class IncorrectAccessNumberError(MPinError, code=12, status="INCORRECT_ACCESS_NUMBER"):
    """The check digit of the access number is wrong (nothing was sent), or no browser session has this number (HTTP
    412)."""


class HTTPServerError(MPinError, code=13, status="HTTP_SERVER_ERROR"):
    """An HTTP status 5xx for which there is no other code."""


class HTTPRequestError(MPinError, code=14, status="HTTP_REQUEST_ERROR"):
    """An HTTP status 4xx for which there is no other code."""


class BadUserAgentError(MPinError, code=15, status="BAD_USER_AGENT"):
    """The server refuses this client's User-Agent (HTTP 406)."""


class ClientSecretExpiredError(MPinError, code=16, status="CLIENT_SECRET_EXPIRED"):
    """The master secret was changed, or the server has lost the registration with its database. The user must register
    again (HTTP 409)."""


class BadClientVersionError(MPinError, code=17, status="BAD_CLIENT_VERSION"):
    """The service does not support this client's version (HTTP 412)."""


class UntrustedDomainError(MPinError, ValueError, code=18, status="UNTRUSTED_DOMAIN_ERROR"):
    """The URL is plain http to a host other than this machine, or neither http nor https; or its host is not in the
    list of trusted domains, or is in a network where requests may not go. Nothing was sent."""


class RegistrationExpiredError(MPinError, code=19, status="REGISTRATION_EXPIRED"):
    """The server no longer knows the registration or its code (HTTP 404)."""


class OperationNotAllowedError(MPinError, code=20, status="OPERATION_NOT_ALLOWED"):
    """The identity was made from a registration code and asks for another one, which is not allowed."""


class VerificationFailedError(MPinError, code=21, status="VERIFICATION_FAILED"):
    """The server refused to verify the user id."""


class InvalidHandleError(MPinError, ValueError, code=32, status="INVALID_HANDLE"):
    """The object is closed."""


class InvalidArgumentError(MPinError, ValueError, code=33, status="INVALID_ARGUMENT"):
    """An argument is malformed."""


class BufferTooSmallError(MPinError, ValueError, code=34, status="BUFFER_TOO_SMALL"):
    """The caller's buffer is too small."""


class CanceledError(MPinError, code=35, status="CANCELED"):
    """The call was ended by cancel()."""


class TimedOutError(MPinError, TimeoutError, code=36, status="TIMED_OUT"):
    """The call took longer than its time limit."""


class PinInvalidError(MPinError, ValueError, code=37, status="PIN_INVALID"):
    """The PIN is not 4 to 6 decimal digits. Nothing was sent."""


class UnsupportedFormatError(MPinError, code=38, status="UNSUPPORTED_FORMAT"):
    """The store was written by a newer version. Nothing was changed."""


class TooManyRequestsError(MPinError, code=39, status="TOO_MANY_REQUESTS"):
    """The server asks to wait (HTTP 429); retry_after says how long."""


class RandomFailedError(MPinError, code=40, status="RANDOM_FAILED"):
    """The random generator of the system failed."""


class RequestBackoffError(MPinError, code=41, status="REQUEST_BACKOFF"):
    """The server sends this user another mail only later; retry_at says when."""


class ActivationTokenInvalidError(MPinError, code=42, status="ACTIVATION_TOKEN_INVALID"):
    """The activation token or QuickCode is wrong, used or expired."""


class ProjectMismatchError(MPinError, code=43, status="PROJECT_MISMATCH"):
    """The answer, the link or the message belongs to another project than the current one."""


class UnsupportedCurveError(MPinError, code=44, status="UNSUPPORTED_CURVE"):
    """The server asks for another curve than BN254CX."""


class SessionInvalidError(MPinError, code=45, status="SESSION_INVALID"):
    """The browser's session is unknown or has ended."""


class UserNotFoundError(MPinError, code=46, status="USER_NOT_FOUND"):
    """This device has no user of that id. Nothing was sent."""


class NoCredentialsError(MPinError, code=64, status="NO_CREDENTIALS"):
    """Nobody is logged in, or the session was cleared."""


class NoRefreshTokenError(MPinError, code=65, status="NO_REFRESH_TOKEN"):
    """The access token has expired, and there is no refresh token."""


class RenewFailedError(MPinError, code=66, status="RENEW_FAILED"):
    """The provider refuses to renew for a reason that is not the user's, such as an unknown client. The session
    stays."""


class ExchangeFailedError(MPinError, code=67, status="EXCHANGE_FAILED"):
    """The provider refuses to exchange the access token."""


class RevokeFailedError(MPinError, code=68, status="REVOKE_FAILED"):
    """The provider did not revoke the tokens. The session stays."""


class LargeMinTTLError(MPinError, code=69, status="LARGE_MIN_TTL"):
    """A renewed access token is not valid for as long as the caller wants."""


class LoginRequiredError(MPinError, code=70, status="LOGIN_REQUIRED"):
    """The provider has ended the session: the user must log in."""


class InteractionNotAllowedError(MPinError, code=71, status="INTERACTION_NOT_ALLOWED"):
    """The login needs a callback that the session does not have, or the callback has failed."""


class ProviderUnknownError(MPinError, code=72, status="PROVIDER_UNKNOWN"):
    """No provider with this name was added."""


class LoginRefusedError(MPinError, code=73, status="LOGIN_REFUSED"):
    """The provider or the user has refused the login."""


class TokenInvalidError(MPinError, code=74, status="TOKEN_INVALID"):
    """The ID token is malformed, or not for this login, client, user or time."""


class ForkedError(MPinError, code=75, status="FORKED"):
    """The object was made by a parent process, in which a call was under way when it called fork()."""


class WrongParameterError(MPinError, ValueError, code=-11, status="WRONG_PARAMETER"):
    """An argument is missing, an input has a wrong length, the buffer of an output is larger than what would be
    written, or a number is out of range."""


class InvalidPointError(MPinError, ValueError, code=-14, status="INVALID_POINT"):
    """The input is not the encoding of a point of the curve, or the result is the point at infinity."""


class WrongOrderError(MPinError, ValueError, code=-18, status="WRONG_ORDER"):
    """The input is a point of the curve or an element of Fp12, but outside of the group of order r."""


class BadPinError(MPinError, code=-19, status="BAD_PIN"):
    """The proof is wrong, because it was made with another PIN, token, identity or date, or is checked with another
    server secret."""


class CryptoRandomFailedError(RandomFailedError, code=-32, status="RANDOM_FAILED"):
    """The random generator of the system failed."""


class CryptoBufferTooSmallError(BufferTooSmallError, code=-33, status="BUFFER_TOO_SMALL"):
    """The buffer of an output is smaller than what would be written."""


class CryptoInvalidHandleError(InvalidHandleError, code=-34, status="INVALID_HANDLE"):
    """The server context is closed."""


def error_for(code: int, details: ErrorDetails = ErrorDetails()) -> MPinError:
    """The exception for a code that is not OK."""
    error = BY_CODE.get(code, MPinError)(details.text)
    error.code = code
    error.http_status = details.http_status
    error.retry_after = details.retry_after
    error.server_error = details.server_error
    error.request_id = details.request_id
    error.attempts_left = details.attempts_left
    error.retry_at = details.retry_at
    error.error_code = details.error_code
    error.project_id = details.project_id
    error.access_id = details.access_id
    return error
