"""The PAM module with pamtester: who gets in, and that everything else is refused."""

from __future__ import annotations

import base64
import json
import os
import pathlib
import re
import time
from collections.abc import Callable

import mpin
import pytest
from pam_fixtures import (
    ALICE, APART, BOB, DEVICE, LOCAL, OTHER, PUBLIC, SECRET, SERVICE, TOKEN, USERINFO, USERS, WRONG_PIN, Provider,
    SystemLog, allow, attempt, configure, open_link,
)  # fmt: skip
from pam_terminal import Terminal, photographed
from relying_party import Person

pytestmark = pytest.mark.usefixtures("machine")

#: An answer of the provider.
EXPIRED: Callable[[bytes], bytes] = lambda _: b'{"error":"expired_token"}'
#: A deadline in seconds, before which a login surely begins, on a slow machine too.
DEADLINE = 15


def short(value: object) -> str:
    """The name of a test's value. pytest puts it into the environment, where long ones have no room."""
    return repr(value)[:30]


def refused(terminal: Terminal) -> None:
    assert terminal.end() == 1 and "successfully" not in terminal.shown, terminal.shown


def refused_unseen(terminal: Terminal, provider: Provider) -> None:
    """The login is refused before the provider is asked."""
    refused(terminal)
    assert "code:" not in terminal.shown and not provider.asked


def test_right_pin(alice: Person, provider: Provider, log: SystemLog) -> None:
    """The terminal shows a QR code, a link and a code. A PIN on the phone lets the user in."""
    terminal = attempt()
    invitation = terminal.invitation()
    assert invitation.link == f"{PUBLIC}/device?user_code={invitation.code}" == photographed(terminal.shown)
    assert f"as {LOCAL}" in terminal.shown and "Press Enter" not in terminal.shown
    assert max(map(len, terminal.shown.split("\n"))) <= 80
    allow(alice, invitation)
    assert terminal.end() == 0 and "successfully authenticated" in terminal.shown
    assert ALICE in log.wait_for(f"login of {LOCAL}")
    # The fixtures of the log search it for these secrets.
    assert len(provider.secrets) >= 3 and not any(secret in terminal.shown for secret in provider.secrets)


def test_the_time_between_questions_is_the_providers(alice: Person, provider: Provider) -> None:
    """The module asks the provider again as often as that wants, and asks for no more than it needs."""
    provider.reset()
    provider.requests[DEVICE] = lambda body: forms.append(body) or body
    forms: list[bytes] = []
    began = time.monotonic()
    terminal = attempt()
    allow(alice, terminal.invitation())
    assert terminal.end() == 0 and time.monotonic() - began >= 5
    assert forms == [b"scope=openid%20email"]


def test_prompt(alice: Person) -> None:
    """With a prompt, the login goes on at once if the phone has said yes before the Enter key."""
    configure("prompt")
    terminal = attempt()
    allow(alice, terminal.invitation())
    terminal.press_enter()
    assert terminal.end() == 0


@pytest.mark.parametrize("style", ["ascii", "none"])
def test_other_pictures(style: str, provider: Provider) -> None:
    configure(qr=style)
    provider.answers[TOKEN] = EXPIRED
    terminal = attempt()
    terminal.invitation()
    refused(terminal)
    assert ("##" in terminal.shown) == (style == "ascii") and "█" not in terminal.shown
    assert max(map(len, terminal.shown.split("\n"))) <= 80


def test_nothing_is_written(alice: Person) -> None:
    """No file is made, changed or removed by a login."""
    trace = APART / "trace"
    strace = ["strace", "-f", "-qq", "-e", "trace=%file", "-o", str(trace)]
    terminal = Terminal(*strace, "pamtester", SERVICE, LOCAL, "authenticate")
    allow(alice, terminal.invitation())
    assert terminal.end() == 0
    calls = trace.read_text()
    assert str(USERS) in calls and "libcjose" in calls
    changes = r"\b(?:creat|mkdir\w*|mknod\w*|rename\w*|link\w*|symlink\w*|unlink\w*|truncate)\("
    writing = rf"O_CREAT|O_WRONLY|O_RDWR|O_TMPFILE|{changes}"
    assert [line for line in calls.splitlines() if re.search(writing, line)] == []


def test_public_client(alice: Person) -> None:
    configure(client_id="public", client_secret_file=None)
    terminal = attempt()
    allow(alice, terminal.invitation())
    assert terminal.end() == 0


