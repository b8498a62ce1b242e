"""The table of functions agrees with the headers."""

import ctypes
import os
import pathlib
import re
import subprocess
import sys
from typing import Any

import pytest
from conftest import header

import mpin
from mpin import _native
from mpin import _structures as structures

TYPES: dict[str, Any] = {
    "int32_t": ctypes.c_int32,
    "int64_t": ctypes.c_int64,
    "mpin_status": ctypes.c_int32,
    "size_t": ctypes.c_size_t,
    "void": None,
    "const char *": ctypes.c_char_p,
    "char *": ctypes.POINTER(ctypes.c_char),
    "uint8_t *": ctypes.POINTER(ctypes.c_uint8),
    "const uint8_t *": ctypes.POINTER(ctypes.c_uint8),
    "size_t *": ctypes.POINTER(ctypes.c_size_t),
    "int32_t *": ctypes.POINTER(ctypes.c_int32),
    "uint32_t": ctypes.c_uint32,
    "void *": ctypes.c_void_p,
    "int64_t *": ctypes.POINTER(ctypes.c_int64),
    "const char *const *": ctypes.POINTER(ctypes.c_char_p),
}
#: The Python class of each structure in mpin.h.
STRUCTURES: dict[str, Any] = {
    "mpin_http_request": structures.HTTPRequest,
    "mpin_context": structures.Context,
    "mpin_config": structures.Config,
    "mpin_error": structures.Error,
    "mpin_service_details": structures.ServiceDetails,
    "mpin_expiration": structures.Expiration,
    "mpin_verification": structures.Verification,
    "mpin_otp": structures.OTP,
    "mpin_session_details": structures.SessionDetails,
    "mpin_signature": structures.Signature,
    "mpin_trust_error": structures.TrustError,
    "mpin_trust_verification": structures.TrustVerification,
    "mpin_trust_activation": structures.TrustActivation,
    "mpin_trust_session": structures.TrustSession,
    "mpin_trust_quick_code": structures.TrustQuickCode,
    "mpin_pin_request": structures.PinRequest,
    "mpin_device_code": structures.DeviceCode,
    "mpin_session_config": structures.SessionConfig,
    "mpin_provider": structures.Provider,
}
for structure, python in STRUCTURES.items():
    TYPES[f"{structure} *"] = TYPES[f"const {structure} *"] = ctypes.POINTER(python)
for opaque in (
    "mpin_sdk",
    "mpin_user",
    "mpin_session",
    "mpin_crypto_server_context",
    "mpin_http_response",
    "mpin_storage_data",
):
    TYPES[f"{opaque} *"] = ctypes.c_void_p
    TYPES[f"{opaque} **"] = ctypes.POINTER(ctypes.c_void_p)


def constants() -> dict[str, int]:
    found = re.findall(r"#define (MPIN_\w+_SIZE) (\d+)", header("mpin.h") + header("mpin_crypto.h"))
    return {name: int(value) for name, value in found}


def type_of(declaration: str, *, is_parameter: bool = True) -> Any:
    """The ctypes type of `const char *name` or `char name[8]`. An array as a parameter is a pointer."""
    match = re.fullmatch(r"(.*?)(\**)\w+(\[\w+\])?", declaration.strip())
    assert match, declaration
    if match[3] and not is_parameter:
        size = constants().get(match[3][1:-1]) or int(match[3][1:-1])
        element: Any = {"char": ctypes.c_char, "uint8_t": ctypes.c_uint8}[match[1].strip()]
        return element * size
    return TYPES[" ".join(filter(None, [match[1].strip(), match[2] or ("*" if match[3] else "")]))]


def declared() -> dict[str, tuple[Any, list[Any]]]:
    text = " ".join((header("mpin.h") + header("mpin_crypto.h")).split())
    found = {}
    for result, name, parameters in re.findall(r"MPIN_API (?:MPIN_CHECK )?([^;()]+?)(mpin_\w+)\(([^)]*)\);", text):
        arguments = [] if parameters == "void" else [type_of(p) for p in parameters.split(",")]
        found[name] = (TYPES[result.strip()], arguments)
    return found


