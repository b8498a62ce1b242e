"""python -m mpin as a person uses it: a terminal, a mail, exit codes."""

import http.server
import json
import os
import pathlib
import pty
import re
import select
import signal
import socket
import subprocess
import sys
import termios
import threading
import time
import urllib.request
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from conftest import serve
from test_flow import Browser

import mpin
from mpin._qr import _is_within
from mpin._terminal import say

USER = "alice@example.com"


@pytest.fixture
def environment(tmp_path: pathlib.Path, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPIN_BACKEND", server)
    monkeypatch.setenv("MPIN_STORE", str(tmp_path / "store"))


def run(*arguments: str, pins: str = "") -> "tuple[int, str]":
    """Runs a command with the PINs in a pipe. Returns the exit code and all output."""
    command = [sys.executable, "-m", "mpin", *arguments, "--pin-fd", "0"]
    out, both = subprocess.PIPE, subprocess.STDOUT
    result = subprocess.run(command, input=pins, stdout=out, stderr=both, text=True, timeout=30)
    return result.returncode, result.stdout


def talk(arguments: "list[str]", typed: "list[bytes]", question: bytes = b"") -> "tuple[int, str]":
    """Runs a command at a terminal. Types a line at each prompt once the echo is off, the first one at a `question`."""
    child, terminal = pty.fork()
    if child == 0:
        # In tests that run in the background SIGINT is ignored, and the program would inherit that.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.execv(sys.executable, [sys.executable, "-m", "mpin", *arguments])
    seen, lines, end, pressed = b"", list(typed), time.monotonic() + 20, 0.0
    while time.monotonic() < end:
        if select.select([terminal], [], [], 0.05)[0]:
            try:
                seen += os.read(terminal, 4096)
            except OSError:
                break
        is_silent = not termios.tcgetattr(terminal)[3] & termios.ECHO
        count, asked = len(typed) - len(lines), 1 if question else 0
        is_asked = seen.endswith(question) if count < asked else seen.count(b": ", seen.find(question)) > count - asked
        if lines and is_asked and (is_silent or count < asked):
            os.write(terminal, lines.pop(0))
            pressed = time.monotonic()
        # If a signal comes just before Python begins to read, Python notices it only after the read. So the Ctrl-C is
        # sent again.
        elif not lines and typed[-1].endswith(b"\x03") and time.monotonic() > pressed + 1:
            os.write(terminal, b"\x03")
            pressed = time.monotonic()
    else:
        os.kill(child, 9)
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), seen.decode()


def test_a_life_of_a_user(environment: None, server: str) -> None:
    there = f"Login at {server} as {USER}\n"
    assert run("list") == (0, "nobody is registered here\n")
    assert run("login", USER) == (1, f"{USER} is not registered here\n")
    assert run("register", USER, pins="1234\n") == (0, "OK\n")
    code, said = run("register", USER, pins="1234\n")
    assert code == 1 and "to begin anew: python -m mpin delete" in said
    assert run("login", USER, pins="1234\n") == (0, f"{there}OK\n")
    # A port or the number of a request may contain any four digits. Six are not in them.
    code, said = run("login", USER, pins="432109\n")
    assert (code, said.startswith(f"{there}INCORRECT_PIN")) == (3, True) and "432109" not in said
    assert "left" not in said
    code, said = run("otp", USER, pins="1234\n")
    assert code == 0 and re.fullmatch(re.escape(there) + r"\d{6} \(good for \d+ s\)\n", said)
    assert run("change-pin", USER, pins="1234\n5678\n") == (0, f"{there}OK\n")
    assert run("login", USER, pins="5678\n") == (0, f"{there}OK\n")
    code, said = run("list")
    assert code == 0 and said.startswith(f"{USER}\tregistered\thttp")
    code, said = run("doctor")
    assert code == 0 and re.search(r"server: http://127\.0\.0\.1:\d+ answers", said)
    assert [run("login", USER, pins="1111\n")[0] for _ in range(4)] == [3, 3, 4, 4]
    assert run("delete", USER) == (0, "OK\n")
    assert run("list") == (0, "nobody is registered here\n")


