"""QR codes that pages show, for the command line client."""

from __future__ import annotations

import argparse
import os
from typing import Sequence
from urllib.parse import SplitResult, urlsplit

import mpin
from mpin._terminal import Failure, printable, say

_HERE = ("localhost", "127.0.0.1", "::1")


class QRCode:
    """The URL in a QR code: https://host/#code. It is not trusted, because anybody can show a QR code."""

    def __init__(self, text: str) -> None:
        page, mark, self.code = text.rpartition("#")
        try:
            self._url = urlsplit(page)
            self.origin = _origin(self._url)
        except ValueError:
            self.origin = ""
        # A code without a host is a code of the current backend.
        if not mark or not self.code or (page and not self.origin):
            raise argparse.ArgumentTypeError("not an http URL with something behind a #")

    def settle(self, sdk: mpin.SDK, backend: str, trusted: Sequence[str]) -> None:
        """Makes the service of the page the current backend, if the page belongs to another backend.

        The user must agree first, unless the page and its service are both in a trusted domain."""
        current = urlsplit(backend)
        if not self.origin or _place(self._url) == _place(current):
            return
        try:
            service = sdk.get_service_details(self.origin)
        except mpin.MPinError as error:
            raise Failure(
                f"the QR code is of {self.origin}, not of {backend}, and tells of no service: refused ({error})"
            ) from None
        try:
            named = urlsplit(service.backend_url)
            target = _origin(named)
        except ValueError:
            target = ""
        if not target:
            raise Failure(f"the QR code is of {self.origin}, whose service names no address: refused")
        if _place(named) == _place(current):
            return
        say(f"The QR code is of {self.origin}: service {service.name}, at {target}, not {backend}.")
        is_trusted = all(any(_is_within(url, domain) for domain in trusted) for url in (self._url, named))
        if not is_trusted and not _is_wanted("Log in there? [y/N] "):
            raise Failure(f"{target} is not your server: refused (--trust-domain {named.hostname} allows it)")
        sdk.set_backend(service.backend_url, service.rps_prefix)


def introduce_screen(session: mpin.SessionDetails, is_agreed: bool) -> None:
    """Says where the screen is that shows the code. If nothing is known about it, the user must agree, because somebody may
    have sent the code of another screen."""
    if session.screen_address:
        program = session.screen_program or "A browser"
        say(f"{program} at {session.screen_address} shows the code: it must be the screen before you")
        return
    site = f", opened by {session.site_address}" if session.site_address else ""
    text = f"The code is that of a screen that we know nothing about{site}"
    if is_agreed:
        say(text)
    elif not _is_wanted(f"{text}. Is it the screen before you? [y/N] "):
        raise Failure("nothing is known about the screen: --any-screen goes on without a question")


def _origin(url: SplitResult) -> str:
    """The URL's origin; empty if there is none."""
    if url.scheme not in ("http", "https") or not url.hostname or "@" in url.netloc:
        return ""
    host = f"[{url.hostname}]" if ":" in url.hostname else url.hostname
    return f"{url.scheme}://{host}" + (f":{url.port}" if url.port else "")


def _place(url: SplitResult) -> tuple[str, str, int]:
    host = url.hostname or ""
    default = 80 if url.scheme == "http" else 443
    return url.scheme, "localhost" if host in _HERE else host, url.port or default


def _is_within(url: SplitResult, domain: str) -> bool:
    """Whether the URL is https and its host is `domain` or a subdomain of it."""
    host, domain = url.hostname or "", domain.lower()
    return url.scheme == "https" and (host == domain or host.endswith(f".{domain}"))


def _is_wanted(question: str) -> bool:
    """Asks the user a yes-or-no question on the terminal. False for "no", and if there is no terminal."""
    try:
        terminal = os.open("/dev/tty", os.O_RDWR)
    except OSError:
        return False
    try:
        os.write(terminal, printable(question).encode())
        return os.read(terminal, 64)[:1].lower() == b"y"
    finally:
        os.close(terminal)