def test_the_table_has_every_function_of_the_headers_and_no_other() -> None:
    assert len(declared()) > 50
    assert set(_native.FUNCTIONS) == set(declared())


@pytest.mark.parametrize("name", sorted(declared()))
def test_types(name: str) -> None:
    assert _native.FUNCTIONS[name] == declared()[name]


@pytest.mark.parametrize("name", sorted(declared()))
def test_every_function_of_the_library_has_its_types(name: str) -> None:
    function = getattr(_native.lib, name)
    assert (function.restype, list(function.argtypes)) == declared()[name]


def members(structure: str) -> "list[tuple[tuple[str, str], str]]":
    """The members of a structure in mpin.h, each with its declaration.

    The name is the first of the two texts if the member is a callback, otherwise the second; the other text is empty.
    """
    match = re.search(rf"struct {structure} \{{(.*?)\}} {structure};", header("mpin.h"), flags=re.DOTALL)
    assert match, structure
    declarations = [" ".join(m.split()) for m in match[1].split(";") if m.strip()]
    return [(re.findall(r"\(\*(\w+)\)\(|(\w+)(?:\[\w+\])?$", d)[0], d) for d in declarations]


def member_type(declaration: str) -> Any:
    callback = re.fullmatch(r"(\w+) \(\*\w+\)\(([^)]*)\)", declaration)
    if not callback:
        return type_of(declaration, is_parameter=False)
    return ctypes.CFUNCTYPE(TYPES[callback[1]], *(type_of(p) for p in callback[2].split(",")))


def same(found: Any, expected: Any) -> bool:
    """Two callback types are the same if their parameters and results are the same."""
    if not hasattr(expected, "_argtypes_"):
        return bool(found == expected)
    return (found._restype_, found._argtypes_) == (expected._restype_, expected._argtypes_)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_a_structure_has_the_members_of_the_header(structure: str) -> None:
    expected = [("".join(name), member_type(declaration)) for name, declaration in members(structure)]
    fields = STRUCTURES[structure]._fields_
    assert [name for name, _ in fields] == [name for name, _ in expected]
    for (name, found), (_, kind) in zip(fields, expected):
        assert same(found, kind), name


def test_every_structure_of_the_header_is_here() -> None:
    assert set(STRUCTURES) == set(re.findall(r"typedef struct (\w+) \{", header("mpin.h")))


def test_versions_agree() -> None:
    match = re.search(r'#define MPIN_VERSION "(.*)"', header("mpin.h"))
    assert match
    assert mpin.version() == mpin.__version__ == match[1]
    assert f"#define MPIN_ABI_VERSION {_native.ABI_VERSION}\n" in header("mpin.h")


def test_where_the_library_is_looked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    monkeypatch.setattr(_native, "__file__", str(tmp_path / "_native.py"))
    monkeypatch.delenv("MPIN_LIBRARY", raising=False)
    assert _native._candidates() == ["libmpin.so.1"]
    beside = tmp_path / "libmpin.so.1"
    beside.touch()
    assert _native._candidates() == [str(beside), "libmpin.so.1"]
    monkeypatch.setenv("MPIN_LIBRARY", "/chosen.so")
    assert _native._candidates() == ["/chosen.so"]


def run_import(library: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "MPIN_LIBRARY": library}
    return subprocess.run([sys.executable, "-c", "import mpin"], env=environment, capture_output=True, text=True)


def test_a_library_that_is_not_there_is_named() -> None:
    result = run_import("/nowhere/libmpin.so")
    assert result.returncode == 1
    assert "ImportError: cannot load libmpin (/nowhere/libmpin.so" in result.stderr
    assert "set MPIN_LIBRARY" in result.stderr


def test_a_library_that_is_another_one_is_named() -> None:
    result = run_import("libc.so.6")
    assert result.returncode == 1
    assert "ImportError: libc.so.6 has no mpin_version" in result.stderr
