"""The network between a browser and the server: it can be held, cut, or change what it carries. The browser reaches it
as a SOCKS 5 proxy (RFC 1928), so the page's address stays that of the server."""

from __future__ import annotations

import contextlib
import socket
import socketserver
import struct
import threading
from collections.abc import Iterable, Iterator

_NO_AUTHENTICATION = b"\x05\x00"
_CONNECT = 1
_IPV4, _NAME = 1, 3
_CONNECTED, _UNREACHABLE = 0, 3


class Network:
    """All connections of the browsers that were started with `arguments`."""

    def __init__(self) -> None:
        self.is_cut = False
        self._flows = threading.Event()
        self._flows.set()
        # What is replaced in the server's answers, by as many bytes.
        self.changes: dict[bytes, bytes] = {}
        self._open: set[socket.socket] = set()
        network = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                with contextlib.suppress(OSError):
                    network._serve(self.request)

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def arguments(self) -> list[str]:
        """Those of Chromium. Without the second one, it would not use a proxy for this machine."""
        return [f"--proxy-server=socks5://127.0.0.1:{self.port}", "--proxy-bypass-list=<-loopback>"]

    def hold(self) -> None:
        """Lets nothing arrive until release(), as on a network that is so slow."""
        self._flows.clear()

    def release(self) -> None:
        self._flows.set()

    def cut(self) -> None:
        """Ends all connections, and lets no others begin."""
        self.is_cut = True
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        self.is_cut = False

    def close(self) -> None:
        self.cut()
        self.release()
        self._server.shutdown()
        self._server.server_close()

    def _serve(self, browser: socket.socket) -> None:
        _exactly(browser, _exactly(browser, 2)[1])
        browser.sendall(_NO_AUTHENTICATION)
        _, command, _, kind = _exactly(browser, 4)
        size = 4 if kind == _IPV4 else _exactly(browser, 1)[0]
        address, (port,) = _exactly(browser, size), struct.unpack("!H", _exactly(browser, 2))
        if self.is_cut or command != _CONNECT or kind not in (_IPV4, _NAME):
            return _answer(browser, _UNREACHABLE)
        host = socket.inet_ntoa(address) if kind == _IPV4 else address.decode()
        with socket.create_connection((host, port)) as server:
            _answer(browser, _CONNECTED)
            self._open |= {browser, server}
            back = threading.Thread(target=self._carry, args=(server, browser, True), daemon=True)
            back.start()
            self._carry(browser, server, False)
            back.join()
            self._open -= {browser, server}

    def _carry(self, sender: socket.socket, receiver: socket.socket, is_answer: bool) -> None:
        changes = self.changes if is_answer else {}
        rest = b""
        with contextlib.suppress(OSError):
            while piece := sender.recv(1 << 16):
                piece = rest + piece
                for old, new in changes.items():
                    piece = piece.replace(old, new)
                # What may be the beginning of something to replace waits for the next piece. No answer ends with that.
                rest = _beginning(piece, changes)
                self._flows.wait()
                receiver.sendall(piece.removesuffix(rest))
            receiver.sendall(rest)
        with contextlib.suppress(OSError):
            receiver.shutdown(socket.SHUT_WR)


def _beginning(data: bytes, names: Iterable[bytes]) -> bytes:
    """The longest end of `data` with which one of the names begins."""
    lengths = (size for name in names for size in range(1, len(name)) if data.endswith(name[:size]))
    return data[len(data) - max(lengths, default=0) :]


def _exactly(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = connection.recv(size - len(data))
        if not piece:
            raise OSError("the browser has closed its connection")
        data += piece
    return data


def _answer(browser: socket.socket, code: int) -> None:
    browser.sendall(struct.pack("!BBBB4sH", 5, code, 0, _IPV4, b"\0" * 4, 0))


@contextlib.contextmanager
def a_network() -> Iterator[Network]:
    network = Network()
    try:
        yield network
    finally:
        network.close()
