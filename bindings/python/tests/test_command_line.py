"""python -m mpin as a person uses it: a terminal, a mail, exit codes."""

import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
import urllib.request
from collections.abc import Iterator

import pytest
from conftest import serve
from test_flow import Browser

from mpin._terminal import say

USER = "alice@example.com"


@pytest.fixture
def environment(tmp_path: pathlib.Path, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPIN_BACKEND", server)
    monkeypatch.setenv("MPIN_STORE", str(tmp_path / "store"))


def run(*arguments: str, pins: str = "") -> "tuple[int, str]":
    """Exit code and all output, with the PINs in a pipe."""
    command = [sys.executable, "-m", "mpin", *arguments, "--pin-fd", "0"]
    out, both = subprocess.PIPE, subprocess.STDOUT
    result = subprocess.run(command, input=pins, stdout=out, stderr=both, text=True, timeout=30)
    return result.returncode, result.stdout


def talk(arguments: "list[str]", typed: "list[bytes]") -> "tuple[int, str]":
    """The same at a terminal: types a line at each prompt, once the echo is off."""
    child, terminal = pty.fork()
    if child == 0:
        # Tests that run in the background have it ignored, and so would the program.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.execv(sys.executable, [sys.executable, "-m", "mpin", *arguments])
    seen, lines, end, pressed = b"", list(typed), time.monotonic() + 20, 0.0
    while time.monotonic() < end:
        if select.select([terminal], [], [], 0.05)[0]:
            try:
                seen += os.read(terminal, 4096)
            except OSError:
                break
        prompts = len(typed) - len(lines) + 1
        is_silent = not termios.tcgetattr(terminal)[3] & termios.ECHO
        if lines and seen.count(b": ") >= prompts and is_silent:
            os.write(terminal, lines.pop(0))
            pressed = time.monotonic()
        # One that comes just before Python begins to read is seen after the read only: whoever waits presses it again.
        elif not lines and typed[-1].endswith(b"\x03") and time.monotonic() > pressed + 1:
            os.write(terminal, b"\x03")
            pressed = time.monotonic()
    else:
        os.kill(child, 9)
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), seen.decode()


def test_a_life_of_a_user(environment: None) -> None:
    assert run("list") == (0, "nobody is registered here\n")
    assert run("login", USER) == (1, f"{USER} is not registered here\n")
    assert run("register", USER, pins="1234\n") == (0, "OK\n")
    code, said = run("register", USER, pins="1234\n")
    assert code == 1 and "to begin anew: python -m mpin delete" in said
    assert run("login", USER, pins="1234\n") == (0, "OK\n")
    code, said = run("login", USER, pins="4321\n")
    assert (code, said.startswith("INCORRECT_PIN")) == (3, True) and "4321" not in said
    code, said = run("otp", USER, pins="1234\n")
    assert code == 0 and re.fullmatch(r"\d{6} \(good for \d+ s\)\n", said)
    assert run("change-pin", USER, pins="1234\n5678\n") == (0, "OK\n")
    assert run("login", USER, pins="5678\n") == (0, "OK\n")
    code, said = run("list")
    assert code == 0 and said.startswith(f"{USER}\tregistered\thttp")
    code, said = run("doctor")
    assert code == 0 and "server: answers" in said
    assert [run("login", USER, pins="1111\n")[0] for _ in range(4)] == [3, 3, 4, 4]
    assert run("delete", USER) == (0, "OK\n")
    assert run("list") == (0, "nobody is registered here\n")


def test_a_browser_is_logged_in_by_its_code(environment: None, server: str) -> None:
    assert run("register", "carol@example.com", pins="1234\n") == (0, "OK\n")
    for what, member, option in (("getAccessNumber", "accessNumber", "--number"), ("getQrUrl", "qrUrl", "--qr")):
        browser = Browser(server, what)
        code, said = run("login", "carol@example.com", option, browser.session[member], pins="1234\n")
        assert (code, said.endswith("OK\n"), "Login at" in said) == (0, True, option == "--qr"), said
        browser.join()
        assert browser.is_logged_in


def test_no_words_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    say("wärme \x1b[2J\x9b1m\r\n\u202e!")
    assert capsys.readouterr().err == "wärme  [2J 1m   !\n"


def test_a_terminal_shows_no_pin(environment: None) -> None:
    code, said = talk(["register", USER], [b"1234\n", b"4321\n"])
    assert (code, "the two PINs differ" in said) == (1, True)
    code, said = talk(["register", USER], [b"1234\n", b"1234\n"])
    assert (code, "1234" in said, said.endswith("OK\r\n")) == (0, False, True)
    code, said = talk(["login", USER], [b"1234\n"])
    assert (code, "1234" in said, said.endswith("OK\r\n")) == (0, False, True)
    code, said = talk(["login", USER], [b"12\x03"])
    assert (code, said.endswith("interrupted\r\n")) == (1, True), said


def test_without_a_terminal_the_pin_must_come_from_elsewhere(environment: None) -> None:
    run("register", USER, pins="1234\n")
    command = ["setsid", "--wait", sys.executable, "-m", "mpin", "login", USER]
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (1, "no terminal to read the PIN from; use --pin-fd\n")


TWO_CODES = ["login", USER, "--qr", "a#b", "--number", "1"]


@pytest.mark.parametrize("arguments", [[], ["dance"], ["login"], ["login", USER, "--qr", "http://a/"], TWO_CODES])
def test_wrong_usage(environment: None, arguments: "list[str]") -> None:
    code, said = run(*arguments)
    assert (code, said.startswith("usage: python -m mpin")) == (64, True)


def test_the_usage_screen_has_an_example(environment: None) -> None:
    code, said = run("--help")
    assert code == 0 and "python -m mpin register alice@example.com" in said and "Exit codes: 0 done" in said


def test_no_server(environment: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPIN_BACKEND", "http://127.0.0.1:1")
    code, said = run("doctor")
    assert (code, said.startswith("NETWORK_ERROR: ")) == (1, True)


@pytest.fixture(scope="module")
def post_office(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[tuple[str, pathlib.Path]]":
    """A server that mails links, and where the mails are."""
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
