"""Types a PIN at a terminal for a program that asks for it: terminal.py PIN PROGRAM...

Fails if the program shows the PIN, leaves the terminal so that typed characters are not shown, or does not succeed
within a minute.
"""

from __future__ import annotations

import os
import pty
import select
import signal
import sys
import termios
import time


def has_echo(terminal: int) -> bool:
    return bool(termios.tcgetattr(terminal)[3] & termios.ECHO)


def talk(terminal: int, pin: bytes) -> bytes:
    """Returns everything that the program shows. The PIN is typed once the terminal no longer shows typed
    characters."""
    seen, typed, deadline = b"", False, time.monotonic() + 60
    while time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.05)[0]:
            try:
                seen += os.read(terminal, 4096)
            except OSError:  # the program has ended
                return seen
        if not typed and b"PIN:" in seen and not has_echo(terminal):
            os.write(terminal, pin + b"\n")
            typed = True
    raise TimeoutError(seen)


def main(pin: str, *program: str) -> None:
    child, terminal = pty.fork()
    if child == 0:
        os.execvp(program[0], program)
    try:
        seen = talk(terminal, pin.encode())
    except TimeoutError:
        os.kill(child, signal.SIGKILL)
        raise
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code != 0 or pin.encode() in seen or not has_echo(terminal):
        sys.exit(f"exit code {code}, echo {has_echo(terminal)}, shown: {seen!r}")


main(*sys.argv[1:])
