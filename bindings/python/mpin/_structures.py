"""The structures of mpin.h."""

from __future__ import annotations

from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char,
    c_char_p,
    c_int32,
    c_int64,
    c_size_t,
    c_uint8,
    c_uint32,
    c_void_p,
)


class HTTPRequest(Structure):
    """The structure mpin_http_request of mpin.h."""

    _fields_ = [
        ("size", c_size_t),
        ("method", c_char_p),
        ("url", c_char_p),
        ("headers", POINTER(c_char_p)),
        ("body", POINTER(c_uint8)),
        ("body_len", c_size_t),
        ("timeout_ms", c_uint32),
    ]


HTTPExecute = CFUNCTYPE(c_int32, c_void_p, POINTER(HTTPRequest), c_void_p)
StorageGet = CFUNCTYPE(c_int32, c_void_p, c_void_p, c_int32)
StorageSet = CFUNCTYPE(c_int32, c_void_p, c_int32, POINTER(c_uint8), c_size_t)
StorageKey = CFUNCTYPE(c_int32, c_void_p, POINTER(c_uint8))
Log = CFUNCTYPE(None, c_void_p, c_int32, c_char_p)
Now = CFUNCTYPE(c_int32, c_void_p, POINTER(c_int64))
Random = CFUNCTYPE(c_int32, c_void_p, POINTER(c_uint8), c_size_t)


class Context(Structure):
    """The structure mpin_context of mpin.h."""

    _fields_ = [
        ("size", c_size_t),
        ("user", c_void_p),
        ("http_execute", HTTPExecute),
        ("storage_get", StorageGet),
        ("storage_set", StorageSet),
        ("storage_key", StorageKey),
        ("log", Log),
        ("now", Now),
        ("random", Random),
    ]


class Config(Structure):
    """The structure mpin_config of mpin.h."""

    _fields_ = [
        ("size", c_size_t),
        ("storage_path", c_char_p),
        ("storage_key_path", c_char_p),
        ("backend", c_char_p),
        ("rps_prefix", c_char_p),
        ("ca_file", c_char_p),
        ("timeout_ms", c_uint32),
        ("allow_insecure", c_uint32),
        ("storage_passphrase", c_char_p),
        ("proxy", c_char_p),
        ("pinned_keys", c_char_p),
        ("client_id", c_char_p),
        ("context", POINTER(Context)),
    ]


class Error(Structure):
    """The structure mpin_error of mpin.h."""

    _fields_ = [
        ("size", c_size_t),
        ("status", c_int32),
        ("http_status", c_int32),
        ("retry_after", c_int64),
        ("text", c_char * 512),
        ("server_error", c_char * 256),
        ("request_id", c_char * 128),
    ]


class ServiceDetails(Structure):
    """The structure mpin_service_details of mpin.h."""

    _fields_ = [
        ("size", c_size_t),
        ("name", c_char * 256),
        ("backend_url", c_char * 1024),
        ("rps_prefix", c_char * 64),
        ("logo_url", c_char * 1024),
    ]


class Expiration(Structure):
    """The structure mpin_expiration of mpin.h."""

    _fields_ = [("size", c_size_t), ("expire_time", c_int64), ("now_time", c_int64)]


class Verification(Structure):
    """The structure mpin_verification of mpin.h."""

    _fields_ = [
        ("size", c_size_t),
        ("expire_time", c_int64),
        ("access_id", c_char * 256),
        ("activation_token", c_char * 1024),
    ]


class OTP(Structure):
    """The structure mpin_otp of mpin.h."""

    _fields_ = [
        ("size", c_size_t),
        ("status", c_int32),
        ("ttl_seconds", c_int32),
        ("expire_time", c_int64),
        ("now_time", c_int64),
        ("otp", c_char * 64),
    ]


class SessionDetails(Structure):
    """The structure mpin_session_details of mpin.h."""

    _fields_ = [
        ("size", c_size_t),
        ("register_only", c_int32),
        ("preroll_id", c_char * 256),
        ("app_name", c_char * 256),
        ("app_icon_url", c_char * 1024),
        ("customer_id", c_char * 256),
        ("customer_name", c_char * 256),
        ("customer_icon_url", c_char * 1024),
        ("client_id", c_char * 256),
        ("redirect_uri", c_char * 1024),
        ("screen_address", c_char * 64),
        ("screen_program", c_char * 128),
        ("site_address", c_char * 64),
    ]


