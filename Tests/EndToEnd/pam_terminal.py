"""A program in a terminal, and a camera that reads the QR code which it shows."""

from __future__ import annotations

import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass

BLOCKS = {" ": (0, 0), "▄": (0, 1), "▀": (1, 0), "█": (1, 1)}
#: How large a module of a QR code is in the picture, in pixels, and its margin in modules.
SCALE, MARGIN = 4, 4


@dataclass
class Invitation:
    """What a login shows: the link and the code, as texts."""

    link: str
    code: str


class Terminal:
    """A program that runs in a terminal of its own."""

    def __init__(self, *program: str, **environment: str) -> None:
        self.shown = ""
        self._bytes = b""
        self.child, self._terminal = pty.fork()
        if self.child == 0:
            try:
                os.execvpe(program[0], program, {**os.environ, **environment})
            finally:
                os._exit(127)

    def _read(self, seconds: float) -> bool:
        """Reads what the program shows. Returns False at its end."""
        if select.select([self._terminal], [], [], max(0, seconds))[0]:
            try:
                self._bytes += os.read(self._terminal, 65536)
            except OSError:
                return False
            self.shown = self._bytes.decode(errors="replace").replace("\r\n", "\n")
        return True

    def wait_for(self, text: str) -> None:
        end = time.monotonic() + 60
        while text not in self.shown:
            assert self._read(end - time.monotonic()), f"the program has ended: {self.shown!r}"
            assert time.monotonic() < end, self.shown

    def invitation(self) -> Invitation:
        """Waits for the invitation and returns it."""
        self.wait_for("codes are the same.")
        found = re.search(r"^ +(\S+)\n +code: (\S+), for \d+ seconds", self.shown, re.MULTILINE)
        assert found, self.shown
        return Invitation(found[1], found[2])

    def press_enter(self) -> None:
        self.wait_for("Press Enter")
        os.write(self._terminal, b"\n")

    def interrupt(self) -> int:
        """Presses Ctrl-C until the program ends, because sudo forgets one that comes just before it reads. Returns the
        exit code."""
        end = time.monotonic() + 60
        while self._read(0.2):
            assert time.monotonic() < end, self.shown
            os.write(self._terminal, b"\x03")
        return self.end()

    def kill(self) -> None:
        os.kill(self.child, signal.SIGKILL)
        self.end()

    def end(self) -> int:
        """Waits for the program's end and returns its exit code."""
        end = time.monotonic() + 60
        while self._read(end - time.monotonic()):
            assert time.monotonic() < end, self.shown
        code = os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1])
        os.close(self._terminal)
        return code


def photographed(shown: str) -> str:
    """Returns the text of the QR code in what a dark terminal shows."""
    lines = [line for line in shown.split("\n") if line and set(line) <= set(BLOCKS) and "█" in line]
    light = [[BLOCKS[character][half] for character in line] for line in lines for half in (0, 1)]
    margin = [0] * (MARGIN * SCALE)
    row = [0] * (len(light[0]) * SCALE + 2 * len(margin))
    rows = [row] * len(margin)
    for modules in light:
        rows += [margin + [1 - module for module in modules for _ in range(SCALE)] + margin] * SCALE
    rows += [row] * len(margin)
    text = f"P1\n{len(row)} {len(rows)}\n" + "\n".join(" ".join(map(str, pixels)) for pixels in rows) + "\n"
    with tempfile.TemporaryDirectory() as folder:
        picture = pathlib.Path(folder, "code.pbm")
        picture.write_text(text)
        command = ["zbarimg", "--nodbus", "--quiet", "--raw", str(picture)]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
