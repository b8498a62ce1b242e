"""A whole registration and login of MIRACL Trust with every part in a process of its own, and every byte between them
recorded: no process sees both shares of a client secret (TRUST wire sections 1.4 and 10)."""

from __future__ import annotations

import contextlib
import re
import socket
import socketserver
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from mpin import IncorrectPinError, Trust
from phone import wait_until
from split import Split
from test_trust_client import claims
from trust_server import mpind

PROJECT, USER, PIN = "proj-1", "alice@example.com", "1234"
SHARE = re.compile(rb'"dvsClientSecret"\s*:\s*"(04[0-9a-f]{128})"')


class Recorder(socketserver.ThreadingTCPServer):
    """A wire: passes bytes on and keeps them, in both directions."""

    daemon_threads = True

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", 0), Wire)
        self.port = port
        self.bytes = b""
        self._lock = threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def carry(self, sender: socket.socket, receiver: socket.socket, direction: int) -> None:
        """Keeps each piece before it is passed on, so whoever has an answer finds it here, too."""
        with contextlib.suppress(OSError):
            while piece := sender.recv(1 << 16):
                with self._lock:
                    self.bytes += piece
                receiver.sendall(piece)
        with contextlib.suppress(OSError):
            receiver.shutdown(direction)


class Wire(socketserver.BaseRequestHandler):
    server: Recorder

    def handle(self) -> None:
        with wait_until(self._part, 60) as part:
            back = threading.Thread(target=self.server.carry, args=(part, self.request, socket.SHUT_WR))
            back.start()
            self.server.carry(self.request, part, socket.SHUT_WR)
            back.join()

    def _part(self) -> socket.socket | None:
        """The part may not listen yet. Its caller waits, as it does for a part without a recorder."""
        try:
            return socket.create_connection(("127.0.0.1", self.server.port))
        except ConnectionRefusedError:
            return None


class RecordedSplit(Split):
    """The parts, with a recorder at each wire."""

    def __init__(self, folder: Path, provider: list[str]) -> None:
        #: By both ends and the port.
        self.wires: dict[tuple[str, str, int], Recorder] = {}
        super().__init__(folder, "--rate-limits", "off", provider=provider)

    def _reach(self, caller: str, part: str, port: int) -> str:
        key = caller, part, port
        if key not in self.wires:
            self.wires[key] = Recorder(port)
        return f"http://127.0.0.1:{self.wires[key].server_address[1]}"

    def seen(self, *ends: str) -> bytes:
        """All that went over the wires at which all of these are."""
        return b"".join(wire.bytes for key, wire in self.wires.items() if set(ends) <= set(key[:2]))

    def close(self) -> None:
        for wire in self.wires.values():
            wire.shutdown()
            wire.server_close()


@pytest.fixture
def split(tmp_path: Path) -> Iterator[RecordedSplit]:
    (tmp_path / "clients.yaml").write_text("[]")
    parts = RecordedSplit(tmp_path / "split", ["--trust", "--clients", str(tmp_path / "clients.yaml")])
    try:
        mpind("project", "add", PROJECT, "--database", parts.database())
        yield parts
        parts.end()
    finally:
        parts.kill()
        parts.close()


def mailed_code(split: RecordedSplit, folder: Path) -> str:
    (mail,) = (folder / "split/provider-mail").glob("*.eml")
    text = mail.read_text().replace("=\n", "").replace("=3D", "=")
    found = re.search(r"[?&]code=([0-9a-f]+)", text)
    assert found, text
    return found[1]


def test_no_process_sees_both_shares(split: RecordedSplit, tmp_path: Path) -> None:
    with Trust(tmp_path / "store", project_id=PROJECT, url=split.issuer) as trust:
        trust.send_verification_email(USER)
        made = trust.get_activation_token(USER, mailed_code(split, tmp_path))
        user = trust.start_registration(USER, made.activation_token)
        trust.finish_registration(user, PIN)
        with pytest.raises(IncorrectPinError):
            trust.authenticate(user, "4321")
        told = claims(trust.authenticate(user, PIN))
    assert (told["sub"], told["aud"]) == (USER, PROJECT)
    (first,) = SHARE.findall(split.seen("client", "rps"))
    (second,) = SHARE.findall(split.seen("client", "dta2"))
    assert first != second
    parts = {part: split.seen(part) for part in ("dta1", "dta2", "rps", "rpa")}
    shares = {part: [name for name, share in (("1", first), ("2", second)) if share in told_all]
              for part, told_all in parts.items()}  # fmt: skip
    # The RPS passes on the share of D-TA 1, so that clients need to reach only one address more.
    assert shares == {"dta1": ["1"], "dta2": ["2"], "rps": ["1"], "rpa": []}
    # Nor does a part see more than one as bytes, or write it into a file: its database, its log.
    for part, everything in parts.items():
        assert sum(bytes.fromhex(share.decode())[1:] in everything for share in (first, second)) == 0, part
    for file in (tmp_path / "split").rglob("*"):
        kept = file.read_bytes() if file.is_file() else b""
        for share in (first, second):
            assert share not in kept and bytes.fromhex(share.decode())[1:] not in kept, file
