"""One exception for each status of the library. MPinError is their base class.

The exceptions for wrong arguments are ValueErrors, too.
"""

from __future__ import annotations

from typing import NamedTuple


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

    def __init__(self, message: str = "") -> None:
        super().__init__(f"{self.status}: {message}" if message else self.status)


class PinInputCanceledError(MPinError):
    """The PIN is empty: the user cancelled."""

    code = 1
    status = "PIN_INPUT_CANCELED"


class CryptoError(MPinError):
    """A cryptographic operation refused its input, or the user has no token."""

    code = 2
    status = "CRYPTO_ERROR"


class StorageError(MPinError):
    """The store could not be read or written, or a record in it is damaged."""

    code = 3
    status = "STORAGE_ERROR"


class NetworkError(MPinError):
    """There was no HTTP answer, or it was a redirect."""

    code = 4
    status = "NETWORK_ERROR"


class ResponseParseError(MPinError):
    """The answer is not JSON or lacks a member."""

    code = 5
    status = "RESPONSE_PARSE_ERROR"


class FlowError(MPinError):
    """The call came in the wrong order, the user is in the wrong state, or no backend is set."""

    code = 6
    status = "FLOW_ERROR"


class IdentityNotAuthorizedError(MPinError):
    """The server does not accept this identity."""

    code = 7
    status = "IDENTITY_NOT_AUTHORIZED"


class IdentityNotVerifiedError(MPinError):
    """The identity is not confirmed yet, or its registration has ended."""

    code = 8
    status = "IDENTITY_NOT_VERIFIED"


class RequestExpiredError(MPinError):
    """The request came too late."""

    code = 9
    status = "REQUEST_EXPIRED"


class RevokedError(MPinError):
    """The identity is suspended; at a MIRACL Trust project: the server no longer accepts it."""

    code = 10
    status = "REVOKED"


class IncorrectPinError(MPinError):
    """The PIN is wrong. The user may be blocked now: see User.state."""

    code = 11
    status = "INCORRECT_PIN"


class IncorrectAccessNumberError(MPinError):
    """The check digit of the access number is wrong, or no browser session has this number."""

    code = 12
    status = "INCORRECT_ACCESS_NUMBER"


class HTTPServerError(MPinError):
    """An HTTP status 5xx for which there is no other exception."""

    code = 13
    status = "HTTP_SERVER_ERROR"


class HTTPRequestError(MPinError):
    """An HTTP status 4xx for which there is no other exception."""

    code = 14
    status = "HTTP_REQUEST_ERROR"


class BadUserAgentError(MPinError):
    """The server refuses this client's User-Agent."""

    code = 15
    status = "BAD_USER_AGENT"


class ClientSecretExpiredError(MPinError):
    """The master secret was changed: the user must register again."""

    code = 16
    status = "CLIENT_SECRET_EXPIRED"


class BadClientVersionError(MPinError):
    """The server does not support this client's version."""

    code = 17
    status = "BAD_CLIENT_VERSION"


class UntrustedDomainError(MPinError, ValueError):
    """The URL is plain http to another machine, or neither http nor https, or its host is not trusted."""

    code = 18
    status = "UNTRUSTED_DOMAIN_ERROR"


class RegistrationExpiredError(MPinError):
    """The server no longer knows the registration or its code."""

    code = 19
    status = "REGISTRATION_EXPIRED"


class OperationNotAllowedError(MPinError):
    """The identity was made from a registration code and asks for another one, which is not allowed."""

    code = 20
    status = "OPERATION_NOT_ALLOWED"


class VerificationFailedError(MPinError):
    """The server refused to verify the user id."""

    code = 21
    status = "VERIFICATION_FAILED"


class InvalidHandleError(MPinError, ValueError):
    """The object is closed."""

    code = 32
    status = "INVALID_HANDLE"


class InvalidArgumentError(MPinError, ValueError):
    """An argument is malformed."""

    code = 33
    status = "INVALID_ARGUMENT"


class BufferTooSmallError(MPinError, ValueError):
    """The caller's buffer is too small."""

    code = 34
    status = "BUFFER_TOO_SMALL"


class CanceledError(MPinError):
    """The call was ended by cancel()."""

    code = 35
    status = "CANCELED"


class TimedOutError(MPinError, TimeoutError):
    """The call took longer than its time limit."""

    code = 36
    status = "TIMED_OUT"


class PinInvalidError(MPinError, ValueError):
    """The PIN is not 4 to 6 decimal digits. Nothing was sent."""

    code = 37
    status = "PIN_INVALID"


class UnsupportedFormatError(MPinError):
    """The store was written by a newer version. Nothing was changed."""

    code = 38
    status = "UNSUPPORTED_FORMAT"


class TooManyRequestsError(MPinError):
    """The server asks to wait."""

    code = 39
    status = "TOO_MANY_REQUESTS"


class RandomFailedError(MPinError):
    """The random generator of the system failed."""

    code = 40
    status = "RANDOM_FAILED"


class RequestBackoffError(MPinError):
    """The server sends this user another mail only later; see retry_at."""

    code = 41
    status = "REQUEST_BACKOFF"


class ActivationTokenInvalidError(MPinError):
    """The activation token or QuickCode is wrong, used or expired."""

    code = 42
    status = "ACTIVATION_TOKEN_INVALID"


