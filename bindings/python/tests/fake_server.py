"""The fake MFA server of the tests in C (Tests/C/fake_server.h) as a callback."""

import ctypes
import os
import pathlib

from mpin import HTTPRequest, HTTPResponse, crypto

URL = "https://mfa.example.com"
ROOT = pathlib.Path(__file__).parents[3]
ANSWER = 4096


def load() -> ctypes.CDLL:
    """The library that `make -C Tests/C fake` builds."""
    library = ctypes.CDLL(os.environ.get("MPIN_FAKE_SERVER", str(ROOT / "build/c-tests/libfake.so")))
    library.fake_host_new.restype = ctypes.c_void_p
    library.fake_host_new.argtypes = []
    library.fake_host_free.restype = None
    library.fake_host_free.argtypes = [ctypes.c_void_p]
    library.fake_host_serve.argtypes = [ctypes.c_void_p, *[ctypes.c_char_p] * 5]
    library.fake_host_secret.restype = None
    library.fake_host_secret.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    return library


class Server:
    """A callback for HTTP. `answers` has the next answer for a path; all other answers are those of the fake server."""

    def __init__(self) -> None:
        self.library = load()
        self.host = self.library.fake_host_new()
        secret = ctypes.create_string_buffer(crypto.G2_SIZE)
        self.library.fake_host_secret(self.host, secret)
        self.context = crypto.ServerContext(secret.raw)
        self.answers: "dict[str, HTTPResponse]" = {}
        self.requests: "list[HTTPRequest]" = []

    def __del__(self) -> None:
        self.library.fake_host_free(self.host)

    def __call__(self, request: HTTPRequest) -> HTTPResponse:
        self.requests.append(request)
        path = request.url[len(URL) :].partition("?")[0]
        if path in self.answers:
            return self.answers.pop(path)
        answer = ctypes.create_string_buffer(ANSWER)
        status = self.library.fake_host_serve(
            self.host, request.method.encode(), request.url.encode(), request.body or b"", b"alice", answer
        )
        return HTTPResponse(status, [("X-Request-Id", "r-7")], answer.value)
