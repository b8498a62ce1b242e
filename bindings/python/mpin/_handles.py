"""The base of all objects with a handle of the library, and the conversion of texts and secrets for C."""

from __future__ import annotations

import ctypes
import os
from types import TracebackType
from typing import Any, Callable, TypeVar, Union

from . import _structures as structures
from ._errors import BufferTooSmallError, ErrorDetails, InvalidArgumentError, error_for
from ._native import lib

#: A PIN. The owner of a bytearray can wipe it; a str or bytes cannot be wiped.
Pin = Union[str, bytes, bytearray]

_Handle = TypeVar("_Handle", bound="Closable")


class Closable:
    """The owner of one handle of the library."""

    _handle: int | None = None
    _free: Callable[[int | None], None]

    def close(self) -> None:
        """Releases the handle. Later calls raise InvalidHandleError; a second close() does nothing."""
        handle, self._handle = self._handle, None
        if handle is not None:
            self._free(handle)

    def __enter__(self: _Handle) -> _Handle:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


class Calls(Closable):
    """Calls functions of one sdk or session and reads their errors and outputs."""

    #: The function of the library that reads the last error of the handle.
    _read_last_error: Any = staticmethod(lib.mpin_sdk_get_last_error)

    def _check(self, status: int) -> None:
        """Raises the exception of a status that is not OK, with the library's description."""
        if status:
            raise error_for(status, self._last_error(status)) from self._failure()

    def _failure(self) -> BaseException | None:
        """The exception that a callback of the program has raised in this thread, or None."""
        return None

    def _last_error(self, status: int) -> ErrorDetails:
        error = structures.Error(size=ctypes.sizeof(structures.Error))
        if self._read_last_error(self._handle, ctypes.byref(error)) or error.status != status:
            return ErrorDetails()
        return ErrorDetails(
            _text(error.text),
            error.http_status or None,
            error.retry_after or None,
            _text(error.server_error),
            _text(error.request_id),
            self._attempts_left(),
        )

    def _attempts_left(self) -> int | None:
        left = ctypes.c_int32(-1)
        if lib.mpin_sdk_get_attempts_left(self._handle, ctypes.byref(left)) or left.value < 0:
            return None
        return left.value

    def _text(self, function: Any, handle: int | None, *before: Any, after: tuple[Any, ...] = ()) -> str:
        """Calls a function with a text output between two groups of arguments, and returns the text."""
        size = ctypes.c_size_t(1024)
        while True:
            text = ctypes.create_string_buffer(size.value)
            status = function(handle, *before, text, ctypes.byref(size), *after)
            if status != BufferTooSmallError.code:
                self._check(status)
                return text.value.decode("utf-8")

    def _number(self, function: Any, handle: int | None, *before: Any, after: tuple[Any, ...] = ()) -> int:
        """Calls a function with a number as output between two groups of arguments, and returns the number."""
        number = ctypes.c_int32()
        self._check(function(handle, *before, ctypes.byref(number), *after))
        return number.value


class Secret:
    """A PIN in the form that the library reads. It is wiped after the call."""

    def __init__(self, pin: Pin) -> None:
        octets = _encoded(pin) if isinstance(pin, str) else pin
        if 0 in octets:
            raise InvalidArgumentError("the PIN has a NUL")
        self._text = ctypes.create_string_buffer(len(octets) + 1)
        for index, octet in enumerate(octets):
            self._text[index] = bytes((octet,))

    def __enter__(self) -> ctypes.Array[ctypes.c_char]:
        return self._text

    def __exit__(self, *_: object) -> None:
        ctypes.memset(self._text, 0, len(self._text))


def _text(octets: bytes) -> str:
    return octets.decode("utf-8", "replace")


def sized(structure: Any) -> Any:
    """An empty structure with its size set."""
    return structure(size=ctypes.sizeof(structure))


def utf8(text: str) -> bytes:
    """A text in the form that the library reads. A NUL inside is refused, because the library would stop there."""
    if "\0" in text:
        raise InvalidArgumentError("a text has a NUL")
    return _encoded(text)


def _encoded(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidArgumentError("a text has half a character") from None


def optional(text: str | None) -> bytes | None:
    return None if text is None else utf8(text)


def path_octets(path: str | os.PathLike[str]) -> bytes:
    octets = os.fsencode(path)
    if b"\0" in octets:
        raise InvalidArgumentError("a path has a NUL")
    return octets


def octet_array(octets: bytes | bytearray | memoryview) -> Any:
    """Octets in the form that the library reads. They are never empty, so that there is a valid pointer."""
    return (ctypes.c_uint8 * max(len(octets), 1)).from_buffer_copy(bytes(octets) or b"\0")
