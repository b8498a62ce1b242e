"""The shared library and its functions, as mpin.h and mpin_crypto.h declare them."""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, c_char, c_char_p, c_int32, c_int64, c_size_t, c_uint8, c_void_p
from typing import Any

from . import _structures as structures

#: The version of the ABI that the table below describes.
ABI_VERSION = 1

_FILE_NAME = "libmpin.so.1"

_text = c_char_p
_out_text = POINTER(c_char)
_size = POINTER(c_size_t)
_handle = c_void_p
_out_handle = POINTER(c_void_p)
_number = POINTER(c_int32)
_octets = POINTER(c_uint8)

#: Each function with its result type and its argument types.
FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "mpin_version": (c_char_p, []),
    "mpin_abi_version": (c_int32, []),
    "mpin_status_name": (c_char_p, [c_int32]),
    "mpin_http_response_set_status": (c_int32, [_handle, c_int32]),
    "mpin_http_response_add_header": (c_int32, [_handle, _text, _text]),
    "mpin_http_response_append_body": (c_int32, [_handle, _octets, c_size_t]),
    "mpin_http_response_is_canceled": (c_int32, [_handle, _number]),
    "mpin_http_response_may_connect": (c_int32, [_handle, _text, _number]),
    "mpin_storage_data_append": (c_int32, [_handle, _octets, c_size_t]),
    "mpin_sdk_new": (c_int32, [_out_handle]),
    "mpin_sdk_free": (None, [_handle]),
    "mpin_sdk_init": (c_int32, [_handle, POINTER(structures.Config)]),
    "mpin_sdk_destroy": (c_int32, [_handle]),
    "mpin_sdk_clear_users": (c_int32, [_handle]),
    "mpin_sdk_cancel": (c_int32, [_handle]),
    "mpin_sdk_last_error": (c_int32, [_handle, _out_text, _size]),
    "mpin_sdk_get_last_error": (c_int32, [_handle, POINTER(structures.Error)]),
    "mpin_sdk_get_attempts_left": (c_int32, [_handle, POINTER(c_int32)]),
    "mpin_sdk_damaged_records": (c_int32, [_handle, _size]),
    "mpin_sdk_self_test": (c_int32, []),
    "mpin_sdk_test_backend": (c_int32, [_handle, _text, _text]),
    "mpin_sdk_set_backend": (c_int32, [_handle, _text, _text]),
    "mpin_sdk_get_client_param": (c_int32, [_handle, _out_text, _size, _text]),
    "mpin_sdk_set_client_id": (c_int32, [_handle, _text]),
    "mpin_sdk_add_custom_header": (c_int32, [_handle, _text, _text]),
    "mpin_sdk_clear_custom_headers": (c_int32, [_handle]),
    "mpin_sdk_add_trusted_domain": (c_int32, [_handle, _text]),
    "mpin_sdk_clear_trusted_domains": (c_int32, [_handle]),
    "mpin_sdk_get_service_details": (c_int32, [_handle, POINTER(structures.ServiceDetails), _text]),
    "mpin_sdk_make_new_user": (c_int32, [_handle, _out_handle, _text, _text]),
    "mpin_sdk_make_new_user_mfa": (c_int32, [_handle, _out_handle, _text, _text, _text, _text]),
    "mpin_sdk_get_user": (c_int32, [_handle, _out_handle, _text]),
    "mpin_sdk_get_user_mfa": (c_int32, [_handle, _out_handle, _text, _text, _text]),
    "mpin_sdk_list_users": (c_int32, [_handle, _out_handle, _size]),
    "mpin_sdk_list_all_users": (c_int32, [_handle, _out_handle, _size]),
    "mpin_sdk_list_backend_users": (c_int32, [_handle, _out_handle, _size, _text]),
    "mpin_sdk_list_backends": (c_int32, [_handle, _out_text, _size]),
    "mpin_sdk_user_exists": (c_int32, [_handle, _number, _text, _text, _text]),
    "mpin_sdk_delete_user": (c_int32, [_handle, _handle]),
    "mpin_sdk_delete_users": (c_int32, [_handle]),
    "mpin_user_free": (None, [_handle]),
    "mpin_user_get_id": (c_int32, [_handle, _out_text, _size]),
    "mpin_user_get_backend": (c_int32, [_handle, _out_text, _size]),
    "mpin_user_get_mpin_id": (c_int32, [_handle, _out_text, _size]),
    "mpin_user_get_state": (c_int32, [_handle, _number]),
    "mpin_user_get_state_legacy": (c_int32, [_handle, _number]),
    "mpin_user_get_customer_id": (c_int32, [_handle, _out_text, _size]),
    "mpin_user_get_app_id": (c_int32, [_handle, _out_text, _size]),
    "mpin_user_get_device_name": (c_int32, [_handle, _out_text, _size]),
    "mpin_user_get_pin_length": (c_int32, [_handle, _number]),
    "mpin_user_get_registration_pin_length": (c_int32, [_handle, _number]),
    "mpin_user_get_verification_type": (c_int32, [_handle, _out_text, _size]),
    "mpin_user_get_can_sign": (c_int32, [_handle, _number]),
    "mpin_user_get_registration_expiration": (c_int32, [_handle, POINTER(structures.Expiration)]),
    "mpin_sdk_import_storage": (c_int32, [_handle, _size, c_int32, _text, _text]),
    "mpin_sdk_start_verification": (c_int32, [_handle, _handle, _text, _text]),
    "mpin_sdk_finish_verification": (c_int32, [_handle, _handle, POINTER(structures.Verification), _text]),
    "mpin_sdk_start_registration": (c_int32, [_handle, _handle, _text, _text]),
    "mpin_sdk_start_registration_mfa": (c_int32, [_handle, _handle, _text, _text, _text]),
    "mpin_sdk_set_registration_token": (c_int32, [_handle, _handle, _text]),
    "mpin_user_is_registration_token_set": (c_int32, [_handle, _number]),
    "mpin_sdk_restart_registration": (c_int32, [_handle, _handle, _text]),
    "mpin_sdk_confirm_registration": (c_int32, [_handle, _handle, _text]),
    "mpin_sdk_finish_registration": (c_int32, [_handle, _handle, _text]),
    "mpin_sdk_add_factor": (c_int32, [_handle, _handle, _text]),
    "mpin_sdk_change_pin": (c_int32, [_handle, _handle, _text, _text]),
    "mpin_sdk_start_authentication": (c_int32, [_handle, _handle]),
    "mpin_sdk_finish_authentication": (c_int32, [_handle, _handle, _out_text, _size, _text]),
    "mpin_sdk_get_auth_data": (c_int32, [_handle, _handle, _out_text, _size]),
    "mpin_sdk_start_authentication_mfa": (c_int32, [_handle, _handle, _text]),
    "mpin_sdk_check_access_number": (c_int32, [_handle, _text]),
    "mpin_sdk_finish_authentication_an": (c_int32, [_handle, _handle, _text, _text]),
    "mpin_sdk_finish_authentication_mfa": (c_int32, [_handle, _handle, _out_text, _size, _text, _text]),
    "mpin_sdk_start_authentication_otp": (c_int32, [_handle, _handle]),
    "mpin_sdk_finish_authentication_otp": (c_int32, [_handle, _handle, POINTER(structures.OTP), _text]),
    "mpin_sdk_start_authentication_reg_code": (c_int32, [_handle, _handle]),
    "mpin_sdk_finish_authentication_reg_code": (c_int32, [_handle, _handle, POINTER(structures.OTP), _text]),
    "mpin_sdk_can_logout": (c_int32, [_handle, _handle, _number]),
    "mpin_sdk_logout": (c_int32, [_handle, _handle]),
    "mpin_sdk_get_session_details": (c_int32, [_handle, POINTER(structures.SessionDetails), _text]),
    "mpin_sdk_abort_session": (c_int32, [_handle, _text]),
    "mpin_sdk_get_access_code": (c_int32, [_handle, _out_text, _size, _text]),
    "mpin_sdk_start_registration_dvs": (c_int32, [_handle, _handle, _text]),
    "mpin_sdk_finish_registration_dvs": (c_int32, [_handle, _handle, _text]),
    "mpin_sdk_hash_document": (c_int32, [_octets, _octets, c_size_t]),
    "mpin_sdk_verify_document": (c_int32, [_number, _octets, c_size_t, _octets]),
    "mpin_sdk_sign": (
        c_int32,
        [_handle, _handle, POINTER(structures.Signature), _octets, c_size_t, _text, c_int64, _text],
    ),
    "mpin_trust_set_project": (c_int32, [_handle, _text, _text, _text]),
    "mpin_trust_get_last_error": (c_int32, [_handle, POINTER(structures.TrustError)]),
    "mpin_trust_send_verification_email": (
        c_int32,
        [_handle, POINTER(structures.TrustVerification), _text, _text],
    ),
    "mpin_trust_get_activation_token": (c_int32, [_handle, POINTER(structures.TrustActivation), _text, _text]),
    "mpin_trust_get_activation_token_by_link": (c_int32, [_handle, POINTER(structures.TrustActivation), _text]),
    "mpin_trust_start_registration": (c_int32, [_handle, _out_handle, _text, _text, _text]),
    "mpin_trust_finish_registration": (c_int32, [_handle, _handle, _text]),
    "mpin_trust_authenticate": (c_int32, [_handle, _handle, _out_text, _size, _text]),
    "mpin_trust_get_jwt": (c_int32, [_handle, _handle, _out_text, _size]),
    "mpin_trust_get_session_details": (c_int32, [_handle, POINTER(structures.TrustSession), _text]),
    "mpin_trust_abort_session": (c_int32, [_handle, _text]),
    "mpin_trust_authenticate_with_qr_code": (c_int32, [_handle, _handle, _text, _text]),
    "mpin_trust_authenticate_with_app_link": (c_int32, [_handle, _handle, _text, _text]),
    "mpin_trust_authenticate_with_push_payload": (c_int32, [_handle, _text, _text, _text, _text]),
    "mpin_trust_generate_quick_code": (c_int32, [_handle, _handle, POINTER(structures.TrustQuickCode), _text]),
    "mpin_trust_sign": (
        c_int32,
        [_handle, _handle, POINTER(structures.Signature), _octets, c_size_t, _text],
    ),
    "mpin_trust_sign_session": (c_int32, [_handle, _handle, _text, _octets, c_size_t, _text]),
    "mpin_trust_export_users": (c_int32, [_handle, _size, _text]),
    "mpin_session_new": (c_int32, [_handle, _out_handle, POINTER(structures.SessionConfig)]),
    "mpin_session_free": (None, [_handle]),
    "mpin_session_cancel": (c_int32, [_handle]),
    "mpin_session_get_last_error": (c_int32, [_handle, POINTER(structures.Error)]),
    "mpin_session_add_provider": (c_int32, [_handle, POINTER(structures.Provider)]),
    "mpin_session_login": (c_int32, [_handle, _text, _text]),
    "mpin_session_resume": (c_int32, [_handle, _text]),
    "mpin_session_logout": (c_int32, [_handle, c_int32]),
    "mpin_session_get_state": (c_int32, [_handle, _number]),
    "mpin_session_get_last_provider": (c_int32, [_handle, _out_text, _size]),
    "mpin_session_get_claim": (c_int32, [_handle, _out_text, _size, _text]),
    "mpin_session_get_access_token": (c_int32, [_handle, _out_text, _size, _text, c_int32, c_int32]),
    "mpin_session_get_id_token": (c_int32, [_handle, _out_text, _size]),
    "mpin_session_get_scope": (c_int32, [_handle, _out_text, _size]),
    "mpin_session_get_expiry": (c_int32, [_handle, POINTER(c_int64)]),
    "mpin_session_has_valid": (c_int32, [_handle, _number, c_int32]),
    "mpin_session_can_renew": (c_int32, [_handle, _number]),
    "mpin_session_renew": (c_int32, [_handle]),
    "mpin_session_revoke": (c_int32, [_handle]),
    "mpin_session_clear": (c_int32, [_handle]),
    "mpin_session_authorize": (c_int32, [_handle, _out_text, _size, _text, _text, c_int32]),
    "mpin_session_handover": (c_int32, [_handle, _out_text, _size, _text, _text]),
    "mpin_crypto_g1_size": (c_size_t, []),
    "mpin_crypto_g2_size": (c_size_t, []),
    "mpin_crypto_gt_size": (c_size_t, []),
    "mpin_crypto_scalar_size": (c_size_t, []),
    "mpin_crypto_hash_size": (c_size_t, []),
    "mpin_crypto_key_size": (c_size_t, []),
    "mpin_crypto_hash_id": (c_int32, 2 * [_octets, c_size_t]),
    "mpin_crypto_map_to_g1": (c_int32, 2 * [_octets, c_size_t]),
    "mpin_crypto_random_generate": (c_int32, [_octets, c_size_t]),
    "mpin_crypto_get_client_secret": (c_int32, 3 * [_octets, c_size_t]),
    "mpin_crypto_get_server_secret": (c_int32, 2 * [_octets, c_size_t]),
    "mpin_crypto_get_client_permit": (c_int32, [_octets, c_size_t, c_int32] + 2 * [_octets, c_size_t]),
    "mpin_crypto_recombine_g1": (c_int32, 3 * [_octets, c_size_t]),
    "mpin_crypto_recombine_g2": (c_int32, 3 * [_octets, c_size_t]),
    "mpin_crypto_pin_to_scalar": (c_int32, [_octets, c_size_t, _number, c_int32, _octets, c_size_t]),
    "mpin_crypto_extract_pin": (c_int32, 3 * [_octets, c_size_t] + [c_int32, _octets, c_size_t]),
    "mpin_crypto_client_1": (
        c_int32,
        3 * [_octets, c_size_t] + [c_int32] + 3 * [_octets, c_size_t] + [c_int32] + 2 * [_octets, c_size_t],
    ),
    "mpin_crypto_client_2": (c_int32, 4 * [_octets, c_size_t]),
    "mpin_crypto_server_1": (c_int32, 2 * [_octets, c_size_t] + [c_int32, _octets, c_size_t]),
    "mpin_crypto_server_context_new": (c_int32, [_out_handle, _octets, c_size_t]),
    "mpin_crypto_server_context_free": (None, [_handle]),
    "mpin_crypto_server_context_verify": (c_int32, [_handle, c_int32] + 4 * [_octets, c_size_t]),
    "mpin_crypto_server_2": (c_int32, 2 * [_octets, c_size_t] + [c_int32] + 7 * [_octets, c_size_t]),
    "mpin_crypto_kangaroo": (c_int32, [_number] + 2 * [_octets, c_size_t] + [c_int32]),
    "mpin_crypto_extract_factor": (c_int32, 3 * [_octets, c_size_t] + [c_int32, _octets, c_size_t]),
    "mpin_crypto_restore_factor": (c_int32, 3 * [_octets, c_size_t] + [c_int32, _octets, c_size_t]),
    "mpin_crypto_change_pin": (c_int32, 3 * [_octets, c_size_t] + 2 * [c_int32, _octets, c_size_t]),
    "mpin_crypto_get_dvs_keypair": (c_int32, 2 * [_octets, c_size_t]),
    "mpin_crypto_get_dvs_public_key": (c_int32, 2 * [_octets, c_size_t]),
    "mpin_crypto_get_g1_multiple": (c_int32, 3 * [_octets, c_size_t]),
    "mpin_crypto_server_context_verify_dvs": (c_int32, [_handle] + 5 * [_octets, c_size_t]),
    "mpin_crypto_get_y": (c_int32, [_octets, c_size_t, c_int64] + 2 * [_octets, c_size_t]),
    "mpin_crypto_client": (
        c_int32,
        3 * [_octets, c_size_t]
        + [c_int32]
        + 3 * [_octets, c_size_t]
        + [c_int32]
        + 2 * [_octets, c_size_t]
        + [c_int64, _octets, c_size_t],
    ),
    "mpin_crypto_server": (
        c_int32,
        2 * [_octets, c_size_t] + [c_int32] + 6 * [_octets, c_size_t] + [c_int64, _octets, c_size_t],
    ),
    "mpin_crypto_precompute": (c_int32, 4 * [_octets, c_size_t]),
    "mpin_crypto_client_key": (c_int32, 4 * [_octets, c_size_t] + [c_int32] + 3 * [_octets, c_size_t]),
    "mpin_crypto_server_key": (c_int32, 6 * [_octets, c_size_t]),
    "mpin_crypto_encoding": (c_int32, 2 * [_octets, c_size_t]),
    "mpin_crypto_decoding": (c_int32, 2 * [_octets, c_size_t]),
    "mpin_crypto_pairing": (c_int32, 3 * [_octets, c_size_t]),
    "mpin_crypto_pairing_product": (c_int32, 5 * [_octets, c_size_t]),
}


