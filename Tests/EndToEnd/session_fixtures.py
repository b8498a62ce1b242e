"""A user with a phone, an app with a session at a real provider, and the proxy between them."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import mpin
import pytest
from session_process import provider
from session_proxy import Proxy

PIN = "1397"
PUBLIC = os.environ["MPIN_PUBLIC"]
BACKEND = os.environ["MPIN_BACKEND"]
API = f"{PUBLIC}/api"
#: The port of a redirect URI that names one.
NAMED_PORT = os.environ["MPIN_NAMED_PORT"]
_numbers = count()


@pytest.fixture(scope="session")
def the_proxy() -> Iterator[Proxy]:
    proxy = Proxy(int(os.environ["MPIN_PROXY_PORT"]), BACKEND)
    yield proxy
    proxy.stop()


@pytest.fixture
def proxy(the_proxy: Proxy) -> Proxy:
    the_proxy.reset()
    return the_proxy


@dataclass
class App:
    """An app, its user, and a clock that a test can set."""

    folder: pathlib.Path
    user: str
    proxy: Proxy
    pins: list[str | None] = field(default_factory=list)
    asked: list[mpin.PinRequest] = field(default_factory=list)
    events: list[tuple[str, str]] = field(default_factory=list)
    #: How far the clock of the device is ahead of the provider's, in seconds.
    later: float = 0

    @property
    def store(self) -> str:
        return str(self.folder / "store")

    def open(self, **more: Any) -> mpin.Session:
        """Opens the session, as after a start of the app."""
        context = mpin.Context(now=lambda: time.time() + self.later)
        sdk = mpin.SDK(self.store, backend=self.proxy_or_none(), context=context)
        functions: dict[str, Any] = {"ask_pin": self._ask, "on_event": self._told, **more}
        session = mpin.Session(sdk, **functions)
        for name in ("app", "short", "once"):
            session.add_provider(provider(name))
        return session

    def proxy_or_none(self) -> str | None:
        return PUBLIC if self.online else None

    online: bool = True

    def _ask(self, request: mpin.PinRequest) -> str | None:
        self.asked.append(request)
        return self.pins.pop(0)

    def _told(self, state: mpin.SessionState, name: str) -> None:
        self.events.append((state.name, name))

    def log_in(self, name: str = "app", **more: Any) -> mpin.Session:
        session = self.open(**more)
        self.pins.append(PIN)
        session.login(name, self.user)
        return session

    @contextmanager
    def process(self, *wrapper: str, later: float = 0) -> Iterator[subprocess.Popen[str]]:
        """Starts the app as another process, which has opened the session when this returns."""
        program = [sys.executable, str(pathlib.Path(__file__).with_name("session_process.py")), self.store, str(later)]
        child = subprocess.Popen([*wrapper, *program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            assert child.stdout and child.stdout.readline() == "ready\n"
            yield child
        finally:
            child.kill()
            child.communicate()


@contextmanager
def able_to_listen(place: str) -> Iterator[None]:
    """Where a machine has no address ::1, as in some containers, a login there must say so."""
    addresses = pathlib.Path("/proc/net/if_inet6")
    if "[::1]" in place and not (addresses.exists() and "0" * 31 + "1 " in addresses.read_text()):
        with pytest.raises(mpin.NetworkError):
            yield
    else:
        yield


def say(child: subprocess.Popen[str], text: str) -> None:
    assert child.stdin
    child.stdin.write(f"{text}\n")
    child.stdin.flush()


def answer(child: subprocess.Popen[str]) -> str:
    assert child.stdout
    return child.stdout.readline().strip()


def ask(child: subprocess.Popen[str], text: str) -> str:
    say(child, text)
    return answer(child)


@pytest.fixture
def app(tmp_path: pathlib.Path, proxy: Proxy) -> App:
    """An app whose user is registered."""
    app = App(tmp_path, f"user-{next(_numbers)}-{os.getpid()}@example.com", proxy)
    with mpin.SDK(app.store, backend=PUBLIC) as sdk:
        user = sdk.make_new_user(app.user)
        sdk.start_registration(user)
        sdk.confirm_registration(user)
        sdk.finish_registration(user, PIN)
    proxy.reset()
    return app