class ProjectMismatchError(MPinError):
    """The answer, the link or the message belongs to another project."""

    code = 43
    status = "PROJECT_MISMATCH"


class UnsupportedCurveError(MPinError):
    """The server asks for another curve than BN254CX."""

    code = 44
    status = "UNSUPPORTED_CURVE"


class SessionInvalidError(MPinError):
    """The browser's session is unknown or has ended."""

    code = 45
    status = "SESSION_INVALID"


class UserNotFoundError(MPinError):
    """This device has no user of that id. Nothing was sent."""

    code = 46
    status = "USER_NOT_FOUND"


class NoCredentialsError(MPinError):
    """Nobody is logged in."""

    code = 64
    status = "NO_CREDENTIALS"


class NoRefreshTokenError(MPinError):
    """The access token has expired, and there is no refresh token."""

    code = 65
    status = "NO_REFRESH_TOKEN"


class RenewFailedError(MPinError):
    """The provider refuses to renew for a reason that is not the user's. The session stays."""

    code = 66
    status = "RENEW_FAILED"


class ExchangeFailedError(MPinError):
    """The provider refuses to exchange the access token."""

    code = 67
    status = "EXCHANGE_FAILED"


class RevokeFailedError(MPinError):
    """The provider did not revoke the tokens. The session stays."""

    code = 68
    status = "REVOKE_FAILED"


class LargeMinTTLError(MPinError):
    """A renewed access token is not valid for as long as the caller wants."""

    code = 69
    status = "LARGE_MIN_TTL"


class LoginRequiredError(MPinError):
    """The provider has ended the session: the user must log in."""

    code = 70
    status = "LOGIN_REQUIRED"


class InteractionNotAllowedError(MPinError):
    """The login needs a function that the session does not have, or the function has failed."""

    code = 71
    status = "INTERACTION_NOT_ALLOWED"


class ProviderUnknownError(MPinError):
    """No provider with this name was added."""

    code = 72
    status = "PROVIDER_UNKNOWN"


class LoginRefusedError(MPinError):
    """The provider or the user has refused the login."""

    code = 73
    status = "LOGIN_REFUSED"


class TokenInvalidError(MPinError):
    """The ID token is malformed, or not for this login, client, user or time."""

    code = 74
    status = "TOKEN_INVALID"


class ForkedError(MPinError):
    """The object was made by a parent process, in which a call was under way when it was forked."""

    code = 75
    status = "FORKED"


class WrongParameterError(MPinError, ValueError):
    """An argument is missing, has a wrong length, or is out of range."""

    code = -11
    status = "WRONG_PARAMETER"


class InvalidPointError(MPinError, ValueError):
    """The input is not the encoding of a point of the curve, or the result is the point at infinity."""

    code = -14
    status = "INVALID_POINT"


class WrongOrderError(MPinError, ValueError):
    """A point of the curve outside the subgroup of order r."""

    code = -18
    status = "WRONG_ORDER"


class BadPinError(MPinError):
    """The proof is wrong: another PIN, token, identity, date or server secret."""

    code = -19
    status = "BAD_PIN"


class CryptoRandomFailedError(RandomFailedError):
    """The random generator of the system failed."""

    code = -32
    status = "RANDOM_FAILED"


class CryptoBufferTooSmallError(BufferTooSmallError):
    """The buffer of an output is too small."""

    code = -33
    status = "BUFFER_TOO_SMALL"


class CryptoInvalidHandleError(InvalidHandleError):
    """The server context is closed."""

    code = -34
    status = "INVALID_HANDLE"


#: The exception of each code except OK.
BY_CODE: dict[int, type[MPinError]] = {
    error.code: error
    for error in (
        PinInputCanceledError,
        CryptoError,
        StorageError,
        NetworkError,
        ResponseParseError,
        FlowError,
        IdentityNotAuthorizedError,
        IdentityNotVerifiedError,
        RequestExpiredError,
        RevokedError,
        IncorrectPinError,
        IncorrectAccessNumberError,
        HTTPServerError,
        HTTPRequestError,
        BadUserAgentError,
        ClientSecretExpiredError,
        BadClientVersionError,
        UntrustedDomainError,
        RegistrationExpiredError,
        OperationNotAllowedError,
        VerificationFailedError,
        InvalidHandleError,
        InvalidArgumentError,
        BufferTooSmallError,
        CanceledError,
        TimedOutError,
        PinInvalidError,
        UnsupportedFormatError,
        TooManyRequestsError,
        RandomFailedError,
        RequestBackoffError,
        ActivationTokenInvalidError,
        ProjectMismatchError,
        UnsupportedCurveError,
        SessionInvalidError,
        UserNotFoundError,
        NoCredentialsError,
        NoRefreshTokenError,
        RenewFailedError,
        ExchangeFailedError,
        RevokeFailedError,
        LargeMinTTLError,
        LoginRequiredError,
        InteractionNotAllowedError,
        ProviderUnknownError,
        LoginRefusedError,
        TokenInvalidError,
        ForkedError,
        WrongParameterError,
        InvalidPointError,
        WrongOrderError,
        BadPinError,
        CryptoRandomFailedError,
        CryptoBufferTooSmallError,
        CryptoInvalidHandleError,
    )
}


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
