"""The table of functions says what the headers say."""

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
    "const mpin_config *": ctypes.POINTER(_native.Config),
    "uint32_t": ctypes.c_uint32,
}
for opaque in ("mpin_sdk", "mpin_user", "mpin_crypto_server_context"):
    TYPES[f"{opaque} *"] = ctypes.c_void_p
    TYPES[f"{opaque} **"] = ctypes.POINTER(ctypes.c_void_p)


def type_of(declaration: str) -> Any:
    """The ctypes type of `const char *name`."""
    match = re.fullmatch(r"(.*?)(\**)\w+", declaration.strip())
    assert match, declaration
    return TYPES[" ".join(filter(None, [match[1].strip(), match[2]]))]


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


def test_config_has_the_members_of_the_header() -> None:
    match = re.search(r"struct mpin_config \{(.*?)\}", header("mpin.h"), flags=re.DOTALL)
    assert match
    members = [m.strip() for m in match[1].split(";") if m.strip()]
    expected = [(re.findall(r"\w+", m)[-1], type_of(m)) for m in members]
    assert expected == [(name, kind) for name, kind in _native.Config._fields_]  # type: ignore[misc]


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