def test_another_person(bob: Person, log: SystemLog) -> None:
    """A right PIN of somebody else is not enough. The operator can map the sub that the log then tells."""
    terminal = attempt()
    allow(bob, terminal.invitation())
    refused(terminal)
    line = log.wait_for(f"another person wants to be {LOCAL}")
    assert f"email:{BOB}" in line
    sub = re.search(r"(sub:\S+)", line)
    assert sub
    USERS.write_text(f"{OTHER} {sub[1]}x\n{LOCAL} {sub[1]} \n")
    terminal = attempt()
    allow(bob, terminal.invitation())
    assert terminal.end() == 0
    terminal = attempt(OTHER)
    allow(bob, terminal.invitation())
    refused(terminal)


@pytest.mark.parametrize(
    "value",
    [ALICE.upper(), ALICE + "m", ALICE[:-1], "", "sub:" + ALICE, f"email:{ALICE} email:{BOB}", f"{ALICE}#"],
)
def test_mails_are_compared_in_full(alice: Person, value: str) -> None:
    """Nothing but the whole address is the address; most other texts are no line of the map at all."""
    USERS.write_text(f"{LOCAL} {value if ':' in value else 'email:' + value}\n")
    terminal = attempt()
    if value.count("email:") or not value:
        return refused(terminal)
    allow(alice, terminal.invitation())
    refused(terminal)


def test_unverified_mail(alice: Person, provider: Provider) -> None:
    """An address that the provider has not verified is not compared."""
    provider.change(USERINFO, email_verified=False)
    terminal = attempt()
    allow(alice, terminal.invitation())
    refused(terminal)


@pytest.mark.parametrize("end", ["\0", "\0m", " ", "\n"])
def test_mail_with_more(bob: Person, provider: Provider, end: str) -> None:
    """What follows the address counts, also after a NUL."""
    provider.change(USERINFO, email=ALICE + end, email_verified=True)
    terminal = attempt()
    allow(bob, terminal.invitation())
    refused(terminal)


def test_wrong_pin(alice: Person, log: SystemLog) -> None:
    configure(timeout=str(DEADLINE))
    terminal = attempt()
    open_link(alice, terminal.invitation())
    alice.show_number()
    with pytest.raises(mpin.IncorrectPinError):
        alice.enter_pin(alice.shown_code(), WRONG_PIN).result()
    refused(terminal)
    assert "TIMED_OUT" in log.wait_for(f"no login of {LOCAL}")


@pytest.mark.parametrize("step", ["login", "consent"])
def test_declined(alice: Person, log: SystemLog, step: str) -> None:
    terminal = attempt()
    open_link(alice, terminal.invitation())
    if step == "consent":
        alice.log_in()
    alice.press("/authorize/confirm", step=step, answer="cancel" if step == "login" else "no")
    refused(terminal)
    assert "LOGIN_REFUSED" in log.wait_for(f"no login of {LOCAL}") and "The login was refused." in terminal.shown


def test_expired_code(provider: Provider, log: SystemLog) -> None:
    provider.answers[TOKEN] = EXPIRED
    terminal = attempt()
    refused(terminal)
    log.wait_for("expired_token")


def test_lifetime_of_the_code(provider: Provider, log: SystemLog) -> None:
    """A login takes no longer than its code lives."""
    provider.change(DEVICE, expires_in=2)
    terminal = attempt()
    refused(terminal)
    assert "for 2 seconds" in terminal.shown and "TIMED_OUT" in log.wait_for(f"no login of {LOCAL}")


@pytest.mark.parametrize("words", [(), ("prompt",)])
def test_deadline(alice: Person, log: SystemLog, words: tuple[str, ...]) -> None:
    """After the deadline nobody gets in, not even if the phone says yes, and then the Enter key comes."""
    configure(*words, timeout=str(DEADLINE))
    began = time.monotonic()
    terminal = attempt()
    invitation = terminal.invitation()
    if words:
        end = time.monotonic() + DEADLINE
        allow(alice, invitation)
        time.sleep(max(0.0, end - time.monotonic()))
        terminal.press_enter()
    refused(terminal)
    assert time.monotonic() - began >= DEADLINE
    assert "Nobody has allowed the login in time." in terminal.shown
    log.wait_for("TIMED_OUT")


def test_nobody_is_mapped(provider: Provider, log: SystemLog) -> None:
    refused_unseen(attempt(OTHER), provider)
    log.wait_for(f"nobody may log in as {OTHER}")
    USERS.write_text(f"# {OTHER} email:{ALICE}\n\n   \n")
    refused_unseen(attempt(OTHER), provider)


@pytest.mark.parametrize(
    "name",
    ["", "a" * 255, "a" * 256, "a" * 100_000, f"{LOCAL}\nroot", f"{LOCAL} ", f"{LOCAL}\temail:{BOB}", "#",
     "../" + LOCAL, LOCAL.upper(), LOCAL + "\u200b", "\x1b[2J", "%s%n", LOCAL[:-1]],
    ids=short,
)  # fmt: skip
def test_hostile_names(provider: Provider, log: SystemLog, name: str) -> None:
    USERS.write_text(f"{LOCAL} email:{ALICE}\n# email:{ALICE}\n")
    terminal = attempt(name)
    refused_unseen(terminal, provider)
    assert not any("\n" in line or "\x1b" in line for line in log.lines)