def test_a_browser_is_logged_in_by_its_code(environment: None, server: str) -> None:
    assert run("register", "carol@example.com", pins="1234\n") == (0, "OK\n")
    for what, member, option in (("getAccessNumber", "accessNumber", "--number"), ("getQrUrl", "qrUrl", "--qr")):
        browser = Browser(server, what)
        command = ["login", "carol@example.com", option, browser.session[member]]
        if option == "--qr":
            without = ["setsid", "--wait", sys.executable, "-m", "mpin", *command, "--pin-fd", "0"]
            refused = subprocess.run(without, input="1234\n", capture_output=True, text=True, timeout=30)
            assert refused.returncode == 1 and "nothing is known about the screen" in refused.stderr
        code, said = run(*command, "--any-screen", pins="1234\n")
        assert (code, said.endswith("OK\n"), "Login at" in said) == (0, True, True), said
        assert ("a screen that we know nothing about" in said) == (option == "--qr"), said
        browser.join()
        assert browser.is_logged_in


def test_no_words_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    say("wärme \x1b[2J\x9b1m\r\n\u202e!")
    assert capsys.readouterr().err == "wärme  [2J 1m   !\n"


def test_a_terminal_shows_no_pin(environment: None) -> None:
    code, said = talk(["register", USER], [b"123456\n", b"432109\n"])
    assert (code, "the two PINs differ" in said) == (1, True)
    code, said = talk(["register", USER], [b"123456\n", b"123456\n"])
    assert (code, "123456" in said, said.endswith("OK\r\n")) == (0, False, True)
    code, said = talk(["login", USER], [b"123456\n"])
    assert (code, "123456" in said, said.endswith("OK\r\n")) == (0, False, True)
    code, said = talk(["login", USER], [b"12\x03"])
    assert (code, said.endswith("interrupted\r\n")) == (1, True), said


def test_without_a_terminal_the_pin_must_come_from_elsewhere(environment: None) -> None:
    run("register", USER, pins="1234\n")
    command = ["setsid", "--wait", sys.executable, "-m", "mpin", "login", USER]
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert result.returncode == 1
    assert result.stderr.endswith("\nno terminal to read the PIN from; use --pin-fd\n")


TWO_CODES = ["login", USER, "--qr", "http://a/#b", "--number", "1"]


NO_CODE = ["login", USER, "--qr", "http://a/"]
NO_URL = ["login", USER, "--qr", "a#b"]


@pytest.mark.parametrize("arguments", [[], ["dance"], ["login"], NO_CODE, NO_URL, TWO_CODES])
def test_wrong_usage(environment: None, arguments: "list[str]") -> None:
    code, said = run(*arguments)
    assert (code, said.startswith("usage: python -m mpin")) == (64, True)