def _candidates() -> list[str]:
    """The paths at which the library may be, in the order of search. The system finds a name without a folder."""
    chosen = os.environ.get("MPIN_LIBRARY")
    if chosen:
        return [chosen]
    package = os.path.dirname(os.path.abspath(__file__))
    beside = [os.path.join(package, name) for name in (_FILE_NAME, "libmpin.so")]
    return [path for path in beside if os.path.exists(path)] + [_FILE_NAME]


def _open() -> ctypes.CDLL:
    reason: OSError | None = None
    candidates = _candidates()
    for candidate in candidates:
        try:
            return ctypes.CDLL(candidate)
        except OSError as error:
            reason = error
    raise ImportError(
        f"cannot load libmpin ({reason}); tried {', '.join(candidates)}; set MPIN_LIBRARY to the path of libmpin.so"
    ) from reason


def _load() -> ctypes.CDLL:
    library = _open()
    for name, (result, arguments) in FUNCTIONS.items():
        try:
            function = getattr(library, name)
        except AttributeError as error:
            raise ImportError(f"{library._name} has no {name}: it is not the library of this package") from error
        function.restype = result
        function.argtypes = arguments
    found = library.mpin_abi_version()
    if found != ABI_VERSION:
        raise ImportError(f"{library._name} has ABI version {found}, this package needs {ABI_VERSION}")
    return library


lib = _load()