def test_provider_is_down(provider: Provider, log: SystemLog) -> None:
    provider.stop()
    try:
        terminal = attempt()
        refused(terminal)
    finally:
        provider.start()
    assert "NETWORK_ERROR" in log.wait_for(f"no login of {LOCAL}") and "not possible now" in terminal.shown


def test_provider_goes_down(provider: Provider, log: SystemLog) -> None:
    """A provider that has gone away may come back until the deadline."""
    configure(timeout=str(DEADLINE))
    terminal = attempt()
    terminal.invitation()
    provider.stop()
    try:
        refused(terminal)
    finally:
        provider.start()
    log.wait_for("TIMED_OUT")


def test_provider_comes_back(alice: Person, provider: Provider) -> None:
    """Questions that are lost are asked again."""
    asked: list[bytes] = []
    provider.requests[TOKEN] = lambda body: asked.append(body) or (body if len(asked) > 2 else None)
    terminal = attempt()
    allow(alice, terminal.invitation())
    assert terminal.end() == 0 and len(asked) > 2


@pytest.mark.parametrize(
    "members",
    [
        {"verification_uri_complete": "javascript:alert(1)"},
        {"verification_uri_complete": "https://a.example/\x1b[2J x"},
        {"verification_uri_complete": "https://a.example/" + "a" * 5000}, {"user_code": "a b"}, {"device_code": [7.5]},
        {"expires_in": "never"}, {"expires_in": -1}, {"expires_in": 0},
        {"verification_uri_complete": "", "verification_uri": ""},
    ],
)  # fmt: skip
def test_hostile_answers(provider: Provider, members: dict[str, object]) -> None:
    """A malformed answer of the provider is refused, and cannot change the terminal."""
    provider.change(DEVICE, **members)
    terminal = attempt()
    refused(terminal)
    is_shown = members in ({"expires_in": -1}, {"expires_in": 0})
    assert "\x1b" not in terminal.shown and ("code:" in terminal.shown) == is_shown


def forged(token: str, **claims: object) -> str:
    """Returns an ID token with other claims and the same signature."""
    header, body, signature = token.split(".")
    members = {**json.loads(base64.urlsafe_b64decode(body + "==")), **claims}
    return f"{header}.{base64.urlsafe_b64encode(json.dumps(members).encode()).decode().rstrip('=')}.{signature}"


def unsigned(token: str) -> str:
    head = base64.urlsafe_b64encode(b'{"alg":"none"}').decode().rstrip("=")
    return f"{head}.{token.split('.')[1]}."


@pytest.mark.parametrize(
    "change",
    [
        lambda token: forged(token, email=ALICE, email_verified=True), lambda token: forged(token, aud="other"),
        unsigned, lambda token: "", lambda token: token + "A" * 20_000,
    ],
    ids=["claims", "audience", "unsigned", "empty", "oversize"],
)  # fmt: skip
def test_forged_tokens(alice: Person, provider: Provider, log: SystemLog, change: Callable[[str], str]) -> None:
    """An ID token that is not the provider's lets nobody in."""

    def answer(body: bytes) -> bytes:
        members = json.loads(provider.note(body))
        if "id_token" in members:
            members["id_token"] = change(members["id_token"])
        return json.dumps(members).encode()

    provider.answers[TOKEN] = answer
    terminal = attempt()
    allow(alice, terminal.invitation())
    refused(terminal)
    assert "TOKEN_INVALID" in log.wait_for(f"no login of {LOCAL}")


def test_userinfo_of_somebody_else(bob: Person, provider: Provider) -> None:
    """Userinfo about another sub than that of the ID token lets nobody in."""
    provider.change(USERINFO, sub="another", email=ALICE, email_verified=True)
    terminal = attempt()
    allow(bob, terminal.invitation())
    refused(terminal)


@pytest.mark.parametrize("verified", ["true", 1, [True], None])
def test_an_address_that_is_not_plainly_verified(alice: Person, provider: Provider, verified: object) -> None:
    """Only the truth value counts, and only beside the address that it is about."""
    provider.change(USERINFO, email_verified=verified)
    terminal = attempt()
    allow(alice, terminal.invitation())
    refused(terminal)


def write(text: bytes, mode: int = 0o644, owner: int = 0) -> None:
    USERS.write_bytes(text)
    USERS.chmod(mode)
    os.chown(USERS, owner, 0)


