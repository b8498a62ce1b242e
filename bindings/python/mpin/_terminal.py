"""The output and the questions of the command line client."""

from __future__ import annotations

import argparse
import contextlib
import getpass
import os
import sys
from collections.abc import Iterator


class Failure(Exception):
    """An error of this program, described in one line."""

    #: The exit code.
    code = 1


def say(text: str) -> None:
    """Prints one line for the user."""
    print(printable(text), file=sys.stderr, flush=True)


def printable(text: str) -> str:
    """The text without control and format characters, because a server's text must not control the terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


@contextlib.contextmanager
def entered_pin(args: argparse.Namespace, prompt: str, is_new: bool = False) -> Iterator[bytearray]:
    """A PIN that is wiped after use. On a terminal, a new PIN is asked for twice."""
    pin = read_line(args.pin_fd) if args.pin_fd is not None else ask(prompt, is_new)
    try:
        yield pin
    finally:
        pin[:] = bytes(len(pin))


def ask(prompt: str, is_new: bool) -> bytearray:
    try:
        os.close(os.open("/dev/tty", os.O_RDWR))
    except OSError:
        raise Failure("no terminal to read the PIN from; use --pin-fd") from None
    first = getpass.getpass(f"{prompt}: ")
    if is_new and getpass.getpass("The same again: ") != first:
        raise Failure("the two PINs differ")
    return bytearray(first.encode())


def read_line(descriptor: int) -> bytearray:
    """Reads a line one byte at a time, so that nothing of the next line is consumed, which may be the next PIN."""
    line = bytearray()
    while len(line) < 64:
        octet = os.read(descriptor, 1)
        if octet in (b"", b"\n"):
            break
        line += octet
    return line