class Signature(Structure):
    """The structure mpin_signature of mpin.h."""

    _fields_ = [
        ("size", c_size_t),
        ("timestamp", c_int64),
        ("u", c_uint8 * 65),
        ("v", c_uint8 * 65),
        ("public_key", c_uint8 * 128),
        ("mpin_id", c_char * 4096),
        ("dtas", c_char * 1024),
    ]


class TrustError(Structure):
    """The structure mpin_trust_error of mpin.h."""

    _fields_ = [
        ("size", c_size_t),
        ("retry_at", c_int64),
        ("code", c_char * 64),
        ("project_id", c_char * 256),
        ("access_id", c_char * 256),
    ]


class TrustVerification(Structure):
    """The structure mpin_trust_verification of mpin.h."""

    _fields_ = [("size", c_size_t), ("backoff", c_int64), ("method", c_int32)]


class TrustActivation(Structure):
    """The structure mpin_trust_activation of mpin.h."""

    _fields_ = [
        ("size", c_size_t),
        ("expire_time", c_int64),
        ("project_id", c_char * 256),
        ("user_id", c_char * 256),
        ("access_id", c_char * 256),
        ("activation_token", c_char * 1024),
    ]


class TrustSession(Structure):
    """The structure mpin_trust_session of mpin.h."""

    _fields_ = [
        ("size", c_size_t),
        ("access_id", c_char * 256),
        ("project_id", c_char * 256),
        ("user_id", c_char * 256),
        ("description", c_char * 1024),
        ("hash", c_uint8 * 256),
        ("hash_len", c_size_t),
        ("project_name", c_char * 256),
        ("project_logo_url", c_char * 1024),
        ("pin_length", c_int32),
        ("screen_address", c_char * 64),
        ("screen_program", c_char * 128),
        ("site_address", c_char * 64),
    ]


class TrustQuickCode(Structure):
    """The structure mpin_trust_quick_code of mpin.h."""

    _fields_ = [
        ("size", c_size_t),
        ("expire_time", c_int64),
        ("ttl_seconds", c_int32),
        ("code", c_char * 64),
    ]


class PinRequest(Structure):
    """The structure mpin_pin_request of mpin.h."""

    _fields_ = [("size", c_size_t), ("provider", c_char_p), ("user_id", c_char_p), ("attempts_left", c_int32)]


class DeviceCode(Structure):
    """The structure mpin_device_code of mpin.h."""

    _fields_ = [
        ("size", c_size_t),
        ("user_code", c_char_p),
        ("url", c_char_p),
        ("complete_url", c_char_p),
        ("expires_in", c_int64),
    ]


AskPin = CFUNCTYPE(c_int32, c_void_p, POINTER(PinRequest), POINTER(c_char))
OpenBrowser = CFUNCTYPE(c_int32, c_void_p, c_char_p)
ShowCode = CFUNCTYPE(None, c_void_p, POINTER(DeviceCode))
SessionEvent = CFUNCTYPE(None, c_void_p, c_int32, c_char_p)


class SessionConfig(Structure):
    """The structure mpin_session_config of mpin.h."""

    _fields_ = [
        ("size", c_size_t),
        ("user", c_void_p),
        ("path", c_char_p),
        ("login_timeout_ms", c_size_t),
        ("ask_pin", AskPin),
        ("open_browser", OpenBrowser),
        ("show_code", ShowCode),
        ("event", SessionEvent),
        ("never_renews", c_int32),
    ]


class Provider(Structure):
    """The structure mpin_provider of mpin.h."""

    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("login", c_int32),
        ("ends_on_401", c_int32),
        ("client_id", c_char_p),
        ("client_secret", c_char_p),
        ("issuer", c_char_p),
        ("redirect_uri", c_char_p),
        ("scope", c_char_p),
        ("origins", c_char_p),
        ("authorization_endpoint", c_char_p),
        ("token_endpoint", c_char_p),
        ("userinfo_endpoint", c_char_p),
        ("revocation_endpoint", c_char_p),
        ("device_endpoint", c_char_p),
        ("claim_names", c_char_p),
    ]
