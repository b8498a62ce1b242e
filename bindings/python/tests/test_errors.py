"""Every status of the headers has an exception, with its number and name."""

import re

import pytest
from conftest import header

import mpin
from mpin import _errors
from mpin._native import lib


def statuses() -> "dict[int, str]":
    numbered, _, _ = header("mpin.h").partition("mpin_status_name")
    found = re.findall(r"^#define MPIN_([A-Z_]+) (\d+)$", numbered, flags=re.MULTILINE)
    found += re.findall(r"^#define MPIN_CRYPTO_([A-Z_]+) \((-\d+)\)$", header("mpin_crypto.h"), flags=re.MULTILINE)
    return {int(code): name for name, code in found if not name.startswith("ABI_") and name != "OK"}


def test_the_codes_are_those_of_the_headers() -> None:
    assert {code: error.status for code, error in _errors.BY_CODE.items()} == statuses()


@pytest.mark.parametrize("code", [code for code in statuses() if code > 0])
def test_the_library_uses_the_same_name(code: int) -> None:
    assert lib.mpin_status_name(code).decode() == _errors.BY_CODE[code].status


@pytest.mark.parametrize("error", list(_errors.BY_CODE.values()))
def test_an_exception_is_public_and_carries_code_and_name(error: "type[mpin.MPinError]") -> None:
    assert getattr(mpin, error.__name__) is error
    assert error.__name__ in mpin.__all__
    raised = _errors.error_for(error.code, _errors.ErrorDetails("why", 410, 17, "gone", "r-7"))
    assert type(raised) is error
    assert (raised.code, raised.status) == (error.code, error.status)
    assert str(raised) == f"{error.status}: why"
    assert (raised.http_status, raised.retry_after, raised.server_error, raised.request_id) == (410, 17, "gone", "r-7")


def test_a_code_of_a_later_library_is_an_error_too() -> None:
    error = _errors.error_for(999)
    assert type(error) is mpin.MPinError
    assert (error.code, error.status) == (999, "UNKNOWN")


@pytest.mark.parametrize("error", [mpin.InvalidArgumentError, mpin.PinInvalidError, mpin.WrongParameterError])
def test_wrong_arguments_are_value_errors(error: "type[mpin.MPinError]") -> None:
    assert issubclass(error, ValueError)


def test_a_time_out_is_a_timeout_error() -> None:
    assert issubclass(mpin.TimedOutError, TimeoutError)