LINE = f"{LOCAL} email:{ALICE}\n".encode()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"x\n" + LINE, "line 1"), (LINE + b"x y z\n", "line 2"), (LINE + LINE.replace(b"email:", b"mail:"), "line 2"),
        (LINE + b"bob email:\n", "line 2"), (LINE + b"bob sub:\n", "line 2"), (LINE.replace(b"\n", b"\r\n"), "line 1"),
        (LINE + b"\x1b sub:a\n", "line 2"), (LINE + b"\0", "NUL"), (LINE + b"#" * (1 << 20), "too large"),
        (LINE + b"a" * 256 + b" sub:a\n", "line 2"), (LINE[:-1] + b" again\n", "line 1"),
    ],
    ids=short,
)  # fmt: skip
def test_malformed_map(provider: Provider, log: SystemLog, text: bytes, reason: str) -> None:
    """A file with one malformed line lets nobody in, not even by its other lines."""
    write(text)
    refused_unseen(attempt(), provider)
    assert reason in log.wait_for("pam_mpin")


@pytest.mark.parametrize(("mode", "owner"), [(0o664, 0), (0o646, 0), (0o644, 64000), (0o666, 64000)])
def test_map_of_others(provider: Provider, log: SystemLog, mode: int, owner: int) -> None:
    write(LINE, mode, owner)
    try:
        refused_unseen(attempt(), provider)
    finally:
        write(LINE)
    assert "others than root" in log.wait_for("pam_mpin")


@pytest.mark.parametrize(
    "kind", ["missing", "folder", "pipe", "relative", "in a folder of others", "in an open folder"]
)
def test_map_that_is_none(provider: Provider, kind: str) -> None:
    folder = APART / "folder"
    folder.mkdir(exist_ok=True)
    file = folder / "map"
    file.write_bytes(LINE)
    places = {"missing": folder / "none", "folder": folder, "pipe": folder / "pipe", "relative": pathlib.Path("map")}
    path = places.get(kind, file)
    if kind == "pipe" and not path.exists():
        os.mkfifo(path)
    os.chown(folder, 64000 if kind == "in a folder of others" else 0, 0)
    folder.chmod(0o777 if kind == "in an open folder" else 0o755)
    configure(users=str(path))
    refused_unseen(attempt(), provider)


def test_link_to_a_map(alice: Person) -> None:
    """A link is followed to a file and folders of root only."""
    link = APART / "link"
    link.unlink(missing_ok=True)
    link.symlink_to(USERS)
    configure(users=str(link))
    terminal = attempt()
    allow(alice, terminal.invitation())
    assert terminal.end() == 0


@pytest.mark.parametrize(
    ("text", "mode"),
    [("{}\n", 0o640), ("{}\n", 0o604), ("", 0o600), ("\n", 0o600), ("{}\n{}\n", 0o600), ("{}" + "a" * 600, 0o600)],
)
def test_secret_of_others(provider: Provider, log: SystemLog, text: str, mode: int) -> None:
    file = APART / "bad-secret"
    file.write_text(text.replace("{}", SECRET.read_text().strip()))
    file.chmod(mode)
    configure(client_secret_file=str(file))
    refused_unseen(attempt(), provider)
    log.wait_for("bad-secret")


def test_wrong_secret(log: SystemLog) -> None:
    file = APART / "wrong-secret"
    file.write_text("wrong\n")
    file.chmod(0o600)
    configure(client_secret_file=str(file))
    terminal = attempt()
    refused(terminal)
    assert "code:" not in terminal.shown
    log.wait_for("invalid_client")


@pytest.mark.parametrize(
    ("words", "changes"),
    [
        (("secret=hush",), {}), (("hush",), {}), (("Prompt",), {}), (("timeout=0",), {}), (("timeout=601",), {}),
        (("timeout=1e2",), {}),
        (("timeout=",), {}), (("timeout=-5",), {}), (("qr=svg",), {}), ((), {"issuer": None}),
        ((), {"client_id": None}), ((), {"issuer": ""}), ((), {"users": ""}),
    ],
)  # fmt: skip
def test_malformed_options(
    provider: Provider, log: SystemLog, words: tuple[str, ...], changes: dict[str, str | None]
) -> None:
    """An option that the module does not know lets nobody in. It is not logged."""
    configure(*words, **changes)
    refused_unseen(attempt(), provider)
    log.wait_for("option" if words or "" in changes.values() else "is missing")
    assert not any("hush" in line for line in log.lines)


@pytest.mark.parametrize(
    "issuer", [f"{PUBLIC}/", PUBLIC.replace("127.0.0.1", "localhost"), "http://192.0.2.1", "file:///", "x"]
)
def test_other_issuers(issuer: str) -> None:
    """The issuer must be the one in the provider's own document, and plain http stays on this machine."""
    configure(issuer=issuer)
    terminal = attempt()
    refused(terminal)
    assert "code:" not in terminal.shown