def test_without_a_backend_it_says_how_to_name_one(environment: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MPIN_BACKEND")
    assert run("login", USER) == (1, "no backend: --backend or MPIN_BACKEND\n")
    assert run("list") == (0, "nobody is registered here\n")


@pytest.fixture
def page(server: str) -> "Iterator[str]":
    """The URL of a website at another origin than `server`. It names `server` as its service and writes no log."""

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            service = {"name": "Shop", "url": server, "rps_prefix": "rps", "logo_url": "", "type": "online"}
            body = json.dumps(service).encode() if self.path == "/service" else b"{}"
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{made.server_address[1]}"
        made.shutdown()


def test_a_qr_code_of_another_host_needs_a_yes(
    environment: None, server: str, page: str, post_office: "tuple[str, pathlib.Path]"
) -> None:
    assert run("register", "dora@example.com", pins="123456\n") == (0, "OK\n")
    browser = Browser(server, "getQrUrl")
    url = f"{page}/#{browser.session['qrUrl'].rpartition('#')[2]}"
    command = ["login", "dora@example.com", "--qr", url, "--backend", post_office[0]]
    without = subprocess.run(
        ["setsid", "--wait", sys.executable, "-m", "mpin", *command, "--pin-fd", "0"],
        input="123456\n",
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert without.returncode == 1 and f"service Shop, at {server}, not {post_office[0]}" in without.stderr
    assert f"{server} is not your server: refused (--trust-domain" in without.stderr
    # Only a page with an https URL can be in a trusted domain, and this page has an http URL.
    code, said = talk([*command, "--trust-domain", "127.0.0.1"], [b"n\n"], b"[y/N] ")
    assert (code, "refused" in said) == (1, True), said
    code, said = talk([*command, "--any-screen"], [b"y\n", b"123456\n"], b"[y/N] ")
    assert (code, f"{server} as dora@example.com" in said, "123456" in said) == (0, True, False), said
    browser.join()
    assert browser.is_logged_in


def test_a_qr_code_of_a_page_without_a_service_is_refused(environment: None, post_office: "tuple[str, pathlib.Path]") -> None:
    url = "http://127.0.0.1:1"
    code, said = run("login", USER, "--any-screen", "--qr", f"{url}/#0123", "--backend", post_office[0])
    assert code == 1 and said.startswith(f"the QR code is of {url}, not of {post_office[0]}, and tells of no service: refused")


def test_domains_are_trusted_by_whole_labels() -> None:
    for url, domain, is_trusted in (
        ("https://example.com/", "example.com", True),
        ("https://login.example.com:8443/", "Example.com", True),
        ("https://evilexample.com/", "example.com", False),
        ("https://example.com.evil.com/", "example.com", False),
        ("http://example.com/", "example.com", False),
    ):
        assert _is_within(urlsplit(url), domain) == is_trusted, url


def test_a_wrong_pin_is_told_how_many_tries_are_left(tmp_path: pathlib.Path) -> None:
    with serve(tmp_path, "--force-activate", "--tell-attempts-left", "--set-device-name") as url:
        options = ["--backend", url, "--store", str(tmp_path / "store")]
        assert run("register", USER, *options, pins="1234\n") == (0, "OK\n")
        with mpin.SDK(tmp_path / "store", backend=url) as sdk:
            user = sdk.get_user(USER)
            assert user is not None and user.device_name == socket.gethostname()
            sdk.start_authentication(user)
            with pytest.raises(mpin.IncorrectPinError) as raised:
                sdk.finish_authentication(user, "4321")
            assert raised.value.attempts_left == 2
        code, said = run("login", USER, *options, pins="4321\n")
        assert (code, said.endswith(": 1 try is left\n")) == (3, True), said
        code, said = run("login", USER, *options, pins="4321\n")
        assert (code, "left" in said) == (4, False), said


def test_a_device_name_that_the_server_does_not_keep_is_not_sent(environment: None, server: str, tmp_path: pathlib.Path) -> None:
    code, said = run("register", "erna@example.com", "--device-name", "erna's", pins="1234\n")
    assert (code, said) == (0, "The server keeps no device names: --device-name is not sent.\nOK\n")
    with mpin.SDK(tmp_path / "store", backend=server) as sdk:
        user = sdk.get_user("erna@example.com")
        assert user is not None and user.device_name == ""


def test_the_usage_screen_has_an_example(environment: None) -> None:
    code, said = run("--help")
    assert code == 0 and "python -m mpin register alice@example.com" in said and "Exit codes: 0 done" in said


def test_no_server(environment: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPIN_BACKEND", "http://127.0.0.1:1")
    code, said = run("doctor")
    assert (code, said.startswith("NETWORK_ERROR: ")) == (1, True)


def test_doctor_connects_to_the_servers_of_its_users(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MPIN_BACKEND", raising=False)
    options = ["--store", str(tmp_path / "store")]
    code, said = run("doctor", *options)
    assert (code, said.endswith("no server to connect to: --backend or MPIN_BACKEND\n")) == (1, True), said
    with serve(tmp_path, "--force-activate") as url:
        assert run("register", USER, *options, "--backend", url, pins="1234\n") == (0, "OK\n")
        code, said = run("doctor", *options)
        assert (code, f"server: {url} answers\n" in said) == (0, True), said
    code, said = run("doctor", *options)
    assert (code, "NETWORK_ERROR" in said, f"{url} answers" in said) == (1, True, False), said


@pytest.fixture(scope="module")
def post_office(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[tuple[str, pathlib.Path]]":
    """A server that mails links, and the folder of its mails."""
    folder = tmp_path_factory.mktemp("post")
    with serve(folder) as url:
        yield url, folder / "mail"


def open_mailed_link(url: str, mails: pathlib.Path) -> None:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        for mail in mails.glob("*.eml"):
            (link,) = re.findall(rf"^{re.escape(url)}/mpinActivate\?.*", mail.read_text(), re.MULTILINE)
            mail.unlink()
            urllib.request.urlopen(link.strip(), data=b"", timeout=10).close()
            return
        time.sleep(0.05)
    raise AssertionError("no mail came")


def test_a_mailed_link(tmp_path: pathlib.Path, post_office: "tuple[str, pathlib.Path]") -> None:
    url, mails = post_office
    options = ["--backend", url, "--store", str(tmp_path / "store")]
    assert run("register", USER, "--wait", "0", *options)[0] == 5
    assert run("confirm", USER, *options)[0] == 5
    open_mailed_link(url, mails)
    assert run("confirm", USER, *options, pins="1234\n") == (0, "OK\n")
    command = [sys.executable, "-m", "mpin", "register", "bob@example.com", *options, "--pin-fd", "0"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout
        assert "Open the link in the mail to bob@example.com" in process.stdout.readline()
        open_mailed_link(url, mails)
        assert process.communicate("1234\n", timeout=30)[0] == "OK\n"
    assert process.returncode == 0
